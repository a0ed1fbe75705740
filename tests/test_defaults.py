"""Estimators as they are constructed: alpha = "1/n", what it comes to, and how they score beside scikit-learn's."""

import json
import sys
from inspect import signature
from pathlib import Path

import numpy as np
import pytest
from sklearn import linear_model, svm
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import StandardScaler

import nearline
from nearline import Risk, load, save
from nearline.selection.comparison import corrected_t_test

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.studies import defaults as study

X, Y = load_iris(return_X_y=True)
TWO = Y < 2
PARAMETERS = {cls: signature(cls).parameters for cls in nearline.ESTIMATORS.values()}
# ExemplarSVM minimizes a risk for each exemplar: each has an alpha of its own, and none takes weights of rows.
OF_ONE_RISK = {cls: own for cls, own in PARAMETERS.items() if cls is not nearline.ExemplarSVM}
WITH_ALPHA = [cls for cls, own in OF_ONE_RISK.items() if "alpha" in own and own["alpha"].default == "1/n"]


def test_all_that_minimize_a_penalized_risk_have_it():
    smoothing = {"BernoulliNB", "MultinomialNB"}  # their alpha is a number of pseudo-counts
    named = {cls.__name__ for cls, own in OF_ONE_RISK.items() if "alpha" in own}
    assert {cls.__name__ for cls in WITH_ALPHA} == named - smoothing
    assert len(WITH_ALPHA) == 9


@pytest.mark.parametrize("estimator", WITH_ALPHA)
def test_alpha_is_one_over_the_sum_of_the_weights(estimator, tmp_path):
    model = estimator().fit(X, Y)
    assert model.get_params()["alpha"] == "1/n" == clone(model).alpha
    assert model.alpha_ == 1 / 150
    weights = np.where(Y == 1, 3.0, 1.0)
    assert estimator().fit(X, Y, sample_weight=weights).alpha_ == pytest.approx(1 / 250)
    assert estimator(alpha=0.25).fit(X, Y).alpha_ == 0.25
    save(model, tmp_path / "model.nearline")
    again = load(tmp_path / "model.nearline")
    assert (again.alpha, again.alpha_) == ("1/n", 1 / 150)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("estimator", WITH_ALPHA)
def test_other_words_are_refused(estimator):
    with pytest.raises(ValueError, match=r"alpha must be .*'1/n', got '1/N'"):
        estimator(alpha="1/N").fit(X, Y)


def test_weights_equal_repeated_rows_by_default():
    counts = np.arange(len(Y)) % 3
    rows = np.repeat(np.arange(len(Y)), counts)
    for estimator in WITH_ALPHA:
        weighted = estimator(tol=1e-9) if "tol" in estimator().get_params() else estimator()
        repeated = clone(weighted).fit(X[rows], Y[rows])
        weighted.fit(X, Y, sample_weight=counts)
        assert weighted.alpha_ == repeated.alpha_ == 1 / len(rows)
        np.testing.assert_allclose(
            weighted.decision_function(X),
            repeated.decision_function(X),
            atol=2e-3,
            err_msg=estimator.__name__,
        )


def test_they_are_the_models_of_scikit_learn_at_its_defaults():
    Z = StandardScaler().fit_transform(X)
    ours = nearline.LogisticRegression(tol=1e-12).fit(Z, Y)
    theirs = linear_model.LogisticRegression(tol=1e-10, max_iter=10_000).fit(Z, Y)
    np.testing.assert_allclose(ours.decision_function(Z), theirs.decision_function(Z), atol=1e-5)
    ridge = nearline.LeastSquaresClassifier().fit(Z[TWO], Y[TWO])
    reference = linear_model.RidgeClassifier().fit(Z[TWO], Y[TWO])
    np.testing.assert_allclose(ridge.coef_[0], np.ravel(reference.coef_), rtol=1e-8)
    machine = nearline.KernelSVM(tol=1e-6).fit(X[TWO], Y[TWO])
    peer = svm.SVC(tol=1e-6).fit(X[TWO], Y[TWO])
    np.testing.assert_allclose(machine.decision_function(X), peer.decision_function(X), atol=1e-4)
    # LIBLINEAR penalizes the bias as it does a weight: only without one are the two the same
    flat = nearline.LinearSVM(fit_intercept=False, tol=1e-12).fit(Z[TWO], Y[TWO])
    liblinear = svm.LinearSVC(fit_intercept=False, tol=1e-10, max_iter=100_000).fit(Z[TWO], Y[TWO])
    np.testing.assert_allclose(flat.coef_, liblinear.coef_, atol=1e-5)


