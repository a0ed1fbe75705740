"""One search gives every k and every weighting, with the scores of fitting each model alone."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.model_selection import KFold, LeaveOneOut, ShuffleSplit, StratifiedKFold, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nearline import KNeighborsClassifier, KNeighborsRegressor, Lq, Temperature, sweep
from nearline.neighbors.ballots import BOUNDARIES
from nearline.neighbors.vote import TIES

KS = [1, 2, 3, 5, 8]
WEIGHTS = ["uniform", "distance", Temperature(0.5)]


def tied(n=80, seed=0):
    """Whole numbers in the plane: ties of both kinds are the rule."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(n, 2)).astype(float)
    y = np.array(["a", "b", "c"])[(X.sum(axis=1) + rng.integers(0, 4, n)).astype(int) % 3]
    return X, y


def alone(X, y, metric, weights, k, splits, regression=False, transformer=None, **rules):
    """Each model fitted and scored by itself."""
    kind = KNeighborsRegressor if regression else KNeighborsClassifier
    scores = []
    for train, test in splits:
        model = kind(k, metric=metric, weights=weights, **rules)
        if transformer is not None:
            model = make_pipeline(transformer, model)
        given = isinstance(metric, str) and metric == "precomputed"
        columns = train if given else slice(None)
        model.fit(X[train][:, columns], y[train])
        scores.append(model.score(X[test][:, columns], y[test]))
    return np.array(scores)


def assert_equal_to_separate_fits(result, X, y, splits, **options):
    splits = list(splits)
    for i, metric in enumerate(result.metrics):
        for a, weights in enumerate(result.weights):
            for b, k in enumerate(result.ks):
                expected = alone(X, y, metric, weights, int(k), splits, **options)
                np.testing.assert_array_equal(result.scores[i, a, b], expected)


@pytest.mark.parametrize("ties", list(TIES))
@pytest.mark.parametrize("boundary", list(BOUNDARIES))
def test_scores_are_those_of_separate_fits(boundary, ties):
    """H4: bit for bit, with ties of both kinds."""
    X, y = tied()
    result = sweep(X, y, KS, ["l2", "l1"], WEIGHTS, folds=2, boundary=boundary, ties=ties)
    splits = StratifiedKFold(2, shuffle=True, random_state=0).split(X, y)
    assert_equal_to_separate_fits(result, X, y, splits, boundary=boundary, ties=ties)
    assert result.boundary_ties.max() > 0.1
    assert result.vote_ties.max() > 0.1


@pytest.mark.parametrize("ties", ["nearest", "prior"])
def test_leave_one_out(ties):
    """H4: a fold for each row."""
    X, y = tied(40)
    result = sweep(X, y, [1, 4, 39], "l1", ["uniform", "distance"], "leave-one-out", ties=ties)
    assert_equal_to_separate_fits(result, X, y, LeaveOneOut().split(X), ties=ties)
    assert result.scores.shape == (1, 2, 3, 40)


@pytest.mark.parametrize(
    "splitter", [KFold(3), ShuffleSplit(3, test_size=0.3, random_state=1), TimeSeriesSplit(3), LeaveOneOut()]
)
@pytest.mark.parametrize("ties", ["nearest", "prior"])
def test_any_splitter(splitter, ties):
    """H2: also where training rows are not all the others."""
    X, y = tied(24)
    result = sweep(X, y, [1, 3, 6], ["l2"], WEIGHTS, splitter, ties=ties)
    assert_equal_to_separate_fits(result, X, y, splitter.split(X, y), ties=ties)


