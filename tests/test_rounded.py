"""The filter of coordinates rounded to bfloat16: it excludes no row that counts, and every build gives the same bits."""

import os
import subprocess
import sys

import numpy as np
import pytest

from nearline import _core
from nearline.neighbors import exact
from nearline.neighbors.bounds import PrincipalBounds
from nearline.neighbors.choice import by_principal
from nearline.neighbors.embeddings import Centered
from nearline.neighbors.index import Index

ROUNDS = pytest.mark.skipif(not _core.rounds(), reason="this machine has no products of rounded coordinates")
SCALES = {"tiny": 1e-30, "small": 1e-12, "one": 1.0, "large": 1e12, "huge": 1e30}


def hard_problems():
    """Rows with duplicates and ties, far from the origin, of every size, and with values below the normal float32."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((700, 37))
    X[350:] = X[:350] + np.where(rng.random((350, 37)) < 0.1, 2.0**-12, 0.0)  # within what rounding does
    X[600:] = X[:100]
    yield "offset", X + 1e6
    yield "grid", np.rint(3.0 * X)
    yield "bytes", np.clip(np.rint(40.0 * X + 100.0), 0, 255).astype(np.uint8)
    yield "outlier", np.vstack([X, 1e8 * np.ones(37)])
    yield "denormal", np.vstack([X, np.full((3, 37), 1e-42)]).astype(np.float32)
    for name, scale in SCALES.items():
        yield name, scale * X
        yield f"{name}-single", (scale * X).astype(np.float32)


def lists():
    """What searches give, by problem, metric and length of the lists."""
    out = {}
    for name, X in hard_problems():
        for metric in ("l2", "sqeuclidean", "cosine", "inner-product"):
            for k in (3, 60):
                found = Index(X, metric, algorithm="exact").search(X[::7], k)
                key = f"{name}/{metric}/{k}"
                out[f"{key}/d"], out[f"{key}/i"] = found.distances, found.indices
    return out


SCRIPT = """
import sys, numpy as np
sys.path.insert(0, sys.argv[2])
from nearline import _core
from test_rounded import lists
assert _core.isa == sys.argv[3]
np.savez(sys.argv[1], **lists())
"""


def test_every_build_gives_the_same_bits(tmp_path, monkeypatch):
    here = lists()
    monkeypatch.setattr(exact, "MOVED", np.inf)  # rounded, even where it excludes little
    always = lists()
    for key, value in here.items():
        np.testing.assert_array_equal(always[key], value, err_msg=key)
    for isa in {*_core.builds} - {_core.isa}:
        file = tmp_path / f"{isa}.npz"
        command = [sys.executable, "-c", SCRIPT, str(file), os.path.dirname(__file__), isa]
        subprocess.run(command, check=True, env={**os.environ, "NEARLINE_ISA": isa})
        with np.load(file) as other:
            for key, value in here.items():
                np.testing.assert_array_equal(other[key], value, err_msg=f"{isa} {key}")


def nearest_bfloat16(x):
    """By trying both neighbors that have 16 bits; 0 below the normal numbers."""
    bits = np.asarray(x, np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    low, high = bits.view(np.float32), (bits + np.uint32(0x10000)).view(np.float32)
    below, above = np.abs(low.astype(float) - x), np.abs(high.astype(float) - x)
    even = (bits >> 16) % 2 == 0
    out = np.where((below < above) | ((below == above) & even), low, high)
    return np.where(np.abs(out) < 2.0**-126, 0.0, out).astype(float)


@ROUNDS
@pytest.mark.parametrize("r", [0, 1, 2, 5, 33])
@pytest.mark.parametrize("scale", [1.0, 1e-19, 1e-37, 1e15])
def test_errors_bound_what_rounding_moved(r, scale):
    rng = np.random.default_rng(r)
    n, chunk, lanes = 150, 2 * _core.panel_rows(), _core.lanes()
    R, n_chunks, size = (
        -(-r // lanes) * lanes,
        -(-n // chunk),
        -(-n // _core.panel_rows()) * _core.panel_rows(),
    )
    v = np.zeros((n, R), np.float32)
    v[:, :r] = scale * rng.standard_normal((n, r))
    order, own = rng.permutation(n), scale * rng.random(n) / 1000
    words = _core.panel_words(_core.Norm.rounded, r)
    panels, starts = (np.empty(length, np.float32) for length in (size * words, size))
    low, high = np.empty((n_chunks, R), np.float32), np.empty((n_chunks, R), np.float32)
    squares, errors = np.empty(n_chunks, np.float32), np.empty(2 * n_chunks, np.float32)
    norms = np.square(v).sum(axis=1)
    packed = panels, starts, low, high, squares, errors
    _core.pack_rows_of_filter(_core.Norm.rounded, v, norms, own, order, r, chunk, *packed)
    halves = (
        panels.view(np.uint16)
        .reshape(size // _core.panel_rows(), words, _core.panel_rows(), 2)
        .transpose(0, 2, 1, 3)
    )
    stored = (halves.reshape(size, 2 * words).astype(np.uint32) << 16).view(np.float32)[:, :r].astype(float)
    np.testing.assert_array_equal(stored[:n], nearest_bfloat16(v[order, :r]))
    moved = own[order] + np.sqrt(np.square(stored[:n] - v[order, :r]).sum(axis=1))
    for c in range(n_chunks):
        part = slice(c * chunk, min((c + 1) * chunk, n))
        assert own[order[part]].max() <= errors[c]
        assert moved[part].max() <= errors[n_chunks + c] <= 1.0001 * moved[part].max() + 1e-40
        assert np.square(stored[part]).sum(axis=1).max() <= squares[c] * (1 + 1e-12) + 1e-44


@ROUNDS
def test_rows_that_rounding_moves_too_far_are_not_rounded():
    rng = np.random.default_rng(0)
    apart, together = rng.standard_normal((2000, 40)), 1.0 + 1e-5 * rng.standard_normal((2000, 40))
    together[::2] *= -1.0
    for X, norm in ((apart, _core.Norm.rounded), (together, _core.Norm.squares)):
        index = Index(X, algorithm="exact")
        index.search(X[:100], 3)
        assert index._backend.plan.filter.norm == norm


@pytest.mark.parametrize("scale", [1.0, 1e-20, 1e-37, 1e-41, 1e15])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_principal_coordinates_of_either_precision_are_no_farther_apart_than_rows(dtype, scale):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((60, 50)) / np.arange(1, 51)
    X[30:] = X[:30] + 1e-6 * rng.standard_normal((30, 50))  # as near as what rounding does
    X[:5] *= 1e4
    basis = np.linalg.qr(rng.standard_normal((50, 20)))[0].astype(dtype)
    vectors = PrincipalBounds(np.zeros(50), Centered(0.0), basis, 6).vectors(scale * X)
    apart = np.sqrt(np.square(scale * (X[:, None] - X)).sum(axis=2))
    for v, errors in ((vectors.v, vectors.errors), (vectors.more, vectors.more_errors)):
        v = v.astype(np.longdouble)
        bound = np.sqrt(np.square(v[:, None] - v).sum(axis=2))
        vanished = 28 * 2.0**-123  # the core widens limits by it, for numbers below the normal float32
        assert (bound <= apart * (1 + 1e-12) + errors[:, None] + errors + vanished).all()
        assert errors.max() < 0.01 * scale * np.linalg.norm(X, axis=1).max() + 1e-33


@pytest.mark.parametrize(("offset", "dtype"), [(0.0, np.float32), (1e7, np.float64)])
def test_products_are_of_float32_where_that_moves_rows_little(offset, dtype):
    rng = np.random.default_rng(6)
    X = rng.standard_normal((4000, 60)) * 0.8 ** np.arange(60)
    X[::2] += offset  # two heaps far apart: their mean is far from all rows
    bounds = by_principal(X, X[:1000].copy(), Centered(0.0), True)
    assert bounds.basis.dtype == dtype
    index = Index(X, algorithm="exact")
    found = index.search(X[:300], 5)
    apart = np.sqrt(np.square(X[:300, None] - X).sum(axis=2))
    nearest = np.sort(apart, axis=1)[:, :5]
    np.testing.assert_allclose(found.distances, nearest, rtol=1e-6, atol=1e-6)
