"""Hinge losses under an L2 penalty by an interior-point method."""

from nearline.solvers.interior_point._solver import InteriorPoint
from nearline.solvers.interior_point._system import TILE

__all__ = ["TILE", "InteriorPoint"]
