"""RBF SVMs, ten classes one-vs-one, against LIBSVM and scikit-learn-intelex; and the choice of C and gamma."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from benchmarks.data import load
from benchmarks.harness import Contest, Entry, Heat, Outcome, Session, Verdict
from benchmarks.homes import NEARLINE, PATIENCE, SKLEARN, SKLEARNEX

C = 10.0
ABOVE = 0.005  # share of the risk: all have their own way to stop
HOMES = {"nearline": NEARLINE, "scikit-learn": SKLEARN, "scikit-learn-intelex": SKLEARNEX}
NAMES = {"nearline": "nearline KernelSVM", "scikit-learn": "SVC", "scikit-learn-intelex": "intelex SVC"}
GAMMAS = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)  # times that of "scale"
CS = (0.1, 1.0, 10.0, 100.0, 1000.0)


def fit(library: str, n: int) -> Any:
    split = load("fashion", n, "float32")
    if library == "nearline":
        from nearline import KernelSVM

        return KernelSVM(alpha=1.0 / (n * C)).fit(split.X, split.y)
    if library == "scikit-learn":
        from sklearn.svm import SVC

        return SVC(C=C, cache_size=2000).fit(split.X, split.y)
    from sklearnex.svm import SVC as Intel

    return Intel(C=C).fit(split.X, split.y)


def fitting(library: str, n: int) -> Outcome:
    load("fashion", n, "float32")
    began = time.perf_counter()
    model = fit(library, n)
    seconds = time.perf_counter() - began
    facts = {"risk": risk_of_pairs(library, model, n), "support": len(model.support_)}
    return Outcome(seconds, facts | {"gap": getattr(model, "gap_", None)})


def risk_of_pairs(library: str, model: Any, n: int) -> float:
    """Sum over pairs of classes of 1/2 beta' K beta + C sum of hinge losses, of a library's own solution."""
    from nearline.kernels import RBF
    from nearline.kernels.vector import scale_gamma

    split, kernel = load("fashion", n, "float32"), RBF(float(scale_gamma(load("fashion", n, "float32").X)))
    X, y, at = split.X, split.y, model.support_
    pairs = [(i, j) for i in range(10) for j in range(i + 1, 10)]
    if library == "nearline":
        A, F = model.dual_coef_, model.two_class_scores(X)
    else:
        A = _coefficients(model, pairs)
        F = kernel(X, X[at]) @ A.astype(np.float32) - np.asarray(model.intercept_)
    K, total = kernel(X[at]), 0.0
    for p, (i, j) in enumerate(pairs):
        rows, own = (y == i) | (y == j), A[:, p] != 0
        signs = np.where(y[rows] == j, 1.0, -1.0)
        total += 0.5 * float(A[own, p] @ K[np.ix_(own, own)] @ A[own, p])
        total += C * float(np.maximum(0.0, 1.0 - signs * F[rows, p]).sum())
    return total


def _coefficients(model: Any, pairs: list[tuple[int, int]]) -> np.ndarray:
    """LIBSVM's coefficients (classes - 1, support) as (support, pairs), positive for the second class."""
    A = np.zeros((len(model.support_), len(pairs)))
    starts, coef = np.concatenate([[0], np.cumsum(model.n_support_)]), np.asarray(model.dual_coef_)
    for p, (i, j) in enumerate(pairs):
        for one, other in ((i, j - 1), (j, i)):
            part = slice(starts[one], starts[one + 1])
            A[part, p] = -coef[other, part]
    return A


@lru_cache(maxsize=1)
def fitted(library: str, n: int) -> Any:
    return fit(library, n)


def prepare(library: str, n: int) -> None:
    fitted(library, n)


def predicting(library: str, n: int, m: int) -> Outcome:
    model, split = fitted(library, n), load("fashion", n, "float32")
    began = time.perf_counter()
    labels = model.predict(split.X_test[:m])
    seconds = time.perf_counter() - began
    return Outcome(seconds, {"test accuracy": f"{np.mean(labels == split.y_test[:m]):.4f}"})


