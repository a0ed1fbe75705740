"""SMO for linear machines: the dual of the hinge loss two rows at a time, from the Gram matrix of the rows."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from nearline._arrays.design import Array, Design, back_product
from nearline.losses import Slack, signs
from nearline.risk import Risk
from nearline.risk.params import Params
from nearline.solvers._base import Solver
from nearline.solvers._certifier import Goal
from nearline.solvers._refusals import needs_elastic
from nearline.solvers._state import State
from nearline.solvers.smo import Problem, certificates, smo

LARGEST = 8192  # rows of the largest Gram matrix (0.5 GB)
FINEST = 1e-12  # violation below which there are only roundings


@dataclass
class SMOState(State):
    """The two-class problems, one a column, and how far they are to be solved next."""

    X: Design = field(kw_only=True)  # rows less the shift, in float64
    K: Array = field(kw_only=True)  # their Gram matrix
    shift: Array = field(kw_only=True)
    problems: list[Problem] = field(kw_only=True)
    violation: float = 0.1


@dataclass(frozen=True)
class SMO(Solver):
    """Maximize the dual over pairs of rows, which keep the sum that a free bias demands.

    It needs the Gram matrix of all rows, so they must be few; then it is sure where sweeps over single rows are not:
    rows of nearly the same products under a small alpha. Each iteration makes the violation ten times smaller.
    """

    name: ClassVar[str] = "smo"
    max_iter: int = 20

    def refuses(self, risk: Risk) -> str | None:
        if risk.loss.refusal is not None:
            return f"{risk.loss.refusal}."
        if not risk.elastic:
            return needs_elastic(risk, self.name)
        if risk.loss.own.slack is not Slack.COLUMN:
            able = "'lbfgs' or 'fista'" if risk.loss.smooth else "'dual-coordinate-descent' or 'sgd'"
            return f"Solver '{self.name}' serves 'hinge', not '{risk.loss.name}': use {able}."
        if risk.l1 > 0:
            got = risk.regularizer.name
            return f"Solver '{self.name}' needs a pure L2 penalty and got '{got}': use 'smoothing' or 'sgd'."
        if risk.unpenalized:
            return f"Solver '{self.name}' needs an L2 penalty (alpha > 0), without it there is no dual: use 'sgd'."
        if not risk.bias:
            return f"Solver '{self.name}' moves pairs of rows for the sake of a bias: use 'dual-coordinate-descent'."
        if risk.n_rows > LARGEST:
            return (
                f"Solver '{self.name}' needs a Gram matrix, at most of {LARGEST:,} rows, got {risk.n_rows:,}: use "
                "'dual-coordinate-descent'."
            )
        return None

    def start(self, risk: Risk, params: Params, goal: Goal) -> SMOState:
        point = risk.scored(params) if params.W.any() else risk.null_point
        y = signs(risk.targets, risk.n_outputs)
        C = risk.weights / (risk.total_weight * risk.alpha)
        rows = np.arange(risk.n_rows)
        problems = [Problem.new(rows, y[:, c], C) for c in range(risk.n_outputs)]
        # A common shift of the rows is the bias's affair, and would eat up digits; sparse rows stay as they are.
        shift = np.zeros(risk.n_features) if risk.sparse else risk.passes.column_moments[0]
        X = risk.X.astype(np.float64) if risk.sparse else np.asarray(risk.X - shift, dtype=np.float64)
        K: Design = X @ X.T
        K = np.ascontiguousarray(K.toarray() if risk.sparse else K)
        return SMOState(point, X=X, K=K, shift=shift, problems=problems)

    def step(self, risk: Risk, state: State) -> SMOState:
        assert isinstance(state, SMOState)
        found = smo(state.K, state.problems, tol=state.violation, max_iter=1000 * risk.n_rows)
        B = np.stack([problem.beta for problem in state.problems], axis=1)
        b = np.array([proof.b for proof in certificates(state.problems)])
        W = back_product(state.X, B)
        state.point = risk.scored(Params.of(W, b - W @ state.shift))
        C = state.problems[0].C[:, None]
        state.duals = np.divide(-B, C, out=np.zeros_like(B), where=C > 0)
        state.violation *= 0.1
        late = float(found[:, 0].max()) > 10.0 * state.violation
        state.stuck = state.violation < FINEST or late
        return state
