"""nearline: every nearest-neighbor, linear and naive Bayes classifier, fast, exact and certified.

A classifier is a score function followed by a decision rule. Fitting chooses the score function: nearest neighbors keep
the data and vote; linear and kernel models minimize risk = mean data loss + alpha * regularizer.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Public name -> module that defines it. Modules are imported when a name is first used, so `import nearline` is light.
_HOMES = {
    "Votes": "nearline.neighbors.explanation",
    "Contributions": "nearline._records.explanation",
    "Explanation": "nearline._records.explanation",
    "Risk": "nearline.risk",
    "KernelRisk": "nearline.risk",
    "Point": "nearline.risk",
    "evaluate": "nearline.risk",
    "Params": "nearline.risk.params",
    "LOSSES": "nearline.losses",
    "Loss": "nearline.losses",
    "sigmoid": "nearline.losses.maps",
    "softmax": "nearline.losses.maps",
    "sparsemax": "nearline.losses.maps",
    "one_hot": "nearline.losses.maps",
    "EMBEDDING_LOSSES": "nearline.losses.embedding",
    "EmbeddingLoss": "nearline.losses.embedding",
    "REGULARIZERS": "nearline.regularizers",
    "L1": "nearline.regularizers",
    "L2": "nearline.regularizers",
    "ElasticNet": "nearline.regularizers",
    "GroupL1": "nearline.regularizers",
    "Zero": "nearline.regularizers",
    "SOLVERS": "nearline.solvers",
    "Solution": "nearline.solvers",
    "Solver": "nearline.solvers",
    "minimize": "nearline.solvers",
    "resumable": "nearline.solvers.resumable",
    "path": "nearline.selection.path",
    "coefficients": "nearline.selection.path",
    "ConvergenceWarning": "nearline.solvers",
    "path_scores": "nearline.selection.path_scores",
    "RidgeFactorization": "nearline.solvers",
    "KernelScore": "nearline.scores",
    "LinearScore": "nearline.scores",
    "decide": "nearline.decision",
    "Convexity": "nearline.decision",
    "convex_regions": "nearline.decision",
    "get_num_threads": "nearline._parallel.threads",
    "num_threads": "nearline._parallel.threads",
    "set_num_threads": "nearline._parallel.threads",
    "ESTIMATORS": "nearline.estimators",
    "LinearClassifier": "nearline.estimators",
    "LeastSquaresClassifier": "nearline.estimators",
    "LogisticRegression": "nearline.estimators",
    "LinearSVM": "nearline.estimators",
    "SparsemaxClassifier": "nearline.estimators",
    "MultinomialNB": "nearline.estimators",
    "BernoulliNB": "nearline.estimators",
    "GaussianNB": "nearline.estimators",
    "LinearDiscriminantAnalysis": "nearline.estimators",
    "NearestCentroid": "nearline.estimators",
    "OneVsRest": "nearline.estimators",
    "OneVsOne": "nearline.estimators",
    "is_separable": "nearline.separability",
    "Separability": "nearline.separability",
    "SGD": "nearline.solvers",
    "GradientDescent": "nearline.solvers",
    "DecayingStep": "nearline.solvers",
    "sgd_step": "nearline.solvers.sgd",
    "perceptron_rule": "nearline.solvers.perceptron",
    "Perceptron": "nearline.estimators",
    "KNeighborsClassifier": "nearline.estimators",
    "KNeighborsRegressor": "nearline.estimators",
    "NeighborsTransfer": "nearline.estimators",
    "ExemplarSVM": "nearline.estimators",
    "Index": "nearline.neighbors.index",
    "Neighbors": "nearline.neighbors.lists",
    "METRICS": "nearline.neighbors.metrics",
    "Lq": "nearline.neighbors.metrics",
    "Mahalanobis": "nearline.neighbors.mahalanobis",
    "Temperature": "nearline.neighbors.weights",
    "Consensus": "nearline.neighbors.consensus",
    "sweep": "nearline.selection.sweep",
    "Approximate": "nearline.neighbors.approximate",
    "TryThemAll": "nearline.selection.try_all",
    "Holdout": "nearline.selection.locked_test",
    "Split": "nearline.selection.splits",
    "ParameterError": "nearline._records.refused",
    "LeakageWarning": "nearline.selection.folds",
    "Leaderboard": "nearline.selection.leaderboard",
    "FAMILIES": "nearline.selection.families",
    "Family": "nearline.selection.families",
    "SCORERS": "nearline.selection.scoring",
    "REPRESENTATIONS": "nearline.representations",
    "TableEncoder": "nearline.representations",
    "cross_validate": "nearline.selection.evaluate",
    "repeated": "nearline.selection.evaluate",
    "compare": "nearline.selection.evaluate",
    "learning_curve": "nearline.selection.curves",
    "capacity_curve": "nearline.selection.curves",
    "CalibratedClassifier": "nearline.selection.calibration",
    "brier_score": "nearline.selection.reliability",
    "reliability_curve": "nearline.selection.reliability",
    "wilson": "nearline.selection.intervals",
    "mcnemar": "nearline.selection.comparison",
    "CHECKS": "nearline.selection.checks",
    "check": "nearline.selection.checks",
    "save": "nearline.files",
    "load": "nearline.files",
    "inspect": "nearline.files",
    "ModelFileError": "nearline.files",
    "ModelFileWarning": "nearline.files",
    "GaussianProcessClassifier": "nearline.estimators",
    "KernelClassifier": "nearline.estimators",
    "KernelLeastSquares": "nearline.estimators",
    "KernelLogisticRegression": "nearline.estimators",
    "Nystroem": "nearline.estimators",
    "RandomFourierFeatures": "nearline.estimators",
    "KernelNeighborsClassifier": "nearline.estimators",
    "KernelPerceptron": "nearline.estimators",
    "KernelSVM": "nearline.estimators",
    "KERNELS": "nearline.kernels",
    "is_psd": "nearline.kernels",
    "kernel_scores": "nearline.selection.kernel_scores",
    "FACTS": "nearline.facts",
    "concentration": "nearline.facts",
    "cover_hart": "nearline.facts",
    "empirical_risk": "nearline.facts",
    "equal_pixels": "nearline.facts",
    "irrelevant_features": "nearline.facts",
    "training_error": "nearline.facts",
    "voronoi_edges": "nearline.neighbors.voronoi",
    "plot_voronoi": "nearline.plots.voronoi",
    "PROTOCOLS": "nearline.probes",
    "Probed": "nearline.probes",
    "Protocol": "nearline.probes",
    "probe": "nearline.probes",
}

_RENAMED = {"Softmax": "Temperature"}

# Of `from nearline import *`, which shadows nothing of Python's: nearline.inspect is not in it.
__all__ = sorted(_HOMES.keys() - {"inspect"})


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        raise AttributeError(f"nearline.{name} is called nearline.{_RENAMED[name]} now.")
    if name not in _HOMES:
        raise AttributeError(f"module 'nearline' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*_HOMES, "__version__"])
