"""Leave-one-out scores of ridge regression in closed form, for some rows and every alpha."""

from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline.solvers.closed_form.spectrum import EPS, Spectrum

NO_SLACK = 1e-5  # 1 - leverage below which the plain formula loses too many digits
IN_SPAN = 1e-9  # 1 - leverage at lam = 0 that is rounding: the row alone holds up a direction


def left_out(design: Any, tile: slice, alphas: Array, part: Spectrum) -> tuple[Array, bool]:
    """Scores (A, m, K) of some rows by the model of all others, and whether some leverage was near 1.

    The design is a Centered one, or one of which only the Gram matrix of the rows is known.

    The refit has the same alpha, hence the ridge lam_i = alpha (S - s_i). With the fit f and the leverage h of all rows
    at lam_i the score of row i without itself is t_i - (t_i - f_i) / (1 - h_i),

        h_i = s_i / S + sum_j p_ij^2 / (e_j + lam_i),   P = Z V.
    """
    s, T = design.weights[tile], design.T[tile]
    P = design.weighted_rows(tile) @ part.basis if design.primal else part.basis[tile] * np.sqrt(part.e)
    own = s / design.total if design.bias else np.zeros(len(s))
    rest = design.total - s
    fits, leverages = _fits_and_leverages(P, part, alphas, rest)
    slack = 1.0 - own - leverages
    steep = slack < NO_SLACK
    residuals = (T - fits) / np.where(steep, 1.0, slack)[:, :, None]
    for a in np.flatnonzero(steep.any(axis=1)):
        i = np.flatnonzero(steep[a])
        residuals[a, i] = _steep_residuals(P[i], T[i], own[i], part, alphas[a] * rest[i, None])
    residuals /= np.where(s > 0, design.root[tile], 1.0)[:, None]
    return np.asarray(design.codes[tile] - residuals), bool(steep.any())


def _fits_and_leverages(P: Array, part: Spectrum, alphas: Array, rest: Array) -> tuple[Array, Array]:
    """P diag(1 / (e + lam_i)) Q, (A, m, K), and the diagonal of P diag(1 / (e + lam_i)) P^T, (A, m)."""
    m, K = len(P), part.Q.shape[1]
    if (rest == rest[0]).all():  # equal weights: rows share lam, and all alphas one product
        inverse = np.stack([part.inverse(alpha * rest[0]) for alpha in alphas], axis=1)
        stacked = (inverse[:, :, None] * part.Q[:, None, :]).reshape(len(part.e), -1)
        fits = (P @ stacked).reshape(m, len(alphas), K).transpose(1, 0, 2)
        return fits, ((P * P) @ inverse).T
    fits, leverages = np.empty((len(alphas), m, K)), np.empty((len(alphas), m))
    for a, alpha in enumerate(alphas):
        shrunk = P * part.inverse(alpha * rest[:, None])
        fits[a] = shrunk @ part.Q
        leverages[a] = np.einsum("ij,ij->i", shrunk, P)
    return fits, leverages


def _steep_residuals(P: Array, T: Array, own: Array, part: Spectrum, lam: Array) -> Array:
    """(t - f) / (1 - h) of rows with h near 1, from sums of positive terms instead of differences.

    With u = p / sigma and a = Q / sigma, t - f = outside + sum_j u_j a_j lam / (e_j + lam) and
    1 - h = (1 - own - |u|^2) + sum_j u_j^2 lam / (e_j + lam). Where nothing of the row lies outside the span, lam
    cancels, and what is left is also the limit lam -> 0: the refit of least |W|.
    """
    kept = part.e > part.smallest
    e, sigma = part.e[kept], np.sqrt(part.e[kept])
    U, A = P[:, kept] / sigma, part.Q[kept] / sigma[:, None]
    outside = 1.0 - own - (U * U).sum(axis=1)
    rounding = 64.0 * EPS * np.linalg.norm(P, axis=1) * np.abs(U / sigma).sum(axis=1)
    inside = outside < np.maximum(IN_SPAN, rounding)
    outside = np.where(inside, 0.0, outside)
    # The common factor lam is left out where it cancels.
    shrink = np.where(inside[:, None], 1.0, lam) / (e + lam)
    slack = outside + (U * U * shrink).sum(axis=1)
    beyond = np.where(inside[:, None], 0.0, T - U @ A)
    return np.asarray((beyond + (U * shrink) @ A) / np.where(slack > 0, slack, 1.0)[:, None])