def test_fold_numbers():
    """H2: groups of rows that belong together are left out together."""
    X, y = tied(60)
    groups = np.array(["u", "v", "w"])[np.arange(60) // 7 % 3]
    result = sweep(X, y, [1, 3], folds=groups)
    splits = [(np.flatnonzero(groups != g), np.flatnonzero(groups == g)) for g in "uvw"]
    assert_equal_to_separate_fits(result, X, y, splits)


@pytest.mark.parametrize("kind", ["float32", "uint8", "csr"])
def test_kinds_of_rows(kind):
    X, y = tied(60)
    rows = csr_matrix(X) if kind == "csr" else X.astype(kind)
    np.testing.assert_array_equal(
        sweep(rows, y, KS, ["l2", "l1"]).scores, sweep(X, y, KS, ["l2", "l1"]).scores
    )


def test_metrics_as_objects_and_given_distances():
    """F3 in H4."""
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    metrics = [Lq(3), "chebyshev", lambda a, b: abs(a - b).sum()]
    splits = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    result = sweep(X, y, [1, 5], metrics, ["uniform", lambda d: np.exp(-d)], folds=3)
    assert_equal_to_separate_fits(result, X, y, splits)
    assert {row["metric"] for row in result.rows()} == {"l3", "chebyshev", "<lambda>"}
    D = cdist(X, X)
    for folds in (3, ShuffleSplit(2, random_state=0)):
        given = sweep(D, y, [1, 5], "precomputed", folds=folds)
        pairs = splits if folds == 3 else list(folds.split(X))
        assert_equal_to_separate_fits(given, D, y, pairs)


def test_a_transformer_sees_training_rows_only():
    """H3."""
    X, y = load_iris(return_X_y=True)
    transformer = make_pipeline(StandardScaler(), PCA(2))
    result = sweep(X, y, [1, 9], ["l2"], ["distance"], folds=3, transformer=transformer)
    splits = StratifiedKFold(3, shuffle=True, random_state=0).split(X, y)
    assert_equal_to_separate_fits(result, X, y, splits, transformer=transformer)


@pytest.mark.parametrize("outputs", [None, 2])
def test_regression(outputs):
    """F5 in H4."""
    X, _ = tied(60)
    y = np.random.default_rng(3).normal(size=60 if outputs is None else (60, outputs))
    result = sweep(X, y, [1, 4, 9], ["l2", "l1"], WEIGHTS, folds=4, scoring="r2")
    splits = KFold(4, shuffle=True, random_state=0).split(X)
    assert_equal_to_separate_fits(result, X, y, splits, regression=True)
    errors = sweep(X, y, [1, 4], folds="leave-one-out", scoring="neg_mean_squared_error")
    assert (errors.scores <= 0).all()
    with pytest.raises(ValueError, match="r2 needs at least 2 rows in each fold"):
        sweep(X, y, [1], folds="leave-one-out", scoring="r2")


def test_the_result():
    """H2: each fold's outcome, mean, deviation, standard error; the best, and the largest k within one standard error."""
    X, y = load_iris(return_X_y=True)
    result = sweep(X, y, [25, 1, 5, 5, 60, 110], ["l2", "l1"], ["uniform", "distance"])
    assert result.ks.tolist() == [1, 5, 25, 60, 110]
    np.testing.assert_allclose(result.mean, result.scores.mean(axis=3))
    np.testing.assert_allclose(result.standard_error, result.scores.std(axis=3, ddof=1) / np.sqrt(5))
    rows = result.rows()
    assert len(rows) == 20
    assert [row["mean"] for row in rows] == sorted(result.mean.ravel(), reverse=True)
    assert (rows[0]["k"], rows[0]["mean"]) == (result.best["n_neighbors"], result.mean.max())
    assert rows[0].keys() >= {
        "metric",
        "weights",
        "deviation",
        "standard_error",
        "boundary_ties",
        "vote_ties",
        "seconds",
    }
    simple = result.one_standard_error
    i, a = result.metrics.index(simple["metric"]), result.weights.index(simple["weights"])
    b = result.ks.tolist().index(simple["n_neighbors"])
    best = result.ks.tolist().index(result.best["n_neighbors"])
    limit = result.mean[i, a, best] - result.standard_error[i, a, best]
    assert result.mean[i, a, b] >= limit
    assert (result.mean[i, a, b + 1 :] < limit).all()
    assert KNeighborsClassifier(**simple).fit(X, y).score(X, y) > 0.9
    assert result.seconds > 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ks": [41]}, r"k = 41 .* only 40 rows.*k <= 40"),
        ({"ks": [0]}, "whole numbers >= 1"),
        ({"ks": [1.5]}, "whole numbers >= 1"),
        ({"ks": []}, "at least one"),
        ({"metrics": []}, "metrics is empty"),
        ({"metrics": ["taxi"]}, "Unknown metric 'taxi'"),
        ({"weights": ["gauss"]}, "Unknown weights 'gauss'"),
        ({"boundary": "half"}, "Unknown boundary"),
        ({"ties": "coin"}, "Unknown ties"),
        ({"scoring": "f1"}, "Unknown scoring 'f1'.*'accuracy'"),
        ({"folds": 1}, "between 2 and the number of rows that they divide"),
        ({"folds": "three"}, "'leave-one-out'.*got 'three'"),
        ({"folds": [0, 1]}, r"one fold number for each of the 60 rows, got shape \(2,\)"),
        ({"folds": [0] * 60}, "at least 2 folds, got 1"),
    ],
)
def test_what_is_wrong_is_said(change, message):
    X, y = tied(60)
    with pytest.raises(ValueError, match=message):
        sweep(X, y, **{"ks": [1], "folds": 3, **change})


