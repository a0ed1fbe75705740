"""Tables of false rejections, between equal models, of the paired comparisons."""

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.studies.intervals.populations import Array, Rng
from nearline.selection.comparison import corrected_t_test, indistinguishable, mcnemar


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


TABLES: tuple[tuple[str, str, Callable[[Rng, int], Iterator[list[str]]], float], ...] = (
    (
        "False rejections: two equal models, folds of 100 rows",
        "learner | folds | features | corrected t | indistinguishable | plain t",
        rejection_rows,
        0.8,
    ),
    ("False rejections: any of ten equal models is told from the best", "folds | share", many_rows, 0.8),
    ("False rejections: McNemar on test rows", "rows | accuracy | exact | mid-p", mcnemar_rows, 0.8),
)
