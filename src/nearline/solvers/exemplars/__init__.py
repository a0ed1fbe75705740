"""Exemplars: many linear SVMs, each of one row against the same many others."""

from nearline.solvers.exemplars._mining import Exemplars, fit_exemplars

__all__ = ["Exemplars", "fit_exemplars"]
