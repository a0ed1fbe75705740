"""The compiled passes against the generic ones in NumPy, for every built-in loss."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from conftest import interrupted
from nearline import Risk, _core
from nearline.losses import LOSSES, Logistic, Softmax
from nearline.risk.params import Params
from nearline.risk.passes import CompiledPasses, GenericPasses, passes_for
from oracle_passes import exact_moments, logistic_reference, weighted_gram

CORE_LOSSES = [name for name, loss in LOSSES.items() if loss.compiled is not None]
SMOOTH = [name for name in CORE_LOSSES if LOSSES[name].smooth]
TOLERANCE = {np.float32: 2e-5, np.float64: 1e-12}


def problem(loss_name, *, n=70, d=11, n_outputs=3, dtype=np.float64, sparse=False, weighted=True, seed=0):
    """Both kinds of passes for one problem, and parameters to try them at."""
    rng = np.random.default_rng(seed)
    loss = LOSSES[loss_name]
    X = rng.normal(size=(n, d)).astype(dtype)
    if sparse:
        X[rng.random(X.shape) < 0.6] = 0.0
    targets = rng.integers(0, loss.label_count(n_outputs), n).astype(np.int32)
    weights = rng.random(n) * rng.integers(0, 3, n) if weighted else np.ones(n)
    weights[0] = 1.0
    params = Params.of(rng.normal(size=(n_outputs, d)) / np.sqrt(d), rng.normal(size=n_outputs))
    made = [
        kind(csr_matrix(X) if sparse else X, targets, weights, loss, n_outputs)
        for kind in (CompiledPasses, GenericPasses)
    ]
    return *made, params


def assert_near(actual, expected, dtype):
    """Equal up to rounding, relative to the largest number of each array."""
    for a, e in zip(actual, expected):
        scale = max(float(np.abs(e).max(initial=0.0)), 1.0)
        np.testing.assert_allclose(a, e, atol=TOLERANCE[dtype] * scale, rtol=0)


def assert_all_passes_equal(loss_name, dtype, **options):
    fused, plain, params = problem(loss_name, dtype=dtype, **options)
    scores, *rest = fused.value_and_gradient(params)
    assert scores.dtype == dtype
    plain_scores, *plain_rest = plain.value_and_gradient(params)
    assert_near([scores, fused.scores(params)], [plain_scores, plain_scores], dtype)
    assert_near(rest, plain_rest, dtype)
    assert_near(fused.gradient_from_scores(scores), plain.gradient_from_scores(scores), dtype)
    direction = params.like(np.random.default_rng(1).normal(size=params.flat.shape))
    along = fused.scores(direction)
    for step in (0.0, 0.3):
        assert_near(
            fused.value_and_slope(scores, along, step), plain.value_and_slope(scores, along, step), dtype
        )
    assert_near([fused.total_loss(scores)], [plain.total_loss(scores)], dtype)
    assert fused.smallest_margin(scores) == pytest.approx(plain.smallest_margin(scores), rel=1e-6)
    G = np.random.default_rng(2).normal(size=scores.shape)
    assert_near([fused.back_product(G)], [plain.back_product(G)], dtype)
    if fused.loss.smooth:
        assert_near(fused.hessian_product(scores, direction), plain.hessian_product(scores, direction), dtype)
        b = direction.b.copy()
        assert_near(fused.bias_sums(scores, b), plain.bias_sums(scores, b), np.float64)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss_name", CORE_LOSSES)
def test_compiled_equals_generic(loss_name, dtype, sparse):
    """A3: value, gradient and Hessian product of every built-in loss, dense and CSR, float32 and float64."""
    for n_outputs in (2, 5, 9) if LOSSES[loss_name].joint else (1, 3, 10):
        assert_all_passes_equal(loss_name, dtype, sparse=sparse, n_outputs=n_outputs, weighted=n_outputs != 3)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_outputs", [1, 2, 3, 4, 6, 7, 11, 20, 37, 100])
def test_any_number_of_columns(n_outputs, dtype, sparse):
    """Every shape of register block and slice."""
    loss_name = "logistic" if n_outputs == 1 else "softmax"
    assert_all_passes_equal(loss_name, dtype, sparse=sparse, n_outputs=n_outputs, n=45, d=37)


@settings(max_examples=60)
@given(
    n=st.integers(1, 100),
    d=st.integers(0, 60),
    n_outputs=st.integers(1, 7),
    dtype=st.sampled_from([np.float32, np.float64]),
    sparse=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_any_shape(n, d, n_outputs, dtype, sparse, seed):
    """One row, no or few features, tails of tiles and vectors."""
    loss_name = "squared-hinge" if n_outputs == 1 else "softmax"
    d = max(d, 1)
    assert_all_passes_equal(loss_name, dtype, n=n, d=d, n_outputs=n_outputs, sparse=sparse, seed=seed)


@pytest.mark.parametrize("d", [1, 8, 390, 784, 1024, 2500, 5000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_features(d, dtype):
    """Weights in several chunks, and sums over several tiles and tasks."""
    assert_all_passes_equal("softmax", dtype, n=600, d=d, n_outputs=10)


@pytest.mark.parametrize("index_dtype", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_csr_indices_of_both_widths(index_dtype, dtype):
    """E12: sparse X with int32 or int64 indices; empty rows and columns; columns longer than a segment of sums."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(700, 30)).astype(dtype)
    X[rng.random(X.shape) < 0.5] = 0.0
    X[:, 0] = 1.0
    X[5], X[:, 7] = 0.0, 0.0
    X = csr_matrix(X)
    X.indices, X.indptr = X.indices.astype(index_dtype), X.indptr.astype(index_dtype)
    targets, weights = rng.integers(0, 4, 700).astype(np.int32), np.ones(700)
    params = Params.of(rng.normal(size=(4, 30)), np.zeros(4))
    fused = CompiledPasses(X, targets, weights, LOSSES["softmax"], 4)
    plain = GenericPasses(X, targets, weights, LOSSES["softmax"], 4)
    assert_near(fused.value_and_gradient(params), plain.value_and_gradient(params), dtype)
    assert_near(fused.column_moments, plain.column_moments, np.float64)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss_name", ["softmax", "sparsemax", "hinge"])
