"""ExemplarSVM: one linear SVM for each exemplar, calibrated; the exemplar that fires gives its label and its payload."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from nearline._arrays.design import Array
from nearline._parallel.tiles import slices
from nearline._records.kept import AnyOf, Anything, Numbers, OneOf, OrNone, Real, Whole, kept, require
from nearline.decision import decide
from nearline.estimators._sigmoids import sigmoids
from nearline.estimators.base import Classifier
from nearline.neighbors.explanation import Votes
from nearline.neighbors.lists import Ragged
from nearline.solvers import ConvergenceWarning
from nearline.solvers.exemplars import fit_exemplars

SHOWN = 5  # exemplars of an explanation
CELLS = 2**22  # scores at a time


def _of_its_exemplars(model: "ExemplarSVM") -> None:
    E = len(model.exemplars_)
    known = model._codes.max(initial=0) < len(model.classes_)
    require(known, "The exemplars' labels do not fit the classes")
    require(
        model.payload_ is None or _num_samples(model.payload_) == E,
        "There is not one payload for each exemplar",
    )


@kept(
    alpha=AnyOf((OneOf(("1/n",)), Real(above=0.0))),
    positive_weight=Real(above=0.0),
    calibration=OrNone(Whole(2)),
    tol=Real(above=0.0),
    random_state=Whole(0),
    n_features_in_=Whole(1),
    coef_=Numbers(("E", "D"), "floats"),
    intercept_=Numbers(("E",), "floats"),
    slopes_=Numbers(("E",), above=0.0),
    offsets_=Numbers(("E",)),
    risks_=Numbers(("E",), least=0.0),
    gaps_=Numbers(("E",), least=0.0),
    exemplars_=Numbers(("E",), "whole numbers", least=0),
    payload_=Anything(),
    rounds_=Whole(0),
    _codes=Numbers(("E",), "whole numbers", least=0),
    _rows=Numbers(("E", "D"), "floats"),
    links=_of_its_exemplars,
)
class ExemplarSVM(Classifier):
    """One linear SVM for each exemplar against the rows of other classes; the one that fires most decides.

    The machine of exemplar x_e minimizes, over its negatives i (the rows of other classes),

        P_e(w, b) = (alpha/2) |w|^2 + (1/S) (p max(0, 1 - w.x_e - b)^2 + sum_i max(0, 1 + w.x_i + b)^2),   S = p + negatives

    which is :class:`LinearSVM` with squared hinge loss and weight p for the exemplar. Each begins with its hardest
    negatives; all rows are scored again and violators (score above -1 + 1e-5, not yet among them) join, until there is
    none: the minimum is then that against all negatives, and has a certificate.

    A score is made comparable by a sigmoid, P(same class | x) = 1 / (1 + exp(-(a_e f_e(x) + c_e))), fitted to rows that the
    machine has not seen: the other rows of its class, and the negatives of its own fold, which it does not train on. Where a
    class has no other row, or the sigmoid would fall, it is the one of all exemplars together. A row gets the label of the
    exemplar with the largest a_e f_e(x) + c_e, and with :meth:`transfer` its payload.

    Parameters
    ----------
    alpha : strength of the L2 penalty; "1/n" is C = 1 of other libraries.
    positive_weight : p, how much the exemplar counts; a negative counts 1.
    calibration : number of folds for the sigmoids; None: no sigmoids, and every row of another class is a negative.
    tol : gap that is warned of, relative to P_e.
    random_state : decides the folds.

    Attributes
    ----------
    exemplars_ : (E,) their row numbers in X.
    coef_, intercept_ : (E, D) and (E,), of the machines.
    slopes_, offsets_ : (E,) a and c of the sigmoids.
    risks_, gaps_ : (E,) P_e and its certified distance from the minimum.
    payload_ : what the exemplars carry, or None.
    rounds_ : of mining.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import ExemplarSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ExemplarSVM().fit(X[::5], y[::5], payload=[f"flower {i}" for i in range(0, 150, 5)])
    >>> model.predict(X[[2, 63, 120]]).tolist()
    [0, 1, 2]
    >>> model.transfer(X[[2]])
    ['flower 45']
    """

    accept_sparse = False

    def __init__(
        self,
        alpha: float | str = "1/n",
        *,
        positive_weight: float = 50.0,
        calibration: int | None = 5,
        tol: float = 1e-4,
        random_state: int = 0,
    ) -> None:
        self.alpha = alpha
        self.positive_weight = positive_weight
        self.calibration = calibration
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any, *, exemplars: Any = None, payload: Any = None) -> Self:
        """One machine for each exemplar.

        ``exemplars``: row numbers, or a mask of rows; None: all rows. ``payload``: what each exemplar carries, in their
        order: labels, boxes, masks, captions, or anything else.
        """
        self._check_parameters()
        X, codes, _ = self._validate_fit(X, y)
        rows = _row_numbers(exemplars, len(X))
        if payload is not None and _num_samples(payload) != len(rows):
            raise ValueError(
                f"There are {len(rows)} exemplars and {_num_samples(payload)} payloads: give one for each exemplar."
            )
        folds, own = self._folds(codes, rows)
        found = fit_exemplars(X, codes, folds, rows, own, self.alpha, float(self.positive_weight))
        self.coef_, self.intercept_ = found.W, found.b
        self.risks_, self.gaps_, self.rounds_ = found.risks, found.gaps, found.rounds
        self.exemplars_, self._codes, self._rows = rows, codes[rows].astype(np.int64), X[rows].copy()
        self.payload_ = payload.copy() if hasattr(payload, "copy") else payload
        self.slopes_, self.offsets_ = np.ones(len(rows)), np.zeros(len(rows))
        if self.calibration is not None:
            self.slopes_, self.offsets_ = sigmoids(X, codes, folds, rows, own, found.W, found.b)
        self._warn()
        return self

    def decision_function(self, X: Any) -> Array:
        """Log-odds of the exemplar that fires most in each class (m, C); of two classes how much the second leads (m,)."""
        by_class = self._by_class(self._validate_predict(X))
        return by_class[:, 1] - by_class[:, 0] if by_class.shape[1] == 2 else by_class

    def predict(self, X: Any) -> Array:
        """The label of the exemplar that fires most; among equals that of the class that comes first."""
        return decide(self._by_class(self._validate_predict(X)), self.classes_)

    def fired(self, X: Any) -> Array:
        """Which exemplar decides (m,): its place among ``exemplars_``."""
        return self._strongest(self._validate_predict(X), 1)[0][:, 0]

    def transfer(self, X: Any) -> Any:
        """The payload of the exemplar that fires most, for each row; its label where exemplars carry nothing else."""
        places = self.fired(X)
        if self.payload_ is None:
            return self.classes_[self._codes[places]]
        if isinstance(self.payload_, (list, tuple)):
            return [self.payload_[place] for place in places]
        return _safe_indexing(self.payload_, places)

    def explain(self, X: Any) -> Votes:
        """The exemplars that fire most, strongest first: row number, label, distance (L2), calibrated score as the vote."""
        X = self._validate_predict(X)
        places, odds = self._strongest(X, min(SHOWN, len(self.exemplars_)))
        m, k = places.shape
        starts = np.arange(0, (m + 1) * k, k)
        distances = np.linalg.norm(X[:, None, :].astype(np.float64) - self._rows[places], axis=2)
        votes = 1.0 / (1.0 + np.exp(-np.clip(odds, -700.0, 700.0)))
        labels = self.classes_[self._codes[places]]
        near, far, cast, own = (
            Ragged(starts, a.ravel()) for a in (self.exemplars_[places], distances, votes, labels)
        )
        none = np.zeros(m, dtype=bool)
        return Votes(self.predict(X), near, far, cast, own, none, none)

    def _odds(self, X: Array) -> Array:
        """(m, E) a_e f_e(x) + c_e."""
        return np.asarray((X @ self.coef_.T + self.intercept_) * self.slopes_ + self.offsets_)

    def _by_class(self, X: Array) -> Array:
        """(m, C) the largest log-odds of each class; a class without exemplars never fires."""
        found = np.full((len(X), len(self.classes_)), -np.inf)
        own = [np.flatnonzero(self._codes == c) for c in range(len(self.classes_))]
        for part in slices(len(X), max(1, CELLS // len(self._codes))):
            odds = self._odds(X[part])
            for c, places in enumerate(own):
                if len(places):
                    found[part, c] = odds[:, places].max(axis=1)
        return found

    def _strongest(self, X: Array, k: int) -> tuple[Array, Array]:
        """Places and log-odds (m, k) of the exemplars that fire most; among equals by class, then by place."""
        order = np.argsort(self._codes, kind="stable")
        odds = self._odds(X)[:, order]
        places = np.argsort(-odds, axis=1, kind="stable")[:, :k]
        return order[places], np.take_along_axis(odds, places, axis=1)

    def _folds(self, codes: Array, rows: Array) -> tuple[Array, Array]:
        """Each row's fold, and the fold that each exemplar does not train on: -1 where nothing else would be left."""
        n = len(codes)
        if self.calibration is None:
            return np.zeros(n, dtype=np.int64), np.full(len(rows), -1)
        drawn = np.random.default_rng(self.random_state).permutation(n)
        drawn = drawn[np.argsort(codes[drawn], kind="stable")]
        folds = np.empty(n, dtype=np.int64)
        folds[drawn] = np.arange(n) % self.calibration
        there = np.zeros((int(codes.max()) + 1, self.calibration), dtype=np.int64)
        np.add.at(there, (codes, folds), 1)
        own_class, own_fold = codes[rows], folds[rows]
        left = n - there.sum(axis=1)[own_class] - there.sum(axis=0)[own_fold] + there[own_class, own_fold]
        return folds, np.where(left > 0, own_fold, -1)

    def _check_parameters(self) -> None:
        if self.alpha != "1/n" and not (
            isinstance(self.alpha, (int, float, np.number)) and 0 < self.alpha < np.inf
        ):
            raise ValueError(f"alpha must be a number > 0, or '1/n', got {self.alpha!r}.")
        p = self.positive_weight
        if not (isinstance(p, (int, float, np.number)) and 0 < p < np.inf):
            raise ValueError(f"positive_weight must be a number > 0, got {p!r}: 50 is usual.")
        K = self.calibration
        if K is not None and not (isinstance(K, (int, np.integer)) and K >= 2):
            raise ValueError(f"calibration must be a number of folds >= 2, or None, got {K!r}.")

    def _warn(self) -> None:
        wide = self.gaps_ > self.tol * self.risks_
        if wide.any():
            warnings.warn(
                f"{int(wide.sum())} of {len(wide)} exemplars were not solved to tol={self.tol:g} (largest gap "
                f"{self.gaps_.max():.1e}): raise tol, or take a larger alpha.",
                ConvergenceWarning,
                stacklevel=3,
            )


def _row_numbers(exemplars: Any, n: int) -> Array:
    if exemplars is None:
        return np.arange(n)
    rows = np.asarray(exemplars)
    if rows.dtype == bool and rows.shape == (n,):
        rows = np.flatnonzero(rows)
    whole = rows.ndim == 1 and rows.dtype.kind in "iu"
    if not whole or not len(rows) or rows.min() < 0 or rows.max() >= n or len(np.unique(rows)) < len(rows):
        raise ValueError(
            f"exemplars must be different row numbers from 0 to {n - 1}, at least one, or a mask of the {n} rows."
        )
    return rows.astype(np.int64)
