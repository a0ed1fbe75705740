"""TryThemAll: candidates equal to fitting each alone, a locked test, what finishes is kept."""

import pickle
import warnings
import weakref

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.stats import t as student
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression as ScikitLogistic
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.naive_bayes import GaussianNB as ScikitGaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import nearline
from nearline import FAMILIES, Holdout, LeakageWarning, LinearClassifier, Split, TryThemAll
from nearline.kernels import RBF
from nearline.representations import REPRESENTATIONS
from nearline.selection.contest import Contest
from nearline.selection.families import Fold, _sizes, families
from nearline.selection.families._base import fit_weighted
from nearline.selection.families.kernels import SupportVectors
from nearline.selection.families.low_rank import LowRank
from nearline.selection.fold_data import TrainingRows
from nearline.selection.progress import Silent
from nearline.selection.running import Rules
from nearline.selection.scoring import SCORERS, as_scorers

CHEAP = ["majority", "nearest centroid", "least squares", "k-NN, L2"]


def rows_of(n=240, d=6, n_classes=3, seed=0):
    X, y = make_classification(
        n, d, n_informative=4, n_redundant=1, n_classes=n_classes, class_sep=1.0, random_state=seed
    )
    return X, np.array(["ant", "bee", "cat", "dog"])[y]


def mixed_table(n=200, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, "yes", "no")
    size = rng.normal(size=n) + (y == "yes")
    size[rng.random(n) < 0.1] = np.nan
    return (
        pd.DataFrame(
            {
                "size": size,
                "color": np.where(rng.random(n) < 0.3, None, rng.choice(["red", "blue", "green"], n)),
                "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 400, n), "D"),
                "member": rng.random(n) < 0.5,
            }
        ),
        y,
    )


def fitted(X, y, fit=None, **options):
    options = {"include": CHEAP, "progress": "silent"} | options
    return TryThemAll(**options).fit(X, y, **(fit or {}))


# -- families -----------------------------------------------------------------------------------------------------


def folds_for(family, weights):
    X, y = rows_of(n=150)
    X = np.abs(X)
    codes = np.unique(y, return_inverse=True)[1]
    w = None if not weights else np.random.default_rng(1).integers(0, 4, 100).astype(float)
    return Fold(X[:100], codes[:100], w, X[100:], np.arange(3)), Fold(
        sparse.csr_matrix(X[:100]), codes[:100], w, sparse.csr_matrix(X[100:]), np.arange(3)
    )


def gram_fold(weights):
    X, y = rows_of(n=150)
    codes = np.unique(y, return_inverse=True)[1]
    w = None if not weights else np.random.default_rng(1).integers(1, 4, 100).astype(float)
    K = RBF(0.1)(X)
    return Fold(K[:100, :100], codes[:100], w, K[100:, :100], np.arange(3), gram=True), X


@pytest.mark.parametrize("weights", [False, True])
def test_kernel_families_on_a_gram_matrix(weights):
    """The fits of a representation that is a kernel are those of machines that have the kernel."""
    fold, X = gram_fold(weights)
    tried = [family for family in families("thorough") if "gram" in family.takes]
    assert {family.name for family in tried} >= {"kernel SVM", "kernel least squares", "k-NN, kernel"}
    for family in tried:
        grid = family.grid(fold, "default")
        for outcome in family.outcomes(fold, grid):
            model = family.estimator(grid[outcome.number]).set_params(kernel=RBF(0.1))
            fit_weighted(model, Fold(X[:100], fold.codes, fold.weights, X[100:], fold.classes))
            different = np.mean(model.predict(X[100:]) != outcome.predictions.labels)
            assert different <= 0.04, (family.name, grid[outcome.number])


def test_low_rank_where_the_gram_matrix_is_too_large():
    family = LowRank(fewest_rows=50)
    fold = folds_for(family, False)[0]
    assert FAMILIES["kernel SVM"].refuses(fold) is None
    assert SupportVectors("kernel SVM", most_rows=50).refuses(fold).startswith("a Gram matrix of 100 rows")
    assert LowRank().refuses(fold) == ""
    assert family.refuses(fold) is None
    grid = family.grid(fold, "default")
    for outcome in family.outcomes(fold, grid):
        model = family.estimator(grid[outcome.number]).fit(fold.X_train, fold.labels)
        assert np.mean(model.predict(fold.X_test) == outcome.predictions.labels) > 0.9
        assert "the Gram matrix is off by" in outcome.note


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("name", FAMILIES)
def test_each_candidate_equals_a_fit_alone(name, weights):
    family = FAMILIES[name]
    for fold in folds_for(family, weights):
        if "numbers" not in family.takes or family.refuses(fold) is not None:
            continue
        grid = family.grid(fold, "default")
        outcomes = list(family.outcomes(fold, grid))
        assert sorted(outcome.number for outcome in outcomes) == list(range(len(grid)))
        for outcome in outcomes:
            model = family.estimator(grid[outcome.number])
            if family.path == "alpha":
                check_path(model, fold, outcome)
                continue
            fit_weighted(model, fold)
            np.testing.assert_array_equal(outcome.predictions.labels, model.predict(fold.X_test))
            if callable(getattr(model, "predict_proba", None)):
                np.testing.assert_array_equal(
                    outcome.predictions.probabilities(), model.predict_proba(fold.X_test)
                )


