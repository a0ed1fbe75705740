"""Hinge losses without a penalty, or with L1 alone, as linear programs: solved exactly, with duals that prove it."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline.losses import Slack, signs
from nearline.risk import Risk
from nearline.risk.params import Params
from nearline.solvers._base import Solver
from nearline.solvers._certifier import Goal
from nearline.solvers._mean_gradient import with_mean_gradient
from nearline.solvers._refusals import needs_slack
from nearline.solvers._state import State

LARGEST = 2_000_000  # numbers in the constraints: beyond it a program takes minutes


@dataclass
class ProgramState(State):
    """What the one step needs to know."""

    goal: Goal = field(kw_only=True)


@dataclass(frozen=True)
class LinearProgram(Solver):
    """Minimize (1/S) sum_i s_i xi_i + alpha l1 |W|_1 over W, b and the losses xi >= 0, by scipy's HiGHS.

    The constraints are xi_i >= 1 - y_i f(x_i) for the hinge (one program a column), xi_ic >= 1 + f_c - f_y for
    Weston-Watkins, xi_i >= 1 + f_c - f_y for Crammer-Singer. Their multipliers are the duals u_i. With L1 they certify
    the gap. Without a penalty the test is that g = (1/S) sum_i s_i u_i x_i^T, an epsilon-sub-gradient with epsilon the
    gap between the objectives of the two programs, is 0 to rounding, and epsilon <= tol.
    """

    name: ClassVar[str] = "linear-program"
    max_iter: int = 1

    def refuses(self, risk: Risk) -> str | None:
        if (refusal := needs_slack(risk, self.name)) is not None:
            return refusal
        if risk.l2 > 0:
            able = "'smoothing'" if risk.l1 > 0 else "'dual-coordinate-descent'"
            return f"Solver '{self.name}' takes no penalty but L1, got '{risk.regularizer.name}': use {able}."
        if _n_numbers(risk) > LARGEST:
            able = (
                "'smoothing'"
                if risk.l1 > 0
                else "a penalty (alpha > 0), for which there are solvers of any size"
            )
            return (
                f"Solver '{self.name}' would have {_n_numbers(risk):,} numbers in its constraints, and {LARGEST:,} are "
                f"the most: use {able}."
            )
        return None

    def start(self, risk: Risk, params: Params, goal: Goal) -> ProgramState:
        point = risk.scored(params) if params.W.any() else risk.null_point
        return ProgramState(point, estimate=np.inf, goal=goal)

    def step(self, risk: Risk, state: State) -> State:
        assert isinstance(state, ProgramState)
        params, duals = _joint(risk) if risk.loss.joint else _by_columns(risk)
        point = risk.at(params)
        if risk.unpenalized:
            point = with_mean_gradient(risk, point, duals, state.goal.tol)
        state.point, state.duals, state.estimate, state.stuck = point, duals, 0.0, True
        return state


def _n_numbers(risk: Risk) -> int:
    stored = risk.X.nnz if risk.sparse else risk.n_rows * risk.n_features
    return int(stored + 2 * risk.n_rows) * (2 * (risk.n_outputs - 1) if risk.loss.joint else 1)


def _by_columns(risk: Risk) -> tuple[Params, Array]:
    """One program for each column of scores."""
    import scipy.sparse as sp

    Z, y = _rows(risk), signs(risk.targets, risk.n_outputs)
    params, duals = risk.zeros(), np.zeros((risk.n_rows, risk.n_outputs))
    for c in range(risk.n_outputs):
        margins = sp.diags_array(y[:, c]) @ Z
        w, multipliers = _solve(risk, margins, np.arange(risk.n_rows), risk.n_rows, 1)
        params.W[c], params.b[c] = w[0, :-1], w[0, -1]
        duals[:, c] = -y[:, c] * np.minimum(multipliers, 1.0)
    return params, duals


def _joint(risk: Risk) -> tuple[Params, Array]:
    """One program for all, with a constraint for each row and other class."""
    import scipy.sparse as sp

    n, K = risk.n_rows, risk.n_outputs
    row, other = np.nonzero(np.arange(K) != risk.targets[:, None])
    Z = _rows(risk)[row]
    differences = (
        np.eye(K)[risk.targets[row]] - np.eye(K)[other]
    )  # of which class the score is added or taken off
    margins = sp.hstack([sp.diags_array(sign) @ Z for sign in differences.T], format="csr")
    pairs = risk.loss.own.slack is Slack.PAIR
    slots = np.arange(len(row)) if pairs else row
    W, multipliers = _solve(risk, margins, slots, n * (K - 1) if pairs else n, K)
    duals = np.zeros((n, K))
    duals[row, other] = np.minimum(multipliers, 1.0)
    if not pairs:  # the multipliers of a row add up to 1 at most
        duals /= np.maximum(duals.sum(axis=1, keepdims=True), 1.0)
    duals[np.arange(n), risk.targets] = -duals.sum(axis=1)
    return Params.of(W[:, :-1], W[:, -1]), duals


def _rows(risk: Risk) -> Any:
    """Rows [x; 1] as CSR; [x; 0] without a bias, whose weight then stays 0."""
    import scipy.sparse as sp

    constant = np.full((risk.n_rows, 1), float(risk.bias))
    return sp.hstack([sp.csr_array(risk.X, dtype=np.float64), sp.csr_array(constant)], format="csr")


def _solve(risk: Risk, margins: Any, slots: Array, n_slots: int, K: int) -> tuple[Array, Array]:
    """Weights (K, D + 1) and a multiplier for each margin, in units of its row's weight.

    Weights are P - Q with P, Q >= 0 under an L1 penalty, else free; ``slots`` says which xi a margin belongs to.
    """
    import scipy.sparse as sp
    from scipy.optimize import linprog

    unit = np.tile(np.append(risk.passes.column_scale, 1.0), K)
    shares = np.repeat(risk.weights / risk.total_weight, n_slots // risk.n_rows)
    scaled = margins @ sp.diags_array(1.0 / unit)
    losses = sp.csr_array((np.ones(len(slots)), (np.arange(len(slots)), slots)), shape=(len(slots), n_slots))
    price = np.tile(np.append(np.full(risk.n_features, risk.l1), 0.0), K) / unit
    parts = [scaled, -scaled] if risk.l1 > 0 else [scaled]
    low = 0.0 if risk.l1 > 0 else -np.inf
    result = linprog(
        np.concatenate([price] * len(parts) + [shares]),
        A_ub=-sp.hstack([*parts, losses], format="csc"),
        b_ub=-np.ones(len(slots)),
        bounds=[(low, np.inf)] * (len(parts) * len(unit)) + [(0.0, np.inf)] * n_slots,
        method="highs",
        options={"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
    )
    if result.status != 0:
        raise ValueError(
            f"The linear program was not solved ({result.message}): set alpha > 0 for another solver."
        )
    found = np.asarray(result.x)[: len(parts) * len(unit)].reshape(len(parts), -1)
    w = (found[0] - found[1] if len(parts) == 2 else found[0]) / unit
    own = np.asarray(shares)[slots]
    multipliers = np.divide(-result.ineqlin.marginals, own, out=np.zeros(len(slots)), where=own > 0)
    return w.reshape(K, -1), np.maximum(multipliers, 0.0)
