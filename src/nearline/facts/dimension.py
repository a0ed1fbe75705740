"""What distances in many dimensions tell."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from nearline._arrays.design import Array
from nearline.facts._checks import check_whole
from nearline.facts._classes import vote_error
from nearline.facts._fact import Fact, Table
from nearline.neighbors.index import Index
from nearline.plots.style import axes


@dataclass(frozen=True)
class Concentration(Fact):
    """Distances from a query to uniform rows, for each dimension."""

    says = "Distances concentrate: in many dimensions the farthest row is hardly farther than the nearest."
    dimensions: Array
    contrast: Array  # (farthest - nearest) / nearest, median over queries
    spread: Array  # standard deviation / mean

    def table(self) -> Table:
        return Table.of(
            "dimension|(farthest - nearest) / nearest|deviation / mean",
            zip(self.dimensions, self.contrast, self.spread, strict=True),
        )

    def plot(self, ax: Any = None) -> Any:
        ax = axes(ax)
        ax.loglog(
            self.dimensions, self.contrast, "o-", color="#0072B2", label="(farthest - nearest) / nearest"
        )
        ax.loglog(self.dimensions, self.spread, "s--", color="#D55E00", label="standard deviation / mean")
        ax.set(xlabel="dimension D", ylabel="contrast of distances", title="Distances concentrate as D grows")
        ax.legend(fontsize="small")
        return ax


def concentration(
    dimensions: tuple[int, ...] = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000),
    *,
    n: int = 1000,
    n_queries: int = 30,
    metric: Any = "l2",
    random_state: int = 0,
) -> Concentration:
    """For rows uniform in [0, 1]^D the farthest is hardly farther than the nearest once D is large.

    Examples
    --------
    >>> from nearline.facts import concentration
    >>> fact = concentration((2, 1000), n=200)
    >>> bool(fact.contrast[0] > 10), bool(fact.contrast[1] < 0.3)
    (True, True)
    """
    check_whole(dimensions, "dimensions", 1)
    check_whole((n, n_queries), "n and n_queries", 1)
    rng = np.random.default_rng(random_state)
    contrast, spread = [], []
    for D in dimensions:
        d = Index(rng.random((n, D)), metric).search(rng.random((n_queries, D)), n).distances
        contrast.append(float(np.median((d[:, -1] - d[:, 0]) / d[:, 0])))
        spread.append(float((d.std(axis=1) / d.mean(axis=1)).mean()))
    return Concentration(np.array(dimensions), np.array(contrast), np.array(spread))


@dataclass(frozen=True)
class IrrelevantFeatures(Fact):
    """Test error of k-NN as features of pure noise are added to two that tell."""

    says = "Irrelevant features hurt nearest neighbors: distances take them as seriously as those that tell."
    added: Array
    errors: Array
    bayes: float

    def table(self) -> Table:
        rows = ((a, error, self.bayes) for a, error in zip(self.added, self.errors, strict=True))
        return Table.of("features added|error of k-NN|Bayes risk", rows)

    def plot(self, ax: Any = None) -> Any:
        ax = axes(ax)
        ax.plot(self.added, self.errors, "o-", color="#0072B2", label="k-NN")
        ax.axhline(self.bayes, color="0.3", label=f"Bayes risk = {self.bayes:.3g}")
        ax.axhline(0.5, color="0.3", linestyle=":", label="guessing")
        ax.set(
            xlabel="irrelevant features added",
            ylabel="error rate",
            ylim=(0, 0.55),
            title="Irrelevant features hurt nearest neighbors",
        )
        ax.set_xscale("symlog", linthresh=1)
        ax.set_xlim(left=-0.1)
        ax.legend(fontsize="small")
        return ax


def irrelevant_features(
    added: tuple[int, ...] = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000),
    *,
    n: int = 500,
    k: int = 5,
    n_test: int = 2000,
    random_state: int = 0,
) -> IrrelevantFeatures:
    """Two Gaussian classes 3 standard deviations apart, then noise features, which distances take as seriously.

    Examples
    --------
    >>> from nearline.facts import irrelevant_features
    >>> fact = irrelevant_features((0, 200))
    >>> bool(fact.errors[0] < 0.1 < 0.2 < fact.errors[1])
    True
    """
    check_whole(added, "added", 0)
    check_whole((n, n_test, k), "n, n_test and k", 1)
    rng = np.random.default_rng(random_state)
    most = max(added)
    X, Q = rng.standard_normal((n, 2 + most)), rng.standard_normal((n_test, 2 + most))
    y, labels = np.arange(n) % 2, np.arange(n_test) % 2
    for rows, classes in ((X, y), (Q, labels)):
        rows[:, 0] += 3.0 * classes
    errors = [vote_error(Index(X[:, : 2 + a]).search(Q[:, : 2 + a], k), y, labels) for a in added]
    return IrrelevantFeatures(np.array(added), np.array(errors), float(ndtr(-1.5)))
