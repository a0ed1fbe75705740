"""KernelSolver: a way to minimize the risk of a kernel machine on its Gram matrix."""

from dataclasses import dataclass

from nearline._records.kept import kept
from nearline.risk import KernelRisk
from nearline.solvers._base import Method


@kept()
@dataclass(frozen=True)
class KernelSolver(Method[KernelRisk]):
    """As :class:`nearline.Solver`, for a :class:`nearline.KernelRisk`."""
