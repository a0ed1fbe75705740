"""Kernel machines against LIBSVM and scikit-learn-intelex: python -m benchmarks.bench_kernels [svm] [grid]."""

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import environment
from benchmarks.data import load

C = 10.0


def best_of(calls: dict[str, Callable[[], Any]], repeat: int) -> tuple[dict[str, float], dict[str, Any]]:
    """Seconds of each, the best of several turns, in turn; and what they gave."""
    seconds, given = dict.fromkeys(calls, np.inf), {}
    for _ in range(repeat):
        for name, call in calls.items():
            time.sleep(1.0)  # pools of threads of the one before spin for a while
            start = time.perf_counter()
            given[name] = call()
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    return seconds, given


def primal(F: Any, betas: list[Any], K_of: Callable[[Any], Any], y: Any, pairs: Any) -> float:
    """Sum over pairs of 1/2 beta' K beta + C sum of hinge losses, from scores (n, pairs), positive for the second."""
    total = 0.0
    for p, (i, j) in enumerate(pairs):
        rows = (y == i) | (y == j)
        signs = np.where(y[rows] == j, 1.0, -1.0)
        at, beta = betas[p]
        total += 0.5 * float(beta @ K_of(at) @ beta)
        total += C * float(np.maximum(0.0, 1.0 - signs * F[rows, p]).sum())
    return total


def svm(n: int, repeat: int) -> None:
    """RBF SVM on Fashion-MNIST, all ten classes, one-vs-one, C = 10, gamma = scale."""
    from sklearn.svm import SVC

    from nearline import KernelSVM

    split = load("fashion", n, "float32")
    X, y, X_test, y_test = split.X, split.y, split.X_test, split.y_test
    fits: dict[str, Callable[[], Any]] = {
        "nearline": lambda: KernelSVM(alpha=1.0 / (n * C)).fit(X, y),
        "scikit-learn SVC": lambda: SVC(C=C, cache_size=2000).fit(X, y),
    }
    try:
        from sklearnex.svm import SVC as Intel

        fits["scikit-learn-intelex"] = lambda: Intel(C=C).fit(X, y)
    except ImportError:
        print("scikit-learn-intelex is not installed")
    seconds, models = best_of(fits, repeat)
    few = slice(None) if n <= 10_000 else slice(0, 2000)
    predicts = {name: (lambda model=model: model.predict(X_test[few])) for name, model in models.items()}
    predict_seconds, labels = best_of(predicts, 1)
    print(f"\nRBF SVM, {n:,} x {X.shape[1]} [{split.source}], 10 classes, C = {C:g}, gamma = scale")
    ours, ours_predict = seconds["nearline"], predict_seconds["nearline"]
    for name, model in models.items():
        accuracy = float(np.mean(labels[name] == y_test[few]))
        print(
            f"{name:22s} fit {seconds[name]:7.2f} s ({seconds[name] / ours:5.2f}x)   predict "
            f"{predict_seconds[name]:7.2f} s ({predict_seconds[name] / ours_predict:5.2f}x)   accuracy {accuracy:.4f}   "
            f"support {len(model.support_):,}"
        )
    print(f"  risk of all pairs relative to nearline's: {objectives(models, X, y)}")
    print(
        f"  nearline: certified gap {models['nearline'].gap_:.1e}, violation {models['nearline'].violation_:.1e}"
    )


def objectives(models: dict[str, Any], X: Any, y: Any) -> str:
    """The sum of the primal values over pairs, of each library's own solution."""
    ours = models["nearline"]
    kernel, pairs = ours.kernel_, ours.pairs_
    values = {}
    for name, model in models.items():
        at = model.support_
        if name == "nearline":
            A, F = ours.dual_coef_, ours.two_class_scores(X)
        else:
            A = np.zeros((len(at), len(pairs)))
            starts = np.concatenate([[0], np.cumsum(model.n_support_)])
            coef = np.asarray(model.dual_coef_)
            for p, (i, j) in enumerate(pairs):
                for one, other in ((i, j - 1), (j, i)):
                    part = slice(starts[one], starts[one + 1])
                    A[part, p] = -coef[other, part]
            F = kernel(X, X[at]) @ A.astype(np.float32) - np.asarray(model.intercept_)
        K = kernel(X[at])
        betas = [(np.flatnonzero(A[:, p]), A[A[:, p] != 0, p]) for p in range(len(pairs))]
        values[name] = primal(F, betas, lambda rows, K=K: K[np.ix_(rows, rows)], y, pairs)
    return ", ".join(f"{name} {value / values['nearline']:.5f}" for name, value in values.items())


def grid(n: int) -> None:
    """5 C x 5 gamma x 5 folds."""
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.svm import SVC

    from nearline import KernelSVM, kernel_scores
    from nearline.kernels import RBF
    from nearline.kernels.vector import scale_gamma

    split = load("fashion", n, "float32")
    X, y = split.X, split.y
    gammas = [float(scale_gamma(X) * f) for f in (1 / 16, 1 / 4, 1.0, 4.0, 16.0)]
    Cs = [0.1, 1.0, 10.0, 100.0, 1000.0]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    n_train = n * 4 // 5
    start = time.perf_counter()
    ours = kernel_scores(
        KernelSVM(), X, y, [RBF(gamma) for gamma in gammas], [1 / (n_train * c) for c in Cs], folds=folds
    )
    seconds = time.perf_counter() - start
    print(
        f"\n5 C x 5 gamma x 5 folds, RBF SVM, {n:,} rows [{split.source}]\nnearline {seconds:.1f} s",
        flush=True,
    )
    start = time.perf_counter()
    peer = GridSearchCV(
        SVC(cache_size=1000), {"gamma": gammas, "C": Cs}, cv=folds, n_jobs=2, refit=False
    ).fit(X, y)
    theirs = time.perf_counter() - start
    tests = np.stack([peer.cv_results_[f"split{f}_test_score"] for f in range(5)], axis=1)
    table = np.array(
        [
            [
                tests[[p == {"gamma": g, "C": c} for p in peer.cv_results_["params"]].index(True)].mean()
                for c in Cs
            ]
            for g in gammas
        ]
    )
    print(f"GridSearchCV(SVC), n_jobs=2 {theirs:.1f} s: {theirs / seconds:.1f}x")
    print(
        f"  largest difference of a mean accuracy {np.abs(table - ours.mean).max():.4f}; "
        f"best {ours.mean.max():.4f} and {table.max():.4f}"
    )


def main() -> None:
    """Run what is named."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_kernels", description=__doc__)
    parser.add_argument("what", nargs="*", default=["svm", "grid"], help="svm, grid")
    parser.add_argument("--rows", type=int, nargs="*", default=[10_000, 20_000])
    parser.add_argument("--grid-rows", type=int, default=5000)
    parser.add_argument("--repeat", type=int, default=2)
    options = parser.parse_args()
    print(environment.line(), flush=True)
    for n in options.rows if "svm" in options.what else []:
        svm(n, options.repeat)
    if "grid" in options.what:
        grid(options.grid_rows)


if __name__ == "__main__":
    main()
