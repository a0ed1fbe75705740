"""Models by the names and parameters that a slide has: ``knn`` with k and metric, ``logistic`` with alpha, ..."""

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from nearline import estimators

# name -> the estimator, and what of k, metric and alpha it takes, by its own names
MODELS: dict[str, tuple[Callable[..., Any], dict[str, str]]] = {
    "knn": (estimators.KNeighborsClassifier, {"k": "n_neighbors", "metric": "metric"}),
    "centroid": (estimators.NearestCentroid, {"metric": "metric"}),
    "logistic": (estimators.LogisticRegression, {"alpha": "alpha"}),
    "svm": (estimators.LinearSVM, {"alpha": "alpha"}),
    "least-squares": (estimators.LeastSquaresClassifier, {"alpha": "alpha"}),
    "sparsemax": (estimators.SparsemaxClassifier, {"alpha": "alpha"}),
    "perceptron": (estimators.Perceptron, {}),
    "lda": (estimators.LinearDiscriminantAnalysis, {}),
    "gaussian-nb": (estimators.GaussianNB, {}),
    "kernel-svm": (estimators.KernelSVM, {"alpha": "alpha"}),
    "kernel-logistic": (estimators.KernelLogisticRegression, {"alpha": "alpha"}),
    "one-vs-rest": (
        lambda **own: estimators.OneVsRest(estimators.LogisticRegression(**own)),
        {"alpha": "alpha"},
    ),
    "one-vs-one": (
        lambda **own: estimators.OneVsOne(estimators.LogisticRegression(**own)),
        {"alpha": "alpha"},
    ),
}
SETTINGS = ("k", "metric", "alpha")


def model_of(name: str | None, usual: str, n_rows: int, **given: Any) -> tuple[Any, str]:
    """The estimator (not fitted) and its title; what of k, metric and alpha is None is left at its default."""
    name = name or next((one for one in (usual, "knn", "logistic") if _takes(one, given)), usual)
    if name not in MODELS:
        near = get_close_matches(name, MODELS, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"There is no model {name!r}.{hint} Choose among {', '.join(MODELS)}.")
    build, own = MODELS[name]
    said = {key: value for key, value in given.items() if value is not None}
    lacking = [key for key in said if key not in own]
    if lacking:
        takers = [other for other, (_, takes) in MODELS.items() if lacking[0] in takes]
        raise ValueError(f"Model {name!r} has no {lacking[0]}: models that have it are {', '.join(takers)}.")
    if "k" in said and said["k"] > n_rows:
        raise ValueError(
            f"k = {said['k']} neighbors were asked for, but there are {n_rows} rows: take a smaller k."
        )
    if "k" in own and "k" not in said:
        said["k"] = min(15, n_rows)
    title = ", ".join([name, *(f"{key} = {value}" for key, value in said.items())])
    return build(**{own[key]: value for key, value in said.items()}), title


def _takes(name: str, given: dict[str, Any]) -> bool:
    return all(key in MODELS[name][1] for key, value in given.items() if value is not None)
