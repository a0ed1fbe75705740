"""Tables of coverage and mean width on independent rows, by score, imbalance, number of rows and quality."""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import stdtrit
from scipy.stats import binom, norm

from benchmarks.studies.intervals.populations import (
    Array,
    Normals,
    PartlyLost,
    Rng,
    area_and_variance,
    several_classes,
    true_area,
)
from nearline.selection.intervals.area import area_ends, areas, flawless_end, mean_normal_variance
from nearline.selection.intervals.balanced import balanced_ends
from nearline.selection.intervals.means import mean_ends, moments
from nearline.selection.intervals.of_scores import METHODS
from nearline.selection.intervals.shares import share_ends
from nearline.selection.scoring import SCORERS

SIZES = (100, 200, 500, 1000, 2000)
SHARES = (0.02, 0.05, 0.1, 0.2, 0.5)
AREAS = (0.6, 0.75, 0.9, 0.97, 0.99)
LOST = (0.02, 0.05, 0.1, 0.3)  # of the rare class
ACCURACIES = (0.5, 0.6, 0.75, 0.9, 0.95, 0.97, 0.99)
RECALLS = (
    (0.6, 0.6),
    (0.5, 0.95),
    (0.75, 0.75),
    (0.9, 0.9),
    (0.9, 0.99),
    (0.97, 0.97),
    (0.99, 0.99),
)  # rare, other
SEVERAL = ([40, 40, 40], [15, 45, 140], [20, 80, 400], [30] * 10)  # rows of the classes
PORTION = 4_000_000  # numbers at a time


def fewest(score: str) -> int:
    """Rows of each class from which on an interval is printed."""
    return METHODS[SCORERS[score].score].fewest


def cell(low: Array, high: Array, truth: float, chance: Array | float = 1.0) -> str:
    """Coverage and mean width, each outcome counting with its chance."""
    inside = (low <= truth) & (truth <= high)
    chances = np.broadcast_to(chance, inside.shape)
    return f"{np.average(inside, weights=chances):.3f} ({np.average(high - low, weights=chances):.3f})"


def imbalances() -> Iterator[tuple[int, int]]:
    """(rows of the rare class, rows) of each setting."""
    for n in SIZES:
        for share in SHARES:
            yield round(share * n), n


def accuracy_rows(rng: Rng, n_sets: int) -> Iterator[list[str]]:
    """Exact sums over all counts."""
    for n in (10, 30, *SIZES):
        counts = np.arange(n + 1)
        low, high = share_ends(counts, n, -stdtrit(n - 1, 0.025), 0.95)
        own = [cell(low, high, p, binom.pmf(counts, n, p)) for p in ACCURACIES]
        every = np.linspace(0.5, 0.9999, 2000)[:, None]
        inside = (low <= every) & (every <= high)
        worst = (inside * binom.pmf(counts, n, every)).sum(axis=1).min()
        yield [f"{n}", *own, f"{worst:.3f}"]


def balanced_rows(rng: Rng, n_sets: int) -> Iterator[list[str]]:
    """Exact sums over all counts of both classes."""
    for m, n in imbalances():
        if m < fewest("balanced-accuracy"):
            continue
        rare, other = np.arange(m + 1), np.arange(n - m + 1)
        found = np.stack(np.meshgrid(rare, other, indexing="ij"), axis=-1)
        low, high = balanced_ends(found, np.array([m, n - m]), 0.95)
        chances = (np.outer(binom.pmf(rare, m, a), binom.pmf(other, n - m, b)) for a, b in RECALLS)
        yield [
            f"{m} of {n}",
            *(cell(low, high, (a + b) / 2, c) for (a, b), c in zip(RECALLS, chances, strict=True)),
        ]


def recall_rows(rng: Rng, n_sets: int) -> Iterator[list[str]]:
    """Balanced accuracy of several classes, all with the same share found."""
    for sizes in SEVERAL:
        row = [_said(sizes)]
        for p in (0.6, 0.75, 0.9, 0.97, 0.99):
            found = rng.binomial(sizes, p, size=(n_sets, len(sizes)))
            row.append(cell(*balanced_ends(found, np.array(sizes), 0.95), p))
        yield row


Population = Normals | PartlyLost


