"""Verdicts against an exact enumeration, and every certificate re-checked from scratch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits, load_iris

from nearline import (
    ConvergenceWarning,
    LogisticRegression,
    OneVsOne,
    Risk,
    Separability,
    is_separable,
    minimize,
)
from oracle_generative import separability


def check(result, X, y):
    """Re-do the proof with the numbers that are given to the user, from the definitions."""
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    assert isinstance(result, Separability)
    assert bool(result) == (result.verdict == "separable")
    assert result.residual <= 1e-9
    classes = np.unique(y)
    assert result.classes.tolist() == classes.tolist()
    targets = np.searchsorted(classes, y)
    n, C = len(y), len(classes)
    if result.W is not None:
        assert result.certificate == (result.W, result.b)
        F = X @ result.W.T + result.b
        size = np.abs(X) @ np.abs(result.W).T + np.abs(result.b)
        if C == 2:
            assert result.W.shape == (1, X.shape[1])
            margins = np.where(targets == 1, 1, -1) * F[:, 0]
        else:
            assert result.W.shape == (C, X.shape[1])
            margins = F[np.arange(n), targets][:, None] - F
            margins[np.arange(n), targets] = np.inf
        if result.verdict == "separable":
            assert margins.min() > 0
            length = np.linalg.norm(result.W)
            assert result.margin == pytest.approx(margins.min() / length, rel=1e-6)
        else:
            assert margins.min() > -1e-9 * size.max()
            assert margins[np.isfinite(margins)].max() > 1e-9 * size.max()
            assert result.margin == 0
    if result.verdict == "separable":
        assert result.multipliers is None
        return
    multipliers = result.multipliers
    assert (multipliers >= 0).all()
    assert multipliers.sum() == pytest.approx(1.0)
    Phi = np.column_stack([X, np.ones(n)])
    if C == 2:
        assert multipliers.shape == (n,)
        signed = (np.where(targets == 1, 1, -1) * multipliers)[:, None]
    else:
        assert multipliers.shape == (n, C)
        assert (multipliers[np.arange(n), targets] == 0).all()
        signed = multipliers.copy()
        signed[np.arange(n), targets] = -multipliers.sum(axis=1)
    np.testing.assert_allclose(signed.T @ Phi, 0.0, atol=1e-9 * max(1.0, np.abs(Phi).max()))
    if result.verdict == "not separable":
        # Every row lies in the span of those with a positive multiplier, so a.w >= 0 for all makes a.w = 0 for all.
        assert result.W is None
        assert result.certificate is multipliers
        pairs, positive = kesler(Phi, targets, C), multipliers.ravel() > 0
        if C > 2:
            own = (np.arange(C)[None, :] == targets[:, None]).ravel()
            positive = positive[~own]
        scale = np.abs(pairs).max(axis=0)
        pairs = pairs / np.where(scale > 0, scale, 1.0)
        assert np.linalg.matrix_rank(pairs[positive]) == np.linalg.matrix_rank(pairs)


def kesler(Phi, targets, C):
    if C == 2:
        return np.where(targets == 1, 1, -1)[:, None] * Phi
    rows = []
    for phi, own in zip(Phi, targets):
        for c in range(C):
            if c != own:
                row = np.zeros((C, len(phi)))
                row[own], row[c] = phi, -phi
                rows.append(row.ravel())
    return np.array(rows)


@given(st.data())
@settings(max_examples=80)
def test_verdicts_equal_exact_enumeration(data):
    """Whole numbers in the plane: duplicates, equal points with different labels, collinear rows, boundary ties."""
    n = data.draw(st.integers(2, 7))
    points = data.draw(st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=n, max_size=n))
    labels = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    labels[0], labels[1] = -1, 1
    result = is_separable(np.array(points), labels)
    assert result.verdict == separability(points, labels)
    check(result, points, labels)
    sparse = is_separable(csr_matrix(np.array(points, dtype=float)), labels)
    assert sparse.verdict == result.verdict
    check(sparse, points, labels)


@given(st.data())
@settings(max_examples=40)
def test_several_classes_are_proven_either_way(data):
    """Kesler's construction: each verdict's own proof is re-done."""
    n, d = data.draw(st.integers(3, 8)), data.draw(st.integers(1, 3))
    cells = st.lists(st.integers(-2, 2), min_size=d, max_size=d)
    X = np.array(data.draw(st.lists(cells, min_size=n, max_size=n)), dtype=float)
    y = np.array(data.draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=n, max_size=n)))
    y[:3] = ["a", "b", "c"]
    check(is_separable(X, y), X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("verdict", ["separable", "quasi-separable", "not separable"])
def test_scale_offset_and_form_do_not_matter(verdict, n_classes):
    """Units of 1e-12 to 1e12, offsets of 1e6 deviations, a wild row, sparse rows: the same verdict."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 4))
    W = rng.normal(size=(n_classes, 4))
    y = (X @ W.T).argmax(axis=1)
    if verdict == "quasi-separable":
        # Pairs of equal rows with different labels, on the boundary of the first two classes.
        normal = W[1] - W[0]
        on = X[:60] - np.outer(X[:60] @ normal, normal) / (normal @ normal)
        top = (on @ W.T)[:, :2].max(axis=1) >= (on @ W.T).max(axis=1) - 1e-9
        X, y = np.vstack([X, on[top], on[top]]), np.append(y, np.repeat([0, 1], top.sum()))
    if verdict == "not separable":
        y = rng.integers(0, n_classes, len(y))
    base = is_separable(X, y)
    assert base.verdict == verdict
    check(base, X, y)
    wild = X.copy()
    wild[0] *= 1e5
    check(is_separable(wild, y), wild, y)
    if verdict != "quasi-separable":  # rounding moves rows off the boundary
        units = 10.0 ** np.array([-12, -3, 3, 12])
        for moved in (X * units, X + 1e6, X.astype(np.float32)):
            assert is_separable(moved, y).verdict == verdict
    assert is_separable(csr_matrix(X), y).verdict == verdict


