"""LinearSVM: soft and hard margin, one-vs-rest, Weston-Watkins and Crammer-Singer."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from nearline._arrays.blocks import Block
from nearline._arrays.design import Array, Design, is_sparse
from nearline._arrays.doors import Door
from nearline._records.habits import ours
from nearline._records.kept import Flag, Numbers, OneOf, OrNone, Perhaps, Real, kept
from nearline.estimators.base import fits_blocks
from nearline.estimators.blocked import labelled
from nearline.estimators.linear import LinearClassifier
from nearline.losses import Loss
from nearline.risk import Risk
from nearline.risk.params import Params
from nearline.scores import LinearScore
from nearline.solvers import Goal, Solution, certified, minimize

ZERO = 1e-12  # a dual variable of at most this is 0 but for rounding
LOSSES_OF_SVMS = ("squared-hinge", "hinge", "weston-watkins", "crammer-singer")


@kept(
    loss=OneOf(LOSSES_OF_SVMS),
    regularizer=None,
    multiclass=None,
    hard_margin=Flag(),
    support_=Perhaps(Numbers(("S",), "whole numbers", least=0)),
    margin_=Perhaps(Real(wild=True)),
    error_bound_=Perhaps(OrNone(Real(wild=True))),
)
class LinearSVM(LinearClassifier):
    """Linear support vector machine: mean hinge-like loss + (alpha/2) |W|^2.

    Parameters
    ----------
    alpha : strength of the L2 penalty (C of other libraries is 1 / (n alpha)); "1/n" is their C = 1.
    loss : "squared-hinge" or "hinge" (one-vs-rest above two classes), "weston-watkins" or "crammer-singer" (joint).
    hard_margin : require y f >= 1 on every row instead; ``alpha`` is then not used. Rows must be separable.
    fit_intercept, class_weight, solver, tol, warm_start : as in :class:`LinearClassifier`.

    Attributes
    ----------
    alpha_ : the alpha that was used; of a hard margin one that is small enough.
    support_ : numbers of the rows that hold the boundary: those whose dual variable is not 0, as the solver found them
        (hinge; of equal rows as few as can carry them) or as they follow from the scores (squared hinge: y f < 1).
        They are the optimum's as ``tol`` goes to 0.
    margin_ : smallest geometric margin of the training rows, y f / |w| (joint: (f_y - max f_c) / |W|); at a hard margin
        1 / |w|. Negative where a row is misclassified.
    error_bound_ : R^2 / (margin^2 n), R the radius of the training rows; None without a positive margin.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import LinearSVM
    >>> X, y = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [5.0, 1.0]]), np.array([-1, -1, 1, 1])
    >>> model = LinearSVM(hard_margin=True, tol=1e-8).fit(X, y)
    >>> (model.coef_.round(3) + 0.0).tolist(), round(float(model.margin_), 3), model.support_.tolist()
    ([[1.0, 0.0]], 1.0, [1, 2])
    """

    regularizer = "l2"
    multiclass = "auto"

    def __init__(
        self,
        alpha: float | str = "1/n",
        loss: str = "squared-hinge",
        *,
        hard_margin: bool = False,
        fit_intercept: bool = True,
        class_weight: Any = None,
        solver: Any = "auto",
        tol: float = 1e-4,
        warm_start: bool = False,
    ) -> None:
        self.alpha = alpha
        self.loss = loss
        self.hard_margin = hard_margin
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.warm_start = warm_start

    def _fit_blocks(self, door: Door, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """The soft margin over rows in blocks; who supports it follows from the scores."""
        if self.hard_margin:
            raise ValueError(
                "A hard margin needs the rows at hand, and they are in blocks: use hard_margin=False with a small alpha."
            )
        blocks = labelled(self, door, X, y, sample_weight, self.class_weight)
        risk = self._blocked_risk(blocks)
        solution = minimize(risk, self.solver, self._start(risk), tol=self.tol)
        self._keep(risk, solution)
        center = risk.passes.column_moments[0] if risk.bias else None
        told = blocks.each(_Told(self.score_function_, risk.loss, solution.params, center))
        self.support_ = np.concatenate([one.support for one in told])
        self.margin_ = min(one.margin for one in told)
        self.error_bound_ = None
        if self.margin_ > 0:
            radius, rows = max(one.radius for one in told), sum(one.n_used for one in told)
            self.error_bound_ = radius / (self.margin_**2 * rows)
        solution.warn(self.tol, self._limit)
        return self

    @fits_blocks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the machine; sample weights count as repetitions of rows."""
        risk = self.risk(X, y, sample_weight)
        if self.hard_margin:
            risk, solution = self._hard_margin(risk)
        else:
            solution = minimize(risk, self.solver, self._start(risk), tol=self.tol)
        self._keep(risk, solution)
        self._describe(risk, solution)
        solution.warn(self.tol, self._limit)
        return self

    def _named_loss(self) -> Loss:
        if ours(self.loss) not in LOSSES_OF_SVMS:
            raise ValueError(
                f"LinearSVM's loss is one of {', '.join(map(repr, LOSSES_OF_SVMS))}, got {self.loss!r}."
            )
        return super()._named_loss()

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One pass of stochastic gradient descent over new rows, for the soft margin."""
        if self.hard_margin:
            raise ValueError("A hard margin needs all rows at once: use fit, or hard_margin=False.")
        return super().partial_fit(X, y, classes, sample_weight)

    def _hard_margin(self, risk: Risk) -> tuple[Risk, Solution]:
        """The soft margin at an alpha so small that no row has a loss: then both have the same solution.

        alpha falls until the slack is gone. Rows are first brought to radius 1 (W = W'/r and alpha = alpha' r^2 give the
        same risk): else |W|^2 could be too small or too large to be told from rounding beside the loss.
        """
        center, radius = _ball(risk)
        given = Risk(
            risk.X,
            risk.targets,
            loss=risk.loss if risk.loss.own.slack is not None else "hinge",
            weights=(risk.weights > 0).astype(float),
            bias=self.fit_intercept,
            n_classes=risk.n_classes,
        )
        X = risk.X / radius if center is None else (risk.X - center) / radius
        hinge = Risk(
            X.astype(np.float64), given.targets, loss=given.loss, weights=given.weights, bias=self.fit_intercept,
            n_classes=given.n_classes,
        )  # fmt: skip
        alpha, start = 0.5, None
        for _ in range(60):
            risk = hinge.with_alpha(alpha)
            solution = minimize(risk, self.solver, start, tol=self.tol)
            point = risk.at(solution.params)
            if point.data_loss <= max(self.tol, 1e-6) * point.value:
                W, b = solution.params.W / radius, solution.params.b
                b = b if center is None else b - W @ center
                given = given.with_alpha(alpha * radius**2)
                return given, certified(given, Params.of(W, b), solution, Goal(self.tol))
            start, alpha = solution.params, 0.25 * alpha
            if alpha < 1e-14:
                break
        raise ValueError(
            "No hyperplane was found that separates the classes with a margin, so there is no hard margin: "
            "use hard_margin=False with alpha > 0; nearline.is_separable(X, y) gives the verdict with its certificate."
        )

    def _describe(self, risk: Risk, solution: Solution) -> None:
        """Support vectors, margin and the bound."""
        scores = risk.passes.scores(solution.params).astype(np.float64)
        duals = solution.duals
        if duals is None:
            duals = risk.loss.value_and_gradient(scores, risk.targets)[1]
        elif not (risk.loss.joint or risk.loss.smooth):
            duals = _fewest(risk, duals)
        used = risk.weights > 0
        self.support_ = np.flatnonzero((np.abs(duals) > ZERO).any(axis=1) & used)
        self.margin_ = float(self.score_function_.margins_of(scores, risk.targets)[used].min())
        self.error_bound_ = None
        if self.margin_ > 0:
            self.error_bound_ = _squared_radius(risk) / (self.margin_**2 * int(used.sum()))


class _Share(NamedTuple):
    """What a block says of the margin."""

    support: Array  # numbers of rows
    margin: float
    radius: float  # the square of it
    n_used: int


@dataclass(frozen=True)
class _Told:
    """Support, margin and radius of a block's rows."""

    score: LinearScore
    loss: Loss
    params: Params
    center: Array | None

    def __call__(self, block: Block) -> _Share:
        risk = Risk(
            block.X, block.targets, loss=self.loss, weights=block.weights + 1.0, n_classes=len(self.score.classes)
        )  # fmt: skip
        duals = risk.passes.duals(risk.passes.scores(self.params))
        used = block.weights > 0
        if not used.any():
            return _Share(block.numbers[:0], np.inf, 0.0, 0)
        support = (np.abs(duals) > ZERO).any(axis=1) & used
        margin = float(self.score.margins(block.X, block.targets)[used].min())
        return _Share(
            block.numbers[support], margin, _squared_radius_about(block.X, self.center), int(used.sum())
        )