def check_path(model, fold, outcome):
    """The risk is within the gaps of both; labels differ only where scores are nearly equal."""
    if "tol" in model.get_params():
        model.set_params(tol=1e-6)
    fit_weighted(model, fold)
    alone, scores = model.decision_function(fold.X_test), outcome.predictions.scores
    if isinstance(model, LinearClassifier):
        risk = model.risk(fold.X_train, fold.codes, fold.weights)
        assert outcome.note == ""  # certified
        best = model.solution_.value
        assert model.gap_ is not None
        assert model.gap_ * risk.null_value + best >= 0
    different = outcome.predictions.labels != model.predict(fold.X_test)
    if scores.ndim == 1:
        near = np.abs(alone) < 0.2 * np.abs(alone).max()
    else:
        top = np.sort(alone, axis=1)
        near = top[:, -1] - top[:, -2] < 0.2 * np.abs(top).max()
    assert not (different & ~near).any()


def test_paths_are_within_the_sum_of_the_gaps():
    X, y = rows_of()
    codes = np.unique(y, return_inverse=True)[1]
    fold = Fold(X, codes, None, X, np.arange(3))
    for name in ("logistic, L2", "SVM, squared hinge", "logistic, L1", "SVM, Crammer-Singer"):
        family = FAMILIES[name]
        grid = family.grid(fold, "quick")
        risk = family.estimator({}).risk(X, codes)
        for outcome in family.outcomes(fold, grid):
            alpha = grid[outcome.number]["alpha"]
            precise = nearline.minimize(risk.with_alpha(alpha), tol=1e-9)
            loss = risk.loss.value(np.asarray(outcome.predictions.scores), codes).mean()
            # The mean loss on the training rows is below the risk, which is within the tolerance of the best.
            assert loss <= precise.value + 1.1e-3 * risk.null_value


def test_a_class_that_a_fold_has_not_seen():
    X, y = rows_of(n=90)
    codes = np.unique(y, return_inverse=True)[1]
    train = codes[:60] != 1
    fold = Fold(X[:60][train], codes[:60][train], None, X[60:], np.arange(3))
    for family in FAMILIES.values():
        if "numbers" not in family.takes or family.refuses(fold) is not None:
            continue
        for outcome in family.outcomes(fold, family.grid(fold, "quick")[:2]):
            assert set(np.unique(outcome.predictions.labels)) <= {0, 2}, family.name
            probabilities = outcome.predictions.probabilities()
            if probabilities is not None:
                assert probabilities.shape == (30, 3)
                assert (probabilities[:, 1] == 0).all()
            for scorer in SCORERS.values():
                scorer(outcome.predictions, codes[60:], np.arange(3))


def test_families_by_name():
    assert [f.name for f in families(include=["k-NN"])] == [
        "k-NN, L2",
        "k-NN, cosine",
        "k-NN, L1",
        "k-NN, kernel",
    ]
    assert "sparsemax" not in [f.name for f in families(exclude="sparsemax")]
    assert len(families("thorough")) > len(families()) > len(families("quick"))
    with pytest.raises(ValueError, match=r"include: no family is called 'forest'. There are: 'majority'"):
        families(include=["forest"])
    with pytest.raises(ValueError, match="Unknown preset 'slow': choose among 'quick'"):
        families("slow")
    with pytest.raises(ValueError, match="is that of a family already"):
        families(own={"sparsemax": ScikitGaussianNB()})


# -- the contest --------------------------------------------------------------------------------------------------


def test_every_row_of_the_leaderboard_equals_a_loop_over_pipelines():
    X, y = rows_of()
    contest = fitted(X, y, include=None, exclude=["logistic", "SVM", "sparsemax"], folds=2, beside=None)
    train = contest._train
    folds = contest._folds
    assert {entry.representation for entry in contest.leaderboard_} == {"standardized", "as-is", "splines"}
    for entry in contest.leaderboard_:
        model = clone(FAMILIES[entry.family].estimator(entry.parameters))
        pipeline = make_pipeline(REPRESENTATIONS[entry.representation].transformer(), model)
        scores = cross_val_score(pipeline, X[train], y[train], cv=folds)
        np.testing.assert_allclose(entry.scores["accuracy"], scores, rtol=0, atol=1e-15, err_msg=str(entry))


