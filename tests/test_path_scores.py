"""Paths on folds against separate fits and scikit-learn's own loops over the same folds."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_matrix, csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from nearline import (
    ElasticNet,
    GaussianNB,
    LinearClassifier,
    LinearSVM,
    LogisticRegression,
    SparsemaxClassifier,
    path_scores,
)

ALPHAS = [1e-3, 1e-1, 1e-2]
IRIS = load_iris(return_X_y=True)
FOLDS = StratifiedKFold(4, shuffle=True, random_state=1)
MODELS = [
    LogisticRegression(tol=1e-8),
    LogisticRegression(regularizer="l1", tol=1e-8),
    LogisticRegression(regularizer=ElasticNet(0.5), tol=1e-8, multiclass="one-vs-rest"),
    LinearClassifier(loss="squared", tol=1e-8),
    LinearSVM(tol=1e-8),
    SparsemaxClassifier(tol=1e-8),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{type(model).__name__}-{model.regularizer}")
def test_a_path_scores_as_separate_fits_do(model):
    """H4: tight fits, warm or cold, give the same labels."""
    X, y = IRIS
    result = path_scores(model, X, y, ALPHAS, folds=FOLDS)
    assert result.alphas.tolist() == sorted(ALPHAS, reverse=True)
    assert (result.gaps <= 1e-8).all()
    for i, alpha in enumerate(result.alphas):
        for k, (train, test) in enumerate(FOLDS.split(X, y)):
            alone = clone(model).set_params(alpha=alpha).fit(X[train], y[train])
            assert result.scores[i, k] == alone.score(X[test], y[test])


def test_it_equals_a_grid_search_with_the_transformer_inside():
    """H3, H4: the transformer sees the training rows of a fold only, as in a Pipeline."""
    X, y = load_breast_cancer(return_X_y=True)
    model = LogisticRegression(tol=1e-8, class_weight="balanced")
    result = path_scores(model, X, y, ALPHAS, folds=FOLDS, transformer=StandardScaler())
    pipeline = make_pipeline(StandardScaler(), model)
    grid = GridSearchCV(pipeline, {"logisticregression__alpha": result.alphas.tolist()}, cv=FOLDS).fit(X, y)
    found = grid.cv_results_
    np.testing.assert_allclose(result.mean, found["mean_test_score"], rtol=1e-12)
    scores = np.column_stack([found[f"split{k}_test_score"] for k in range(4)])
    np.testing.assert_array_equal(result.scores, scores)
    np.testing.assert_allclose(result.deviation, scores.std(axis=1, ddof=1))
    assert result.alphas[result.best] == grid.best_params_["logisticregression__alpha"]


def test_the_one_standard_error_choice():
    """H5: the largest alpha whose mean is no further from the best than the best's standard error."""
    result = path_scores(LogisticRegression(), *IRIS, np.logspace(1, -5, 13), folds=5)
    error = result.deviation[result.best] / np.sqrt(5)
    chosen = result.one_standard_error
    assert chosen <= result.best
    assert result.mean[chosen] >= result.mean[result.best] - error
    assert (result.mean[:chosen] < result.mean[result.best] - error).all()


def test_tables_lists_sparse_rows_and_any_labels():
    X, y = IRIS
    names = np.array(["ant", "bee", "cow"])[y]
    model = LogisticRegression(tol=1e-8)
    expected = path_scores(model, X, y, ALPHAS, folds=FOLDS).scores
    for rows in (pd.DataFrame(X), X.tolist(), csr_matrix(X), coo_matrix(X)):
        assert (path_scores(model, rows, names, ALPHAS, folds=FOLDS).scores == expected).all()
    seeded = path_scores(model, X, y, ALPHAS, folds=4, random_state=1).scores
    np.testing.assert_array_equal(seeded, expected)
    assert path_scores(model, X, y, [0.1], folds=KFold(3, shuffle=True, random_state=0)).scores.shape == (
        1,
        3,
    )


def test_gaps_are_nan_where_there_is_no_certificate():
    result = path_scores(LogisticRegression(regularizer="none"), IRIS[0][:, :2], IRIS[1], [1.0], folds=3)
    assert np.isnan(result.gaps).all()


@pytest.mark.parametrize(
    ("model", "alphas", "message"),
    [
        (GaussianNB(), [1.0], "needs a linear model"),
        (LinearSVM(hard_margin=True), [1.0], "hard margin does not depend on alpha"),
        (LogisticRegression(), [-1.0], "alphas must be finite"),
        (LogisticRegression(), [], "alphas must be finite"),
    ],
)
def test_bad_input_is_said_clearly(model, alphas, message):
    with pytest.raises(ValueError, match=message):
        path_scores(model, *IRIS, alphas)


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="inconsistent"):
        path_scores(LogisticRegression(), IRIS[0], IRIS[1][:-1], ALPHAS)
