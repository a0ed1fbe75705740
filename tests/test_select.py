"""scikit-learn's SelectFromModel with models of ours."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.feature_selection import SelectFromModel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from nearline import L1, L2, ElasticNet, LinearClassifier, LinearSVM, LogisticRegression, SparsemaxClassifier
from nearline.regularizers import Zero
from test_own_pieces import GroupGradient

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
DIGITS = load_digits(return_X_y=True)


@pytest.mark.parametrize("rows", [(X, y), (DIGITS[0][:400] / 16, DIGITS[1][:400])], ids=["two", "ten"])
@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(regularizer="l1", alpha=0.01),
        LogisticRegression(regularizer=L1(), alpha=0.01, multiclass="one-vs-rest"),
        LogisticRegression(regularizer=ElasticNet(1.0), alpha=0.01),
        LinearClassifier("squared-hinge", "l1", 0.01),
        LinearClassifier("hinge", "l1", 0.01),
        SparsemaxClassifier(regularizer="l1", alpha=0.01),
    ],
    ids=str,
)
def test_l1_keeps_exactly_the_weights_that_are_not_zero(model, rows):
    selector = SelectFromModel(model).fit(*rows)
    wanted = (selector.estimator_.coef_ != 0).any(axis=0)
    np.testing.assert_array_equal(selector.get_support(), wanted)
    assert 0 < wanted.sum() < rows[0].shape[1]


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(alpha=0.01),
        LogisticRegression(regularizer="elastic-net", alpha=0.01),
        LinearClassifier("squared-hinge", "none", 0.01),
        LinearSVM(),
    ],
    ids=str,
)
def test_others_keep_what_is_above_the_mean_as_scikit_learn_does(model):
    selector = SelectFromModel(model).fit(X, y)
    size = np.abs(selector.estimator_.coef_).sum(axis=0)
    np.testing.assert_array_equal(selector.get_support(), size >= size.mean())


def test_the_words_are_those_of_scikit_learn():
    words = {"l1": "l1", L2(): "l2", ElasticNet(0.5): "elasticnet", ElasticNet(0.0): "l2", Zero(): None}
    for regularizer, word in words.items():
        assert LogisticRegression(regularizer=regularizer).penalty == word
    assert LinearClassifier(regularizer=GroupGradient()).penalty == "group"
    assert LinearSVM().penalty == "l2"
    assert "penalty" not in LogisticRegression().get_params()
    assert clone(LogisticRegression(regularizer="l1")).penalty == "l1"


def test_in_a_pipeline():
    model = make_pipeline(
        StandardScaler(), SelectFromModel(LogisticRegression(0.02, "l1")), LogisticRegression()
    )
    assert model.fit(X, y).score(X, y) > 0.95
