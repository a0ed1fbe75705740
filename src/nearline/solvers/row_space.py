"""Fewer rows than features: the same problem in the space that the rows span.

With a penalty (l2/2) |W|^2 the minimizer is W = V Q, Q an orthonormal basis of the rows: nothing outside of it changes a
score, and all of it costs. X = R Q gives R (n, r) by Cholesky's factorization of the rows' Gram matrix, and

    risk(W, b) = mean loss(V R_i + b) + (l2/2) |V|^2

is a risk with at most n features in place of D. With a bias the rows are taken about their mean.
"""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline.risk import Point, Risk
from nearline.risk.params import Params
from nearline.solvers._base import Solver
from nearline.solvers._goal import Goal
from nearline.solvers._refusals import needs_elastic
from nearline.solvers._state import State
from nearline.solvers.block_newton import BlockNewton
from nearline.solvers.first_order import needs_gradient
from nearline.solvers.newton import NewtonCG

MOST_ROWS = 500  # whose systems are still small
MOST_NUMBERS = 10_000_000  # in X, of which a copy about the mean is made
RANK = 1e-13  # squared lengths below this share of the longest row's are rounding


class RowBasis:
    """Z = R Q for rows Z about their mean, Q orthonormal; Q = L^-1 of some rows is never formed."""

    def __init__(self, X: Array, mean: Array) -> None:
        from scipy.linalg.lapack import dpstrf

        Z = X.astype(np.float64) - mean
        G = Z @ Z.T
        if not np.isfinite(G).all():
            raise np.linalg.LinAlgError("The inner products of the rows are not finite.")
        factor, order, rank, _ = dpstrf(G, tol=RANK * float(G.diagonal().max()), lower=1)
        order, rank = order - 1, max(int(rank), 1)
        L = np.tril(factor)[:, :rank]
        self.R = np.empty_like(L)
        self.R[order] = L
        self._rows, self._L, self._mean = Z[order[:rank]], L[:rank], mean
        if not self._L[0, 0] > 0:  # all rows are equal
            self._L, self.R = np.ones((1, 1)), np.zeros_like(self.R)

    def to_features(self, V: Array) -> Array:
        """V Q, (K, D)."""
        from scipy.linalg import solve_triangular

        return np.asarray(solve_triangular(self._L, V.T, lower=True, trans="T").T @ self._rows)

    def from_params(self, params: Params) -> Params:
        """Those of the part of W that the rows see."""
        from scipy.linalg import solve_triangular

        V = solve_triangular(self._L, self._rows @ params.W.T, lower=True).T
        return Params.of(V, params.b + params.W @ self._mean)

    def point(self, inner: Point) -> Point:
        """The same point in features."""
        params, pull = inner.params, inner.gradient
        W, G = np.split(self.to_features(np.concatenate([params.W, pull.W])), 2)
        moved = Params.of(W, params.b - W @ self._mean)
        gradient = Params.of(G + np.outer(pull.b, self._mean), pull.b)
        return Point(moved, inner.scores, inner.data_loss, inner.penalty, gradient)


@dataclass
class RowSpaceState(State):
    """State with the problem of few features, and where its solver stands."""

    basis: RowBasis = field(kw_only=True)
    inner: Risk = field(kw_only=True)
    state: State = field(kw_only=True)


@dataclass(frozen=True)
class RowSpace(Solver):
    """Fewer rows than features, L2: Newton's method on the coordinates of the rows in the space that they span."""

    name: ClassVar[str] = "row-space"
    max_iter: int = 500

    @property
    def descends(self) -> bool:
        return True

    def refuses(self, risk: Risk) -> str | None:
        reason = needs_gradient(risk, self.name) or needs_elastic(risk, self.name)
        if reason is not None:
            return reason
        n, D, able = risk.n_rows, risk.n_features, "use 'preconditioned-lbfgs' or 'newton-cg'."
        if not (risk.passes.steps_by_newton and risk.l2 > 0):
            return f"Solver '{self.name}' serves dense rows, class numbers as targets, built-in losses and L2: {able}"
        if n >= D or n > MOST_ROWS or n * D > MOST_NUMBERS:
            return (
                f"Solver '{self.name}' is for rows fewer than features, up to {MOST_ROWS} of them and {MOST_NUMBERS:,} "
                f"numbers in all, not for {n} by {D}: {able}"
            )
        return None

    def method(self, risk: Risk) -> Solver:
        """Losses without end bend evenly, so that products with the Hessian do; others are solved by its blocks."""
        return NewtonCG() if risk.loss.own.endless else BlockNewton()

    def start(self, risk: Risk, params: Params, goal: Goal) -> RowSpaceState:
        zero = np.zeros(risk.n_features)
        basis = RowBasis(risk.X, risk.passes.column_moments[0] if risk.bias else zero)
        inner = Risk(
            basis.R, risk.targets, loss=risk.loss, alpha=risk.l2, weights=risk.weights, bias=risk.bias,
            n_classes=risk.n_classes,
        )  # fmt: skip
        state = self.method(risk).start(inner, basis.from_params(params), goal)
        return RowSpaceState(basis.point(state.point), fresh=False, basis=basis, inner=inner, state=state)

    def step(self, risk: Risk, state: State) -> State:
        assert isinstance(state, RowSpaceState)
        state.state = self.method(risk).step(state.inner, state.state)
        state.point, state.fresh = state.basis.point(state.state.point), False
        state.stuck = state.state.stuck
        return state
