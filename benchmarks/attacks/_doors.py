"""Every way by which a sparse matrix of the user's comes in: name -> what is done with it, and an answer to compare."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassifierMixin, TransformerMixin

import nearline
from benchmarks.attacks._matrices import D, N, clean, labels
from nearline import ESTIMATORS, Index, Params, Risk
from nearline.kernels import RBF, PartialTree, Polynomial, Spectrum, Subsequence, SubsetTree
from nearline.losses.embedding import ProxyLoss
from nearline.representations import REPRESENTATIONS

Door = Callable[[Any], Any]


def made(name: str) -> Any:
    """The estimator with what it needs and few rounds."""
    estimator: Any = ESTIMATORS[name]
    if name.startswith("OneVs"):
        return estimator(nearline.LogisticRegression())
    sizes = {"n_components": 5} if issubclass(estimator, TransformerMixin) else {}
    return estimator(**sizes)


def _answer(model: Any, X: Any) -> Any:
    return model.predict(X) if isinstance(model, ClassifierMixin) else _other_answer(model, X)


def _other_answer(model: Any, X: Any) -> Any:
    return (model.transform if isinstance(model, TransformerMixin) else model.predict)(X)


def takes_sparse(name: str) -> bool:
    return bool(made(name).__sklearn_tags__().input_tags.sparse)


def estimators() -> Iterator[tuple[str, Door]]:
    for name in ESTIMATORS:
        yield f"{name}.fit", lambda X, name=name: _answer(made(name).fit(X, labels()), clean())
        fitted: list[Any] = []

        def asked(X: Any, name: str = name, fitted: list[Any] = fitted) -> Any:
            if not fitted:
                fitted.append(made(name).fit(clean(), labels()))
            return _answer(fitted[0], X)

        yield f"{name}.predict", asked


def _risk(X: Any) -> Any:
    risk = Risk(X, labels(), loss="logistic", alpha=0.1)
    return nearline.minimize(risk, tol=1e-8).params.flat.round(3)


def _rows(name: str) -> Door:
    def prepared(X: Any) -> Any:
        rows = np.arange(N)
        Z = REPRESENTATIONS[name].prepare(X).fold(rows[::2], rows[1::2])[0]
        return Z.toarray() if sp.issparse(Z) else Z

    return prepared


def functions() -> Iterator[tuple[str, Door]]:
    """What else takes rows."""
    line = nearline.LinearScore(np.ones((1, D)), np.zeros(1), np.array([0, 1]))
    metrics = ("l2", "l1", "cosine", "hamming")
    for metric in metrics:
        yield f"Index, {metric}", lambda X, m=metric: Index(X, m).search(clean(), 3).indices
        yield f"queries, {metric}", lambda X, m=metric: Index(clean(), m).search(X, 3).indices
    yield "Index of dense rows", lambda X: Index(clean().toarray()).search(X, 3).indices
    yield "Risk", _risk
    yield "is_separable", lambda X: bool(nearline.is_separable(X, labels()))
    yield "sgd_step", lambda X: nearline.sgd_step(Params.zeros(1, D), X, labels(), loss="hinge", eta=0.1).W
    yield "perceptron_rule", lambda X: nearline.perceptron_rule(X, labels(), max_iter=5).params.W
    yield "sweep", lambda X: nearline.sweep(X, labels(), ks=[1, 3], folds=2).scores
    yield "path", lambda X: next(iter(nearline.path(X, labels(), alphas=[0.1])))[1].params.W.round(3)
    yield (
        "path_scores",
        lambda X: nearline.path_scores(nearline.LogisticRegression(), X, labels(), [0.1], folds=2).scores,
    )
    yield (
        "cross_validate",
        lambda X: nearline.cross_validate(nearline.LogisticRegression(), X, labels(), folds=2).mean[
            "accuracy"
        ],
    )
    yield (
        "kernel_scores",
        lambda X: (
            nearline.kernel_scores(nearline.KernelSVM(), X, labels(), [RBF(0.1)], [0.1], folds=2).scores
        ),
    )
    yield "check", lambda X: [finding.name for finding in nearline.check(X, labels())]
    yield "Mahalanobis.learn", lambda X: nearline.Mahalanobis.learn(X).matrix
    yield "LinearScore", line
    yield "RBF", RBF(0.1)
    for name in ("as-is", "unit-length", "max-abs"):
        yield f"representation {name}", _rows(name)


def newer() -> Iterator[tuple[str, Door]]:
    """Learned distances, probes, curves, reasons and blocks of Dask's."""
    y, knn, logistic = labels(), nearline.KNeighborsClassifier, nearline.LogisticRegression
    learned = nearline.Learned("nca")
    yield "Learned.fit", lambda X: learned.fit(X, y).map
    yield "Learned inside k-NN", lambda X: knn(3, metric=learned).fit(X, y).predict(clean())
    yield "Mahalanobis.fit", lambda X: nearline.Mahalanobis("within").fit(X, y).matrix
    yield (
        "own metric",
        lambda X: knn(3, metric=lambda a, b: float(abs(a - b).sum())).fit(X, y).predict(clean()),
    )
    yield "learning_curve", lambda X: nearline.learning_curve(knn(3), X, y, sizes=[10, 20], folds=2).test
    yield (
        "CalibratedClassifier",
        lambda X: nearline.CalibratedClassifier(logistic()).fit(X, y).predict(clean()),
    )
    yield "explain, k-NN", lambda X: str(knn(3).fit(clean(), y).explain(X))
    yield "explain, linear", lambda X: str(logistic().fit(clean(), y).explain(X))
    yield "RBF, other rows", lambda X: RBF(0.1)(clean(), X)
    yield "RBF.fitted", lambda X: RBF("scale").fitted(X).gamma
    yield "a sum of kernels", lambda X: (RBF(0.1) + Polynomial(2))(X)
    yield "blocks, fit", lambda X: logistic(alpha=0.1, tol=1e-8).fit(_blocks(X), y).coef_.round(3)
    yield "blocks, predict", lambda X: np.asarray(logistic().fit(clean(), y).predict(_blocks(X)))


