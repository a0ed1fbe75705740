"""What choosing on the test rows does to their error."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binom

from nearline._arrays.design import Array
from nearline.facts._checks import check_whole
from nearline.facts._fact import Fact, Table
from nearline.plots.style import COLORS, axes


@dataclass(frozen=True)
class ChoosingOnTest(Fact):
    """Error of the best of m models on the rows that chose it, and on rows that did not; nothing can be learned here."""

    says = "The error of a model on the rows that chose it is too low, the more so the more models there were to choose from."
    candidates: Array  # m
    chosen: Array  # (n_candidates, repetitions) error on the rows that chose
    fresh: Array  # (n_candidates, repetitions) error on rows that did not
    n_test: int

    @property
    def expected(self) -> Array:
        """E[least of m errors] of m independent guesses: sum over j of P(all m make more than j mistakes) / n."""
        j = np.arange(self.n_test)
        return np.array([(binom.sf(j, self.n_test, 0.5) ** m).sum() / self.n_test for m in self.candidates])

    def table(self) -> Table:
        means = (self.chosen.mean(axis=1), self.fresh.mean(axis=1))
        rows = (
            (m, a, b, b - a, e) for m, a, b, e in zip(self.candidates, *means, self.expected, strict=True)
        )
        return Table.of("models|error on the rows that chose|on fresh rows|optimism|theory", rows)

    def plot(self, ax: Any = None) -> Any:
        ax = axes(ax)
        for values, label, color, marker in (
            (self.fresh, "the chosen model on fresh rows", COLORS[1], "s"),
            (self.chosen, "the same on the rows that chose it", COLORS[0], "o"),
        ):
            mean, deviation = values.mean(axis=1), values.std(axis=1, ddof=1)
            ax.errorbar(
                self.candidates, mean, yerr=deviation, capsize=3, color=color, marker=marker, label=label
            )
        ax.plot(
            self.candidates, self.expected, color="0.3", linestyle="--", label="theory: least of m guesses"
        )
        ax.axhline(0.5, color="0.3", linestyle=":", label="true risk of every model: 0.5")
        ax.set(xlabel="models to choose from, m", ylabel="error rate", ylim=(0, 0.75), xscale="log")
        ax.set_title("Choosing on the test rows makes their error too low (±1 deviation)", fontsize="medium")
        ax.legend(fontsize="small", ncols=2, loc="lower left")
        return ax


def choosing_on_test(
    candidates: tuple[int, ...] = (1, 3, 10, 30, 100, 300),
    *,
    n_train: int = 50,
    n_test: int = 100,
    repetitions: int = 10,
    random_state: int = 0,
) -> ChoosingOnTest:
    """Labels are coin flips, so that every model has the risk 1/2; the best of m on the test rows looks better.

    Models are 1-NN on three features each, drawn from many. Fresh rows, as many, say what the chosen one is worth. The
    cure: choose on folds of the training rows, and look at the test rows once.

    Examples
    --------
    >>> from nearline.facts import choosing_on_test
    >>> fact = choosing_on_test((1, 100), repetitions=5)
    >>> bool(fact.chosen[1].mean() < 0.42), bool(abs(fact.fresh.mean() - 0.5) < 0.05)
    (True, True)
    """
    check_whole(candidates, "candidates", 1)
    check_whole((n_train, n_test), "n_train and n_test", 1)
    check_whole(repetitions, "repetitions", 2)  # of one there is no deviation
    rng = np.random.default_rng(random_state)
    chosen, fresh = np.empty((2, len(candidates), repetitions))
    most, D = max(candidates), 40
    for r in range(repetitions):
        X, Q = rng.standard_normal((n_train, D)), rng.standard_normal((2 * n_test, D))
        y, labels = rng.integers(2, size=n_train), rng.integers(2, size=2 * n_test)
        wrong = np.empty((most, 2))
        squares = (Q.T[:, :, None] - X.T[:, None, :]) ** 2  # of each feature, query and row
        for m in range(most):
            guesses = y[squares[rng.choice(D, 3, replace=False)].sum(axis=0).argmin(axis=1)]
            wrong[m] = (guesses != labels).reshape(2, n_test).mean(axis=1)
        for i, m in enumerate(candidates):
            best = int(wrong[:m, 0].argmin())
            chosen[i, r], fresh[i, r] = wrong[best]
    return ChoosingOnTest(np.array(candidates), chosen, fresh, n_test)
