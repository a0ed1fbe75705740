"""Intervals of scores: formulas against scikit-learn's and SciPy's relatives, coverage on simulated rows, limits."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, binomtest, poisson
from scipy.stats import t as student

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks.studies.intervals.populations import group_sizes, grouped_hits, time_hits  # noqa: E402

from nearline.selection.intervals import Interval, accuracy_interval, share_interval, wilson  # noqa: E402
from nearline.selection.intervals.dependent import grouped_spread, time_spread, working_freedom  # noqa: E402


def coverage(intervals, truth):
    return np.mean([truth in one for one in intervals])


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (10, 10), (3, 10), (190, 200), (1, 1)])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_wilson_equals_scipy(successes, n, confidence):
    ours = wilson(successes, n, confidence)
    theirs = binomtest(successes, n).proportion_ci(confidence, method="wilson")
    np.testing.assert_allclose((ours.low, ours.high), (theirs.low, theirs.high), atol=1e-12)
    assert successes / n in ours
    assert (ours.confidence, ours.method, ours.defined) == (confidence, "Wilson", True)


@pytest.mark.parametrize("n", [5, 10, 20, 50, 100, 500])
def test_shares_are_covered_whatever_they_are(n):
    """Exact sums over all counts, where Wilson's own interval covers 84% for shares near 1."""
    ends = np.array([(one.low, one.high) for one in (share_interval(k, n) for k in range(n + 1))])
    p = np.linspace(0.5, 0.9999, 500)[:, None]
    inside = (ends[:, 0] <= p) & (p <= ends[:, 1])
    exact = (inside * binom.pmf(np.arange(n + 1), n, p)).sum(axis=1)
    assert exact.min() >= 0.934
    np.testing.assert_allclose(
        ends[::-1], 1 - ends[:, ::-1], atol=1e-12
    )  # failures are successes of the other


def test_share_ends_by_hand():
    """Student's quantile in Wilson's formula; at 3 failures of 200 the Poisson mean below which 3 or more are 5%."""
    t = student.ppf(0.975, 199)
    inside = share_interval(150, 200)
    for end in (inside.low, inside.high):
        np.testing.assert_allclose(abs(0.75 - end), t * np.sqrt(end * (1 - end) / 200))
    np.testing.assert_allclose(poisson.sf(2, 200 * (1 - share_interval(197, 200).high)), 0.05)
    assert share_interval(200, 200).high == 1.0
    assert 0.95 < share_interval(200, 200).low < 0.99
    assert share_interval(0, 200).low == 0.0


@pytest.mark.parametrize(
    ("n_groups", "size", "spread"), [(10, 20, 0.0), (20, 10, 0.0), (50, 10, 0.0), (50, 20, 1.0)]
)
@pytest.mark.parametrize("p", [0.5, 0.8, 0.95])
def test_grouped_intervals_cover(n_groups, size, spread, p):
    """Within 93% to 97% up to two Monte-Carlo standard errors (0.01 for 500 sets); ignoring groups does not."""
    rng = np.random.default_rng(0)
    sizes = group_sizes(n_groups, size, spread)
    groups = np.repeat(np.arange(n_groups), sizes)
    hits = grouped_hits(rng, 500, sizes, p, 0.05)
    share = coverage((accuracy_interval(h, groups=groups) for h in hits), p)
    assert 0.93 - 0.02 <= share <= 0.97 + 0.02
    assert coverage((accuracy_interval(h) for h in hits), p) < share


@pytest.mark.parametrize("n", [200, 1000])
@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.8])
def test_time_intervals_cover(n, correlation):
    hits = time_hits(np.random.default_rng(0), 500, n, 0.8, correlation)
    share = coverage((accuracy_interval(h, block="auto") for h in hits), 0.8)
    assert 0.93 - 0.02 <= share <= 0.97 + 0.02
    if correlation == 0.8:
        assert coverage((accuracy_interval(h) for h in hits), 0.8) < 0.8


def test_mistakes_that_fill_whole_groups_are_covered():
    """Accuracy 0.95 with a correlation of 0.4 within groups covered 88% when 20 groups counted as 19 degrees of freedom."""
    sizes = group_sizes(20, 20, 0.0)
    groups = np.repeat(np.arange(20), sizes)
    hits = grouped_hits(np.random.default_rng(1), 1500, sizes, 0.95, 0.4)
    assert coverage((accuracy_interval(h, groups=groups) for h in hits), 0.95) >= 0.93