def test_same_bits_for_any_number_of_threads(loss_name, dtype, sparse):
    """Results are those of one thread, bit for bit."""
    results = []
    before = _core.thread_limit()
    try:
        for threads in (1, 2, 3):
            _core.set_thread_limit(threads)
            fused, _, params = problem(loss_name, n=3000, d=90, n_outputs=4, dtype=dtype, sparse=sparse)
            scores, total, G_W, G_b = fused.value_and_gradient(params)
            numbers = [scores, total, G_W, G_b, *fused.gradient_from_scores(scores)]
            numbers += [*fused.column_moments, *fused.value_and_slope(scores, scores[::-1], 0.1)]
            numbers.append(fused.back_product(scores))
            if fused.loss.smooth:
                numbers += [*fused.hessian_product(scores, params), *fused.bias_sums(scores, params.b)]
            results.append(b"".join(np.asarray(x).tobytes() for x in numbers))
    finally:
        _core.set_thread_limit(before)
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize("loss_name", SMOOTH)
def test_hessians_as_matrices(loss_name):
    """A3: the Hessian and its class blocks equal their definitions; sub-sampled blocks are scaled to all rows."""
    for n_outputs in (2, 4) if LOSSES[loss_name].joint else (1, 3):
        fused, plain, params = problem(loss_name, n=60, d=5, n_outputs=n_outputs)
        scores = fused.scores(params)
        H = fused.hessian(scores)
        np.testing.assert_allclose(H, plain.hessian(scores), atol=1e-11 * np.abs(H).max())
        np.testing.assert_allclose(H, H.T, atol=1e-13 * np.abs(H).max())
        direction = params.like(np.random.default_rng(5).normal(size=params.flat.shape))
        product = np.concatenate([part.ravel() for part in fused.hessian_product(scores, direction)])
        np.testing.assert_allclose(H @ direction.flat, product, atol=1e-10 * np.abs(product).max())
        curvature = fused.loss.curvature(scores, fused.targets)
        diagonal = curvature if curvature.ndim == 2 else np.einsum("icc->ic", curvature)
        for step in (1, 3):
            blocks = fused.class_hessian_blocks(scores, step)
            used = slice(None, None, step)
            for c in range(n_outputs):
                h = (diagonal[:, c] * fused.weights)[used]
                expected = weighted_gram(fused.X[used], h) * (len(scores) / len(h))
                np.testing.assert_allclose(blocks[c], expected, atol=1e-11 * np.abs(H).max())


def test_class_blocks_keep_float32_and_take_csr():
    """A preconditioner in X's own precision."""
    for sparse in (False, True):
        fused, plain, params = problem("softmax", n=90, d=6, n_outputs=3, dtype=np.float32, sparse=sparse)
        scores = fused.scores(params)
        blocks = fused.class_hessian_blocks(scores)
        assert blocks.dtype == np.float32
        np.testing.assert_allclose(blocks, plain.class_hessian_blocks(scores), rtol=1e-4, atol=1e-4)
    with pytest.raises(ValueError, match="row_step must be at least 1"):
        fused.class_hessian_blocks(scores, 0)