def test_pairs_of_classes_use_their_own_n():
    wine = load_wine()
    model = nearline.OneVsOne(nearline.LinearSVM()).fit(wine.data, wine.target)
    sizes = np.bincount(wine.target)
    expected = [1 / (sizes[i] + sizes[j]) for i, j in model.pairs_]
    assert [one.alpha_ for one in model.estimators_] == pytest.approx(expected)


def test_batches_count_the_rows_seen_so_far():
    model = nearline.LogisticRegression().partial_fit(X[::2], Y[::2], classes=[0, 1, 2])
    assert model.alpha_ == pytest.approx(1 / 75)
    assert model.partial_fit(X[1::2], Y[1::2], sample_weight=np.full(75, 2.0)).alpha_ == pytest.approx(
        1 / 225
    )
    fitted = nearline.LogisticRegression().fit(X, Y).partial_fit(X[:50], Y[:50])
    assert fitted.alpha_ == pytest.approx(1 / 200)


def test_a_risk_takes_the_word_too():
    risk = Risk(X, Y, loss="softmax", alpha="1/n", weights=np.full(150, 2.0))
    assert (risk.alpha, risk.with_alpha(0.5).alpha, risk.with_alpha("1/n").alpha) == (1 / 300, 0.5, 1 / 300)


# -- the study that the defaults were chosen by ---------------------------------------------------------------------


def test_the_interval_is_that_of_the_corrected_t_test():
    ours, theirs = [0.9, 0.8, 0.95, 0.7, 0.85], [0.95, 0.9, 0.96, 0.8, 0.9]
    one = study.Meeting("iris", "as they come", "LinearSVM", ours, theirs, 1.0, 1.0)
    test = corrected_t_test(np.subtract(ours, theirs), 1 / 4)
    assert one.worse == (test.p_value < 0.05)
    scaled = study.half_width(np.subtract(ours, theirs)) / abs(one.difference)
    assert scaled * abs(test.statistic) == pytest.approx(
        2.776445, rel=1e-6
    )  # the 0.975 quantile of t with 4 df


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # scikit-learn's, on raw rows
def test_defaults_are_not_worse_on_bundled_tables():
    found = [one for name in ("iris", "wine") for one in study.meetings(name, 1)]
    assert len(found) == 2 * 2 * len(study.PAIRS)
    assert not [one for one in found if one.worse]
    assert "| `LinearSVM()` | 4 |" in study.summary(found)
    assert len(study.details(found).splitlines()) == 2 + 4


def test_the_figures_in_the_docs_are_those_of_the_study():
    root = Path(__file__).resolve().parents[1]
    records = json.loads((root / "benchmarks" / "results" / "defaults.json").read_text())
    found = [study.Meeting(**record) for record in records]
    assert len({one.table for one in found}) >= 20
    assert not [one for one in found if one.worse]
    page = (root / "docs" / "choosing.md").read_text()
    for who in study.PAIRS:
        own = [one for one in found if one.estimator == who]
        ours, theirs = (np.mean([np.mean(getattr(one, side)) for one in own]) for side in ("ours", "theirs"))
        assert ours >= theirs
        line = next(line for line in page.splitlines() if line.startswith(f"| `{who}()`"))
        assert f"| {ours:.4f} | {theirs:.4f} |" in line
