"""Each draws what it was given."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

from nearline import (  # noqa: E402
    KNeighborsClassifier,
    LogisticRegression,
    OneVsRest,
    Risk,
    TryThemAll,
    capacity_curve,
    coefficients,
    minimize,
    path,
    path_scores,
    plots,
    reliability_curve,
    sweep,
)
from nearline.losses import LOSSES  # noqa: E402

IRIS = load_iris(return_X_y=True)


pytestmark = pytest.mark.usefixtures("rendered")


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_every_margin_loss_is_a_line():
    ax = plots.plot_losses()
    names = [label.split(":")[0] for label in labels(ax)]
    assert names == [name for name, loss in LOSSES.items() if not loss.joint]
    assert all(":" in label for label in labels(ax))  # each has its formula
    assert len({str(line.get_linestyle()) + str(line._dash_pattern) for line in ax.get_lines()}) == len(names)
    assert len(ax.get_lines()) == len(labels(ax))
    for line in ax.get_lines():
        z, value = line.get_data()
        name = line.get_label().split(":")[0]
        assert value[-1] == LOSSES[name].value(z[-1:, None], np.ones(1, dtype=int))[0]


def test_log2_scales_the_logistic_loss_to_one_at_zero():
    """B3."""
    ax = plots.plot_losses(["zero-one", "logistic"], log2=True)
    assert labels(ax) == ["zero-one: [z ≤ 0]", "logistic: log₂(1 + exp(-z))"]
    z, value = ax.get_lines()[1].get_data()
    assert value[np.argmin(np.abs(z))] == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["huber", "softmax"])
def test_only_losses_of_the_margin_have_a_curve(name):
    with pytest.raises(ValueError, match=r"no loss of the margin.*'hinge'"):
        plots.plot_losses([name])


def test_objective_per_iteration():
    """D13: one line a solver, as long as its trace, on axes that were given."""
    risk = Risk(*IRIS, loss="softmax", alpha=1e-2)
    solutions = {name: minimize(risk, name) for name in ("lbfgs", "newton")}
    given = plt.subplots()[1]
    ax = plots.plot_objective(solutions, ax=given)
    assert ax is given
    assert [label.split()[0] for label in labels(ax)] == ["lbfgs", "newton"]
    for line, solution in zip(ax.get_lines(), solutions.values()):
        assert len(line.get_xdata()) == solution.n_iter + 1
        assert (line.get_ydata() > 0).all()


def test_coefficient_path():
    """E11: a line for each weight that moves and one for 0; the largest are named."""
    X, y = IRIS
    alphas, W, _ = coefficients(path(X, y == 1, regularizer="l1", n_alphas=10))
    ax = plots.plot_coefficients(alphas, W[:, 0], names=list("abcd"), top=2)
    moved = np.abs(W[:, 0]).max(axis=0)
    assert len(ax.get_lines()) == np.count_nonzero(moved) + 1
    assert labels(ax) == np.array(list("abcd"))[np.argsort(-moved)[:2]].tolist()
    assert ax.xaxis_inverted()
    still = plots.plot_coefficients(alphas, np.zeros((10, 4)))
    assert still.get_legend() is None


def test_fold_scores():
    """A point for each fold, a line through the means, bars of one standard deviation."""
    alphas, scores = np.array([1.0, 0.1, 0.01]), np.random.default_rng(0).uniform(size=(3, 5))
    ax = plots.plot_path_scores(alphas, scores, label="one")
    points, line = ax.get_lines()[0], ax.containers[0]
    assert len(points.get_xdata()) == 15
    np.testing.assert_allclose(line[0].get_ydata(), scores.mean(axis=1))
    bars = np.array([segment[:, 1] for segment in line[2][0].get_segments()])
    np.testing.assert_allclose((bars[:, 1] - bars[:, 0]) / 2, scores.std(axis=1, ddof=1))
    plots.plot_path_scores(alphas, scores + 1, label="two", ax=ax)
    assert labels(ax) == ["one", "two"]
    assert ax.containers[0][0].get_color() != ax.containers[1][0].get_color()
    with pytest.raises(ValueError, match="at least 2 folds"):
        plots.plot_path_scores(alphas, scores[:, :1])


@pytest.mark.parametrize("n_classes", [2, 10])
def test_weight_templates(n_classes):
    """E14: each class's weights as an image; of two classes the first has the opposite signs."""
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    model = LogisticRegression(alpha=1e-2).fit(X / 16.0, y)
    axes = plots.plot_templates(model, (8, 8))
    assert [ax.get_title() for ax in axes] == [str(c) for c in range(n_classes)]
    images = [np.asarray(ax.get_images()[0].get_array()) for ax in axes]
    np.testing.assert_array_equal(images[1], model.coef_[-1 if n_classes == 2 else 1].reshape(8, 8))
    if n_classes == 2:
        np.testing.assert_array_equal(images[0], -images[1])


