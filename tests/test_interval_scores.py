"""Intervals of scores other than the accuracy: formulas against loops and closed forms, coverage, when there are none."""

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binom, multivariate_normal, norm, skew
from scipy.stats import t as student
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks.studies.intervals import __main__ as study  # noqa: E402
from benchmarks.studies.intervals.independent import _losses, brier, log_loss  # noqa: E402
from benchmarks.studies.intervals.populations import (  # noqa: E402
    Normals,
    PartlyLost,
    area_and_variance,
    several_classes,
    true_area,
)

from nearline.predictions import Known, Predictions  # noqa: E402
from nearline.selection.contributions import CONTRIBUTIONS, contributions_of  # noqa: E402
from nearline.selection.intervals.area import (  # noqa: E402
    RARE,
    area_ends,
    areas,
    flawless_end,
    mean_normal_variance,
    normal_variance,
    placements,
)
from nearline.selection.intervals.balanced import balanced_ends  # noqa: E402
from nearline.selection.intervals.means import mean_ends, moments  # noqa: E402
from nearline.selection.intervals.of_scores import METHODS, Sample, interval_of  # noqa: E402
from nearline.selection.intervals.shares import share_ends, share_interval  # noqa: E402
from nearline.selection.scoring import SCORERS, as_scorers, scorers_for  # noqa: E402

Z = norm.ppf(0.975)


def predictions_of(rng, codes, n_classes):
    scores = rng.normal(size=(len(codes), n_classes)) + 1.5 * np.eye(n_classes)[codes]
    P = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return Predictions(scores.argmax(axis=1), n_classes, None, Known(P))


def test_balanced_accuracy_recovers_the_variance_of_each_end():
    low, high = balanced_ends([12, 70, 30], [15, 85, 30], 0.95)
    shares = np.array([12 / 15, 70 / 85, 1.0])
    ends = np.array([share_ends(k, n, Z, 0.95) for k, n in ((12, 15), (70, 85), (30, 30))])
    rows = 9 / (1 / 15 + 1 / 85 + 1 / 30)
    pooled = share_ends(shares.mean() * rows, rows, Z, 0.95)
    mover = shares.mean() - np.sqrt(np.sum((shares - ends[:, 0]) ** 2)) / 3
    np.testing.assert_allclose(low, min(mover, pooled[0]))
    mover = shares.mean() + np.sqrt(np.sum((ends[:, 1] - shares) ** 2)) / 3
    np.testing.assert_allclose(high, max(mover, pooled[1]))


def test_balanced_accuracy_of_ten_classes_is_covered():
    """Three mistakes in ten classes of 30 rows are too few in each: the classes' intervals alone cover 91%."""
    found = np.random.default_rng(0).binomial(30, 0.99, size=(5000, 10))
    low, high = balanced_ends(found, np.full(10, 30), 0.95)
    assert np.mean((low <= 0.99) & (high >= 0.99)) >= 0.93


def test_balanced_accuracy_without_a_mistake():
    assert balanced_ends([15, 85], [15, 85], 0.95)[1] == 1.0
    assert balanced_ends([15, 85], [15, 85], 0.95)[0] < 0.95


@pytest.mark.parametrize(("m", "n"), [(10, 90), (15, 85), (40, 160), (50, 50)])
@pytest.mark.parametrize("recalls", [(0.6, 0.6), (0.9, 0.9), (0.9, 0.99), (0.99, 0.99)])
def test_balanced_accuracy_is_covered(m, n, recalls):
    """Exact sums over the counts of both classes; the percentile bootstrap covered 63% to 82% with 5 rows of a class."""
    found = np.stack(np.meshgrid(np.arange(m + 1), np.arange(n + 1), indexing="ij"), axis=-1)
    low, high = balanced_ends(found, np.array([m, n]), 0.95)
    chance = np.outer(*(binom.pmf(np.arange(k + 1), k, p) for k, p in zip((m, n), recalls, strict=True)))
    exact = (chance * ((low <= np.mean(recalls)) & (np.mean(recalls) <= high))).sum()
    assert exact >= 0.93
    assert exact <= 0.98 or m < 30


def delong(scores, positive):
    """DeLong's variance by loops over pairs."""
    a, b = scores[positive], scores[~positive]
    wins = (a[:, None] > b) + 0.5 * (a[:, None] == b)
    return wins.mean(), wins.mean(axis=1).var(ddof=1) / len(a) + wins.mean(axis=0).var(ddof=1) / len(b), wins


