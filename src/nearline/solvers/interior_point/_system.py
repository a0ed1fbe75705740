"""The linear systems of the interior-point method, in coordinates in which rows are of unit size."""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, qr

from nearline._arrays.design import Array, is_sparse
from nearline._parallel.tiles import map_tiles, slices
from nearline.risk import Risk
from nearline.risk.params import Params
from nearline.solvers.interior_point._margins import Margins, Slacks

TILE = 1 << 14  # rows whose products are one task
JITTERS = (0.0, 1e-14, 1e-12, 1e-10, 1e-8)  # added to a diagonal of ones that rounding made indefinite


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


class System:
    """(S alpha + M^T (diag(theta) - shrink theta theta^T) M) dV = right-hand side, factorized once for two of them."""

    def __init__(self, frame: Frame, M: Margins, now: Slacks, V: Array) -> None:
        self.frame, self.M, self.now, self.V = frame, M, now, V
        self.theta = np.divide(now.a, now.t, out=np.zeros_like(now.a), where=M.live)
        self.stiff = now.r + now.xi * M.gathered(self.theta)
        self.stiff[self.stiff == 0] = 1.0
        shrink = now.xi / self.stiff
        effective = self.theta if M.shared else self.theta - shrink * self.theta**2
        K, P = V.shape
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
