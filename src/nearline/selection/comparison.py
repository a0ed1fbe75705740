"""Which of several models is better: paired tests on folds and on test rows, corrected for how many are compared."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import bdtr, ndtr, stdtr

from nearline._arrays.design import Array
from nearline._records.refused import ParameterError

# Differences below this share of the scores are rounding: the scores are equal.
ROUNDING = 1e-12
# Rows whose sums are kept in place of themselves.
BUNDLES = 4096
# Of normal differences 3 (sum e^2)^2 / sum e^4 counts the rows; half of that keeps the level where few rows differ.
CARRIED = 1.5


@dataclass(frozen=True)
class TTest:
    """A t statistic with its two-sided p value."""

    statistic: float
    p_value: float


@dataclass(frozen=True)
class McNemar:
    """Rows on which exactly one of two models is right, and the two-sided p value."""

    only_a: int
    only_b: int
    p_value: float


def corrected_t_test(differences: Any, test_to_train: float) -> TTest:
    """Nadeau and Bengio's corrected resampled t-test of J folds: mean / sqrt((1 / J + test_to_train) variance), J - 1 df.

    The training rows that folds share correlate their differences; adding test_to_train = rows tested / rows trained on
    (1 / (K - 1) for K folds) to 1 / J makes up for it, roughly. Equal models (all differences 0) have p = 1, a constant
    other difference p = 0.

    Examples
    --------
    >>> result = corrected_t_test([0.02, 0.01, 0.03, 0.0, 0.02], test_to_train=1 / 4)
    >>> round(result.statistic, 3), round(result.p_value, 3)
    (2.092, 0.105)
    """
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2 or not np.isfinite(values).all():
        raise ValueError(
            f"differences must be finite numbers, one for each of at least 2 folds, got {values.tolist()!r}: "
            "leave out models whose score is undefined on a fold."
        )
    statistic, p = _corrected(values[None], test_to_train)
    return TTest(float(statistic[0]), float(p[0]))


def holm(p_values: Any) -> Array:
    """Holm's adjusted p values: the i-th smallest of m is multiplied by m - i + 1, and none is below a smaller one's.

    To reject those <= level errs at all with probability at most level. NaN stays NaN and is not counted in m.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03, float("nan")]).tolist()
    [0.03, 0.06, 0.06, nan]
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1 or (p < 0).any() or (p > 1).any():
        raise ParameterError("p_values", p.tolist(), "a list of numbers between 0 and 1")
    adjusted = np.full(p.shape, np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * p[order]))
    return adjusted


def indistinguishable(
    scores: Any, test_to_train: float, level: float = 0.05, rows: "CorrectRows | Added | None" = None
) -> Array:
    """Which candidates the folds cannot tell from the one of best mean: Holm-adjusted corrected tests with p > level.

    Approximate: the correction of the tests is a rule of thumb, and the best was chosen by the same scores. A candidate
    in the mask is not shown to be as good, only not shown to be worse.

    Parameters
    ----------
    scores : (candidates, folds), larger is better, on the same folds. Candidates with a NaN are False.
    test_to_train : rows tested / rows trained on, 1 / (K - 1) for K folds.
    rows : which rows each candidate had right, where scores are accuracies, or what rows add to other scores, where rows
        are independent. Their number tells the variance far better than a few folds do.

    Returns
    -------
    (candidates,) of bool, True for the best itself.

    Examples
    --------
    >>> scores = [[0.90, 0.92, 0.91, 0.93, 0.90], [0.91, 0.91, 0.91, 0.92, 0.91], [0.70, 0.74, 0.71, 0.75, 0.69]]
    >>> indistinguishable(scores, 1 / 4).tolist()
    [True, True, False]
    """
    S = np.asarray(scores, dtype=np.float64)
    if S.ndim != 2 or S.shape[1] < 2 or np.isinf(S).any():
        raise ValueError(
            f"scores must be finite or NaN, of shape (candidates, folds) with at least 2 folds, got shape {S.shape}."
        )
    if not 0.0 < level < 1.0:
        raise ParameterError("level", level, "between 0 and 1", "0.05 is usual")
    mask: Array = np.asarray(~np.isnan(S).any(axis=1))
    if not mask.any():
        return mask
    best = int(np.argmax(np.where(mask, S.mean(axis=1), -np.inf)))
    others = np.flatnonzero(mask & (np.arange(len(S)) != best))
    if rows is None:
        differences = S[best] - S[others]
        differences[np.abs(differences) <= ROUNDING * np.abs(S[mask]).max()] = 0.0
        _, p = _corrected(differences, test_to_train)
    else:
        p = rows.p_values(best, others, S.shape[1], test_to_train)
    mask[others] = holm(p) > level
    return mask


