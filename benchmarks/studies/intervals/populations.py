"""Populations whose true scores are known in closed form or by integration, and test sets drawn from them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.signal import lfilter
from scipy.special import expit
from scipy.stats import norm

from nearline.selection.intervals.area import carried

Array = NDArray[Any]
Rng = np.random.Generator


@dataclass(frozen=True)
class Normals:
    """Two classes whose scores are normal: the rare one N(shift, spread^2), the other N(0, 1)."""

    area: float
    spread: float = 1.0

    @property
    def shift(self) -> float:
        return float(norm.ppf(self.area) * np.sqrt(1.0 + self.spread**2))

    def draw(self, rng: Rng, n_sets: int, m: int, n: int) -> Array:
        """(n_sets, m + n): m rows of the rare class first."""
        scores = rng.standard_normal((n_sets, m + n))
        scores[:, :m] = self.shift + self.spread * scores[:, :m]
        return scores

    def probabilities(self, scores: Array, share: float, gain: float) -> Array:
        """Of the rare class: true ones for gain 1, too sure for 2, too careful for 0.5."""
        log_odds = self.shift * scores - self.shift**2 / 2 + np.log(share / (1 - share))
        return np.asarray(expit(gain * log_odds))

    def true_loss(self, loss: Any, share: float, gain: float) -> float:
        """The expected loss of the probability of the own class, by integration."""

        def density(x: float) -> float:
            p = self.probabilities(np.asarray(x), share, gain)
            rare = share * norm.pdf(x - self.shift) * loss(p)
            return float(rare + (1 - share) * norm.pdf(x) * loss(1 - p))

        middle = self.shift / 2
        return float(
            quad(density, -12, middle, limit=400)[0] + quad(density, middle, self.shift + 12, limit=400)[0]
        )


@dataclass(frozen=True)
class PartlyLost:
    """A share of the rare class is told from the other one by chance alone, the rest perfectly."""

    share: float

    @property
    def area(self) -> float:
        return 1.0 - self.share / 2.0

    def draw(self, rng: Rng, n_sets: int, m: int, n: int) -> Array:
        scores = rng.standard_normal((n_sets, m + n))
        scores[:, :m] += 100.0 * (rng.random((n_sets, m)) >= self.share)
        return scores


def area_and_variance(scores: Array, m: int) -> tuple[Array, Array, Array]:
    """(n_sets,) areas, DeLong's variances and their degrees of freedom, of test sets without ties, all sets at once.

    The m positive rows of a set come first.
    """
    n = scores.shape[1] - m
    positive = np.argsort(scores, axis=1) < m
    below = np.where(positive, np.cumsum(~positive, axis=1), 0) / n
    above = np.where(positive, 0, m - np.cumsum(positive, axis=1)) / m
    area = below.sum(axis=1) / m
    of_positive = ((below**2).sum(axis=1) - m * area**2) / (m - 1)
    of_negative = ((above**2).sum(axis=1) - n * area**2) / (n - 1)
    added = np.where(positive, below - area[:, None], above - area[:, None])
    added /= np.where(positive, m, n)
    return area, np.maximum(0.0, of_positive / m + of_negative / n), carried(added)


def several_classes(rng: Rng, sizes: Array, shift: float) -> tuple[Array, Array]:
    """Scores (n, C) and codes: the own column is shifted, and the mean over columns subtracted."""
    codes = np.repeat(np.arange(len(sizes)), sizes)
    scores = rng.standard_normal((len(codes), len(sizes)))
    scores[np.arange(len(codes)), codes] += shift
    return scores - scores.mean(axis=1, keepdims=True), codes


def true_area(n_classes: int, shift: float) -> float:
    """Of each class of :func:`several_classes` against the rest: columns differ by the shift and have variance 1 - 1/C."""
    return float(norm.cdf(shift / np.sqrt(2.0 * (1.0 - 1.0 / n_classes))))


def group_sizes(n_groups: int, mean: int, spread: float) -> Array:
    """Sizes at the quantiles of a lognormal distribution; all alike for spread 0."""
    sizes = np.exp(spread * norm.ppf((np.arange(n_groups) + 0.5) / n_groups))
    return np.maximum(1, np.rint(mean * sizes / sizes.mean())).astype(np.intp)


def grouped_hits(rng: Rng, n_sets: int, sizes: Array, p: float, correlation: float) -> Array:
    """(n_sets, n): each group has its own accuracy, beta distributed about p, so that its rows are correlated."""
    a = (1.0 - correlation) / correlation
    own = rng.beta(p * a, (1.0 - p) * a, size=(n_sets, len(sizes)))
    return (rng.random((n_sets, sizes.sum())) < np.repeat(own, sizes, axis=1)).astype(float)


def grouped_scores(rng: Rng, n_sets: int, sizes: Array, codes: Array, shift: float, share: float) -> Array:
    """(n_sets, n) scores N(shift codes, 1), that share of the variance being the group's own."""
    own = np.repeat(rng.standard_normal((n_sets, len(sizes))), sizes, axis=1)
    noise = rng.standard_normal((n_sets, len(codes)))
    return np.asarray(shift * codes + np.sqrt(share) * own + np.sqrt(1 - share) * noise)


def series(rng: Rng, n_sets: int, n: int, correlation: float) -> Array:
    """(n_sets, n): autoregressive Gaussian series of variance 1 and that correlation from row to row."""
    noise = np.sqrt(1.0 - correlation**2) * rng.normal(size=(n_sets, n + 200))
    return np.asarray(
        lfilter([1.0], [1.0, -correlation], noise, axis=1)[:, 200:]
    )  # 200 rows to forget the start


def time_hits(rng: Rng, n_sets: int, n: int, p: float, correlation: float) -> Array:
    """(n_sets, n): correct where a series is below its p quantile."""
    return (series(rng, n_sets, n, correlation) < norm.ppf(p)).astype(float)