def test_plot_of_a_sweep():
    """H2: a point for each fold's outcome, the line through the means, bars of one standard deviation."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from nearline import plots

    X, y = tied()
    result = sweep(X, y, KS, ["l2", "l1"], ["uniform", Temperature(0.5)])
    ax = plots.plot_sweep(result)
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    legend = [text for text in legend if ":" not in text]  # the marks of what is chosen
    assert legend == ["l2, uniform", "l2, softmax(0.5)", "l1, uniform", "l1, softmax(0.5)"]
    np.testing.assert_array_equal(
        np.sort(ax.get_lines()[0].get_ydata()), np.sort(result.scores[0, 0].ravel())
    )
    for bars, (i, a) in zip(ax.containers, np.ndindex(2, 2)):
        np.testing.assert_allclose(bars[0].get_ydata(), result.mean[i, a])
        segments = np.array([segment[:, 1] for segment in bars[2][0].get_segments()])
        np.testing.assert_allclose((segments[:, 1] - segments[:, 0]) / 2, result.deviation[i, a])
    single = plots.plot_sweep(sweep(*tied(120), KS, folds="leave-one-out"))
    assert "standard error" in single.get_title()
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()
    plt.close("all")


@pytest.mark.parametrize(
    "rules", [{"boundary": "list", "ties": "order"}, {"algorithm": "exact", "ties": "prior"}]
)
def test_what_is_best_is_the_model_that_was_scored(rules):
    X, y = tied(120)
    result = sweep(X, y, [1, 4, 9], folds=3, **rules)
    for chosen in (result.best, result.one_standard_error):
        assert {name: chosen[name] for name in rules} == rules
    numbers = StratifiedKFold(3, shuffle=True, random_state=0)
    scores = [
        KNeighborsClassifier(**result.best).fit(X[a], y[a]).score(X[b], y[b]) for a, b in numbers.split(X, y)
    ]
    np.testing.assert_allclose(np.mean(scores), result.mean.max())
    means = sweep(X, X[:, 0], [1, 4], folds=3, scoring="neg_mean_squared_error", **rules)
    KNeighborsRegressor(**means.best)
    assert sorted(sweep(X, y, [1], folds=3).best) == ["metric", "n_neighbors", "weights"]


def test_folds_as_pairs():
    X, y = tied(60)
    pairs = list(KFold(3).split(X))
    same = sweep(X, y, [1, 3], folds=pairs)
    np.testing.assert_array_equal(same.scores, sweep(X, y, [1, 3], folds=KFold(3)).scores)
    masks = [(np.arange(60) >= 20, np.arange(60) < 20), (np.arange(60) < 40, np.arange(60) >= 40)]
    assert sweep(X, y, [1, 3], folds=masks).scores.shape == (1, 1, 2, 2)
    with pytest.raises(ValueError, match="got one of 60 and 5 rows with 5 in common"):
        sweep(X, y, [1], folds=[(np.arange(60), np.arange(5)), (np.arange(5, 60), np.arange(5))])


def test_lists_may_be_arrays():
    X, y = tied(60)
    result = sweep(
        X, y, np.array([1, 3]), metrics=np.array(["l2", "l1"]), weights=np.array(["uniform", "distance"])
    )
    assert result.metrics == ("l2", "l1")
    assert result.weights == ("uniform", "distance")
