"""Why a model says what it says of a row: the neighbors that voted, or what each column or word adds to the scores."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from nearline.arrays import Array, is_sparse
from nearline.estimators import BernoulliNB, GaussianNB, KNeighborsClassifier
from nearline.kernels.expansion import values
from nearline.representations import TableEncoder, is_frame
from nearline.representations.texts import Documents
from nearline.selection.calibration import CalibratedClassifier


@dataclass(frozen=True)
class Share:
    """What one column, feature or word adds to the score of each class."""

    name: str
    value: str | None  # what the row has there; of words None
    by_class: Array  # (C,)


@dataclass(frozen=True)
class Reason:
    """Why a row got its label: ``shares`` of a sum of scores, or ``neighbors`` that voted; neither, if it is said."""

    label: Any
    other: Any = None  # the class that came second
    bias: Array | None = None  # (C,)
    shares: list[Share] = field(default_factory=list)
    neighbors: list[dict[str, Any]] = field(default_factory=list)
    said: str | None = None

    def margin(self, share: Share, classes: list[Any]) -> float:
        """What a share adds to the lead of the label over the class that came second."""
        return float(share.by_class[classes.index(self.label)] - share.by_class[classes.index(self.other)])

    def strongest(self, classes: list[Any]) -> list[Share]:
        """The shares that matter most for that lead, for or against it."""
        return sorted(self.shares, key=lambda share: -abs(self.margin(share, classes)))


@dataclass(frozen=True)
class Names:
    """What the model's features are to the person who made the data."""

    names: list[str]  # of columns, features or words
    owners: Array  # (D,): the number of the name that each feature belongs to
    values: bool  # whether the row's own value says something

    def value(self, X: Any, row: int, owner: int) -> str | None:
        """What the row has under a name."""
        if not self.values:
            return None
        if is_frame(X):
            found = X[self.names[owner]][row]
        elif owner < X.shape[1]:
            found = X[row, owner]
        else:
            return None
        return "missing" if found is None or found != found else _short(found)


def reasons(
    model: Any,
    X: Any,
    *,
    columns: Any = None,
    shape: Any = None,
    most: int | None = None,
    place: Callable[[int], int] = lambda row: row + 1,
) -> list[Reason]:
    """Why each row of X gets its label. ``columns``: names of the columns of a table of numbers; ``shape``: of an image.

    ``most``: so many shares of each row are wanted, the strongest; by default all. ``place``: what a training row is called.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import TryThemAll
    >>> from nearline.cli._reasons import reasons
    >>> X, y = load_iris(return_X_y=True)
    >>> contest = TryThemAll("quick", include="logistic, L2", progress="silent").fit(X, y)
    >>> reason = reasons(contest.model_, X[:1], columns=["sepal l", "sepal w", "petal l", "petal w"])[0]
    >>> reason.label, reason.strongest([0, 1, 2])[0].name.startswith("petal")
    (0, True)
    """
    inner = model.estimator_ if isinstance(model, CalibratedClassifier) else model
    way, last = inner.steps[0][1], inner.steps[-1][1]
    Z, labels = way.transform(X), model.predict(X)
    if isinstance(last, KNeighborsClassifier):
        found = last.explain(Z)
        return [Reason(label, neighbors=found.rows(i)) for i, label in enumerate(labels.tolist())]
    if getattr(last, "expansion_", None) is not None:
        return _expanded(last, last._items(Z), labels, place, most)
    shares = _shares_of(last, Z)
    if shares is None:
        said = f"{type(last).__name__} gives no parts that add up to its decision"
        return [Reason(label, said=said) for label in labels.tolist()]
    Z = last._prepare(Z) if isinstance(last, BernoulliNB) else Z
    known = _names(way, columns, shape)
    sums = Sums(known, shares, model.classes_, most)
    return [sums.reason(X, i, Z, label) for i, label in enumerate(labels.tolist())]


@dataclass(frozen=True)
class Shares:
    """Scores as sums: of bias (C,) and of parts (C, m) for some features of a row."""

    bias: Array
    parts: Callable[[Array, Array], Array]  # (values (m,), numbers (m,) of features) -> (C, m)


def _shares_of(model: Any, Z: Any) -> Shares | None:
    if isinstance(model, GaussianNB) and not model.shared_variance:
        return _densities(model)
    W = np.asarray(getattr(model, "coef_", ()), dtype=np.float64)
    if W.ndim != 2 or W.shape[1] != Z.shape[1]:  # none, or not of the features
        return None
    b = np.ravel(model.intercept_).astype(np.float64)
    if len(W) == 1:  # one score for two classes: half for one, half against the other
        W, b = np.vstack([-0.5 * W, 0.5 * W]), np.array([-0.5 * b[0], 0.5 * b[0]])
    else:  # what all classes share decides nothing
        W = W - W.mean(axis=0)
    return Shares(b, lambda values, numbers: W[:, numbers] * values)


def _densities(model: GaussianNB) -> Shares:
    """The logarithms of the densities of each feature."""
    mean, variance = model.theta_, np.broadcast_to(model.var_, model.theta_.shape)

    def parts(values: Array, numbers: Array) -> Array:
        v = variance[:, numbers]
        logs = -0.5 * (np.log(2 * np.pi * v) + (values - mean[:, numbers]) ** 2 / v)
        return np.asarray(logs - logs.mean(axis=0))

    with np.errstate(divide="ignore"):
        return Shares(np.log(model.class_prior_), parts)


