"""Empirical risk and expected risk."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from nearline._arrays.design import Array
from nearline._records.refused import ParameterError
from nearline.facts._checks import check_whole
from nearline.facts._fact import Fact, Table
from nearline.plots.style import axes


@dataclass(frozen=True)
class EmpiricalRisk(Fact):
    """Error of the best threshold on its n training rows, and its expected risk, over repetitions."""

    says = "The empirical risk of a rule that was chosen by it is too low; with more rows it comes to the expected risk."
    sizes: Array
    empirical: Array  # (n_sizes, repetitions)
    expected: Array  # (n_sizes, repetitions)
    bayes: float

    def table(self) -> Table:
        means = (self.empirical.mean(axis=1), self.expected.mean(axis=1))
        rows = ((n, a, b, self.bayes) for n, a, b in zip(self.sizes, *means, strict=True))
        return Table.of("n|empirical risk|expected risk|Bayes risk", rows)

    def plot(self, ax: Any = None) -> Any:
        ax = axes(ax)
        for values, label, color, marker in (
            (self.expected, "expected risk of the rule found", "#D55E00", "s"),
            (self.empirical, "its empirical risk", "#0072B2", "o"),
        ):
            mean, deviation = values.mean(axis=1), values.std(axis=1, ddof=1)
            ax.plot(self.sizes, mean, color=color, marker=marker, label=label)
            ax.fill_between(
                self.sizes, mean - deviation, mean + deviation, color=color, alpha=0.15, linewidth=0
            )
        ax.axhline(self.bayes, color="0.3", label=f"Bayes risk = {self.bayes:.3g}")
        ax.set(
            xlabel="n",
            ylabel="risk",
            ylim=(0, None),
            title="Empirical risk converges to expected risk (±1 deviation)",
        )
        ax.set_xscale("log")
        ax.legend(fontsize="small")
        return ax


def empirical_risk(
    sizes: tuple[int, ...] = (5, 10, 30, 100, 300, 1000, 3000, 10000),
    *,
    separation: float = 2.0,
    repetitions: int = 40,
    random_state: int = 0,
) -> EmpiricalRisk:
    """The threshold of least training error on n rows: its empirical risk is too low, its expected risk too high.

    Classes are normal with means -s/2 and s/2, equally likely. A threshold t has the expected risk
    (Phi(t - s/2) + Phi(-t - s/2)) / 2, least at 0, where it is the Bayes risk Phi(-s/2).

    Examples
    --------
    >>> from nearline.facts import empirical_risk
    >>> fact = empirical_risk((10, 3000), repetitions=20)
    >>> gap = (fact.expected - fact.empirical).mean(axis=1)
    >>> bool(gap[0] > 0.03), bool(abs(gap[1]) < 0.01)
    (True, True)
    """
    check_whole(sizes, "sizes", 1)
    check_whole(repetitions, "repetitions", 2)  # of one there is no deviation
    if not isinstance(separation, (int, float, np.number)) or not 0.0 <= separation < np.inf:
        raise ParameterError("separation", separation, "a finite number >= 0")
    rng = np.random.default_rng(random_state)
    empirical, expected = np.empty((2, len(sizes), repetitions))
    half = separation / 2.0
    for i, n in enumerate(sizes):
        for r in range(repetitions):
            y = rng.integers(2, size=n)
            x = rng.standard_normal(n) + half * (2 * y - 1)
            t, empirical[i, r] = _best_threshold(x, y)
            expected[i, r] = 0.5 * (ndtr(t - half) + ndtr(-t - half))
    return EmpiricalRisk(np.array(sizes), empirical, expected, float(ndtr(-half)))


def _best_threshold(x: Array, y: Array) -> tuple[float, float]:
    """The threshold above which to say 1, of least training error (the middle one of those), and that error."""
    order = np.argsort(x)
    x, y = x[order], y[order]
    # Row i and those after it are called 1: mistakes are the ones before and the zeros from there on.
    mistakes = (
        np.concatenate([[0], np.cumsum(y)]) + (len(y) - y.sum()) - np.concatenate([[0], np.cumsum(1 - y)])
    )
    best = np.flatnonzero(mistakes == mistakes.min())
    cut = best[len(best) // 2]
    edges = np.concatenate([[x[0] - 1.0], x, [x[-1] + 1.0]])
    return float(0.5 * (edges[cut] + edges[cut + 1])), float(mistakes[cut] / len(y))
