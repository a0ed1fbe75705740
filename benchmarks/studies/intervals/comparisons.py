"""Tables of false rejections, between equal models, of the paired comparisons."""

from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import expit

from benchmarks.studies.intervals.populations import Array, Rng
from nearline.predictions import Known, Predictions
from nearline.selection.comparison import Added, added_by_rows, corrected_t_test, indistinguishable, mcnemar
from nearline.selection.contributions import contributions_of
from nearline.selection.scoring import SCORERS


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


SCORES = ("balanced-accuracy", "auc", "log-loss", "brier")


def centroid_answers(X: Array, codes: Array, train: Array, test: Array) -> Predictions:
    """Two normal classes of unit variance about the centroids of the training rows."""
    means = np.stack([X[train][codes[train] == c].mean(axis=0) for c in (0, 1)])
    share = codes[train].mean()
    margin = (X[test] - means.mean(axis=0)) @ (means[1] - means[0])
    p = expit(margin + np.log(share / (1 - share)))
    return Predictions((margin > 0).astype(np.intp), 2, margin, Known(np.column_stack([1 - p, p])))


def rejected_by_rows(rng: Rng, n: int, rare: int, shifts: tuple[float, float], n_folds: int = 5) -> Array:
    """Which of :data:`SCORES` tells apart two models that learn from 3 features of their own, shifted so much."""
    codes = (np.arange(n) < rare).astype(np.intp)
    fold = np.where(codes == 1, np.arange(n), np.arange(n) - rare) % n_folds
    X = rng.standard_normal((2, n, 3)) + codes[:, None] * np.array(shifts)[:, None, None] / np.sqrt(3)
    found: dict[str, list[list[tuple[float, Array]]]] = {name: [[], []] for name in SCORES}
    for f in range(n_folds):
        test = np.flatnonzero(fold == f)
        for model in (0, 1):
            predictions = centroid_answers(X[model], codes, np.flatnonzero(fold != f), test)
            for name in SCORES:
                contributions = contributions_of(SCORERS[name])
                assert contributions is not None
                rows = contributions(predictions, codes[test], 2)
                assert rows is not None
                found[name][model].append((rows.mean(), added_by_rows(rows, n_folds)))
    p = []
    for name in SCORES:
        scores = np.array([[score for score, _ in one] for one in found[name]])
        added = np.array([np.concatenate([rows for _, rows in one]) for one in found[name]])
        p.append(Added(scores, added).p_values(0, np.array([1]), n_folds, 1 / (n_folds - 1))[0])
    return np.array(p) <= 0.05


def by_rows_rows(rng: Rng, n_sets: int) -> Iterator[list[str]]:
    for n, rare in ((100, 20), (200, 20), (500, 25), (200, 100)):
        for shifts in ((1.5, 1.5), (1.5, 0.5)):
            sets = max(1, n_sets if shifts[0] == shifts[1] else n_sets // 4)
            told = np.mean([rejected_by_rows(rng, n, rare, shifts) for _ in range(sets)], axis=0)
            kind = "equal" if shifts[0] == shifts[1] else "AUC 0.86 and 0.64"
            yield [f"{rare} of {n}", kind, *(f"{share:.3f}" for share in told)]


TABLES: tuple[tuple[str, str, Callable[[Rng, int], Iterator[list[str]]], float], ...] = (
    (
        "False rejections: two equal models, folds of 100 rows",
        "learner | folds | features | corrected t | indistinguishable | plain t",
        rejection_rows,
        0.8,
    ),
    (
        "Told apart by rows left out: two models, equal (false rejections) or not (power)",
        "rare rows | models | balanced accuracy | AUC | log-loss | Brier",
        by_rows_rows,
        0.4,
    ),
    ("False rejections: any of ten equal models is told from the best", "folds | share", many_rows, 0.8),
    ("False rejections: McNemar on test rows", "rows | accuracy | exact | mid-p", mcnemar_rows, 0.8),
)