def test_same_bits_whatever_the_number_of_threads():
    X, y = rows_of()
    boards = []
    for threads in (1, 2):
        with nearline.num_threads(threads):
            contest = fitted(X, y, include=None, preset="quick", scoring=["accuracy", "log-loss"])
        boards.append(
            [
                (str(e), e.representation, *(s.tolist() for s in e.scores.values()))
                for e in contest.leaderboard_
            ]
        )
    assert str(boards[0]) == str(boards[1])


class Spy(ClassifierMixin, BaseEstimator):
    """Remembers which rows it saw: the first column is the row's number."""

    seen: set = set()  # noqa: RUF012

    def fit(self, X, y):
        Spy.seen |= set(np.asarray(X)[:, 0].astype(int).tolist())
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        Spy.seen |= set(np.asarray(X)[:, 0].astype(int).tolist())
        return np.repeat(self.classes_[:1], len(X))


def test_no_test_row_is_seen_before_the_test_is_opened():
    X, y = rows_of()
    X = np.column_stack([np.arange(len(X), dtype=float), X])
    Spy.seen = set()
    contest = TryThemAll(include=["majority"], own={"spy": Spy()}, progress="silent")
    with pytest.warns(LeakageWarning, match="Leave the column out"):
        contest.fit(X, y)
    # as-is keeps the numbers; standardized ones are other numbers, few of which are whole
    locked = set(range(len(X))) - set(contest._train.tolist())
    assert len(locked) == 48
    assert not {e for e in Spy.seen if e in locked and e > 3}
    assert contest.openings_ == 0


def test_the_test_is_scored_once_and_openings_are_counted():
    X, y = rows_of()
    contest = fitted(X, y, scoring=["accuracy", "log-loss", "auc"])
    first, second = contest.open_test(), contest.open_test()
    assert (first.openings, second.openings, contest.openings_) == (1, 2, 2)
    assert first.scores == second.scores
    interval = first.intervals["accuracy"]
    assert interval.low < first.scores["accuracy"] < interval.high
    assert "opened 2 times, for the same model" in str(second)
    assert first.confusion.sum() == first.n_rows == 48
    assert [row["rows"] for row in first.per_class()] == first.confusion.sum(axis=1).tolist()
    assert (
        accuracy_score(
            y[np.setdiff1d(np.arange(240), contest._train)], contest.predict(contest._locked.rows.X)
        )
        == (first.scores["accuracy"])
    )


def test_refit_on_all_rows_keeps_the_score_of_the_earlier_model():
    X, y = rows_of()
    plain, whole = fitted(X, y), fitted(X, y, test=Holdout(refit="all"))
    before = whole.predict(X)
    np.testing.assert_array_equal(before, plain.predict(X))
    result = whole.open_test()
    assert result.scores == plain.open_test().scores
    assert result.refitted
    assert "the score is the earlier model's" in str(result)
    np.testing.assert_array_equal(whole.predict(X), whole.estimator(whole.chosen_).fit(X, y).predict(X))


def test_without_a_test_part():
    X, y = rows_of()
    contest = fitted(X, y, test=None)
    assert len(contest._train) == len(X)
    with pytest.raises(ValueError, match="no test rows: test=None"):
        contest.open_test()
    scores = cross_val_score(TryThemAll("quick", include=CHEAP, test=None, progress="silent"), X, y, cv=3)
    assert scores.shape == (3,)


def test_a_test_set_of_ones_own():
    X, y = rows_of()
    contest = fitted(X[:150], y[:150], test=(X[150:], y[150:]))
    assert contest.open_test().n_rows == 90
    with pytest.raises(ValueError, match="a label that no training row has: 'emu'"):
        fitted(X[:150], y[:150], test=(X[150:], np.repeat("emu", 90)))
    with pytest.warns(LeakageWarning, match="test"):
        fitted(X[:150], y[:150], test=(X[100:], y[100:]))


def test_groups_and_time():
    X, y = rows_of()
    groups = np.repeat(np.arange(24), 10)
    contest = fitted(X, y, fit={"groups": groups})
    train = contest._train
    locked = np.setdiff1d(np.arange(240), train)
    assert not set(groups[train]) & set(groups[locked])
    assert contest.open_test().intervals["accuracy"].method != "Wilson"
    later = fitted(X, y, split="time")
    assert later._train.tolist() == list(range(192))
    with pytest.raises(ValueError, match="split='time' and groups exclude each other"):
        fitted(X, y, split="time", fit={"groups": groups})
    with pytest.raises(ValueError, match="split='group' needs groups"):
        fitted(X, y, split="group")
    with pytest.warns(LeakageWarning, match="group"):
        fitted(X, y, folds=5, fit={"groups": groups}, split="stratified")
    contest = fitted(X, y, folds=GroupKFold(4), fit={"groups": groups})
    assert len(contest.best_.scores["accuracy"]) == 4


