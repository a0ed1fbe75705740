"""Intervals of scores: formulas against scikit-learn's and SciPy's relatives, coverage on simulated rows, limits."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import roc_auc_score

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks.studies import intervals as study  # noqa: E402

from nearline.selection.intervals import (  # noqa: E402
    Interval,
    _cosine_variance,
    _grouped_variance,
    accuracy_interval,
    bootstrap,
    wilson,
)


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (10, 10), (3, 10), (190, 200), (1, 1)])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_wilson_equals_scipy(successes, n, confidence):
    ours = wilson(successes, n, confidence)
    theirs = binomtest(successes, n).proportion_ci(confidence, method="wilson")
    np.testing.assert_allclose((ours.low, ours.high), (theirs.low, theirs.high), atol=1e-12)
    assert successes / n in ours
    assert (ours.confidence, ours.method, ours.defined) == (confidence, "Wilson", True)


@pytest.mark.parametrize("n", [200, 500, 2000])
@pytest.mark.parametrize("p", [0.5, 0.7, 0.8, 0.9, 0.95])
def test_wilson_covers(n, p):
    share = study.independent(np.random.default_rng(0), 20_000, n, p)
    assert 0.93 <= share <= 0.97


@pytest.mark.parametrize(
    ("n_groups", "size", "spread"), [(10, 20, 0.0), (20, 10, 0.0), (50, 10, 0.0), (50, 20, 1.0)]
)
@pytest.mark.parametrize("p", [0.5, 0.8, 0.95])
def test_grouped_intervals_cover(n_groups, size, spread, p):
    """Within 93% to 97% up to two Monte-Carlo standard errors (0.01 for 500 sets); ignoring groups does not."""
    rng = np.random.default_rng(0)
    sizes = study.group_sizes(n_groups, size, spread)
    groups = np.repeat(np.arange(n_groups), sizes)
    hits = study.grouped_hits(rng, 500, sizes, p, 0.05)
    share = study.coverage((accuracy_interval(h, groups=groups) for h in hits), p)
    assert 0.93 - 0.02 <= share <= 0.97 + 0.02
    assert study.coverage((accuracy_interval(h) for h in hits), p) < share


@pytest.mark.parametrize("n", [200, 1000])
@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.8])
def test_time_intervals_cover(n, correlation):
    hits = study.time_hits(np.random.default_rng(0), 500, n, 0.8, correlation)
    share = study.coverage((accuracy_interval(h, block="auto") for h in hits), 0.8)
    assert 0.93 - 0.02 <= share <= 0.97 + 0.02
    if correlation == 0.8:
        assert study.coverage((accuracy_interval(h) for h in hits), 0.8) < 0.8


def test_bootstrap_covers():
    rng = np.random.default_rng(0)
    rates = (0.3, 0.8, 0.05)
    pairs = study.labels_and_answers(rng, 200, 200, *rates)
    assert study.bootstrap_coverage(pairs, study.f1, study.true_f1(*rates), 200) > 0.9
    hits = study.grouped_hits(rng, 200, study.group_sizes(20, 10, 0.0), 0.8, 0.1)
    groups = np.repeat(np.arange(20), 10)
    assert study.bootstrap_coverage(hits, study.mean, 0.8, 200, groups=groups) > 0.9


def test_grouped_variance_is_the_textbook_one():
    """Of groups of one size it is that of the group means, with groups - 1 degrees of freedom."""
    hits = np.array([3.0, 9.0, 7.0, 5.0, 6.0])
    variance, freedom = _grouped_variance(hits, np.full(5, 10))
    np.testing.assert_allclose(variance, np.var(hits / 10, ddof=1) / 5)
    np.testing.assert_allclose(freedom, 4.0)


def test_degrees_of_freedom_are_those_of_the_quadratic_form():
    """tr(A B)^2 / tr(A B A B), with the matrices written out."""
    sizes = np.array([1, 5, 30, 12, 7, 3])
    n = sizes.sum()
    V = np.diag(sizes * (1 + 0.02 * (sizes - 1.0)))
    residual = np.eye(6) - np.outer(sizes / n, np.ones(6))
    AB = np.diag(1 / (1 - sizes / n)) @ residual @ V @ residual.T
    _, freedom = _grouped_variance(np.ones(6), sizes)
    np.testing.assert_allclose(freedom, np.trace(AB) ** 2 / np.trace(AB @ AB))
    assert freedom < 5


def test_cosine_variance_by_hand():
    hits = np.random.default_rng(0).integers(2, size=50).astype(float)
    i, n = np.arange(50), 50
    waves = [
        np.sqrt(2) / n * np.sum(np.cos(np.pi * j * (i + 0.5) / n) * (hits - hits.mean()))
        for j in (1, 2, 3, 4)
    ]
    np.testing.assert_allclose(_cosine_variance(hits, 4), np.mean(np.square(waves)))


def test_interval_does_not_depend_on_the_order_or_names_of_groups():
    rng = np.random.default_rng(0)
    groups = rng.integers(12, size=200)
    correct = rng.random(200) < 0.8
    order = rng.permutation(200)
    names = np.array(list("lkjihgfedcba"))
    a = accuracy_interval(correct, groups=groups)
    b = accuracy_interval(correct[order], groups=names[groups[order]])
    np.testing.assert_allclose((a.low, a.high), (b.low, b.high))
    assert a.method == "logit t (grouped)"


def test_groups_of_one_row_are_independent_rows():
    correct = np.arange(50) % 5 > 0
    assert accuracy_interval(correct, groups=np.arange(50)) == accuracy_interval(correct) == wilson(40, 50)


def test_no_mistake_counts_groups_not_rows():
    groups = np.repeat(np.arange(10), 100)
    interval = accuracy_interval(np.ones(1000), groups=groups)
    assert (interval.low, interval.high) == (wilson(10, 10).low, 1.0)
    assert interval.method == "Wilson (grouped)"
    wrong = accuracy_interval(np.zeros(1000), block=100)
    assert (wrong.low, wrong.high) == (0.0, wilson(0, 10).high)
    alike = accuracy_interval(np.tile([1, 1, 1, 0], 250), groups=groups)  # each group has the same share
    assert alike.low < 0.5 < 0.9 < alike.high


def test_undefined_intervals_say_why():
    for interval, reason in [
        (wilson(0, 0), "no rows"),
        (accuracy_interval([]), "no rows"),
        (accuracy_interval([1, 0, 1], groups=[7, 7, 7]), "1 group does not show"),
        (accuracy_interval([1, 0, 1], block=2), "fewer than 2 blocks"),
        (bootstrap(lambda rows: 0.5, 3, groups=["a"] * 3), "hardly more than one"),
        (bootstrap(lambda rows: 0.5, 1), "hardly more than one"),
        (bootstrap(lambda rows: np.nan, 10, n_resamples=50), "50 of 50 resamples have no score"),
    ]:
        assert not interval.defined
        assert reason in str(interval)
        assert np.isnan(interval.low)
        assert 0.5 not in interval


def test_degenerate_resamples_are_dropped_and_counted():
    y = np.zeros(20, dtype=int)
    y[:2] = 1
    scores = np.linspace(1, 0, 20)
    interval = bootstrap(lambda rows: roc_auc_score(y[rows], scores[rows]), 20, n_resamples=300)
    absent = sum(
        not y[np.random.default_rng(0).integers(20, size=(300, 20))][i].any() for i in range(300)
    )  # the same draws at once
    assert interval.dropped == absent > 0
    assert (interval.low, interval.high) == (1.0, 1.0)


def test_bootstrap_repeats_with_its_seed():
    values = np.random.default_rng(0).normal(size=60)

    def score(rows):
        return float(np.median(values[rows]))

    for units in ({}, {"groups": np.arange(60) // 4}, {"block": 5}, {"block": "auto"}):
        first, again = (bootstrap(score, 60, n_resamples=100, seed=3, **units) for _ in range(2))
        assert first == again
        assert bootstrap(score, 60, n_resamples=100, seed=4, **units) != first
        assert np.median(values) in first


def test_bootstrap_draws_whole_groups_and_runs_of_rows():
    groups = np.array([0, 1, 0, 1, 2, 2, 2])

    def whole(rows):
        counts = np.bincount(rows, minlength=7)
        assert all(len(set(counts[groups == g])) == 1 for g in range(3))
        return 0.0

    bootstrap(whole, 7, groups=groups, n_resamples=50)

    def runs(rows):
        assert len(rows) == 20
        steps = np.diff(rows.reshape(4, 5), axis=1) % 20
        assert (steps == 1).all()
        return 0.0

    assert bootstrap(runs, 20, block=5, n_resamples=50).method == "bootstrap of blocks"


def test_bootstrap_of_many_rows_is_near_the_normal_interval():
    values = np.random.default_rng(0).normal(size=400)
    interval = bootstrap(lambda rows: values[rows].mean(), 400, n_resamples=4000)
    half = 1.96 * values.std() / 20
    np.testing.assert_allclose(
        (interval.low, interval.high), values.mean() + np.array([-half, half]), atol=0.01
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wilson(5, 4), "successes must be between 0 and n = 4, got 5"),
        (lambda: wilson(1, 4, 95), "confidence must be between 0 and 1, got 95"),
        (lambda: accuracy_interval([0.3, 1.0]), "give predicted == y"),
        (lambda: accuracy_interval([[1, 0]]), r"got shape \(1, 2\)"),
        (lambda: accuracy_interval([1, 0], groups=[1]), "one label for each of the 2 rows"),
        (lambda: accuracy_interval([1, 0], groups=[1, 2], block=1), "choose one"),
        (lambda: accuracy_interval([1, 0], block=3), "between 1 and 2, got 3"),
        (lambda: accuracy_interval([1, 0], block=True), "got True"),
        (lambda: bootstrap(lambda rows: 0.0, 5, n_resamples=0), "at least 1, got 0"),
    ],
)
def test_errors_say_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_intervals_are_frozen():
    with pytest.raises(AttributeError):
        Interval(0.0, 1.0, 0.95, "none").low = 0.5


def test_the_study_makes_its_tables():
    for number in (0, 5):
        assert study.table(number, 20, 0).count("\n") >= 5
