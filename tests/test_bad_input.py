"""Law 9: what is wrong is said in one sentence, by every public function and estimator, before anything is computed."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_iris

from conftest import tiny_problem
from nearline import (
    ESTIMATORS,
    L2,
    SOLVERS,
    LeastSquaresClassifier,
    LinearClassifier,
    LinearSVM,
    LogisticRegression,
    OneVsRest,
    Params,
    Risk,
    SparsemaxClassifier,
    evaluate,
    minimize,
    path,
    sgd_step,
)
from nearline.losses import LOSSES

X, TARGETS = tiny_problem(3)
BINARY = (TARGETS > 0).astype(int)


def spoiled(value, sparse=False):
    rows = np.abs(X)
    rows[3, 1] = value
    return csr_matrix(rows) if sparse else rows


def made(estimator):
    return estimator(LogisticRegression()) if estimator.__name__.startswith("OneVs") else estimator()


CLASSIFIERS = [name for name, estimator in ESTIMATORS.items() if issubclass(estimator, ClassifierMixin)]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_labels_of_mixed_types_are_refused(name):
    mixed = np.array(["a", 1] * (len(X) // 2), dtype=object)
    with pytest.raises(ValueError, match=r"y mixes labels of types int, str|[Uu]nknown label type|same type"):
        made(ESTIMATORS[name]).fit(np.abs(X), mixed)


# Neighbors of one class vote for it, so that nothing is wrong with that.
@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name != "KNeighborsClassifier"])
def test_one_class_is_named_as_it_was_given(name):
    with pytest.raises(ValueError, match=r"1 class: 7\. Give"):
        made(ESTIMATORS[name]).fit(np.abs(X), np.full(len(X), 7))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("solver", ["auto", *SOLVERS])
def test_a_risk_of_rows_that_are_not_finite_is_refused(solver, value, sparse):
    """Estimators check their X; a Risk does not pay for that, so minimize must notice."""
    loss = {
        "closed-form": "squared",
        "dual-coordinate-descent": "hinge",
        "smoothing": "hinge",
        "smo": "hinge",
        "interior-point": "hinge",
        "linear-program": "hinge",
    }.get(solver, "logistic")
    penalty = "l1" if solver == "linear-program" else "l2"
    risk = Risk(spoiled(value, sparse), BINARY, loss=loss, regularizer=penalty, alpha=0.1)
    refusal = None if solver == "auto" else SOLVERS[solver].refuses(risk)
    expected = "NaN or infinite" if refusal is None else re.escape(refusal)
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match=expected):
        minimize(risk, solver)


def test_values_whose_squares_overflow_are_named():
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=r"up to 1\.0e\+308.*scale the features"):
        LeastSquaresClassifier().fit(spoiled(1e308), BINARY)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loss": "huber"}, "Unknown loss 'huber'.*'hinge'"),
        ({"loss": L2()}, "Unknown loss"),
        ({"regularizer": "l3"}, "Unknown regularizer 'l3'.*'l1'"),
        ({"regularizer": LOSSES["hinge"]}, "Unknown regularizer"),
        ({"alpha": -1.0}, "alpha must be"),
        ({"alpha": "small"}, "alpha must be"),
        ({"weights": -np.ones(len(X))}, "weights must be"),
        ({"weights": np.zeros(len(X))}, "weights must be"),
        ({"weights": np.full(len(X), np.nan)}, "weights must be"),
        ({"weights": np.ones(3)}, "one weight for each row"),
        ({"X": X[:, 0]}, "rows by features"),
        ({"targets": BINARY + 0.5}, r"class numbers.*np\.unique"),
        ({"targets": np.array(["a", "b"])[BINARY]}, r"class numbers.*np\.unique"),
        ({"targets": 2 * BINARY - 2}, r"class numbers 0, 1, 2, .*got -2"),
        ({"targets": BINARY + 1}, r"no row is of class 0.*np\.unique"),
    ],
)
def test_a_risk_says_what_is_wrong(change, message):
    given = {"X": X, "targets": BINARY} | change
    with pytest.raises(ValueError, match=message):
        Risk(given.pop("X"), given.pop("targets"), **given)


def test_with_alpha_checks_it_too():
    with pytest.raises(ValueError, match="alpha must be"):
        Risk(X, BINARY).with_alpha(-1.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tol": "tight"}, "tol must be"),
        ({"max_iter": -1}, "max_iter must be"),
        ({"solver": None}, "solver must be"),
        ({"start": Params.zeros(3, 7)}, r"start has weights of shape \(3, 7\)"),
    ],
)
def test_minimize_says_what_is_wrong(change, message):
    with pytest.raises(ValueError, match=message):
        minimize(Risk(X, BINARY), **change)


def test_evaluate_does_not_guess_which_label_is_positive():
    scores = X[:, 0]
    with pytest.raises(ValueError, match="class numbers"):
        evaluate("hinge", scores, np.array(["a", "b"])[BINARY])
    with pytest.raises(ValueError, match="one for each row"):
        evaluate("hinge", scores, BINARY[:3])
    with pytest.raises(ValueError, match="Unknown loss"):
        evaluate("huber", scores, BINARY)


def test_steps_and_paths():
    with pytest.raises(ValueError, match="Unknown loss"):
        sgd_step(Params.zeros(1, 2), [1.0, 2.0], 1, loss="huber", eta=0.1)
    with pytest.raises(ValueError, match=r"3 features.*for 2"):
        sgd_step(Params.zeros(1, 2), [1.0, 2.0, 3.0], 1, eta=0.1)
    with pytest.raises(ValueError, match="class numbers"):
        sgd_step(Params.zeros(1, 2), [1.0, 2.0], "yes", eta=0.1)
    with pytest.raises(ValueError, match="NaN, infinite"):
        path(spoiled(np.nan), BINARY)


@pytest.mark.parametrize("weight", [-1.0, np.nan])
def test_class_weights_must_be_weights(weight):
    with pytest.raises(ValueError, match="class_weight must have"):
        LogisticRegression(class_weight={0: weight}).fit(X, TARGETS)


@pytest.mark.parametrize("estimator", [3, "logistic", LogisticRegression])
def test_a_reduction_needs_an_estimator(estimator):
    with pytest.raises(ValueError, match="needs a two-class estimator"):
        OneVsRest(estimator).fit(X, TARGETS)


def test_margins_of_unknown_labels():
    with pytest.raises(ValueError, match="Label 9 is not among"):
        LogisticRegression().fit(X, TARGETS).margins(X[:1], [9])


# -- batches ----------------------------------------------------------------------------------------------


def test_a_batch_ends_the_certificate_of_the_fit_before_it():
    """E12: gap_ is about the weights that are there."""
    model = LogisticRegression(alpha=1e-2).fit(X, TARGETS)
    assert model.gap_ <= 1e-4
    model.partial_fit(X[:5], TARGETS[:5])
    assert (model.gap_, model.solution_, model.solver_) == (None, None, "sgd")


def test_batches_count_class_weights():
    """E12: {label: weight} acts as sample weights do; 'balanced' needs all rows."""
    classes = np.unique(TARGETS)
    weighted = LogisticRegression(class_weight={0: 3.0, 1: 1.0, 2: 1.0}).partial_fit(X, TARGETS, classes)
    by_row = LogisticRegression().partial_fit(X, TARGETS, classes, np.where(TARGETS == 0, 3.0, 1.0))
    np.testing.assert_array_equal(weighted.coef_, by_row.coef_)
    with pytest.raises(ValueError, match="all rows at once"):
        LogisticRegression(class_weight="balanced").partial_fit(X, TARGETS, classes)


def test_batches_that_cannot_be():
    classes = np.unique(TARGETS)
    with pytest.raises(ValueError, match="all rows at once"):
        LinearSVM(hard_margin=True).partial_fit(X, TARGETS, classes)
    with pytest.raises(ValueError, match="LinearSVM's loss is one of"):
        LinearSVM(loss="softmax").partial_fit(X, TARGETS, classes)
    with pytest.raises(ValueError, match="at least 2 labels"):
        LogisticRegression().partial_fit(X, np.zeros(len(X)), [0])
    with pytest.raises(ValueError, match="Negative values"):
        LinearClassifier().partial_fit(X, TARGETS, classes, -np.ones(len(X)))


def test_sparsemax_learns_from_batches():
    model = SparsemaxClassifier().partial_fit(X, TARGETS, np.unique(TARGETS))
    assert model.predict(X).shape == (len(X),)


def test_bias_and_names():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="must be True or False, got 'no'"):
        LogisticRegression(fit_intercept="no").fit(X, y)
    with pytest.raises(ValueError, match="names must name each of the 4 features"):
        LogisticRegression().fit(X, y).strongest_features(names=["a"])


@pytest.mark.parametrize("sparse", [False, True])
def test_missing_values_are_named(sparse):
    with pytest.raises(
        ValueError, match="Input X contains NaN: 1 value in column 2, the first in row 4"
    ) as error:
        LogisticRegression().fit(spoiled(np.nan, sparse), TARGETS)
    assert "SimpleImputer" in str(error.value)
    assert "TryThemAll" in str(error.value)
    assert "HistGradientBoosting" not in str(error.value)


def test_missing_values_of_tables_are_named_by_column():
    table = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])
    model = LogisticRegression().fit(table, TARGETS)
    table.loc[[2, 5], "c0"] = np.nan
    with pytest.raises(ValueError, match=r"2 values in column 'c0', the first in row 3 \(counted from 1\)"):
        model.predict(table)
    many = np.full((4, 9), np.nan)
    with pytest.raises(ValueError, match="36 values in columns 1, 2, 3, 4, 5 and 4 more, the first in row 1"):
        LogisticRegression().fit(many, [0, 1, 0, 1])


@pytest.mark.parametrize(
    "name",
    [
        "LogisticRegression",
        "LinearSVM",
        "SparsemaxClassifier",
        "LinearDiscriminantAnalysis",
        "KernelSVM",
        "Nystroem",
    ],
)
@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value encountered")
def test_squares_that_overflow_are_said(name):
    """Finite numbers whose squares are not: no sentence of a factorization, none about a gamma that nobody gave."""
    iris, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=r"X has values .*whose squares overflow: scale the features"):
        ESTIMATORS[name]().fit(iris * 1e155, y)
