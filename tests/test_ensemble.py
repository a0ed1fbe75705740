"""The ensemble: weights chosen on rows left out, a row of its own that is judged on other folds, a model like any other."""

import signal
import subprocess
import sys
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import accuracy_score, log_loss

from nearline import ParameterError, Split, TryThemAll, load, save
from nearline.cli._run import run
from nearline.explain import reasons
from nearline.selection.ensemble import Ensemble
from nearline.selection.greedy import ROUNDS, greedy

FEW = ("logistic, L2", "k-NN, L2", "naive Bayes, Gaussian", "linear discriminant", "SVM, hinge")
OPTIONS = {"preset": "quick", "include": FEW, "progress": "silent", "beside": "ensemble", "folds": 3}


def mixed(n=240):
    """Half of what tells the classes is linear, half is local: models of both kinds are of use."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] + np.sign(X[:, 1] * X[:, 2]) + 0.7 * rng.normal(size=n) > 0).astype(int)
    return X, np.array(["no", "yes"])[y]


@pytest.fixture(scope="module")
def contest():
    return TryThemAll(**OPTIONS).fit(*mixed())


def ensemble_of(contest):
    return next(entry for entry in contest.leaderboard_ if entry.members)


def fitted_on_folds(contest, entry):
    """Probabilities of rows left out, fold by fold, by fitting the estimator of an entry to each fold."""
    rows, y, _ = contest.training_part()
    for train, test in contest._folds:
        model = contest.estimator(entry).fit(rows[train], y[train])
        yield model, rows[test], y[test]


def test_weights_are_shares_and_scores_have_a_temperature(contest):
    members = ensemble_of(contest).members
    assert len(members) >= 2
    assert sum(one.weight for one in members) == pytest.approx(1)
    for one in members:
        assert (one.temperature is None) == hasattr(contest.estimator(one.entry), "predict_proba")
    assert "left out" not in contest.leaderboard_.together


def test_what_has_neither_probabilities_nor_scores_is_left_out():
    class Labels(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return self.classes_[(X[:, 0] > 0).astype(int)]

    contest = TryThemAll(**OPTIONS | {"own": {"labels": Labels()}, "include": (*FEW, "labels")}).fit(*mixed())
    assert "left out: labels." in contest.leaderboard_.together


def test_a_fold_is_judged_by_weights_of_the_other_folds(contest):
    """The slow way: fit each of those it was chosen from anew, choose on two folds, score on the third."""
    board = contest.leaderboard_
    pool = _pool(contest)
    said = [list(fitted_on_folds(contest, entry)) for entry in pool]
    truth = [y for _, _, y in said[0]]
    classes = contest.classes_
    for f in range(3):
        others = [g for g in range(3) if g != f]
        each = [_probabilities(one, others, classes) for one in said]
        P = [np.stack([one[g] for one in each]) for g in range(3)]
        counts = _slow_greedy(
            np.concatenate([P[g] for g in others], axis=1),
            np.concatenate([truth[g] for g in others]),
            classes,
        )
        mean = np.tensordot(counts, P[f], 1) / counts.sum()
        score = accuracy_score(truth[f], classes[mean.argmax(axis=1)])
        assert ensemble_of(contest).scores["accuracy"][f] == pytest.approx(score), board.together


def _probabilities(folds, others, classes):
    """Of a candidate on each fold; where it has none, by the temperature of the smallest log-loss on the other folds."""
    if hasattr(folds[0][0], "predict_proba"):
        return [model.predict_proba(rows) for model, rows, _ in folds]
    scores = [model.decision_function(rows) for model, rows, _ in folds]
    F = np.concatenate([scores[g] for g in others])
    sign = np.where(np.concatenate([folds[g][2] for g in others]) == classes[1], 1, -1)
    loss = lambda log_T: np.logaddexp(0, -sign * F / np.exp(log_T)).mean()  # noqa: E731
    T = np.exp(minimize_scalar(loss, bounds=(-5, 5), method="bounded", options={"xatol": 1e-10}).x)
    return [np.column_stack([expit(-f / T), expit(f / T)]) for f in scores]


def _pool(contest):
    """At most two of a family here, since there is one representation; the best of each family first."""
    rows = [e for e in contest.leaderboard_ if not e.members and e.family != "majority"]
    by_family = {}
    for entry in rows:
        by_family.setdefault(entry.family, []).append(entry)
    return [one[0] for one in by_family.values()] + [
        e for e in rows if any(e is one[1] for one in by_family.values() if len(one) > 1)
    ]


def _slow_greedy(P, y, classes):
    counts, best = np.zeros(len(P), int), (-1.0, None)
    for number in range(1, ROUNDS + 1):
        found = []
        for m in range(len(P)):
            trial = counts + (np.arange(len(P)) == m)
            mean = np.tensordot(trial, P, 1) / number
            found.append((-accuracy_score(y, classes[mean.argmax(axis=1)]), log_loss(y, mean), m))
        score, _, m = min(found)
        counts = counts + (np.arange(len(P)) == m)
        if -score > best[0]:
            best = -score, counts
    return best[1]


@given(st.integers(1, 4), st.integers(1, 12), st.integers(0, 5))
@settings(max_examples=40, deadline=None)
def test_the_greedy_choice_is_never_worse_than_the_best_alone(n_models, n, seed):
    rng = np.random.default_rng(seed)
    P, codes = rng.dirichlet(np.ones(3), size=(n_models, n)), rng.integers(0, 3, n)

    def right(mean):
        return float((mean.argmax(axis=1) == codes).mean())

    def loss(mean):
        return float(-np.log(mean[np.arange(n), codes]).mean())

    counts = greedy(P, right, loss)
    assert 1 <= counts.sum() <= ROUNDS
    assert right(np.tensordot(counts, P, 1) / counts.sum()) >= max(right(one) for one in P) - 1e-12


def test_where_it_wins_it_is_a_model_like_any_other(contest, tmp_path):
    X, y = mixed()
    entry = ensemble_of(contest)
    model = contest.estimator(entry).fit(X, y)
    P = 0.0
    for one in entry.members:
        alone = contest.estimator(one.entry).fit(X, y)
        own = one.temperature is None
        P1 = alone.predict_proba(X)[:, 1] if own else expit(alone.decision_function(X) / one.temperature)
        P += one.weight * np.column_stack([1 - P1, P1])
    np.testing.assert_allclose(model.predict_proba(X), P, rtol=1e-12)
    assert (model.predict(X) == model.classes_[model.predict_proba(X).argmax(axis=1)]).all()
    opinions = model.explain(X[:3])
    assert [len(opinions.rows(i)) for i in range(3)] == [len(entry.members)] * 3
    assert "says" in reasons(model, X[:1])[0].said
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.explain(X[:2]).probabilities, opinions.probabilities[:, :2])


def test_it_wins_only_by_its_own_score():
    X, y = load_breast_cancer(return_X_y=True)
    contest = TryThemAll(**OPTIONS | {"scoring": "log-loss"}).fit(X, y)
    entry = ensemble_of(contest)
    board = contest.leaderboard_
    assert (contest.chosen_ is entry) == (board.mean(entry) <= min(board.mean(e) for e in board))
    if contest.chosen_ is entry:
        assert len(contest.model_.steps[-1][1].models_) == len(entry.members)
    assert contest.open_test().scores["log-loss"] < 0.3


@pytest.mark.parametrize(
    "options",
    [
        {"costs": {("yes", "no"): 5}},
        {"scoring": "balanced-accuracy", "threshold": "tune"},
        {"scoring": lambda model, X, y: float((model.predict(X)[y == "yes"] == "yes").mean())},
        {"calibrate": "temperature"},
        {"split": "time", "scoring": "log-loss"},
        {"folds": "leave-one-out"},
        {"choose": "one-se"},
    ],
)
def test_with_other_rules(options):
    X, y = mixed(60 if options.get("folds") else 240)
    contest = TryThemAll(**OPTIONS | options).fit(X, y)
    if options.get("split") == "time":  # three folds of rows: one candidate may well be as good as any mean
        assert contest.leaderboard_.together
        return
    entry = ensemble_of(contest)
    assert np.isfinite(contest.leaderboard_.mean(entry))
    assert set(contest.estimator(entry).fit(X, y).predict(X)) <= {"no", "yes"}
    assert contest.open_test().n_rows > 0


def test_where_memory_does_not_hold_it_the_best_single_candidate_is_fitted(monkeypatch):
    def exhausted(self, X, y, sample_weight=None):
        raise MemoryError("all is gone")

    def together(board, choose):
        return next(entry for entry in board if entry.members)

    monkeypatch.setattr(Ensemble, "fit", exhausted)
    monkeypatch.setattr("nearline.selection.try_all.chosen_of", together)  # whether or not it is the best
    contest = TryThemAll(**OPTIONS).fit(*mixed())
    assert contest.chosen_ is next(entry for entry in contest.leaderboard_ if not entry.members)
    (found,) = [one for one in contest.findings_ if one.name == "memory"]
    assert (found.severity, str(contest.chosen_) in found.message) == ("warning", True)
    assert contest.open_test().scores["accuracy"] > 0.5


def test_every_second_is_charged_once_with_it():
    start = perf_counter()
    account = TryThemAll(**OPTIONS).fit(*mixed()).leaderboard_.account
    assert account.spent["ensemble"] > 0
    assert 0 < account.total <= perf_counter() - start
    assert sum(one["seconds"] for one in account.records()) == pytest.approx(account.total)


@pytest.mark.parametrize("kind", ["table", "texts"])
def test_killed_while_it_is_made_and_gone_on_with_to_the_same_bits(kind, tmp_path):
    """SIGKILL when the journal is full and the ensemble is about to be made, and in the middle of the candidates."""
    whole = _contest_of(kind, None)
    for place in ("Contest.joined", "Paths.outcomes"):
        path = tmp_path / place
        code = KILLED.format(folder=str(Path(__file__).parent), place=place, kind=kind, path=str(path))
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
        assert path.stat().st_size > 0
        again = _contest_of(kind, path)
        assert again.leaderboard_.together == whole.leaderboard_.together
        assert str(again.chosen_) == str(whole.chosen_)
        for one, other in zip(again.leaderboard_, whole.leaderboard_, strict=True):
            assert str(one) == str(other)
            np.testing.assert_array_equal(one.scores["log-loss"], other.scores["log-loss"])
        rows = whole.training_part()[0]
        np.testing.assert_array_equal(again.model_.predict_proba(rows), whole.model_.predict_proba(rows))


KILLED = """
import os, signal, sys
sys.path.insert(0, {folder!r})
import test_ensemble
from nearline.selection.contest import Contest
from nearline.selection.families.paths import Path as Paths
calls = []
def killed(self, *rest):
    calls.append(1)
    if len(calls) == times:
        os.kill(os.getpid(), signal.SIGKILL)
    return own(self, *rest)
