"""From the densities of classes to their probabilities: Bayes' theorem gives the sigmoid."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, ndtr
from scipy.stats import norm

from nearline._arrays.design import Array
from nearline.facts._checks import check_whole
from nearline.facts._fact import Fact, Table
from nearline.facts._pictures import panels
from nearline.plots.style import COLORS, DASHES


@dataclass(frozen=True)
class Posteriors(Fact):
    """P(C1 | x) = sigma(w x + b): the truth, and what two ways to learn make of n rows."""

    says = (
        "Two normal classes of one deviation have P(C1 | x) = sigma(w x + b): a generative and a discriminative model "
        "come to the same w and b in two ways."
    )
    means: tuple[float, float]
    deviation: float
    priors: tuple[float, float]
    x: Array
    y: Array
    models: dict[str, tuple[float, float]]  # w and b

    def posterior(self, x: Array) -> Array:
        """P(C1 | x) by Bayes' theorem."""
        joint = [p * norm.pdf(x, m, self.deviation) for p, m in zip(self.priors, self.means, strict=True)]
        return np.asarray(joint[1] / (joint[0] + joint[1]))

    def risk(self, w: float, b: float) -> float:
        """Expected error of the rule 'C1 where w x + b > 0'."""
        if w == 0:
            return self.priors[0] if b > 0 else self.priors[1]
        low, high = (float(ndtr((-b / w - m) / self.deviation)) for m in self.means)  # P(x below | class)
        wrong = self.priors[0] * (1.0 - low) + self.priors[1] * high
        return wrong if w > 0 else 1.0 - wrong

    def table(self) -> Table:
        rows = (
            (name, w, b, -b / w if w else np.nan, self.risk(w, b)) for name, (w, b) in self.models.items()
        )
        return Table.of(["P(C1 | x) = sigma(w x + b)", "w", "b", "threshold", "risk"], rows)

    def plot(self, ax: Any = None) -> Any:
        drawn = panels(ax, 2, (9.6, 3.9))
        low, high = min(self.means) - 4.0 * self.deviation, max(self.means) + 4.0 * self.deviation
        x = np.linspace(low, high, 400)
        for c, (m, p) in enumerate(zip(self.means, self.priors, strict=True)):
            density = norm.pdf(x, m, self.deviation)
            drawn[0].plot(x, density, color=COLORS[c], linestyle=(":", "-.")[c], label=f"p(x | C{c})")
            drawn[0].plot(x, p * density, color=COLORS[c], linestyle=DASHES[c], label=f"{p:.2g} p(x | C{c})")
            drawn[0].plot(
                self.x[self.y == c], np.full((self.y == c).sum(), -0.012 * (c + 1)), "|", color=COLORS[c]
            )
        drawn[0].set(xlabel="x", ylabel="density", title="Densities, and times the priors")
        drawn[1].plot(x, self.posterior(x), color="black", linewidth=3.0, alpha=0.35, label="Bayes' theorem")
        for i, (name, (w, b)) in enumerate(list(self.models.items())[1:]):
            drawn[1].plot(x, expit(w * x + b), color=COLORS[i], linestyle=DASHES[i + 1], label=name)
        w, b = self.models["the truth"]
        drawn[1].axhline(0.5, color="0.7", linewidth=0.8)
        for one in drawn:
            if w:
                one.axvline(-b / w, color="0.4", linewidth=0.8)
            one.legend(fontsize="small")
        drawn[1].set(xlabel="x", ylabel="P(C1 | x)", title="Posterior, and two models of it")
        return drawn


def posteriors(
    means: tuple[float, float] = (-1.0, 1.0),
    *,
    deviation: float = 1.0,
    priors: tuple[float, float] = (0.7, 0.3),
    n: int = 200,
    random_state: int = 0,
) -> Posteriors:
    """Normal classes of one deviation have a sigmoid as posterior, which can be learned in two ways.

    Classes N(m0, s^2) and N(m1, s^2) with priors p0 and p1 have P(C1 | x) = sigma(w x + b), where

        w = (m1 - m0) / s^2,     b = (m0^2 - m1^2) / (2 s^2) + log(p1 / p0).

    n rows are drawn; linear discriminant analysis estimates means, deviation and priors and puts them into the formula,
    logistic regression fits w and b themselves.

    Examples
    --------
    >>> from nearline.facts import posteriors
    >>> fact = posteriors((0.0, 2.0), priors=(0.5, 0.5))
    >>> fact.models["the truth"]
    (2.0, -2.0)
    """
    _check(means, deviation, priors)
    check_whole(n, "n", 2)
    rng = np.random.default_rng(random_state)
    share = np.asarray(priors, dtype=np.float64) / np.sum(priors)
    y = (rng.random(n) < share[1]).astype(np.int64)
    y[:2] = 0, 1
    x = rng.normal(np.asarray(means, dtype=np.float64)[y], deviation)
    (m0, m1), s = (float(m) for m in means), float(deviation)
    truth = (m1 - m0) / s**2, (m0**2 - m1**2) / (2 * s**2) + float(np.log(share[1] / share[0]))
    models = {"the truth": truth, **_learned(x, y)}
    return Posteriors((m0, m1), s, (float(share[0]), float(share[1])), x, y, models)


def _learned(x: Array, y: Array) -> dict[str, tuple[float, float]]:
    from nearline.estimators import LinearDiscriminantAnalysis, LogisticRegression

    models = {
        "generative (discriminant analysis)": LinearDiscriminantAnalysis(),
        "discriminative (logistic regression)": LogisticRegression(alpha=1e-6, tol=1e-8),
    }
    for model in models.values():
        model.fit(x[:, None], y)
    return {
        name: (float(model.coef_[0, 0]), float(np.ravel(model.intercept_)[0]))
        for name, model in models.items()
    }


def _check(means: Any, deviation: Any, priors: Any) -> None:
    for name, pair, positive in (("means", means, False), ("priors", priors, True)):
        values = np.asarray(pair, dtype=np.float64)
        if values.shape != (2,) or not np.isfinite(values).all() or (positive and not (values > 0).all()):
            raise ValueError(f"{name} must be two finite numbers{' > 0' if positive else ''}, got {pair!r}.")
    if not isinstance(deviation, (int, float, np.number)) or not 0 < deviation < np.inf:
        raise ValueError(f"deviation must be a finite number > 0, got {deviation!r}.")
