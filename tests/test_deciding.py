"""Costs, thresholds and class weights: what decides where classes are of different worth."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, f1_score

from nearline import TryThemAll, load, save
from nearline.explain import lines, reasons
from nearline.predictions import Predictions, predictions_of
from nearline.selection.costs import cost_matrix
from nearline.selection.decisions import MOST, Threshold, tuned_threshold
from nearline.selection.families import families
from nearline.selection.families._base import Fold, fit_weighted
from nearline.selection.scoring import SCORERS

CLASSES = np.array(["no", "yes"])
QUICK = {"preset": "quick", "progress": "silent"}


@pytest.fixture(scope="module")
def rare() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    y = (rng.random(800) < 0.1).astype(int)
    return rng.normal(size=(800, 6)) + y[:, None], CLASSES[y]


@given(
    st.lists(st.tuples(st.integers(-5, 5), st.booleans()), min_size=4, max_size=MOST // 2),
    st.sampled_from(["accuracy", "balanced-accuracy", "f1", "mcc"]),
)
@settings(max_examples=60, deadline=None)
def test_the_tuned_threshold_is_the_best_of_all(rows: list[tuple[int, bool]], name: str) -> None:
    """Of few rows every threshold is tried: none of a loop over all of them is better."""
    ranking, codes = np.array([r for r, _ in rows], float), np.array([int(c) for _, c in rows])
    if len(set(codes.tolist())) < 2:
        return
    scorer = SCORERS[name].of(np.array([0, 1]), 1)

    def score(at: float) -> float:
        labels = (ranking >= at).astype(int)
        found = scorer(Predictions(labels, 2), codes, np.array([0, 1]), None)
        return -np.inf if np.isnan(found) else found

    best = max(score(at) for at in [*np.unique(ranking), ranking.max() + 1])
    assert score(tuned_threshold(ranking, codes, np.array([0, 1]), scorer)) == pytest.approx(best)


def test_folds_rank_rows_as_the_fitted_model_does(rare: tuple[np.ndarray, np.ndarray]) -> None:
    """A threshold that is found on folds is applied to the last fit: both must be on one scale, for every family."""
    X, y = rare
    codes = (y == "yes").astype(int)
    X = np.abs(X)  # multinomial naive Bayes takes no negative numbers
    fold = Fold(X[:400], codes[:400], None, X[400:], np.array([0, 1]))
    for family in families("thorough"):
        if (
            family.refuses(fold) is not None
            or "numbers" not in family.takes
            or family.name == "k-NN, learned"
        ):
            continue
        grid = family.grid(fold, "quick")
        grid = grid[len(grid) // 2 :][
            :1
        ]  # no end of a path: models of hardly any weights are known to few digits
        outcome = next(iter(family.outcomes(fold, grid)))
        model = family.estimator(grid[0])
        fit_weighted(model, fold, fold.codes)
        ranking, own = (
            outcome.predictions.ranking(),
            predictions_of(model, fold.X_test, fold.classes).ranking(),
        )
        assert (ranking is None) == (own is None), family.name
        if ranking is not None:
            assert outcome.predictions.ranked_by == predictions_of(model, fold.X_test, fold.classes).ranked_by
            spread = np.ptp(ranking) or 1.0
            assert np.abs(ranking - own).max() < 0.1 * spread, family.name  # folds are fitted to 1e-3


@pytest.mark.parametrize("threshold", ["tune", None])
def test_a_score_of_classes_finds_rare_ones_that_accuracy_misses(threshold) -> None:
    """Two normal clouds that overlap, one of them rare: the most accurate answer is nearly always the large one."""
    rng = np.random.default_rng(0)
    y = CLASSES[(rng.random(2000) < 0.08).astype(int)]
    X = rng.normal(size=(2000, 4)) + 0.7 * (y == "yes")[:, None]
    X, X_test, y, y_test = X[::2], X[1::2], y[::2], y[1::2]
    plain = TryThemAll(**QUICK, test=None).fit(X, y)
    told = [one for one in plain.findings_ if one.name == "accuracy-misleads"]
    assert "balanced-accuracy" in told[0].remedy
    fair = TryThemAll(**QUICK, test=None, scoring="balanced-accuracy", threshold=threshold).fit(X, y)
    scores = [balanced_accuracy_score(y_test, one.predict(X_test)) for one in (plain, fair)]
    assert scores[1] > scores[0] + 0.1
    assert not [one for one in fair.findings_ if one.name == "accuracy-misleads"]
    weighted = [one for one in fair.leaderboard_ if one.parameters.get("class_weight") == "balanced"]
    assert {"logistic, L2", "SVM, squared hinge"} <= {one.family for one in weighted}


def test_scores_with_a_threshold_are_those_of_labels_by_the_other_folds(
    rare: tuple[np.ndarray, np.ndarray],
) -> None:
    """The mean on the leaderboard is recomputed by hand: each fold with the threshold of the others."""
    X, y = rare
    contest = TryThemAll(**QUICK, include="logistic, L2", test=None, scoring="f1", threshold="tune").fit(X, y)
    entry = next(one for one in contest.leaderboard_ if "class_weight" not in one.parameters)
    plain = contest.estimator(entry).set_params(rule=None)
    folds = [(train, test) for train, test in contest._folds]
    said = [plain.fit(X[train], y[train]).decision_function(X[test]) for train, test in folds]
    scorer = contest.leaderboard_.primary
    for f, (_, test) in enumerate(folds):
        others = [g for g in range(len(folds)) if g != f]
        ranking = np.concatenate([said[g] for g in others])
        codes = np.concatenate([(y[folds[g][1]] == "yes").astype(int) for g in others])
        at = tuned_threshold(ranking, codes, CLASSES, scorer)
        own = f1_score(y[test], CLASSES[(said[f] >= at).astype(int)], pos_label="yes")
        assert entry.scores["f1"][f] == pytest.approx(
            own, abs=0.06
        )  # a row at the threshold may be on either side


def test_a_model_keeps_its_threshold_and_says_it(rare: tuple[np.ndarray, np.ndarray], tmp_path) -> None:
    X, y = rare
    contest = TryThemAll(
        **QUICK, include="squared hinge", scoring="balanced-accuracy", threshold="tune", calibrate="needed"
    ).fit(X, y)
    result = contest.open_test()
    rule = contest.chosen_.rule
    assert isinstance(rule, Threshold)
    assert "balanced-accuracy" in result.rule
    save(contest.model_, tmp_path / "model.nearline")
    model = load(tmp_path / "model.nearline")
    labels = model.predict(X)
    assert np.array_equal(labels, contest.predict(X))
    chain = model.estimator_  # calibrated: labels stay those of the threshold
    assert np.array_equal(labels, CLASSES[(chain.decision_function(X) >= rule.at).astype(int)])
    assert not np.array_equal(labels, chain.steps[-1][1].predict(chain[:-1].transform(X)))
    explained = reasons(model, X[:50])
    assert [one.label for one in explained] == labels[:50].tolist()
    assert "threshold tuned for balanced-accuracy" in lines(explained[0], CLASSES.tolist(), str)[0]


def test_costs_decide(rare: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = rare
    costs = np.array([[0.0, 1.0], [20.0, 0.0]])
    found = {}
    for threshold in ("auto", "costs", None):
        contest = TryThemAll(**QUICK, costs=costs, threshold=threshold).fit(X, y)
        result = contest.open_test()
        codes = [
            np.searchsorted(CLASSES, one)
            for one in (contest.opened_part()[1], contest.predict(contest.opened_part()[0]))
        ]
        assert result.scores["cost"] == pytest.approx(costs[codes[0], codes[1]].mean())
        assert list(result.scores) == ["cost", "accuracy"]
        found[threshold] = result.scores["cost"]
    always = min(costs[np.searchsorted(CLASSES, y)][:, k].mean() for k in (0, 1))
    assert max(found.values()) < always  # cheaper than any constant answer


def test_costs_of_several_classes_take_the_least_expected_one() -> None:
    X, y = make_classification(400, 6, n_informative=4, n_classes=3, random_state=0)
    costs = {(2, 0): 30.0, (2, 1): 30.0}
    contest = TryThemAll(**QUICK, include="logistic, L2", costs=costs, test=None).fit(X, y)
    matrix = cost_matrix(costs, np.array([0, 1, 2]))
    P = contest.predict_proba(X)
    assert np.array_equal(contest.predict(X), (P @ matrix).argmin(axis=1))
    assert (contest.predict(X) == 2).mean() > 1.3 * (y == 2).mean()


def test_a_journal_goes_on_to_the_same_thresholds(rare: tuple[np.ndarray, np.ndarray], tmp_path) -> None:
    X, y = rare
    settings = {**QUICK, "include": "logistic, L2", "scoring": "f1", "threshold": "tune", "test": None}
    first, again = (TryThemAll(**settings, journal=tmp_path / "journal").fit(X, y) for _ in range(2))
    assert [one.rule for one in first.leaderboard_] == [one.rule for one in again.leaderboard_]
    assert np.array_equal(first.best_.scores["f1"], again.best_.scores["f1"])
    with pytest.raises(ValueError, match="costs or threshold"):
        TryThemAll(**{**settings, "threshold": None}, journal=tmp_path / "journal").fit(X, y)


def test_contests_with_thresholds_are_the_same_on_any_number_of_threads(
    rare: tuple[np.ndarray, np.ndarray],
) -> None:
    from nearline import num_threads

    boards = []
    for threads in (1, 2):
        with num_threads(threads):
            boards.append(
                TryThemAll(**QUICK, test=None, scoring="f1", threshold="tune").fit(*rare).leaderboard_
            )
    for one, other in itertools.zip_longest(*boards):
        assert one.rule == other.rule
        assert np.array_equal(one.scores["f1"], other.scores["f1"])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"costs": [[0, 1, 1], [1, 0, 1]]}, r"shape \(2, 3\).*2 x 2|2 x 2.*shape \(2, 3\)"),
        ({"costs": [[0, np.nan], [1, 0]]}, "finite"),
        ({"costs": [[1, 0], [0, 1]]}, "right answer"),
        ({"costs": "dear"}, "matrix"),
        ({"costs": {("no", "maybe"): 3}}, "classes"),
        ({"costs": {("no", "yes"): "much"}}, "number"),
        ({"threshold": "costs"}, "give costs"),
        ({"threshold": "tune", "scoring": "auc"}, "score of labels"),
        ({"threshold": "best"}, "threshold"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(
    rare: tuple[np.ndarray, np.ndarray], settings, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        TryThemAll(**QUICK, **settings).fit(*rare)


def test_thresholds_are_between_two_classes() -> None:
    X, y = make_classification(200, 6, n_informative=4, n_classes=3, random_state=0)
    with pytest.raises(ValueError, match="between two"):
        TryThemAll(**QUICK, threshold="tune").fit(X, y)


def test_costs_and_threshold_on_the_command_line(
    rare: tuple[np.ndarray, np.ndarray], tmp_path, capsys
) -> None:
    pytest.importorskip("typer")
    from nearline.cli._run import run

    X, y = rare
    file, out = tmp_path / "rows.csv", tmp_path / "out"
    file.write_text(
        "\n".join(["a,b,c,kind", *(",".join([*map(str, x[:3]), label]) for x, label in zip(X, y))])
    )
    common = [
        "try",
        str(file),
        "--target",
        "kind",
        "--preset",
        "quick",
        "--include",
        "logistic",
        "--out",
        str(out),
    ]
    assert run([*common, "--costs", "yes:no=20"]) == 0
    assert "labels: yes is answered where" in capsys.readouterr().out
    assert "threshold tuned for cost" in (out / "report.html").read_text()
    assert run(["explain", str(out / "model.nearline"), str(file), "--row", "1"]) == 0
    assert "threshold tuned for cost" in capsys.readouterr().out
    assert run([*common, "--force", "--costs", "yes:maybe=20"]) == 2
    assert "the classes are no, yes" in capsys.readouterr().err
    assert run([*common, "--force", "--costs", "much"]) == 2
    assert "true:answered=cost" in capsys.readouterr().err
