"""Least squares and ridge in closed form, all alphas and all left-out rows from one factorization."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.linear_model import Ridge, RidgeCV

import oracle_ridge as oracle
from conftest import tiny_problem
from nearline import LOSSES, ElasticNet, Params, RidgeFactorization, Risk, _core, minimize
from nearline._parallel import tiles
from nearline.losses import Squared, one_hot
from nearline.solvers import SOLVERS, closed_form
from nearline.solvers._certifier import Goal

SHAPES = [(30, 4), (7, 12), (9, 9), (3, 2), (2, 5)]
ALPHAS = [0.0, 1e-9, 1e-3, 1.0]


def problem(n, d, *, seed=0, deficient=False, weights="equal"):
    """Random rows and three outputs; deficient: a repeated column and a repeated row."""
    rng = np.random.default_rng(seed)
    X, codes = rng.normal(size=(n, d)), rng.normal(size=(n, 3))
    if deficient:
        X[:, -1] = X[:, 0]
        X[-1] = X[0]
    s = {"equal": np.ones(n), "integer": rng.integers(1, 4, n) * 1.0, "any": rng.random(n) + 0.05}[weights]
    return X, codes, s


def relative(actual, expected):
    return np.abs(actual - expected).max() / max(1.0, np.abs(expected).max())


# -- the solver -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("deficient", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_solutions_are_those_of_the_textbook(shape, deficient, bias):
    """D1: (X^T X + S alpha I)^-1 X^T Y; pinv(X) Y on centered rows at alpha = 0, whatever the rank."""
    for weights in ("equal", "integer", "any"):
        X, codes, s = problem(*shape, deficient=deficient, weights=weights)
        factors = RidgeFactorization(X, codes, s, bias=bias)
        for alpha in ALPHAS:
            W, b = oracle.fit(X, codes, alpha, s, bias)
            params = factors.solution(alpha)
            tolerance = (
                1e-6 if 0 < alpha < 1e-8 else 1e-8
            )  # of the reference: nothing but the penalty holds W
            assert relative(params.W, W) < tolerance, (weights, alpha)
            assert relative(params.b, b) < tolerance, (weights, alpha)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_gap_of_any_weights_is_primal_less_dual(sparse, bias):
    """P - D by the definition: the squared loss has loss*(u) = u.t + |u|^2 / 2, the penalty |V|^2 / (2 alpha)."""
    rng = np.random.default_rng(3)
    X, targets = tiny_problem(3, n=40, d=4)
    weights, alpha = rng.random(40) + 0.1, 0.05
    rows = csr_matrix(X) if sparse else X
    risk = Risk(rows, targets, weights=weights, loss="squared", alpha=alpha, bias=bias)
    start = Params.of(rng.normal(size=(3, 4)), np.zeros(3))
    state = SOLVERS["closed-form"].start(risk, start, Goal(1e-4))
    codes, total = Squared().codes(targets, 3), weights.sum()
    W, b = state.point.params.W, state.point.params.b
    u = X @ W.T + b - codes
    if bias:
        u -= weights @ u / total
    primal = weights @ ((X @ W.T + b - codes) ** 2).sum(axis=1) / (2 * total) + alpha / 2 * (W**2).sum()
    V = (weights[:, None] * u).T @ X / total
    dual = -weights @ (u * codes + u**2 / 2).sum(axis=1) / total - (V**2).sum() / (2 * alpha)
    assert state.point.value == pytest.approx(primal, rel=1e-12)
    assert state.gap == pytest.approx(primal - dual, rel=1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [4, 60])
def test_solver_takes_one_certified_step(n_classes, sparse, dtype, d):
    """D13: one step, and a gap that is zero to rounding; primal (d < n) and dual, dense and CSR."""
    X, targets = tiny_problem(n_classes, sparse=sparse, dtype=dtype, d=d)
    weights = 1.0 + np.arange(40) % 3
    for alpha in (1e-3, 0.1):
        risk = Risk(X, targets, loss="squared", alpha=alpha, weights=weights)
        solution = minimize(risk, "closed-form", tol=1e-6)
        assert (solution.converged, solution.n_iter) == (True, 1)
        assert solution.gap <= (1e-13 if dtype == np.float64 else 1e-8)
        codes = one_hot(targets, 3) if n_classes == 3 else 2.0 * targets[:, None] - 1.0
        dense = X.toarray() if sparse else X
        W, b = oracle.fit(dense, codes, alpha, weights)
        np.testing.assert_allclose(solution.params.W, W, atol=1e-9)
        np.testing.assert_allclose(solution.params.b, b, atol=1e-9 if dtype == np.float64 else 1e-7)


@pytest.mark.parametrize("bias", [True, False])
def test_same_as_ridge_of_scikit_learn(bias):
    """Its alpha is S * alpha of the mean form."""
    X, targets = tiny_problem(2)
    weights = 0.5 + np.arange(40) % 4
    risk = Risk(X, targets, loss="squared", alpha=0.02, weights=weights, bias=bias)
    ours = minimize(risk, "closed-form").params
    theirs = Ridge(alpha=weights.sum() * 0.02, fit_intercept=bias, tol=1e-12)
    theirs.fit(X, 2.0 * targets - 1.0, sample_weight=weights)
    np.testing.assert_allclose(ours.W[0], theirs.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.b[0], theirs.intercept_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("regularizer", ["none", "l2", ElasticNet(rho=0.0)])
def test_auto_takes_the_closed_form_for_the_squared_loss(regularizer):
    X, targets = tiny_problem(3)
    solution = minimize(Risk(X, targets, loss="squared", regularizer=regularizer, alpha=0.1))
    assert solution.solver == "closed-form"
    assert solution.converged


@pytest.mark.parametrize("loss", [name for name in LOSSES if name != "squared"])
def test_other_losses_are_refused(loss):
    X, targets = tiny_problem(2)
    reason = SOLVERS["closed-form"].refuses(Risk(X, targets, loss=loss, alpha=0.1))
    assert reason is not None
    assert LOSSES[loss].refusal is not None or "use '" in reason


def test_l1_is_refused_and_says_who_can():
    X, targets = tiny_problem(2)
    with pytest.raises(ValueError, match="'coordinate-descent'"):
        minimize(Risk(X, targets, loss="squared", regularizer="l1", alpha=0.1), "closed-form")


def test_integer_weights_are_repeated_rows():
    X, codes, s = problem(20, 4, weights="integer")
    repeated = np.repeat(np.arange(20), s.astype(int))
    once = RidgeFactorization(X, codes, s).solution(0.01)
    often = RidgeFactorization(X[repeated], codes[repeated]).solution(0.01)
    np.testing.assert_allclose(once.flat, often.flat, rtol=1e-10, atol=1e-12)


def test_a_start_at_the_solution_needs_no_step():
    X, targets = tiny_problem(3)
    risk = Risk(X, targets, loss="squared", alpha=0.1)
    first = minimize(risk, "closed-form", tol=1e-10)
    again = minimize(risk, "closed-form", first.params, tol=1e-10)
    assert again.n_iter == 0


# -- accuracy -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [1e6, 1e8])
@pytest.mark.parametrize("alpha", [0.0, 1e-6, 0.1])
@pytest.mark.parametrize("d", [5, 30])
def test_offsets_cost_no_digits(offset, alpha, d):
    """Whole numbers stay exact under an offset, so the weights must not change at all but for rounding."""
    rng = np.random.default_rng(0)
    X = rng.integers(-50, 50, size=(20, d)).astype(float)
    targets = np.arange(20) % 2
    near = minimize(Risk(X, targets, loss="squared", alpha=alpha), "closed-form", tol=1e-9)
    far = minimize(Risk(X + offset, targets, loss="squared", alpha=alpha), "closed-form", tol=1e-6)
    assert near.converged
    assert far.converged
    np.testing.assert_allclose(far.params.W, near.params.W, rtol=1e-8, atol=1e-12)
    codes = 2.0 * targets - 1.0
    loo = [RidgeFactorization(x, codes).leave_one_out([alpha]) for x in (X, X + offset)]
    np.testing.assert_allclose(loo[1], loo[0], rtol=1e-6, atol=1e-8)


def test_float32_with_an_offset_is_solved_in_float64():
    """1e6 + whole numbers is exact in float32; sums of its squares are not."""
    rng = np.random.default_rng(0)
    X = rng.integers(-50, 50, size=(300, 6)).astype(np.float32)
    codes = rng.normal(size=300)
    near, far = (RidgeFactorization(x, codes).solution(1e-3) for x in (X, X + np.float32(1e6)))
    np.testing.assert_allclose(far.W, near.W, rtol=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 1e-12, 1e-4])
def test_wild_scales_against_exact_arithmetic(alpha):
    """Columns of scales 1e-6 .. 1e6: every single weight is right, not only the largest."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12, 5)) * np.array([1e-6, 1e-3, 1.0, 1e3, 1e6])
    targets = np.arange(12) % 2
    solution = minimize(Risk(X, targets, loss="squared", alpha=alpha), "closed-form", tol=1e-8)
    W, b = oracle.exact_fit(X, 2.0 * targets[:, None] - 1.0, alpha)
    np.testing.assert_allclose(solution.params.W, W, rtol=1e-8)
    np.testing.assert_allclose(solution.params.b, b, rtol=1e-8)