@given(st.integers(0, 1000), st.booleans())
def test_area_and_variance_are_delongs(seed, ties):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat([0, 1], [30, 8]))
    scores = rng.normal(size=38) + codes
    if ties:
        scores = np.round(scores)
    found = areas(scores, codes, 2)
    area, variance, wins = delong(scores, codes == 1)
    np.testing.assert_allclose((found.mean, found.variance), (area, variance))
    np.testing.assert_allclose(found.mean, roc_auc_score(codes, scores))
    place = placements(scores, codes == 1)
    np.testing.assert_allclose(place[codes == 1], wins.mean(axis=1))
    np.testing.assert_allclose(place[codes == 0], wins.mean(axis=0))
    if not ties:
        order = np.argsort(-codes, kind="stable")
        vectorized = area_and_variance(scores[order][None], 8)
        np.testing.assert_allclose(vectorized[1][0], variance)
        np.testing.assert_allclose(vectorized[2][0], found.freedom)


def test_areas_of_several_classes_carry_their_covariances():
    """The variance of the macro mean against that of many draws; without covariances it is far off."""
    rng = np.random.default_rng(0)
    sizes = np.array([30, 40, 50])
    draws = [several_classes(rng, sizes, 1.2) for _ in range(400)]
    found = [areas(scores, codes, 3) for scores, codes in draws]
    scores, codes = draws[0]
    one = np.mean([roc_auc_score(codes == c, scores[:, c]) for c in range(3)])
    np.testing.assert_allclose(found[0].mean, one)
    true = np.var([one.mean for one in found])
    assert 0.8 * true < np.mean([one.variance for one in found]) < 1.25 * true
    apart = [sum(delong(s[:, c], k == c)[1] for c in range(3)) / 9 for s, k in draws[:50]]
    assert abs(np.mean(apart) / true - 1) > abs(np.mean([one.variance for one in found]) / true - 1)


def test_normal_variance_is_that_of_two_normal_classes():
    """xi by the bivariate normal distribution function."""
    A, m, n = 0.9, 12, 60
    z = norm.ppf(A)
    xi = [multivariate_normal.cdf([z, z], cov=[[1, r], [r, 1]]) - A**2 for r in (RARE, 1 - RARE)]
    expected = (A * (1 - A) + (n - 1) * xi[0] + (m - 1) * xi[1]) / (m * n)
    np.testing.assert_allclose(normal_variance(A, m, n), expected, rtol=1e-4)
    np.testing.assert_allclose(normal_variance(A, m, n), normal_variance(1 - A, n, m))


def test_area_ends_solve_their_equation():
    least = mean_normal_variance(np.array([60, 12]))
    for area, variance, f in (
        (0.8, 1e-9, 3.0),
        (0.8, 0.01, 1.0),
        (1.0, 0.0, 1.0),
        (0.0, 0.0, 1.0),
        (0.5, 0.003, 40.0),
    ):
        low, high = area_ends(area, variance, least, 0.95, f)
        r = variance / float(least(area)) if 0 < area < 1 else 1.0
        shown, eight_more = (
            (student.ppf(0.975, f) / Z) ** 2 * r,
            (student.ppf(0.975, f + 8) / Z) ** 2 * (8 + f * r) / (8 + f),
        )
        k = max(shown, eight_more) if 0 < area < 1 else 1.0
        for end, side in ((low, 1e-12), (high, 1 - 1e-12)):
            if (area == 0 and side < 0.5) or (area == 1 and side > 0.5):
                assert end == area
                continue

            def gap(A, area=area, k=k):
                return (A - area) ** 2 - Z**2 * k * float(least(A))

            root = brentq(gap, side, area + (side - area) * 1e-9)
            np.testing.assert_allclose(end, root, atol=1e-9)
    assert 0.7 < area_ends(1.0, 0.0, least, 0.95)[0] < 0.98


@pytest.mark.parametrize(("m", "n"), [(10, 90), (15, 485), (40, 160)])
@pytest.mark.parametrize("area", [0.75, 0.9, 0.99])
def test_area_is_covered(m, n, area):
    """The percentile bootstrap covered 54% to 63% with 5 rows of a class."""
    rng = np.random.default_rng(0)
    found = area_and_variance(Normals(area).draw(rng, 2000, m, n), m)
    low, high = area_ends(*found[:2], mean_normal_variance(np.array([m, n])), 0.95, found[2])
    share = np.mean((low <= area) & (area <= high))
    assert share >= 0.93
    assert share <= 0.98 + 0.006 or m < 30  # two standard errors of 2,000 sets
    assert (low < high).all()


