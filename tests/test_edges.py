"""Grids that go on beyond their ends, and what is said where the best still stands at one."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification

import nearline.selection.contest as contests
import nearline.selection.running as running
from nearline import LogisticRegression, TryThemAll, path_scores, sweep
from nearline.kernels import RBF
from nearline.representations import REPRESENTATIONS
from nearline.selection.contest import Contest
from nearline.selection.edges import Axis, Counts, at_end, edge_of, open_ends
from nearline.selection.families import Fold, families
from nearline.selection.families.kernels import GAMMA, SupportVectors
from nearline.selection.fold_data import TrainingRows
from nearline.selection.kernel_scores import KernelScores
from nearline.selection.leaderboard import Entry, Leaderboard, Skipped, by_reason
from nearline.selection.path_scores import PathScores
from nearline.selection.progress import Silent
from nearline.selection.running import Rules
from nearline.selection.scoring import as_scorers
from nearline.selection.sweep_result import Sweep


@pytest.mark.parametrize(
    ("values", "means", "end"),
    [
        ([1, 2, 3], [0.1, 0.2, 0.3], True),
        ([3, 2, 1], [0.1, 0.2, 0.3], False),
        ([1, 2, 3], [0.1, 0.4, 0.3], None),
        ([1, 2, 3], [0.1, 0.3, 0.3], None),  # another one is as good: nothing climbs
        ([1], [0.1], None),
        ([1, 2, 3], [0.1, 0.2, np.nan], True),  # an undefined score was not tried
        ([1, 2], [np.nan, np.nan], None),
    ],
)
def test_where_the_best_stands(values, means, end):
    assert at_end(values, means) is end


def test_what_lies_beyond():
    alpha = Axis("alpha", "alpha")
    assert alpha.beyond([0.1, 0.032, 0.01, 0.0032], up=False) == [0.001, 0.00032]
    assert alpha.beyond([0.1, 0.01], up=False) == [0.001]
    assert alpha.beyond([0.1, 0.01], up=True) == [1.0]
    assert Axis("shrinkage", "shrinkage", high=1.0).beyond([0.001, 0.3], up=True) == [1.0]
    assert Axis("alpha", "alpha", high=0.1).beyond([0.1, 0.01], up=True) == []
    k = Counts("n_neighbors", "k", low=1, high=150)
    assert k.beyond([1, 50, 100], up=True) == [150]
    assert k.beyond([20, 50], up=True) == [100, 150]
    assert k.beyond([2, 50], up=False) == []
    assert k.beyond([50, 150], up=True) == []
    assert edge_of("k", [1, 5], [0.9, 0.8], low=1) is None  # there is no k below 1


def test_a_new_gamma_comes_with_every_alpha():
    grid = [{"kernel": RBF(g), "alpha": a} for g in (0.1, 1.0) for a in (0.1, 0.01)]
    made = GAMMA.further(grid, 3, up=True)
    assert made == [{"kernel": RBF(10.0), "alpha": a} for a in (0.1, 0.01)]
    means = np.array([0.5, 0.6, 0.6, 0.7])
    alpha = Axis("alpha", "alpha")
    assert open_ends((alpha, GAMMA), grid, means, 3) == [(alpha, False), (GAMMA, True)]


def weak_rows(n=300, d=20):
    """Many features of small use: a weak penalty is best, and far down."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=d) > 0).astype(int)