owner, name = {place!r}.split(".")
owner = {{"Contest": Contest, "Paths": Paths}}[owner]
own, times = getattr(owner, name), 1 if owner is Contest else 2
setattr(owner, name, killed)
test_ensemble._contest_of({kind!r}, {path!r})
"""


def _contest_of(kind, path):
    if kind == "table":
        X, y = mixed()
        X = pd.DataFrame(X, columns=list("abcd")).assign(e=np.where(X[:, 3] > 0, "up", "down"))
    else:
        rng = np.random.default_rng(0)
        words = np.array(["good", "fine", "bad", "poor", "day", "year", "plot", "end"])
        y = rng.integers(0, 2, 90)
        X = [" ".join([*rng.choice(words[2 * one : 2 * one + 6], 4), f"n{i}"]) for i, one in enumerate(y)]
    options = OPTIONS | {
        "include": ("logistic, L2", "k-NN", "SVM, hinge", "naive Bayes"),
        "scoring": "log-loss",
    }
    return TryThemAll(**options, journal=path).fit(X, y)


def test_groups_weights_and_three_classes():
    X, y = load_iris(return_X_y=True)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    contest = TryThemAll(**OPTIONS).fit(X, y, groups=np.arange(len(y)) // 3, sample_weight=weights)
    assert contest.leaderboard_.together
    contest = TryThemAll(**OPTIONS | {"costs": np.ones((3, 3)) - np.eye(3)}).fit(X, y)
    assert np.isfinite(contest.leaderboard_.mean(contest.best_))


def test_after_a_journal_the_same_bits(tmp_path):
    X, y = mixed()
    path = tmp_path / "journal"
    first = TryThemAll(**OPTIONS, journal=path).fit(X, y)
    again = TryThemAll(**OPTIONS, journal=path).fit(X, y)  # its probabilities are made anew
    alone = TryThemAll(**OPTIONS).fit(X, y)
    for other in (again, alone):
        assert other.leaderboard_.together == first.leaderboard_.together
        np.testing.assert_array_equal(
            ensemble_of(other).scores["accuracy"], ensemble_of(first).scores["accuracy"]
        )
        np.testing.assert_array_equal(ensemble_of(other).correct, ensemble_of(first).correct)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])
    cut = TryThemAll(**OPTIONS, journal=path).fit(X, y)
    assert cut.leaderboard_.together == first.leaderboard_.together


def test_a_table_and_texts():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=120), "color": rng.choice(["red", "blue"], 120)})
    y = ((frame["size"] > 0) ^ (frame["color"] == "red")).astype(int).to_numpy()
    contest = TryThemAll(**OPTIONS | {"include": ("k-NN, L2", "logistic")}).fit(frame, y)
    assert contest.leaderboard_.together
    texts = [f"{word} day {number}" for number in range(40) for word in ("good", "bad", "dull")]
    contest = TryThemAll(**OPTIONS | {"include": ("k-NN", "logistic")}).fit(texts, [0, 1, 1] * 40)
    assert contest.leaderboard_.together


def test_it_is_off_where_it_was_not_asked_for_and_says_why_there_is_none():
    X, y = mixed()
    assert TryThemAll(**OPTIONS | {"beside": "auto"}).fit(X, y).leaderboard_.together == ""
    alone = TryThemAll(**OPTIONS | {"include": "SVM, hinge"}).fit(X, y)
    assert alone.leaderboard_.together.startswith("no ensemble:")
    with pytest.raises(ParameterError, match="ensemble"):
        TryThemAll(beside="nothing").fit(X, y)


def test_the_whole_procedure_is_cross_validated_with_it():
    options = OPTIONS | {"folds": None, "split": Split(folds=3, nested=True)}
    nested = TryThemAll(**options).fit(*mixed(150)).nested_
    assert len(nested["accuracy"]) == 3


def test_a_file_with_other_weights_than_models_is_refused(contest, tmp_path):
    X, y = mixed()
    model = contest.estimator(ensemble_of(contest)).fit(X, y)
    inner = model.steps[-1][1]
    assert isinstance(inner, Ensemble)
    inner.weights = inner.weights[1:]
    with pytest.raises(ValueError, match="other weights than models"):
        save(model, tmp_path / "model")


def test_on_the_command_line(tmp_path, capsys):
    X, y = mixed()
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=y)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    common = ["try", str(tmp_path / "rows.csv"), "--target", "label", "--preset", "quick", "--folds", "3"]
    assert run([*common, "--out", str(tmp_path / "one"), "--ensemble", "--scoring", "log-loss"]) == 0
    assert "ensemble: the mean probabilities of" in capsys.readouterr().out
    model = str(tmp_path / "one" / "model.nearline")
    assert run(["explain", model, str(tmp_path / "rows.csv"), "--rows", "1"]) in (0, 2)
    assert run([*common, "--out", str(tmp_path / "two"), "--no-ensemble"]) == 0
    assert "ensemble" not in capsys.readouterr().out.split("candidates in")[0].split("nearline-")[0][-2000:]
