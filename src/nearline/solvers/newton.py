"""Newton's method in three dresses: with the Hessian as a matrix, as IRLS, and by conjugate gradients."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline._records.kept import Whole, kept
from nearline.risk import Line, Risk
from nearline.risk.params import Params
from nearline.risk.passes import Passes
from nearline.solvers._base import Solver
from nearline.solvers._certifier import Goal
from nearline.solvers._conditioning import Coordinates
from nearline.solvers._groups import Groups, dots, ratio
from nearline.solvers._line_search import wolfe
from nearline.solvers._refusals import needs_gradient, needs_piece
from nearline.solvers._state import State
from nearline.solvers.first_order import RayState, advance

LARGEST_HESSIAN = 4000  # rows of a Hessian that is still worth forming
FAR = 1e3  # means beyond so many deviations drown the Hessian in rounding: it is formed about the mean then


def needs_curvature(risk: Risk, name: str) -> str | None:
    """The one sentence by which second-order methods refuse."""
    reason = needs_gradient(risk, name)
    if reason is None and risk.loss.curvature(np.zeros((1, risk.n_outputs)), risk.specimen) is None:
        return (
            f"Solver '{name}' needs second derivatives and loss '{risk.loss.name}' defines none: use 'lbfgs'."
        )
    return reason or needs_piece(risk, name, "curvature_product", "second derivatives", "'lbfgs'")


@dataclass
class NewtonState(State):
    """State with the coordinates in which the Newton system is solved, and the rows to form it from."""

    coordinates: Coordinates = field(kw_only=True)
    goal: Goal = field(kw_only=True)
    centered: Passes | None = None  # rows in these coordinates; None where those of the risk will do


@dataclass(frozen=True)
class Newton(Solver):
    """Newton-Raphson: solve H d = -g with the full block Hessian, then search along d."""

    name: ClassVar[str] = "newton"
    by_sums: ClassVar[bool] = True
    max_iter: int = 200

    @property
    def descends(self) -> bool:
        return True

    def refuses(self, risk: Risk) -> str | None:
        reason = needs_curvature(risk, self.name)
        size = risk.n_outputs * (risk.n_features + 1)
        if reason is None and size > LARGEST_HESSIAN:
            memory = f"{8e-9 * size * size:.1f} GB"
            return f"Solver '{self.name}' would form a Hessian of {size} rows ({memory}): use 'newton-cg' or 'lbfgs'."
        return reason

    def foresees(self, risk: Risk, params: Params) -> None:
        if risk.blocked:
            risk.passes.foresee(params, hessian=not _far(risk))

    def start(self, risk: Risk, params: Params, goal: Goal) -> NewtonState:
        coordinates = Coordinates(risk)
        state = NewtonState(risk.at(params), coordinates=coordinates, goal=goal)
        if _far(risk):
            state.centered = risk.passes.standardized(coordinates.mean, coordinates.unit)
        return state

    def hessian(self, risk: Risk, state: NewtonState) -> Array:
        """The Hessian in the state's coordinates."""
        if state.centered is None:
            return state.coordinates.pull_back_matrix(risk.hessian(state.point), state.point.params)
        n_weights = risk.n_outputs * risk.n_features
        H = state.centered.hessian(state.point.scores) / risk.total_weight
        H[:, n_weights:] /= state.coordinates.unit_b
        H[n_weights:] /= state.coordinates.unit_b
        risk.add_penalty_hessian(state.point.params.W, H, state.coordinates.unit)
        return H

    def solution(self, H: Array, gradient: Array, place: Array) -> Array:
        """The step in the state's coordinates."""
        return solve(H, -gradient)

    def direction(self, risk: Risk, state: State) -> Array:
        assert isinstance(state, NewtonState)
        params, coordinates = state.point.params, state.coordinates
        gradient, place = coordinates.pull_back(state.point.gradient), coordinates.from_params(params)
        step = self.solution(self.hessian(risk, state), gradient, place.flat)
        return coordinates.to_params(params.like(step)).flat

    def step(self, risk: Risk, state: State) -> State:
        assert isinstance(state, NewtonState)
        params, coordinates = state.point.params, state.coordinates
        line = risk.along(state.point, params.like(self.direction(risk, state)))
        last = _ends(risk, state, line)
        risk.passes.foresee(line.params(1.0), hessian=not last and state.centered is None, duals=last)
        t = wolfe(line)
        if t == 0.0:  # no row bends the risk here, or none that the gradient points to: go down the slope
            downhill = params.like(-coordinates.pull_back(state.point.gradient))
            line = risk.along(state.point, coordinates.to_params(downhill))
            t = wolfe(line)
        state.stuck = t == 0.0
        if t > 0:
            state.point = risk.at(line.params(t))
        return state


def _far(risk: Risk) -> bool:
    """Whether rounding would drown a Hessian of the rows as they are."""
    mean, _ = risk.passes.column_moments
    return risk.bias and bool((np.abs(mean) > FAR * risk.passes.column_scale).any())