def noisy_rows(n=500):
    """One feature that says little: many neighbors are best."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, n)
    return (rng.normal(size=n) + 0.9 * y)[:, None], y


def held(X, y, family, rounds, monkeypatch, **options):
    monkeypatch.setattr(contests, "ROUNDS", rounds)
    return TryThemAll("quick", include=[family], progress="silent", test=None, **options).fit(X, y)


@pytest.mark.parametrize(
    ("rows", "family", "parameter"),
    [(weak_rows, "logistic, L1", "alpha"), (noisy_rows, "k-NN, L2", "n_neighbors")],
)
def test_a_grid_goes_on_where_its_best_stands_at_an_end(rows, family, parameter, monkeypatch):
    X, y = rows()
    short = held(X, y, family, 0, monkeypatch)
    long = held(X, y, family, 3, monkeypatch)
    edge = short.best_.edges[0]
    assert edge.value == short.best_.parameters[parameter]
    assert [found.name for found in short.findings_] == ["grid-end"]
    assert f"{edge.place} {edge.parameter} tried" in str(short.leaderboard_)
    assert "> best at an end of its grid" in str(short.leaderboard_)
    assert short.leaderboard_.records()[0]["grid end"] == f"{edge.place} {edge.parameter}"
    # Further candidates are on the same folds, and the first ones are as they were.
    base = {one.parameters[parameter]: one.scores["accuracy"] for one in short.leaderboard_}
    all_of_them = {one.parameters[parameter]: one.scores["accuracy"] for one in long.leaderboard_}
    assert set(base) < set(all_of_them)
    for value, scores in base.items():
        np.testing.assert_array_equal(all_of_them[value], scores)
    assert long.leaderboard_.mean(long.best_) > short.leaderboard_.mean(short.best_)
    assert not long.best_.edges
    assert long.findings_ == []
    assert ">" not in str(long.leaderboard_)
    for entry in long.leaderboard_:  # each as a fit alone
        model = long.estimator(entry)
        alone = [np.mean(model.fit(X[a], y[a]).predict(X[b]) == y[b]) for a, b in long._folds]
        np.testing.assert_allclose(entry.scores["accuracy"], alone, atol=0.04 if parameter == "alpha" else 0)


def test_extensions_are_the_same_every_time(monkeypatch):
    X, y = weak_rows()
    one, other = (held(X, y, "logistic, L1", 3, monkeypatch).leaderboard_ for _ in range(2))
    assert [entry.parameters for entry in one] == [entry.parameters for entry in other]


def test_what_a_time_limit_leaves_open_is_said(monkeypatch):
    X, y = weak_rows()
    monkeypatch.setattr("nearline.selection.budget.PATIENCE", 1e6)
    contest = held(X, y, "logistic, L1", 3, monkeypatch, time_limit=1e-9)
    assert contest.best_.edges[0].why == "the time limit had passed"
    assert "grid-end" in [found.name for found in contest.findings_]


def test_results_say_that_the_best_is_at_an_end():
    X, y = weak_rows()
    found = path_scores(LogisticRegression(), X, y, alphas=[10.0, 1.0, 0.01])
    assert found.edge is not None
    assert found.edge.place == "smallest"
    assert path_scores(LogisticRegression(), X, y, alphas=[1.0, 1e-9, 1e-10]).edge is None  # a plateau
    X, y = noisy_rows()
    assert sweep(X, y, ks=[1, 5, 20]).edge.place == "largest"
    assert sweep(*load_iris(return_X_y=True), ks=[1, 12, 100]).edge is None
    scores = np.array([[[0.5, 0.6], [0.6, 0.7]], [[0.6, 0.7], [0.7, 0.8]]])  # kernels, alphas, folds
    found = KernelScores([RBF(0.1), RBF(1.0)], np.array([1.0, 0.1]), scores, scores)
    assert [(edge.parameter, edge.place) for edge in found.edges] == [
        ("alpha", "smallest"),
        ("gamma", "largest"),
    ]


def test_means_that_differ_by_rounding_are_equal():
    """The larger alpha and k are taken among equals: the order of the folds must not decide."""
    folds = np.array([0.1, 0.7, 0.3, 0.9, 0.6])
    orders = [np.random.default_rng(i).permutation(folds) for i in range(50)]
    low, high = min(orders, key=np.mean), max(orders, key=np.mean)
    assert low.mean() < high.mean()
    scores = np.array([low, high])
    assert PathScores(np.array([1.0, 0.1]), scores, scores).best == 0
    cells = np.zeros((1, 1, 2))
    swept = Sweep(
        np.array([1, 5]),
        ("l2",),
        ("uniform",),
        np.array([[[high, low]]]),
        cells[0],
        cells,
        cells[0, 0],
        cells,
        "accuracy",
    )
    assert swept.best["n_neighbors"] == 5

    def entry(alpha, scores):
        return Entry("path", "as-is", {"alpha": alpha}, {"accuracy": scores}, 0.0, 0.0, 8, "alpha")

    board = Leaderboard([entry(0.1, high), entry(1.0, low)], as_scorers("accuracy"), 0.25)
    assert board.best.parameters["alpha"] == 1.0


def test_every_family_with_a_strength_is_swept():
    """One value alone has no neighbors to be judged by: it may stand at a bad place, and nothing would say so."""
    X, y = make_classification(120, 5, random_state=0)
    X = np.abs(X)
    fold = Fold(X, y, None, X, np.array([0, 1]))
    for preset in ("quick", "default", "thorough"):
        for family in families(preset):
            if "numbers" in family.takes and family.path is not None and family.refuses(fold) is None:
                grid = family.grid(fold, preset)
                axes = family.axes(fold, grid)
                assert [axis.key for axis in axes][:1] == [family.path]
                assert len({axes[0].place(one) for one in grid}) > 1, family.name


def test_what_was_skipped_is_said_by_reason():
    names = [("SVM, hinge", "words"), ("SVM, hinge", "characters"), ("k-NN, L2", "words")]
    skipped = [Skipped(family, way, "too slow") for family, way in names]
    assert by_reason(skipped) == {"too slow": "SVM, hinge on words and characters; k-NN, L2 on words"}


# -- judged on the largest fold ---------------------------------------------------------------------------------------


def board_in_time(families_, sizes=(15, 40, 100), n=140, **rules):
    X, y = make_classification(n, 4, random_state=0)
    folds = [(np.arange(size), np.arange(size, min(n, size + 40))) for size in sizes]
    given = Rules(as_scorers("accuracy"), "default", Silent(), **rules)
    rows = TrainingRows(X, y, np.unique(y), None, folds, independent=False)
    return Contest(rows, families_, [REPRESENTATIONS["as-is"]], given)


def test_families_are_judged_on_the_fold_with_most_rows():
    """Folds in time grow: what the first can bear, the last may not."""
    board = board_in_time([SupportVectors("kernel SVM", most_rows=50)]).run()
    assert len(board) == 0
    assert board.skipped[0].reason.startswith("a Gram matrix of 100 rows")


def test_k_is_one_that_every_fold_has():
    board = board_in_time(families(include=["k-NN, L2"])).run()
    assert board.skipped == []
    ks = [entry.parameters["n_neighbors"] for entry in board]
    assert max(ks) <= 15
    assert {1, 15} <= set(ks)


def test_folds_run_side_by_side_only_where_memory_allows(monkeypatch):
    """Each fold at the same time needs what one needs."""
    seen = []

    def watched(task, items, *, cells):
        seen.append(cells > 0)
        return [task(item) for item in items]

    monkeypatch.setattr(running, "side_by_side", watched)
    monkeypatch.setattr(running, "thread_limit", lambda: 3)
    family = families(include=["nearest centroid"])
    for memory in (1e9, 2e4):
        assert len(board_in_time(family, memory=memory).run())
    need = 2 * 100 * 4 * 8
    assert need <= 2e4 < 3 * need + 2 * need
    assert seen == [True, False]


def test_a_path_without_a_grid_goes_on():
    """Where the smallest default alpha is best, smaller ones are tried on the same folds; given grids stay as they are."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X.sum(axis=1) > 0).astype(int)
    X[:, 0] *= 1e-3  # as large a part of the answer as the others, at a weight that only a tiny alpha allows
    found = path_scores(LogisticRegression(tol=1e-6), X, y, random_state=1)
    assert found.alphas.min() < 1e-6
    assert (np.diff(found.alphas) < 0).all()
    same = path_scores(LogisticRegression(tol=1e-6), X, y, found.alphas, random_state=1)
    assert found.scores == pytest.approx(same.scores, abs=0.02)
    assert path_scores(LogisticRegression(), X, y, [1e-1, 1e-2]).alphas.tolist() == [1e-1, 1e-2]
