"""scikit-learn's models for the candidates of the whole contest."""

from collections.abc import Callable
from typing import Any

METRICS = {"l2": "euclidean", "l1": "manhattan", "cosine": "cosine"}
SAGA = {"solver": "saga", "tol": 1e-3, "max_iter": 1000}


def peer(family: str, parameters: dict[str, Any], n: int) -> Any:
    """The model for the parameters of a candidate; n rows are learned from, so that C = 1 / (n alpha)."""
    strength = 1.0 / (n * parameters["alpha"]) if "alpha" in parameters else 1.0
    return MODELS[family](parameters, strength)


def _bayes(p: dict[str, Any], kind: str) -> Any:
    from sklearn import naive_bayes

    name = "var_smoothing" if kind == "GaussianNB" else "alpha"
    return getattr(naive_bayes, kind)(**{name: p["smoothing"]})


def _neighbors(p: dict[str, Any], metric: str) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(p["n_neighbors"], weights=p["weights"], metric=METRICS[metric])


def _linear(kind: str, **settings: Any) -> Any:
    from sklearn import linear_model

    return getattr(linear_model, kind)(**settings)


def _svm(**settings: Any) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(tol=1e-3, **settings)


def _discriminant(p: dict[str, Any]) -> Any:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    return LinearDiscriminantAnalysis(solver="lsqr", shrinkage=p["shrinkage"])


def _majority() -> Any:
    from sklearn.dummy import DummyClassifier

    return DummyClassifier()


def _centroid(p: dict[str, Any]) -> Any:
    from sklearn.neighbors import NearestCentroid

    return NearestCentroid(metric=METRICS[p["metric"]])


PERCEPTRON = {
    "loss": "perceptron",
    "alpha": 0.0,
    "penalty": None,
    "learning_rate": "constant",
    "eta0": 1.0,
    "average": True,
    "max_iter": 30,
}
# family -> model of (parameters, C)
MODELS: dict[str, Callable[[dict[str, Any], float], Any]] = {
    "majority": lambda p, C: _majority(),
    "nearest centroid": lambda p, C: _centroid(p),
    "naive Bayes, Gaussian": lambda p, C: _bayes(p, "GaussianNB"),
    "naive Bayes, multinomial": lambda p, C: _bayes(p, "MultinomialNB"),
    "naive Bayes, Bernoulli": lambda p, C: _bayes(p, "BernoulliNB"),
    "linear discriminant": lambda p, C: _discriminant(p),
    "least squares": lambda p, C: _linear("RidgeClassifier", alpha=1.0 / C),
    "perceptron": lambda p, C: _linear("SGDClassifier", **PERCEPTRON),
    "k-NN, L2": lambda p, C: _neighbors(p, "l2"),
    "k-NN, L1": lambda p, C: _neighbors(p, "l1"),
    "k-NN, cosine": lambda p, C: _neighbors(p, "cosine"),
    "logistic, L2": lambda p, C: _linear("LogisticRegression", C=C, max_iter=1000),
    "SVM, squared hinge": lambda p, C: _svm(C=C),
    "SVM, hinge": lambda p, C: _svm(C=C, loss="hinge"),
    "SVM, Crammer-Singer": lambda p, C: _svm(C=C, multi_class="crammer_singer"),
    "logistic, L1": lambda p, C: _linear("LogisticRegression", C=C, l1_ratio=1.0, **SAGA),
    "logistic, elastic net": lambda p, C: _linear("LogisticRegression", C=C, l1_ratio=0.5, **SAGA),
}
