"""Generative or discriminative: naive Bayes learns faster, logistic regression ends up better."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from nearline._arrays.design import Array
from nearline.facts._checks import check_whole
from nearline.facts._fact import Fact, Table
from nearline.facts._pictures import risks_over_rows

NAIVE, LOGISTIC = "naive Bayes (generative)", "logistic regression (discriminative)"


@dataclass(frozen=True)
class GenerativeOrDiscriminative(Fact):
    """Risk of naive Bayes and of logistic regression for growing n, where features of a class are not independent."""

    says = (
        "Naive Bayes needs few rows and ends where its assumption ends; logistic regression needs more rows and comes to "
        "the Bayes risk."
    )
    sizes: Array
    risks: dict[str, Array]  # (n_sizes, repetitions)
    bayes: float
    naive_limit: float  # of naive Bayes, as rows grow

    @property
    def crossing(self) -> int | None:
        """The least n of these from which on logistic regression is better."""
        better = self.risks[LOGISTIC].mean(axis=1) < self.risks[NAIVE].mean(axis=1)
        worse = np.flatnonzero(~better)
        first = worse[-1] + 1 if len(worse) else 0
        return int(self.sizes[first]) if first < len(self.sizes) else None

    def table(self) -> Table:
        means = [self.risks[name].mean(axis=1) for name in (NAIVE, LOGISTIC)]
        limits = (self.naive_limit, self.bayes)
        rows = ((n, a, b, *limits) for n, a, b in zip(self.sizes, *means, strict=True))
        return Table.of("n|naive Bayes|logistic regression|limit of naive Bayes|Bayes risk", rows)

    def plot(self, ax: Any = None) -> Any:
        limits = {"Bayes risk": self.bayes, "limit of naive Bayes": self.naive_limit}
        ax = risks_over_rows(ax, self.sizes, self.risks, limits)
        ax.set_ylim(0, None)
        ax.set_title("Generative or discriminative (±1 deviation)", fontsize="medium")
        ax.legend(fontsize="small")
        return ax


def generative_or_discriminative(
    sizes: tuple[int, ...] = (20, 50, 100, 200, 500, 1000, 2000),
    *,
    pairs: int = 10,
    correlation: float = 0.4,
    repetitions: int = 15,
    random_state: int = 0,
) -> GenerativeOrDiscriminative:
    """Two normal classes with one covariance: the rule of least risk is linear, and all risks are known.

    Features come in pairs with this correlation within a class, which naive Bayes ignores: the first of a pair tells,
    the second only says how much of the first is noise. So naive Bayes (with shared variances, hence linear) ends above
    the Bayes risk; yet it estimates one mean and one variance at a time, and needs few rows for that (Ng and Jordan,
    2002). Logistic regression has next to no penalty. With means -m and m and covariance S the risk of w.x + b is
    (Phi((b - w.m) / s) + Phi(-(b + w.m) / s)) / 2, s^2 = w.S w.

    Examples
    --------
    >>> from nearline.facts import generative_or_discriminative
    >>> fact = generative_or_discriminative((20, 1000), repetitions=5)
    >>> naive, logistic = (risks.mean(axis=1) for risks in fact.risks.values())
    >>> bool(naive[0] < logistic[0]), bool(logistic[1] < naive[1])
    (True, True)
    """
    from nearline.estimators import GaussianNB, LogisticRegression

    check_whole(sizes, "sizes", 4)
    check_whole(pairs, "pairs", 1)
    check_whole(repetitions, "repetitions", 2)  # of one there is no deviation
    if not isinstance(correlation, (int, float, np.number)) or not -1.0 < correlation < 1.0:
        raise ValueError(f"correlation must be a number between -1 and 1, got {correlation!r}.")
    rng = np.random.default_rng(random_state)
    S = np.kron(np.eye(pairs), [[1.0, correlation], [correlation, 1.0]])
    root, mean = np.linalg.cholesky(S), np.tile([0.35, 0.0], pairs)
    models = {NAIVE: GaussianNB(shared_variance=True), LOGISTIC: LogisticRegression(alpha=1e-4, tol=1e-8)}
    risks = {name: np.empty((len(sizes), repetitions)) for name in models}
    for i, n in enumerate(sizes):
        for r in range(repetitions):
            y = rng.permutation(np.arange(n) % 2)
            X = rng.standard_normal((n, 2 * pairs)) @ root.T + np.outer(2.0 * y - 1.0, mean)
            for name, model in models.items():
                model.fit(X, y)
                risks[name][i, r] = _risk(model.coef_[0], float(model.intercept_[0]), mean, S)
    bayes, naive = _risk(np.linalg.solve(S, mean), 0.0, mean, S), _risk(mean, 0.0, mean, S)
    return GenerativeOrDiscriminative(np.array(sizes), risks, bayes, naive)


def _risk(w: Array, b: float, mean: Array, S: Array) -> float:
    """Expected error of 'the class of mean m where w.x + b > 0'."""
    size = float(np.sqrt(w @ S @ w))
    if size == 0:
        return 0.5
    return float(0.5 * (ndtr((b - w @ mean) / size) + ndtr(-(b + w @ mean) / size)))
