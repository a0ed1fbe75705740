"""KernelRisk: the risk of scores in the space of a kernel's features.

    risk(W, b) = (alpha/2) |W|^2 + (1/S) sum_i s_i loss(W phi(x_i) + b, y_i),    W = sum_i A_i phi(x_i)^T

The parameters are the coefficients A of the items: scores are K A + b and |W|^2 = tr A^T K A, with K the Gram matrix.
"""

from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline._arrays.once import once
from nearline._arrays.targets import row_weights
from nearline._records.habits import translates_habits
from nearline.kernels import Kernel, as_kernel
from nearline.kernels.gram import MEMORY, Gram
from nearline.losses import Loss
from nearline.risk._objective import Objective, strength
from nearline.risk._point import Line, Point
from nearline.risk._risk import Risk
from nearline.risk.params import Params
from nearline.risk.passes import Passes, passes_for


class KernelRisk(Objective):
    """Regularized empirical risk of scores W phi(x) + b, with k(x, x') = phi(x) . phi(x').

    It has the interface of :class:`Risk`: value, gradient, lines, certificates. ``Params.W`` are coefficients of the items,
    (K, n). The penalty is (alpha/2) |W|^2, the norm in the space of the kernel's features, and no other.

    Parameters
    ----------
    kernel : "rbf", "linear", ..., or a kernel object; positive semi-definite.
    X : rows, strings or trees, as the kernel takes them; for "precomputed" the Gram matrix.
    targets : (n,) class numbers 0 .. C-1, or label distributions, as for :class:`Risk`.
    loss : name or object.
    alpha, weights, bias, n_classes : as for :class:`Risk`.
    memory : bytes that the Gram matrix may take.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import KernelRisk, minimize
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    >>> risk = KernelRisk("rbf", X, [0, 0, 1, 1], loss="hinge", alpha=0.01)
    >>> solution = minimize(risk)
    >>> bool(solution.gap <= 1e-4), solution.solver, risk.scores(solution.params).round(2).ravel().tolist()
    (True, 'smo', [-1.0, -1.0, 1.0, 1.0])
    """

    examples: ClassVar[str] = "items"
    shared: Gram  # a matrix that several risks may have
    rows: Array  # (n,) those of it that are this risk's items

    @translates_habits
    def __init__(
        self,
        kernel: Kernel | str,
        X: Any,
        targets: Any,
        *,
        loss: Loss | str = "logistic",
        alpha: float | str = 1e-4,
        weights: Array | None = None,
        bias: bool = True,
        n_classes: int | None = None,
        memory: float = MEMORY,
    ) -> None:
        kernel = as_kernel(kernel)
        items = kernel.items(X)
        weights = row_weights(weights, int(items.shape[0]))
        gram = Gram(kernel.fitted(items, weights), items, memory)
        self._begin(gram, targets, loss, alpha, weights, bias, n_classes)

    @classmethod
    def of(
        cls,
        gram: Gram,
        targets: Array,
        *,
        loss: Loss | str,
        alpha: float | str,
        weights: Array | None = None,
        bias: bool = True,
        n_classes: int | None = None,
    ) -> "KernelRisk":
        """The same over a Gram matrix that others share."""
        risk = cls.__new__(cls)
        risk._begin(gram, targets, loss, alpha, weights, bias, n_classes)
        return risk

    def _begin(
        self, gram: Gram, targets: Any, loss: Any, alpha: Any, weights: Any, bias: Any, n_classes: int | None
    ) -> None:
        self.shared, self.rows = gram, np.arange(gram.n)
        self._take(gram.n, targets, loss, alpha, weights, bias, n_classes)

    def with_alpha(self, alpha: float | str) -> "KernelRisk":
        """The same risk at another strength, sharing all that does not depend on it."""
        known = strength(alpha, self.total_weight)
        linear = {"linear": self.linear.with_alpha(known)} if "linear" in vars(self) else {}
        other = KernelRisk.__new__(KernelRisk)
        other.__dict__.update(vars(self) | linear, alpha=known)
        return other

    def part(self, rows: Array, targets: Array, alpha: float) -> "KernelRisk":
        """The risk of some items in two classes 0 and 1 of their own, over the same Gram matrix.

        One-vs-one is a list of these: what solves several at the same time computes the matrix once.
        """
        weights = self.weights[rows]
        part = KernelRisk.__new__(KernelRisk)
        part.loss, part.bias, part.shared = self.loss, self.bias, self.shared
        part.rows, part.targets, part.weights, part.alpha = self.rows[rows], targets, weights, alpha
        part.total_weight, part.n_classes, part.n_outputs = (
            float(weights.sum()),
            2,
            2 if self.loss.joint else 1,
        )
        return part

    # -- the Gram matrix --------------------------------------------------------------------------------------

    @once
    def gram(self) -> Gram:
        """The Gram matrix of this risk's items."""
        return self.shared if len(self.rows) == self.shared.n else self.shared.part(self.rows)

    @property
    def matrix(self) -> Array:
        """It as an array (n, n), float64."""
        return self.gram.whole

    @once
    def linear(self) -> Risk:
        """The same risk over coordinates of the items whose inner products are the kernel: its W has the same norm."""
        return Risk(
            self.gram.coordinates[1],
            self.targets,
            loss=self.loss,
            regularizer="l2",
            alpha=self.alpha,
            weights=self.weights,
            bias=self.bias,
            n_classes=self.n_classes,
        )

    def in_coordinates(self, params: Params) -> Params:
        """Parameters of :attr:`linear` with the same scores."""
        return Params.of(params.W @ self.gram.coordinates[1], params.b)

    def from_coordinates(self, params: Params) -> Params:
        """Coefficients, of the items that span the others, for parameters of :attr:`linear`."""
        marks, _ = self.gram.coordinates
        A = np.zeros((params.n_outputs, self.n_rows))
        A[:, marks.rows] = marks.coefficients(params.W).T
        return Params.of(A, params.b)

    def from_duals(self, duals: Array, b: Array) -> Params:
        """Coefficients -s u / (alpha S): those of the minimizer, where the duals are its own."""
        return Params.of((-self.weights[:, None] * duals / (self.alpha * self.total_weight)).T, b)

    # -- what a risk says of itself ---------------------------------------------------------------------------

    @once
    def passes(self) -> Passes:
        """Sums over scores; rows without features, as products with the Gram matrix are made here."""
        return passes_for(
            np.zeros((len(self.rows), 0)), self.targets, self.weights, self.loss, self.n_outputs
        )

    @property
    def precision(self) -> "np.dtype[Any]":
        return np.dtype(np.float64)

    @property
    def n_features(self) -> int:
        return len(self.rows)

    @property
    def exact(self) -> "KernelRisk":
        """Itself: all sums are in float64."""
        return self

    @property
    def unpenalized(self) -> bool:
        return self.alpha == 0

    @property
    def has_gap(self) -> bool:
        nothing = np.zeros((0, self.n_outputs)), self.targets[:0]
        return self.alpha > 0 and self.loss.conjugate(*nothing) is not None

    # -- value and gradient -----------------------------------------------------------------------------------

    def scores(self, params: Params) -> Array:
        return np.asarray(self.gram.times(np.ascontiguousarray(params.W.T)) + params.b)

    def penalty(self, params: Params, scores: Array) -> float:
        """(alpha/2) tr A^T K A, where K A are the scores without the bias."""
        return 0.5 * self.alpha * float(np.vdot(params.W.T, scores - params.b))

    def penalty_along(self, line: Line, t: float) -> tuple[float, float]:
        params, direction = line.params(t), line.direction
        features = line.scores(t) - params.b
        return (
            0.5 * self.alpha * float(np.vdot(params.W.T, features)),
            self.alpha * float(np.vdot(direction.W.T, features)),
        )

    def at(self, params: Params) -> Point:
        return self.at_scores(params, self.scores(params))

    def at_scores(self, params: Params, scores: Array) -> Point:
        values, _ = self.loss.value_and_gradient(scores, self.targets)
        steepest = self.steepest(params, scores)
        gradient = params.like(np.empty_like(params.flat))
        gradient.W[...] = self.gram.times(np.ascontiguousarray(steepest.W.T)).T
        gradient.b[:] = steepest.b
        loss = float(self.weights @ values) / self.total_weight
        return Point(params, scores, loss, self.penalty(params, scores), gradient)

    def steepest(self, params: Params, scores: Array) -> Params:
        """Coefficients alpha A + s u / S of the gradient in the space of the features, and its bias."""
        _, u = self.loss.value_and_gradient(scores, self.targets)
        share = self.weights[:, None] * u / self.total_weight
        return Params.of(
            self.alpha * params.W + share.T, share.sum(axis=0) if self.bias else np.zeros(self.n_outputs)
        )

    def hessian_product(self, point: Point, direction: Params) -> Params:
        """Hessian at ``point`` times ``direction``."""
        moved = self.loss.curvature_product(point.scores, self.targets, self.scores(direction))
        assert moved is not None  # solvers that need it refuse losses without
        share = self.weights[:, None] * moved / self.total_weight
        W = self.gram.times(np.ascontiguousarray(self.alpha * direction.W.T + share)).T
        return Params.of(W, share.sum(axis=0) if self.bias else np.zeros(self.n_outputs))

    # -- what the certificate needs ---------------------------------------------------------------------------

    def dual_value(self, duals: Array) -> float | None:
        """D(u) = -(1/S) sum_i s_i loss*(u_i) - tr (s u)^T K (s u) / (2 alpha S^2), u made feasible first."""
        if self.alpha == 0:
            return None
        given = np.asarray(duals, dtype=np.float64)
        u = self.loss.balance(given, self.targets, self.weights) if self.bias else given
        values = None if u is None else self.loss.conjugate(u, self.targets)
        if u is None or values is None:
            return None
        used, mass = self.weights > 0, self.weights[:, None] * u
        mean = float(self.weights[used] @ values[used]) / self.total_weight
        square = float(np.vdot(mass, self.gram.times(mass)))
        return -mean - square / (2.0 * self.alpha * self.total_weight**2)

    def gradient_test(self, point: Point) -> float:
        """Length of the gradient in the space of the features, relative to that at W = 0."""
        own, null = (self._steepness(one) for one in (point, self.null_point))
        return own / null if null > 0 else own

    def _steepness(self, point: Point) -> float:
        steepest = self.steepest(point.params, point.scores)
        A = np.ascontiguousarray(steepest.W.T)
        square = float(np.vdot(A, self.gram.times(A)))
        return float(np.sqrt(max(square, 0.0)) + np.abs(steepest.b).max(initial=0.0))