def test_decision_regions():
    """E9: regions, points of each class, and where votes do not settle the matter."""
    X, y = IRIS[0][:, :2], np.array(["a", "b", "c"])[IRIS[1]]
    model = OneVsRest(LogisticRegression()).fit(X, y)
    ax = plots.plot_regions(model.predict, X, y, ambiguous=model.ambiguous, steps=20)
    assert labels(ax) == ["a", "b", "c"]
    flat = np.column_stack([X[:, 0], np.ones(150)])  # no extent in one direction
    plots.plot_regions(LogisticRegression().fit(flat, y).predict, flat, y, steps=20)
    with pytest.raises(ValueError, match="in the plane"):
        plots.plot_regions(model.predict, IRIS[0], y)


@pytest.fixture(scope="module")
def contest():
    X, y = load_iris(return_X_y=True)
    include = ["majority", "k-NN, L2", "k-NN, cosine", "logistic, L2", "nearest centroid"]
    return TryThemAll("quick", include=include, progress="silent").fit(X, y)


def test_leaderboard_has_a_row_for_each_family(contest):
    board = contest.leaderboard_
    ax = plots.plot_leaderboard(board)
    labels = [tick.get_text() for tick in ax.get_yticklabels()]
    assert labels == [f"{entry.family} ({entry.representation})" for entry in board.best_of_families()]
    means = [container.lines[0].get_xdata()[0] for container in ax.containers]
    np.testing.assert_allclose(means, [board.mean(entry) for entry in board.best_of_families()])
    assert any(text.get_text().startswith("← 0.33") for text in ax.texts)  # the majority, out of the picture


def test_candidates_over_k_with_the_one_standard_error_mark(contest):
    board = contest.leaderboard_
    ax = plots.plot_candidates(board, "k-NN, L2")
    best = next(entry for entry in board.best_of_families() if entry.family == "k-NN, L2")
    mates = sorted(board.mates(best), key=lambda one: one.parameters["n_neighbors"])
    line = ax.containers[0].lines[0]
    np.testing.assert_array_equal(line.get_xdata(), [one.parameters["n_neighbors"] for one in mates])
    np.testing.assert_allclose(line.get_ydata(), [board.mean(one) for one in mates])
    marks = {line.get_marker(): line.get_xdata()[0] for line in ax.lines if line.get_marker() in ("o", "s")}
    assert marks["o"] == best.parameters["n_neighbors"]
    assert marks["s"] == board.one_standard_error(best).parameters["n_neighbors"]
    with pytest.raises(ValueError, match="different parameters do not share an axis"):
        plots.plot_candidates(board)
    with pytest.raises(ValueError, match="has a path: choose among"):
        plots.plot_candidates(board, "majority")


def test_learning_and_capacity_curves():
    X, y = load_iris(return_X_y=True)
    curve = capacity_curve(KNeighborsClassifier(), X, y, [1, 5, 25])
    ax = plots.plot_curve(curve)
    for container, scores in zip(ax.containers, (curve.test, curve.train), strict=True):
        np.testing.assert_allclose(container.lines[0].get_ydata(), scores.mean(axis=1))
    assert ax.get_xlabel() == "n_neighbors"


def test_confusion_matrix_shows_counts():
    confusion = np.array([[8, 2], [1, 9]])
    ax = plots.plot_confusion(confusion, ["no", "yes"])
    assert [text.get_text() for text in ax.texts] == ["8", "2", "1", "9"]
    np.testing.assert_allclose(ax.images[0].get_array(), [[0.8, 0.2], [0.1, 0.9]])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["no", "yes"]


def test_reliability_has_a_point_for_each_bin_with_rows():
    rng = np.random.default_rng(0)
    p = rng.random(300)
    y = (rng.random(300) < p).astype(int)
    curve = reliability_curve(y, np.column_stack([1 - p, p]), [0, 1])
    ax = plots.plot_reliability(curve)
    drawn = ax.containers[0].lines[0]
    np.testing.assert_allclose(drawn.get_ydata(), curve.accuracy[curve.count > 0])
    assert sum(int(text.get_text()) for text in ax.texts) == 300


