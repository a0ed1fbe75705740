"""Stochastic gradient descent, a row or a mini-batch at a time."""

from nearline.solvers.sgd._batch import rows_of
from nearline.solvers.sgd._progress import DescentProgress
from nearline.solvers.sgd._solver import SCHEDULES, SGD, SGDState
from nearline.solvers.sgd._steps import sgd_step

__all__ = ["SCHEDULES", "SGD", "DescentProgress", "SGDState", "rows_of", "sgd_step"]
