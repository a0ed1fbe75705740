"""How the other libraries are called: each with the settings that its documentation recommends for the problem."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from benchmarks.fitters import Fitter
from benchmarks.homes import CELER, CYANURE, LIBLINEAR, SKGLM, SKLEARN, Home
from benchmarks.problems import Problem


def doubling(first: int, last: int) -> tuple[float, ...]:
    """first, 2 first, 4 first, ... up to last."""
    return tuple(float(first * 2**k) for k in range(64) if first * 2**k <= last)


def shrinking(first: float, last: float) -> tuple[float, ...]:
    """first, first / sqrt(10), first / 10, ... down to last."""
    steps = round(2 * np.log10(first / last))
    return tuple(float(f"{first * 10 ** (-k / 2):.2g}") for k in range(steps + 1))


@dataclass(frozen=True)
class ScikitLearn(Fitter):
    """LogisticRegression, multinomial. The number of iterations is the effort, tol is out of the way."""

    package: ClassVar[str] = "scikit-learn"
    home: ClassVar[Home] = SKLEARN
    effort_name: ClassVar[str] = "max_iter"
    integer_effort: ClassVar[bool] = True
    solver: str = "lbfgs"
    dtype: str = "float64"

    @property
    def name(self) -> str:
        return f"scikit-learn {self.solver} {self.dtype}"

    @property
    def efforts(self) -> tuple[float, ...]:
        return {"lbfgs": doubling(25, 12_800), "newton-cg": doubling(2, 128), "saga": doubling(4, 2048)}[
            self.solver
        ]

    def prepare(self, problem: Problem) -> Any:
        import sklearn.linear_model  # noqa: F401

        return problem.split(self.dtype)

    def fit(self, ready: Any, problem: Problem, effort: float) -> Any:
        from sklearn.linear_model import LogisticRegression

        tol = 1e-30 if self.solver == "saga" else 1e-12
        model = LogisticRegression(
            C=problem.C, solver=self.solver, tol=tol, max_iter=int(effort), fit_intercept=problem.bias
        )
        return model.fit(ready.X, ready.y)

    def read(self, model: Any, problem: Problem) -> dict[str, Any]:
        intercept = np.broadcast_to(model.intercept_, (len(model.coef_),))
        return {"W": model.coef_.astype(np.float64), "b": np.array(intercept, dtype=np.float64)}


@dataclass(frozen=True)
class Liblinear(Fitter):
    """LIBLINEAR -s kind -B -1 (no bias). Conversion of the data is not timed."""

    package: ClassVar[str] = "liblinear-official"
    home: ClassVar[Home] = LIBLINEAR
    effort_name: ClassVar[str] = "-e"
    kind: int = 0

    @property
    def name(self) -> str:
        return f"LIBLINEAR -s {self.kind}"

    @property
    def efforts(self) -> tuple[float, ...]:
        return shrinking(10.0, 1e-9)

    @property
    def default_effort(self) -> float:
        return {0: 0.01, 1: 0.1, 2: 0.01, 3: 0.1, 4: 0.1, 6: 0.01, 7: 0.1}[self.kind]

    def prepare(self, problem: Problem) -> Any:
        from liblinear.liblinearutil import problem as convert
        from scipy.sparse import csr_matrix

        split = problem.split("float64")
        return convert(split.y.astype(float), csr_matrix(split.X))

    def fit(self, ready: Any, problem: Problem, effort: float) -> Any:
        from liblinear.liblinearutil import parameter, train

        return train(ready, parameter(f"-s {self.kind} -c {problem.C!r} -e {effort!r} -B -1 -q"))

    def read(self, model: Any, problem: Problem) -> dict[str, Any]:
        n_classes, n_features = model.nr_class, model.nr_feature
        columns = n_classes if n_classes > 2 or self.kind == 4 else 1
        W = np.ctypeslib.as_array(model.w, (n_features * columns,)).reshape(n_features, columns).T
        labels = np.array(model.label[:n_classes])
        full = np.zeros((columns, problem.split().X.shape[1]))
        if columns == 1:
            full[0, :n_features] = W[0] if labels[0] == 1 else -W[0]
        else:
            full[labels, :n_features] = W
        return {"W": full, "b": np.zeros(columns)}


@dataclass(frozen=True)
class Cyanure(Fitter):
    """cyanure.estimators.Classifier, solver auto; effort is the number of passes over the data."""

    package: ClassVar[str] = "cyanure"
    home: ClassVar[Home] = CYANURE
    effort_name: ClassVar[str] = "max_iter"
    integer_effort: ClassVar[bool] = True
    dtype: str = "float32"

    @property
    def name(self) -> str:
        return f"cyanure auto {self.dtype}"

    @property
    def efforts(self) -> tuple[float, ...]:
        return doubling(5, 5120)

    def prepare(self, problem: Problem) -> Any:
        from cyanure.estimators import Classifier  # noqa: F401

        return problem.split(self.dtype), problem.alpha

    def fit(self, ready: Any, problem: Problem, effort: float) -> Any:
        from cyanure.estimators import Classifier

        split, alpha = ready
        model = Classifier(
            loss="logistic",
            penalty=problem.regularizer,
            lambda_1=alpha,
            fit_intercept=problem.bias,
            max_iter=int(effort),
            tol=1e-12,
            verbose=False,
        )
        model.fit(split.X, split.y)
        return model

    def read(self, model: Any, problem: Problem) -> dict[str, Any]:
        n_features = problem.split().X.shape[1]
        W = np.asarray(model.get_weights()[0] if problem.bias else model.get_weights(), dtype=np.float64)
        W = W.reshape(1, -1) if W.ndim == 1 or 1 in W.shape else (W if W.shape[1] == n_features else W.T)
        b = np.asarray(model.get_weights()[1]) if problem.bias else 0.0
        return {"W": W, "b": np.array(np.broadcast_to(np.ravel(b), (len(W),)), dtype=np.float64)}


@dataclass(frozen=True)
class Celer(Fitter):
    """celer.LogisticRegression (L1, two classes, no bias)."""

    package: ClassVar[str] = "celer"
    home: ClassVar[Home] = CELER
    effort_name: ClassVar[str] = "tol"

    @property
    def name(self) -> str:
        return "celer"

    @property
    def efforts(self) -> tuple[float, ...]:
        return shrinking(1.0, 1e-10)

    def prepare(self, problem: Problem) -> Any:
        from celer import LogisticRegression  # noqa: F401

        split = problem.split("float64")
        return split.X.tocsc() if problem.data != "fashion" else np.asfortranarray(split.X), split.y

    def fit(self, ready: Any, problem: Problem, effort: float) -> Any:
        from celer import LogisticRegression

        return LogisticRegression(C=problem.C, tol=effort, fit_intercept=False, max_iter=500).fit(*ready)

    def read(self, model: Any, problem: Problem) -> dict[str, Any]:
        return {"W": model.coef_.reshape(1, -1).astype(np.float64), "b": np.zeros(1)}


@dataclass(frozen=True)
class Skglm(Fitter):
    """skglm.SparseLogisticRegression (L1, two classes, no bias); its code is compiled before the clock starts."""

    package: ClassVar[str] = "skglm"
    home: ClassVar[Home] = SKGLM
    effort_name: ClassVar[str] = "tol"

    @property
    def name(self) -> str:
        return "skglm"

    @property
    def efforts(self) -> tuple[float, ...]:
        return shrinking(1e-1, 1e-10)

    def prepare(self, problem: Problem) -> Any:
        split = problem.split("float64")
        X = split.X.tocsc() if problem.data != "fashion" else np.asfortranarray(split.X)
        self.fit((X[:200], split.y[:200], 1.0 / 200), problem, 1e-2)
        return X, split.y, problem.alpha

    def fit(self, ready: Any, problem: Problem, effort: float) -> Any:
        from skglm import SparseLogisticRegression

        X, y, alpha = ready
        return SparseLogisticRegression(alpha=alpha, tol=effort, fit_intercept=False, max_iter=500).fit(X, y)

    def read(self, model: Any, problem: Problem) -> dict[str, Any]:
        return {"W": np.asarray(model.coef_, dtype=np.float64).reshape(1, -1), "b": np.zeros(1)}
