"""Least squares in closed form: (X^T X + S alpha I)^-1 X^T Y on centered rows, then b."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from nearline._arrays.design import Array, back_product, product
from nearline.losses import Squared
from nearline.risk import Point, Risk
from nearline.risk.params import Params
from nearline.solvers._base import Solver
from nearline.solvers._certifier import Goal
from nearline.solvers._refusals import needs_elastic, needs_gradient
from nearline.solvers._state import State
from nearline.solvers.closed_form._centered import Centered
from nearline.solvers.closed_form._moments import PositiveSystem
from nearline.solvers.closed_form._ridge import LARGEST_FACTOR, RidgeFactorization

SOLVABLE = 1e-10  # reciprocal condition number down to which refinement makes a Cholesky solution exact
REFINEMENTS = 3  # at most; each gains about as many digits as the factorization has
UNEQUAL = 1.0  # deviation of the features' curvatures, over their mean, from which on they are scaled
SPARSE_SLOWNESS = 2000  # sparse iterations cost this many dense operations for each entry and output


@dataclass
class ClosedFormState(State):
    """State with the centered problem, and the Krylov iteration where the system is too large to factorize."""

    design: Centered = field(kw_only=True)
    krylov: "LeastSquaresCG | None" = None


@dataclass(frozen=True)
class ClosedForm(Solver):
    """The normal equations of the squared loss, with an L2 penalty or none, in one step.

    The smaller of X^T X (D, D) and X X^T (n, n), rows centered first, is factorized by Cholesky and the solution is
    refined on the data; where it is singular or nearly so, QR and SVD give the solution of least |W|. Systems too large
    for memory, and large sparse ones, are solved by conjugate gradients until the certificate is met.
    """

    name: ClassVar[str] = "closed-form"
    max_iter: int = 20_000

    @property
    def caution(self) -> float:
        """Two or three iterations more leave nothing that another solver could find."""
        return 0.1

    def refuses(self, risk: Risk) -> str | None:
        reason = needs_gradient(risk, self.name) or needs_elastic(risk, self.name)
        if reason is None and not risk.loss.own.least_squares:
            return (
                f"Solver '{self.name}' solves the normal equations of the squared loss and loss '{risk.loss.name}' "
                "has none: use 'lbfgs' or 'newton-cg'."
            )
        return reason

    def start(self, risk: Risk, params: Params, goal: Goal) -> ClosedFormState:
        codes = Squared().codes(risk.targets, risk.n_outputs)
        design = Centered(risk.X, codes, risk.weights, risk.bias)
        if params.flat.any():
            fit = Fit.of(design, params.W)
            return ClosedFormState(_point(risk, design, fit), gap=_gap(risk, design, fit), design=design)
        # The best constant is where the certificate's unit is measured, so a start from zero costs no pass of its own;
        # and the step costs less than to look whether it pays.
        return ClosedFormState(risk.null_point, estimate=np.inf, design=design)

    def step(self, risk: Risk, state: State) -> State:
        assert isinstance(state, ClosedFormState)
        if state.krylov is None and fits(risk):
            fit = solve(state.design, risk.l2 * risk.total_weight)
            state.point, state.gap = _point(risk, state.design, fit), _gap(risk, state.design, fit)
            state.stuck = True
            return state
        if state.krylov is None:
            state.krylov = LeastSquaresCG(risk, state.design, state.point.params.W)
            state.gap = state.estimate = None
        state.krylov.advance()
        state.point, state.stuck = state.krylov.point(), state.krylov.exhausted
        return state


def fits(risk: Risk) -> bool:
    """Whether the system is to be factorized: it fits into memory, and for sparse data is worth it."""
    n, D = risk.X.shape
    size = min(n, D)
    if size > LARGEST_FACTOR or not risk.sparse or risk.l2 == 0:
        return size <= LARGEST_FACTOR
    dense_work = float(n) * D * D if n > D else n**3 / 3.0
    return dense_work <= SPARSE_SLOWNESS * float(risk.X.nnz) * risk.n_outputs


@dataclass(frozen=True)
class Fit:
    """Weights and what the data say of them; of residuals t_i - score_i: weighted sums over the rows."""

    W: Array
    scores: Array  # (n, K)
    remainder: Array  # of residuals times (x_i - mean)^T, (K, D)
    residuals: Array  # (K,)
    squares: float

    @classmethod
    def of(cls, design: Centered, W: Array) -> "Fit":
        return cls(W, *design.fit_of(W))


def solve(design: Centered, lam: float) -> Fit:
    """The fit with (Z^T Z + lam I) W^T = Z^T T, of least |W| where there are many."""
    fit = _primal(design, lam) if design.primal else _dual(design, lam)
    if fit is None:
        # The Gram matrix is not to be trusted at this lam, and the factorization knows what to do then.
        fit = Fit.of(design, RidgeFactorization.of(design).weights(lam / design.total))
    return fit


def _primal(design: Centered, lam: float) -> Fit | None:
    G, C = design.gram
    system = PositiveSystem(G, lam)
    if system.rcond < SOLVABLE:
        return None
    fit = Fit.of(design, system.solve(C).T)
    for _ in range(REFINEMENTS):
        correction = system.solve((fit.remainder - lam * fit.W).T).T
        if negligible(correction, fit.W):
            break
        fit = Fit.of(design, fit.W + correction)
    return fit


def _dual(design: Centered, lam: float) -> Fit | None:
    """W = A^T Z with (Z Z^T + lam I) A = T."""
    if lam == 0:
        return None
    system = PositiveSystem(design.row_gram, lam)
    if system.rcond < SOLVABLE:
        return None
    A = system.solve(design.T)
    fit = Fit.of(design, design.back_product(A))
    for _ in range(REFINEMENTS):
        correction = system.solve(design.root[:, None] * (design.codes - fit.scores) - lam * A)
        if negligible(correction, A):
            break
        A = A + correction
        fit = Fit.of(design, design.back_product(A))
    return fit


def negligible(correction: Array, solution: Array) -> bool:
    """Whether a refinement on the data's own residuals changes nothing of interest."""
    return float(np.linalg.norm(correction)) <= 1e-10 * float(np.linalg.norm(solution))


