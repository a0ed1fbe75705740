"""Models by the names and parameters that a slide has: ``knn`` with k and metric, ``logistic`` with alpha, ..."""

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from nearline import estimators
from nearline._records.habits import named, ours
from nearline._records.refused import ParameterError
from nearline.losses import LOSSES, Loss
from nearline.regularizers import REGULARIZERS, Regularizer

# name -> the estimator, and what of k, metric, alpha and kernel it takes, by its own names
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
    "kernel-svm": (estimators.KernelSVM, {"alpha": "alpha", "kernel": "kernel"}),
    "kernel-logistic": (estimators.KernelLogisticRegression, {"alpha": "alpha", "kernel": "kernel"}),
    "one-vs-rest": (
        lambda **own: estimators.OneVsRest(estimators.LogisticRegression(**own)),
        {"alpha": "alpha"},
    ),
    "one-vs-one": (
        lambda **own: estimators.OneVsOne(estimators.LogisticRegression(**own)),
        {"alpha": "alpha"},
    ),
}
LINEAR = ("logistic", "svm", "least-squares", "sparsemax", "perceptron", "lda")  # models that have weights


def model_of(name: str | None, usual: str, n_rows: int, **given: Any) -> tuple[Any, str]:
    """The estimator (not fitted) and its title; what of k, metric, alpha and kernel is None is left at its default."""
    name = name or next(
        (one for one in (usual, "knn", "logistic", "kernel-svm") if _takes(one, given)), usual
    )
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


def linear_of(name: str | None, alpha: Any, usual: float) -> tuple[Any, str]:
    """A model that has weights, and its title."""
    if name is not None and name not in LINEAR:
        raise ValueError(f"Model {name!r} has no weights to draw: choose among {', '.join(LINEAR)}.")
    strength = usual if alpha is None and name in (None, "logistic") else alpha
    return model_of(name, "logistic", 0, alpha=strength)


def margin_model(loss: Any, regularizer: Any) -> Any:
    """A linear model of a loss and a penalty, by their names; of more than two classes the logistic loss is the softmax."""
    named(loss, LOSSES, Loss, "loss"), named(regularizer, REGULARIZERS, Regularizer, "regularizer")
    if ours(loss) == "logistic":
        # tight, so that a row near the boundary is called as the optimum calls it
        return estimators.LogisticRegression(regularizer=regularizer, tol=1e-6)
    return estimators.LinearClassifier(loss=loss, regularizer=regularizer)


def checked_whole(name: str, value: Any, most: int) -> int:
    """A number of things to draw: more than a picture can show would take for ever, or all memory."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise ParameterError(name, value, f"a whole number >= 1 and <= {most}")
    return value
