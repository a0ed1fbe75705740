"""A small picture for each step: the rows, the one that is visited, and the weights before and after."""

from typing import TYPE_CHECKING, Any

import numpy as np

from nearline._arrays.design import Array
from nearline.facts._fact import said
from nearline.facts._pictures import figure_of
from nearline.plots.style import COLORS, DASHES, MARKERS, axes

if TYPE_CHECKING:
    from nearline.facts.steps import Step, Steps

MOST_PANELS = 8
MOST_ARROWS = 6  # classes whose weights are drawn in a panel


def draw_steps(fact: "Steps", ax: Any) -> Any:
    """A panel for each of the first steps in one or two features; else the weights over the steps, in one."""
    if fact.X.shape[1] > 2 or ax is not None:
        return _over_steps(fact, axes(ax))
    shown = fact.steps[:MOST_PANELS]
    across = min(len(shown), 4)
    down = -(-len(shown) // across)
    drawn = figure_of(across, (2.9 * across, 2.9 * down + 0.5), down)
    for one in drawn[len(shown) :]:
        one.set_axis_off()
    limit = _limit(fact, shown)
    for number, (one, step) in enumerate(zip(drawn, shown, strict=False), 1):
        _draw_step(one, fact, step, limit)
        one.set_title(_title(fact, step, number), fontsize="small")
    more = f" (the first {len(shown)} of {len(fact.steps)} steps)" if len(shown) < len(fact.steps) else ""
    drawn[0].figure.suptitle(fact.rule + more, fontsize="medium")
    return drawn[: len(shown)]


def _title(fact: "Steps", step: "Step", number: int) -> str:
    outcome = f"loss {said(step.loss, 3)}"
    if fact.mistakes:
        outcome = "a mistake" if step.moved else "no mistake"
    own, several = int(fact.targets[step.row]), len(step.scores)
    if several == 1:
        numbers = f"z = {said(fact.margin(step), 3)}, w = {said(step.after.W[0], 3)}"
    elif several <= 3:
        numbers = f"class {own}, f = {said(step.scores, 2)}"
    else:
        numbers = f"class {own}, f = {said(step.scores[own], 2)}, best rival {said(np.delete(step.scores, own).max(), 2)}"
    return f"step {number}, row {step.row + 1}: {outcome}\n{numbers}"


def _limit(fact: "Steps", shown: "tuple[Step, ...]") -> float:
    largest = max(float(np.abs(step.after.W).max()) for step in shown)
    return 1.15 * max(float(np.abs(fact.X).max()), largest, 1e-12)


def _draw_step(ax: Any, fact: "Steps", step: "Step", limit: float) -> None:
    flat = np.column_stack([fact.X, np.zeros(len(fact.X))])[:, :2]  # one feature lies on a line
    two = step.before.n_outputs == 1
    for c in np.unique(fact.targets % len(COLORS)):
        rows = fact.targets % len(COLORS) == c
        look = {"color": COLORS[c], "marker": MARKERS[c], "s": 34, "zorder": 4, "edgecolor": "white"}
        ax.scatter(*flat[rows].T, linewidth=0.5, **look)
    ax.scatter(*flat[[step.row]].T, s=150, facecolor="none", edgecolor="black", linewidth=1.2, zorder=5)
    for params, dash, shade in ((step.before, "--", "0.6"), (step.after, "-", "black")):
        if two:
            _boundary(ax, params.W[0], float(params.b[0]), limit, dash, shade)
        for c in _seen(step, int(fact.targets[step.row])):
            w = params.W[c]
            tip = np.append(w, 0.0)[:2]
            if np.any(tip):
                _arrow(ax, tip, shade if two else COLORS[c % 8], dash)
    ax.axhline(0.0, color="0.85", linewidth=0.6, zorder=0)
    ax.axvline(0.0, color="0.85", linewidth=0.6, zorder=0)
    ax.set(xlim=(-limit, limit), ylim=(-limit, limit), aspect="equal")
    ax.tick_params(labelsize="x-small")


def _seen(step: "Step", own: int) -> Array:
    """Classes whose weights are drawn: the own one, and of others those that move most."""
    moved = np.linalg.norm(step.after.W - step.before.W, axis=1)
    if len(moved) > 1:
        moved[own] = np.inf
    return np.argsort(-moved, kind="stable")[:MOST_ARROWS]


def _boundary(ax: Any, w: Array, b: float, limit: float, dash: str, shade: str) -> None:
    """Where w.x + b = 0."""
    if len(w) == 1 and w[0]:
        ax.axvline(-b / w[0], color=shade, linestyle=dash, linewidth=1.2)
    if len(w) == 2 and np.any(w):
        near = -b * w / float(w @ w)
        along = 4.0 * limit * np.array([-w[1], w[0]]) / float(np.linalg.norm(w))
        ends = np.vstack([near - along, near + along])
        ax.plot(*ends.T, color=shade, linestyle=dash, linewidth=1.2, scalex=False, scaley=False)


def _arrow(ax: Any, tip: Array, color: str, dash: str) -> None:
    look = {
        "arrowstyle": "-|>",
        "color": color,
        "linestyle": dash,
        "linewidth": 1.3,
        "shrinkA": 0,
        "shrinkB": 0,
    }
    ax.annotate("", xy=tuple(tip), xytext=(0.0, 0.0), arrowprops=look, zorder=3)


def _over_steps(fact: "Steps", ax: Any) -> Any:
    """Each weight after each step."""
    W = np.array([fact.steps[0].before.W.ravel()] + [step.after.W.ravel() for step in fact.steps])
    names = [f"w{j + 1}" for j in range(fact.X.shape[1])]
    if fact.steps[0].before.n_outputs > 1:
        names = [f"class {c}, {name}" for c in range(fact.steps[0].before.n_outputs) for name in names]
    for j, name in enumerate(names[: len(COLORS)]):
        ax.step(
            np.arange(len(W)), W[:, j], where="post", color=COLORS[j], linestyle=DASHES[j % 4], label=name
        )
    left = len(names) - len(COLORS)
    note = f" (the first {len(COLORS)} of {len(names)} weights)" if left > 0 else ""
    ax.set(xlabel="step", ylabel="weight")
    ax.set_title(fact.rule + note, fontsize="medium")
    ax.legend(fontsize="small")
    return ax
