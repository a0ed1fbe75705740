"""Habits of other libraries: what their parameters and values are called here."""

from typing import Any, Self

# Parameters of scikit-learn (and of earlier versions), and how nearline says it.
PARAMETERS = {
    "C": "alpha = 1 / (n C), n the number of rows or the sum of their weights; alpha='1/n' is C = 1",
    "bias": "fit_intercept",
    "class_prior": "priors",
    "coef0": "a kernel object: kernel=Polynomial(degree, coef0)",
    "decision_function_shape": "multiclass",
    "degree": "a kernel object: kernel=Polynomial(degree, coef0)",
    "dual": "solver, which by default is chosen by the problem",
    "eta0": "a solver object: solver=SGD(...)",
    "fit_prior": "priors='uniform' or 'empirical'",
    "gamma": "a kernel object: kernel=RBF(gamma)",
    "l1_ratio": "a penalty object: regularizer=ElasticNet(l1_ratio)",
    "max_iter": "tol, the certified gap to reach; nearline.minimize takes max_iter",
    "metric_params": "a metric object: metric=Lq(3), metric=Mahalanobis(...)",
    "multi_class": "multiclass",
    "n_jobs": "nearline.set_num_threads(n), for all models",
    "p": "metric: 'l1', 'l2', 'l-infinity' or Lq(p)",
    "penalty": "regularizer: 'l2', 'l1', 'elastic-net', 'none' or an object",
    "probability": "CalibratedClassifier(model), which adds probabilities",
    "radius": "n_neighbors: the number of neighbors decides, not a radius",
    "seed": "random_state",
    "var_smoothing": "smoothing",
}
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
        for name in parameters:
            if name in PARAMETERS and name not in cls._get_param_names():  # type: ignore[attr-defined]
                raise TypeError(f"{cls.__name__} has no parameter {name!r}. Here it is: {PARAMETERS[name]}.")
        return super().__new__(cls)
