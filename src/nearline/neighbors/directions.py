"""Directions and groups of features in which rows differ most, from a sample: what makes lower bounds tight."""

import numpy as np

from nearline._arrays.design import Array


def principal_basis(S: Array, r: int, random_state: int = 0) -> Array:
    """Orthonormal (D, r): nearly the leading principal directions of the rows of S, by subspace iteration."""
    D = S.shape[1]
    if r >= D:
        return np.eye(D)
    A = _scaled(S)
    B = np.random.default_rng(random_state).standard_normal((D, min(r + 8, D))).astype(np.float32)
    for _ in range(3):
        B = np.linalg.qr(A.T @ (A @ B))[0]
    # Within the subspace, in order of variance.
    P = A @ B
    _, V = np.linalg.eigh(P.T @ P)
    return np.asarray(np.linalg.qr(B.astype(np.float64) @ V[:, ::-1].astype(np.float64))[0][:, :r])


def correlated_groups(S: Array, n_groups: int) -> tuple[Array, Array]:
    """Groups of features that go up and down together, and finer ones within them (a fourth of the size).

    Features, as vectors over the sample rows, are halved by the sign and size of their part in the leading direction,
    again and again.
    """
    F = np.ascontiguousarray(_scaled(S).T)
    parts = [np.arange(len(F))]
    coarse = parts
    while len(parts) < 4 * n_groups and max(map(len, parts)) > 1:
        parts = [half for part in parts for half in _halves(F, part)]
        if len(parts) <= n_groups:
            coarse = parts
    return _numbered(coarse, len(F)), _numbered(parts, len(F))


def _scaled(S: Array) -> Array:
    """float32 with values up to 1: powers of outliers must not overflow."""
    return np.asarray((S / max(float(np.abs(S).max(initial=0.0)), 1e-300)).astype(np.float32))


def _halves(F: Array, part: Array) -> list[Array]:
    if len(part) < 2:
        return [part]
    A = F[part] - F[part].mean(axis=0)
    u = A.sum(axis=0) + A[0]
    for _ in range(4):
        u = (A @ u) @ A
        u /= max(float(np.abs(u).max()), 1e-30)
    order = np.argsort(A @ u, kind="stable")
    half = len(part) // 2
    return [part[np.sort(order[:half])], part[np.sort(order[half:])]]


def _numbered(parts: list[Array], n: int) -> Array:
    out = np.empty(n, dtype=np.intp)
    for g, part in enumerate(parts):
        out[part] = g
    return out