@pytest.mark.parametrize("degree", [5, 8])
def test_ill_conditioned_features_are_as_accurate_as_lstsq(degree):
    """A Vandermonde matrix: the Gram matrix alone would lose all digits."""
    x = np.linspace(0.0, 1.0, 25)
    X, codes = x[:, None] ** np.arange(1, degree + 1), np.sin(7 * x)[:, None]
    W, _ = oracle.exact_fit(X, codes, 0.0)
    ours = RidgeFactorization(X, codes).solution(0.0).W
    theirs = np.linalg.lstsq(X - X.mean(axis=0), codes - codes.mean(), rcond=None)[0].T
    error, reference = relative(ours, W), relative(theirs, W)
    assert error <= 10 * reference + 1e-9, (error, reference)


def test_constant_columns_get_no_weight():
    X, targets = tiny_problem(2)
    X = np.hstack([X, np.full((40, 1), 1e8 + 0.1), np.full((40, 1), 0.3)])
    for alpha in (0.0, 0.1):
        solution = minimize(Risk(X, targets, loss="squared", alpha=alpha), "closed-form")
        assert solution.converged
        np.testing.assert_allclose(solution.params.W[0, 4:], 0.0, atol=1e-20)


def test_only_constant_columns_leave_the_mean():
    factors = RidgeFactorization(np.full((5, 3), 1e8 + 0.1), np.arange(5.0))
    for alpha in (0.0, 0.5):
        np.testing.assert_array_equal(factors.solution(alpha).W, 0.0)
        np.testing.assert_allclose(factors.leave_one_out([alpha])[0, :, 0], [2.5, 2.25, 2.0, 1.75, 1.5])