def _blocks(X: Any) -> Any:
    """One block of a Dask array, which is made where it is worked on."""
    import dask
    import dask.array as da

    return da.from_delayed(dask.delayed(lambda: X)(), shape=(N, D), dtype=np.float64)


def others() -> Iterator[tuple[str, Door]]:
    """Sparse matrices where dense rows, texts, labels, weights, groups or payloads are wanted: there is no right answer."""
    X, y = clean().toarray(), labels()
    for kernel in (Spectrum(2), Subsequence(2), SubsetTree(), PartialTree()):
        yield f"{type(kernel).__name__}", kernel
    for name, loss in nearline.EMBEDDING_LOSSES.items():
        proxies = (X[:2],) if isinstance(loss, ProxyLoss) else ()
        yield f"embedding loss {name}", lambda S, loss=loss, more=proxies: loss.value(S, y, *more)
    yield "probe", lambda S: nearline.probe(S, y, X, y)
    yield "probe, test rows", lambda S: nearline.probe(X, y, S, y)
    yield "voronoi_edges", nearline.voronoi_edges
    yield "is_psd", nearline.is_psd
    for function in (nearline.softmax, nearline.sparsemax, nearline.sigmoid):
        yield function.__name__, function
    for name in ("LogisticRegression", "KNeighborsClassifier", "MultinomialNB", "KernelSVM"):
        yield f"{name}, y", lambda S, name=name: made(name).fit(X, S)
        yield f"{name}, sample_weight", lambda S, name=name: made(name).fit(X, y, sample_weight=S)
    yield "SparsemaxClassifier, y", lambda S: nearline.SparsemaxClassifier().fit(X, S)
    yield "KNeighborsRegressor, y", lambda S: nearline.KNeighborsRegressor().fit(X, S).predict(X)
    yield "NeighborsTransfer, y", lambda S: nearline.NeighborsTransfer().fit(X, S).predict(X)
    yield "Risk, targets", lambda S: Risk(X, S)
    yield "Risk, weights", lambda S: Risk(X, y, weights=S)
    yield "Index, groups", lambda S: Index(X).search(X, 1, groups=S)
    yield "evaluate, scores", lambda S: nearline.evaluate("logistic", S, y)


def contests() -> Iterator[tuple[str, Door]]:
    def contest(X: Any) -> Any:
        return nearline.TryThemAll("quick", progress="silent", test=None, include="logistic, L2").fit(
            X, labels()
        )

    yield "TryThemAll.fit", contest
    yield (
        "TryThemAll, test rows",
        lambda X: nearline.TryThemAll("quick", progress="silent", test=(X, labels())).fit(clean(), labels()),
    )
