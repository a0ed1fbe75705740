"""Paired comparisons: formulas against SciPy, ties and NaN, false rejections between equal models."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, norm, ttest_1samp
from scipy.stats import t as student
from sklearn.model_selection import PredefinedSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks.studies.intervals import comparisons as study  # noqa: E402

from nearline.selection.comparison import (  # noqa: E402
    BUNDLES,
    Added,
    CorrectRows,
    added_by_rows,
    corrected_t_test,
    holm,
    indistinguishable,
    mcnemar,
)
from nearline.selection.intervals.area import areas  # noqa: E402


def test_without_overlap_it_is_the_t_test():
    D = np.random.default_rng(0).normal(size=10)
    ours, theirs = corrected_t_test(D, 0.0), ttest_1samp(D, 0.0)
    np.testing.assert_allclose((ours.statistic, ours.p_value), (theirs.statistic, theirs.pvalue))
    corrected = corrected_t_test(D, 1 / 9)
    np.testing.assert_allclose(corrected.statistic, theirs.statistic * np.sqrt(0.1 / (0.1 + 1 / 9)))
    assert corrected.p_value > ours.p_value


def test_without_variance():
    assert corrected_t_test(np.zeros(5), 0.25).p_value == 1.0
    assert corrected_t_test(np.zeros(5), 0.25).statistic == 0.0
    a, b = np.array([0.9, 0.8, 0.7, 0.6, 0.5]), np.array([0.8, 0.7, 0.6, 0.5, 0.4])
    constant = corrected_t_test(a - b, 0.25)  # 0.1 up to rounding
    assert (constant.statistic, constant.p_value) == (np.inf, 0.0)
    assert corrected_t_test(b - a, 0.25).statistic == -np.inf


@pytest.mark.parametrize("n_folds", [5, 10])
@pytest.mark.parametrize("learner", study.LEARNERS.values())
def test_equal_models_are_rarely_told_apart(n_folds, learner):
    """At most 5% and two Monte-Carlo standard errors."""
    n_sets = 1000
    scores = study.equal_models(np.random.default_rng(0), n_sets, 2, n_folds, learner, 5)
    corrected, apart, _ = study.rejections(scores)
    bound = 0.05 + 2 * np.sqrt(0.05 * 0.95 / n_sets)
    assert corrected <= bound
    assert apart <= bound


def test_simulated_learners_do_what_they_say():
    """The vectorized cross-validation of the simulation against scikit-learn's."""
    X = np.random.default_rng(0).normal(size=(1, 5, 2, 10, 3))
    X[:, :, 1] += 1.0
    fold, y, _ = np.unravel_index(np.arange(100), (5, 2, 10))
    for learner, peer in [
        (study.nearest_centroid, NearestCentroid()),
        (study.nearest_neighbor, KNeighborsClassifier(1)),
    ]:
        expected = cross_val_score(peer, X.reshape(100, 3), y, cv=PredefinedSplit(fold))
        np.testing.assert_allclose(learner(X)[0], expected)


def test_different_models_are_told_apart():
    rng = np.random.default_rng(0)
    difficulty = rng.normal(scale=0.05, size=10)
    scores = np.array([0.9, 0.9, 0.7])[:, None] + difficulty + rng.normal(scale=0.01, size=(3, 10))
    assert indistinguishable(scores, 1 / 9).tolist() == [True, True, False]


def test_holm_by_hand():
    np.testing.assert_allclose(holm([0.01, 0.02, 0.03, 0.5]), [0.04, 0.06, 0.06, 0.5])
    np.testing.assert_allclose(holm([0.5, 0.9]), [1.0, 1.0])
    assert holm([]).tolist() == []
    assert holm([0.2]).tolist() == [0.2]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.001, 0.999))
@settings(max_examples=100)
def test_holm_is_the_step_down_procedure(p, level):
    """Reject the smallest while p_(i) (m - i + 1) <= level."""
    rejected = np.zeros(len(p), dtype=bool)
    for i, at in enumerate(np.argsort(p, kind="stable")):
        if p[at] * (len(p) - i) > level:
            break
        rejected[at] = True
    np.testing.assert_array_equal(holm(p) <= level, rejected)