# -- iteration, where the system is too large -----------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("d", [4, 60])
def test_iteration_agrees_with_the_factorization(monkeypatch, sparse, bias, d):
    monkeypatch.setattr("nearline.solvers.closed_form._solver.LARGEST_FACTOR", 1)
    X, targets = tiny_problem(3, sparse=sparse, d=d)
    weights = 1.0 + np.arange(40) % 3
    for alpha in (0.0, 1e-4, 0.1):
        risk = Risk(X, targets, loss="squared", alpha=alpha, weights=weights, bias=bias)
        solution = minimize(risk, "closed-form", tol=1e-12 if alpha else 1e-10)
        assert solution.converged
        assert solution.n_iter > 1
        dense = X.toarray() if sparse else X
        W, b = oracle.fit(dense, one_hot(targets, 3), alpha, weights, bias)
        atol = np.sqrt(2e-12 * risk.null_value / alpha) if alpha else 1e-6  # alpha/2 |W - W*|^2 <= gap
        np.testing.assert_allclose(solution.params.W, W, atol=atol)
        np.testing.assert_allclose(solution.params.b, b, atol=atol)
        assert (np.diff(solution.trace) <= 1e-12).all()


def test_wide_sparse_rows_are_iterated():
    rng = np.random.default_rng(0)
    X = csr_matrix((np.ones(3000), (np.arange(3000) % 1000, rng.integers(0, 4000, 3000))), shape=(1000, 4000))
    risk = Risk(X, np.arange(1000) % 2, loss="squared", alpha=1e-3)
    assert not closed_form.fits(risk)
    solution = minimize(risk, "closed-form", tol=1e-10)
    assert solution.converged
    assert solution.n_iter > 1


def test_factorizations_too_large_are_refused_with_a_way_out():
    X = csr_matrix((10_000, 9_000))
    with pytest.raises(ValueError, match="give one alpha"):
        RidgeFactorization(X, np.zeros(10_000))


