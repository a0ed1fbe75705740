"""Margins and support vectors as they are drawn, against LIBSVM's; pictures of files in the files' own units."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris, make_blobs
from sklearn.svm import SVC

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


from nearline import KernelSVM, LinearSVM, LogisticRegression, plots  # noqa: E402
from nearline.cli import _plot  # noqa: E402
from nearline.cli._run import run  # noqa: E402
from nearline.plots.samples import Sample, Units, versicolor  # noqa: E402

IRIS = load_iris(return_X_y=True)


pytestmark = pytest.mark.usefixtures("rendered")


def levels(ax):
    """The level of each contour line, with its points."""
    lines = next(one for one in ax.collections if type(one).__name__ == "QuadContourSet")
    return {float(level): path.vertices for level, path in zip(lines.levels, lines.get_paths())}


def labeled(ax, *labels):
    """Places of the points under these labels."""
    return np.vstack([one.get_offsets() for one in ax.collections if one.get_label() in labels])


def support_by_libsvm(X, y, alpha):
    """Rows whose dual variables are not 0."""
    machine = SVC(kernel="linear", C=1.0 / (len(y) * alpha), tol=1e-9).fit(X, y)
    return np.sort(machine.support_)


@pytest.mark.parametrize("seed", range(8))
def test_rings_are_the_support_vectors_of_the_optimum(seed):
    """Continuous rows, whose dual solution is unique; the picture's fit is the gallery's."""
    rng = np.random.default_rng(seed)
    X, y = make_blobs(
        int(rng.integers(8, 80)), centers=2, cluster_std=rng.uniform(0.5, 4.0), random_state=seed
    )
    ax = plots.PICTURES["margins"](Sample(X, y.astype(str), ["a", "b"]))
    held = support_by_libsvm(X, y, 1e-2)
    np.testing.assert_array_equal(labeled(ax, "support vectors"), X[held])
    assert f"{len(held)} support vectors" in ax.get_title()


def test_the_shipped_picture_counts_right():
    sample = versicolor()
    ax = plots.PICTURES["margins"]()
    f = LinearSVM(loss="hinge", alpha=1e-2, tol=1e-12).fit(sample.X, sample.y).decision_function(sample.X)
    z = np.where(sample.y == "virginica", f, -f)
    ringed = {tuple(place) for place in labeled(ax, "support vectors").tolist()}
    rows = [tuple(row) for row in sample.X.tolist()]
    assert {row for row, margin in zip(rows, z) if margin < 1 - 1e-6} <= ringed
    assert ringed <= {row for row, margin in zip(rows, z) if margin < 1 + 1e-6}
    machine = SVC(kernel="linear", C=1.0, tol=1e-9).fit(sample.X, sample.y)  # 1 / (100 rows x 0.01)
    assert (
        ax.get_title() == f"Margin {1 / np.linalg.norm(machine.coef_):.3g} on either side, 24 support vectors"
    )
    assert len(machine.support_) == 24


def test_of_equal_rows_as_few_hold_the_boundary_as_can():
    """Dual variables of equal rows may be shared in any way; repeated rows add support vectors only where one is full."""
    X, y = make_blobs(30, centers=2, cluster_std=3.0, random_state=1)
    alpha = 1e-2
    for made in (np.asarray, csr_matrix):
        twice = LinearSVM(loss="hinge", alpha=alpha, tol=1e-10).fit(made(np.vstack([X, X])), np.tile(y, 2))
        single = SVC(kernel="linear", C=2.0 / (60 * alpha), tol=1e-10).fit(X, y)
        share = np.abs(single.dual_coef_[0]) * 60 * alpha  # of the two rows, in units of what one can carry
        assert len(twice.support_) == np.ceil(share - 1e-6).sum()


def test_two_points_have_two_support_vectors():
    X, y = np.array([[0.0, 0.0], [2.0, 0.0]]), np.array(["a", "b"])
    for loss in ("hinge", "squared-hinge"):
        ax = plots.plot_margins(LinearSVM(loss=loss).fit(X, y), X, y)
        assert ax.get_title().endswith("2 support vectors"), loss


def test_lines_in_the_plane_are_where_the_scores_say():
    X, y = IRIS[0][50:, 2:], IRIS[1][50:]
    model = LinearSVM(loss="hinge", alpha=1e-2).fit(X, y)
    ax = plots.plot_margins(model, X, y, names=["length", "width"])
    for level, points in levels(ax).items():
        np.testing.assert_allclose(model.decision_function(points), level, atol=1e-6)
    np.testing.assert_array_equal(labeled(ax, "support vectors"), X[model.support_])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "width")


def test_units_are_those_of_the_rows_drawn():
    X, y = IRIS[0][50:, 2:] * [1.0, 1000.0] + [0.0, 5e4], IRIS[1][50:]
    units = Units.of(X)
    model = LinearSVM(loss="hinge", alpha=1e-2).fit(units.off(X), y)
    ax = plots.plot_margins(model, X, y, units=units)
    np.testing.assert_array_equal(labeled(ax, "1", "2"), X)
    for level, points in levels(ax).items():
        np.testing.assert_allclose(model.decision_function(units.off(points)), level, atol=1e-6)
    size = np.linalg.norm(model.coef_)
    assert f"Margin {1 / size:.3g} standard deviations on either side" in ax.get_title()


def test_margins_in_more_dimensions_are_distances():
    X, y = IRIS[0][50:], IRIS[1][50:]
    model = LinearSVM(alpha=1e-2).fit(X, y)
    ax = plots.plot_margins(model, X, y)
    size = np.linalg.norm(model.coef_)
    for level, points in levels(ax).items():
        np.testing.assert_allclose(points[:, 0], level / size, atol=1e-6)
    points = labeled(ax, "1", "2")
    np.testing.assert_allclose(np.sort(points[:, 0]), np.sort(model.decision_function(X) / size), atol=1e-6)


def test_one_feature_is_drawn_with_its_scores():
    X, y = 1000.0 * IRIS[0][50:, 2:3], IRIS[1][50:]
    units = Units.of(X)
    model = LinearSVM(loss="hinge", alpha=1e-2, tol=1e-8).fit(units.off(X), y)
    ax = plots.plot_margins(model, X, y, names=["length"], units=units)
    f = model.decision_function(units.off(X))
    np.testing.assert_allclose(labeled(ax, "1", "2"), np.column_stack([X[:, 0], f]))
    upright = sorted(line.get_xdata()[0] for line in ax.lines if len(set(line.get_xdata())) == 1)
    expected = [float(np.interp(level, np.sort(f), X[np.argsort(f), 0])) for level in (-1, 0, 1)]
    np.testing.assert_allclose(upright, expected, rtol=1e-9)  # f is linear, and -1, 0, 1 lie among the scores
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "score f(x)")
    np.testing.assert_array_equal(labeled(ax, "support vectors")[:, 0], X[model.support_, 0])


def test_models_without_duals_have_no_support_vectors():
    X, y = IRIS[0][50:, 2:], IRIS[1][50:]
    model = LogisticRegression().fit(X, y)
    ax = plots.plot_margins(model, X, y)
    inside = np.where(y == 2, 1, -1) * model.decision_function(X) < 1
    assert ax.get_title().endswith(f"{inside.sum()} rows with y f < 1")
    np.testing.assert_array_equal(labeled(ax, "y f < 1"), X[inside])


def test_what_cannot_be_drawn_is_refused():
    X, y = IRIS
    two = LinearSVM().fit(X[50:], y[50:])
    with pytest.raises(ValueError, match="between two classes, the model has 3"):
        plots.plot_margins(LinearSVM().fit(X, y), X, y)
    with pytest.raises(ValueError, match=r"of the classes \[1, 2\], y has 0"):
        plots.plot_margins(two, X, y)
    with pytest.raises(ValueError, match="X has 3 rows: give the rows it was fitted to"):
        plots.plot_margins(two, X[50:53], y[50:53])
    with pytest.raises(ValueError, match="of 4 features"):
        plots.plot_margins(two, X[50:, :2], y[50:])
    none = LinearSVM().fit(X[50:], y[50:])
    none.coef_ = np.zeros_like(none.coef_)
    with pytest.raises(ValueError, match="weights of the model are 0"):
        plots.plot_margins(none, X[50:], y[50:])
    with pytest.raises(ValueError, match="between two classes"):
        plots.plot_kernel_margins([KernelSVM().fit(X[:, :2], y)], X[:, :2], y)


def test_kernel_margins_ring_libsvms_support_vectors():
    drawn = plots.PICTURES["kernel-margins"]()
    sample = plots.PICTURES["kernel-margins"].shipped()
    C = 1.0 / (len(sample.y) * 1e-3)
    kernels = (
        {"kernel": "linear"},
        {"kernel": "poly", "degree": 3, "gamma": 1.0, "coef0": 1.0},
        {"kernel": "rbf", "gamma": "scale"},
    )
    for ax, options in zip(drawn, kernels):
        machine = SVC(C=C, tol=1e-8, **options).fit(sample.X, sample.y)
        assert f"\n{len(machine.support_)} support vectors" in ax.get_title()


# -- files ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Draws a picture of a file of two columns, mass in grams with values missing; gives its axes."""
    X, y = IRIS
    rows = np.column_stack([X[:, 2], 1000.0 * X[:, 3]])
    lines = [
        f"{a:g},{'' if i % 40 == 7 else f'{b:g}'},{'abc'[c]}" for i, ((a, b), c) in enumerate(zip(rows, y))
    ]
    (tmp_path / "plants.csv").write_text("\n".join(["length,mass,kind", *lines]) + "\n")
    kept = []
    monkeypatch.setattr(_plot, "saved", lambda drawn, place: kept.append(drawn))

    def draw(name, columns="length,mass"):
        how = ["-t", "kind", "--columns", columns, "--out", str(tmp_path / "picture.png")]
        assert run(["plot", name, str(tmp_path / "plants.csv"), *how]) == 0
        whole = np.arange(150) % 40 != 7 if "mass" in columns else np.ones(150, dtype=bool)
        return kept[-1], rows[whole], np.array(list("abc"))[y[whole]]

    return draw


