"""Logistic regression of separable rows: without a penalty its weights grow without end."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline.facts._checks import check_two_classes, check_whole
from nearline.facts._fact import Fact, Table
from nearline.facts._pictures import panels
from nearline.plots.style import COLORS, DASHES
from nearline.risk import Risk
from nearline.solvers import GradientDescent, Solution, Status, minimize


@dataclass(frozen=True)
class Descent:
    """Where gradient descent went at one alpha."""

    alpha: float
    sizes: Array  # |w| after each step, the start first
    losses: Array  # data loss, without the penalty
    margin: float  # smallest y f / |w| at the end: how clearly the last w separates the rows
    minimizer: bool | None  # whether there is one, proven; None: not known

    @property
    def proof(self) -> str:
        """Why there is a minimizer, or none."""
        if self.alpha > 0:
            return "yes: the penalty grows without end"
        if self.minimizer is False:
            lasting = "all margins > 0" if self.margin > 0 else "no margin < 0, one > 0"
            return f"no: a direction has {lasting}"
        return "yes: the rows cannot be separated" if self.minimizer else "not known"


@dataclass(frozen=True)
class Separable(Fact):
    """|w| and loss over the steps of gradient descent, with a penalty and without."""

    says = (
        "Where rows are separable the logistic loss has no minimizer: along a separating w every margin grows, so that "
        "|w| grows without end; any alpha > 0 ends it."
    )
    descents: tuple[Descent, ...]

    def table(self) -> Table:
        steps = len(self.descents[0].sizes) - 1
        marks = [t for t in (10, 100, 1000, 10_000) if t < steps] + [steps]
        names = [f"|w| after {t}" for t in marks] + ["loss at the end", "smallest margin", "minimizer?"]
        rows = (
            (one.alpha, *(one.sizes[t] for t in marks), one.losses[-1], one.margin, one.proof)
            for one in self.descents
        )
        return Table.of(["alpha", *names], rows)

    def plot(self, ax: Any = None) -> Any:
        drawn = panels(ax, 2, (9.6, 3.9))
        for i, one in enumerate(self.descents):
            look = {"color": COLORS[i % 8], "linestyle": DASHES[i % 4], "label": f"alpha = {one.alpha:g}"}
            t = np.arange(len(one.sizes))
            drawn[0].plot(t[1:], one.sizes[1:], **look)
            drawn[1].plot(t[1:], one.losses[1:], **look)
        drawn[0].set(xlabel="step", ylabel="|w|", xscale="log", title="Weights")
        drawn[1].set(xlabel="step", ylabel="mean logistic loss", xscale="log", yscale="log", title="Loss")
        for one in drawn:
            one.legend(fontsize="small")
        return drawn


def separable(
    X: Any = None,
    y: Any = None,
    *,
    alphas: tuple[float, ...] = (0.0, 0.001, 0.01, 0.1),
    steps: int = 3000,
    random_state: int = 0,
) -> Separable:
    """Gradient descent on the logistic risk, ``steps`` steps of the largest safe size, whatever the tolerance.

    Without rows two clouds are drawn that a line separates. ``minimize(..., until="max_iter")`` goes on; the end has the
    proof: a w with all margins > 0 (or none < 0 and one > 0), along which the loss falls for ever.

    Examples
    --------
    >>> from nearline.facts import separable
    >>> fact = separable(steps=300)
    >>> [one.minimizer for one in fact.descents], bool(fact.descents[0].sizes[-1] > fact.descents[-1].sizes[-1])
    ([False, True, True, True], True)
    """
    check_whole(steps, "steps", 1)
    if X is None:
        rng = np.random.default_rng(random_state)
        y = np.repeat([0, 1], 15)
        X = 0.5 * rng.standard_normal((30, 2)) + 3.0 * np.column_stack([y, y]) - 1.5
    X, targets = check_two_classes(X, y)
    if not len(np.atleast_1d(alphas)) or not all(0 <= alpha < np.inf for alpha in np.atleast_1d(alphas)):
        raise ValueError(f"alphas must be finite numbers >= 0, got {alphas!r}.")
    risk = Risk(X, targets, loss="logistic", alpha=0.0)
    widest = 0.25 * float(
        np.linalg.eigvalsh(np.cov(np.column_stack([X, np.ones(len(X))]).T, bias=True)).max()
    )
    safe = 1.0 / (widest + 0.25 * float((np.append(X.mean(axis=0), 1.0) ** 2).sum()))
    return Separable(tuple(_descent(risk.with_alpha(alpha), safe, steps) for alpha in np.atleast_1d(alphas)))


def _descent(risk: Risk, safe: float, steps: int) -> Descent:
    step_size = 1.0 / (1.0 / safe + risk.l2)
    found = minimize(
        risk,
        GradientDescent(step_size=step_size),
        tol=1e-12,
        max_iter=steps,
        until="max_iter",
        keep="iterates",
    )
    assert found.iterates is not None
    iterates = list(found.iterates)
    iterates += [iterates[-1]] * (steps + 1 - len(iterates))
    W = np.array([params.W[0] for params in iterates])
    losses = np.append(found.trace, np.full(steps + 1 - len(found.trace), found.trace[-1]))
    losses -= [risk.alpha * risk.regularizer.value(params.W) for params in iterates]
    scores = risk.scores(iterates[-1])[:, 0] * np.where(risk.targets == 1, 1.0, -1.0)
    size = float(np.linalg.norm(W[-1]))
    margin = float(scores.min()) / size if size else 0.0
    return Descent(float(risk.alpha), np.linalg.norm(W, axis=1), losses, margin, _exists(risk, found))


def _exists(risk: Risk, found: Solution) -> bool | None:
    if risk.alpha > 0:
        return True
    if found.status is Status.NO_MINIMIZER:
        return False
    better = minimize(risk, tol=1e-8)  # gradient descent may not have come near it
    return {Status.NO_MINIMIZER: False, Status.CONVERGED: True}.get(better.status)
