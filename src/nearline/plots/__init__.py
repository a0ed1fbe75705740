"""Pictures: each function draws one and gives back matplotlib axes (needs ``nearline[plots]``).

``PICTURES`` has all of them by name, with rows to draw them on.
"""

from nearline.plots.compare import compare_regions
from nearline.plots.densities import plot_posteriors
from nearline.plots.descent import plot_descent, plot_newton
from nearline.plots.embedding import plot_embedding_losses
from nearline.plots.fitting import plot_capacity
from nearline.plots.folds import plot_folds
from nearline.plots.gallery import PICTURES, Picture
from nearline.plots.kernels import plot_degree_two, plot_gram, plot_kernel_margins
from nearline.plots.margins import plot_margins
from nearline.plots.mathematics import plot_losses, plot_sigmoid, plot_simplex, plot_unit_balls
from nearline.plots.models import (
    plot_coefficients,
    plot_objective,
    plot_path_scores,
    plot_templates,
    plot_weights,
)
from nearline.plots.probes import plot_probe
from nearline.plots.queries import plot_query
from nearline.plots.regions import Plane, plot_outliers, plot_regions
from nearline.plots.results import plot_confusion, plot_precision_recall, plot_reliability, plot_roc
from nearline.plots.samples import Sample, Units
from nearline.plots.selection import plot_candidates, plot_curve, plot_leaderboard, plot_sweep
from nearline.plots.separators import plot_separators
from nearline.plots.style import COLORS
from nearline.plots.voronoi import plot_voronoi

__all__ = [
    "COLORS",
    "PICTURES",
    "Picture",
    "Plane",
    "Sample",
    "Units",
    "compare_regions",
    "plot_candidates",
    "plot_capacity",
    "plot_coefficients",
    "plot_confusion",
    "plot_curve",
    "plot_degree_two",
    "plot_descent",
    "plot_embedding_losses",
    "plot_folds",
    "plot_gram",
    "plot_kernel_margins",
    "plot_leaderboard",
    "plot_losses",
    "plot_margins",
    "plot_newton",
    "plot_objective",
    "plot_outliers",
    "plot_path_scores",
    "plot_posteriors",
    "plot_precision_recall",
    "plot_probe",
    "plot_query",
    "plot_regions",
    "plot_reliability",
    "plot_roc",
    "plot_separators",
    "plot_sigmoid",
    "plot_simplex",
    "plot_sweep",
    "plot_templates",
    "plot_unit_balls",
    "plot_voronoi",
    "plot_weights",
]