# -- leave-one-out and folds ----------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("deficient", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_leave_one_out_is_the_refit(shape, deficient, bias):
    """D1: a refit on n - 1 rows at the same alpha of the mean form, so the ridge of the sum is alpha (S - s_i)."""
    n = shape[0]
    for weights in ("equal", "integer", "any"):
        X, codes, s = problem(*shape, deficient=deficient, weights=weights)
        scores = RidgeFactorization(X, codes, s, bias=bias).leave_one_out(ALPHAS)
        for a, alpha in enumerate(ALPHAS):
            expected = oracle.leave_out(X, codes, alpha, np.arange(n), s, bias)
            assert relative(scores[a], expected) < 1e-6, (weights, alpha)


@pytest.mark.parametrize("d", [3, 40])
def test_leave_one_out_of_sparse_float32_rows(d):
    X, targets = tiny_problem(3, sparse=True, dtype=np.float32, d=d)
    codes = one_hot(targets, 3)
    scores = RidgeFactorization(X, codes).leave_one_out([1e-3])[0]
    expected = oracle.leave_out(X.toarray(), codes, 1e-3, np.arange(40))
    np.testing.assert_allclose(scores, expected, atol=1e-8)


@pytest.mark.parametrize("alpha", [0.0, 1e-12, 1e-6, 1e-2])
def test_rows_that_alone_hold_up_a_direction(alpha):
    """A feature seen in one row only (leverage 1 at alpha = 0): the refit gives it no weight."""
    rng = np.random.default_rng(0)
    X = np.hstack([rng.normal(size=(15, 2)), np.zeros((15, 3))])
    X[3, 2], X[7, 3], X[11, 4] = 1.0, -1e2, 1e-2
    codes = rng.normal(size=(15, 2))
    for bias in (True, False):
        scores = RidgeFactorization(X, codes, bias=bias).leave_one_out([alpha])[0]
        expected = oracle.leave_out(X, codes, alpha, np.arange(15), bias=bias)
        assert relative(scores, expected) < 1e-6, bias


def test_rows_without_weight_are_scored_by_the_model_of_all_others():
    X, codes, s = problem(12, 3, weights="any")
    s[[2, 5]] = 0.0
    for wide in (X, np.hstack([X, X**2, X**3, np.cos(X), np.sin(3 * X)])):
        scores = RidgeFactorization(wide, codes, s).leave_one_out([1e-2])[0]
        np.testing.assert_allclose(
            scores, oracle.leave_out(wide, codes, 1e-2, np.arange(12), s), rtol=1e-7, atol=1e-8
        )


def test_leave_one_out_is_that_of_ridge_cv():
    """scikit-learn leaves the sum's ridge alone, so its alpha is (n - 1) alpha."""
    X, targets = tiny_problem(2)
    codes = 2.0 * targets - 1.0
    alphas = np.array([1e-3, 1e-1, 1.0])
    theirs = RidgeCV(alphas=alphas * 39, store_cv_results=True).fit(X, codes)
    ours = RidgeFactorization(X, codes).leave_one_out(alphas)[:, :, 0]
    np.testing.assert_allclose((ours - codes).T ** 2, theirs.cv_results_, rtol=1e-8)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(31, 4), (8, 12), (13, 9)])
@pytest.mark.parametrize("deficient", [False, True])
def test_folds_are_refits(shape, deficient, bias):
    for weights in ("equal", "any"):
        X, codes, s = problem(*shape, deficient=deficient, weights=weights)
        folds = np.arange(shape[0]) % 3
        scores = RidgeFactorization(X, codes, s, bias=bias).leave_folds_out(folds, ALPHAS)
        for a, alpha in enumerate(ALPHAS):
            expected = oracle.leave_out(X, codes, alpha, folds, s, bias)
            assert relative(scores[a], expected) < 1e-6, (weights, alpha)


def test_folds_of_one_row_are_leave_one_out():
    X, codes, _ = problem(30, 4)
    factors = RidgeFactorization(X, codes)
    np.testing.assert_allclose(
        factors.leave_folds_out(np.arange(30), [0.01]), factors.leave_one_out([0.01]), rtol=1e-9, atol=1e-10
    )