def test_indistinguishable_with_ties_and_nan():
    nan = float("nan")
    scores = [[0.8, 0.9, 0.7], [0.8, 0.9, 0.7], [0.9, nan, 0.9], [0.7, 0.8, 0.6]]
    assert indistinguishable(scores, 0.5).tolist() == [True, True, False, False]
    assert indistinguishable([[nan, 0.1], [0.2, nan]], 1.0).tolist() == [False, False]
    assert indistinguishable([[0.3, 0.1]], 1.0).tolist() == [True]
    assert indistinguishable([[0.0, 0.0], [0.0, 0.0]], 1.0).tolist() == [True, True]
    losses = [[-0.5, -0.6], [-0.5 - 1e-16, -0.6 - 1e-16]]  # equal up to rounding
    assert indistinguishable(losses, 1.0).tolist() == [True, True]


def test_indistinguishable_does_not_change_its_argument():
    scores = np.array([[0.8, 0.9, 0.7], [0.7, 0.9, 0.75]])
    copy = scores.copy()
    indistinguishable(scores, 0.5)
    np.testing.assert_array_equal(scores, copy)


@pytest.mark.parametrize(("only_a", "only_b"), [(0, 0), (5, 0), (3, 9), (9, 3), (6, 6), (40, 71)])
def test_mcnemar_is_a_binomial_test(only_a, only_b):
    a = np.array([1] * only_a + [0] * only_b + [1, 0] * 5, dtype=bool)
    b = np.array([0] * only_a + [1] * only_b + [1, 0] * 5, dtype=bool)
    result, mid = mcnemar(a, b), mcnemar(a, b, mid_p=True)
    assert (result.only_a, result.only_b) == (only_a, only_b)
    m = only_a + only_b
    exact = binomtest(only_a, m).pvalue if m else 1.0
    np.testing.assert_allclose(result.p_value, exact)
    np.testing.assert_allclose(mid.p_value, exact - binom.pmf(only_a, m, 0.5) if m else 1.0)
    assert mcnemar(b, a).p_value == result.p_value


def test_mcnemar_keeps_its_level():
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 1000, 200)) < 0.8
    for mid_p in (False, True):
        share = np.mean([mcnemar(x, y, mid_p=mid_p).p_value <= 0.05 for x, y in zip(a, b)])
        assert share <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 1000)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: corrected_t_test([0.1], 0.5), "at least 2 folds"),
        (lambda: corrected_t_test([0.1, np.nan], 0.5), "leave out models"),
        (lambda: corrected_t_test([0.1, 0.2], -1.0), "rows tested / rows trained on"),
        (lambda: holm([0.1, 1.2]), "between 0 and 1"),
        (lambda: indistinguishable([0.1, 0.2], 0.5), r"got shape \(2,\)"),
        (lambda: indistinguishable([[0.1, 0.2]], 0.5, level=5), "level must be between 0 and 1, got 5"),
        (lambda: mcnemar([1, 0], [1]), "2 rows and correct_b 1"),
        (lambda: mcnemar([0.5, 0], [1, 0]), "correct_a must be one-dimensional"),
    ],
)
def test_errors_say_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_hits_tell_what_few_folds_cannot():
    rng = np.random.default_rng(0)
    right = np.array([rng.random(1000) < p for p in (0.95, 0.95, 0.88)])
    hits = CorrectRows(np.packbits(right, axis=1), 1000)
    scores = right.reshape(3, 5, 200).mean(axis=2)
    scores[2] += [0.04, -0.04, 0.03, -0.03, 0.0]  # folds that differ a lot
    assert indistinguishable(scores, 0.25).tolist() == [True, True, True]
    assert indistinguishable(scores, 0.25, rows=hits).tolist() == [True, True, False]
    best, other = right[0].astype(float), right[2].astype(float)
    d = best - other
    z = d.mean() / np.sqrt(2.25 * d.var() / 1000)
    np.testing.assert_allclose(hits.p_values(0, np.array([2]), 5, 0.25), 2 * norm.sf(z))
    np.testing.assert_array_equal(hits.p_values(0, np.array([0]), 5, 0.25), 1.0)


