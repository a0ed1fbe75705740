"""The least-squares classifier, two classes by threshold and K classes by 1-of-K targets."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.linear_model import RidgeClassifier, RidgeClassifierCV
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV, LeaveOneOut, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import oracle_ridge as oracle
from conftest import tiny_problem
from nearline import LeastSquaresClassifier, Risk
from nearline.losses import one_hot

ALPHAS = [1e-5, 1e-3, 1e-1, 10.0]


@parametrize_with_checks(
    [LeastSquaresClassifier(), LeastSquaresClassifier(alpha=0.0), LeastSquaresClassifier(alpha=[1e-3, 1.0])]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_three_classes_are_pinv_of_the_targets():
    """E1: Theta = pinv(X) Y with the constant feature 1, at alpha = 0."""
    X, y = load_iris(return_X_y=True)
    model = LeastSquaresClassifier(alpha=0.0).fit(X, y)
    Theta = np.linalg.pinv(np.hstack([X, np.ones((150, 1))])) @ one_hot(y, 3)
    np.testing.assert_allclose(np.hstack([model.coef_, model.intercept_[:, None]]), Theta.T, atol=1e-10)
    np.testing.assert_array_equal(model.predict(X), (X @ Theta[:4] + Theta[4]).argmax(axis=1))
    assert model.gap_ is None
    assert model.solution_.gradient_test < 1e-10


def test_two_classes_have_one_score_and_a_threshold():
    """E1: y in {-1, +1}, the second class where f >= 0; labels are given back as they came."""
    X, targets = tiny_problem(2)
    y = np.array(["no", "yes"])[targets]
    model = LeastSquaresClassifier(alpha=0.0).fit(X, y)
    theta = np.linalg.pinv(np.hstack([X, np.ones((40, 1))])) @ (2.0 * targets - 1.0)
    f = X @ theta[:4] + theta[4]
    assert model.coef_.shape == (1, 4)
    np.testing.assert_allclose(model.decision_function(X), f, atol=1e-10)
    np.testing.assert_array_equal(model.predict(X), np.where(f >= 0, "yes", "no"))
    assert not hasattr(model, "predict_proba")


@pytest.mark.parametrize("data", [load_iris, load_breast_cancer])
@pytest.mark.parametrize("bias", [True, False])
def test_same_as_ridge_classifier(data, bias):
    """scikit-learn codes K classes as -1 / +1: its scores are 2 f - 1 (without a bias only two classes agree)."""
    X, y = data(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    if not bias and y.max() > 1:
        X, y = X[y < 2], y[y < 2]
    weights = 1.0 + np.arange(len(y)) % 3
    ours = LeastSquaresClassifier(alpha=0.01, fit_intercept=bias).fit(X, y, sample_weight=weights)
    theirs = RidgeClassifier(alpha=0.01 * weights.sum(), fit_intercept=bias).fit(X, y, sample_weight=weights)
    f = ours.decision_function(X)
    np.testing.assert_allclose(2 * f - 1 if f.ndim == 2 else f, theirs.decision_function(X), atol=1e-7)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert (ours.solver_, ours.n_iter_, ours.alpha_) == ("closed-form", 1, 0.01)
    assert ours.gap_ < 1e-12
    assert len(ours.objective_path_) == 2


@pytest.mark.parametrize("data", [load_iris, load_breast_cancer])
def test_same_choice_as_ridge_classifier_cv(data):
    """Its alphas are (n - 1) alpha; its squared errors 4 times ours for 1-of-K targets."""
    X, y = data(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    n, K = len(y), int(y.max()) + 1
    ours = LeastSquaresClassifier(alpha=ALPHAS).fit(X, y)
    theirs = RidgeClassifierCV(alphas=np.array(ALPHAS) * (n - 1), store_cv_results=True).fit(X, y)
    errors = theirs.cv_results_.mean(axis=(0, 1))
    np.testing.assert_allclose(-ours.loo_score_ * (4 / K if K > 2 else 1), errors, rtol=1e-8)
    assert ours.alpha_ == pytest.approx(theirs.alpha_ / (n - 1))
    assert ours.gap_ < 1e-12


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("scoring", "metric", "takes_scores"),
    [
        ("accuracy", accuracy_score, False),
        ("balanced_accuracy", balanced_accuracy_score, False),
        (
            "f1_macro",
            lambda y, p, sample_weight: f1_score(y, p, average="macro", sample_weight=sample_weight),
            False,
        ),
        ("roc_auc", roc_auc_score, True),
    ],
)
def test_every_scoring_judges_the_refits(scoring, metric, takes_scores, weighted):
    """Each alpha's score is that of brute-force refits on n - 1 rows, class and sample weights included."""
    X, targets = tiny_problem(2, n=30)
    y = np.array(["b", "a"])[targets]
    weights = 1.0 + np.arange(30) % 3 if weighted else None
    model = LeastSquaresClassifier(alpha=ALPHAS, scoring=scoring, class_weight={"a": 2.0, "b": 0.5})
    model.fit(X, y, sample_weight=weights)
    codes = np.where(y == "b", 1.0, -1.0)[:, None]
    s = np.where(y == "a", 2.0, 0.5) * (1.0 if weights is None else weights)
    for alpha, found in zip(ALPHAS, model.loo_score_):
        f = oracle.leave_out(X, codes, alpha, np.arange(30), s)[:, 0]
        judged = f if takes_scores else np.where(f >= 0, "b", "a")
        assert found == pytest.approx(metric(y, judged, sample_weight=weights), abs=1e-12)
    assert model.alpha_ == max(a for a, v in zip(ALPHAS, model.loo_score_) if v == model.loo_score_.max())