def _ends(risk: Risk, state: NewtonState, line: Line) -> bool:
    """Whether the full step is likely to be the last one: what is left shrinks by about the decrease relative to the risk."""
    left, decrease = risk.gap_estimate(state.point), -0.5 * line.slope()
    value = state.point.value
    return risk.has_gap and left is not None and left * decrease <= state.goal.allowed(value) * value


@dataclass(frozen=True)
class IRLS(Newton):
    """Iteratively reweighted least squares: w_new = (Phi^T R Phi + S alpha I0)^-1 (Phi^T R Phi w - Phi^T s (h - y)).

    R holds the loss's curvature. It is Newton's step, written as the least-squares problem it solves; R is never
    divided by, so rows with R = 0 do no harm. The line search is shared with Newton's.
    """

    name: ClassVar[str] = "irls"
    by_sums: ClassVar[bool] = True

    def solution(self, H: Array, gradient: Array, place: Array) -> Array:
        # H w - g = Phi^T R Phi w - Phi^T s (h - y), as the penalty adds alpha I0 w to both.
        return solve(H, H @ place - gradient) - place


@dataclass
class NewtonCgState(RayState):
    """Ray state with the tolerance that the inner iterations aim at."""

    first_norm: float = field(default=1.0, kw_only=True)
    enough: Callable[[float], float] = field(kw_only=True)  # squared residual that will do, given the risk


@kept(inner_iter=Whole(1))
@dataclass(frozen=True)
class NewtonCG(Solver):
    """Truncated Newton: H d = -g by conjugate gradients on Hessian-vector products, in conditioned coordinates."""

    name: ClassVar[str] = "newton-cg"
    by_sums: ClassVar[bool] = True
    max_iter: int = 500
    inner_iter: int = 250

    @property
    def descends(self) -> bool:
        return True

    def refuses(self, risk: Risk) -> str | None:
        return needs_curvature(risk, self.name)

    def start(self, risk: Risk, params: Params, goal: Goal) -> NewtonCgState:
        point, coordinates = risk.at(params), Coordinates(risk)
        gradient = coordinates.pull_back(point.gradient)
        norm = float(np.linalg.norm(gradient))
        # The residual is the gradient to come, in units of z, and the gap |dP/dW|^2 / (2 alpha): half of tol is left
        # for what the quadratic model misses.
        widest = float((coordinates.unit**2).max(initial=1e-300))
        return NewtonCgState(
            point,
            coordinates=coordinates,
            gradient=gradient,
            first_norm=norm,
            enough=lambda value: risk.l2 * goal.allowed(value) / widest,
        )

    def step(self, risk: Risk, state: State) -> State:
        assert isinstance(state, NewtonCgState)
        direction = self._solve(risk, state)
        point, t = advance(risk, state, direction, 1.0)
        state.stuck = t == 0.0
        state.point, state.gradient = point, state.coordinates.pull_back(point.gradient)
        return state

    def _solve(self, risk: Risk, state: NewtonCgState) -> Array:
        """H d = -g by conjugate gradients, each group of outputs at its own pace."""
        groups, like = Groups.of(risk), state.point.params.like
        g = groups.split(state.gradient)
        first = dots(g, g)
        forcing = min(0.1, (float(np.sqrt(first.sum())) / max(state.first_norm, 1e-300)) ** 0.5)
        enough = state.enough(state.point.value)
        d, r = np.zeros_like(g), -g
        p, rr = r.copy(), first
        for _ in range(self.inner_iter):
            if (rr <= forcing**2 * first).all() or rr.sum() <= enough:
                break
            direction = state.coordinates.to_params(like(groups.join(p)))
            Hp = groups.split(state.coordinates.pull_back(risk.hessian_product(state.point, direction)))
            curvature = dots(p, Hp)
            # A group that is flat along p, or done, stays where it is: its quadratic model ends here.
            moving = (curvature > 1e-14 * dots(p, p)) & (rr > forcing**2 * first)
            if not moving.any():
                break
            step = np.where(moving, ratio(rr, curvature), 0.0)
            d += step * p
            r = r - step * Hp
            new = dots(r, r)
            p = np.where(moving, r + ratio(new, rr) * p, 0.0)
            rr = np.where(moving, new, 0.0)
        still = ~d.any(axis=1, keepdims=True)
        return groups.join(np.where(still, -g, d))


def solve(H: Array, right_side: Array) -> Array:
    """H^-1 right_side for a symmetric positive semi-definite H; the least-norm solution where H is singular."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    scale = np.sqrt(np.maximum(np.diag(H), 0.0))
    scale = np.where(scale > 0, scale, 1.0)
    scaled = H / np.outer(scale, scale)
    try:
        # Condition numbers beyond this make the Cholesky solution meaningless.
        factor = cho_factor(scaled, lower=True)
        if np.diag(factor[0]).min() > 1e-7:
            return np.asarray(cho_solve(factor, right_side / scale)) / scale
    except LinAlgError:
        pass
    return np.asarray(np.linalg.lstsq(scaled, right_side / scale, rcond=1e-13)[0] / scale)