@pytest.mark.parametrize("name", ["regions", "voronoi"])
def test_two_columns_of_a_file_are_drawn_in_their_own_units(drawn, name):
    ax, rows, y = drawn(name)
    np.testing.assert_allclose(labeled(ax, "a", "b", "c"), rows[np.argsort(y, kind="stable")], rtol=1e-12)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "mass")
    assert "without 4 rows with missing values" in ax.get_title()
    low, high = ax.get_ylim()
    assert low < 100 < 2500 < high < 3000


def test_margins_of_a_file_say_which_classes_they_are_between(drawn):
    ax, rows, y = drawn("margins")
    pair = [label for label in "abc" if any(one.get_label() == label for one in ax.collections)]
    assert len(pair) == 2
    np.testing.assert_allclose(
        labeled(ax, *pair), np.vstack([rows[y == label] for label in pair]), rtol=1e-12
    )
    assert "the two most frequent of 3 classes" in ax.get_title()
    one, rows, _ = drawn("margins", "length")
    assert (one.get_xlabel(), one.get_ylabel()) == ("length", "score f(x)")
    assert set(labeled(one, "a", "b", "c")[:, 0]) <= set(rows[:, 0])


def test_kernel_margins_of_a_file_have_its_units_and_names(drawn):
    axes, rows, _ = drawn("kernel-margins")
    for ax in axes:
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "mass")
        points = labeled(ax, "a", "b", "c")
        assert {tuple(place) for place in points.tolist()} <= {tuple(row) for row in rows.tolist()}


def test_cells_are_those_of_the_standardized_rows(drawn):
    """On every edge the two rows beside it are equally near, as 1-NN on standardized columns measures."""
    ax, rows, _ = drawn("voronoi")
    units = Units.of(rows)
    path = np.column_stack(ax.lines[0].get_data()).reshape(-1, 3, 2)[:, :2]
    middles = units.off(path.mean(axis=1))
    distances = np.sort(
        np.linalg.norm(np.unique(units.off(rows), axis=0)[None] - middles[:, None], axis=2), axis=1
    )
    np.testing.assert_allclose(distances[:, 0], distances[:, 1], rtol=1e-9)


def test_margins_of_a_kernel_machine_are_refused_with_the_picture_to_take():
    X, y = IRIS[0][:100, :2], IRIS[1][:100]
    for model in (KernelSVM().fit(X, y), LinearSVM()):
        with pytest.raises(
            ValueError, match=r"without coef_: fit it first, or take plots\.plot_kernel_margins"
        ):
            plots.plot_margins(model, X, y)
