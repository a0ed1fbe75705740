"""The same scores under several losses: hinge, softmax and sparsemax."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._arrays.targets import checked_targets
from nearline.facts._fact import Fact, Table
from nearline.facts._pictures import panels
from nearline.losses import LOSSES, softmax, sparsemax
from nearline.plots.style import COLORS, DASHES, MARKERS

JOINT = {
    "weston-watkins": "hinge, summed over classes",
    "crammer-singer": "hinge of the best rival",
    "softmax": "softmax",
    "sparsemax": "sparsemax",
}
HATCHES = ("", "///", "...", "xxx")


@dataclass(frozen=True)
class LossTable(Fact):
    """Losses of given scores, row by row."""

    says = (
        "The hinge is content once the own score is 1 above all others; softmax never is; sparsemax is content from "
        "there on, too, but pays smoothly before."
    )
    scores: Array  # (n, C)
    targets: Array
    losses: dict[str, Array]  # by name of the loss, (n,)

    @property
    def margins(self) -> Array:
        """f_y less the best rival's score."""
        rows, rivals = np.arange(len(self.scores)), self.scores.copy()
        rivals[rows, self.targets] = -np.inf
        return np.asarray(self.scores[rows, self.targets] - rivals.max(axis=1))

    @property
    def probabilities(self) -> dict[str, Array]:
        """P_y by softmax and by sparsemax."""
        rows = np.arange(len(self.scores))
        return {
            "softmax": softmax(self.scores)[rows, self.targets],
            "sparsemax": sparsemax(self.scores)[rows, self.targets],
        }

    def table(self) -> Table:
        shares = list(self.probabilities.values())
        names = "scores f|class y|margin|sum of hinges|hinge|softmax|sparsemax|P_y, softmax|P_y, sparsemax"
        return Table.of(
            names, zip(self.scores, self.targets, self.margins, *self.losses.values(), *shares, strict=True)
        )

    def plot(self, ax: Any = None) -> Any:
        drawn = panels(ax, 2, (9.8, 4.0))
        shown = min(len(self.scores), 8)
        wide = 0.8 / len(self.losses)
        for i, (name, values) in enumerate(self.losses.items()):
            places = np.arange(shown) + (i - 1.5) * wide
            look = {"color": COLORS[i], "hatch": HATCHES[i], "edgecolor": "white"}
            drawn[0].bar(places, values[:shown], wide, label=JOINT[name], **look)
        labels = [
            "(" + ", ".join(f"{f:.3g}" for f in row[:4]) + (", ..." if len(row) > 4 else "") + f")\ny = {y}"
            for row, y in zip(self.scores[:shown], self.targets[:shown], strict=True)
        ]
        drawn[0].set_xticks(np.arange(shown), labels, fontsize="x-small")
        more = f" (the first {shown} of {len(self.scores)} rows)" if shown < len(self.scores) else ""
        drawn[0].set(ylabel="loss", title=f"Losses of these scores{more}")
        drawn[0].legend(fontsize="small")
        _over_margin(drawn[1], self.scores.shape[1])
        return drawn


def _over_margin(ax: Any, n_classes: int) -> None:
    """Each loss as the own score moves and all others are 0."""
    own = np.linspace(-2.0, 4.0, 241)
    scores = np.zeros((len(own), n_classes))
    scores[:, 0] = own
    losses = _losses(scores, np.zeros(len(own), dtype=np.int32))
    for i, (name, values) in enumerate(losses.items()):
        look = {"color": COLORS[i], "linestyle": DASHES[i], "marker": MARKERS[i], "markevery": 40}
        ax.plot(own, values, label=JOINT[name], **look)
    ax.axvline(1.0, color="0.7", linewidth=0.8)
    title = f"The own score moves, {n_classes - 1} {'others are' if n_classes > 2 else 'other is'} 0"
    ax.set(xlabel="own score less the others'", ylabel="loss", ylim=(-0.1, None), title=title)
    ax.legend(fontsize="small")


def _losses(scores: Array, targets: Array) -> dict[str, Array]:
    return {name: np.asarray(LOSSES[name].value(scores, targets)) for name in JOINT}


def loss_table(scores: Any, y: Any) -> LossTable:
    """Hinge, softmax and sparsemax losses of scores (n, C), or of one row of them, and of class numbers y.

        sum of hinges:  sum over c of max(0, 1 + f_c - f_y)          (Weston and Watkins)
        hinge:          max(0, 1 + best rival's f_c - f_y)           (Crammer and Singer)
        softmax:        -log P_y,  P = exp(f) / sum of exp(f)        (natural logarithm)
        sparsemax:      (1 + |f|^2 - |f - p|^2) / 2 - f_y,  p the nearest point to f of the simplex

    Examples
    --------
    >>> from nearline.facts import loss_table
    >>> print(loss_table([[2.0, 0.0, 0.0], [10.0, 0.0, 0.0]], [0, 0]).table())
      scores f  class y  margin  sum of hinges  hinge   softmax  sparsemax  P_y, softmax  P_y, sparsemax
     (2, 0, 0)        0       2              0      0    0.2395          0         0.787               1
    (10, 0, 0)        0      10              0      0  9.08e-05          0        0.9999               1
    """
    table = np.atleast_2d(np.asarray(scores, dtype=np.float64))
    if table.ndim != 2 or table.shape[1] < 2 or not len(table) or not np.isfinite(table).all():
        raise ValueError(
            f"scores must be finite numbers, rows by classes (n, C) with C >= 2, got shape {np.shape(scores)}."
        )
    targets = checked_targets(np.atleast_1d(np.asarray(y)), table.shape[1])
    if targets.shape != (len(table),):
        raise ValueError(
            f"There are {len(table)} rows of scores and labels of shape {targets.shape}: give one each."
        )
    return LossTable(table, targets, _losses(table, targets))


def svm_or_softmax() -> LossTable:
    """The same scores under the hinge, softmax and sparsemax: barely right, right by far, nearly tied and wrong.

    Examples
    --------
    >>> from nearline.facts import svm_or_softmax
    >>> fact = svm_or_softmax()
    >>> fact.losses["weston-watkins"].tolist()[:2]  # both are right by more than 1: the hinge sees no difference
    [0.0, 0.0]
    >>> [round(value, 3) for value in fact.losses["softmax"].tolist()[:2]]
    [0.408, 0.0]
    """
    return loss_table([[2.0, 1.0, 0.0], [10.0, 1.0, 0.0], [2.0, 1.8, 0.0], [0.0, 2.0, 1.0]], [0, 0, 0, 0])