def _fewest(risk: Risk, duals: Array) -> Array:
    """Duals of the same W in which, of equal rows of a class, as few as can carry them all.

    Equal rows may share their duals u_i in any way that keeps sum_i s_i u_i, and the hinge bounds each by |u_i| <= 1:
    which of them a solver chooses is an accident. Losses without a kink choose themselves.
    """
    duals = duals.copy()
    for column in duals.T:
        groups: dict[tuple[bool, bytes], list[int]] = {}
        inside = np.flatnonzero((np.abs(column) > ZERO) & (np.abs(column) < 1.0 - ZERO))
        for i in inside[_may_be_equal(risk.X[inside])].tolist():
            groups.setdefault((bool(column[i] > 0), _bytes_of(risk.X[i])), []).append(i)
        for (positive, _), rows in groups.items():
            mass = float(risk.weights[rows] @ np.abs(column[rows]))
            for i in rows:
                share = min(mass / risk.weights[i], 1.0)
                column[i] = (share if positive else -share) if share > ZERO else 0.0
                mass -= share * risk.weights[i]
    return duals


def _may_be_equal(X: Design) -> Array:
    """Which rows have another one beside them in a random direction, but for rounding: of all others none is equal."""
    direction = np.random.default_rng(0).uniform(1.0, 2.0, X.shape[1])
    places = np.asarray(X @ direction, dtype=np.float64)
    rounding = 1e-5 * np.asarray(abs(X) @ direction, dtype=np.float64)
    order = np.argsort(places, kind="stable")
    near = np.diff(places[order]) <= rounding[order][1:]
    found = np.zeros(len(places), dtype=bool)
    found[order[1:][near]] = found[order[:-1][near]] = True
    return found