def flat(drawn):
    return np.ravel(np.asarray(drawn, dtype=object))


@pytest.mark.parametrize("name", list(plots.PICTURES))
def test_every_picture_is_drawn_labeled_and_has_something_in_it(name):
    """I1: on shipped data; each axis that is shown has a name or ticks that name things."""
    picture = plots.PICTURES[name]
    assert picture.about
    for ax in flat(picture()):
        assert ax.get_title()
        assert ax.lines or ax.images or ax.patches or ax.collections
        named = ax.get_xlabel() and ax.get_ylabel()
        assert named or ax.images or name in ("outliers", "weights", "leaderboard", "simplex", "folds")


def test_every_function_that_draws_is_in_a_picture():
    """What is listed is tested and shown: no plot_* is left out of the gallery."""
    from pathlib import Path

    folder = Path(plots.__file__).parent
    text = "".join(file.read_text() for file in [folder / "gallery.py", *(folder / "recipes").glob("*.py")])
    text += "plot_regions plot_probe"  # compare_regions draws the first, `nearline probe` the second
    assert [name for name in plots.__all__ if name.startswith("plot_") and name not in text] == []


def test_pictures_of_mathematics_take_no_data():
    with pytest.raises(ValueError, match="leave the data out"):
        plots.PICTURES["sigmoid"](plots.Sample(*IRIS, list("abcd")))
    with pytest.raises(ValueError, match="no images"):
        plots.PICTURES["templates"](plots.Sample(*IRIS, list("abcd")))


def test_sigmoid_is_the_softmax_of_two_scores():
    """B13."""
    sigmoid, pair = plots.plot_sigmoid().get_lines()[:2]
    t, p = pair.get_data()
    np.testing.assert_allclose(p, 1.0 / (1.0 + np.exp(-t)), rtol=1e-12)
    np.testing.assert_allclose(sigmoid.get_ydata(), 1.0 / (1.0 + np.exp(-sigmoid.get_xdata())))


def test_regions_on_the_two_best_directions():
    """The plane through the mean has orthonormal directions, and keeps places that lie in it."""
    X, y = IRIS
    plane = plots.Plane.of(X, y)
    np.testing.assert_allclose(plane.directions @ plane.directions.T, np.eye(2), atol=1e-12)
    places = np.array([[0.0, 0.0], [1.0, -2.0]])
    np.testing.assert_allclose(plane.down(plane.up(places)), places, atol=1e-12)
    model = KNeighborsClassifier(5).fit(X, y)
    ax = plots.plot_regions(model.predict, X, y, plane=plane, steps=25)
    drawn = np.vstack([one.get_offsets() for one in ax.collections if one.get_label() in ("0", "1", "2")])
    np.testing.assert_allclose(drawn, plane.down(X))
    apart = plane.down(X)[:, 0]
    assert KNeighborsClassifier(5).fit(apart[:, None], y).score(apart[:, None], y) > 0.95
    two = plots.Plane.of(X[:100], y[:100])  # of two classes the second direction is free
    np.testing.assert_allclose(two.directions @ two.directions.T, np.eye(2), atol=1e-12)
    with pytest.raises(ValueError, match="at least 2 features"):
        plots.Plane.of(X[:, :1], y)


def test_outliers_move_least_squares_and_not_logistic_regression():
    axes = plots.plot_outliers()
    turned = []
    for ax in axes:
        before, after = ax.get_lines()
        assert labels(ax)[-2:] == ["without outliers", "with outliers"]
        slopes = [
            np.arctan2(*np.diff(np.array(line.get_data()), axis=1)[::-1, 0]) for line in (before, after)
        ]
        turned.append(abs(slopes[1] - slopes[0]))
    assert turned[0] > 0.4  # radians
    assert turned[1] < 0.05
    with pytest.raises(ValueError, match="two classes in the plane"):
        plots.plot_outliers(*IRIS, outliers=IRIS[0][:1])


