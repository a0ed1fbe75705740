"""The rows a_i of the separability program, at a common scale, and what is computed with them."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from nearline._arrays.design import Array, is_sparse
from nearline._arrays.once import once

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Kesler:
    """Rows a_ic, numbered i K + c with K = 1 for two classes and K = C for more, of unknowns (G, D + 1).

    z_i = [(x_i - center) / scale; 1], or with a constant 0 where there is no bias. Two classes: G = 1 and a_i = +-z_i.
    More: the last class has score 0, G = C - 1. Rows are divided by their largest entry, which changes no sign.
    """

    X: Any  # (n, D) float64, dense or CSR
    targets: Array
    n_classes: int
    center: Array  # (D,)
    scale: Array  # (D,)
    bias: bool = True

    @classmethod
    def of(cls, X: Any, targets: Array, n_classes: int, bias: bool = True) -> Self:
        center, scale = _sparse_scale(X) if is_sparse(X) else _dense_scale(X)
        if not bias:  # nothing takes up a shift
            scale = np.sqrt(scale**2 + center**2)
            center = np.zeros_like(center)
        return cls(X, targets, n_classes, center, scale, bias)

    @property
    def binary(self) -> bool:
        return self.n_classes == 2

    @property
    def n_scores(self) -> int:
        return 1 if self.binary else self.n_classes - 1

    @property
    def n_columns(self) -> int:
        """K: the row of X that row a comes from is its number divided by K."""
        return 1 if self.binary else self.n_classes

    @property
    def rounding(self) -> float:
        """Bound on the rounding error of a margin: larger ones are positive beyond doubt."""
        return 2 * (self.n_unknowns + 4) * EPS

    @property
    def n_unknowns(self) -> int:
        return int(self.n_scores * (self.X.shape[1] + 1))

    @once
    def Z(self) -> Any:
        """(n, D + 1) rows with the constant."""
        import scipy.sparse as sp

        n = self.X.shape[0]
        if not is_sparse(self.X):
            return np.hstack([(self.X - self.center) / self.scale, np.full((n, 1), float(self.bias))])
        # Only columns without a zero have a center, so that nothing is filled in.
        data = (self.X.data - self.center[self.X.indices]) / self.scale[self.X.indices]
        Z = sp.csr_matrix((data, self.X.indices, self.X.indptr), shape=self.X.shape)
        return sp.hstack([Z, sp.csr_matrix(np.full((n, 1), float(self.bias)))], format="csr")

    @once
    def size(self) -> Array:
        """(n,) largest entry of each row, 1 where all are 0."""
        entries = (
            abs(self.Z).max(axis=1).toarray().ravel() if is_sparse(self.Z) else np.abs(self.Z).max(axis=1)
        )
        return np.where(entries > 0, entries, 1.0)

    def numbers(self) -> Array:
        """The numbers of all rows a."""
        n = len(self.targets)
        if self.binary:
            return np.arange(n)
        other = np.arange(self.n_classes)[None, :] != self.targets[:, None]
        return np.flatnonzero(other)

    def rows(self, numbers: Array) -> Any:
        """Rows a with these numbers, (m, G (D + 1)): dense where nearly all of their entries are, else CSR."""
        import scipy.sparse as sp

        row, other = np.divmod(numbers, self.n_columns)
        if self.binary:
            signs = np.where(self.targets[row] == 1, 1.0, -1.0)[:, None]
        else:
            classes = np.arange(self.n_scores)
            signs = (self.targets[row][:, None] == classes).astype(float) - (other[:, None] == classes)
        signs /= self.size[row][:, None]
        Z = self.Z[row]
        if not is_sparse(Z) and self.n_scores <= 3:
            return np.hstack([sign[:, None] * Z for sign in signs.T])
        Z = sp.csr_matrix(Z)
        A = sp.csr_matrix(sp.hstack([sp.diags_array(sign) @ Z for sign in signs.T], format="csr"))
        A.eliminate_zeros()
        return A

    def scores(self, w: Array) -> Array:
        """(n, 1) for two classes, else (n, C)."""
        F = np.asarray(self.Z @ w.reshape(self.n_scores, -1).T)
        return F if self.binary else np.hstack([F, np.zeros((len(F), 1))])

    def margins(self, w: Array) -> Array:
        """a.w / |w|_1, between -1 and 1: (n, 1) for two classes, else (n, C) with infinity at the own class."""
        F = self.scores(w)
        n = len(F)
        if self.binary:
            M = np.where(self.targets == 1, 1.0, -1.0)[:, None] * F
        else:
            M = F[np.arange(n), self.targets][:, None] - F
            M[np.arange(n), self.targets] = np.inf
        length = np.abs(w).sum()
        return np.asarray(M / self.size[:, None] / (length if length > 0 else 1.0))

    def solve(self, numbers: Array) -> tuple[Array, Array]:
        """The program (P) on some rows: its multipliers w and u + v."""
        import scipy.sparse as sp
        from scipy.optimize import linprog

        A = sp.csc_matrix(self.rows(numbers).T)
        m = len(numbers)
        tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
        bounds = np.column_stack([np.zeros(2 * m), np.repeat([1.0, np.inf], m)])
        program: dict[str, Any] = {
            "c": np.repeat([-1.0, 0.0], m),
            "A_eq": sp.hstack([A, A], format="csc"),
            "b_eq": np.zeros(A.shape[0]),
            "bounds": bounds,
        }
        attempts: list[Any] = [tight, {}, {"presolve": False}]
        for options in attempts:
            result = linprog(**program, method="highs", options=options)
            if result.status == 0:
                multipliers = np.asarray(result.x).reshape(2, m).sum(axis=0)
                # Where no row can be separated w is 0, and what the solver returns is rounding.
                w = -result.eqlin.marginals if (multipliers < 0.5).any() else np.zeros(A.shape[0])
                return w, multipliers
        raise RuntimeError(f"The linear program of is_separable was not solved: {result.message}")

    def _span(self, numbers: Array) -> tuple[Array, Array, Array]:
        """Lengths of the columns of some rows (1 if 0), and bases of the rows' span and its complement.

        The bases are orthonormal for the rows divided by those lengths. By QR, not by the matrix of products: a
        column that few rows have is still told from one that none has.
        """
        A = self.rows(numbers)
        A = A.toarray() if is_sparse(A) else A
        length = np.linalg.norm(A, axis=0)
        length[length == 0] = 1.0
        R = np.linalg.qr(A / length, mode="r")
        _, values, V = np.linalg.svd(R)
        rank = int((values > 10 * max(A.shape) * EPS * values[0]).sum())
        return length, V[:rank].T, V[rank:].T

    def outside_span(self, numbers: Array, everything: Array) -> Array:
        """Which rows are not in the span of some rows (all that are not among them, if there are many unknowns)."""
        if not len(numbers):
            return np.ones(len(everything), dtype=bool)
        if self.n_unknowns > LARGEST_BASIS:
            return ~np.isin(everything, numbers)
        length, _, complement = self._span(numbers)
        if not complement.shape[1]:
            return np.zeros(len(everything), dtype=bool)
        # A row is orthogonal to a random vector of the complement, almost surely, only if it is to all of them.
        probe = complement @ np.random.default_rng(0).normal(size=complement.shape[1]) / length
        return np.abs(self.margins(probe).ravel()[everything]) > 1e-9

    def orthogonal(self, w: Array, numbers: Array) -> Array:
        """The w nearest by with a.w = 0, to the last digit, on some rows."""
        if self.n_unknowns > LARGEST_BASIS or not len(numbers):
            return w
        length, span, _ = self._span(numbers)
        scaled = w * length
        return np.asarray((scaled - span @ (span.T @ scaled)) / length)

    def polished(self, numbers: Array, multipliers: Array) -> Array:
        """Multipliers moved as little as possible to sum lambda_i a_i = 0 to the last digit, if they stay positive."""
        if not len(numbers) or self.n_unknowns > LARGEST_BASIS:
            return multipliers
        A = self.rows(numbers)
        for _ in range(2):
            correction = np.linalg.lstsq(_gram(A), A.T @ multipliers, rcond=None)[0]
            better = multipliers - A @ correction
            if better.min() < 0:
                break
            multipliers = better
        return multipliers

    def spread(self, numbers: Array, multipliers: Array) -> tuple[Array, float]:
        """lambda (n, K) for the rows as they were given, sum 1, and the largest relative entry of sum lambda_i a_i."""
        n, K = len(self.targets), self.n_columns
        spread = np.zeros(n * K)
        spread[numbers] = multipliers / self.size[numbers // K]
        spread = spread.reshape(n, K) / max(spread.sum(), EPS)
        if self.binary:
            signed = np.where(self.targets == 1, 1.0, -1.0)[:, None] * spread
        else:
            signed = spread.copy()
            signed[np.arange(n), self.targets] = -spread.sum(axis=1)
        total, terms = signed.T @ self.Z, np.abs(signed).T @ abs(self.Z)
        relative = np.divide(np.abs(total), terms, out=np.zeros_like(terms), where=terms > 0)
        return spread, float(relative.max(initial=0.0))

    def parameters(self, w: Array) -> tuple[Array, Array]:
        """W, b for X as it was given, with |W| = 1; of several classes they sum to 0."""
        V = w.reshape(self.n_scores, -1)
        if not self.binary:
            V = np.vstack([V, np.zeros((1, V.shape[1]))])
            V = V - V.mean(axis=0)
        W = V[:, :-1] / self.scale
        b = V[:, -1] - W @ self.center
        length = float(np.linalg.norm(W)) or 1.0
        return W / length, b / length


def search(problem: Kesler) -> tuple[Array, Array, Array]:
    """Solve (P) on growing sets of rows until its answer holds for all: w, the set, its u + v.

    A row outside must be added if w is wrong about it, or if w is 0 there and the rows inside do not prove that
    every other direction is 0 there too.
    """
    everything = problem.numbers()
    first = min(len(everything), max(200, 3 * problem.n_unknowns))
    inside = np.zeros(len(everything), dtype=bool)
    inside[np.random.default_rng(0).permutation(len(everything))[:first]] = True
    while True:
        chosen = everything[inside]
        w, multipliers = problem.solve(chosen)
        margins = problem.margins(w).ravel()[everything]
        missing = ~inside & (margins < -TOLERANCE)
        if not missing.any():
            flat = ~inside & (margins <= TOLERANCE)
            missing = (
                flat & problem.outside_span(chosen[multipliers > 0.5], everything) if flat.any() else flat
            )
        if not missing.any():
            return w, chosen, multipliers
        worst = np.argsort(np.where(missing, margins, np.inf), kind="stable")
        inside[worst[: min(int(missing.sum()), int(inside.sum()))]] = True


TOLERANCE = 1e-9  # of a_i.w relative to |a_i| |w|: nearer to 0 is taken for 0
LARGEST_BASIS = 3000  # largest number of unknowns for which bases are computed


def _gram(A: Any) -> Array:
    gram = A.T @ A
    return np.asarray(gram.toarray() if is_sparse(gram) else gram)


def _dense_scale(X: Array) -> tuple[Array, Array]:
    """Medians and typical deviations from them: a few wild rows do not hide the others (they are scaled as rows)."""
    center = np.median(X, axis=0)
    deviation = np.abs(X - center)
    scale = np.median(deviation, axis=0)
    largest = deviation.max(axis=0, initial=0.0)
    # Where most deviations are tiny beside the largest, neither is to vanish beside the other.
    scale = np.where(scale > 1e-6 * largest, scale, np.sqrt(scale * largest))
    scale = np.where(scale > 0, scale, largest)
    return center, np.where(scale > 0, scale, 1.0)


def _sparse_scale(X: Any) -> tuple[Array, Array]:
    """The same for sparse X by means of the stored values; columns with a zero have center 0."""
    n, D = X.shape
    count = np.bincount(X.indices, minlength=D)
    mean = np.bincount(X.indices, weights=X.data, minlength=D) / np.maximum(count, 1)
    center = np.where(count == n, mean, 0.0)
    deviation = np.bincount(X.indices, weights=np.abs(X.data - center[X.indices]), minlength=D)
    scale = deviation / np.maximum(count, 1)
    return center, np.where(scale > 0, scale, 1.0)
