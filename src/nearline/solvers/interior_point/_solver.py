"""Hinge losses under an L2 penalty by an interior-point method: sure where sweeps over the dual crawl."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline.risk import Risk
from nearline.risk.params import Params
from nearline.solvers._base import Solver
from nearline.solvers._certifier import Goal
from nearline.solvers._refusals import needs_slack
from nearline.solvers._state import State
from nearline.solvers.interior_point._margins import Margins, Slacks
from nearline.solvers.interior_point._system import Frame, System

MOST_WORK = 2e10  # multiplications in one iteration
MOST_NUMBERS = 5e7  # in rows that are copied in float64
CLEAR = (
    100.0  # how much larger than t multipliers are, relative to the largest; less where that proves nothing
)
SETTLED = 100.0  # a gap so many times smaller costs two iterations more, and tells which rows are support
FINEST = 1e-15  # complementarity, relative to the losses, below which there are only roundings


@dataclass
class InteriorState(State):
    """Weights in the frame's coordinates, and the slacks."""

    frame: Frame = field(kw_only=True)
    margins: Margins = field(kw_only=True)
    V: Array = field(kw_only=True)  # (K, P)
    slacks: Slacks = field(kw_only=True)
    goal: Goal = field(kw_only=True)
    clear: float = CLEAR
    share: float = field(
        kw_only=True
    )  # gap of a column that waits for the others: going on would end in rounding


@dataclass(frozen=True)
class InteriorPoint(Solver):
    """Newton's method on the optimality conditions of the program with constraints, which are approached from inside.

        minimize (alpha/2) |W|^2 + (1/S) sum s xi   subject to   t = m - 1 + xi >= 0,  xi >= 0

    with m = y f (hinge; one xi a row and column), m_c = f_y - f_c (Weston-Watkins: one xi for each c; Crammer-Singer: one
    xi a row). Conditions are a t = r xi = mu, S alpha W = M^T a, and s = r + sum a; mu goes to 0 by predictor and
    corrector (Mehrotra). One iteration solves linear systems of D + 1 equations (K times as many for the joint losses):
    some twenty will do, whatever alpha and the scale of the features. Where there are fewer rows than features, the rows'
    own coordinates take their place.
    """

    name: ClassVar[str] = "interior-point"
    max_iter: int = 100

    def refuses(self, risk: Risk) -> str | None:
        if (refusal := needs_slack(risk, self.name)) is not None:
            return refusal
        if risk.l1 > 0:
            got = risk.regularizer.name
            return f"Solver '{self.name}' needs a pure L2 penalty and got '{got}': use 'smoothing' or 'sgd'."
        if risk.unpenalized:
            return f"Solver '{self.name}' needs an L2 penalty (alpha > 0): use 'linear-program' or 'sgd'."
        work = multiplications(risk)
        if work > MOST_WORK or risk.n_rows * risk.n_features > MOST_NUMBERS:
            return (
                f"Solver '{self.name}' would take {work:.0e} multiplications an iteration on {risk.n_rows:,} rows of "
                f"{risk.n_features:,} features, too many: use 'dual-coordinate-descent'."
            )
        return None

    def start(self, risk: Risk, params: Params, goal: Goal) -> InteriorState:
        margins, s = Margins(risk), risk.weights[:, None]
        number = margins.gathered(margins.live.astype(float))
        a = np.where(margins.live, 0.5 * s / np.maximum(number, 1.0), 0.0)
        xi, r = np.where(number > 0, 1.0, 0.0), np.where(number > 0, 0.5 * s, 0.0)
        frame = Frame(risk)
        return InteriorState(
            risk.scored(params) if params.W.any() else risk.null_point,
            estimate=np.inf,
            frame=frame,
            margins=margins,
            V=np.zeros((risk.n_outputs, frame.Z.shape[1])),
            slacks=Slacks(np.where(margins.live, 1.0, 0.0), a, xi, r),
            share=np.inf,
            goal=goal,
        )

    def step(self, risk: Risk, state: State) -> InteriorState:
        assert isinstance(state, InteriorState)
        M, now = state.margins, state.slacks
        system = System(state.frame, M, now, state.V)
        gap, zero = M.left(now), np.zeros(())
        mu = gap / np.maximum(M.total(M.live) + M.total(now.xi > 0), 1)
        _, change = system.solve(zero, zero, zero)
        ahead = M.left(now.moved(change, *M.longest(now, change)))
        sigma = np.divide(ahead, gap, out=np.zeros_like(gap), where=gap > 0) ** 3
        dV, change = system.solve(sigma * mu, change.a * change.t, change.r * change.xi)
        primal, dual = M.longest(now, change)
        state.share = min(state.share, 0.5 * state.goal.allowed(state.point.value) / SETTLED / gap.size)
        going = gap > state.share * risk.total_weight
        if not going.any():
            state.share *= 0.01
            state.clear *= 0.01
            going[...] = True
        primal, dual = np.where(going, primal, 0.0), np.where(going, dual, 0.0)
        state.V = state.V + primal.reshape(-1, 1) * dV
        state.slacks = now.moved(change, primal, dual)
        return _advanced(risk, state)


def _advanced(risk: Risk, state: InteriorState) -> InteriorState:
    """The state with point, duals and an estimate of the gap from the slacks."""
    M, now = state.margins, state.slacks
    state.point = risk.scored(state.frame.params(state.V))
    state.duals = -M.back(M.shares(now, risk.weights[:, None], state.clear))
    left = float(M.left(now).sum()) / risk.total_weight
    state.stuck = not left > FINEST * state.point.value
    state.estimate = SETTLED * left
    return state


def multiplications(risk: Risk) -> float:
    """In one iteration: products of rows with themselves, and the factorizations."""
    P, K = min(risk.n_features, risk.n_rows) + 1, risk.n_outputs
    if not risk.loss.joint:
        return float(K) * P**2 * (risk.n_rows + P / 3)
    return K * (K + 1) / 2 * float(P) ** 2 * risk.n_rows + (K * P) ** 3 / 3.0