def area_rows(rng: Rng, n_sets: int, populations: Sequence[Population] = ()) -> Iterator[list[str]]:
    populations = populations or [Normals(area) for area in AREAS]
    for m, n in imbalances():
        if m < fewest("auc"):
            continue
        sizes = np.array([m, n - m])
        least, flawless = mean_normal_variance(sizes), flawless_end(sizes, 0.95)
        row = [f"{m} of {n}"]
        for population in populations:
            found = np.concatenate(
                [
                    np.stack(area_and_variance(population.draw(rng, part, m, n - m), m))
                    for part in portions(n_sets, n)
                ],
                axis=1,
            )
            ends = area_ends(found[0], found[1], least, 0.95, found[2], flawless)
            row.append(cell(*ends, population.area))
        yield row


def wider_rows(rng: Rng, n_sets: int) -> Iterator[list[str]]:
    yield from area_rows(rng, n_sets, [Normals(area, 1.5) for area in AREAS])


def narrower_rows(rng: Rng, n_sets: int) -> Iterator[list[str]]:
    yield from area_rows(rng, n_sets, [Normals(area, 1 / 1.5) for area in AREAS])


def lost_rows(rng: Rng, n_sets: int) -> Iterator[list[str]]:
    yield from area_rows(rng, n_sets, [PartlyLost(share) for share in LOST])


def several_rows(rng: Rng, n_sets: int) -> Iterator[list[str]]:
    for sizes in SEVERAL:
        least, flawless = mean_normal_variance(np.array(sizes)), flawless_end(np.array(sizes), 0.95)
        row = [_said(sizes)]
        for area in AREAS:
            shift = float(norm.ppf(area) * np.sqrt(2.0 * (1.0 - 1.0 / len(sizes))))
            sets = (areas(*several_classes(rng, np.array(sizes), shift), len(sizes)) for _ in range(n_sets))
            found = np.array([(one.mean, one.variance, one.freedom) for one in sets]).T
            ends = area_ends(found[0], found[1], least, 0.95, found[2], flawless)
            row.append(cell(*ends, true_area(len(sizes), shift)))
        yield row


def _said(sizes: list[int]) -> str:
    return ", ".join(map(str, sizes)) if len(sizes) < 5 else f"{len(sizes)} x {sizes[0]}"


def log_loss(own: Array) -> Array:
    return np.asarray(-np.log(np.clip(own, 2.2e-16, 1.0)))


def brier(own: Array) -> Array:
    return np.asarray((1.0 - own) ** 2)


def loss_rows(rng: Rng, n_sets: int) -> Iterator[list[str]]:
    """Log-loss and Brier score of probabilities that are too careful, true, or too sure; classes by chance."""
    for m, n in imbalances():
        if m < fewest("log-loss"):
            continue
        for gain, said in ((0.5, "too careful"), (1.0, "true"), (2.0, "too sure")):
            row = [f"{m} of {n}", said]
            for area in (0.6, 0.9, 0.97):
                normals, share = Normals(area), m / n
                parts = [_losses(rng, normals, part, n, share, gain) for part in portions(n_sets, n)]
                for loss, found in zip((log_loss, brier), np.concatenate(parts, axis=-1), strict=True):
                    ends = mean_ends(*found, n, 0.95)
                    row.append(cell(*ends, normals.true_loss(loss, share, gain)))
            yield row


def _losses(rng: Rng, normals: Normals, n_sets: int, n: int, share: float, gain: float) -> Array:
    """(2 losses, 3 moments, sets), without sets that have too few rows of a class for an interval."""
    rare = rng.random((n_sets, n)) < share
    rare = rare[np.minimum(rare.sum(axis=1), n - rare.sum(axis=1)) >= fewest("log-loss")]
    p = normals.probabilities(rng.standard_normal(rare.shape) + normals.shift * rare, share, gain)
    own = np.where(rare, p, 1.0 - p)
    return np.stack([np.stack(moments(loss(own))) for loss in (log_loss, brier)])


def portions(n_sets: int, n: int) -> list[int]:
    """So many sets at a time that memory stays small."""
    step = max(1, PORTION // n)
    return [min(step, n_sets - begin) for begin in range(0, n_sets, step)]