def _bytes_of(row: Any) -> bytes:
    """The same for equal rows."""
    if is_sparse(row):
        row = row.sorted_indices()
        return bytes(row.indices.tobytes() + row.data.tobytes())
    return bytes((row + 0.0).tobytes())  # 0.0 and -0.0 are equal


def _squared_norms(X: Design) -> Array:
    if is_sparse(X):
        squares = type(X)((np.square(X.data, dtype=np.float64), X.indices, X.indptr), shape=X.shape)
        return np.asarray(squares @ np.ones(X.shape[1]))
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def _ball(risk: Risk) -> tuple[Array | None, float]:
    """Mean and radius of the rows; no mean where a shift would change the model or fill in zeros."""
    center = risk.passes.column_moments[0] if risk.bias and not risk.sparse else None
    squares = _squared_norms(risk.X if center is None else risk.X - center)
    return center, float(np.sqrt(squares.max())) or 1.0


def _squared_radius(risk: Risk) -> float:
    """max |x - c|^2 over rows, c the mean where the bias is free (it can absorb a shift), else the origin."""
    return _squared_radius_about(risk.X, risk.passes.column_moments[0] if risk.bias else None)


def _squared_radius_about(X: Design, center: Array | None) -> float:
    squares = _squared_norms(X)
    if center is None:
        return float(squares.max())
    return float((squares - 2.0 * np.asarray(X @ center).ravel() + center @ center).max())