def test_one_standard_error_is_the_simplest_good_one():
    X, y = rows_of()
    contest = fitted(X, y, choose="one-se", include=["k-NN, L2"])
    board, best, chosen = contest.leaderboard_, contest.best_, contest.chosen_
    assert chosen.parameters["n_neighbors"] >= best.parameters["n_neighbors"]
    assert board.mean(chosen) >= board.mean(best) - board.error(best)
    simpler = [e for e in board.mates(best) if e.parameters["n_neighbors"] > chosen.parameters["n_neighbors"]]
    assert all(board.mean(e) < board.mean(best) - board.error(best) for e in simpler)


def test_leaderboard_as_frames():
    X, y = rows_of()
    board = fitted(X, y, scoring=["accuracy", "log-loss"]).leaderboard_
    frame, other = board.to_pandas(), board.to_polars()
    assert len(frame) == other.height == len(board) == len(board.records())
    assert frame["accuracy"].is_monotonic_decreasing
    assert frame["not distinguishable from best"].iloc[0]
    assert board.records()[0]["parameters"] == board.best.parameters
    text = str(board)
    assert "n/a" in text  # least squares has no probabilities
    assert "skipped" not in text
    assert "the best of each family" in text


# -- what does not finish -----------------------------------------------------------------------------------------


class Trouble(ClassifierMixin, BaseEstimator):
    """Raises an error while it is fitted."""

    def __init__(self, error=None):
        self.error = error

    def fit(self, X, y):
        raise self.error


def test_interrupted_contests_keep_what_is_done():
    X, y = rows_of()
    contest = fitted(X, y, own={"trouble": Trouble(KeyboardInterrupt())})
    assert contest.interrupted_
    assert {e.family for e in contest.leaderboard_} == set(CHEAP)
    assert len(contest.predict(X)) == len(X)


def test_families_that_fail_are_skipped_with_the_reason():
    X, y = rows_of()
    contest = fitted(X, y, own={"trouble": Trouble(ValueError("no such thing"))})
    assert [one.family for one in contest.leaderboard_.skipped] == ["trouble"] * 2
    assert "ValueError: no such thing" in str(contest.leaderboard_)
    with pytest.raises(
        ValueError, match=r"No family could be tried on these data. trouble: ValueError: no such"
    ):
        fitted(X, y, include=(), own={"trouble": Trouble(ValueError("no such thing"))})


def test_a_time_limit_decides_how_many_finish_but_not_their_scores(monkeypatch):
    X, y = rows_of()
    clock = iter(np.arange(0.0, 1e6, 1.0))  # a second passes whenever somebody looks
    monkeypatch.setattr("nearline._parallel.stopping.monotonic", lambda: next(clock))
    monkeypatch.setattr("nearline.selection.budget.PATIENCE", 1e6)
    short = fitted(X, y, time_limit=150.0)
    monkeypatch.undo()
    whole = {(str(e), e.representation): e for e in fitted(X, y).leaderboard_}
    assert 0 < len(short.leaderboard_) < len(whole)
    assert any(one.reason == "the time limit had passed" for one in short.leaderboard_.skipped)
    for entry in short.leaderboard_:
        np.testing.assert_array_equal(
            entry.scores["accuracy"], whole[str(entry), entry.representation].scores["accuracy"]
        )


def test_one_fold_is_kept_however_large_it_is():
    """Families ask for the largest one before they begin: it is not made for each of them. The next takes its place."""
    from nearline.representations import representations
    from nearline.selection.fold_data import FoldData, TrainingRows
    from nearline.selection.folds import as_folds

    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    rows = TrainingRows(X, y, np.arange(2), None, as_folds(5, y))
    data, (first, second, *_) = FoldData(rows, None, memory=1.0), representations(X)
    assert data.largest(first).X_train is data.largest(first).X_train
    before = weakref.ref(data.largest(first).X_train)
    assert data.fold(first, 3).X_train is data.fold(first, 3).X_train
    assert before() is None
    data.largest(second)
    assert data.largest(second).X_train is data.largest(second).X_train
    assert data.making > 0
    assert data.bytes_with(data.largest(second)) == 1.3 * data.largest(second).X_train.nbytes
    one = 1.3 * data.largest(second).X_train.nbytes
    room = FoldData(rows, None, memory=2.9 * one)
    assert room.bytes_with(room.largest(second)) == 2 * one  # whole folds: a third does not fit


def test_families_that_do_not_fit_into_memory_are_skipped():
    X, y = rows_of()
    classes, codes = np.unique(y, return_inverse=True)
    folds = [(np.arange(120), np.arange(120, 240)), (np.arange(120, 240), np.arange(120))]
    rows = TrainingRows(X, codes, classes, None, folds)
    rules = Rules(as_scorers("accuracy"), "quick", Silent(), memory=1e4)
    board = Contest(rows, families(include=CHEAP), [REPRESENTATIONS["standardized"]], rules).run()
    assert {e.family for e in board} == set()
    assert "GB of memory" in board.skipped[0].reason


