"""The Bayes risk, and what 1-NN and a linear model come to."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.special import expit, ndtr
from scipy.stats import norm

from nearline._arrays.design import Array
from nearline.facts._checks import check_whole
from nearline.facts._fact import Fact, Table
from nearline.facts._pictures import risks_over_rows
from nearline.neighbors.index import Index

LINEAR, LINEAR_EMPIRICAL = "linear model, expected", "linear model, empirical"
NEIGHBOR, NEIGHBOR_EMPIRICAL = "1-NN, expected", "1-NN, empirical"
FIXED = "Bayes rule, empirical"


@dataclass(frozen=True)
class BayesRisk(Fact):
    """Expected and empirical risks for growing n, of a distribution that is known."""

    says = (
        "Expected and empirical risk of a linear model come together at the Bayes risk, if the best rule is linear; the "
        "empirical risk of 1-NN stays at 0 and its expected risk above the Bayes risk."
    )
    sizes: Array
    risks: dict[str, Array]  # (n_sizes, repetitions)
    bayes: float
    neighbor_limit: float  # E[2 eta (1 - eta)]

    def table(self) -> Table:
        means = [values.mean(axis=1) for values in self.risks.values()]
        return Table.of(["n", *self.risks], zip(self.sizes, *means, strict=True))

    def plot(self, ax: Any = None) -> Any:
        limits = {"Bayes risk R*": self.bayes, "limit of 1-NN": self.neighbor_limit}
        ax = risks_over_rows(ax, self.sizes, self.risks, limits)
        ax.set_title("Empirical risk, expected risk, Bayes risk (±1 deviation)", fontsize="medium")
        ax.legend(fontsize="x-small", loc="center left", bbox_to_anchor=(1.0, 0.5))
        return ax


def bayes_risk(
    sizes: tuple[int, ...] = (10, 30, 100, 300, 1000, 3000),
    *,
    separation: float = 2.0,
    repetitions: int = 10,
    n_test: int = 2000,
    random_state: int = 0,
) -> BayesRisk:
    """Normal classes in the plane, s apart and equally likely: the best rule is a line, and R* = Phi(-s/2).

    The expected risk of a line w.x + b = 0 is known, too: (Phi(-m1) + Phi(m0)) / 2 with m the signed distances of the
    means. That of 1-NN is the mean of P(the other class | x) over new rows; it goes to E[2 eta (1 - eta)], where
    eta(x) = P(1 | x). The empirical risk is the error on the n rows that a model was fitted to.

    Examples
    --------
    >>> from nearline.facts import bayes_risk
    >>> fact = bayes_risk((10, 1000), repetitions=4)
    >>> round(fact.bayes, 4), round(fact.neighbor_limit, 4)
    (0.1587, 0.2248)
    """
    from nearline.estimators import LogisticRegression

    check_whole(sizes, "sizes", 4)
    check_whole(n_test, "n_test", 1)
    check_whole(repetitions, "repetitions", 2)  # of one there is no deviation
    if not isinstance(separation, (int, float, np.number)) or not 0.0 <= separation < np.inf:
        raise ValueError(f"separation must be a finite number >= 0, got {separation!r}.")
    rng, half = np.random.default_rng(random_state), separation / 2.0
    risks = {
        name: np.empty((len(sizes), repetitions))
        for name in (LINEAR, LINEAR_EMPIRICAL, NEIGHBOR, NEIGHBOR_EMPIRICAL, FIXED)
    }
    for i, n in enumerate(sizes):
        for r in range(repetitions):
            X, y = _drawn(rng, n, half)
            Q, _ = _drawn(rng, n_test, half)
            eta = expit(separation * Q[:, 0])  # P(1 | x)
            model = LogisticRegression(alpha="1/n", tol=1e-8).fit(X, y)
            w, b = model.coef_[0], float(model.intercept_[0])
            index = Index(X)
            guesses = y[index.search(Q, 1).indices[:, 0]]
            own = y[index.search(X, 1).indices[:, 0]]
            found = {
                LINEAR: _line_risk(w, b, half),
                LINEAR_EMPIRICAL: (model.predict(X) != y).mean(),
                NEIGHBOR: np.where(guesses == 1, 1.0 - eta, eta).mean(),
                NEIGHBOR_EMPIRICAL: (own != y).mean(),
                FIXED: ((X[:, 0] > 0) != (y == 1)).mean(),
            }
            for name, value in found.items():
                risks[name][i, r] = value
    return BayesRisk(np.array(sizes), risks, float(ndtr(-half)), _neighbor_limit(half))


def _drawn(rng: np.random.Generator, n: int, half: float) -> tuple[Array, Array]:
    """n rows of the two classes; both occur."""
    y = (rng.random(n) < 0.5).astype(np.int64)
    y[: min(n, 2)] = np.arange(min(n, 2))
    return rng.standard_normal((n, 2)) + np.outer(half * (2 * y - 1), [1.0, 0.0]), y


def _line_risk(w: Array, b: float, half: float) -> float:
    """Expected error of 'class 1 where w.x + b > 0'."""
    size = float(np.linalg.norm(w))
    if size == 0:
        return 0.5
    m0, m1 = (-half * w[0] + b) / size, (half * w[0] + b) / size
    return float(0.5 * (ndtr(-m1) + ndtr(m0)))


def _neighbor_limit(half: float) -> float:
    """E[2 eta (1 - eta)], over the one coordinate that tells."""

    def share(x: float) -> float:
        eta = float(expit(2.0 * half * x))
        density = 0.5 * (norm.pdf(x - half) + norm.pdf(x + half))
        return float(2.0 * eta * (1.0 - eta) * density)

    return float(quad(share, -half - 12.0, half + 12.0, limit=200, points=[0.0])[0])
