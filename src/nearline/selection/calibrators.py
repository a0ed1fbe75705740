"""Calibrators: scores of rows that a model had not seen, made into probabilities by temperature, sigmoid or steps."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, softmax
from sklearn.isotonic import IsotonicRegression

from nearline._arrays.design import Array
from nearline._parallel.stopping import checkpoint
from nearline._records.kept import ListOf, Numbers, Real, kept, require
from nearline.solvers.platt import certainty, platt

# Bounds of score range / temperature: between them lie probabilities from nearly equal to nearly 0 and 1.
FLATTEST, SHARPEST = 1e-4, 1e4


@kept(temperature=Real(above=0.0))
@dataclass(frozen=True)
class TemperatureScaling:
    """softmax(scores / T), for two classes with one score f sigmoid(f / T): the order of the classes does not change.

    ``fit`` minimizes the log-loss over T, which is convex in 1 / T. Where every row's own class has the largest score no
    T > 0 does, and the one is taken whose mean probability of the own class is (N + 1) / (N + 2), N the sum of weights,
    which count repeated rows.

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([8.0, 8.0, 8.0, 8.0, -8.0])  # all are sure, one of them is wrong
    >>> calibrator = TemperatureScaling.fit(scores, np.array([1, 1, 1, 0, 0]))
    >>> calibrator.probabilities(np.array([8.0])).round(3).tolist()
    [[0.2, 0.8]]
    """

    temperature: float = 1.0
    against_the_rest: ClassVar[bool] = False  # whether each class has a score of its own, the others aside

    @classmethod
    def fit(cls, scores: Any, codes: Any, weights: Any = None) -> Self:
        """From scores (n,) or (n, K) of rows that were not trained on, class numbers (n,) and weights (n,) or None."""
        S, codes, w = _checked(scores, codes, weights)
        S = _two_columns(S)
        span = float(w @ np.ptp(S, axis=1)) / float(w.sum())
        if span == 0.0:
            return cls()
        U, rows = (S - S.max(axis=1, keepdims=True)) / span, np.arange(len(S))

        def slope(sharpness: float) -> float:
            """Derivative of the log-loss by sharpness = span / T."""
            expected = (softmax(sharpness * U, axis=1) * U).sum(axis=1)
            return float(w @ (expected - U[rows, codes]))

        def beyond(log_sharpness: float) -> float:
            """Mean probability of the own class beyond (N + 1) / (N + 2)."""
            own = softmax(np.exp(log_sharpness) * U, axis=1)[rows, codes]
            return float(w @ own) / float(w.sum()) - float((w.sum() + 1.0) / (w.sum() + 2.0))

        if (U[rows, codes] == 0.0)[w > 0].all():  # every row's own class is first
            bounds = float(np.log(FLATTEST)), float(np.log(SHARPEST))
            return cls(span / float(np.exp(_root(beyond, *bounds))))
        return cls(span / _root(slope, FLATTEST, SHARPEST))

    def probabilities(self, scores: Any) -> Array:
        """Class probabilities (n, K)."""
        return np.asarray(
            softmax(_two_columns(np.asarray(scores, dtype=np.float64)) / self.temperature, axis=1)
        )


@kept(slopes=Numbers(("K",)), offsets=Numbers(("K",)))
@dataclass(frozen=True)
class Sigmoid:
    """Platt's sigmoid(slope f + offset) for two classes; of more, one for each class against the rest, divided by the sum.

    ``fit`` minimizes the log-loss with the targets (N1 + 1) / (N1 + 2) and 1 / (N0 + 2) in place of 1 and 0, N1 and N0 the
    weights (repeated rows) of the class and of the rest. With more than two classes the most probable one can differ
    from the one of the largest score.

    Examples
    --------
    >>> import numpy as np
    >>> calibrator = Sigmoid.fit(np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0, 0, 1, 1]))
    >>> calibrator.probabilities(np.array([0.0, 2.0])).round(2).tolist()
    [[0.5, 0.5], [0.21, 0.79]]
    """

    slopes: Array  # (1,) for two classes, else (K,)
    offsets: Array
    against_the_rest: ClassVar[bool] = True

    @classmethod
    def fit(cls, scores: Any, codes: Any, weights: Any = None) -> Self:
        """From scores (n,) or (n, K) of rows that were not trained on, class numbers (n,) and weights (n,) or None."""
        S, codes, w = _checked(scores, codes, weights)
        F, own = (np.stack(one) for one in zip(*_each_against_the_rest(S, codes)))
        return cls(*platt(F, own, np.broadcast_to(w, F.shape)))

    def probabilities(self, scores: Any) -> Array:
        """Class probabilities (n, K)."""
        return _shared(expit(_one_column(np.asarray(scores, dtype=np.float64)) * self.slopes + self.offsets))


def _of_points(steps: "Isotonic") -> None:
    fits = all(x.ndim == 1 and len(x) and x.shape == y.shape for x, y in zip(steps.points, steps.values))
    require(fits, "A rising function does not have a value at each of its points")


@kept(
    points=ListOf(Numbers(None, rising=True), "K", tuple),
    values=ListOf(Numbers(None, least=0.0, most=1.0), "K", tuple),
    links=_of_points,
)
@dataclass(frozen=True)
class Isotonic:
    """A rising function of the score for two classes; of more, one for each class against the rest, divided by the sum.

    ``fit`` minimizes the squared error among all functions that never fall, linear between their points (scikit-learn's
    ``IsotonicRegression``), within Platt's 1 / (N0 + 2) and (N1 + 1) / (N1 + 2): that no row of the class was found below a
    score does not make it impossible there, as 0 would say. It follows any shape and needs rows for it.

    Examples
    --------
    >>> import numpy as np
    >>> calibrator = Isotonic.fit(np.array([-2.0, -1.0, 1.0, 2.0]), np.array([0, 1, 0, 1]))
    >>> calibrator.probabilities(np.array([-2.0, 0.0, 3.0])).tolist()
    [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]]
    """

    points: tuple[Array, ...]  # scores, rising: one array for two classes, else one for each
    values: tuple[Array, ...]
    against_the_rest: ClassVar[bool] = True

    @classmethod
    def fit(cls, scores: Any, codes: Any, weights: Any = None) -> Self:
        """From scores (n,) or (n, K) of rows that were not trained on, class numbers (n,) and weights (n,) or None."""
        S, codes, w = _checked(scores, codes, weights)
        points, values = [], []
        for f, is_own in _each_against_the_rest(S, codes):
            low, high = certainty(is_own, w)
            steps = IsotonicRegression(y_min=low, y_max=high).fit(f, is_own, w)
            points.append(steps.X_thresholds_)
            values.append(steps.y_thresholds_)
        return cls(tuple(points), tuple(values))

    def probabilities(self, scores: Any) -> Array:
        """Class probabilities (n, K)."""
        F = _one_column(np.asarray(scores, dtype=np.float64))
        steps = zip(F.T, self.points, self.values, strict=True)
        return _shared(np.column_stack([np.interp(f, x, y) for f, x, y in steps]))


CALIBRATORS: dict[str, Any] = {"temperature": TemperatureScaling, "sigmoid": Sigmoid, "isotonic": Isotonic}


def _root(increasing: Callable[[float], float], low: float, high: float) -> float:
    """Where the function is 0, or the end next to that."""

    def asked(place: float) -> float:
        checkpoint()
        return increasing(place)

    if asked(low) >= 0.0:
        return low
    return high if asked(high) <= 0.0 else float(brentq(asked, low, high))


def _two_columns(S: Array) -> Array:
    return np.column_stack([np.zeros(len(S)), S]) if S.ndim == 1 else S


def _one_column(S: Array) -> Array:
    """(n, 1) for two classes, positive for the second; else as it is."""
    if S.ndim == 1:
        return S[:, None]
    return S[:, 1:] - S[:, :1] if S.shape[1] == 2 else S


def _each_against_the_rest(S: Array, codes: Array) -> list[tuple[Array, Array]]:
    """Scores of a class and which rows are its own: for the second of two classes, or for every class."""
    F = _one_column(S)
    owners = [1] if F.shape[1] == 1 else range(F.shape[1])
    return [(f, codes == c) for f, c in zip(F.T, owners)]


def _shared(p: Array) -> Array:
    """Probabilities of classes against the rest, divided by their sum; of two classes one has what the other leaves."""
    if p.shape[1] == 1:
        return np.column_stack([1.0 - p[:, 0], p[:, 0]])
    total = p.sum(axis=1, keepdims=True)
    return np.divide(p, total, out=np.full_like(p, 1.0 / p.shape[1]), where=total > 0)


def _checked(scores: Any, codes: Any, weights: Any) -> tuple[Array, Array, Array]:
    S, codes = np.asarray(scores, dtype=np.float64), np.asarray(codes)
    n_classes = 2 if S.ndim == 1 else S.shape[-1]
    if S.ndim not in (1, 2) or n_classes < 2 or codes.shape != S.shape[:1] or not np.isfinite(S).all():
        raise ValueError(
            f"scores must be finite, (n,) or (n, K) with a class number for each row, got shapes {S.shape} and "
            f"{codes.shape}: give a column for each class, or one score for two classes."
        )
    if not np.isin(codes, np.arange(n_classes)).all():
        raise ValueError(
            f"codes must be class numbers from 0 to {n_classes - 1}, got {np.unique(codes).tolist()}."
        )
    w = np.ones(len(S)) if weights is None else np.asarray(weights, dtype=np.float64)
    if w.shape != codes.shape or not (w >= 0).all() or not w.sum() > 0:
        raise ValueError(f"weights must be {len(S)} numbers >= 0 that are not all 0, got shape {w.shape}.")
    return S, codes, w
