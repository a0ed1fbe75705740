"""Dual coordinate descent: one row at a time, held to a center that follows."""

from nearline.solvers.dual._choice import choose_geometry
from nearline.solvers.dual._geometry import Geometry, Scaled, Whitened
from nearline.solvers.dual._solver import DualCoordinateDescent

__all__ = ["DualCoordinateDescent", "Geometry", "Scaled", "Whitened", "choose_geometry"]
