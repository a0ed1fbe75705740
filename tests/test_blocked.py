"""Rows in blocks: sums over blocks are those over rows, and one block is the risk itself, bit for bit."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from nearline import LOSSES, REGULARIZERS, SOLVERS, Risk, minimize
from nearline._arrays.blocks import RECENT, Block, HeldBlocks, Recent
from nearline._arrays.sums import FAN, tree
from nearline.losses import Logistic
from nearline.risk import BlockedRisk
from nearline.risk.params import Params

BY_SUMS = [name for name, solver in SOLVERS.items() if type(solver).__dict__.get("by_sums")]
N = 240


def rows(n_classes, seed=0, *, dtype=np.float64, sparse=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 5)) * [1.0, 3.0, 0.3, 1.0, 1.0] + [0.0, 5.0, 0.0, 0.0, 0.0]
    y = np.argmax(X[:, :n_classes] / 2 + rng.normal(size=(N, n_classes)), axis=1).astype(np.int32)
    X = X.astype(dtype)
    weights = rng.integers(0, 4, N) / 2.0
    return sp.csr_array(np.where(np.abs(X) > 0.5, X, 0.0)) if sparse else X, y, weights


def cut(X, y, weights, sizes):
    ends = np.cumsum(sizes)
    parts = [slice(a, b) for a, b in zip([0, *ends], [*ends, len(y)])]
    return HeldBlocks([Block(X[i], y[i], weights[i], i.start) for i in parts])


def pair(loss, regularizer, sizes=(), *, dtype=np.float64, sparse=False, alpha=1e-2):
    n_classes = 3 if LOSSES[loss].joint else 2
    X, y, weights = rows(n_classes, dtype=dtype, sparse=sparse)
    given = {"loss": loss, "regularizer": regularizer, "alpha": alpha, "n_classes": n_classes}
    return Risk(X, y, weights=weights, **given), BlockedRisk(cut(X, y, weights, sizes), **given)


def served():
    for loss in LOSSES:
        for regularizer in REGULARIZERS:
            if LOSSES[loss].refusal is not None:
                continue
            whole = pair(loss, regularizer)[0]
            slow = {"gradient-descent", "irls"} | ({"smoothing"} if LOSSES[loss].joint else set())
            for name in sorted(set(BY_SUMS) - slow):
                if SOLVERS[name].refuses(whole) is None:
                    yield loss, regularizer, name


@pytest.mark.filterwarnings("ignore::nearline.ConvergenceWarning")
@pytest.mark.parametrize(("loss", "regularizer", "solver"), list(served()))
def test_one_block_is_the_risk_itself(loss, regularizer, solver):
    whole, blocked = pair(loss, regularizer)
    found = [minimize(risk, solver, tol=1e-4, max_iter=12) for risk in (whole, blocked)]
    inner = "coordinate-descent" if solver == "smoothing" and regularizer != "l2" else None
    if inner is None:  # else smoothing takes another solver inside, which needs the rows
        assert np.array_equal(found[0].params.flat, found[1].params.flat)
        assert found[0].gap == found[1].gap
    several = minimize(pair(loss, regularizer, (31, 0, 100, 7))[1], solver, tol=1e-4, max_iter=12)
    if found[1].converged and found[1].gap is not None:
        assert several.converged
        assert abs(several.value - found[0].value) <= 1e-4 * found[0].value + 1e-12


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", ["logistic", "softmax", "squared-hinge"])
def test_precision_and_storage(loss, dtype, sparse):
    whole, blocked = pair(loss, "l2", dtype=dtype, sparse=sparse)
    several = pair(loss, "l2", (1, 50, 50), dtype=dtype, sparse=sparse)[1]
    for solver in ("lbfgs", "newton"):
        a, b, c = (minimize(risk, solver, tol=1e-5) for risk in (whole, blocked, several))
        assert np.array_equal(a.params.flat, b.params.flat)
        assert a.gap == b.gap
        assert c.gap <= 1e-5
        assert c.precision == np.dtype(dtype).name


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", ["hinge", "crammer-singer"])
def test_kinks_are_certified(loss, dtype):
    whole, _ = pair(loss, "l2", dtype=dtype)
    several = pair(loss, "l2", (60, 60), dtype=dtype)[1]
    found = minimize(several, tol=1e-4)
    assert found.solver == "smoothing"
    assert found.gap <= 1e-4
    assert abs(found.value - minimize(whole, tol=1e-6).value) <= 2e-4 * found.value


@given(st.lists(st.integers(0, 60), max_size=20), st.integers(0, 3))
def test_sums_do_not_depend_on_the_cuts(sizes, seed):
    whole, blocked = pair("softmax", "l2", sizes)
    rng = np.random.default_rng(seed)
    params = Params.of(rng.normal(size=(3, 5)), rng.normal(size=3))
    a, b = whole.at(params), blocked.at(params)
    assert np.isclose(a.value, b.value, rtol=1e-12)
    np.testing.assert_allclose(a.gradient.flat, b.gradient.flat, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(whole.hessian(a), blocked.hessian(b), rtol=1e-9, atol=1e-10)
    direction = params.like(rng.normal(size=params.flat.size))
    there = [risk.along(point, direction).value_and_slope(0.3) for risk, point in ((whole, a), (blocked, b))]
    np.testing.assert_allclose(*there, rtol=1e-9)
    for ours, theirs in zip(blocked.passes.column_moments, whole.passes.column_moments):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    assert np.isclose(blocked.gap(b), whole.gap(a), rtol=1e-6)
    assert blocked.passes.smallest_margin(b.scores) == pytest.approx(whole.passes.smallest_margin(a.scores))


def test_far_from_the_origin_newton_forms_its_matrix_about_the_mean():
    X, y, weights = rows(2)
    X = X + 1e6
    a = minimize(Risk(X, y, weights=weights, alpha=1e-2), "newton", tol=1e-6)
    b = minimize(BlockedRisk(cut(X, y, weights, (100,)), alpha=1e-2, n_classes=2), "newton", tol=1e-6)
    assert b.gap <= 1e-6
    assert np.isclose(a.value, b.value, rtol=1e-6)


def test_label_distributions():
    X, y, weights = rows(3)
    soft = 0.8 * np.eye(3)[y] + 0.2 / 3
    given = {"loss": "softmax", "alpha": 1e-2}
    a = minimize(Risk(X, soft, weights=weights, **given), "lbfgs")
    b = minimize(BlockedRisk(cut(X, soft, weights, (100,)), n_classes=3, **given), "lbfgs")
    assert np.isclose(a.value, b.value, rtol=1e-8)


def test_blocks_of_no_weight_change_nothing():
    X, y, weights = rows(2)
    weights[:100] = 0.0
    some = BlockedRisk(cut(X, y, weights, (50, 50)), alpha=1e-2, n_classes=2)
    rest = BlockedRisk(cut(X[100:], y[100:], weights[100:], ()), alpha=1e-2, n_classes=2)
    assert np.array_equal(minimize(some).params.flat, minimize(rest).params.flat)


def test_a_loss_of_ones_own_whose_balance_needs_the_rows_has_no_gap():
    class Own(Logistic):
        name = "own"

        def balance(self, duals, targets, weights):
            return super().balance(duals, targets, weights)

    X, y, weights = rows(2)
    risk = BlockedRisk(cut(X, y, weights, (50,)), loss=Own(), alpha=1e-2, n_classes=2)
    found = minimize(risk, tol=1e-6)
    assert found.gap is None
    assert found.gradient_test <= 1e-6


@pytest.mark.parametrize("solver", sorted(set(SOLVERS) - set(BY_SUMS)))
def test_solvers_that_need_rows_refuse(solver):
    with pytest.raises(ValueError, match="needs the rows themselves and these are in blocks: use 'newton'"):
        minimize(pair("logistic", "l2", (50,))[1], solver)


def test_no_solver_but_a_reason():
    with pytest.raises(ValueError, match="No solver serves loss 'hinge'"):
        minimize(pair("hinge", "none", (50,))[1])


def test_single_rows_are_not_to_be_had():
    risk = pair("logistic", "l2", (50,))[1]
    with pytest.raises(TypeError, match="asked for sums"):
        risk.passes.back_product(np.zeros((N, 1)))
    with pytest.raises(TypeError, match="asked for sums"):
        risk.passes.row_curvature(np.zeros((N, 1)), slice(None))


def test_what_was_computed_stays_where_it_was_computed():
    X, y, weights = rows(2)
    block = Block(X, y, weights, 7)
    block.recent.put("scores", X)
    copy = pickle.loads(pickle.dumps(block))
    assert len(pickle.dumps(block)) < 1.5 * (X.nbytes + y.nbytes + weights.nbytes)
    assert copy.numbers[0] == 7
    assert copy.recent.get("scores", lambda: None) is None
    assert copy.with_weights(weights * 0).weights.sum() == 0


def test_lost_memory_changes_no_bit():
    class Forgetful(HeldBlocks.__mro__[1]):
        """Blocks that are made anew before each pass, as if every worker died after it."""

        def __init__(self, inner):
            self.inner = inner
            self.__dict__.update({k: v for k, v in vars(inner).items() if k != "blocks"})

        def answers(self, asks):
            anew = HeldBlocks([pickle.loads(pickle.dumps(block)) for block in self.inner.blocks])
            return anew.answers([ask._replace(blocks=anew) for ask in asks])

        def mapped(self, task, *, fewer=False, same_X=False):
            raise NotImplementedError

    X, y, weights = rows(2)
    blocks = cut(X, y, weights, (50, 60))
    for solver in ("lbfgs", "newton", "newton-cg", "fista"):
        a, b = (
            minimize(BlockedRisk(one, alpha=1e-3, n_classes=2), solver, tol=1e-7)
            for one in (blocks, Forgetful(blocks))
        )
        assert np.array_equal(a.params.flat, b.params.flat)


def test_recent_forgets_the_oldest():
    held = Recent(2)
    for key in "abc":
        held.put(key, key)
    assert held.get("a", lambda: "again") == "again"
    assert held.get("c", lambda: "again") == "c"
    assert RECENT >= 4  # scores, direction, their sum, and one to spare


def test_the_tree_depends_on_the_number_of_parts_alone():
    parts = [f"{i}" for i in range(2 * FAN + 3)]
    assert tree(parts, lambda a, b: f"({a}{b})").count("(") == len(parts) - 1
    assert tree(["x"], None) == "x"


def test_there_must_be_rows():
    with pytest.raises(ValueError, match="There are no rows"):
        HeldBlocks([Block(np.zeros((0, 2)), np.zeros(0, np.int32), np.zeros(0))])


def unaligned(array):
    """The same numbers at an address that is no multiple of their size."""
    raw = np.empty(array.nbytes + 1, np.uint8)
    raw[1:] = np.frombuffer(array.tobytes(), np.uint8)
    return raw[1:].view(array.dtype).reshape(array.shape)


def test_blocks_and_parameters_may_come_from_anywhere_in_memory():
    X, y, weights = rows(2)
    block, plain = Block.__new__(Block), Block(X, y, weights)
    block.__setstate__((*map(unaligned, (X, y, weights)), 0))
    params = Params.of(np.ones((1, 5)), np.zeros(1))
    other = Params.__new__(Params)
    other.__setstate__({**vars(params), "flat": unaligned(params.flat)})
    for one in (block, plain):
        one.found = BlockedRisk(HeldBlocks([one]), alpha=0.1, n_classes=2).at(other)
    assert block.found.value == plain.found.value