def test_area_of_several_classes_is_covered():
    rng = np.random.default_rng(0)
    sizes, shift = np.array([15, 30, 60]), 2.5
    found = np.array(
        [
            (a.mean, a.variance, a.freedom)
            for a in (areas(*several_classes(rng, sizes, shift), 3) for _ in range(400))
        ]
    )
    low, high = area_ends(*found.T[:2], mean_normal_variance(sizes), 0.95, found.T[2])
    assert np.mean((low <= true_area(3, shift)) & (true_area(3, shift) <= high)) >= 0.93


@pytest.mark.parametrize(
    ("m", "n", "lost"), [(15, 300, 0.02), (15, 300, 0.1), (10, 10, 0.02), (100, 400, 0.02), (40, 160, 0.05)]
)
def test_area_is_covered_where_some_rows_are_lost_altogether(m, n, lost):
    """Positive rows that score as the others do, the rest far above: where none of them is met, the area is 1.

    The normal quantile covered 87% to 92%; the variance of normal classes alone 81% with 100 rows of which 2% are lost.
    """
    population, sizes = PartlyLost(lost), np.array([m, n])
    found = area_and_variance(population.draw(np.random.default_rng(0), 2000, m, n), m)
    low, high = area_ends(*found[:2], mean_normal_variance(sizes), 0.95, found[2], flawless_end(sizes, 0.95))
    assert np.mean((low <= population.area) & (population.area <= high)) >= 0.935


def test_flawless_areas_reach_as_far_as_no_lost_row_allows():
    """With a share q of m rows lost none of them shows with probability (1 - q)^m, which is the tail at the end."""
    for m, n in ((40, 160), (160, 40)):
        q = 2.0 * (1.0 - flawless_end(np.array([m, n]), 0.95))
        assert (1.0 - q) ** 40 == pytest.approx(0.025, rel=0.2)
    least = mean_normal_variance(np.array([100, 400]))
    end = flawless_end(np.array([100, 400]), 0.95)
    assert area_ends(1.0, 0.0, least, 0.95, 1.0, end) == (end, 1.0)
    assert area_ends(0.0, 0.0, least, 0.95, 1.0, end) == (0.0, pytest.approx(1.0 - end))
    thirds = flawless_end(np.array([100, 200, 300]), 0.95)  # the mean over classes moves by a third of it
    assert 3.0 * (1.0 - thirds) == pytest.approx(1.0 - end)


@pytest.mark.parametrize("name", ["log-loss", "brier"])
def test_losses_of_few_rows_have_no_interval(name):
    rng = np.random.default_rng(0)
    for n in (98, 100):
        codes = np.arange(n) % 2
        found = interval_of(SCORERS[name], predictions_of(rng, codes, 2), Sample(codes, np.arange(2)))
        assert (found.reason is None) == (n == 100)
        assert n == 100 or "98 test rows, an interval of this score needs 100" in found.reason


def test_losses_that_show_no_spread_have_no_interval():
    codes, classes = np.repeat([0, 1], 50), np.arange(2)
    sure = np.eye(2)[codes]
    reasons = [
        interval_of(SCORERS[name], Predictions(codes, 2, None, Known(P)), Sample(codes, classes)).reason or ""
        for P in (sure, np.full((100, 2), 0.5))
        for name in ("log-loss", "brier")
    ]
    assert all("all rows have the same loss" in reason for reason in reasons)


def test_log_losses_of_probabilities_of_zero_have_no_interval():
    """Votes of 5 neighbors: a wrong row that all of them outvote costs 36, and 200 rows often have none."""
    rng = np.random.default_rng(0)
    codes, classes = np.repeat([0, 1], 100), np.arange(2)
    votes = rng.choice([0.8, 1.0], size=200)
    P = np.where(np.eye(2)[codes] == 1, votes[:, None], 1 - votes[:, None])
    predictions = Predictions(codes, 2, None, Known(P))
    assert "probabilities of 0" in (
        interval_of(SCORERS["log-loss"], predictions, Sample(codes, classes)).reason or ""
    )
    assert interval_of(SCORERS["brier"], predictions, Sample(codes, classes)).defined


