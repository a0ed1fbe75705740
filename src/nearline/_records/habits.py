"""Habits of other libraries: what their parameters and values are called here."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ClassVar, ParamSpec, Self, TypeVar, cast

from nearline._records.refused import UnknownNameError
from nearline._records.spoken import spoken
from nearline._records.words import worded

P = ParamSpec("P")
R = TypeVar("R")
Named = TypeVar("Named")

# Parameters of scikit-learn and of earlier versions: the parameter that is meant, and how nearline says it. An estimator
# without that parameter has nothing like it.
PARAMETERS = {
    "C": (
        "alpha",
        "alpha = 1 / (n C), n the number of rows or the sum of their weights; alpha='1/n' is C = 1",
    ),
    "bias": ("fit_intercept", "fit_intercept"),
    "class_prior": ("priors", "priors"),
    "coef0": ("kernel", "a kernel object: kernel=Polynomial(degree, coef0)"),
    "cv": ("folds", "folds"),
    "decision_function_shape": ("multiclass", "multiclass"),
    "degree": ("kernel", "a kernel object: kernel=Polynomial(degree, coef0)"),
    "dual": ("solver", "solver, which by default is chosen by the problem"),
    "eta0": ("solver", "a solver object: solver=SGD(...)"),
    "fit_prior": ("priors", "priors='uniform' or 'empirical'"),
    "gamma": ("kernel", "a kernel object: kernel=RBF(gamma)"),
    "k": ("n_neighbors", "n_neighbors"),
    "l1_ratio": ("regularizer", "a penalty object: regularizer=ElasticNet(l1_ratio)"),
    "max_iter": ("tol", "tol, the certified gap to reach; nearline.minimize takes max_iter"),
    "metric": ("scoring", "scoring"),
    "metrics": ("metric", "metric"),
    "metric_params": ("metric", "a metric object: metric=Lq(3), metric=Mahalanobis(...)"),
    "multi_class": ("multiclass", "multiclass"),
    "n_jobs": (None, "nearline.set_num_threads(n), for all models"),
    "p": ("metric", "metric: 'l1', 'l2', 'l-infinity' or Lq(p)"),
    "penalty": ("regularizer", "regularizer: 'l2', 'l1', 'elastic-net', 'group-l1', 'none' or an object"),
    "probability": (None, "CalibratedClassifier(model), which adds probabilities"),
    "radius": ("n_neighbors", "n_neighbors: the number of neighbors decides, not a radius"),
    "random_state": ("random_state", ""),
    "seed": ("random_state", "random_state"),
    "var_smoothing": ("smoothing", "smoothing"),
    "verbose": (None, "nothing: fits print nothing, and solution_ says how they went"),
}
# The same of functions, whose parameters have other names.
OF_FUNCTIONS = {
    "alpha": "alphas",
    "estimator": "model",
    "fit_intercept": "bias",
    "k": "ks",
    "kernel": "kernels",
    "metric": "metrics",
    "n_neighbors": "ks",
    "n_splits": "folds",
    "param_name": "parameter",
    "param_range": "values",
    "train_sizes": "sizes",
}
CHANCE = "random_state"  # what nothing is drawn for is the same every time
# Values by other names; besides, what is written with underscores elsewhere has hyphens here.
VALUES = {
    "ball-tree": "tree",
    "brute": "exact",
    "elasticnet": "elastic-net",
    "kd-tree": "tree",
    "log-loss": "logistic",
    "poly": "polynomial",
    "squared-error": "squared",
}


def ours(value: Any) -> Any:
    """A value by the name that it has here.

    Examples
    --------
    >>> from nearline._records.habits import ours
    >>> ours("squared_hinge"), ours("log_loss"), ours("kd_tree"), ours(None)
    ('squared-hinge', 'logistic', 'tree', None)
    """
    if not isinstance(value, str):
        return value
    hyphened = value.replace("_", "-")
    return VALUES.get(hyphened, hyphened)


def named(given: Any, known: dict[str, Named], kind: Any, what: str) -> Named:
    """The object of a name, or of one with parameters as "elastic-net:0.2"; objects of the right kind are given back."""
    if isinstance(given, kind):
        return cast(Named, given)
    name = "none" if given is None else ours(given)
    if isinstance(name, str) and name in known:
        return known[name]
    if (said := spoken(name, {one: type(listed) for one, listed in known.items()})) is not None:
        return cast(Named, said)
    raise UnknownNameError(what, given, known, worded(f"or give a {kind.__name__} object", ""))


class TranslatesHabits:
    """Of an estimator: parameters of other libraries give an error that says how nearline says it.

    ``renamed`` has parameters of earlier versions that are said by another parameter of the same class.
    """

    renamed: ClassVar[dict[str, str]] = {}

    def __new__(cls, *args: Any, **parameters: Any) -> Self:
        for name in cls.renamed.keys() & parameters.keys():
            raise TypeError(f"{cls.__name__} has no parameter {name!r}. Here it is: {cls.renamed[name]}.")
        if not parameters.keys().isdisjoint(PARAMETERS):
            _check(cls.__name__, parameters, set(cls._get_param_names()), {})  # type: ignore[attr-defined]
        return super().__new__(cls)


def translates_habits(function: Callable[P, R]) -> Callable[P, R]:
    """Of a function, or of a class by its ``__init__``: the same."""
    own = set(signature(function).parameters)
    called = function.__qualname__.removesuffix(".__init__")

    @wraps(function)
    def translated(*args: P.args, **parameters: P.kwargs) -> R:
        if not parameters.keys() <= own:
            _check(called, parameters, own, OF_FUNCTIONS)
        return function(*args, **parameters)

    return translated


def meant_by(name: str) -> set[str | None]:
    """What a parameter of other libraries may be called here."""
    return {OF_FUNCTIONS.get(name), PARAMETERS.get(name, (None, ""))[0]}


def _check(called: str, given: dict[str, Any], own: set[str], words: dict[str, str]) -> None:
    """Refuse a habit; other names that are not there are refused by Python."""
    for name in given:
        if name not in own and (name in PARAMETERS or words.get(name) in own):
            raise TypeError(f"{called} has no parameter {name!r}{_instead(name, own, words)}.")


def _instead(name: str, own: set[str], words: dict[str, str]) -> str:
    """What an estimator or function with these parameters has instead of one."""
    if words.get(name) in own:
        return f". Here it is: {words[name]}"
    meant, said = PARAMETERS[name]
    if meant is None or meant in own:
        return f". Here it is: {said}"
    return ": it draws nothing by chance" if meant == CHANCE else ", and nothing like it"
