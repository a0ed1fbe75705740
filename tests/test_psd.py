"""The check of Gram matrices: a witness for what is not positive semi-definite, a place for what is not symmetric."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearline.kernels.psd import is_psd


@settings(max_examples=50)
@given(st.integers(1, 30), st.integers(1, 30), st.integers(0, 10**6), st.sampled_from([1e-200, 1.0, 1e200]))
def test_products_are_psd(n, d, seed, scale):
    X = np.random.default_rng(seed).normal(size=(n, d))
    K = X @ X.T
    check = is_psd(scale * (K + K.T))
    assert check
    assert check.witness is None
    assert check.asymmetry == 0
    assert "positive" in str(check)


@settings(max_examples=50)
@given(st.integers(2, 20), st.integers(0, 10**6))
def test_the_witness_is_one(n, seed):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.normal(size=(n, n)))[0]
    values = rng.uniform(0, 2, size=n)
    values[rng.integers(n)] = -0.5
    K = (Q * values) @ Q.T
    K = (K + K.T) / 2
    check = is_psd(K)
    assert not check
    assert check.smallest == pytest.approx(-0.5)
    assert check.witness @ K @ check.witness == pytest.approx(-0.5)
    assert "-0.5" in str(check)


def test_the_worst_asymmetry():
    K = np.eye(4)
    K[1, 3], K[3, 1], K[0, 2] = 0.5, 0.25, 0.125
    check = is_psd(K)
    assert not check
    assert check.witness is None
    assert sorted(check.place) == [1, 3]
    assert check.asymmetry == 0.25
    assert "differ by 0.25" in str(check)


def test_singular_and_empty():
    assert is_psd(np.zeros((3, 3)))
    assert is_psd(np.ones((50, 50)))
    assert is_psd(np.empty((0, 0)))
    assert not is_psd([[-1.0]])


@pytest.mark.parametrize(
    ("K", "message"),
    [
        (np.ones((2, 3)), "square"),
        (np.ones(3), "square"),
        ([[1.0, np.nan], [np.nan, 1.0]], r"K\[0, 1\] is nan"),
        ([[1.0, 0.0], [0.0, np.inf]], r"K\[1, 1\] is inf"),
    ],
)
def test_what_is_no_gram_matrix(K, message):
    with pytest.raises(ValueError, match=message):
        is_psd(K)
    with pytest.raises(ValueError, match="share"):
        is_psd(np.eye(2), tol=-1)
