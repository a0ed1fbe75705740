"""Pictures of mathematics alone, with the numbers that a slide has."""

from typing import Any

from nearline.plots import kernels, mathematics
from nearline.plots.embedding import plot_embedding_losses
from nearline.plots.recipes.models import checked_whole
from nearline.plots.regions import plot_outliers


def losses(*, losses: Any = None, natural: bool = False) -> Any:
    return mathematics.plot_losses(losses, log2=not natural)


def sigmoids(*, scales: Any = (0.5, 4.0)) -> Any:
    return mathematics.plot_sigmoid(scales)


def simplex(*, scores: Any = (1.1, 0.5, -0.4)) -> Any:
    return mathematics.plot_simplex(scores)


def unit_balls(*, qs: Any = (1, 1.5, 2, 4, float("inf"))) -> Any:
    return mathematics.plot_unit_balls(qs)


def embedding_losses(*, losses: Any = None) -> Any:
    return plot_embedding_losses(losses)


def outliers(*, outliers: int = 12, alpha: Any = None) -> Any:
    return plot_outliers(n_outliers=checked_whole("outliers", outliers, most=10_000), alpha=alpha)


def degree_two(*, alpha: float = 1e-4) -> Any:
    return kernels.plot_degree_two(alpha=alpha)
