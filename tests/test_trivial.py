"""Models that are no better than answers without a look at the features are called so."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.metrics import brier_score_loss, log_loss
from sklearn.model_selection import KFold, RepeatedStratifiedKFold, TimeSeriesSplit

from nearline import TryThemAll
from nearline._records.words import at_the_command_line
from nearline.predictions import Known, Predictions
from nearline.selection.intervals import accuracy_interval
from nearline.selection.intervals.of_scores import Sample
from nearline.selection.remarks import no_better
from nearline.selection.scoring import SCORERS
from nearline.selection.trivial import against_on_rows, trivial_answers, trivial_on_folds

CHEAP = ["majority", "nearest centroid", "least squares", "k-NN, L2"]


def rare(n_rows, n_rare, found, false_alarms):
    """Truth and labels of a model that finds some of the rare class."""
    codes = np.zeros(n_rows, int)
    codes[:n_rare] = 1
    labels = np.zeros(n_rows, int)
    labels[:found] = 1
    labels[n_rare : n_rare + false_alarms] = 1
    return codes, labels


def judged(codes, labels):
    predictions, trivial = Predictions(labels, 2), trivial_answers(codes, None, 2, len(codes))
    classes = np.array(["no", "yes"])
    interval = accuracy_interval(labels == codes)
    return against_on_rows(predictions, trivial, Sample(codes, classes), SCORERS["accuracy"], interval)


@pytest.mark.parametrize(("found", "false_alarms"), [(4, 2), (0, 0), (10, 0), (10, 2), (27, 9), (2, 9)])
def test_accuracy_is_decided_by_an_exact_paired_test(found, false_alarms):
    against = judged(*rare(770, 27, found, false_alarms))
    m = found + false_alarms
    p = binomtest(found, m).pvalue if m else 1.0
    assert against.better is bool(p <= 0.05 and found > false_alarms)
    assert (against.missed, against.rare_rows, against.rare) == (27 - found, 27, "yes")


def test_it_is_said_in_words():
    said = str(judged(*rare(770, 27, 4, 2)))
    assert said.startswith("not shown to be better than always answering 'no'")
    assert "accuracy 0.9675 against 0.9649" in said
    assert "23 of 27 rows of class 'yes' missed" in said


@pytest.mark.parametrize(
    ("found", "false_alarms", "verdict"),
    [(4, 2, "not shown to be better"), (2, 2, "no better"), (2, 9, "worse")],
)
def test_better_alike_and_worse_are_told_apart(found, false_alarms, verdict):
    """A lead that chance can explain is a lead; a model that lost to the trivial answers is not merely "no better"."""
    against = judged(*rare(770, 27, found, false_alarms))
    assert str(against).startswith(f"{verdict} than always answering 'no'")
    (note,) = no_better(against, "folds")
    assert f"The chosen model is {verdict} than" in note.message


@pytest.mark.parametrize(("n_rare", "better"), [(5, None), (6, True)])
def test_rows_on_which_no_model_could_be_better_tell_nothing(n_rare, better):
    """Of five rows that the trivial answers have wrong a perfect model has p = 2 / 2^5."""
    against = judged(*rare(12, n_rare, n_rare, 0))
    assert against.better is better
    assert str(against).startswith("too few rows to tell" if better is None else "better than")
    assert no_better(against, "folds") == []


def test_trivial_answers_are_those_of_the_prior():
    X, y = load_iris(return_X_y=True)
    X, y = X[20:], y[20:]
    folds = [(np.arange(0, 130, 2), np.arange(1, 130, 2)), (np.arange(1, 130, 2), np.arange(0, 130, 2))]
    losses = {
        "accuracy": lambda t, m, X: m.score(X, t),
        "log-loss": lambda t, m, X: log_loss(t, m.predict_proba(X)),
        "brier": lambda t, m, X: brier_score_loss(t, m.predict_proba(X), scale_by_half=False),
        "balanced-accuracy": lambda t, m, X: 1 / 3,
        "auc": lambda t, m, X: 0.5,
    }
    for name, judge in losses.items():
        scores, right = trivial_on_folds(folds, y, None, np.arange(3), SCORERS[name])
        fitted = [DummyClassifier(strategy="prior").fit(X[a], y[a]) for a, _ in folds]
        expected = [judge(y[b], model, X[b]) for model, (_, b) in zip(fitted, folds)]
        np.testing.assert_allclose(scores, expected)
        assert right.mean() == pytest.approx(
            np.mean([m.score(X[b], y[b]) for m, (_, b) in zip(fitted, folds)])
        )


def noise(share=0.1, n=400):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 4)), np.where(rng.random(n) < share, "yes", "no")


@pytest.mark.parametrize("scoring", ["accuracy", "balanced-accuracy", "auc", "log-loss", "brier", "f1"])
def test_noise_is_called_no_better_and_signal_is_not(scoring):
    options = {"include": CHEAP, "progress": "silent", "scoring": scoring}
    contest = TryThemAll("quick", **options).fit(*noise())
    folds = [found for found in contest.findings_ if found.name == "no-better-than-trivial"]
    result = contest.open_test()
    found = [one for one in contest.findings_ if one.name == "no-better-than-trivial"]
    assert result.against.better is False
    assert [one.subject for one in found] == ["test rows"]
    assert result.against.verdict in str(result)
    assert result.against.verdict in ("not shown to be better than", "worse than", "no better than")
    assert "rows of class 'yes' missed" in found[0].message
    assert [one.severity for one in folds + found] == ["note"] * len(folds + found)
    good = TryThemAll("quick", **options).fit(*load_iris(return_X_y=True))
    opened = good.open_test()
    assert opened.against.better is True
    assert str(opened.against).startswith("better than")
    assert "no-better-than-trivial" not in [one.name for one in good.findings_]


def test_a_chosen_mean_is_called_optimistic():
    contest = TryThemAll("quick", include=CHEAP, progress="silent").fit(*load_iris(return_X_y=True))
    assert "The best mean is optimistic" in str(contest.leaderboard_)
    assert f"{contest.leaderboard_.mean(contest.best_):.4f}, optimistic as it was chosen by it" in str(
        contest.open_test()
    )


def test_means_are_called_optimistic_for_what_chose_them():
    options = {
        "include": ["nearest centroid"],
        "progress": "silent",
        "scoring": ["accuracy", "auc", "log-loss"],
    }
    accuracy, auc, loss = str(
        TryThemAll("quick", **options).fit(*load_iris(return_X_y=True)).open_test()
    ).splitlines()[1:4]
    assert accuracy.endswith("optimistic as it was chosen by it")
    assert auc.endswith("optimistic as the model was chosen on the same folds")
    assert loss.endswith("(the model or the test rows do not define it)")


def test_a_class_of_test_rows_alone_changes_what_scores_are_of():
    X, y = noise(0.4)
    y[-10:] = "zoo"
    contest = TryThemAll("quick", include=CHEAP, progress="silent", split="time", scoring="f1").fit(X, y)
    said = str(contest.open_test()).splitlines()[1]
    assert said.startswith("  f1 (macro)")
    assert f"in cross-validation f1 (positive: {contest.positive_})" in said


def test_folds_say_it_where_there_is_no_test_part():
    contest = TryThemAll("quick", include=CHEAP, progress="silent", test=None).fit(*noise())
    found = [one for one in contest.findings_ if one.name == "no-better-than-trivial"]
    assert [one.subject for one in found] == ["folds"]
    y = noise()[1]
    missed = int((y == "yes").sum()) - contest_hits(contest, y, "yes")
    assert f"{missed} of {(y == 'yes').sum()} rows of class 'yes' missed" in found[0].message
    assert 'scoring="balanced-accuracy"' in found[0].remedy
    with at_the_command_line():
        contest = TryThemAll("quick", include=CHEAP, progress="silent", test=None).fit(*noise())
    found = [one for one in contest.findings_ if one.name == "no-better-than-trivial"]
    assert "choose by a score that counts it: --scoring balanced-accuracy. Else" in found[0].remedy


def contest_hits(contest, y, label):
    """Rows of a class that the chosen candidate has right when they are left out, by a loop."""
    X = noise()[0]
    right = 0
    for train, test in contest._folds:
        called = contest.estimator(contest.chosen_).fit(X[train], y[train]).predict(X[test])
        right += int(((called == y[test]) & (y[test] == label)).sum())
    return right


def test_groups_and_weights_are_heeded():
    """Rows that come in copies are one piece of evidence: what rows show, groups need not."""
    codes, labels = rare(200, 20, 8, 0)
    chances = np.eye(2)[labels]
    predictions, trivial = Predictions(labels, 2, None, Known(chances)), trivial_answers(codes, None, 2, 200)
    groups = np.arange(200) // 40  # all of the evidence is in one group
    classes, accuracy = np.array([0, 1]), SCORERS["accuracy"]
    interval = accuracy_interval(labels == codes)
    alone = against_on_rows(predictions, trivial, Sample(codes, classes), accuracy, interval)
    grouped = against_on_rows(predictions, trivial, Sample(codes, classes, None, groups), accuracy, interval)
    assert (alone.better, grouped.better) == (True, False)
    weights = np.where(codes == 1, 0.0, 1.0)  # the rows that it finds do not count
    weighted = against_on_rows(predictions, trivial, Sample(codes, classes, weights), accuracy, interval)
    assert weighted.better is False


def test_class_weights_do_not_change_the_trivial_answers():
    X, y = noise()
    y = np.where(y == "yes", "a", "no")  # the rare class comes first in order
    contest = TryThemAll("quick", include=CHEAP, class_weight="balanced", progress="silent").fit(X, y)
    result = contest.open_test()
    assert result.against.always == "no"
    assert result.majority == pytest.approx(np.mean(y == "no"), abs=0.02)


def test_rows_are_told_apart_by_rows_only_where_each_is_left_out_once():
    X, y = load_iris(return_X_y=True)
    options = {"include": ["nearest centroid"], "progress": "silent", "test": None}
    once = TryThemAll("quick", folds=KFold(5, shuffle=True, random_state=0), **options).fit(X, y)
    twice = TryThemAll("quick", folds=RepeatedStratifiedKFold(n_splits=5, n_repeats=2), **options).fit(X, y)
    rng = np.random.default_rng(0)
    order = rng.permutation(150)
    later = TryThemAll("quick", folds=TimeSeriesSplit(4), **options).fit(X[order], y[order])
    assert [one.leaderboard_.n_rows for one in (once, twice, later)] == [150, None, None]
