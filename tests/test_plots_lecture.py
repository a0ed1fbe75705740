"""Pictures that lectures show, by what is drawn."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib").use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
from sklearn.datasets import load_digits, load_iris  # noqa: E402

from nearline import (  # noqa: E402
    GaussianNB,
    Index,
    KNeighborsClassifier,
    LinearSVM,
    LogisticRegression,
    Lq,
    Mahalanobis,
    OneVsOne,
    OneVsRest,
    capacity_curve,
    convex_regions,
    plots,
    sparsemax,
    voronoi_edges,
)
from nearline.plots.recipes.models import MODELS, model_of  # noqa: E402
from nearline.plots.samples import three_arms  # noqa: E402

X, Y = load_iris(return_X_y=True)
X = X[:, 2:]
ARMS = three_arms()


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def painted(ax):
    return np.asarray(ax.get_images()[0].get_array())


def hatched(ax):
    return any(any(getattr(one, "hatches", ())) for one in ax.collections)


def test_panels_show_what_the_models_predict_and_where_votes_tie():
    models = {f"K = {k}": KNeighborsClassifier(k).fit(X, Y) for k in (1, 2)}
    one, two = plots.compare_regions(models, X, Y, steps=25)
    low, high = X.min(axis=0), X.max(axis=0)
    pad = 0.1 * (high - low)
    grid = np.stack(
        np.meshgrid(*(np.linspace(low[j] - pad[j], high[j] + pad[j], 25) for j in (0, 1))), axis=-1
    )
    for ax, model in zip((one, two), models.values(), strict=True):
        np.testing.assert_array_equal(painted(ax), model.predict(grid.reshape(-1, 2)).reshape(25, 25))
    assert models["K = 2"].explain(grid.reshape(-1, 2)).vote_ties.any()
    assert [hatched(one), hatched(two)] == [False, True]
    assert [ax.get_legend() is None for ax in (one, two)] == [True, False]


def test_probabilities_are_shades():
    (ax,) = plots.compare_regions([GaussianNB().fit(X, Y)], X, Y, proba=True, steps=20)
    shade = np.asarray(ax.get_images()[0].get_alpha())
    assert shade.shape == (20, 20)
    assert 0.05 <= shade.min() < shade.max() <= 0.6 + 1e-12
    with pytest.raises(ValueError, match="gives no probabilities"):
        plots.compare_regions([LinearSVM().fit(X, Y)], X, Y, proba=True, steps=20)


def test_one_feature_has_scores_and_thresholds():
    rows, y = X[50:, :1], Y[50:]
    logistic, svm = LogisticRegression(alpha=1e-3).fit(rows, y), LinearSVM().fit(rows, y)
    axes = plots.compare_regions({"p": logistic}, rows, y, proba=True)
    line = axes[0].get_lines()[-2]
    np.testing.assert_allclose(line.get_ydata(), logistic.predict_proba(line.get_xdata()[:, None])[:, 1])
    (ax,) = plots.compare_regions([svm], rows, y)
    threshold = -float(svm.intercept_[0]) / float(svm.coef_[0, 0])
    assert f"threshold {threshold:.3g}"[:13] in " ".join(t.get_text() for t in ax.get_legend().get_texts())


@pytest.mark.parametrize("metric", ["l1", "l-infinity", Lq(3), "cosine", Mahalanobis("total")])
def test_traced_edges_are_where_two_rows_are_nearest(metric):
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(15, 2)) + 0.4, rng.integers(0, 2, 15)
    edges = voronoi_edges(rows, y, metric=metric)
    index = Index(rows, metric=metric)
    found = index.search(edges.segments.mean(axis=1), 2)
    width = float(np.ptp(edges.frame[:2])) / 300
    gap = found.distances[:, 1] - found.distances[:, 0]
    far = found.distances.max()
    assert np.quantile(gap, 0.95) < (0.02 if metric == "cosine" else 3 * width) * max(far, 1.0)
    np.testing.assert_array_equal(edges.boundary, y[edges.rows[:, 0]] != y[edges.rows[:, 1]])
    assert len(edges.segments) > 100


def test_cells_of_straight_metrics_agree_with_the_exact_ones():
    rows = np.random.default_rng(1).normal(size=(9, 2))
    exact, traced = voronoi_edges(rows), voronoi_edges(rows, metric=Mahalanobis(np.eye(2)))
    length = [float(np.hypot(*(e.segments[:, 1] - e.segments[:, 0]).T).sum()) for e in (exact, traced)]
    assert length[1] == pytest.approx(length[0], rel=0.01)
    with pytest.raises(ValueError, match="cannot be drawn"):
        voronoi_edges(rows, metric="hamming")


def test_what_votes_leave_open_is_seen_and_the_joint_machine_is_convex():
    models = {
        "rest": OneVsRest(LogisticRegression(alpha=1e-3)),
        "pairs": OneVsOne(LogisticRegression(alpha=1e-3)),
        "joint": LogisticRegression(alpha=1e-3),
    }
    fitted = {name: model.fit(ARMS.X, ARMS.y) for name, model in models.items()}
    for name in ("rest", "pairs"):
        low, high = ARMS.X.min(axis=0), ARMS.X.max(axis=0)
        at = np.random.default_rng(0).uniform(low, high, size=(2000, 2))
        assert fitted[name].ambiguous(at).mean() > 0.05
    assert convex_regions(fitted["joint"].predict, ARMS.X)
    found = convex_regions(fitted["pairs"].predict, ARMS.X)
    assert not found
    a, b, between = found.example
    labels = fitted["pairs"].predict(np.stack([a, b, between]))
    assert labels[0] == labels[1] != labels[2]
    axes = plots.PICTURES["reductions"]()
    assert [hatched(ax) for ax in axes] == [True, True, False]
    with pytest.raises(ValueError, match="rows of finite numbers"):
        convex_regions(fitted["joint"].predict, [1.0])


def test_the_course_shows_every_picture():
    page = (Path(__file__).resolve().parents[1] / "docs" / "course.md").read_text()
    assert [name for name in plots.PICTURES if f"img/pictures/{name}.png" not in page] == []


def test_unit_balls_have_length_one():
    for q, line in zip((1, 3, np.inf), plots.plot_unit_balls([1, 3, np.inf]).get_lines(), strict=True):
        at = np.abs(np.column_stack(line.get_data()))
        np.testing.assert_allclose(np.linalg.norm(at, q, axis=1), 1.0)
    with pytest.raises(ValueError, match="q > 0"):
        plots.plot_unit_balls([0])


def test_simplex_shows_the_maps():
    _, right = plots.plot_simplex([0.3, 0.2, 0.1])
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
    mark = next(line for line in right.get_lines() if line.get_marker() == "o")
    np.testing.assert_allclose(np.ravel(mark.get_data()), sparsemax([0.3, 0.2, 0.1]) @ corners)
    with pytest.raises(ValueError, match="three classes"):
        plots.plot_simplex([1.0, 2.0])


def test_folds_are_bars_over_the_rows_left_out():
    ax = plots.plot_folds([0, 1] * 6, np.arange(12) % 3)
    bars = [c for c in ax.collections if hasattr(c, "get_verts") or c.get_paths()]
    left_out = bars[1].get_paths()  # of the first fold
    assert sorted(round(float(path.vertices[:, 0].min())) for path in left_out) == [0, 3, 6, 9]
    with pytest.raises(ValueError, match="too many to be seen"):
        plots.plot_folds(np.arange(3000) % 2)


def test_a_query_is_shown_with_its_neighbors():
    D, y = load_digits(return_X_y=True)
    model = KNeighborsClassifier(4).fit(D[1:], y[1:])
    axes = plots.plot_query(model, D[1:], y[1:], D[0], shape=(8, 8))
    votes = model.explain(D[:1])
    assert [ax.get_title().split("\n")[0] for ax in axes[1:]] == [str(c) for c in y[1:][votes.indices[0]]]
    flat = plots.plot_query(KNeighborsClassifier(3).fit(X, Y), X, Y, [4.0, 1.2])
    assert len([line for line in flat.get_lines() if len(line.get_xdata()) == 2]) >= 3
    bars = plots.plot_query(KNeighborsClassifier(3).fit(D, y), D, y, D[5])
    assert bars.patches[0].get_width() == 0
    with pytest.raises(ValueError, match="64 numbers"):
        plots.plot_query(model, X, Y, D[0])


def test_capacity_shows_errors():
    curve = capacity_curve(KNeighborsClassifier(), X, Y, [1, 5, 50])
    ax = plots.plot_capacity(curve)
    np.testing.assert_allclose(ax.containers[0].lines[0].get_ydata(), 1 - curve.test.mean(axis=1))
    assert ax.xaxis_inverted()
    with pytest.raises(ValueError, match="1 - accuracy"):
        plots.plot_capacity(capacity_curve(KNeighborsClassifier(), X, Y, [1, 5], scoring="log-loss"))


def test_posteriors_are_bayes_rule():
    left, right = plots.plot_posteriors(X[50:, :1], Y[50:])
    joint = np.array([line.get_ydata() for line in left.get_lines()])
    np.testing.assert_allclose(right.get_lines()[0].get_ydata(), joint[1] / joint.sum(axis=0), atol=1e-9)
    area = np.trapezoid(joint, left.get_lines()[0].get_xdata()).sum()
    assert area == pytest.approx(1.0, abs=0.02)
    assert len(plots.plot_posteriors(X, Y, steps=20)) == 3


def test_separators_separate_and_the_bold_one_is_the_widest():
    ax = plots.plot_separators(X[:100], Y[:100], starts=6)
    rings = ax.collections[-1].get_offsets()
    model = LinearSVM(hard_margin=True, tol=1e-8).fit(X[:100], Y[:100])
    np.testing.assert_allclose(np.sort(rings, axis=0), np.sort(X[:100][model.support_], axis=0))
    with pytest.raises(ValueError, match="No line separates"):
        plots.plot_separators(X[50:], Y[50:])


@pytest.mark.parametrize("name", MODELS)
def test_models_by_name(name):
    takes = MODELS[name][1]
    given = {key: {"k": 3, "metric": "l1", "alpha": 0.1, "kernel": "rbf:0.5"}[key] for key in takes}
    model, title = model_of(name, "knn", 150, **given)
    assert title.startswith(name)
    assert model.fit(X, Y).score(X, Y) > 0.6


def test_settings_that_do_not_belong_are_said():
    with pytest.raises(ValueError, match="has no k: models that have it are knn"):
        model_of("logistic", "knn", 150, k=3)
    with pytest.raises(ValueError, match="Did you mean 'logistic'"):
        model_of("logistc", "knn", 150)
    with pytest.raises(ValueError, match="smaller k"):
        model_of("knn", "knn", 2, k=3)
    with pytest.raises(ValueError, match="has no k: it takes losses, natural"):
        plots.PICTURES["losses"](k=3)


def test_the_command_line_takes_what_a_slide_says(tmp_path, capsys):
    pytest.importorskip("typer")
    pytest.importorskip("polars")
    from nearline.cli._run import run

    data, out = tmp_path / "rows.csv", tmp_path / "picture.png"
    rows = "\n".join(f"{a},{b},{'xyz'[c]}" for (a, b), c in zip(X, Y))
    data.write_text("length,width,kind\n" + rows)
    common = [str(data), "-t", "kind", "--out", str(out), "--force"]
    assert run(["plot", "regions", *common, "--model", "knn", "--k", "3", "--metric", "l1"]) == 0
    assert run(["plot", "regions", *common, "--alpha", "0.1", "--columns", "length", "--proba"]) == 0
    assert run(["plot", "voronoi", *common, "--metric", "l1"]) == 0
    assert out.stat().st_size > 2_000
    capsys.readouterr()
    assert run(["plot", "losses", "--k", "3", "--out", str(out)]) != 0
    assert "has no --k" in capsys.readouterr().err
    assert run(["plot", "regions", *common, "--k", "0"]) != 0
    assert "--k must be a whole number >= 1, got '0'." in capsys.readouterr().err