def test_sweep_marks_the_best_and_the_one_standard_error_choice():
    result = sweep(*IRIS, [1, 5, 15, 50, 90])
    ax = plots.plot_sweep(result)
    marks = {line.get_marker(): line.get_xdata()[0] for line in ax.lines if line.get_marker() in ("o", "s")}
    assert marks == {"o": result.best["n_neighbors"], "s": result.one_standard_error["n_neighbors"]}
    found = path_scores(LogisticRegression(), *IRIS, [1.0, 0.1, 0.01, 1e-3])
    ax = plots.plot_path_scores(found.alphas, found.scores, label="logistic", marks=found)
    marks = {line.get_marker(): line.get_xdata()[0] for line in ax.lines if line.get_marker() in ("o", "s")}
    assert marks == {"o": found.alphas[found.best], "s": found.alphas[found.one_standard_error]}


def test_weights_name_the_strongest_features():
    X, y = IRIS
    model = LogisticRegression(alpha=1e-2).fit(X, y)
    axes = plots.plot_weights(model, ["a", "b", "c", "d"], top=2)
    W = model.coef_ - model.coef_.mean(axis=0)
    for ax, w in zip(axes, W):
        strongest = np.argsort(-np.abs(w))[:2]
        assert [tick.get_text() for tick in ax.get_yticklabels()] == [list("abcd")[j] for j in strongest]
        np.testing.assert_allclose([bar.get_width() for bar in ax.patches], w[strongest])


def test_roc_and_precision_recall_curves():
    """H7: their areas are scikit-learn's; several classes have a curve each."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    scores = rng.normal(size=(200, 3)) + 1.5 * np.eye(3)[y]
    ax = plots.plot_roc(y, scores, [0, 1, 2])
    for c, line in enumerate(ax.get_lines()[:3]):
        area = np.trapezoid(line.get_ydata(), line.get_xdata())
        assert area == pytest.approx(roc_auc_score(y == c, scores[:, c]))
        assert line.get_label() == f"{c} (area {area:.3f})"
    ax = plots.plot_precision_recall(y, scores, [0, 1, 2])
    assert labels(ax) == [
        f"{c} (average precision {average_precision_score(y == c, scores[:, c]):.3f})" for c in range(3)
    ]
    with pytest.raises(ValueError, match="scores must be"):
        plots.plot_roc(y, scores[:, 0], [0, 1, 2])
    with pytest.raises(ValueError, match="one class"):
        plots.plot_roc(np.ones(5), np.arange(5.0), [0, 1])


def test_templates_of_color_images_and_many_classes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 48)), np.arange(120) % 12
    model = LogisticRegression(alpha=1.0).fit(X, y)
    axes = plots.plot_templates(model, (4, 4, 3))
    assert len(axes) == 12
    image = np.asarray(axes[3].get_images()[0].get_array())
    w = model.coef_[3].reshape(4, 4, 3)
    np.testing.assert_allclose(image, 0.5 + 0.5 * w / np.abs(w).max())
    with pytest.raises(ValueError, match="48 numbers in all"):
        plots.plot_templates(model, (4, 4))


def test_the_gallery_page_is_up_to_date():
    import importlib.util
    from pathlib import Path

    pytest.importorskip("polars")
    tool = Path(__file__).resolve().parents[1] / "tools" / "make_pictures.py"
    spec = importlib.util.spec_from_file_location("make_pictures", tool)
    make_pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_pictures)
    assert make_pictures.PAGE.read_text() == make_pictures.page(), "run: python tools/make_pictures.py"
    assert {file.stem for file in make_pictures.IMAGES.glob("*.png")} == set(make_pictures.CALLS)


def test_names_and_labels_command_nothing():
    """A picture made from Python shows controls written out, as what is printed does."""
    from nearline.plots.voronoi import plot_voronoi

    X, y = load_iris(return_X_y=True)
    X, y = X[:, :2], np.array(["a\x1b[31m", "b\u202e", "c"])[y]
    names = ["x\x1b[2J", "y\u202e"]
    model = LogisticRegression().fit(X, y)
    drawn = [
        plots.plot_regions(model.predict, X, y, names=names, steps=20),
        plots.plot_confusion(np.eye(3, dtype=int), np.unique(y)),
        plots.plot_roc(y, model.predict_proba(X), np.unique(y)),
        plot_voronoi(X[:50], y[:50]),
        *plots.plot_weights(model, names),
    ]
    texts = [text.get_text() for ax in drawn for text in ax.findobj(matplotlib.text.Text)]
    assert not any("\x1b" in text or "\u202e" in text for text in texts)
    assert any("\\x1b[31m" in text for text in texts)
    assert any("\\u202e" in text for text in texts)
