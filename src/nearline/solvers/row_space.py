"""Fewer rows than features: the same problem in the space that the rows span.

With a penalty (l2/2) |W|^2 the minimizer is W = V Q, Q an orthonormal basis of the rows: nothing outside of it changes a
score, and all of it costs. X = R Q gives R (n, r) by Cholesky's factorization of the rows' Gram matrix, and

    risk(W, b) = mean loss(V R_i + b) + (l2/2) |V|^2

is a risk with at most n features in place of D. With a bias the rows are taken about their mean.
"""

from dataclasses import dataclass, field
from typing import ClassVar

from nearline._parallel.tiles import steps
from nearline.risk import Risk
from nearline.risk.params import Params
from nearline.risk.passes.row_basis import RowBasis
from nearline.solvers._base import Solver
from nearline.solvers._certifier import Goal
from nearline.solvers._refusals import needs_elastic, needs_gradient
from nearline.solvers._row_newton import row_newton_step
from nearline.solvers._state import State
from nearline.solvers.block_newton import BlockNewton
from nearline.solvers.newton import NewtonCG

MOST_ROWS = 500  # whose systems are still small
MOST_NUMBERS = 10_000_000  # in X
LEAST = 1e-7  # penalty, in units of what the longest row bends, from which systems of rows keep their digits
TURNS = 10  # of the inner method in one step: the way back to the features costs more than one of them


@dataclass
class RowSpaceState(State):
    """State with the problem of few features, and where its solver stands."""

    basis: RowBasis = field(kw_only=True)
    inner: Risk = field(kw_only=True)
    state: State = field(kw_only=True)
    goal: Goal = field(kw_only=True)


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

    def turn(self, risk: Risk, state: RowSpaceState) -> State:
        """One step of the inner problem. Separate columns of losses with an end are systems of the rows they reach."""
        longest = float(state.basis.gram.diagonal().max() * risk.weights.max()) / risk.total_weight
        if risk.loss.own.endless or risk.loss.joint or risk.l2 < LEAST * longest:
            return self.method(risk).step(state.inner, state.state)
        return row_newton_step(state.inner, state.basis.gram, state.state)

    def start(self, risk: Risk, params: Params, goal: Goal) -> RowSpaceState:
        basis = risk.passes.row_basis(risk.bias)
        inner = Risk(
            basis.R, risk.targets, loss=risk.loss, alpha=risk.l2, weights=risk.weights, bias=risk.bias,
            n_classes=risk.n_classes,
        )  # fmt: skip
        state = self.method(risk).start(inner, basis.from_params(params), goal)
        return RowSpaceState(
            basis.point(state.point), fresh=False, basis=basis, inner=inner, state=state, goal=goal
        )

    def step(self, risk: Risk, state: State) -> State:
        assert isinstance(state, RowSpaceState)
        for _ in steps(range(TURNS)):
            inner = state.state = self.turn(risk, state)
            gap = state.inner.gap_estimate(inner.point)
            if inner.stuck or gap is None or gap <= state.goal.allowed(inner.point.value):
                break
        state.stuck = inner.stuck
        state.point, state.fresh = state.basis.point(inner.point), False
        return state
