"""Least squares in closed form, for one ridge or for all, on all rows or without each fold."""

from nearline.solvers.closed_form._ridge import RidgeFactorization
from nearline.solvers.closed_form._solver import ClosedForm, fits

__all__ = ["ClosedForm", "RidgeFactorization", "fits"]
