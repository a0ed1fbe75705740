"""Pictures: each function draws one and gives back matplotlib axes (needs ``nearline[plots]``)."""

from nearline.plots._style import COLORS
from nearline.plots.models import (
    plot_coefficients,
    plot_losses,
    plot_objective,
    plot_path_scores,
    plot_regions,
    plot_sweep,
    plot_templates,
)
from nearline.plots.selection import (
    plot_candidates,
    plot_confusion,
    plot_curve,
    plot_leaderboard,
    plot_reliability,
)

__all__ = [
    "COLORS",
    "plot_candidates",
    "plot_coefficients",
    "plot_confusion",
    "plot_curve",
    "plot_leaderboard",
    "plot_losses",
    "plot_objective",
    "plot_path_scores",
    "plot_regions",
    "plot_reliability",
    "plot_sweep",
    "plot_templates",
]
