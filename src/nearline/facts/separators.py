"""Many lines separate two classes: the perceptron finds any of them, the widest margin is one."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline.facts._checks import check_two_classes, check_whole
from nearline.facts._fact import Fact, Table
from nearline.plots.separators import plot_separators
from nearline.plots.style import COLORS, axes
from nearline.risk.params import Params
from nearline.solvers.perceptron import perceptron_rule


@dataclass(frozen=True)
class ManySeparators(Fact):
    """Separators that the perceptron finds from several starts, and the one of maximum margin."""

    says = "Many hyperplanes separate the rows; one has the widest margin, and its support vectors alone decide it."
    X: Array
    y: Array  # 0 or 1
    W: Array  # (n_starts, D), of norm 1
    b: Array  # (n_starts,)
    mistakes: Array  # made on the way
    bounds: Array  # on these mistakes
    margins: Array  # distance from the nearest row
    w: Array  # of the maximum margin, of norm 1
    w_bias: float
    margin: float
    support: Array  # rows
    random_state: int  # which the starts are drawn by

    def angles(self) -> Array:
        """Degrees between each separator's normal and that of the maximum margin."""
        return np.degrees(np.arccos(np.clip(self.W @ self.w, -1.0, 1.0)))

    def table(self) -> Table:
        rows: list[tuple[Any, ...]] = [
            (f"perceptron, start {i + 1}", margin, angle, made, bound)
            for i, (margin, angle, made, bound) in enumerate(
                zip(self.margins, self.angles(), self.mistakes, self.bounds, strict=True)
            )
        ]
        rows.append(("maximum margin", self.margin, 0.0, None, None))
        return Table.of("separator|margin|degrees off|mistakes|at most", rows)

    def plot(self, ax: Any = None) -> Any:
        if self.X.shape[1] != 2:
            return self._over_margins(axes(ax))
        starts = len(self.W)
        return plot_separators(self.X, self.y, starts=starts, random_state=self.random_state, ax=ax)

    def _over_margins(self, ax: Any) -> Any:
        """Rows of other than two features: the margins, in order."""
        ax.bar(
            np.arange(1, len(self.margins) + 1), np.sort(self.margins), color=COLORS[0], label="perceptron"
        )
        ax.axhline(self.margin, color="black", linewidth=2.0, label=f"maximum margin = {self.margin:.3g}")
        ax.set(xlabel="separators, in order of their margins", ylabel="margin", title="Margins of separators")
        ax.legend(fontsize="small")
        return ax


def many_separators(
    X: Any = None, y: Any = None, *, n_starts: int = 20, random_state: int = 0
) -> ManySeparators:
    """The perceptron rule from ``n_starts`` random starts, and the linear machine of maximum margin.

    Without rows they are two clouds that a line separates. Rows that no hyperplane separates are refused. The picture is
    :func:`nearline.plots.plot_separators`, with the same starts.

    Examples
    --------
    >>> from nearline.facts import many_separators
    >>> fact = many_separators(n_starts=5)
    >>> bool((fact.margins > 0).all()), bool((fact.margins <= fact.margin).all())
    (True, True)
    """
    from nearline.estimators import LinearSVM
    from nearline.separability import is_separable

    check_whole(n_starts, "n_starts", 1)
    if X is None:
        y = np.repeat([0, 1], 20)
        X = np.random.default_rng(0).normal(size=(40, 2)) * [1.0, 0.7] + np.outer(y, [4.5, 2.5])
    X, targets = check_two_classes(X, y)
    if not is_separable(X, targets):
        raise ValueError("No hyperplane separates these rows, so that there is none to find: give others.")
    machine = LinearSVM(hard_margin=True, tol=1e-8).fit(X, targets)
    size = float(np.linalg.norm(machine.coef_[0]))
    # starts as large as the rows: from 0 all would end alike
    spread, rng = float(np.abs(X).max()) or 1.0, np.random.default_rng(random_state)
    found = [
        perceptron_rule(
            X, targets, start=Params.of(rng.normal(size=(1, X.shape[1])) * spread, rng.normal(size=1) * spread),
            max_iter=100_000, random_state=i,
        )
        for i in range(n_starts)
    ]  # fmt: skip
    norms = np.array([np.linalg.norm(one.params.W) for one in found])
    W = np.array([one.params.W[0] for one in found]) / norms[:, None]
    b = np.array([one.params.b[0] for one in found]) / norms
    margins = ((X @ W.T + b) * np.where(targets == 1, 1.0, -1.0)[:, None]).min(axis=0)
    return ManySeparators(
        X, targets, W, b,
        np.array([one.mistakes for one in found]),
        np.array([np.nan if one.bound is None else one.bound for one in found]),
        margins,
        machine.coef_[0] / size, float(np.ravel(machine.intercept_)[0]) / size, 1.0 / size, machine.support_,
        random_state,
    )  # fmt: skip
