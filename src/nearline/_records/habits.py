"""Habits of other libraries: what their parameters and values are called here."""

from typing import Any, Self

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
CHANCE = "random_state"  # what nothing is drawn for is the same every time
# Values by other names.
VALUES = {
    "ball_tree": "tree",
    "brute": "exact",
    "elasticnet": "elastic-net",
    "kd_tree": "tree",
    "log_loss": "logistic",
    "poly": "polynomial",
    "squared_hinge": "squared-hinge",
}


def ours(value: Any) -> Any:
    """A value by the name that it has here; None is 'none'."""
    return "none" if value is None else VALUES.get(value, value) if isinstance(value, str) else value


class TranslatesHabits:
    """Of an estimator: parameters of other libraries give an error that says how nearline says it."""

    def __new__(cls, *args: Any, **parameters: Any) -> Self:
        own = None
        for name in parameters:
            if name in PARAMETERS:
                own = own or set(cls._get_param_names())  # type: ignore[attr-defined]
                if name not in own:
                    raise TypeError(f"{cls.__name__} has no parameter {name!r}{_instead(name, own)}.")
        return super().__new__(cls)


def _instead(name: str, own: set[str]) -> str:
    """What an estimator with these parameters has instead of one."""
    meant, said = PARAMETERS[name]
    if meant is None or meant in own:
        return f". Here it is: {said}"
    return ": it draws nothing by chance" if meant == CHANCE else ", and nothing like it"
