"""Steps of solvers on the contours of a risk, and Newton's method in one dimension."""

import matplotlib
import numpy as np
import pytest

from nearline import SGD, DecayingStep, GradientDescent, Params, Risk, minimize
from nearline.plots import PICTURES, Sample, plot_descent, plot_newton

matplotlib.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def rows(D=2, n_classes=2, n=12):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, D)), np.arange(n) % n_classes


def drawn(ax):
    """Lines by their labels."""
    return {line.get_label(): np.column_stack(line.get_data()) for line in ax.get_lines()}


def test_two_parameters_are_drawn_as_they_are():
    risk = Risk(*rows(), loss="logistic", alpha=0.1, bias=False)
    start = Params.of(np.array([[2.0, -1.0]]), np.zeros(1))
    solvers = {"fixed": GradientDescent(step_size=0.5), "decaying": GradientDescent(step_size=DecayingStep(1.0, 0.1)),
               "search": "gradient-descent", "newton": "newton", "sgd": SGD(averaged=False)}  # fmt: skip
    plane, beside = plot_descent(risk, solvers, start=start, max_iter=25)
    lines, excess = drawn(plane), drawn(beside)
    least = min(minimize(risk, one, start, tol=1e-6, max_iter=25).trace.min() for one in solvers.values())
    for label, solver in solvers.items():
        found = minimize(risk, solver, start, tol=1e-6, max_iter=25, keep="iterates")
        np.testing.assert_allclose(lines[label], [params.W[0] for params in found.iterates], atol=1e-12)
        np.testing.assert_allclose(excess[label][:, 1], np.maximum(found.trace - least, 1e-16), atol=1e-15)
    assert (plane.get_xlabel(), plane.get_ylabel()) == ("w1", "w2")


def test_the_contours_are_those_of_the_risk():
    risk = Risk(*rows(), loss="logistic", alpha=0.1, bias=False)
    plane, _ = plot_descent(risk, start=Params.of(np.array([[2.0, -1.0]]), np.zeros(1)))
    contours = next(one for one in plane.collections if isinstance(one, matplotlib.contour.ContourSet))
    for level, segments in zip(contours.levels, contours.allsegs, strict=True):
        for place in (place for segment in segments for place in segment[::7]):
            value = risk.value(Params.of(place[None], np.zeros(1)))
            assert value == pytest.approx(level, rel=2e-2)


def test_a_feature_and_a_bias_are_two_parameters():
    risk = Risk(*rows(D=1), loss="logistic", alpha=0.1)
    plane, _ = plot_descent(risk)
    assert (plane.get_xlabel(), plane.get_ylabel()) == ("w", "b")


@pytest.mark.parametrize("n_classes", [2, 4, 12])
def test_more_parameters_are_seen_on_a_plane(n_classes):
    """Through the start and the best end: both are where they are, all else is projected."""
    risk = Risk(*rows(3, n_classes), loss="softmax", alpha=0.1, n_classes=n_classes)
    plane, _ = plot_descent(risk, ["newton", "lbfgs"])
    found = minimize(risk, "newton", tol=1e-6, max_iter=200, keep="iterates").iterates
    line = drawn(plane)["newton"]
    np.testing.assert_allclose(line[0], 0, atol=1e-12)
    assert np.linalg.norm(line[-1]) == pytest.approx(np.linalg.norm(found[-1].flat), rel=1e-3)
    assert "plane" in plane.get_title()


def test_one_parameter_is_a_curve():
    risk = Risk(*rows(D=1), loss="logistic", alpha=0.1, bias=False)
    curve, _ = plot_descent(risk, "newton", start=Params.of(np.array([[-2.0]]), np.zeros(1)))
    for w, value in drawn(curve)["newton"]:
        assert value == pytest.approx(risk.value(Params.of(np.array([[w]]), np.zeros(1))))


def test_newton_goes_where_the_model_is_least():
    """D5: w - R' / R'', derivatives by differences."""
    risk = Risk(*rows(D=1), loss="logistic", alpha=0.1, bias=False)

    def at(w):
        return risk.value(Params.of(np.array([[w]]), np.zeros(1)))

    model, slope = plot_newton(risk, start=1.0, steps=2)
    w, h = 1.0, 1e-4
    for label, line in list(drawn(model).items())[1:]:
        if not label.startswith("step"):
            continue
        first, second = (at(w + h) - at(w - h)) / (2 * h), (at(w + h) - 2 * at(w) + at(w - h)) / h**2
        expected = at(w) + first * (line[:, 0] - w) + 0.5 * second * (line[:, 0] - w) ** 2
        np.testing.assert_allclose(line[:, 1], expected, rtol=1e-4, atol=1e-4)
        tangent = drawn(slope)[label]
        np.testing.assert_allclose(tangent[:, 1], first + second * (line[:, 0] - w), rtol=1e-4, atol=1e-4)
        w = w - first / second
        assert f"→ {w:.2g}"[:5] in label


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.array([[1.0], [2.0], [4.0]]), ["a", "b", "a"]),  # one feature
        (np.array([[1.0, 1.0], [1.0, 2.0], [1.0, 3.0]]), ["a", "b", "a"]),  # a constant column
        (rows(3, 30, 60)[0], [f"class {c}" for c in rows(3, 30, 60)[1]]),  # many classes
    ],
)
@pytest.mark.parametrize("name", ["descent", "newton"])
def test_strange_rows_get_a_picture(name, X, y):
    names = [f"x{j}" for j in range(X.shape[1])]
    axes = PICTURES[name](Sample(X, np.array(y), names))
    axes[0].figure.canvas.draw()


@pytest.mark.parametrize("name", ["descent", "newton"])
def test_one_class_gets_a_sentence(name):
    with pytest.raises(ValueError, match="one class"):
        PICTURES[name](Sample(np.array([[1.0, 2.0]]), np.array(["a"]), ["x1", "x2"]))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda risk: plot_descent(risk, []), "solvers is empty"),
        (lambda risk: plot_descent(risk, ["dual-coordinate-descent", "smo"]), "smo"),
        (lambda risk: plot_newton(risk), "drawn for one parameter, the risk has 3"),
        (
            lambda risk: plot_newton(Risk(*rows(D=1), bias=False), steps=0),
            "steps must be a whole number >= 1",
        ),
        (
            lambda risk: plot_newton(Risk(*rows(D=1), alpha=0.0, bias=False), start=1e6),
            "does not bend|overflows",
        ),
    ],
)
def test_bad_input(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(Risk(*rows(), loss="logistic", alpha=0.1))