# -- inputs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("as_polars", [False, True])
def test_tables_with_missing_values_dates_and_names(as_polars):
    X, y = mixed_table()
    X = (
        pl.DataFrame({name: X[name].astype(object).where(X[name].notna(), None).tolist() for name in X})
        if as_polars
        else X
    )
    contest = fitted(X, y, preset="quick", include=None)
    assert contest.open_test().scores["accuracy"] > 0.5
    assert "time-stamp" in {finding.name for finding in contest.findings_}
    assert len(contest.predict(X[:3] if not as_polars else X.head(3))) == 3


def test_texts():
    rng = np.random.default_rng(0)
    words = {
        "ham": ["meet", "lunch", "home", "later", "love"],
        "spam": ["win", "cash", "prize", "free", "call"],
    }
    y = rng.choice(["ham", "spam"], 150)
    X = [" ".join(rng.choice(words[label] + ["the", "you", "now"], 6)) for label in y]
    contest = fitted(X, y, preset="quick", include=None)
    assert contest.open_test().scores["accuracy"] > 0.9
    assert contest.predict(["win a prize now call"]).tolist() == ["spam"]
    with pytest.raises(ValueError, match="fitted on texts, got numbers"):
        contest.predict(np.zeros((2, 2)))


def test_sparse_rows_and_missing_numbers():
    X, y = rows_of()
    X[np.abs(X) < 0.5] = 0.0
    a = fitted(sparse.csr_matrix(X), y)
    assert a.predict(sparse.csr_matrix(X)).shape == (240,)
    X[::7, 2] = np.nan
    b = fitted(X, y)
    assert b.predict(X).shape == (240,)


def test_one_large_column_of_sparse_rows_ruins_nothing():
    X, y = rows_of()
    X[np.abs(X) < 0.2] = 0.0
    noise = np.random.default_rng(1).normal(size=(len(X), 1))
    near, line = "k-NN, L2", "SVM, squared hinge"
    best = {}
    for scale in (1.0, 1e5):
        rows = sparse.csr_matrix(np.hstack([X, scale * noise]))
        for one in fitted(rows, y, include=[near, line]).leaderboard_:
            key = scale, one.family, one.representation
            best[key] = max(best.get(key, 0.0), np.mean(one.scores["accuracy"]))
    for family in (near, line):
        assert best[1e5, family, "max-abs"] >= best[1.0, family, "max-abs"] - 0.02
    assert best[1e5, near, "max-abs"] > best[1e5, near, "as-is"] + 0.2  # what was tried alone before


def test_only_wide_matrices_of_counts_are_called_word_counts():
    rng = np.random.default_rng(0)
    thin = sparse.random(40, 300, 0.05, format="csr", random_state=0)
    counts = thin.copy()
    counts.data = np.ceil(3 * counts.data)
    said = [
        {family.name: family for family in families()}["naive Bayes, Gaussian"].refuses(
            Fold(X, rng.integers(0, 2, 40), None, X[:5], np.arange(2))
        )
        for X in (counts, thin, counts[:, :200], thin.toarray())
    ]
    assert "word counts" in said[0]
    assert "word counts" not in said[1]
    assert "Bernoulli" in said[1]
    assert said[2:] == [None, None]


def test_weights_of_rows_and_classes():
    X, y = rows_of()
    weights = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    contest = fitted(
        X, y, fit={"sample_weight": weights}, class_weight="balanced", scoring=["accuracy", "auc"]
    )
    assert contest.open_test().intervals["accuracy"].method == "Wilson t, weighted"
    heavy = fitted(X, y, class_weight={"ant": 1000.0}, include=["logistic, L2"], preset="quick")
    assert (heavy.predict(X) == "ant").mean() > 0.5
    with pytest.raises(ValueError, match="class_weight has 'emu', which is no label"):
        fitted(X, y, class_weight={"emu": 2.0})


@pytest.mark.parametrize("method", ["auto", "temperature", "sigmoid", "isotonic"])
def test_calibrated_probabilities(method):
    X, y = rows_of()
    contest = fitted(X, y, calibrate=method, include=["SVM, squared hinge"], preset="quick")
    np.testing.assert_allclose(contest.predict_proba(X).sum(axis=1), 1.0)
    assert np.isfinite(nearline.brier_score(y, contest.predict_proba(X), contest.classes_))


def test_nested_scores():
    X, y = rows_of()
    contest = fitted(X, y, split=Split(folds=3, nested=True), scoring=["accuracy", "log-loss"])
    assert contest.nested_["accuracy"].shape == (3,)
    inner = clone(contest).set_params(test=None, split__nested=False)
    train, test = contest._folds[0]
    rows, labels = X[contest._train], y[contest._train]
    assert (
        inner.fit(rows[train], labels[train]).score(rows[test], labels[test])
        == contest.nested_["accuracy"][0]
    )


