"""Risk: the only place where data, loss and regularizer meet.

risk(W, b) = alpha R(W) + (1/S) sum_i s_i loss(W x_i + b, y_i),   S = sum_i s_i          (R1)
"""

from functools import cached_property

import numpy as np

from nearline.arrays import Array, Design, as_design, is_sparse
from nearline.losses import LOSSES, Loss
from nearline.params import Params
from nearline.passes import ExactPasses, Passes, passes_for
from nearline.regularizers import REGULARIZERS, Regularizer
from nearline.risk._certificate import certify, dual_value, gradient_test
from nearline.risk._given import named, strength
from nearline.risk._point import Line, Point, ScoredPoint
from nearline.targets import checked_targets, row_weights


class Risk:
    """Regularized empirical risk of a linear score (SPEC A3).

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
        self.loss = named(loss, LOSSES, Loss, "loss")
        self.loss.check_slopes()
        self.regularizer = named(regularizer, REGULARIZERS, Regularizer, "regularizer")
        if not isinstance(bias, (bool, np.bool_)):
            raise ValueError(f"bias must be True or False, got {bias!r}.")
        self.bias = bool(bias)
        self.targets = checked_targets(targets, n_classes)
        n_rows = self.X.shape[0]
        if len(self.targets) != n_rows:
            raise ValueError(
                f"X has {n_rows} rows but targets {len(self.targets)}: give one target for each row."
            )
        if n_rows == 0:
            raise ValueError("The risk of no rows is undefined: X is empty, give at least one row.")
        if n_classes is None:
            several = self.targets.ndim == 2
            n_classes = self.targets.shape[1] if several else int(self.targets.max()) + 1
        self.n_classes = max(n_classes, 2)
        self.n_outputs = self.n_classes if self.loss.joint or self.n_classes > 2 else 1
        self.regularizer.check_slopes((self.n_outputs, self.X.shape[1]))
        self.weights = row_weights(weights, n_rows)
        self.total_weight = float(self.weights.sum())
        self.alpha = strength(alpha, self.total_weight)
        self.passes = passes_for(self.X, self.targets, self.weights, self.loss, self.n_outputs)

    def with_alpha(self, alpha: float | str) -> "Risk":
        """The same risk at another strength, sharing all that does not depend on it."""
        other = Risk.__new__(Risk)
        other.__dict__.update(self.__dict__)
        other.alpha = strength(alpha, self.total_weight)
        return other

    @property
    def exact(self) -> "Risk":
        """The same risk with all sums in float64, whatever the precision of X: what certificates are computed with."""
        passes = self.passes if self.X.dtype == np.float64 else self._exact_passes
        if passes is self.passes:
            return self
        other = self.with_alpha(self.alpha)
        other.passes = passes
        return other

    @cached_property
    def _exact_passes(self) -> Passes:
        return ExactPasses(self.passes)

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

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
        return self.alpha == 0 or self.regularizer.elastic is not None

    @property
    def l1(self) -> float:
        """alpha l1: strength of |W|_1 in the risk (0 for penalties that are not :attr:`elastic`)."""
        known = self.regularizer.elastic
        return 0.0 if known is None else self.alpha * known.l1

    @property
    def l2(self) -> float:
        """alpha l2: strength of |W|^2 / 2 in the risk (0 for penalties that are not :attr:`elastic`)."""
        known = self.regularizer.elastic
        return 0.0 if known is None else self.alpha * known.l2

    def add_penalty_gradient(self, W: Array, out: Array) -> None:
        """out += gradient of alpha R at W, of its smooth part where it has kinks."""
        if self.l2:
            out += self.l2 * W
        elif not self.elastic:
            gradient = self.regularizer.gradient(W)
            if gradient is not None:
                out += self.alpha * gradient

    def zeros(self) -> Params:
        return Params.zeros(self.n_outputs, self.n_features)

    # -- value, gradient, curvature ---------------------------------------------------------------------------

    def at(self, params: Params) -> Point:
        """Value, gradient and scores at ``params``: one pass over the rows."""
        scores, total, G_W, G_b = self.passes.value_and_gradient(params)
        return self._point(params, scores, total, G_W, G_b)

    def scored(self, params: Params) -> Point:
        """Value and scores at ``params``, for those who do not need the gradient."""
        return ScoredPoint(self, params, self.passes.scores(params))

    def at_scores(self, params: Params, scores: Array) -> Point:
        """The same where the scores W x + b are known already: only the product with X^T is left."""
        total, G_W, G_b = self.passes.gradient_from_scores(scores)
        return self._point(params, scores, total, G_W, G_b)

    def _point(self, params: Params, scores: Array, total: float, G_W: Array, G_b: Array) -> Point:
        gradient = params.like(np.empty_like(params.flat))
        np.divide(G_W, self.total_weight, out=gradient.W)
        gradient.b[:] = G_b / self.total_weight if self.bias else 0.0
        self.add_penalty_gradient(params.W, gradient.W)
        penalty = self.alpha * self.regularizer.value(params.W) if self.alpha else 0.0
        return Point(params, scores, total / self.total_weight, penalty, gradient)

    def value(self, params: Params) -> float:
        """The risk alone."""
        return self.value_at_scores(params, self.passes.scores(params))

    def value_at_scores(self, params: Params, scores: Array) -> float:
        penalty = self.alpha * self.regularizer.value(params.W) if self.alpha else 0.0
        return self.passes.total_loss(scores) / self.total_weight + penalty

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

    def hessian(self, point: Point) -> Array:
        """The Hessian of the smooth part as a matrix over ``params.flat`` (for small problems)."""
        H = self.passes.hessian(point.scores) / self.total_weight
        n_weights = self.n_outputs * self.n_features
        H[np.arange(n_weights), np.arange(n_weights)] += self.l2
        if not self.bias:
            H[n_weights:] = H[:, n_weights:] = 0.0
        return H

    def along(self, point: Point, direction: Params) -> Line:
        """The risk on the ray from ``point``: one product with X, then every step costs O(nK)."""
        return Line(self, point, direction, self.passes.scores(direction))

    # -- what the certificate needs ---------------------------------------------------------------------------

    @cached_property
    def null_point(self) -> Point:
        """The risk at W = 0 and the best b."""
        params = self.zeros()
        if self.bias:
            params.b[:] = self.passes.best_null_bias()
        return self.scored(params)

    @property
    def null_value(self) -> float:
        """P(W = 0, best b): the null risk."""
        return max(self.null_point.data_loss, np.finfo(float).tiny)

    def with_best_bias(self, point: Point) -> Point:
        """The point with b moved to its best for the same W (smooth losses)."""
        shift = self.passes.best_bias_shift(point.scores)
        params = point.params.copy()
        params.b[:] += shift
        return ScoredPoint(self, params, (point.scores + shift).astype(point.scores.dtype, copy=False))

    def dual_value(self, duals: Array) -> float | None:
        """D(u) at duals made feasible first; None where there is no certificate: alpha = 0, or a conjugate not known."""
        return dual_value(self, duals)

    def gap(self, point: Point, duals: Array | None = None) -> float | None:
        """Certified duality gap of a point relative to its risk, (P - D) / P, or None where there is none.

        Smooth losses derive the duals from the scores; non-smooth ones take the solver's.
        """
        better, gap = self.certify(point, duals)
        if gap is None:
            return None
        return (gap + point.value - better.value) / max(point.value, float(np.finfo(float).tiny))

    def certify(
        self, point: Point, duals: Array | None = None, enough: float = 0.0
    ) -> tuple[Point, float | None]:
        """P - D, and the point that it holds for: the one given or, if it is more than enough, that with the best b."""
        return certify(self, point, duals, enough)

    def gradient_test(self, point: Point) -> float:
        """Size of the gradient relative to that at W = 0, each weight in units of its feature's scale."""
        return gradient_test(self, point)
