"""Risk: where data, loss and regularizer meet; its points, its certificates, and losses over rows."""

from nearline.risk._blocked import BlockedRisk
from nearline.risk._evaluate import evaluate
from nearline.risk._kernel import KernelRisk
from nearline.risk._objective import Objective, checked_alpha, strength
from nearline.risk._point import Line, Point, ScoredPoint
from nearline.risk._risk import Risk

__all__ = [
    "BlockedRisk",
    "KernelRisk",
    "Line",
    "Objective",
    "Point",
    "Risk",
    "ScoredPoint",
    "checked_alpha",
    "evaluate",
    "strength",
]