def test_real_data():
    X, y = load_iris(return_X_y=True)
    assert is_separable(X[:100], y[:100]).verdict == "separable"
    assert is_separable(X[50:], y[50:]).verdict == "not separable"
    both = is_separable(X, y)  # the first class can be told from the others, those not from each other
    assert both.verdict == "quasi-separable"
    check(both, X, y)
    X, y = load_digits(return_X_y=True)
    digits = is_separable(X, y)
    assert digits
    check(digits, X, y)
    assert (digits.classes[(X @ digits.W.T + digits.b).argmax(axis=1)] == y).all()


def test_working_sets_grow_until_they_prove_it():
    """More rows than the first set holds, and a verdict that hangs on a few of them; without the logistic short cut."""
    from nearline import separability

    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = (X[:, 0] > 0).astype(int)
    twins = np.column_stack([np.zeros(20), rng.normal(size=(20, 2))])
    far = np.array([[5.0, 0, 0], [-5.0, 0, 0]])
    cases = {
        "separable": (X, y),
        "quasi-separable": (np.vstack([X, twins, twins]), np.append(y, np.repeat([0, 1], 20))),
        "not separable": (np.vstack([X, far]), np.append(y, [0, 1])),
    }
    for verdict, (rows, labels) in cases.items():
        problem = separability.Kesler.of(rows, labels, 2)
        w, chosen, multipliers = separability._search(problem)
        if verdict == "separable":
            assert problem.margins(w).min() > 0
        else:
            assert w.any() == (verdict == "quasi-separable")
            assert (multipliers > 0.5).any()
        assert len(chosen) < len(rows)
        result = is_separable(rows, labels)
        assert result.verdict == verdict
        check(result, rows, labels)


def test_fewer_rows_than_columns_are_separable():
    rng = np.random.default_rng(0)
    for n_classes in (2, 4):
        X, y = rng.normal(size=(20, 50)), np.arange(20) % n_classes
        result = is_separable(X, y)
        assert result
        check(result, X, y)
        X[1] = X[0]  # equal rows, different labels
        other = is_separable(X, y)
        assert other.verdict == "quasi-separable"
        check(other, X, y)