def test_nothing_left_to_fit_is_said():
    with pytest.raises(ValueError, match="at least two rows"):
        RidgeFactorization(np.eye(3), np.arange(3.0), np.array([1.0, 0.0, 0.0])).leave_one_out([0.1])
    with pytest.raises(ValueError, match="smaller folds"):
        RidgeFactorization(np.eye(3), np.arange(3.0)).leave_folds_out(np.zeros(3), [0.1])
    with pytest.raises(ValueError, match="one of each"):
        RidgeFactorization(np.eye(3), np.arange(2.0))
    with pytest.raises(ValueError, match="not all zero"):
        RidgeFactorization(np.eye(3), np.arange(3.0), np.zeros(3))


@settings(max_examples=60)
@given(
    n=st.integers(2, 12),
    d=st.integers(1, 12),
    rank=st.integers(1, 12),
    bias=st.booleans(),
    weighted=st.booleans(),
    alpha=st.sampled_from([0.0, 1e-6, 1e-2, 10.0]),
    seed=st.integers(0, 1000),
)
def test_any_shape_and_rank(n, d, rank, bias, weighted, alpha, seed):
    """Whole numbers keep ranks exact: products of an (n, r) and an (r, d) matrix."""
    rng = np.random.default_rng(seed)
    r = min(rank, n, d)
    X = (rng.integers(-2, 3, (n, r)) @ rng.integers(-2, 3, (r, d))).astype(float)
    codes = rng.integers(-2, 3, (n, 2)).astype(float)
    s = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    factors = RidgeFactorization(X, codes, s, bias=bias)
    W, b = oracle.fit(X, codes, alpha, s, bias)
    assert relative(factors.solution(alpha).flat, Params.of(W, b).flat) < 1e-7
    expected = oracle.leave_out(X, codes, alpha, np.arange(n), s, bias)
    assert relative(factors.leave_one_out([alpha])[0], expected) < 1e-6


# -- threads and memory ---------------------------------------------------------------------------------------


def test_results_do_not_depend_on_the_number_of_threads(monkeypatch):
    monkeypatch.setattr(tiles, "SMALL", 0.0)
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(3000, 20)).astype(np.float32), rng.normal(size=(3000, 2))
    before, found = _core.thread_limit(), []
    try:
        for n_threads in (1, 2, 3):
            _core.set_thread_limit(n_threads)
            factors = RidgeFactorization(X, codes)
            found.append((factors.solution(1e-3).flat, factors.leave_one_out([0.0, 1e-3])))
    finally:
        _core.set_thread_limit(before)
    for flat, scores in found[1:]:
        np.testing.assert_array_equal(flat, found[0][0])
        np.testing.assert_array_equal(scores, found[0][1])


def test_tasks_end_when_another_fails():
    """What Ctrl-C does too: a long task stops at its next step."""
    ended, began = [], threading.Event()

    def task(item):
        if item == 0:
            began.wait()
            raise KeyboardInterrupt
        for _ in tiles.steps(range(10**8)):
            began.set()
        ended.append(item)

    before = _core.thread_limit()
    _core.set_thread_limit(2)
    try:
        with pytest.raises(KeyboardInterrupt):
            tiles.map_tiles(task, [0, 1], work=1e9)
    finally:
        _core.set_thread_limit(before)
    assert ended == []


def test_blas_gets_its_threads_back():
    from threadpoolctl import threadpool_info

    def threads():
        return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]

    tiles.map_tiles(abs, [1, 2], work=1e9)  # loads what there is to load
    before = threads()

    def fails(item):
        raise ValueError("as tasks may")

    with pytest.raises(ValueError, match="as tasks may"):
        tiles.map_tiles(fails, [1, 2, 3], work=1e9)
    assert tiles.map_tiles(lambda i: i * i, [3, 1, 2], work=1e9) == [9, 1, 4]
    assert threads() == before


def test_float32_rows_are_not_copied_whole():
    import tracemalloc

    X = np.ones((200_000, 16), dtype=np.float32)
    X[:, :8] = np.random.default_rng(0).normal(size=(200_000, 8))
    codes = X[:, :1].astype(float)
    tracemalloc.start()
    try:
        RidgeFactorization(X, codes).solution(1e-3)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Columns of the targets, and a few tiles of 8 MB; X in float64 would be 26 MB more.
    assert peak < 8 * 200_000 * 6 + 3 * 8 * (1 << 20)