def _point(risk: Risk, design: Centered, fit: Fit) -> Point:
    """The risk at W and its best b, from centered rows in float64: right for offsets where X W + b would cancel."""
    params = design.params(fit.W)
    gradient = params.like(np.empty_like(params.flat))
    gradient.b[:] = -fit.residuals / design.total if risk.bias else 0.0
    gradient.W[...] = np.outer(gradient.b, design.mean) - fit.remainder / design.total + risk.l2 * fit.W
    data_loss = 0.5 * fit.squares / design.total
    penalty = 0.5 * risk.l2 * float(np.vdot(fit.W, fit.W))
    return Point(params, fit.scores.astype(risk.X.dtype, copy=False), data_loss, penalty, gradient)


def _gap(risk: Risk, design: Centered, fit: Fit) -> float | None:
    """P - D at W and its best b, with the residuals less their mean r as duals: the distance of two quadratics.

    The conjugate of each row's loss is |r|^2 / 2 short of equality, the penalty's |g|^2 / (2 alpha), where g is the
    gradient on centered rows, of which W would be the minimizer if it were 0.
    """
    if risk.l2 == 0:
        return None
    g = risk.l2 * fit.W - fit.remainder / design.total
    r = fit.residuals / design.total if risk.bias else np.zeros(1)
    return float(np.vdot(g, g)) / (2.0 * risk.l2) + 0.5 * float(r @ r)


class LeastSquaresCG:
    """Conjugate gradients on the normal equations of centered rows, one system for each output, all in one product.

    Rows are centered without being touched: Z p = X p - mean.p. With a penalty, features of very unequal curvature are
    brought nearer to one; others are not scaled, nor any without a penalty: so the iteration stays in the span of the
    rows, where the system is better conditioned, and from W = 0 tends to the solution of least |W|.
    """

    def __init__(self, risk: Risk, design: Centered, W: Array) -> None:
        self.risk, self.design, self.lam = risk, design, risk.l2 * risk.total_weight
        curvature = design.squares + self.lam
        mean, deviation = float(curvature.mean()), float(curvature.std())
        unequal = self.lam > 0 and deviation > UNEQUAL * mean
        self.inverse = 1.0 / (curvature + 4.0 * mean)[:, None] if unequal else np.ones((len(curvature), 1))
        self.W = np.array(W.T, dtype=np.float64, order="C")  # (D, K), as are p and g
        self.residuals = design.codes - design.target_mean - self._times(self.W)
        self.floor = 4.0 * float(np.finfo(risk.X.dtype).eps)
        self.n_steps, self.best, self.last_gain = 0, np.inf, 0
        self.p = self._precondition()
        self.first = self.size
        self.exhausted = not self.size.any()

    def _times(self, P: Array) -> Array:
        return product(self.design.X, P.T) - self.design.mean @ P

    def _precondition(self) -> Array:
        """The negative gradient g at the residuals, its size g.M g, and M g for the diagonal preconditioner M."""
        A = self.design.weights[:, None] * self.residuals
        if self.design.bias:
            A -= np.outer(self.design.weights, A.sum(axis=0) / self.design.total)
        self.g = back_product(self.design.X, A).T
        if self.lam > 0:
            self.g = self.g - self.lam * self.W
        scaled = self.g * self.inverse
        self.size = np.einsum("dk,dk->k", self.g, scaled)
        return scaled

    def advance(self) -> None:
        """One iteration."""
        self.n_steps += 1
        moved = self._times(self.p)
        curvature = self.design.weights @ (moved * moved) + self.lam * np.einsum("dk,dk->k", self.p, self.p)
        step = np.divide(self.size, curvature, out=np.zeros_like(self.size), where=curvature > 0)
        self.W += step * self.p
        self.residuals -= step * moved
        before = self.size
        scaled = self._precondition()
        self.p *= np.divide(self.size, before, out=np.zeros_like(before), where=before > 0)
        self.p += scaled
        self._judge()

    def _judge(self) -> None:
        """Exhausted: at the rounding of X's precision, or without a new best for long."""
        part = np.divide(self.size, self.first, out=np.zeros_like(self.size), where=self.first > 0)
        now = float(np.sqrt(part.max()))
        if now < 0.9 * self.best:
            self.best, self.last_gain = now, self.n_steps
        self.exhausted = now <= self.floor or self.n_steps - self.last_gain > 500

    def point(self) -> Point:
        """The risk where the iteration stands. Residuals sum to 0, so b is at its best."""
        risk, design = self.risk, self.design
        params = design.params(self.W.T)
        gradient = params.like(np.zeros_like(params.flat))
        np.multiply(self.g.T, -1.0 / design.total, out=gradient.W)
        data_loss = (
            0.5 * float(np.einsum("n,nk,nk->", design.weights, self.residuals, self.residuals)) / design.total
        )
        penalty = 0.5 * risk.l2 * float(np.einsum("dk,dk->", self.W, self.W))
        scores = (design.codes - self.residuals).astype(risk.X.dtype, copy=False)
        return Point(params, scores, data_loss, penalty, gradient)