@pytest.mark.parametrize("loss_name", SMOOTH)
def test_best_bias(loss_name):
    """The bias of least loss has gradient zero, from far away too."""
    n_outputs = 3 if LOSSES[loss_name].joint else 1
    fused, plain, params = problem(loss_name, n=80, n_outputs=n_outputs, weighted=False)
    for offset in (0.0, 30.0):
        scores = fused.scores(params) + offset * np.arange(1, n_outputs + 1)
        b = fused.best_bias_shift(scores)
        assert np.abs(fused.bias_sums(scores, b).gradient).max() <= 1e-11 * len(scores)
        shift = plain.best_bias_shift(scores)
        value = plain.bias_sums(scores, shift).value
        assert fused.bias_sums(scores, b).value == pytest.approx(value, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_moments_survive_huge_offsets(dtype, sparse):
    """Mean and deviation of columns far from zero, with an outlier first, constant, empty; weights of all sizes."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(300, 6))
    X[:, 1] += 1e8 if dtype == np.float64 else 1e4
    X[:, 2] = 7.25
    X[:, 3] = 0.0
    X[0, 4], X[40, 4] = 1e9, 1e9
    X[:, 5] *= 1e-12
    X = X.astype(dtype)
    weights = rng.random(300) * 10.0 ** rng.integers(-6, 6, 300)
    weights[::7] = 0.0
    passes = CompiledPasses(
        csr_matrix(X) if sparse else X, np.zeros(300, dtype=np.int32), weights, LOSSES["logistic"], 1
    )
    mean, deviation = passes.column_moments
    exact_mean, exact_deviation = exact_moments(X, weights)
    np.testing.assert_allclose(mean, exact_mean, rtol=1e-13, atol=1e-20)
    rounding = 1e-15 * np.abs(exact_mean)
    assert (np.abs(deviation - exact_deviation) <= rounding + 1e-6 * exact_deviation).all()
    assert deviation[3] == 0.0


@pytest.mark.parametrize("loss_name", CORE_LOSSES)
def test_huge_scores_stay_finite(loss_name):
    """B3, B11: scores of +-1e4 give the right, finite numbers in float32 and float64."""
    loss = LOSSES[loss_name]
    K = 4 if loss.joint else 1
    rng = np.random.default_rng(6)
    scores = rng.choice([-1e4, -30.0, 0.0, 30.0, 1e4], size=(64, K))
    targets = rng.integers(0, loss.label_count(K), 64).astype(np.int32)
    for dtype in (np.float32, np.float64):
        fused = CompiledPasses(np.ones((64, 1), dtype=dtype), targets, np.ones(64), loss, K)
        total, G_W, G_b = fused.gradient_from_scores(scores.astype(dtype))
        values, G = loss.value_and_gradient(scores, targets)
        assert total == pytest.approx(values.sum(), rel=1e-12)
        np.testing.assert_allclose(G_b, G.sum(axis=0), atol=1e-5 * max(np.abs(G).max(), 1.0))
        assert np.isfinite(G_W).all()


def test_exp_and_log_to_the_last_digits():
    """B3: value, slope and curvature of the logistic loss keep their relative accuracy from -800 to 700."""
    z = np.concatenate([np.linspace(-40, 40, 4001), [-800.0, -100.0, 100.0, 500.0, 700.0, 1e-9, -1e-9, 0.0]])
    one = np.ones((1, 1))
    target = np.ones(1, dtype=np.int32)
    passes = CompiledPasses(one, target, np.ones(1), LOSSES["logistic"], 1)
    for margin in z:
        value, slope, curvature = logistic_reference(margin)
        f = np.array([[margin]])
        sums = passes.bias_sums(f, np.zeros(1))
        assert sums.value == pytest.approx(value, rel=2e-15)
        assert sums.gradient[0] == pytest.approx(slope, rel=2e-15)
        assert sums.curvature[0, 0] == pytest.approx(curvature, rel=4e-15)


def test_nan_is_not_swallowed():
    """A score that is not a number gives a loss that is not a number, so that no line search believes it."""
    for name in CORE_LOSSES:
        K = 3 if LOSSES[name].joint else 1
        scores = np.full((2, K), np.nan)
        passes = CompiledPasses(np.ones((2, 1)), np.ones(2, dtype=np.int32), np.ones(2), LOSSES[name], K)
        assert np.isnan(passes.total_loss(scores)), name


def test_the_passes_that_fit_are_chosen():
    """Built-in losses with class numbers are compiled; a subclass or label distributions go the generic way."""

    class Shifted(Logistic):
        name = "shifted"

        def phi(self, z):
            return super().phi(z - 1.0)

    X, targets, weights = np.ones((4, 2)), np.array([0, 1, 0, 1], dtype=np.int32), np.ones(4)
    assert isinstance(passes_for(X, targets, weights, Logistic(), 1), CompiledPasses)
    assert isinstance(passes_for(X, targets, weights, Shifted(), 1), GenericPasses)
    assert isinstance(passes_for(X, np.eye(4)[:, :3], weights, Softmax(), 3), GenericPasses)
    with pytest.raises(ValueError, match=r"class numbers 0 \.\. 1, got 0 \.\. 2"):
        passes_for(X, np.array([0, 1, 2, 1], dtype=np.int32), weights, Logistic(), 1)


def test_input_of_any_layout():
    """E12: Fortran order, strides and unsorted CSR give the same risk."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(50, 12))
    targets = rng.integers(0, 3, 50)
    shuffled = csr_matrix(X)
    for i in range(50):
        part = slice(shuffled.indptr[i], shuffled.indptr[i + 1])
        order = rng.permutation(12)
        shuffled.indices[part], shuffled.data[part] = (
            shuffled.indices[part][order],
            shuffled.data[part][order],
        )
    shuffled.has_sorted_indices = False
    shuffled.has_canonical_format = False
    wide = np.zeros((100, 24))
    wide[::2, ::2] = X
    params = Params.of(rng.normal(size=(3, 12)), rng.normal(size=3))
    expected = Risk(X, targets, loss="softmax").at(params)
    for other in (np.asfortranarray(X), wide[::2, ::2], shuffled):
        point = Risk(other, targets, loss="softmax").at(params)
        assert point.value == pytest.approx(expected.value, rel=1e-14)
        np.testing.assert_allclose(point.gradient.flat, expected.gradient.flat, atol=1e-14)
    scores = np.asfortranarray(expected.scores)
    again = Risk(X, targets, loss="softmax").at_scores(params, scores)
    np.testing.assert_allclose(again.gradient.flat, expected.gradient.flat, atol=1e-14)


OTHER_BUILD = """
import sys
import numpy as np
sys.path.insert(0, "tests")
from nearline import _core
from test_passes import problem
assert _core.isa == sys.argv[2]
out = {}
for loss in ("softmax", "logistic", "sparsemax", "weston-watkins"):
    for dtype in (np.float32, np.float64):
        for sparse in (False, True):
            K = 1 if loss == "logistic" else 6
            fused, _, params = problem(loss, n=150, d=23, n_outputs=K, dtype=dtype, sparse=sparse)
            _, total, G_W, G_b = fused.value_and_gradient(params)
            out[f"{loss}-{dtype.__name__}-{sparse}"] = np.concatenate([[total], G_W.ravel(), G_b])
np.savez(sys.argv[1], **out)
"""


@pytest.mark.parametrize("isa", [isa for isa in _core.builds if isa != _core.isa])
def test_other_builds_agree(tmp_path, isa):
    """The builds for other machines give the same numbers within rounding."""
    environment = {**os.environ, "NEARLINE_ISA": isa}
    root = os.path.dirname(os.path.dirname(__file__))
    file = tmp_path / "other.npz"
    command = [sys.executable, "-c", OTHER_BUILD, str(file), isa]
    subprocess.run(command, check=True, cwd=root, env=environment)
    for key, other in np.load(file).items():
        loss, dtype, sparse = key.rsplit("-", 2)
        K, dtype = 1 if loss == "logistic" else 6, getattr(np, dtype)
        fused, _, params = problem(loss, n=150, d=23, n_outputs=K, dtype=dtype, sparse=sparse == "True")
        _, total, G_W, G_b = fused.value_and_gradient(params)
        assert_near([np.concatenate([[total], G_W.ravel(), G_b])], [other], dtype)


def test_ctrl_c_is_honored():
    """A KeyboardInterrupt ends the pass, and the next one works."""
    fused, _, params = problem("softmax", n=100_000, d=100, n_outputs=10, dtype=np.float32)
    before = fused.value_and_gradient(params)
    with interrupted():
        while True:
            fused.value_and_gradient(params)
    np.testing.assert_array_equal(fused.value_and_gradient(params)[2], before[2])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_linear_scores(dtype):
    """The quick call for a few rows equals X W^T + b, for one row and for many."""
    rng = np.random.default_rng(8)
    for n, d, K in [(1, 784, 10), (1, 1, 1), (5, 13, 3), (40, 30, 7), (0, 4, 2)]:
        X, W, b = (rng.normal(size=shape).astype(dtype) for shape in ((n, d), (K, d), (K,)))
        scores = _core.linear_scores(X, W, b)
        assert scores.dtype == dtype
        assert scores.shape == (n, K)
        np.testing.assert_allclose(scores, X.astype(float) @ W.T + b, atol=TOLERANCE[dtype] * 30)
        if n:
            np.testing.assert_allclose(_core.linear_scores(X[0], W, b), scores[0], atol=TOLERANCE[dtype] * 30)
    with pytest.raises(ValueError, match="do not fit"):
        _core.linear_scores(np.ones((2, 3)), np.ones((2, 4)), np.ones(2))
