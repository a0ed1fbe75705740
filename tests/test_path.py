"""Whole paths over alpha, warm-started and certified."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from conftest import tiny_problem
from nearline import Risk, coefficients, minimize, path


@pytest.mark.parametrize("regularizer", ["l1", "elastic-net", "l2"])
@pytest.mark.parametrize("loss", ["logistic", "softmax", "squared", "squared-hinge"])
def test_a_path_equals_single_fits_within_the_gaps(loss, regularizer):
    """H4: warm or cold, the objectives differ by no more than the certified gaps."""
    X, targets = tiny_problem(3, n=60, d=6)
    tol, found = 1e-5, 0
    for alpha, solution in path(X, targets, loss=loss, regularizer=regularizer, n_alphas=6, tol=tol):
        risk = Risk(X, targets, loss=loss, regularizer=regularizer, alpha=alpha)
        alone = minimize(risk, tol=tol)
        assert solution.gap <= tol
        assert abs(solution.value - alone.value) <= (solution.gap + alone.gap) * alone.value * 1.01 + 1e-12
        found += 1
    assert found == 6


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("regularizer", ["l1", "elastic-net"])
def test_the_grid_starts_where_the_first_weight_moves(regularizer, sparse):
    """C3: W = 0 at the first alpha, not at the second; alphas fall evenly on a logarithmic scale."""
    X, targets = tiny_problem(2, n=60, d=6, sparse=sparse)
    solutions = list(path(X, targets, regularizer=regularizer, n_alphas=5, ratio=1e-2, tol=1e-8))
    alphas = np.array([alpha for alpha, _ in solutions])
    np.testing.assert_allclose(alphas[1:] / alphas[:-1], 0.01**0.25)
    assert not solutions[0][1].params.W.any()
    assert solutions[1][1].params.W.any()


def test_the_grid_does_not_see_offsets():
    X, targets = tiny_problem(2, n=60, d=6)
    first, moved = (next(iter(path(A, targets, regularizer="l1")))[0] for A in (X, X + 1e6))
    assert moved == pytest.approx(first, rel=1e-6)


def test_labels_of_any_kind_and_given_alphas():
    """A1, E11: labels are encoded in order; alphas are sorted from large to small."""
    X, targets = tiny_problem(3)
    names = np.array(["ant", "bee", "cow"])[targets]
    given = [1e-3, 1e-1, 1e-2]
    coded, named = (coefficients(path(X, y, regularizer="l1", alphas=given)) for y in (targets, names))
    assert coded.alphas.tolist() == [1e-1, 1e-2, 1e-3]
    assert (coded.W == named.W).all()
    assert coded.W.shape == (3, 3, X.shape[1])
    assert coded.b.shape == (3, 3)


def test_a_path_can_be_left_and_keeps_what_it_gave():
    """H4: solutions come one at a time; what was yielded stays as it was."""
    X, targets = tiny_problem(2)
    walk = path(X, targets, regularizer="l1", n_alphas=10)
    first = [next(walk) for _ in range(3)]
    kept = [solution.params.flat.copy() for _, solution in first]
    walk.close()
    for (_, solution), before in zip(first, kept):
        assert (solution.params.flat == before).all()


def test_what_does_not_depend_on_alpha_is_made_once(monkeypatch):
    """H4: one CSC for the whole path."""
    from nearline.risk.passes._csc import Csc

    made = []
    build = Csc.arrays.compute
    monkeypatch.setattr(Csc.arrays, "compute", lambda self: made.append(self) or build(self))
    X, targets = tiny_problem(2, sparse=True)
    assert len(list(path(X, targets, regularizer="l1", n_alphas=5))) == 5
    assert len(made) == 1


def test_weights_bias_and_float32():
    X, targets = tiny_problem(2, n=40)
    weights = np.arange(40) % 3 + 1
    repeated = np.repeat(np.arange(40), weights)
    alphas = [0.05, 0.01]
    one = coefficients(path(X, targets, regularizer="l1", alphas=alphas, weights=weights, tol=1e-9))
    two = coefficients(path(X[repeated], targets[repeated], regularizer="l1", alphas=alphas, tol=1e-9))
    np.testing.assert_allclose(one.W, two.W, atol=1e-4)
    without = coefficients(
        path(csr_matrix(X.astype(np.float32)), targets, regularizer="l1", alphas=alphas, bias=False)
    )
    assert not without.b.any()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"alphas": [-1.0]}, "alphas must be finite"),
        ({"alphas": []}, "alphas must be finite"),
        ({"n_alphas": 0}, "n_alphas >= 1"),
        ({"ratio": 2.0}, "0 < ratio < 1"),
        ({"solver": "nothing"}, "Unknown solver"),
    ],
)
def test_bad_input_is_said_clearly(change, message):
    X, targets = tiny_problem(2)
    with pytest.raises(ValueError, match=message):
        list(path(X, targets, regularizer="l1", **change))


def test_one_class_and_constant_features():
    X, targets = tiny_problem(2)
    with pytest.raises(ValueError, match="at least 2 classes"):
        path(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="No feature"):
        path(np.ones_like(X), targets, regularizer="l1")
    with pytest.raises(ValueError, match="no solutions"):
        coefficients([])
