"""Passes: every sweep over the rows of X that a risk needs. All products with X are here, and nowhere else.

Dense or CSR, float32 or float64; the built-in losses go through the compiled core in one fused pass, a loss written in
Python through the generic path below, which says the same thing in NumPy.
"""

from functools import cached_property

import numpy as np

from nearline.arrays import Array, Design, back_product, is_sparse, product
from nearline.losses import Loss, signs
from nearline.params import Params


class Passes:
    """Sums over rows for one (X, targets, weights, loss). Sums are plain; the risk divides by the total weight."""

    def __init__(self, X: Design, targets: Array, weights: Array, loss: Loss, n_outputs: int) -> None:
        self.X, self.targets, self.weights, self.loss, self.n_outputs = X, targets, weights, loss, n_outputs

    def scores(self, params: Params) -> Array:
        """W x_i + b for all rows, (n, K), in X's dtype."""
        return product(self.X, params.W) + params.b.astype(self.X.dtype)

    def total_loss(self, scores: Array) -> float:
        """sum_i s_i loss(f_i, y_i)."""
        values = self.loss.value(scores.astype(np.float64, copy=False), self.targets)
        return float(self.weights @ values)

    def gradient_from_scores(self, scores: Array) -> tuple[float, Array, Array]:
        """sum of losses, its gradient in W (K, D) and in b (K,)."""
        values, G = self.loss.value_and_gradient(scores.astype(np.float64, copy=False), self.targets)
        G = G * self.weights[:, None]
        return float(self.weights @ values), self.back_product(G), G.sum(axis=0)

    def value_and_gradient(self, params: Params) -> tuple[Array, float, Array, Array]:
        """scores, sum of losses, and the gradients: one pass."""
        scores = self.scores(params)
        return (scores, *self.gradient_from_scores(scores))

    def value_and_slope(self, scores: Array, direction_scores: Array) -> tuple[float, float]:
        """Sum of losses and its derivative along a direction of the scores."""
        values, G = self.loss.value_and_gradient(scores.astype(np.float64, copy=False), self.targets)
        return float(self.weights @ values), float(self.weights @ (G * direction_scores).sum(axis=1))

    def smallest_margin(self, scores: Array) -> float:
        """min over rows (of positive weight) of y f, or of f_y less the largest other score."""
        scores = scores[self.weights > 0]
        targets = self.targets[self.weights > 0]
        if not self.loss.joint:
            return float((signs(targets, self.n_outputs) * scores).min())
        own = scores[np.arange(len(scores)), targets]
        others = scores.copy()
        others[np.arange(len(scores)), targets] = -np.inf
        return float((own - others.max(axis=1)).min())

    def back_product(self, G: Array) -> Array:
        """sum_i g_i x_i^T, (K, D)."""
        return back_product(self.X, G)

    def hessian_product(self, scores: Array, direction: Params) -> tuple[Array, Array]:
        """Curvature of the summed loss times a direction, in W and b."""
        V = self.scores(direction).astype(np.float64, copy=False)
        H = self.loss.curvature_product(scores.astype(np.float64, copy=False), self.targets, V)
        assert H is not None, f"{self.loss.name} has no curvature"
        H = H * self.weights[:, None]
        return self.back_product(H), H.sum(axis=0)

    def hessian(self, scores: Array) -> Array:
        """Curvature of the summed loss as a matrix over Params.flat: all weights, then all biases."""
        curvature = self.loss.curvature(scores.astype(np.float64, copy=False), self.targets)
        assert curvature is not None, f"{self.loss.name} has no curvature"
        curvature = curvature * self.weights.reshape((-1,) + (1,) * (curvature.ndim - 1))
        X = self.X.toarray() if is_sparse(self.X) else self.X
        Phi = np.hstack([X, np.ones((X.shape[0], 1))]).astype(np.float64)
        K, D = self.n_outputs, X.shape[1]
        H = np.zeros((K, D + 1, K, D + 1))
        for c in range(K):
            if curvature.ndim == 2:
                H[c, :, c] = Phi.T @ (curvature[:, c, None] * Phi)
                continue
            for d in range(c + 1):
                H[c, :, d] = Phi.T @ (curvature[:, c, d, None] * Phi)
                H[d, :, c] = H[c, :, d].T
        place = np.arange(K * (D + 1)).reshape(K, D + 1)
        order = np.concatenate([place[:, :D].ravel(), place[:, D]])
        return H.reshape(K * (D + 1), K * (D + 1))[np.ix_(order, order)]

    # -- moments of the columns -------------------------------------------------------------------------------

    @cached_property
    def column_moments(self) -> tuple[Array, Array]:
        """Weighted mean and standard deviation of each feature, (D,) each."""
        total = self.weights.sum()
        mean = np.asarray(self.weights @ self.X, dtype=np.float64).ravel() / total
        if is_sparse(self.X):
            square = np.asarray(self.weights @ self.X.multiply(self.X)).ravel() / total
            return mean, np.sqrt(np.maximum(square - mean * mean, 0.0))
        square = np.zeros_like(mean)
        for rows in _row_blocks(self.X.shape):
            square += self.weights[rows] @ (self.X[rows] - mean) ** 2
        return mean, np.sqrt(square / total)

    @cached_property
    def column_scale(self) -> Array:
        """Standard deviation of each feature, 1 where it is constant (to rounding)."""
        mean, deviation = self.column_moments
        tiny = 10 * np.finfo(self.X.dtype).eps * np.abs(mean)
        return np.where(deviation > tiny, deviation, 1.0)

    # -- the bias alone ---------------------------------------------------------------------------------------

    def best_bias_shift(self, scores: Array) -> Array:
        """argmin_b of the summed loss of scores + b, by Newton's method in K dimensions."""
        scores = scores.astype(np.float64, copy=False)
        return minimize_bias(self.loss, scores, self.targets, self.weights)

    def best_null_bias(self) -> Array:
        """argmin_b of the summed loss at W = 0: rows of one class are alike, so each class is one row."""
        if self.targets.ndim == 2:
            return self.best_bias_shift(np.zeros((len(self.targets), self.n_outputs)))
        n_classes = self.loss.label_count(self.n_outputs)
        totals = np.bincount(self.targets, weights=self.weights, minlength=n_classes)
        known = self.loss.null_bias(totals, self.n_outputs)
        if known is not None:
            return known
        start = np.zeros((n_classes, self.n_outputs))
        return minimize_bias(self.loss, start, np.arange(n_classes), totals)