@pytest.mark.parametrize("labels", [[True, False], ["yes", "no"], [3.5, -1.0]])
def test_labels_of_any_kind(labels):
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(labels)[[0, 0, 1, 1]]
    result = is_separable(X, y)
    check(result, X, y)
    assert result.classes.dtype == y.dtype


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        ([[0.0], [1.0]], ["a", "a"], r"at least 2 classes, but y has 1 class: 'a'"),
        ([[0.0], [np.nan]], [0, 1], r"NaN or infinite.*drop or fill"),
        ([[0.0], [1.0]], [0, 1, 1], r"shapes \(2, 1\) and \(3,\): give one label for each row"),
        ([0.0, 1.0], [0, 1], r"takes X \(n, D\)"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(X, y, sentence):
    with pytest.raises(ValueError, match=sentence):
        is_separable(X, y)


# -- fits without a penalty -------------------------------------------------------------------------------

OVERLAP = np.random.default_rng(3).normal(size=(80, 3)), np.random.default_rng(4).integers(0, 3, 80)
IRIS = load_iris(return_X_y=True)
TOUCHING = np.array([[0.0], [1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])


def recedes(X, y, bias=True):
    """Whether some direction has all margins >= 0 and one > 0: maximize their sum within a box, row by row."""
    Z = np.hstack([X, np.full((len(X), 1), float(bias))])
    K = y.max() + 1
    rows = [
        np.outer(np.eye(K)[y[i]] - np.eye(K)[c], Z[i]).ravel()
        for i in range(len(y))
        for c in range(K)
        if c != y[i]
    ]
    A = np.array(rows)
    return -linprog(-A.sum(axis=0), A_ub=-A, b_ub=np.zeros(len(A)), bounds=(-1, 1)).fun > 1e-7


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("loss", ["logistic", "softmax"])
@pytest.mark.parametrize("rows", [IRIS, TOUCHING, OVERLAP], ids=["iris", "touching", "overlap"])
def test_a_fit_without_a_penalty_says_whether_it_has_a_minimizer(rows, loss, bias):
    X, y = rows
    risk = Risk(X, y, loss=loss, alpha=0.0, bias=bias)
    if loss == "softmax" or risk.n_outputs == 1:
        none = recedes(X, y, bias)
    else:
        none = any(recedes(X, (y == c).astype(int), bias) for c in range(3))
    assert minimize(risk).status.name == ("NO_MINIMIZER" if none else "CONVERGED")
    shuffled = np.random.default_rng(0).permutation(len(y))
    wide = X[shuffled] * 1e3 + 1e4 * bias
    assert minimize(Risk(wide, y[shuffled], loss=loss, alpha=0.0, bias=bias)).status.name == (
        "NO_MINIMIZER" if none else "CONVERGED"
    )


def test_estimators_and_wrappers_warn_of_it():
    for model in (LogisticRegression(alpha=0.0), OneVsOne(LogisticRegression(alpha=0.0))):
        with pytest.warns(ConvergenceWarning, match="no finite minimizer"):
            model.fit(*IRIS)


def test_rows_without_weight_prove_nothing():
    X, y = TOUCHING
    X, y = np.vstack([X, [[0.5]]]), np.append(y, 1)
    weights = np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    assert minimize(Risk(X, y, alpha=0.0, weights=weights)).status.name == "NO_MINIMIZER"
    assert minimize(Risk(X, y, alpha=0.0)).status.name == "CONVERGED"


def test_columns_that_repeat_others_are_no_directions():
    X, y = OVERLAP
    repeated = np.hstack([X, 2.0 * X[:, :1], np.ones((len(X), 1))])
    assert minimize(Risk(repeated, y, loss="softmax", alpha=0.0)).status.name == "CONVERGED"


def test_beyond_its_cost_the_question_is_left_open(monkeypatch):
    for limit in ("LARGEST_HESSIAN", "LARGEST_PROGRAM"):
        monkeypatch.setattr(f"nearline.solvers._existence.{limit}", 0)
    solution = minimize(Risk(*OVERLAP, loss="softmax", alpha=0.0))
    assert (solution.status.name, solution.converged) == ("NOT_CHECKED", True)
    with pytest.warns(ConvergenceWarning, match=r"too many to check.*alpha > 0"):
        solution.warn(1e-4)


def test_losses_that_end_do_not_ask():
    assert minimize(Risk(*IRIS, loss="squared-hinge", alpha=0.0)).status.name == "CONVERGED"
