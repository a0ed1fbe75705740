"""python -m benchmarks.studies.intervals: coverage of the intervals and false rejections of the paired comparisons."""

import argparse
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter
from scipy.stats import norm

from nearline.selection.comparison import corrected_t_test, indistinguishable, mcnemar
from nearline.selection.intervals import Interval, accuracy_interval, bootstrap, wilson

Array = NDArray[Any]
Rng = np.random.Generator


def coverage(intervals: Iterable[Interval], truth: float) -> float:
    """Share of intervals that hold the truth; undefined ones do not."""
    return float(np.mean([truth in interval for interval in intervals]))


def independent(rng: Rng, n_sets: int, n: int, p: float) -> float:
    """Coverage of Wilson's interval; data sets with the same count share theirs."""
    counts = np.bincount(rng.binomial(n, p, size=n_sets), minlength=n + 1)
    return float(sum(c * (p in wilson(k, n)) for k, c in enumerate(counts) if c) / n_sets)


def group_sizes(n_groups: int, mean: int, spread: float) -> Array:
    """Sizes at the quantiles of a lognormal distribution; all alike for spread 0."""
    sizes = np.exp(spread * norm.ppf((np.arange(n_groups) + 0.5) / n_groups))
    return np.maximum(1, np.rint(mean * sizes / sizes.mean())).astype(np.intp)


def grouped_hits(rng: Rng, n_sets: int, sizes: Array, p: float, correlation: float) -> Array:
    """(n_sets, n): each group has its own accuracy, beta distributed about p, so that its rows are correlated."""
    a = (1.0 - correlation) / correlation
    own = rng.beta(p * a, (1.0 - p) * a, size=(n_sets, len(sizes)))
    return (rng.random((n_sets, sizes.sum())) < np.repeat(own, sizes, axis=1)).astype(float)


def time_hits(rng: Rng, n_sets: int, n: int, p: float, correlation: float) -> Array:
    """(n_sets, n): correct where an autoregressive Gaussian series of that correlation is below its p quantile."""
    noise = np.sqrt(1.0 - correlation**2) * rng.normal(size=(n_sets, n + 200))
    series = lfilter([1.0], [1.0, -correlation], noise, axis=1)[:, 200:]  # 200 rows to forget the start
    return (series < norm.ppf(p)).astype(float)


def labels_and_answers(rng: Rng, n_sets: int, n: int, share: float, recall: float, fallout: float) -> Array:
    """(n_sets, n): 2 label + answer, where labels are 1 with that share."""
    labels = rng.random((n_sets, n)) < share
    answers = rng.random((n_sets, n)) < np.where(labels, recall, fallout)
    return 2 * labels + answers


def f1(pairs: Array) -> float:
    """F1 of class 1; NaN without any."""
    _, false, missed, found = np.bincount(pairs, minlength=4).tolist()
    return 2 * found / (2 * found + false + missed) if found + false + missed else np.nan


def true_f1(share: float, recall: float, fallout: float) -> float:
    """The F1 score of infinitely many rows."""
    found = share * recall
    return 2 * found / (found + (1 - share) * fallout + share)


def mean(values: Array) -> float:
    return float(np.add.reduce(values)) / len(values)