def test_pure_noise_is_called_noise():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 50)), rng.integers(0, 2, 400)
    contest = fitted(X, y, preset="quick", include=None, test=0.5)
    result = contest.open_test()
    assert 0.5 in result.intervals["accuracy"]
    assert result.cross_validation["accuracy"] > 0.5  # the best of many is optimistic


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"choose": "worst"}, "choose must be 'best' or 'one-se', got 'worst'"),
        ({"calibrate": "beta"}, "calibrate must be None"),
        ({"time_limit": 0}, "time_limit must be a number of seconds > 0"),
        ({"test": 1.5}, "test must be a share of the rows between 0 and 1, got 1.5"),
        ({"folds": 1}, "folds must be between 2 and the number of rows that they divide, 192, got 1"),
        ({"folds": "many"}, "folds must be.*got 'many'"),
        ({"split": "random"}, "split must be 'auto', .* or a Split, got 'random'"),
        ({"scoring": "goodness"}, "Unknown scoring 'goodness'"),
        ({"scoring": []}, "at least one score"),
        ({"progress": "loud"}, "Unknown progress 'loud'"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        fitted(*rows_of(), **options)


def test_bad_labels():
    X, y = rows_of()
    with pytest.raises(ValueError, match="1 class: 'ant'"):
        fitted(X, np.repeat("ant", len(X)))
    missing = y.astype(object)
    missing[3] = None
    with pytest.raises(
        ValueError, match=r"1 label missing .NaN or None., the first in row 4 .counted from 1."
    ):
        fitted(X, missing)
    with pytest.raises(
        ValueError, match="There are only 2 rows to divide, and 5 folds need as many: give more rows"
    ):
        fitted(X[:3], np.array(["ant", "bee", "bee"]), test=0.9)
    with pytest.raises(ValueError, match=r"training part has 2 rows of 1 class.*too few to learn from"):
        fitted(X[:4], np.array(["bee", "bee", "ant", "ant"]), test=0.5, split="time")


@parametrize_with_checks(
    [
        TryThemAll(
            "quick", include=["majority", "least squares", "k-NN, L2"], folds=2, test=None, progress="silent"
        )
    ],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": "rows are dealt to folds, repeated ones to several"
    },
)
@pytest.mark.filterwarnings("ignore::nearline.LeakageWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_iris_by_default():
    X, y = load_iris(return_X_y=True)
    contest = TryThemAll(progress="silent").fit(X, y)
    assert len(contest.leaderboard_) > 200
    assert contest.open_test().scores["accuracy"] > 0.85


# -- what a stranger might do -------------------------------------------------------------------------------------


def test_every_preset_runs():
    X, y = rows_of(n=60)
    for preset in ("quick", "default", "thorough"):
        contest = TryThemAll(preset, progress="silent", folds=2).fit(X, y)
        assert all(
            "negative" in one.reason or "as-is" in one.representation for one in contest.leaderboard_.skipped
        )


@pytest.mark.parametrize("frame", ["array", "pandas", "polars"])
def test_rows_to_come_may_miss_values_that_training_rows_have_and_the_other_way_round(frame):
    X, y = rows_of()
    makers = {
        "array": lambda X: X,
        "pandas": pd.DataFrame,
        "polars": lambda X: pl.DataFrame(X, schema=list("abcdef")),
    }
    make = makers[frame]
    holes = X.copy()
    holes[::7, 1] = np.nan
    assert fitted(make(holes), y).predict(make(X[:5])).shape == (5,)
    assert fitted(make(X), y).predict(make(holes[:5])).shape == (5,)
    lone = X.copy()
    lone[fitted(X, y).test_rows_[0], 1] = np.nan
    assert np.isfinite(fitted(make(lone), y).open_test().scores["accuracy"])
    assert fitted(make(X[:200]), y[:200], test=(make(holes[200:]), y[200:])).open_test().n_rows == 40


@pytest.mark.parametrize(
    "error", [RuntimeError("late"), KeyError("k"), NotImplementedError(), AssertionError("no")]
)
def test_whatever_an_own_model_raises_is_a_reason(error):
    X, y = rows_of()
    contest = fitted(X, y, own={"trouble": Trouble(error)})
    assert type(error).__name__ in contest.leaderboard_.skipped[0].reason


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_columns_of_absurd_size_cost_some_families_only():
    X, y = rows_of()
    X[:, 0] *= 1e200
    contest = fitted(X, y, include=None, preset="quick")
    assert len(contest.leaderboard_)


def test_fitted_contests_and_results_can_be_pickled():
    X, y = rows_of()
    contest = fitted(X, y, scoring=["accuracy", "f1_macro"])
    result = contest.open_test()
    again, other = pickle.loads(pickle.dumps((contest, result)))
    np.testing.assert_array_equal(again.predict(X), contest.predict(X))
    assert other.scores == result.scores


def test_scoring_functions_may_ask_for_some_rows():
    X, y = rows_of(n_classes=2)

    def recall(estimator, X, y):
        return np.mean(estimator.predict(X[y == "bee"]) == "bee")

    contest = fitted(X, y, scoring=[recall, "balanced-accuracy"], include=["logistic, L2"], preset="quick")
    entry = contest.best_
    rows, labels = X[contest._train], y[contest._train]
    train, test = contest._folds[0]
    model = contest.estimator(entry).fit(rows[train], labels[train])
    there = labels[test] == "bee"
    assert entry.scores["recall (own)"][0] == pytest.approx(
        np.mean(model.predict(rows[test][there]) == "bee")
    )

    def accuracy(estimator, X, y):
        return 0.25

    named = fitted(X, y, scoring=accuracy)
    assert list(named.best_.scores) == ["accuracy (own)"]
    assert list(fitted(X, y, scoring={"mine": "accuracy"}).best_.scores) == ["mine"]


def test_own_models_see_the_labels_as_given():
    X, y = rows_of(n_classes=2)
    own = {"weighted": ScikitLogistic(class_weight={"ant": 50.0, "bee": 1.0})}
    contest = fitted(X, y, include=(), own=own)
    assert contest.leaderboard_.skipped == []
    rows, labels = X[contest._train], y[contest._train]
    entry = contest.best_
    scores = cross_val_score(contest.estimator(entry), rows, labels, cv=contest._folds)
    np.testing.assert_allclose(entry.scores["accuracy"], scores)


def test_classes_that_only_the_future_has():
    X, y = rows_of()
    y[-20:] = "emu"
    contest = fitted(X, y, split="time")
    assert "emu" not in contest.classes_
    result = contest.open_test()
    assert "emu" in result.classes
    assert result.confusion[result.classes.tolist().index("emu")].sum() == 20


def test_openings_go_on_counting_for_the_same_rows():
    X, y = rows_of()
    contest = fitted(X, y)
    contest.open_test()
    second = contest.set_params(include=["majority"]).fit(X, y).open_test()
    assert (second.openings, second.models) == (2, 2)
    assert "no test any more" in str(second)
    assert contest.fit(X + 1.0, y).open_test().openings == 1


@pytest.mark.filterwarnings("ignore::nearline.LeakageWarning")
def test_an_undefined_score_chooses_nothing():
    X, y = rows_of(n=60)
    y[0] = "yak"
    with pytest.raises(ValueError, match="The score 'auc' is undefined for every candidate"):
        fitted(X, y, scoring="auc")


def test_weights_of_zero_are_undefined_scores():
    X, y = rows_of()
    weights = (np.arange(len(X)) % 6 == 0).astype(float)
    contest = fitted(
        X,
        y,
        fit={"sample_weight": weights},
        scoring=["accuracy", "auc"],
        include=["logistic, L2", "k-NN, L2"],
    )
    assert contest.open_test().openings == 1


@pytest.mark.filterwarnings("ignore::nearline.LeakageWarning")
def test_calibration_respects_rare_classes_and_groups():
    X, y = rows_of()
    groups = np.repeat(np.arange(24), 10)
    contest = fitted(
        X, y, calibrate="temperature", fit={"groups": groups}, include=["logistic, L2"], preset="quick"
    )
    assert "before calibration" in str(contest.open_test())
    y[:1] = "yak"
    with pytest.raises(ValueError, match="needs at least 2 training rows of each class"):
        fitted(X, y, calibrate="sigmoid")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"include": 5}, "include must be names of families, got 5"),
        ({"own": [ScikitGaussianNB()]}, "own must be a dictionary"),
        ({"own": {"nb": ScikitGaussianNB}}, r"own\['nb'\] must be a classifier object"),
        ({"test": "a"}, "test must be a share of the rows, a pair"),
        ({"test": 0.001}, "of 240 rows is no row"),
        ({"time_limit": "5"}, "time_limit must be a number of seconds"),
        ({"random_state": "a"}, "random_state must be a whole number"),
        (
            {"folds": [(np.arange(100), np.arange(100, 240)), (np.arange(9), np.arange(9))]},
            "of a contest those of the training part",
        ),
        ({"include": []}, "None was chosen"),
    ],
)
def test_more_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        fitted(*rows_of(), **options)


