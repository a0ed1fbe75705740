"""ExemplarSVM: each machine against one fitted alone, mining against all negatives, sigmoids against a slow fit, payloads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize as scipy_minimize
from sklearn.svm import LinearSVC

from nearline import ExemplarSVM, Risk, load, minimize, num_threads, save
from nearline.solvers.exemplars._one import minimum


def clouds(n=300, d=6, n_classes=3, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    return (rng.normal(size=(n, d)) + 1.2 * rng.normal(size=(n_classes, d))[codes]).astype(dtype), codes


def alone(X, y, e, p, alpha, rows=None):
    """The risk of one exemplar against all rows of other classes."""
    negatives = np.flatnonzero(y != y[e]) if rows is None else rows
    weights = np.concatenate([[p], np.ones(len(negatives))])
    alpha = 1.0 / weights.sum() if alpha == "1/n" else alpha
    Z = np.vstack([X[e], X[negatives]]).astype(np.float64)
    targets = np.concatenate([[1], np.zeros(len(negatives), dtype=int)])
    return Risk(Z, targets, loss="squared-hinge", alpha=alpha, weights=weights), Z, targets, weights


@pytest.mark.parametrize(
    ("n", "alpha", "d"), [(90, "1/n", 6), (1800, "1/n", 6), (1800, 1e-4, 40), (1800, 0.1, 6)]
)
def test_each_machine_is_that_of_a_fit_alone(n, alpha, d):
    """E13: few negatives, mined ones, more rows with a loss than features, and nearly all of them."""
    X, y = clouds(n, d)
    chosen = np.array([0, 7, 31])
    model = ExemplarSVM(alpha, positive_weight=20.0, calibration=None).fit(X, y, exemplars=chosen)
    assert (model.gaps_ <= 1e-9 * model.risks_).all()
    for place, e in enumerate(chosen):
        risk, *_ = alone(X, y, e, 20.0, alpha)
        best = minimize(risk, tol=1e-8)
        assert model.risks_[place] <= best.value * (1 + 1e-8)
        assert model.risks_[place] >= best.value - best.gap * best.value - 1e-12
        np.testing.assert_allclose(model.coef_[place], best.params.W[0], rtol=1e-3, atol=1e-3)


def test_the_objective_is_that_of_linear_svc():
    X, y = clouds(600)
    model = ExemplarSVM(calibration=None).fit(X, y, exemplars=[4])
    risk, Z, targets, weights = alone(X, y, 4, 50.0, "1/n")
    # its bias is penalized as the weight of a feature; a large one makes that penalty vanish
    theirs = LinearSVC(C=1.0, intercept_scaling=100.0, tol=1e-8, max_iter=100_000, dual=False)
    theirs.fit(Z, targets, sample_weight=weights)
    W, b = theirs.coef_, theirs.intercept_
    slack = np.maximum(1 - np.where(targets == 1, 1, -1) * (Z @ W[0] + b[0]), 0)
    value = 0.5 * risk.alpha * float(W[0] @ W[0]) + float(weights @ slack**2) / weights.sum()
    assert model.risks_[0] <= value * (1 + 1e-9)
    assert model.risks_[0] == pytest.approx(value, rel=1e-4)


@given(st.integers(2, 12), st.integers(1, 4), st.integers(0, 10**6), st.sampled_from([1e-4, 1e-2, 1.0, 30.0]))
@settings(max_examples=60)
def test_newton_ends_at_the_minimum(m, d, seed, alpha):
    rng = np.random.default_rng(seed)
    Z = rng.integers(-2, 3, size=(m, d)).astype(float)  # equal rows, and negatives where the exemplar is
    costs = rng.uniform(0.1, 2.0, size=m)
    found = minimum(Z, costs, alpha)
    y = np.concatenate([[1.0], -np.ones(m - 1)])
    slack = np.maximum(1 - y * (Z @ found.w + found.b), 0)
    value = 0.5 * alpha * found.w @ found.w + costs @ slack**2
    assert value - found.dual <= 1e-9 * value
    assert (y * found.beta >= 0).all()


def slow_sigmoid(f, targets):
    def loss(ac):
        z = ac[0] * f + ac[1]
        return np.sum(np.logaddexp(0, z) - targets * z)

    return scipy_minimize(loss, [1, 0]).x


def test_folds_are_kept_out_and_sigmoids_fitted_to_them():
    X, y = clouds(120)
    model = ExemplarSVM(calibration=4, random_state=3).fit(X, y)
    folds, own = model._folds(y, model.exemplars_)
    for e in (0, 17, 50):
        negatives = np.flatnonzero((y != y[e]) & (folds != own[e]))
        risk, *_ = alone(X, y, e, 50.0, "1/n", negatives)
        assert model.risks_[e] == pytest.approx(minimize(risk, tol=1e-8).value, rel=1e-6)
        held = ((y == y[e]) | (folds == own[e])) & (np.arange(120) != e)
        f, same = X[held] @ model.coef_[e] + model.intercept_[e], y[held] == y[e]
        targets = np.where(same, (same.sum() + 1) / (same.sum() + 2), 1 / ((~same).sum() + 2))
        slow = slow_sigmoid(f, targets)
        np.testing.assert_allclose([model.slopes_[e], model.offsets_[e]], slow, rtol=1e-3, atol=1e-3)


def test_a_class_of_one_row_has_the_common_sigmoid():
    X, y = clouds(60)
    y = y.copy()
    y[:57][y[:57] == 2] = 1
    y[57:] = [0, 1, 2]
    model = ExemplarSVM().fit(X, y)
    assert (model.slopes_ > 0).all()
    assert np.isfinite(model.offsets_).all()
    assert len(ExemplarSVM().fit(X[:2], [0, 1]).exemplars_) == 2


def test_the_exemplar_that_fires_decides_and_gives_its_payload():
    X, y = clouds(80)
    names = np.array(["ant", "bee", "cat"])[y]
    Q, _ = clouds(40, seed=5)
    masks = np.arange(80 * 4).reshape(80, 2, 2)
    model = ExemplarSVM().fit(X, names, payload=masks)
    places = model.fired(Q)
    assert (model.predict(Q) == names[places]).all()
    assert (model.transfer(Q) == masks[places]).all()
    odds = (Q @ model.coef_.T + model.intercept_) * model.slopes_ + model.offsets_
    np.testing.assert_allclose(odds[np.arange(40), places], odds.max(axis=1))
    reasons = model.explain(Q)
    assert [reasons.indices[i][0] for i in range(40)] == places.tolist()
    assert (reasons.predictions == model.predict(Q)).all()
    first = reasons.rows(0)[0]
    assert first["label"] == model.predict(Q)[0]
    assert first["distance"] == pytest.approx(np.linalg.norm(Q[0] - X[places[0]]))
    captions = [f"row {i}" for i in range(80)]
    assert ExemplarSVM().fit(X, names, payload=captions).transfer(Q) == [captions[i] for i in places]


def test_same_bits_and_files(tmp_path):
    X, y = clouds(1500, d=12, dtype=np.float32)
    model = ExemplarSVM().fit(X, y, exemplars=np.arange(40), payload=list(range(40)))
    with num_threads(1):
        again = ExemplarSVM().fit(X, y, exemplars=np.arange(40))
    assert model.coef_.dtype == np.float32
    assert (model.coef_ == again.coef_).all()
    assert (model.slopes_ == again.slopes_).all()
    save(model, tmp_path / "m.nearline")
    loaded = load(tmp_path / "m.nearline")
    assert (loaded.decision_function(X[:9]) == model.decision_function(X[:9])).all()
    assert loaded.transfer(X[:9]) == model.transfer(X[:9])


@pytest.mark.parametrize(
    ("parameters", "options", "said"),
    [
        ({"alpha": -1.0}, {}, "alpha must be a number > 0"),
        ({"positive_weight": 0}, {}, "positive_weight must be a number > 0"),
        ({"calibration": 1}, {}, "calibration must be a number of folds >= 2"),
        ({}, {"exemplars": [3, 3]}, "exemplars must be different row numbers from 0 to 29"),
        ({}, {"exemplars": [30]}, "exemplars must be different row numbers"),
        ({}, {"payload": ["one"]}, "There are 30 exemplars and 1 payloads"),
    ],
)
def test_what_cannot_be_gets_a_sentence(parameters, options, said):
    with pytest.raises(ValueError, match=said):
        ExemplarSVM(**parameters).fit(*clouds(30), **options)


def test_without_a_payload_labels_are_transferred():
    X, y = clouds(30)
    model = ExemplarSVM().fit(X, y)
    assert (model.transfer(X) == model.predict(X)).all()


def test_a_contest_tries_exemplars_where_classes_have_few_rows():
    from nearline import TryThemAll
    from nearline.selection.families import families

    X, y = clouds(60, n_classes=4)
    contest = TryThemAll(include=["exemplar SVM", "nearest centroid"], progress="silent", folds=3, test=None)
    names = {entry.family for entry in contest.fit(X, y).leaderboard_}
    assert names == {"exemplar SVM", "nearest centroid"}
    many = TryThemAll(include=["exemplar SVM", "nearest centroid"], progress="silent", folds=2, test=None)
    assert {entry.family for entry in many.fit(*clouds(200)).leaderboard_} == {"nearest centroid"}
    assert "exemplar SVM" in [family.name for family in families("thorough")]
    assert "exemplar SVM" not in [family.name for family in families()]
