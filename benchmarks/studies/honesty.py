"""Are the numbers true? Contests on noise and on data of known truth.

    python -m benchmarks.studies.honesty [--sets 200]

Noise: labels drawn apart from the features. The winner's mean over folds, chosen as the best of all candidates, is too good;
the opened test must be at chance, its interval must hold 0.5 in 95% of the sets. Signal: two Gaussian classes; the nested
estimate is compared with the accuracy, on 20,000 new rows, of what the same procedure gives on (K-1)/K of the rows.
"""

import argparse
import warnings

import numpy as np
from sklearn.base import clone

from nearline import Split, TryThemAll

OPTIONS = {"preset": "quick", "exclude": ["naive Bayes, multinomial"], "progress": "silent"}


def noise(rng: np.random.Generator, n: int = 200, d: int = 50) -> tuple[np.ndarray, np.ndarray]:
    return rng.standard_normal((n, d)), rng.permutation(np.arange(n) % 2)


def signal(rng: np.random.Generator, n: int, d: int = 10) -> tuple[np.ndarray, np.ndarray]:
    y = rng.permutation(np.arange(n) % 2)
    return rng.standard_normal((n, d)) + 0.5 * y[:, None] / np.sqrt(np.arange(1, d + 1)), y


def on_noise(n_sets: int) -> list[str]:
    rows = []
    for seed in range(n_sets):
        contest = TryThemAll(**OPTIONS, test=0.5, split=Split(nested=True), random_state=seed).fit(
            *noise(np.random.default_rng(seed))
        )
        result = contest.open_test()
        inside = 0.5 in result.intervals["accuracy"]
        best = result.cross_validation["accuracy"]
        rows.append((best, result.scores["accuracy"], inside, contest.nested_["accuracy"].mean()))
    best, test, inside, nested = np.array(rows, dtype=float).T
    return [
        f"noise, {n_sets} sets of 100 + 100 rows, {len(contest.leaderboard_)} candidates (chance: 0.5)",
        f"  winner's mean over folds      {_mean(best)}: optimistic by {best.mean() - 0.5:.3f}",
        f"  opened test                   {_mean(test)}",
        f"  95% interval holds 0.5 in     {inside.mean():.1%} of the sets",
        f"  nested cross-validation       {_mean(nested)}",
    ]


def on_signal(n_sets: int, n: int = 150) -> list[str]:
    fresh, truth = signal(np.random.default_rng(10**6), 20_000)
    differences, optimism = [], []
    for seed in range(n_sets):
        X, y = signal(np.random.default_rng(seed), n)
        contest = TryThemAll(**OPTIONS, test=None, split=Split(nested=True), random_state=seed).fit(X, y)
        inner = clone(contest).set_params(split="auto")
        models = [inner.fit(X[train], y[train]).model_ for train, _ in contest._folds]
        true = np.mean([model.score(fresh, truth) for model in models])
        differences.append(contest.nested_["accuracy"].mean() - true)
        optimism.append(contest.leaderboard_.mean(contest.best_) - true)
    return [
        f"signal, {n_sets} sets of {n} rows: estimate less the true accuracy at {n * 4 // 5} rows",
        f"  winner's mean over folds      {_mean(np.array(optimism))}",
        f"  nested cross-validation       {_mean(np.array(differences))}",
    ]


def _mean(values: np.ndarray) -> str:
    return f"{values.mean():+.4f} ± {values.std(ddof=1) / np.sqrt(len(values)):.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", type=int, default=200)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print("mean ± its Monte-Carlo standard error")
    for line in on_noise(arguments.sets) + on_signal(arguments.sets):
        print(line, flush=True)


if __name__ == "__main__":
    main()
