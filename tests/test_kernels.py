"""Kernels of vectors and the algebra of all kernels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel

from nearline import KERNELS, is_psd, num_threads
from nearline.kernels import (
    RBF,
    Centered,
    Constant,
    Linear,
    Normalized,
    Polynomial,
    Precomputed,
    Product,
    Spectrum,
    Sum,
)

X = np.random.default_rng(0).standard_normal((23, 4))
Y = np.random.default_rng(1).standard_normal((7, 4))
STRINGS = ["cat", "car", "carts", "", "a cat", "tac", "xyz"]
TREES = ["(S (NP a) (VP b))", "(S (NP a) (VP c))", "(S (VP b) (NP a))", "(NP a)", "(S x)"]
PEERS = {
    "linear": (Linear(), linear_kernel),
    "cubic": (Polynomial(3, 1.0), lambda A, B: polynomial_kernel(A, B, degree=3, gamma=1.0, coef0=1.0)),
    "square": (Polynomial(2, 0.0), lambda A, B: polynomial_kernel(A, B, degree=2, gamma=1.0, coef0=0.0)),
    "gaussian": (RBF(0.3), lambda A, B: rbf_kernel(A, B, gamma=0.3)),
}


def items_for(kernel):
    return {"strings": STRINGS, "trees": TREES, "gram": RBF(0.5)(X)}.get(kernel.takes, X)


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", [np.asarray, csr_matrix])
def test_vector_kernels_are_scikit_learns(name, dtype, form):
    kernel, peer = PEERS[name]
    A, B = form(X.astype(dtype)), form(Y.astype(dtype))
    tolerance = {"rtol": 1e-10, "atol": 1e-10} if dtype == np.float64 else {"rtol": 1e-4, "atol": 1e-4}
    np.testing.assert_allclose(kernel(A, B), peer(X, Y), **tolerance)
    np.testing.assert_allclose(kernel(A), peer(X, X), **tolerance)
    np.testing.assert_allclose(kernel.diagonal(kernel.items(A)), np.diag(peer(X, X)), **tolerance)
    assert kernel(A).dtype == dtype


@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_is_one(name):
    """Symmetric, positive semi-definite, with its diagonal; the same whatever the number of threads."""
    kernel, items = KERNELS[name], items_for(KERNELS[name])
    K = kernel(items)
    np.testing.assert_array_equal(K, K.T)
    assert is_psd(K)
    checked = kernel.items(items)
    np.testing.assert_allclose(kernel.fitted(checked).diagonal(checked), np.diag(K), rtol=1e-6)
    with num_threads(1):
        np.testing.assert_array_equal(kernel(items), K)


@pytest.mark.parametrize("name", [name for name in KERNELS if name != "precomputed"])
def test_algebra_over_every_kernel(name):
    kernel, items = KERNELS[name], items_for(KERNELS[name])
    K = kernel(items)
    np.testing.assert_allclose((2.0 * kernel)(items), 2.0 * K)
    np.testing.assert_allclose((kernel + kernel)(items), 2.0 * K)
    np.testing.assert_allclose((kernel * kernel)(items), K * K)
    np.testing.assert_allclose((kernel + 1.5)(items), K + 1.5)
    lengths = np.sqrt(np.diag(K))
    lengths = np.where(lengths > 0, lengths, 1.0)
    normalized = Normalized(kernel)(items)
    np.testing.assert_allclose(normalized, K / np.outer(lengths, lengths), atol=1e-9)
    assert set(np.diag(normalized)) <= {0.0, 1.0}
    n = len(K)
    H = np.eye(n) - 1.0 / n
    centered = Centered(kernel)(items)
    np.testing.assert_allclose(centered, H @ K @ H, atol=1e-8 * np.abs(K).max())
    for made in (kernel + kernel, kernel * kernel, Normalized(kernel), Centered(kernel)):
        G = made(items)
        assert is_psd(0.5 * (G + G.T))
        checked = made.items(items)
        fitted = made.fitted(checked)
        part = fitted.items(items[:3])
        np.testing.assert_allclose(
            fitted.between(part, checked), G[:3], rtol=1e-5, atol=1e-8 * np.abs(G).max()
        )
        np.testing.assert_allclose(
            fitted.diagonal(checked), np.diag(G), rtol=1e-5, atol=1e-8 * np.abs(G).max()
        )


def test_centered_takes_the_mean_of_the_training_items():
    kernel = Centered(Linear()).fitted(X)
    shift = X.mean(axis=0)
    np.testing.assert_allclose(kernel.between(Y, X), (Y - shift) @ (X - shift).T, atol=1e-12)
    np.testing.assert_allclose(kernel.among(Y), (Y - shift) @ (Y - shift).T, atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(Y), ((Y - shift) ** 2).sum(axis=1), atol=1e-12)
    with pytest.raises(ValueError, match="call fitted"):
        Centered(Linear()).among(X)


def test_parts_are_kernels_of_the_same_items():
    assert isinstance(Linear() + RBF(1.0), Sum)
    assert isinstance(3 * RBF(1.0), Product)
    assert (Constant(2.0) * Spectrum(2)).takes == "strings"
    with pytest.raises(ValueError, match="strings and vectors cannot be combined"):
        Linear() + Spectrum(2)
    with pytest.raises(ValueError, match="numbers >= 0"):
        -1.0 * Linear()


def test_gamma_by_rules():
    assert RBF("scale").fitted(X).gamma == pytest.approx(1 / (4 * X.var()))
    assert RBF("scale").fitted(X + 1e6).gamma == pytest.approx(1 / (4 * X.var()), rel=1e-6)
    squares = ((X[:, None] - X) ** 2).sum(axis=2)[np.triu_indices(23, 1)]
    assert RBF("median").fitted(X).gamma == pytest.approx(1 / np.median(squares))
    weights = np.arange(23.0)
    repeated = RBF("scale").fitted(X.repeat(np.arange(23), axis=0)).gamma
    assert RBF("scale").fitted(X, weights).gamma == pytest.approx(repeated)
    assert RBF("scale").fitted(np.ones((3, 2))).gamma == 1.0
    with pytest.raises(ValueError, match="call fitted"):
        RBF("scale").among(X)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_offsets_cost_no_digits(offset):
    np.testing.assert_allclose(RBF(0.3)(X + offset, Y + offset), rbf_kernel(X, Y, gamma=0.3), atol=1e-8)


@settings(max_examples=50)
@given(
    st.integers(1, 70),
    st.integers(1, 70),
    st.integers(1, 9),
    st.sampled_from([1e-3, 1.0, 1e3]),
    st.booleans(),
)
def test_gaussian_of_any_shape(n, m, d, gamma, single):
    rng = np.random.default_rng(n * m)
    A, B = rng.standard_normal((n, d)), rng.standard_normal((m, d))
    if single:
        A, B = A.astype(np.float32), B.astype(np.float32)
    K, between = RBF(gamma)(A), RBF(gamma)(A, B)
    np.testing.assert_array_equal(K, K.T)
    assert (np.diag(K) == 1).all()
    tolerance = 1e-9 if not single else min(1.0, 1e-5 * max(1.0, gamma))
    np.testing.assert_allclose(
        between, rbf_kernel(A.astype(float), B.astype(float), gamma=gamma), atol=tolerance
    )


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: RBF(0.0), "gamma must be a number > 0"),
        (lambda: RBF("auto"), "'scale' or 'median'"),
        (lambda: Polynomial(0), "degree must be a whole number >= 1"),
        (lambda: Polynomial(2, -1.0), "offset must be a number >= 0"),
        (lambda: Linear()(["a", "b"]), "takes rows of numbers"),
        (lambda: Linear()(np.array([[1.0, np.nan]])), "NaN"),
        (lambda: Linear()(np.zeros(3)), "shape"),
        (lambda: Precomputed()(np.zeros((2, 3))), "square"),
        (lambda: Precomputed()(np.array([[1.0, 2.0], [0.0, 1.0]])), "symmetric"),
    ],
)
def test_what_is_wrong_is_said(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
