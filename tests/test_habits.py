"""Habits of other libraries: their parameters are refused with nearline's words, their names of values are understood."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

import nearline
from nearline import ESTIMATORS, KernelSVM, KNeighborsClassifier, LogisticRegression, load
from nearline._records.habits import PARAMETERS

X, y = load_iris(return_X_y=True)
X, y = X[::3], y[::3]
NEEDED = {"OneVsRest": (LogisticRegression(),), "OneVsOne": (LogisticRegression(),)}
OLD = Path(__file__).parent / "old_files"
ASKED = ["C", "penalty", "gamma", "max_iter", "n_jobs", "p", "probability", "seed", "bias"]


@pytest.mark.parametrize("habit", ASKED)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_parameters_of_others_are_translated(name, habit):
    cls = ESTIMATORS[name]
    if habit in cls._get_param_names():
        return
    with pytest.raises(TypeError, match=f"{name} has no parameter '{habit}'") as error:
        cls(*NEEDED.get(name, ()), **{habit: 1})
    meant, said = PARAMETERS[habit]
    there = meant is None or meant in cls._get_param_names()
    assert there == str(error.value).endswith(f". Here it is: {said}.")


def test_what_an_estimator_has_not_is_said_so():
    with pytest.raises(
        TypeError, match="LogisticRegression has no parameter 'random_state': it draws nothing by chance"
    ):
        LogisticRegression(random_state=0)
    with pytest.raises(TypeError, match="GaussianNB has no parameter 'C', and nothing like it"):
        nearline.GaussianNB(C=1)
    with pytest.raises(TypeError, match=r"TryThemAll has no parameter 'cv'. Here it is: folds"):
        nearline.TryThemAll(cv=3)


def test_other_unknown_parameters_are_python_errors():
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        LogisticRegression(nonsense=True)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (KNeighborsClassifier(algorithm="brute"), KNeighborsClassifier(algorithm="exact")),
        (KNeighborsClassifier(algorithm="kd_tree"), KNeighborsClassifier(algorithm="tree")),
        (KNeighborsClassifier(algorithm="ball_tree"), KNeighborsClassifier(algorithm="tree")),
        (KernelSVM(kernel="poly"), KernelSVM(kernel="polynomial")),
        (LogisticRegression(regularizer="elasticnet"), LogisticRegression(regularizer="elastic-net")),
        (nearline.LinearSVM(loss="squared_hinge"), nearline.LinearSVM(loss="squared-hinge")),
        (nearline.LinearClassifier("log_loss"), nearline.LinearClassifier("logistic")),
        (nearline.LinearClassifier("squared_error"), nearline.LinearClassifier("squared")),
        (LogisticRegression(regularizer="group_l1"), LogisticRegression(regularizer="group-l1")),
        (KNeighborsClassifier(metric="l_infinity"), KNeighborsClassifier(metric="l-infinity")),
    ],
    ids=lambda model: None,
)
def test_names_of_values_are_understood(theirs, ours):
    np.testing.assert_array_equal(theirs.fit(X, y).predict(X), ours.fit(X, y).predict(X))
    clone(theirs)


def test_values_that_are_none_are_called_so():
    with pytest.raises(ValueError, match="Unknown algorithm None: choose"):
        KNeighborsClassifier(algorithm=None).fit(X, y)
    with pytest.raises(ValueError, match="Unknown loss None: choose"):
        nearline.LinearClassifier(loss=None).fit(X, y)


FUNCTIONS = {
    "sweep": (lambda **habit: nearline.sweep(X, y, [1], **habit), {"cv": "folds", "metric": "metrics"}),
    "cross_validate": (
        lambda **habit: nearline.cross_validate(LogisticRegression(), X, y, **habit),
        {"cv": "folds", "seed": "random_state", "n_splits": "folds"},
    ),
    "repeated": (lambda **habit: nearline.repeated(LogisticRegression(), X, y, **habit), {"cv": "folds"}),
    "learning_curve": (
        lambda **habit: nearline.learning_curve(LogisticRegression(), X, y, **habit),
        {"cv": "folds", "train_sizes": "sizes"},
    ),
    "capacity_curve": (
        lambda **habit: nearline.capacity_curve(LogisticRegression(), X, y, [1], **habit),
        {"cv": "folds", "param_name": "parameter"},
    ),
    "path": (
        lambda **habit: nearline.path(X, y, **habit),
        {"alpha": "alphas", "penalty": "regularizer", "fit_intercept": "bias"},
    ),
    "path_scores": (
        lambda **habit: nearline.path_scores(LogisticRegression(), X, y, **habit),
        {"cv": "folds", "alpha": "alphas"},
    ),
    "kernel_scores": (
        lambda **habit: nearline.kernel_scores(KernelSVM(), X, y, ["rbf"], [1.0], **habit),
        {"cv": "folds"},
    ),
    "minimize": (lambda **habit: nearline.minimize(nearline.Risk(X, y), **habit), {}),
    "Risk": (lambda **habit: nearline.Risk(X, y, **habit), {"C": "alpha = 1", "penalty": "regularizer"}),
    "KernelRisk": (lambda **habit: nearline.KernelRisk("rbf", X, y, **habit), {"C": "alpha = 1"}),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_translate_habits_too(name):
    call, words = FUNCTIONS[name]
    for habit, said in {**words, "n_jobs": "nearline.set_num_threads"}.items():
        with pytest.raises(TypeError, match=f"{name} has no parameter '{habit}'. Here it is: {said}"):
            call(**{habit: 1})
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        call(nonsense=True)


def test_no_penalty_may_be_called_none():
    rows, labels = X[y != 0][:, :2], y[y != 0]
    a, b = (LogisticRegression(regularizer=r).fit(rows, labels).coef_ for r in (None, "none"))
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", sorted(json.loads((OLD / "predictions.json").read_text())))
def test_files_with_old_names_load(name):
    model = load(OLD / f"{name}.nearline")
    assert model.predict(X).tolist() == json.loads((OLD / "predictions.json").read_text())[name]
    inner = getattr(model, "estimator", model)
    assert not {"seed", "bias"} & set(inner.get_params(deep=False))


def test_old_parameters_keep_their_values():
    assert load(OLD / "logistic.nearline").fit_intercept is False
    assert load(OLD / "perceptron.nearline").random_state == 3
    assert load(OLD / "svm.nearline").random_state == 2
    assert load(OLD / "sgd.nearline").solver.random_state == 4


def test_renamed_public_names_are_refused_with_the_new_one():
    with pytest.raises(AttributeError, match=r"nearline.Softmax is called nearline.Temperature now"):
        nearline.Softmax  # noqa: B018


def test_only_public_names_are_listed():
    assert set(dir(nearline)) == {*nearline.__all__, "inspect", "__version__"}


def test_a_star_import_shadows_nothing_of_pythons():
    import builtins
    import sys

    taken = {*dir(builtins), *sys.stdlib_module_names}
    assert taken & set(nearline.__all__) == set()
    assert callable(nearline.inspect)


def test_kernel_logistic_models_without_their_loss_are_completed():
    from nearline.files._decoding import attributes_now

    for labels, loss in ((y, "softmax"), (y == 0, "logistic")):
        model = nearline.KernelLogisticRegression().fit(X, labels)
        state = {name: value for name, value in vars(model).items() if name != "loss_"}
        assert attributes_now(type(model), state)["loss_"] == model.loss_ == nearline.LOSSES[loss]


def test_explanations_of_unfitted_models_are_refused():
    for name, cls in ESTIMATORS.items():
        if callable(getattr(cls, "explain", None)):
            with pytest.raises(NotFittedError):
                cls(*NEEDED.get(name, ())).explain(X)
