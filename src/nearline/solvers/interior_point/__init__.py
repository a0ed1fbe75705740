"""Hinge losses under an L2 penalty by an interior-point method."""

from nearline.solvers.interior_point._solver import SERVED, InteriorPoint
from nearline.solvers.interior_point._system import TILE

__all__ = ["SERVED", "TILE", "InteriorPoint"]