def test_grouped_variance_is_the_textbook_one():
    """Of groups of one size it is that of the group means, with groups - 1 degrees of freedom."""
    hits = np.array([3.0, 9.0, 7.0, 5.0, 6.0])
    rows = np.concatenate([np.repeat([1.0, 0.0], [k, 10 - k]) for k in hits.astype(int)])
    numbers = np.repeat(np.arange(5), 10)
    spread = grouped_spread(rows - rows.mean(), numbers)
    np.testing.assert_allclose(spread.variance, np.var(hits / 10, ddof=1) / 5)
    np.testing.assert_allclose(working_freedom(np.full(5, 10)), 4.0)
    e = hits - 10 * rows.mean()
    np.testing.assert_allclose(spread.freedom, min(4.0, 1.5 * (e**2).sum() ** 2 / (e**4).sum()))


def test_degrees_of_freedom_are_those_of_the_quadratic_form():
    """tr(A B)^2 / tr(A B A B), with the matrices written out."""
    sizes = np.array([1, 5, 30, 12, 7, 3])
    n = sizes.sum()
    V = np.diag(sizes * (1 + 0.02 * (sizes - 1.0)))
    residual = np.eye(6) - np.outer(sizes / n, np.ones(6))
    AB = np.diag(1 / (1 - sizes / n)) @ residual @ V @ residual.T
    freedom = working_freedom(sizes)
    np.testing.assert_allclose(freedom, np.trace(AB) ** 2 / np.trace(AB @ AB))
    assert freedom < 5


def test_cosine_variance_by_hand():
    hits = np.random.default_rng(0).integers(2, size=50).astype(float)
    i, n = np.arange(50), 50
    waves = [
        np.sqrt(2) / n * np.sum(np.cos(np.pi * j * (i + 0.5) / n) * (hits - hits.mean()))
        for j in (1, 2, 3, 4)
    ]
    np.testing.assert_allclose(time_spread(hits - hits.mean(), 4).variance, np.mean(np.square(waves)))


def test_interval_does_not_depend_on_the_order_or_names_of_groups():
    rng = np.random.default_rng(0)
    groups = rng.integers(12, size=200)
    correct = rng.random(200) < 0.8
    order = rng.permutation(200)
    names = np.array(list("lkjihgfedcba"))
    a = accuracy_interval(correct, groups=groups)
    b = accuracy_interval(correct[order], groups=names[groups[order]])
    np.testing.assert_allclose((a.low, a.high), (b.low, b.high))
    assert a.method == "logit t, by groups"


def test_groups_of_one_row_are_independent_rows():
    correct = np.arange(50) % 5 > 0
    assert (
        accuracy_interval(correct, groups=np.arange(50))
        == accuracy_interval(correct)
        == share_interval(40, 50)
    )


def test_no_mistake_counts_groups_not_rows():
    groups = np.repeat(np.arange(10), 100)
    interval = accuracy_interval(np.ones(1000), groups=groups)
    assert (interval.low, interval.high) == (share_interval(10, 10).low, 1.0)
    assert interval.method == "Wilson t, by groups"
    wrong = accuracy_interval(np.zeros(1000), block=100)
    assert (wrong.low, wrong.high) == (0.0, share_interval(0, 10).high)
    alike = accuracy_interval(np.tile([1, 1, 1, 0], 250), groups=groups)  # each group has the same share
    assert alike.low < 0.5 < 0.9 < alike.high


def test_undefined_intervals_say_why():
    for interval, reason in [
        (wilson(0, 0), "no rows"),
        (accuracy_interval([]), "at least 2 rows, there are 0"),
        (accuracy_interval([1, 0, 1], groups=[7, 7, 7]), "1 groups of test rows do not show"),
        (accuracy_interval([1, 0] * 9, groups=np.arange(18) // 2), "9 groups of test rows do not show"),
        (accuracy_interval([1, 0, 1], block=2), "fewer than 2 blocks"),
    ]:
        assert not interval.defined
        assert reason in str(interval)
        assert np.isnan(interval.low)
        assert 0.5 not in interval


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
        (lambda: share_interval(5, 4), "successes must be between 0 and n = 4, got 5"),
    ],
)
def test_errors_say_what_to_do(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_intervals_are_frozen():
    with pytest.raises(AttributeError):
        Interval(0.0, 1.0, 0.95, "none").low = 0.5


def test_ends_are_shown_apart_with_level_and_method():
    assert Interval(0.99999, 1.0, 0.95, "Wilson t").said() == "95% interval 0.99999 to 1.00000, Wilson t"
    assert accuracy_interval(np.ones(10**6)).bounds() != "1.0000 to 1.0000"
    assert (
        Interval(np.nan, np.nan, 0.95, "none", "there are too few").said() == "no interval: there are too few"
    )