def minimize_bias(
    loss: Loss, scores: Array, targets: Array, weights: Array, *, max_iter: int = 100, tol: float = 1e-14
) -> Array:
    """argmin_b sum_i s_i loss(f_i + b, y_i) for a smooth loss: damped Newton, gradient steps where it has no curvature."""
    total = weights.sum()
    b = np.zeros(scores.shape[1])
    values, G = loss.value_and_gradient(scores, targets)
    value, gradient = weights @ values / total, weights @ G / total
    for _ in range(max_iter):
        if np.abs(gradient).max() <= tol:
            break
        curvature = loss.curvature(scores + b, targets)
        if curvature is None:
            H = np.eye(len(b))
        elif curvature.ndim == 2:
            H = np.diag(weights @ curvature / total)
        else:
            H = np.einsum("i,ijk->jk", weights, curvature) / total
        # The ridge keeps the step finite along directions without curvature (softmax: all scores alike).
        step = -np.linalg.lstsq(H + 1e-12 * np.eye(len(b)), gradient, rcond=None)[0]
        step *= min(1.0, 20.0 / max(np.abs(step).max(), 1e-300))
        slope, t = gradient @ step, 1.0
        while t > 1e-12:
            values, G = loss.value_and_gradient(scores + (b + t * step), targets)
            if weights @ values / total <= value + 1e-4 * t * slope:
                break
            t *= 0.5
        else:
            break
        b = b + t * step
        value, gradient = weights @ values / total, weights @ G / total
    return np.asarray(b)


def _row_blocks(shape: tuple[int, int], *, budget: int = 1 << 22) -> list[slice]:
    size = max(1, budget // max(1, shape[1]))
    return [slice(i, i + size) for i in range(0, shape[0], size)]