def test_mean_ends_undo_halls_correction():
    rng = np.random.default_rng(0)
    values = rng.exponential(size=80)
    mean, deviation, g = moments(values)
    np.testing.assert_allclose((mean, deviation, g), (values.mean(), values.std(ddof=1), skew(values)))
    ends = mean_ends(mean, deviation, g, 80, 0.95)
    t, root = student.ppf(0.975, 79), np.sqrt(80)
    for end, y in zip(ends, (t, -t), strict=True):
        T = (mean - end) * root / deviation
        np.testing.assert_allclose(T + g / (3 * root) * T**2 + g**2 / (27 * 80) * T**3 + g / (6 * root), y)
    symmetric = mean_ends(0.5, 0.1, 0.0, 100, 0.95)
    np.testing.assert_allclose(symmetric, 0.5 + 0.01 * student.ppf(0.975, 99) * np.array([-1, 1]), rtol=1e-6)


@pytest.mark.parametrize("gain", [0.5, 1.0, 2.0])
def test_losses_are_covered(gain):
    """Of 100 rows and AUC 0.97, where Student's interval covers 88% to 93%; truth by integration."""
    normals = Normals(0.97)
    found = _losses(np.random.default_rng(0), normals, 2000, 100, 0.5, gain)
    for loss, three in zip((log_loss, brier), found, strict=True):
        low, high = mean_ends(*three, 100, 0.95)
        truth = normals.true_loss(loss, 0.5, gain)
        assert np.mean((low <= truth) & (truth <= high)) >= 0.93


@pytest.mark.parametrize("name", [name for name in SCORERS if SCORERS[name].score in CONTRIBUTIONS])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_contributions_have_the_score_as_their_mean(name, n_classes):
    rng = np.random.default_rng(n_classes)
    codes = rng.permutation(np.arange(120) % n_classes)
    predictions = predictions_of(rng, codes, n_classes)
    rows = contributions_of(SCORERS[name])(predictions, codes, n_classes)
    score = SCORERS[name](predictions, codes, np.arange(n_classes))
    np.testing.assert_allclose(rows.mean(), score)
    interval = interval_of(SCORERS[name], predictions, Sample(codes, np.arange(n_classes)))
    assert interval.low < score < interval.high
    # What a row adds is what the score loses without it, to first order.
    without = [
        SCORERS[name](
            predictions.some(np.delete(np.arange(120), i)), np.delete(codes, i), np.arange(n_classes)
        )
        for i in range(0, 120, 7)
    ]
    added = 120 * score - 119 * np.array(without)
    np.testing.assert_allclose(added - score, (rows - rows.mean())[::7], atol=0.05)


