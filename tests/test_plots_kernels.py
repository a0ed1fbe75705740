"""Pictures of kernels, by what is drawn."""

import numpy as np
import pytest

pytest.importorskip("matplotlib").use("Agg")

from nearline import KernelSVM, plots  # noqa: E402
from nearline.kernels import RBF, Normalized, Polynomial, Spectrum  # noqa: E402


def test_gram_is_ordered_by_class():
    X = np.array([[0.0], [5.0], [0.1], [5.1], [0.2]])
    ax = plots.plot_gram(RBF(1.0), X, ["b", "a", "b", "a", "b"])
    drawn = np.asarray(ax.images[0].get_array())
    np.testing.assert_allclose(drawn, RBF(1.0)(X[[1, 3, 0, 2, 4]]))
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["a", "b"]
    assert len(ax.lines) == 2  # one edge, both ways
    words = plots.plot_gram(Normalized(Spectrum(2)), ["abab", "baba", "xyxy"], [0, 0, 1])
    assert np.asarray(words.images[0].get_array())[0, 2] == 0


def test_margins_show_the_support_vectors():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (80, 2))
    y = np.where((X**2).sum(axis=1) < 0.5, "in", "out")
    models = {"linear": KernelSVM("linear").fit(X, y), "square": KernelSVM(Polynomial(2)).fit(X, y)}
    axes = plots.plot_kernel_margins(models, X, y)
    for ax, (title, model) in zip(axes, models.items(), strict=True):
        assert ax.get_title() == f"{title}\n{len(model.support_)} support vectors"
        circled = ax.collections[-1].get_offsets()
        np.testing.assert_allclose(np.sort(circled, axis=0), np.sort(X[model.support_], axis=0))
    with pytest.raises(ValueError, match="two features"):
        plots.plot_kernel_margins([KernelSVM().fit(np.c_[X, X], y)], np.c_[X, X], y)


def test_degree_two_is_the_map_of_its_kernel():
    X, y = np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([0, 1])
    _, lifted = plots.plot_degree_two(X, y)
    points = np.array([np.ravel(part._offsets3d) for part in lifted.collections[:2]])
    np.testing.assert_allclose(points @ points.T, Polynomial(2, 0.0)(X))