@dataclass(frozen=True)
class SameRisk:
    """Judge: the risk of all pairs, at most so much above that of nearline's certified solution."""

    ours: float

    def __call__(self, outcome: Outcome) -> Verdict:
        facts = outcome.facts
        quality = {
            "risk relative to nearline's": f"{facts['risk'] / self.ours:.5f}",
            "certified gap": "-" if facts["gap"] is None else f"{facts['gap']:.1e}",
            "support": f"{facts['support']:,}",
        }
        return Verdict(facts["risk"] <= (1.0 + ABOVE) * self.ours, quality)


def machines(session: Session) -> Iterator[Heat]:
    for n in (300,) if session.options.quick else (10_000, 20_000):
        m = min(n, 10_000 if n <= 10_000 else 2000)
        first = session.pool.call(NEARLINE, partial(fitting, "nearline", n), PATIENCE)
        judge, source = SameRisk(first.facts["risk"]), load("fashion", n, "float32").source
        entries = [
            Entry(NAMES[who], partial(fitting, who, n), judge, home, who == "nearline")
            for who, home in HOMES.items()
        ]
        title = f"RBF SVM, {n} rows x 784, 10 classes, C = {C:g}, gamma = scale [{source}]"
        yield Heat(f"{title}: fit", f"risk of all pairs at most {ABOVE:g} above the certified one", entries)
        entries = [
            Entry(
                NAMES[who],
                partial(predicting, who, n, m),
                home=home,
                ours=who == "nearline",
                prepare=partial(prepare, who, n),
            )
            for who, home in HOMES.items()
        ]
        yield Heat(f"{title}: labels of {m} rows", "none", entries)


# -- choosing C and gamma ------------------------------------------------------------------------------------------


def our_grid(n: int) -> Outcome:
    from nearline import KernelSVM, kernel_scores
    from nearline.kernels import RBF
    from nearline.kernels.vector import scale_gamma

    split = load("fashion", n, "float32")
    kernels = [RBF(float(scale_gamma(split.X) * factor)) for factor in GAMMAS]
    alphas = [1 / (n * 4 // 5 * c) for c in CS]
    began = time.perf_counter()
    found = kernel_scores(KernelSVM(), split.X, split.y, kernels, alphas, folds=_folds())
    return Outcome(time.perf_counter() - began, {"best mean": f"{found.mean.max():.4f}"})


def their_grid(n: int) -> Outcome:
    from joblib.externals.loky import get_reusable_executor
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    from nearline.kernels.vector import scale_gamma

    split = load("fashion", n, "float32")
    grid = {"gamma": [float(scale_gamma(split.X) * factor) for factor in GAMMAS], "C": list(CS)}
    search = GridSearchCV(SVC(cache_size=1000), grid, cv=_folds(), n_jobs=2, refit=False)
    began = time.perf_counter()
    search.fit(split.X, split.y)
    seconds = time.perf_counter() - began
    get_reusable_executor().shutdown()  # other contests fork this process
    return Outcome(seconds, {"best mean": f"{search.best_score_:.4f}"})


def _folds() -> Any:
    from sklearn.model_selection import StratifiedKFold

    return StratifiedKFold(5, shuffle=True, random_state=0)


def grids(session: Session) -> Iterator[Heat]:
    n = session.options.rows(5000, 150) or 0
    entries = [
        Entry("nearline kernel_scores", partial(our_grid, n), home=NEARLINE, ours=True),
        # Here, as other homes may have no processes of their own.
        Entry("GridSearchCV(SVC), n_jobs=2", partial(their_grid, n), key=f"kernel grid {n}"),
    ]
    source = load("fashion", n, "float32").source
    yield Heat(
        f"5 C x 5 gamma x 5 folds, RBF SVM, {n} rows [{source}]", "none; best means are shown", entries
    )


CONTESTS = (
    Contest("kernel-svm", "RBF SVM", "5x scikit-learn, 1.5x scikit-learn-intelex, prediction 15x", machines),
    Contest("kernel-grid", "choosing C and gamma of an RBF SVM", "15x GridSearchCV(SVC)", grids),
)