@dataclass(frozen=True)
class Sums:
    """Shares of a row's scores, put together by the names that people know."""

    known: Names
    shares: Shares
    classes: Array
    most: int | None

    def reason(self, X: Any, i: int, Z: Any, label: Any) -> Reason:
        """Why row i of X, which the model sees as row i of Z, has its label."""
        numbers, values = (Z[i].indices, Z[i].data) if is_sparse(Z) else (np.arange(Z.shape[1]), Z[i])
        parts = self.shares.parts(values.astype(np.float64), numbers)
        scores = self.shares.bias + parts.sum(axis=1)
        own = int(np.searchsorted(self.classes, label))
        other = int(np.argmax(np.where(np.arange(len(scores)) == own, -np.inf, scores)))
        owners, totals = self._by_owner(numbers, parts)
        lead = np.abs(totals[own] - totals[other])
        order = np.argsort(-lead, kind="stable")[: self.most]
        found = [
            Share(self.known.names[owners[j]], self.known.value(X, i, int(owners[j])), totals[:, j])
            for j in order.tolist()
            if totals[:, j].any()
        ]
        return Reason(label, self.classes.tolist()[other], self.shares.bias, found)

    def _by_owner(self, numbers: Array, parts: Array) -> tuple[Array, Array]:
        """Names that have shares, and their shares (C, names)."""
        if len(self.known.owners) == len(self.known.names):  # each feature has a name of its own
            return self.known.owners[numbers], parts
        owners, place = np.unique(self.known.owners[numbers], return_inverse=True)
        totals = np.zeros((len(owners), len(parts)))
        np.add.at(totals, place, parts.T)
        return owners, totals.T


def _expanded(
    model: Any, items: Any, labels: Array, place: Callable[[int], int], most: int | None
) -> list[Reason]:
    """Scores of kernel machines are sums over training rows: a_i k(x_i, x)."""
    found, scores = model.expansion_, model.decision_function(items)
    columns = scores if scores.ndim == 2 else np.column_stack([-scores, scores])
    classes, reasons = model.classes_.tolist(), []
    for block, K in values(found.kernel, items, found):
        for i, k in enumerate(K, block.start):
            own = classes.index(labels.tolist()[i])
            other = int(np.argmax(np.where(np.arange(len(classes)) == own, -np.inf, columns[i])))
            a = _against(found.A, getattr(model, "pairs_", None), own, other)
            lead, bias = k * a, np.zeros(len(classes))
            shares = []
            for j in np.argsort(-np.abs(lead), kind="stable")[:most].tolist():
                by_class = np.zeros(len(classes))
                by_class[[own, other]] = 0.5 * lead[j], -0.5 * lead[j]
                shares.append(Share(f"like training row {place(int(found.rows[j])):,}", None, by_class))
            b = _against(found.b[None], getattr(model, "pairs_", None), own, other)[0]
            bias[[own, other]] = 0.5 * b, -0.5 * b
            reasons.append(Reason(classes[own], classes[other], bias, shares))
    return reasons


def _against(A: Array, pairs: Any, own: int, other: int) -> Array:
    """The column of A (m, P), or the difference of two, that speaks for one class against another."""
    if A.shape[1] == 1:
        return A[:, 0] if own == 1 else -A[:, 0]
    if pairs is None:
        return A[:, own] - A[:, other]
    problem = np.flatnonzero((np.sort(pairs, axis=1) == sorted((own, other))).all(axis=1))[0]
    return A[:, problem] if pairs[problem][1] == own else -A[:, problem]


def _names(way: Any, columns: Any, shape: Any) -> Names:
    """What stands behind the features that a representation makes."""
    if isinstance(way, TableEncoder):
        codes = way.encoding_.codes
        owners = np.repeat(np.arange(len(codes)), [len(code.names) for code in codes.values()])
        return Names(list(codes), owners, True)
    if isinstance(way, Pipeline) and isinstance(way.steps[0][1], Documents):
        words = [repr(str(word)) for word in way.get_feature_names_out()]
        return Names(words, np.arange(len(words)), False)
    wide = way.n_features_in_
    names = list(columns) if columns is not None else _places(wide, shape)
    out = [str(name) for name in way.get_feature_names_out(np.array(names, dtype=object))]
    place = {name: j for j, name in enumerate(names)}
    # a column that tells where values are missing belongs to the column that misses them
    owners = np.array([place[name.removeprefix("missingindicator_")] for name in out])
    return Names(names, owners, True)


def _places(wide: int, shape: Any) -> list[str]:
    """Names of features without names: places of pixels, or numbers counted from 1."""
    sides = list(shape or ())
    if len(sides) < 2 or int(np.prod(sides)) != wide:
        return [f"feature {j + 1}" for j in range(wide)]
    places = np.indices(sides).reshape(len(sides), -1).T + 1
    return ["pixel " + ", ".join(map(str, place)) for place in places.tolist()]


def _short(value: Any) -> str:
    text = f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)
    return text if len(text) <= 40 else text[:37] + "..."