def test_bad_groups():
    X, y = rows_of()
    with pytest.raises(ValueError, match="groups must have one label for each of the 240 rows"):
        fitted(X, y, fit={"groups": np.zeros((240, 2))})
    with pytest.raises(ValueError, match="1 row without a group"):
        fitted(X, y, fit={"groups": np.array([None] + ["a"] * 239, dtype=object)})


def test_dense_and_sparse_rows_take_each_others_place():
    X, y = rows_of()
    dense, thin = fitted(X, y), fitted(sparse.csr_matrix(X), y)
    np.testing.assert_array_equal(dense.predict(sparse.csr_matrix(X)), dense.predict(X))
    np.testing.assert_array_equal(thin.predict(X), thin.predict(sparse.csr_matrix(X)))


def test_findings_name_the_columns_of_a_table_of_numbers():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    frame = pd.DataFrame({"height": rng.normal(size=120), "number": np.arange(120), "leak": y * 2.0})
    contest = TryThemAll("quick", include=["nearest centroid"], progress="silent")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeakageWarning)
        contest.fit(frame, y)
    assert {"number", "leak"} <= {finding.subject for finding in contest.findings_}


def test_a_model_of_a_table_of_numbers_goes_by_name(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "c"])
    y = (frame["a"] + frame["b"] + 0.5 * rng.normal(size=120) > 0).to_numpy().astype(int)
    contest = TryThemAll("quick", include=["logistic, L2"], progress="silent", test=None).fit(frame, y)
    nearline.save(contest.model_, tmp_path / "model.nearline")
    model = nearline.load(tmp_path / "model.nearline")
    labels = contest.predict(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for given in (frame, frame[["c", "a", "b"]], frame.assign(d=1.0), frame.to_numpy()):
            np.testing.assert_array_equal(model.predict(given), labels)
    with pytest.raises(ValueError, match="lacks 1 of the 3 columns"):
        model.predict(frame[["a", "b"]])


def test_own_models_are_as_large_as_they_are():
    """A forest keeps its trees in objects, not in arrays of its own; what cannot be pickled is of unknown size, and last."""
    X, y = rows_of()
    forest = RandomForestClassifier(50, random_state=0)
    contest = fitted(X, y, own={"forest": forest, "odd": Unpicklable()}, include=["majority"], preset="quick")
    by_family = {entry.family: entry for entry in contest.leaderboard_}
    part = forest.fit(X[contest._train], y[contest._train])
    assert by_family["forest"].size == pytest.approx(len(pickle.dumps(part)), rel=0.3)
    assert by_family["odd"].size is None
    assert "unknown" in str(contest.leaderboard_)
    order = [entry.family for entry in contest.leaderboard_]
    assert contest.leaderboard_.mean(by_family["odd"]) == contest.leaderboard_.mean(by_family["majority"])
    assert order.index("majority") < order.index("odd")


class Unpicklable(DummyClassifier):
    """The most frequent class, by a model that holds a function."""

    def fit(self, X, y, sample_weight=None):
        self.secret_ = lambda: None
        return super().fit(X, y, sample_weight)


def test_a_size_is_counted_up_to_a_bound(monkeypatch):
    rows = np.zeros((1000, 10))
    assert _sizes.pickled_size(rows) == pytest.approx(rows.nbytes, abs=1000)
    monkeypatch.setattr(_sizes, "MOST", 5000)
    assert _sizes.pickled_size(rows) == 5000


@pytest.mark.parametrize("scoring", ["balanced-accuracy", "auc", "log-loss", "brier"])
def test_stars_compare_rows_by_the_score_that_decides(scoring):
    """Five folds cannot tell 0.8 from 0.97 where rows can."""
    X, y = rows_of()
    contest = fitted(
        X,
        y,
        scoring=scoring,
        preset="quick",
        include=["nearest centroid", "naive Bayes", "majority", "logistic"],
    )
    board = contest.leaderboard_
    known = [entry for entry in board if np.isfinite(board.mean(entry))]
    assert all(entry.added is not None for entry in known)
    best, last = board.best, known[-1]
    among = board.equals_of_best([best, last])
    e = best.added.astype(float) - last.added
    mean = board.mean(best) - board.mean(last)
    z = abs(mean) / np.sqrt((1 + 5 * board.test_to_train) * np.sum(e**2))
    freedom = 1.5 * np.sum(e**2) ** 2 / np.sum(e**4)
    assert (last in among) == (2 * student.sf(z, freedom) > 0.05)
    assert last not in among


def test_include_names_own_models_too():
    X, y = rows_of()
    own = {"my tree": ScikitGaussianNB(), "my logistic": ScikitLogistic()}

    def tried(**options):
        contest = fitted(X, y, own=own, beside=None, **options)
        return {entry.family for entry in contest.leaderboard_}

    assert tried(include="my tree") == {"my tree"}
    assert tried(include=["my tree", "majority"]) == {"my tree", "majority"}
    assert tried(include="majority") == {"majority", *own}  # own ones join, unless some of them are named
    assert tried(include="my") == set(own)
    assert tried(include="majority", exclude="my tree") == {"majority", "my logistic"}
    with pytest.raises(ValueError, match=r"There are: 'majority'.*'my tree', 'my logistic'"):
        fitted(X, y, own=own, include="my forest")