def test_scores_by_groups_and_in_time_are_wider_where_rows_are_alike():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(400) % 2, 1)
    own = np.repeat(rng.normal(size=20), 20)
    scores = codes + own + 0.5 * rng.normal(size=400)
    P = 1 / (1 + np.exp(-scores))
    predictions = Predictions((scores > 0.5).astype(int), 2, scores, Known(np.column_stack([1 - P, P])))
    for name in ("balanced-accuracy", "auc", "log-loss", "brier"):
        plain = interval_of(SCORERS[name], predictions, Sample(codes, np.arange(2)))
        groups = interval_of(
            SCORERS[name], predictions, Sample(codes, np.arange(2), groups=np.arange(400) // 20)
        )
        time = interval_of(SCORERS[name], predictions, Sample(codes, np.arange(2), in_time=True))
        score = SCORERS[name](predictions, codes, np.arange(2))
        assert score in groups
        assert score in time
        assert groups.method.endswith("by groups")
        assert time.method.endswith("in time")
        assert groups.defined
        assert plain.defined
    few = interval_of(SCORERS["auc"], predictions, Sample(codes, np.arange(2), groups=np.arange(400) // 50))
    assert "8 groups of test rows do not show" in few.reason


def test_what_was_not_measured_is_not_printed():
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], [93, 7])
    predictions = predictions_of(rng, codes, 2)
    classes = np.array(["no", "yes"])
    for name, fewest in (("balanced-accuracy", 10), ("auc", 10), ("log-loss", 15), ("brier", 15)):
        interval = interval_of(SCORERS[name], predictions, Sample(codes, classes))
        assert (
            interval.reason
            == f"class 'yes' has 7 test rows, an interval of this score needs {fewest} of each class"
        )
    assert interval_of(SCORERS["accuracy"], predictions, Sample(codes, classes)).defined
    (foreign,), _ = scorers_for("jaccard", classes, codes, "yes")
    assert "has not been measured" in interval_of(foreign, predictions, Sample(codes, classes)).reason
    (own,) = as_scorers(lambda model, X, y: balanced_accuracy_score(y, model.predict(X)))
    assert "has not been measured" in interval_of(own, predictions, Sample(codes, classes)).reason
    weights = rng.uniform(0.5, 2, size=100)
    weighted = interval_of(SCORERS["accuracy"], predictions, Sample(codes, classes, weights))
    assert SCORERS["accuracy"](predictions, codes, classes, weights) in weighted
    few = Predictions(predictions.labels, 2)
    assert interval_of(SCORERS["auc"], few, Sample(codes[::-1].copy(), classes)).reason


def test_what_is_measured_by_groups_has_contributions():
    assert {score for score, method in METHODS.items() if method.dependent} <= set(CONTRIBUTIONS)


def test_precision_recall_f1_and_top_k_are_shares():
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.repeat([0, 1], [80, 40]))
    predictions = predictions_of(rng, codes, 2)
    for positive in (0, 1):
        scorers, _ = scorers_for(["precision", "recall", "f1"], np.arange(2), codes, positive)
        found = np.sum((predictions.labels == positive) & (codes == positive))
        called, there = np.sum(predictions.labels == positive), np.sum(codes == positive)
        own = [interval_of(one, predictions, Sample(codes, np.arange(2))) for one in scorers]
        assert own[0] == share_interval(found, called)
        assert own[1] == share_interval(found, there)
        J = share_interval(found, called + there - found)
        np.testing.assert_allclose(
            (own[2].low, own[2].high), [2 * J.low / (1 + J.low), 2 * J.high / (1 + J.high)]
        )
        for one, interval in zip(scorers, own, strict=True):
            assert one(predictions, codes, np.arange(2)) in interval
    codes = rng.permutation(np.arange(120) % 4)
    predictions = predictions_of(rng, codes, 4)
    sample = Sample(codes, np.arange(4))
    top = SCORERS["top-2"](predictions, codes, np.arange(4))
    assert interval_of(SCORERS["top-2"], predictions, sample) == share_interval(round(120 * top), 120)
    balanced = interval_of(SCORERS["balanced-accuracy"], predictions, sample)
    assert interval_of(SCORERS["recall"], predictions, sample) == balanced
    assert SCORERS["precision"](predictions, codes, np.arange(4)) in interval_of(
        SCORERS["precision"], predictions, sample
    )
    for name in ("f1", "mcc", "average-precision"):
        assert "has not been measured" in interval_of(SCORERS[name], predictions, sample).reason


def test_f1_is_covered():
    """Of 200 rows, 10% positive; the truth from the rates."""
    rng = np.random.default_rng(0)
    (scorer,), _ = scorers_for("f1", np.arange(2), np.array([0, 1]), 1)
    held = []
    for _ in range(1000):
        codes = (rng.random(200) < 0.1).astype(int)
        predictions = Predictions((rng.random(200) < np.where(codes, 0.7, 0.05)).astype(int), 2)
        held.append(
            2 * 0.07 / (0.07 + 0.045 + 0.1) in interval_of(scorer, predictions, Sample(codes, np.arange(2)))
        )
    assert np.mean(held) >= 0.93


def test_equal_weights_are_none():
    """Wilson's own ends cover 84% to 90% where one or two mistakes are expected."""
    codes, classes = np.zeros(100, int), np.arange(2)
    for mistakes in (0, 1, 2, 20):
        predictions = Predictions((np.arange(100) < mistakes).astype(int), 2)
        weighted = interval_of(SCORERS["accuracy"], predictions, Sample(codes, classes, np.full(100, 2.0)))
        plain = share_interval(100 - mistakes, 100)
        np.testing.assert_allclose((weighted.low, weighted.high), (plain.low, plain.high))


def test_weighted_accuracy_is_covered():
    rng = np.random.default_rng(0)
    weights = np.exp(0.7 * rng.normal(size=200))
    codes, classes = np.zeros(200, int), np.arange(2)
    hits = rng.random((1000, 200)) < 0.9
    intervals = [
        interval_of(SCORERS["accuracy"], Predictions(1 - h.astype(int), 2), Sample(codes, classes, weights))
        for h in hits
    ]
    assert np.mean([0.9 in one for one in intervals]) >= 0.93


def test_the_study_makes_its_tables():
    for number in (1, 3):
        title, header, rows, _ = study.TABLES[number]
        first = next(rows(np.random.default_rng(0), 20))
        assert len(first) == len(header.split(" | "))
        assert title