def test_hits_of_equal_models_are_seldom_told_apart():
    rejected, n_sets, n = 0, 300, 100
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        y = rng.permutation(np.arange(n) % 2)
        X = rng.standard_normal((n, 6)) + 0.4 * y[:, None]
        right = np.zeros((2, n), bool)
        for fold in range(5):
            test = np.arange(n) % 5 == fold
            for a, part in enumerate((X[:, :3], X[:, 3:])):
                distances = ((part[test][:, None] - part[~test][None]) ** 2).sum(axis=2)
                right[a, test] = y[~test][distances.argmin(axis=1)] == y[test]
        hits = CorrectRows(np.packbits(right, axis=1), n)
        rejected += hits.p_values(0, np.array([1]), 5, 0.25)[0] < 0.05
    assert rejected <= n_sets * 0.05 + 2 * np.sqrt(n_sets * 0.05 * 0.95)


def test_added_rows_give_delongs_test_of_two_areas():
    """One fold, models as they are: the z of the difference with the covariance of both, by loops over pairs."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], [60, 25])
    scores = rng.normal(size=(2, 85)) + codes * np.array([[1.5], [0.4]]) + rng.normal(size=85)
    wins = [one[codes == 1][:, None] > one[codes == 0] for one in scores]
    d10, d01 = ((wins[0].mean(axis=k) - wins[1].mean(axis=k)) for k in (1, 0))
    variance = d10.var(ddof=0) / 25 + d01.var(ddof=0) / 60
    found = [areas(one, codes, 2) for one in scores]
    added = np.array([added_by_rows(one.mean + one.deviations, 1) for one in found])
    e = added[0] - added[1]
    np.testing.assert_allclose(np.sum(e**2), variance, rtol=1e-5)
    p = Added(np.array([[one.mean] for one in found]), added).p_values(0, np.array([1]), 1, 0.0)
    freedom = 1.5 * np.sum(e**2) ** 2 / np.sum(e**4)
    mean = wins[0].mean() - wins[1].mean()
    np.testing.assert_allclose(p, 2 * student.sf(mean / np.sqrt(variance), freedom), rtol=1e-4)


def test_added_rows_tell_what_few_folds_cannot():
    """Losses of 1,000 rows whose folds differ a lot; equal candidates and constant differences are not divided by 0."""
    rng = np.random.default_rng(0)
    losses = rng.exponential(size=1000) + np.array([[0.0], [0.0], [0.4]]) * rng.random(1000)
    losses = np.concatenate([losses, losses[:1], losses[:1] + 0.1])
    folds = losses.reshape(5, 5, 200)
    rough = np.array([0.5, -0.5, 0.4, -0.4, 0.0])
    scores = folds.mean(axis=2)
    scores[2] += rough
    added = np.array([np.concatenate([added_by_rows(rows, 5) for rows in one]) for one in folds])
    assert indistinguishable(-scores, 0.25).tolist() == [True, True, True, True, False]
    assert indistinguishable(-scores, 0.25, rows=Added(scores, added)).tolist() == [
        True,
        True,
        False,
        True,
        False,
    ]


def test_bundles_of_rows_keep_their_variance():
    rows = np.random.default_rng(0).normal(size=5 * BUNDLES + 17)
    added = added_by_rows(rows, 1)
    assert len(added) == BUNDLES
    np.testing.assert_allclose(added.sum(), 0.0, atol=1e-7)
    np.testing.assert_allclose(np.sum(np.square(added, dtype=float)), rows.var() / len(rows), rtol=0.1)


def test_equal_models_are_rarely_told_apart_by_rows():
    rng = np.random.default_rng(0)
    told = np.mean([study.rejected_by_rows(rng, 100, 20, (1.5, 1.5)) for _ in range(100)], axis=0)
    assert (told <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 100)).all()
