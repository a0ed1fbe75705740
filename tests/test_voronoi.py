"""Voronoi edges are where two rows are equally near and no other is nearer."""

import matplotlib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearline.neighbors.index import Index
from nearline.neighbors.voronoi import voronoi_edges
from nearline.plots.voronoi import plot_voronoi

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def places(kind, n, rng):
    if kind == "grid":
        return rng.integers(0, 5, size=(n, 2)).astype(float)
    if kind == "line":
        return np.outer(rng.integers(0, 9, size=n), [1.0, 2.0]) + 3.0
    if kind == "offset":
        return 1e6 + rng.random((n, 2))
    return rng.standard_normal((n, 2))


@settings(max_examples=80)
@given(
    kind=st.sampled_from(["plain", "grid", "line", "offset"]),
    n=st.sampled_from([1, 2, 3, 4, 9, 40]),
    seed=st.integers(0, 2**32 - 1),
)
def test_edges_are_where_1_nn_changes_its_mind(kind, n, seed):
    rng = np.random.default_rng(seed)
    X, y = places(kind, n, rng), rng.integers(0, 3, size=n)
    edges = voronoi_edges(X, y)
    left, right, bottom, top = edges.frame
    scale = right - left
    for s, (a, b), decides in zip(edges.segments, edges.rows, edges.boundary, strict=True):
        for x in (s[0], s.mean(axis=0), s[1]):
            d = np.hypot(*(X - x).T)
            assert d[a] == pytest.approx(d.min(), abs=1e-7 * scale)
            assert d[b] == pytest.approx(d.min(), abs=1e-7 * scale)
            assert left - 1e-7 * scale <= x[0] <= right + 1e-7 * scale
            assert bottom - 1e-7 * scale <= x[1] <= top + 1e-7 * scale
        of = [set(y[(X[i] == X).all(axis=1)]) for i in (a, b)]
        assert decides == (of[0] != of[1])
    # Along any line, 1-NN changes cells only at edges.
    u, v = (rng.uniform([left, bottom], [right, top]) for _ in range(2))
    t = np.linspace(0, 1, 400)[:, None]
    nearest = Index(X).search(u + t * (v - u), 1).indices[:, 0]
    changes = np.flatnonzero((X[nearest[1:]] != X[nearest[:-1]]).any(axis=1))
    assert all(_crosses(edges.segments, u + t[i] * (v - u), u + t[i + 1] * (v - u), scale) for i in changes)


def _crosses(segments, p, q, scale):
    """Whether some segment comes between p and q, or within rounding of them."""

    def side(a, b, c):
        return (b[..., 0] - a[..., 0]) * (c[..., 1] - a[..., 1]) - (b[..., 1] - a[..., 1]) * (
            c[..., 0] - a[..., 0]
        )

    a, b = segments[:, 0], segments[:, 1]
    slack = 1e-6 * scale * scale
    apart = (side(a, b, p) * side(a, b, q) > slack**2) | (side(p, q, a) * side(p, q, b) > slack**2)
    return bool((~apart).any())


def test_four_corners_meet_in_the_middle():
    edges = voronoi_edges([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0], frame=(-1, 2, -1, 2))
    assert edges.boundary.all()
    assert len(edges.segments) == 4
    lengths = np.hypot(*(edges.segments[:, 1] - edges.segments[:, 0]).T)
    np.testing.assert_allclose(lengths, 1.5)


def test_equal_rows_share_a_cell():
    same = voronoi_edges([[0, 0], [0, 0], [2, 0]], [0, 0, 0])
    assert same.boundary.tolist() == [False]
    conflict = voronoi_edges([[0, 0], [0, 0], [2, 0]], [0, 1, 0])
    assert conflict.boundary.tolist() == [True]
    assert len(voronoi_edges([[1, 1], [1, 1]], [0, 1]).segments) == 0


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        (np.ones((3, 3)), None, r"X must be \(n, 2\), got shape \(3, 3\)"),
        (np.empty((0, 2)), None, r"got shape \(0, 2\)"),
        ([[np.nan, 1.0]], None, "NaN or infinite"),
        ([[0.0, 1.0]], [1, 2], "one label for each of the 1 rows, got 2"),
    ],
)
def test_bad_input(X, y, sentence):
    with pytest.raises(ValueError, match=sentence):
        voronoi_edges(X, y)


def test_the_picture(tmp_path):
    rng = np.random.default_rng(0)
    ax = plot_voronoi(rng.standard_normal((60, 2)), rng.integers(3, size=60))
    ax.figure.savefig(tmp_path / "voronoi.png")
    assert (tmp_path / "voronoi.png").stat().st_size > 5000
    plt.close(ax.figure)


@pytest.mark.parametrize("frame", [(1, 0, 0, 1), (0, 1, 1, 1), (0, np.nan, 0, 1), (0, 1, 0), "wide", 3])
def test_frames_that_are_none(frame):
    with pytest.raises(ValueError, match="frame must"):
        voronoi_edges([[0.0, 0.0], [1.0, 1.0]], frame=frame)


@pytest.mark.parametrize("scale", [1e-200, 1e-20, 1e200])
def test_rows_of_any_scale(scale):
    X = np.random.default_rng(0).random((30, 2))
    plain, scaled = voronoi_edges(X), voronoi_edges(X * scale)
    np.testing.assert_array_equal(plain.rows, scaled.rows)
    np.testing.assert_allclose(scaled.segments / scale, plain.segments, rtol=1e-9, atol=1e-9)


def test_cells_without_labels():
    ax = plot_voronoi(np.random.default_rng(0).standard_normal((20, 2)))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["rows"]
    plt.close(ax.figure)
