"""Risk: the only place where data, loss and regularizer meet.

risk(W, b) = alpha R(W) + (1/S) sum_i s_i loss(W x_i + b, y_i),   S = sum_i s_i          (R1)
"""

from typing import Any

import numpy as np

from nearline._arrays.design import Array, Design, as_design, is_sparse
from nearline._arrays.once import once
from nearline._records.habits import named, translates_habits
from nearline.losses import Loss
from nearline.regularizers import REGULARIZERS, Elastic, Regularizer, check_penalty
from nearline.risk._objective import Objective, strength
from nearline.risk._point import Line, Point
from nearline.risk.params import Params
from nearline.risk.passes import ExactPasses, Passes, passes_for


class Risk(Objective):
    """Regularized empirical risk of a linear score.

    Parameters
    ----------
    X : (n, D) array or sparse matrix; float32 stays float32.
    targets : (n,) class numbers 0 .. C-1 (two classes also -1 and +1, or False and True), or (n, K) label distributions
        for losses that take them.
    loss, regularizer : names or objects.
    alpha : strength of the regularizer, a number >= 0 or "1/n", see :func:`strength`.
    weights : (n,) sample weights; integer weights equal repeated rows.
    bias : whether b is free (else it stays 0).
    n_classes : number of classes; None: the largest target plus one, and each class must have rows.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import Risk
    >>> risk = Risk(np.array([[0.0], [1.0], [3.0]]), np.array([0, 0, 1]), loss="logistic", alpha=0.1)
    >>> round(risk.at(risk.zeros()).value, 6)  # log 2 at W = 0, b = 0
    0.693147
    """

    _elastic: Elastic | None  # the penalty, if l1 and l2 say all about it

    @translates_habits
    def __init__(
        self,
        X: Design,
        targets: Array,
        *,
        loss: Loss | str = "logistic",
        regularizer: Regularizer | str = "l2",
        alpha: float | str = 1e-4,
        weights: Array | None = None,
        bias: bool = True,
        n_classes: int | None = None,
    ) -> None:
        self.X = as_design(X)
        if self.X.ndim != 2:
            raise ValueError(f"X must be rows by features (n, D), got an array of shape {self.X.shape}.")
        self.regularizer = named(regularizer, REGULARIZERS, Regularizer, "regularizer")
        self._take(self.X.shape[0], targets, loss, alpha, weights, bias, n_classes)
        check_penalty(self.regularizer, (self.n_outputs, self.X.shape[1]))
        self._elastic = self.regularizer.as_elastic(self.n_outputs)
        self.passes = passes_for(self.X, self.targets, self.weights, self.loss, self.n_outputs)

    def with_alpha(self, alpha: float | str) -> "Risk":
        """The same risk at another strength, sharing all that does not depend on it."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.alpha = strength(alpha, self.total_weight)
        return other

    @property
    def exact(self) -> "Risk":
        """The same risk with all sums in float64, whatever the precision of X: what certificates are computed with."""
        if self.precision == np.float64:
            return self
        other = self.with_alpha(self.alpha)
        other.passes = self._exact_passes
        return other

    @once
    def _exact_passes(self) -> Passes:
        return ExactPasses(self.passes)

    def with_loss(self, loss: Loss) -> "Risk":
        """The same rows and penalty under another loss, with all sums in float64."""
        return Risk(
            self._wide,
            self.targets,
            loss=loss,
            regularizer=self.regularizer,
            alpha=self.alpha,
            weights=self.weights,
            bias=self.bias,
            n_classes=self.n_classes,
        )

    @once
    def _wide(self) -> Design:
        return self.X.astype(np.float64, copy=False)

    @property
    def precision(self) -> "np.dtype[Any]":
        return np.dtype(self.X.dtype)

    @property
    def n_features(self) -> int:
        return int(self.X.shape[1])

    @property
    def sparse(self) -> bool:
        return is_sparse(self.X)

    @property
    def smooth(self) -> bool:
        """Whether the whole risk has a gradient everywhere."""
        return self.loss.smooth and (self.alpha == 0 or self.regularizer.smooth)

    @property
    def unpenalized(self) -> bool:
        """Whether there is no penalty at all."""
        return self.elastic and self.l1 == 0 and self.l2 == 0

    @property
    def elastic(self) -> bool:
        """Whether the penalty is l1 |W|_1 + (l2/2) |W|^2 and nothing else, so that l1 and l2 say all about it."""
        return self.alpha == 0 or self._elastic is not None

    @property
    def l1(self) -> float:
        """alpha l1: strength of |W|_1 in the risk (0 for penalties that are not :attr:`elastic`)."""
        known = self._elastic
        return 0.0 if known is None else self.alpha * known.l1

    @property
    def l2(self) -> float:
        """alpha l2: strength of |W|^2 / 2 in the risk (0 for penalties that are not :attr:`elastic`)."""
        known = self._elastic
        return 0.0 if known is None else self.alpha * known.l2

    def add_penalty_gradient(self, W: Array, out: Array) -> None:
        """out += gradient of alpha R at W, of its smooth part where it has kinks."""
        if self.l2:
            out += self.l2 * W
        elif not self.elastic:
            gradient = self.regularizer.gradient(W)
            if gradient is not None:
                out += self.alpha * gradient

    # -- value, gradient, curvature ---------------------------------------------------------------------------

    def at(self, params: Params) -> Point:
        """Value, gradient and scores at ``params``: one pass over the rows."""
        scores, total, G_W, G_b = self.passes.value_and_gradient(params)
        return self._point(params, scores, total, G_W, G_b)

    def scores(self, params: Params) -> Array:
        """W x_i + b for all rows, (n, K), in X's dtype."""
        return self.passes.scores(params)

    def at_scores(self, params: Params, scores: Array) -> Point:
        """The same where the scores W x + b are known already: only the product with X^T is left."""
        total, G_W, G_b = self.passes.gradient_from_scores(scores)
        return self._point(params, scores, total, G_W, G_b)

    def _point(self, params: Params, scores: Array, total: float, G_W: Array, G_b: Array) -> Point:
        gradient = params.like(np.empty_like(params.flat))
        np.divide(G_W, self.total_weight, out=gradient.W)
        gradient.b[:] = G_b / self.total_weight if self.bias else 0.0
        self.add_penalty_gradient(params.W, gradient.W)
        return Point(params, scores, total / self.total_weight, self.penalty(params, scores), gradient)

    def penalty(self, params: Params, scores: Array) -> float:
        """alpha R(W)."""
        return self.alpha * self.regularizer.value(params.W) if self.alpha else 0.0

    def penalty_along(self, line: Line, t: float) -> tuple[float, float]:
        """alpha R(W), and the derivative of its smooth part, at t."""
        params = line.params(t)
        pull = np.zeros_like(params.W)
        self.add_penalty_gradient(params.W, pull)
        return self.penalty(params, line.point.scores), float(np.vdot(pull, line.direction.W))

    def hessian_product(self, point: Point, direction: Params) -> Params:
        """Hessian of the smooth part at ``point`` times ``direction``."""
        H_W, H_b = self.passes.hessian_product(point.scores, direction)
        product = direction.like(np.empty_like(direction.flat))
        np.divide(H_W, self.total_weight, out=product.W)
        product.b[:] = H_b / self.total_weight if self.bias else 0.0
        if self.l2:
            product.W[...] += self.l2 * direction.W
        elif not self.elastic:
            bend = self.regularizer.curvature_product(point.params.W, direction.W)
            assert bend is not None  # solvers that need it refuse penalties without
            product.W[...] += self.alpha * bend
        return product

    def hessian(self, where: Any) -> Array:
        """The Hessian of the smooth part at a point or at parameters, as a matrix over ``params.flat`` (small problems)."""
        point = where if isinstance(where, Point) else self.scored(self.params_of(where))
        H = self.passes.hessian(point.scores) / self.total_weight
        n_weights = self.n_outputs * self.n_features
        self.add_penalty_hessian(point.params.W, H)
        if not self.bias:
            H[n_weights:] = H[:, n_weights:] = 0.0
        return H

    def add_penalty_hessian(self, W: Array, H: Array, unit: Array | float = 1.0) -> None:
        """H += second derivative of alpha R at W (of its smooth part), over weights in ``unit`` (D,) of their features."""
        units, n_weights = np.tile(np.broadcast_to(unit, W.shape[1]), W.shape[0]), W.size
        if self.elastic:
            H[np.arange(n_weights), np.arange(n_weights)] += self.l2 / units**2
            return
        for i, direction in enumerate(np.eye(n_weights)):
            bend = self.regularizer.curvature_product(W, direction.reshape(W.shape))
            assert bend is not None  # solvers that need it refuse penalties without
            H[i, :n_weights] += self.alpha * np.ravel(bend) / (units[i] * units)

    # -- what the certificate needs ---------------------------------------------------------------------------

    @property
    def has_gap(self) -> bool:
        """Whether there are certificates: a penalty and a loss whose conjugates are known."""
        return (
            not self.unpenalized
            and (self.elastic or self.regularizer.knows("conjugate"))
            and self.loss.conjugate(np.zeros((1, self.n_outputs)), self.specimen) is not None
        )

    def dual_value(self, duals: Array) -> float | None:
        """D(u) = -(1/S) sum_i s_i loss*(u_i) - alpha R*(-(1/(alpha S)) sum_i s_i u_i x_i^T), u made feasible first.

        A lower bound on the risk of every model, for any duals that sum to zero over the rows (if the bias is free).
        None where there is no certificate: alpha = 0, or a conjugate not known.
        """
        if self.unpenalized:
            return None
        u = self.passes.balanced(duals) if self.bias else duals
        if u is None:
            return None
        V = -self.passes.dual_product(u) / (self.alpha * self.total_weight)
        scale = self.regularizer.into_domain(V)
        total = self.passes.total_conjugate(u, scale)
        penalty = self.regularizer.conjugate(scale * V)
        if total is None or penalty is None:
            return None
        return -total / self.total_weight - self.alpha * penalty

    def gap_estimate(self, point: Point) -> float | None:
        """With an L2 penalty, a smooth loss and b at its best, P - D = |dP/dW|^2 / (2 alpha l2) exactly."""
        if not self.loss.smooth or self.l1 or self.l2 == 0:
            return None
        return float(np.vdot(point.gradient.W, point.gradient.W)) / (2.0 * self.l2)

    def gradient_test(self, point: Point) -> float:
        """Size of the gradient relative to that at W = 0, each weight in units of its feature's scale.

        With an L1 penalty it is the smallest subgradient, with other kinks W less a proximal step, over its size.
        """
        unit, W, gradient = self.passes.column_scale, point.params.W, point.gradient.W
        if self.l1:
            shrunk = np.sign(gradient) * np.maximum(np.abs(gradient) - self.l1, 0.0)
            gradient = np.where(W != 0, gradient + self.l1 * np.sign(W), shrunk)
        elif not (self.elastic or self.regularizer.smooth):
            gradient = self._proximal_gradient(point)
        scaled = np.abs(gradient / unit).max(initial=0.0)
        null = np.abs(self.null_point.gradient.W / unit).max(initial=0.0)
        own = max(scaled, np.abs(point.gradient.b).max(initial=0.0))
        return float(own / null) if null > 0 else float(own)

    def _proximal_gradient(self, point: Point) -> Array:
        """(W - prox(W - t g, t alpha R)) / t, g the gradient of the data loss: 0 exactly where W is the minimizer."""
        W, pull = point.params.W, np.zeros_like(point.params.W)
        self.add_penalty_gradient(W, pull)
        t = 1.0 / float((self.passes.column_scale**2).max(initial=1e-300))
        nearest = self.regularizer.prox(W - t * (point.gradient.W - pull), t * self.alpha)
        assert nearest is not None  # solvers of penalties with kinks refuse those without
        return np.asarray((W - nearest) / t)
