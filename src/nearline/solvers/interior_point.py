"""Hinge losses under an L2 penalty by an interior-point method: sure where sweeps over the dual crawl."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, qr

from nearline.arrays import Array, is_sparse
from nearline.losses import one_hot, signs
from nearline.params import Params
from nearline.risk import Risk
from nearline.solvers._base import Solver
from nearline.solvers._goal import Goal
from nearline.solvers._refusals import needs_elastic
from nearline.solvers._state import State
from nearline.tiles import map_tiles, slices

SERVED = ("hinge", "weston-watkins", "crammer-singer")
MOST_WORK = 2e10  # multiplications in one iteration
MOST_NUMBERS = 5e7  # in rows that are copied in float64
TILE = 1 << 14  # rows whose products are one task
BACK = 0.995  # share of the way to the boundary that a step goes
JITTERS = (0.0, 1e-14, 1e-12, 1e-10, 1e-8)  # added to a diagonal of ones that rounding made indefinite
CLEAR = (
    100.0  # how much larger than t multipliers are, relative to the largest; less where that proves nothing
)
SETTLED = 100.0  # a gap so many times smaller costs two iterations more, and tells which rows are support
FINEST = 1e-15  # complementarity, relative to the losses, below which there are only roundings


class Margins:
    """m = y f of the hinge, one problem a column, or m_c = f_y - f_c of the joint losses, one problem in all.

    Arrays are (n, K); where the classes of a row share one loss (Crammer-Singer), those of losses are (n, 1).
    """

    def __init__(self, risk: Risk) -> None:
        self.joint, self.shared = risk.loss.joint, risk.loss.compiled == "crammer-singer"
        self.own = one_hot(risk.targets, risk.n_outputs) if self.joint else np.zeros(())
        self.y = np.ones(()) if self.joint else signs(risk.targets, risk.n_outputs)
        used = np.broadcast_to((risk.weights > 0)[:, None], (risk.n_rows, risk.n_outputs))
        self.live = used & (self.own == 0)  # a row has no margin over its own class
        self.axis = None if self.joint else 0  # along which one problem lies

    def of(self, scores: Array) -> Array:
        if self.joint:
            return np.asarray((self.own * scores).sum(axis=1, keepdims=True) - scores)
        return np.asarray(self.y * scores)

    def back(self, a: Array) -> Array:
        """Derivative of the sum of a m in the scores."""
        return np.asarray(self.own * a.sum(axis=1, keepdims=True) - a if self.joint else self.y * a)

    def gathered(self, a: Array) -> Array:
        """Summed over the margins that share a loss."""
        return a.sum(axis=1, keepdims=True) if self.shared else a

    def shares(self, now: "Slacks", s: Array, clear: float) -> Array:
        """Multipliers a / s as they are on the boundary: of a and t, and of r and xi, the smaller one is 0.

        An a that is 0 beside a t of 0 is as large as t on the way: ``clear`` says how much larger others must be.
        """
        largest = np.asarray(now.a.max(axis=self.axis)).reshape(1, -1)  # what multipliers are measured by
        a = np.where(now.a < clear * largest * now.t, 0.0, now.a)
        sums = self.gathered(a)
        whole = np.where(s * now.xi > now.r, sums, np.maximum(sums, s))
        return np.divide(a, whole, out=np.zeros_like(a), where=whole > 0)

    def total(self, a: Array) -> Array:
        """Summed over each problem, (1, K) or (1, 1)."""
        return np.asarray(a.sum(axis=self.axis)).reshape(1, -1)

    def left(self, slacks: "Slacks") -> Array:
        """Sum of a t + r xi of each problem: its duality gap where the constraints hold."""
        return self.total(slacks.a * slacks.t) + self.total(slacks.r * slacks.xi)

    def longest(self, now: "Slacks", change: "Slacks") -> tuple[Array, Array]:
        """How far each problem may go along the change, primal and dual, 1 at most, until nearly some number is 0."""
        primal = np.maximum(self._hurry(now.t, change.t), self._hurry(now.xi, change.xi))
        dual = np.maximum(self._hurry(now.a, change.a), self._hurry(now.r, change.r))
        return 1.0 / np.maximum(1.0, primal / BACK), 1.0 / np.maximum(1.0, dual / BACK)

    def _hurry(self, value: Array, change: Array) -> Array:
        ratio = np.divide(-change, value, out=np.zeros_like(value), where=value > 0)
        return np.asarray(ratio.max(axis=self.axis)).reshape(1, -1)

    def curvature(self, theta: Array, shrink: Array, c: int, d: int) -> Array:
        """(n,): how the scores of classes c and d are coupled by diag(theta) - shrink theta theta^T of the margins."""
        v = self.back(theta)
        if not self.joint:
            return np.asarray(theta[:, c])
        coupled = theta[:, c] + self.own[:, c] * v[:, c] if c == d else -self._beside(theta, c, d)
        return np.asarray(coupled - (shrink[:, 0] * v[:, c] * v[:, d] if self.shared else 0.0))

    def _beside(self, theta: Array, c: int, d: int) -> Array:
        return np.asarray(self.own[:, c] * theta[:, d] + self.own[:, d] * theta[:, c])


@dataclass
class Slacks:
    """t >= 0, what margins have beyond 1 - xi, with multipliers a; losses xi >= 0 with multipliers r = s - sum a."""

    t: Array
    a: Array
    xi: Array
    r: Array

    def moved(self, change: "Slacks", primal: Array, dual: Array) -> "Slacks":
        t, xi = self.t + primal * change.t, self.xi + primal * change.xi
        return Slacks(t, self.a + dual * change.a, xi, self.r + dual * change.r)


class Frame:
    """Rows in coordinates of unit size, Z (n, P), the last one 1 if there is a bias; w = back v.

    Where there are fewer rows than features, w is a sum of rows: X = R^T Q^T and w = Q v.
    """

    def __init__(self, risk: Risk) -> None:
        self.shift = risk.passes.column_moments[0] if risk.bias else np.zeros(risk.n_features)
        X = (risk.X.toarray() if is_sparse(risk.X) else risk.X).astype(np.float64)
        X -= self.shift
        if risk.n_rows < risk.n_features:
            Q, R = qr(X.T, mode="economic", overwrite_a=True)
            X, unit = np.ascontiguousarray(R.T), np.sqrt((R**2).mean(axis=1))
            unit = np.where(unit > 0, unit, 1.0)
            self.back = Q / unit
        else:
            unit = risk.passes.column_scale
            self.back = np.diag(1.0 / unit)
        if not np.isfinite(np.square(unit)).all():
            raise LinAlgError("The rows' squares are not finite.")
        X /= unit
        self.bias = risk.bias
        self.Z = np.hstack([X, np.ones((len(X), 1))]) if risk.bias else X
        self.ridge = risk.total_weight * risk.l2 * np.append(1.0 / unit**2, np.zeros(int(risk.bias)))

    def params(self, V: Array) -> Params:
        W = (V[:, :-1] if self.bias else V) @ self.back.T
        return Params.of(W, (V[:, -1] if self.bias else 0.0) - W @ self.shift)


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
        if risk.loss.refusal is not None:
            return f"{risk.loss.refusal}."
        if not risk.elastic:
            return needs_elastic(risk, self.name)
        if risk.loss.compiled not in SERVED:
            able = "'lbfgs' or 'fista'" if risk.loss.smooth else "'sgd'"
            return f"Solver '{self.name}' serves {', '.join(map(repr, SERVED))}, not '{risk.loss.name}': use {able}."
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
        system = System(state)
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


class System:
    """(S alpha + M^T (diag(theta) - shrink theta theta^T) M) dV = right-hand side, factorized once for two of them."""

    def __init__(self, state: InteriorState) -> None:
        M, now, frame = state.margins, state.slacks, state.frame
        self.frame, self.M, self.now, self.V = frame, M, now, state.V
        self.theta = np.divide(now.a, now.t, out=np.zeros_like(now.a), where=M.live)
        self.stiff = now.r + now.xi * M.gathered(self.theta)
        self.stiff[self.stiff == 0] = 1.0
        shrink = now.xi / self.stiff
        effective = self.theta if M.shared else self.theta - shrink * self.theta**2
        K, P = state.V.shape
        places = [(c, d) for c in range(K) for d in range(c + 1)] if M.joint else [(c, c) for c in range(K)]
        blocks = _blocks(frame.Z, [M.curvature(effective, shrink, *place) for place in places])
        if M.joint:
            A = np.zeros((K, P, K, P))
            for (c, d), B in zip(places, blocks):
                A[c, :, d], A[d, :, c] = B, B.T
            if frame.bias:
                A[:, -1, :, -1] += np.abs(A[:, -1, :, -1]).max()  # the same b for all classes changes nothing
            matrices, ridge = [A.reshape(K * P, K * P)], np.tile(frame.ridge, K)
        else:
            matrices, ridge = blocks, frame.ridge
        self.factors = [_factor(B + np.diag(ridge)) for B in matrices]

    def solve(self, mu: Array, second_a: Array, second_r: Array) -> tuple[Array, Slacks]:
        """The step to a t = mu, r xi = mu, with second-order terms of the last one taken off."""
        Z, M, now = self.frame.Z, self.M, self.now
        rho_a = np.where(M.live, mu - now.a * now.t - second_a, 0.0)
        rho_r = np.where(now.xi > 0, mu - now.r * now.xi - second_r, 0.0)
        missing = np.where(M.live, M.of(Z @ self.V.T) + now.xi - 1.0 - now.t, 0.0)
        q = np.divide(rho_a, now.a, out=np.zeros_like(rho_a), where=M.live) - missing
        push = self.theta * (q - (rho_r + now.xi * M.gathered(self.theta * q)) / self.stiff)
        g = M.back(now.a + push).T @ Z - self.frame.ridge * self.V
        flat = g.reshape(len(self.factors), -1)
        dV = np.stack([_solved(f, v) for f, v in zip(self.factors, flat)]).reshape(g.shape)
        rest = q - M.of(Z @ dV.T)
        xi = (rho_r + now.xi * M.gathered(self.theta * rest)) / self.stiff
        a = self.theta * (rest - xi)
        t = np.divide(rho_a - now.t * a, now.a, out=np.zeros_like(a), where=M.live)
        return dV, Slacks(t, a, np.where(now.xi > 0, xi, 0.0), np.where(now.xi > 0, -M.gathered(a), 0.0))


def _blocks(Z: Array, weights: list[Array]) -> list[Array]:
    """Z^T diag(h) Z for each h, by tiles of rows that are added in order."""
    tiles = slices(len(Z), TILE)
    tasks = [(h, rows) for h in weights for rows in tiles]
    work = 2.0 * len(weights) * Z.size * Z.shape[1]
    parts = map_tiles(
        lambda task: np.asarray(Z[task[1]].T @ (task[0][task[1], None] * Z[task[1]])), tasks, work=work
    )
    return [np.sum(parts[i : i + len(tiles)], axis=0) for i in range(0, len(parts), len(tiles))]


def _factor(A: Array) -> tuple[Array, Array]:
    """Cholesky's factor of A scaled to a diagonal of ones, and the scale."""
    scale = 1.0 / np.sqrt(np.maximum(np.diag(A), np.finfo(float).tiny))
    scaled = A * scale[:, None] * scale
    for jitter in JITTERS:
        try:
            return cho_factor(scaled + jitter * np.eye(len(A)), lower=True)[0], scale
        except LinAlgError:
            continue
    return np.eye(len(A)), scale


def _solved(factor: tuple[Array, Array], g: Array) -> Array:
    return np.asarray(factor[1] * cho_solve((factor[0], True), factor[1] * g))


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