@dataclass(frozen=True)
class CorrectRows:
    """Rows that candidates had right when they were left out, a bit each.

    The difference of two accuracies is the mean over n rows of d = right_a - right_b; its variance, var(d) / n if the models
    were fixed, is taken (1 + J test_to_train) times for the models that J folds fit to overlapping rows: the correction
    of :func:`corrected_t_test`, with the variance from rows instead of folds.
    """

    bits: Array  # (candidates, bytes)
    n_rows: int

    def p_values(self, a: int, others: Array, n_folds: int, test_to_train: float) -> Array:
        """Two-sided, of candidate a against others."""
        right = np.array([np.unpackbits(row).sum(dtype=np.int64) for row in self.bits])
        either = np.array([np.unpackbits(self.bits[a] ^ self.bits[b]).sum(dtype=np.int64) for b in others])
        mean = (right[a] - right[others]) / self.n_rows
        variance = np.maximum(either / self.n_rows - mean**2, 0.0)
        error = np.sqrt((1.0 + n_folds * test_to_train) * variance / self.n_rows)
        statistic = np.where(either > 0, np.abs(mean) / np.where(error > 0, error, 1e-300), 0.0)
        return np.asarray(2.0 * ndtr(-statistic))


@dataclass(frozen=True)
class Added:
    """What left-out rows add to candidates' mean scores over folds, beside the scores themselves.

    A row of fold f adds (contribution - score of the fold) / (J n_f) to the mean over J folds; the sum over a fold is 0. The
    difference of two candidates has the variance sum of (added_a - added_b)^2 over rows if the models were fixed, for an
    AUC DeLong's with the covariance of both, and is taken (1 + J test_to_train) times as in :class:`CorrectRows`. Student's
    degrees of freedom are 1.5 (sum e^2)^2 / sum e^4 of these differences e: where few rows make up the variance it is
    uncertain.
    """

    scores: Array  # (candidates, folds)
    added: Array  # (candidates, bundles): sums over rows, or over bundles of rows

    def p_values(self, a: int, others: Array, n_folds: int, test_to_train: float) -> Array:
        """Two-sided, of candidate a against others."""
        p = np.ones(len(others))
        for at, b in enumerate(others):
            mean = float(np.mean(self.scores[a] - self.scores[b]))
            squares = np.square(self.added[a] - self.added[b], dtype=np.float64)
            total, fourth = float(squares.sum()), float(squares @ squares)
            if abs(mean) <= ROUNDING * float(np.abs(self.scores[[a, b]]).max()):
                continue
            if fourth <= 0.0:  # the same difference on every row
                p[at] = 0.0
                continue
            freedom = max(1.0, CARRIED * total**2 / fourth)
            error = np.sqrt((1.0 + n_folds * test_to_train) * total)
            p[at] = 2.0 * float(stdtr(freedom, -abs(mean) / error))
        return p


def added_by_rows(contributions: Array, n_folds: int) -> Array:
    """What the rows of a fold add, as sums over at most 4,096 bundles of rows in turn: less to keep."""
    added = (contributions - contributions.mean()) / (n_folds * len(contributions))
    bundles = np.arange(len(added)) % BUNDLES
    return np.bincount(bundles, weights=added).astype(np.float32)


def mcnemar(correct_a: Any, correct_b: Any, *, mid_p: bool = False) -> McNemar:
    """McNemar's exact test of two models on the same test rows: of the m rows where one alone is right, is it a's half?

    p = min(1, 2 P(X <= smaller count)) for X binomial (m, 1/2), never too small; ``mid_p`` takes off P(X = smaller count),
    which is less cautious and in practice still keeps its level. Rows must be independent; m = 0 gives p = 1.

    Examples
    --------
    >>> mcnemar([1, 1, 1, 1, 1, 1, 0, 1], [0, 0, 0, 0, 0, 1, 0, 1])
    McNemar(only_a=5, only_b=0, p_value=0.0625)
    """
    a, b = _right("correct_a", correct_a), _right("correct_b", correct_b)
    if len(a) != len(b):
        raise ValueError(
            f"correct_a has {len(a)} rows and correct_b {len(b)}: give both models' answers on the same test rows."
        )
    only_a, only_b = int((a & ~b).sum()), int((b & ~a).sum())
    m, fewer = only_a + only_b, min(only_a, only_b)
    if m == 0:
        return McNemar(0, 0, 1.0)
    at_most = float(bdtr(fewer, m, 0.5))
    fewer_still = float(bdtr(fewer - 1, m, 0.5)) if fewer else 0.0
    p = min(1.0, 2.0 * at_most)
    return McNemar(only_a, only_b, p - (at_most - fewer_still) if mid_p else p)


def _corrected(differences: Array, test_to_train: float) -> tuple[Array, Array]:
    """Statistics and two-sided p values (m,) of differences (m, J)."""
    if not (np.isfinite(test_to_train) and test_to_train >= 0):
        raise ParameterError(
            "test_to_train", test_to_train, "a number >= 0", "give rows tested / rows trained on"
        )
    J = differences.shape[1]
    mean, deviation = differences.mean(axis=1), differences.std(axis=1, ddof=1)
    error = deviation * np.sqrt(1.0 / J + test_to_train)
    constant = deviation <= ROUNDING * np.abs(differences).max(axis=1, initial=0.0)
    limit = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
    statistic = np.where(constant, limit, mean / np.where(constant, 1.0, error))
    return statistic, np.asarray(2.0 * stdtr(J - 1, -np.abs(statistic)))


def _right(name: str, values: Any) -> Array:
    right = np.asarray(values)
    if right.ndim != 1 or not ((right == 0) | (right == 1)).all():
        raise ValueError(
            f"{name} must be one-dimensional with True and False (or 1 and 0), got shape {right.shape} and type "
            f"{right.dtype}: give predicted == y."
        )
    return right.astype(bool)