def equal_models(
    rng: Rng,
    n_sets: int,
    n_models: int,
    n_folds: int,
    learner: Callable[[Array], Array],
    d: int,
    n: int = 100,
) -> Array:
    """(n_sets, n_models, n_folds) accuracies of one learner on sets of d features that are exchangeable."""
    shape = n_folds, 2, n // (2 * n_folds), d

    def scores() -> Array:
        parts = []
        for part in np.array_split(np.arange(n_sets), max(1, n_sets // 250)):
            X = rng.normal(size=(len(part), *shape))
            X[:, :, 1] += 1.5 / np.sqrt(d)
            parts.append(learner(X))
        return np.concatenate(parts)

    return np.stack([scores() for _ in range(n_models)], axis=1)


def nearest_centroid(X: Array) -> Array:
    """Accuracy (n_sets, folds) of X (n_sets, folds, 2 classes, rows, d), by the class centroids of the other folds."""
    sums = X.sum(axis=3)
    centroids = (sums.sum(axis=1, keepdims=True) - sums) / ((X.shape[1] - 1) * X.shape[3])
    weight = centroids[:, :, 1] - centroids[:, :, 0]
    threshold = (centroids.mean(axis=2) * weight).sum(axis=-1)
    scores = np.einsum("sfcrd,sfd->sfcr", X, weight) - threshold[:, :, None, None]
    right = (scores > 0) == np.array([False, True])[:, None]
    return np.asarray(right.mean(axis=(2, 3)))


def nearest_neighbor(X: Array) -> Array:
    """Accuracy (n_sets, folds) of X (n_sets, folds, 2 classes, rows, d), by the nearest row of the other folds."""
    n_sets, n_folds, _, size, d = X.shape
    rows = X.reshape(n_sets, -1, d)
    fold, label, _ = np.unravel_index(np.arange(rows.shape[1]), (n_folds, 2, size))
    distances = (rows**2).sum(axis=2)[:, None] - 2.0 * rows @ rows.transpose(0, 2, 1)
    distances[:, fold[:, None] == fold] = np.inf
    right = label[distances.argmin(axis=2)] == label
    return np.asarray(right.reshape(n_sets, n_folds, -1).mean(axis=2))


LEARNERS = {"nearest centroid": nearest_centroid, "nearest neighbor": nearest_neighbor}


def independent_rows(rng: Rng, n_sets: int) -> Iterator[list[str]]:
    for n in (200, 500, 2000):
        for p in (0.5, 0.7, 0.8, 0.9, 0.95):
            yield [f"{n}", f"{p:g}", f"{independent(rng, 10 * n_sets, n, p):.3f}"]


def grouped_rows(rng: Rng, n_sets: int) -> Iterator[list[str]]:
    kinds = ((5, 40, 0.0), (10, 20, 0.0), (20, 10, 0.0), (50, 10, 0.0), (20, 20, 1.0), (50, 20, 1.0))
    for n_groups, size, spread in kinds:
        sizes = group_sizes(n_groups, size, spread)
        groups = np.repeat(np.arange(n_groups), sizes)
        for p in (0.5, 0.8, 0.95):
            row = [f"{n_groups}", f"{sizes.min()} to {sizes.max()}", f"{p:g}"]
            for correlation in (0.02, 0.1, 0.4):
                hits = grouped_hits(rng, n_sets, sizes, p, correlation)
                row.append(f"{coverage((accuracy_interval(h, groups=groups) for h in hits), p):.3f}")
            yield [*row, f"{coverage((accuracy_interval(h) for h in hits), p):.3f}"]


def time_rows(rng: Rng, n_sets: int) -> Iterator[list[str]]:
    for n in (200, 1000):
        for p in (0.5, 0.8, 0.95):
            row = [f"{n}", f"{p:g}"]
            for correlation in (0.0, 0.5, 0.8, 0.9):
                hits = time_hits(rng, n_sets, n, p, correlation)
                row.append(f"{coverage((accuracy_interval(h, block='auto') for h in hits), p):.3f}")
            yield [*row, f"{coverage((accuracy_interval(h) for h in hits), p):.3f}"]


def bootstrap_coverage(
    sets: Array, score: Callable[[Array], float], truth: float, n_resamples: int, **units: Any
) -> float:
    def interval(number: int, values: Array) -> Interval:
        return bootstrap(
            lambda rows: score(values[rows]), len(values), n_resamples=n_resamples, seed=number, **units
        )

    return coverage((interval(number, values) for number, values in enumerate(sets)), truth)


def bootstrap_rows(rng: Rng, n_sets: int, n_resamples: int = 200) -> Iterator[list[str]]:
    rates = (0.3, 0.8, 0.05)
    pairs = labels_and_answers(rng, n_sets, 200, *rates)
    yield ["F1", "rows", f"{bootstrap_coverage(pairs, f1, true_f1(*rates), n_resamples):.3f}"]
    groups = np.repeat(np.arange(20), 10)
    hits = grouped_hits(rng, n_sets, group_sizes(20, 10, 0.0), 0.8, 0.1)
    share = bootstrap_coverage(hits, mean, 0.8, n_resamples, groups=groups)
    yield ["accuracy 0.8", "20 groups, correlation 0.1", f"{share:.3f}"]
    hits = time_hits(rng, n_sets, 200, 0.8, 0.5)
    share = bootstrap_coverage(hits, mean, 0.8, n_resamples, block="auto")
    yield ["accuracy 0.8", "blocks in time, correlation 0.5", f"{share:.3f}"]


def rejections(scores: Array) -> tuple[float, float, float]:
    """Of the corrected t-test, of ``indistinguishable`` and of the t-test that takes folds for independent."""
    ratio = 1.0 / (scores.shape[2] - 1)
    differences = scores[:, 0] - scores[:, 1]
    corrected = np.mean([corrected_t_test(D, ratio).p_value <= 0.05 for D in differences])
    apart = np.mean([not indistinguishable(S, ratio).all() for S in scores])
    plain = np.mean([corrected_t_test(D, 0.0).p_value <= 0.05 for D in differences])
    return float(corrected), float(apart), float(plain)


def rejection_rows(rng: Rng, n_sets: int) -> Iterator[list[str]]:
    for name, learner in LEARNERS.items():
        for n_folds in (5, 10):
            for d in (2, 10):
                shares = rejections(equal_models(rng, n_sets, 2, n_folds, learner, d))
                yield [name, f"{n_folds}", f"{d}", *(f"{share:.3f}" for share in shares)]


def many_rows(rng: Rng, n_sets: int) -> Iterator[list[str]]:
    for n_folds in (5, 10):
        scores = equal_models(rng, n_sets, 10, n_folds, nearest_centroid, 5)
        apart = np.mean([not indistinguishable(S, 1.0 / (n_folds - 1)).all() for S in scores])
        yield [f"{n_folds}", f"{apart:.3f}"]


def mcnemar_rows(rng: Rng, n_sets: int) -> Iterator[list[str]]:
    for n in (200, 1000):
        for p in (0.5, 0.8, 0.95):
            a, b = rng.random((2, n_sets, n)) < p
            exact, mid = (
                np.mean([mcnemar(x, y, mid_p=mid_p).p_value <= 0.05 for x, y in zip(a, b)])
                for mid_p in (False, True)
            )
            yield [f"{n}", f"{p:g}", f"{exact:.3f}", f"{mid:.3f}"]


TABLES: tuple[tuple[str, str, Callable[[Rng, int], Iterator[list[str]]]], ...] = (
    ("Coverage: independent rows", "rows | accuracy | Wilson", independent_rows),
    (
        "Coverage: grouped rows, by correlation within groups",
        "groups | rows each | accuracy | 0.02 | 0.1 | 0.4 | at 0.4 without groups",
        grouped_rows,
    ),
    (
        "Coverage: rows in time, by correlation of neighbors",
        "rows | accuracy | 0 | 0.5 | 0.8 | 0.9 | at 0.9 without blocks",
        time_rows,
    ),
    ("Coverage: bootstrap, 200 rows, 200 resamples", "score | units | coverage", bootstrap_rows),
    (
        "False rejections: two equal models, folds of 100 rows",
        "learner | folds | features | corrected t | indistinguishable | plain t",
        rejection_rows,
    ),
    ("False rejections: any of ten equal models is told from the best", "folds | share", many_rows),
    ("False rejections: McNemar on test rows", "rows | accuracy | exact | mid-p", mcnemar_rows),
)


def table(number: int, n_sets: int, seed: int) -> str:
    """One of the tables as Markdown."""
    title, header, rows = TABLES[number]
    lines = rows(np.random.default_rng([seed, number]), n_sets)
    head = f"### {title}\n\n| {header} |\n|{'---|' * len(header.split(' | '))}"
    return "\n".join([head, *(f"| {' | '.join(line)} |" for line in lines)])


def main(arguments: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser(prog="python -m benchmarks.studies.intervals", description=__doc__)
    p.add_argument("--sets", type=int, default=4000, help="data sets a setting (default 4000)")
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args(arguments)
    began = time.perf_counter()
    error = np.sqrt(0.05 * 0.95 / args.sets)
    print(
        f"95% intervals and 5% tests, {args.sets} simulated data sets a setting, standard error {error:.4f}."
    )
    with ProcessPoolExecutor() as pool:
        for text in pool.map(partial(table, n_sets=args.sets, seed=args.seed), range(len(TABLES))):
            print(f"\n{text}", flush=True)
    print(f"\n{time.perf_counter() - began:.0f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