def test_leave_one_out_scores_are_those_of_cross_val_predict():
    X, y = load_iris(return_X_y=True)
    X, y = X[::3], y[::3]
    model = LeastSquaresClassifier(alpha=[1e-2, 1e-1], scoring="accuracy").fit(X, y)
    fixed = LeastSquaresClassifier(alpha=model.alpha_)
    expected = cross_val_predict(fixed, X, y, cv=LeaveOneOut(), method="decision_function")
    np.testing.assert_allclose(model.loo_scores_, expected, atol=1e-10)
    np.testing.assert_allclose(model.coef_, fixed.fit(X, y).coef_, atol=1e-10)


def test_scorers_as_functions():
    X, y = load_iris(return_X_y=True)
    by_name = LeastSquaresClassifier(alpha=ALPHAS, scoring="accuracy").fit(X, y)
    for scoring in (make_scorer(accuracy_score), lambda model, X, y: accuracy_score(y, model.predict(X))):
        by_function = LeastSquaresClassifier(alpha=ALPHAS, scoring=scoring).fit(X, y)
        np.testing.assert_array_equal(by_name.loo_score_, by_function.loo_score_)


@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc_ovr"])
def test_scorings_that_need_probabilities_are_refused(scoring):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="defines none"):
        LeastSquaresClassifier(alpha=ALPHAS, scoring=scoring).fit(X, y)


@pytest.mark.parametrize("alpha", [-1.0, np.nan, np.inf, "strong", None, [], [0.1, -1.0], [0.1, "x"]])
def test_bad_alphas_are_refused(alpha):
    X, targets = tiny_problem(2)
    with pytest.raises(ValueError, match="alpha must be"):
        LeastSquaresClassifier(alpha=alpha).fit(X, targets)


@pytest.mark.parametrize("alpha", [0.0, 1e-3, [1e-3, 1e-1]])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_sparse_and_float32_give_the_same_model(alpha, n_classes):
    """E12: dense and CSR, float32 kept as float32."""
    X, targets = tiny_problem(n_classes)
    reference = LeastSquaresClassifier(alpha=alpha).fit(X, targets)
    for rows in (csr_matrix(X), X.astype(np.float32), csr_matrix(X.astype(np.float32))):
        model = LeastSquaresClassifier(alpha=alpha).fit(rows, targets)
        assert model.coef_.dtype == model.intercept_.dtype == rows.dtype
        assert model.decision_function(rows).dtype == rows.dtype
        np.testing.assert_allclose(model.coef_, reference.coef_, atol=2e-6)
        assert model.alpha_ == reference.alpha_


@pytest.mark.parametrize("alpha", [0.0, 1e-3, [1e-6, 1e-2]])
def test_one_row_per_class(alpha):
    X = np.array([[0.0, 1.0, 2.0], [3.0, 1.0, 0.0], [1.0, 5.0, 1.0]])
    model = LeastSquaresClassifier(alpha=alpha).fit(X, ["x", "y", "z"])
    assert model.predict(X).tolist() == ["x", "y", "z"]


def test_balanced_classes_are_repeated_rows():
    X, targets = tiny_problem(2)
    keep = np.flatnonzero((targets == 0) | (np.arange(40) % 8 == 1))
    X, targets = X[keep], targets[keep]  # 20 rows of class 0, 5 of class 1
    balanced = LeastSquaresClassifier(alpha=0.01, class_weight="balanced").fit(X, targets)
    repeated = np.concatenate([np.flatnonzero(targets == 0), np.repeat(np.flatnonzero(targets == 1), 4)])
    often = LeastSquaresClassifier(alpha=0.01).fit(X[repeated], targets[repeated])
    np.testing.assert_allclose(balanced.coef_, often.coef_, rtol=1e-9)


def test_certificate_is_that_of_the_risk():
    """D13: gap_ is what the risk says of the weights, not what the solver believes."""
    X, y = load_digits(return_X_y=True)
    model = LeastSquaresClassifier(alpha=1e-3).fit(X, y)
    risk = Risk(X, y, loss="squared", alpha=1e-3)
    point = risk.at(model.solution_.params)
    assert risk.gap(point) < 1e-12
    assert model.gap_ < 1e-12
    worse = risk.at(model.solution_.params.like(1.01 * model.solution_.params.flat))
    assert risk.gap(worse) > 1e-6


def test_works_in_a_pipeline_and_a_grid_search():
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LeastSquaresClassifier()),
        {"leastsquaresclassifier__alpha": [1e-4, 1e-2]},
        cv=3,
    )
    assert search.fit(X, y).best_score_ > 0.7
