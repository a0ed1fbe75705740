"""Pictures of contests: leaderboard, scores over k and alpha, learning curves."""

from typing import Any

import numpy as np

from nearline._records.visible import visible
from nearline.plots.style import COLORS, axes, pyplot, style
from nearline.selection.curves import Curve
from nearline.selection.leaderboard import Entry, Leaderboard


def plot_leaderboard(leaderboard: Leaderboard, *, ax: Any = None) -> Any:
    """The best of each family: its mean with a bar of one standard deviation, a point for each fold; filled where it
    cannot be told from the best.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import TryThemAll
    >>> from nearline.plots import plot_leaderboard
    >>> contest = TryThemAll("quick", include=["nearest centroid", "k-NN, L2"], progress="silent")
    >>> ax = plot_leaderboard(contest.fit(*load_iris(return_X_y=True)).leaderboard_)
    >>> len(ax.get_yticklabels())
    2
    """
    name = leaderboard.primary.name
    best = [entry for entry in leaderboard.best_of_families() if np.isfinite(entry.scores[name]).all()]
    equals = {id(entry) for entry in leaderboard.equals_of_best(best)}
    if ax is None:
        size = (7.5, 1.2 + 0.32 * len(best))
        ax = pyplot().subplots(figsize=size, layout="constrained")[1]
    for row, entry in enumerate(best):
        scores, same = entry.scores[name], id(entry) in equals
        ax.plot(scores, np.full(len(scores), row), ".", color=COLORS[0], alpha=0.35, markersize=5)
        ax.errorbar(
            scores.mean(),
            row,
            xerr=scores.std(ddof=1),
            fmt="o",
            capsize=3,
            color=COLORS[0],
            markerfacecolor=COLORS[0] if same else "white",
        )
    ax.set_yticks(
        range(len(best)),
        [visible(f"{entry.family} ({entry.representation})") for entry in best],
        fontsize="small",
    )
    _leave_out_the_baseline(ax, best, name)
    ax.invert_yaxis()
    ax.grid(axis="x", alpha=0.3)
    title = "Best of each family (filled: not distinguishable from the best)"
    ax.set_xlabel(f"{name} on the rows left out (bars: ±1 standard deviation)")
    ax.set_title(title, fontsize="medium")
    return ax


def _leave_out_the_baseline(ax: Any, best: list[Entry], name: str) -> None:
    """The majority's score far to the left would squeeze all others: an arrow says where it is."""
    others = np.concatenate([e.scores[name] for e in best if e.family != "majority"] or [np.empty(0)])
    others = others[np.isfinite(others)]
    for row, entry in enumerate(best):
        mean = float(entry.scores[name].mean())
        if entry.family != "majority" or not len(others):
            continue
        width = max(float(np.ptp(others)), 1e-3)
        if others.min() - mean > width:
            ax.set_xlim(others.min() - 0.25 * width, others.max() + 0.1 * width)
            ax.text(others.min() - 0.23 * width, row, f"← {mean:.3f}", va="center", fontsize="small")


def plot_candidates(leaderboard: Leaderboard, families: Any = None, *, ax: Any = None) -> Any:
    """Fold scores along the paths of families (k, alpha): points, a line through the means, bars of one standard
    deviation; a ring at the best, a square at the one-standard-error choice.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import TryThemAll
    >>> from nearline.plots import plot_candidates
    >>> contest = TryThemAll("quick", include="k-NN, L2", progress="silent").fit(*load_iris(return_X_y=True))
    >>> plot_candidates(contest.leaderboard_, "k-NN, L2").get_xlabel()
    'k'
    """
    ax = axes(ax)
    chosen = [families] if isinstance(families, str) else families
    best = [e for e in leaderboard.best_of_families() if e.path and (chosen is None or e.family in chosen)]
    if not best:
        raise ValueError(f"No family of {families!r} has a path: choose among {_with_path(leaderboard)}.")
    if len({entry.path for entry in best}) > 1:
        raise ValueError(
            f"Families with different parameters do not share an axis: choose among {_with_path(leaderboard)}."
        )
    for i, entry in enumerate(best):
        _plot_path(leaderboard, entry, i, ax)
    ax.set_xscale("log")
    if best[0].path == "n_neighbors":
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.set(
        xlabel="k" if best[0].path == "n_neighbors" else str(best[0].path), ylabel=leaderboard.primary.name
    )
    said = "Cross-validation\n(bars: ±1 standard deviation over folds; ring: best mean, square: one standard error)"
    ax.set_title(said, fontsize="small")
    ax.legend(fontsize="small")
    return ax


def _plot_path(leaderboard: Leaderboard, entry: Entry, i: int, ax: Any) -> None:
    name, path, color = leaderboard.primary.name, str(entry.path), style(i)["color"]
    mates = sorted(leaderboard.mates(entry), key=lambda one: one.parameters[path])
    x = np.array([one.parameters[path] for one in mates], dtype=float)
    scores = np.array([one.scores[name] for one in mates])
    ax.plot(np.repeat(x, scores.shape[1]), scores.ravel(), ".", color=color, alpha=0.3, markersize=4)
    label = f"{entry.family}, {entry.representation}"
    ax.errorbar(x, scores.mean(axis=1), yerr=scores.std(axis=1, ddof=1), capsize=3, label=label, **style(i))
    one_se = leaderboard.one_standard_error(entry)
    for one, marker in ((entry, "o"), (one_se, "s")):
        point = one.parameters[path], leaderboard.mean(one)
        ax.plot(*point, marker, markersize=11, fillstyle="none", markeredgewidth=1.6, color=color)


def _with_path(leaderboard: Leaderboard) -> str:
    return ", ".join(f"{e.family!r} ({e.path})" for e in leaderboard.best_of_families() if e.path)


def plot_curve(curve: Curve, *, ax: Any = None) -> Any:
    """Scores over the number of rows or over capacity: on rows left out and on the rows learned from.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import KNeighborsClassifier, learning_curve
    >>> from nearline.plots import plot_curve
    >>> plot_curve(learning_curve(KNeighborsClassifier(1), *load_iris(return_X_y=True))).get_xlabel()
    'training rows'
    """
    ax = axes(ax)
    numeric = np.issubdtype(np.asarray(curve.values).dtype, np.number)
    x = np.asarray(curve.values, dtype=float) if numeric else np.arange(len(curve.values), dtype=float)
    for i, (label, scores) in enumerate((("rows left out", curve.test), ("training rows", curve.train))):
        ax.plot(
            np.repeat(x, scores.shape[1]),
            scores.ravel(),
            ".",
            color=style(i)["color"],
            alpha=0.3,
            markersize=4,
        )
        there = ~np.isnan(scores).all(axis=1)
        means, deviations = np.nanmean(scores[there], axis=1), np.nanstd(scores[there], axis=1, ddof=1)
        ax.errorbar(x[there], means, yerr=deviations, capsize=3, label=label, **style(i))
    if not numeric:
        ax.set_xticks(x, [str(value) for value in curve.values])
    elif x.min() > 0 and x.max() > 5 * x.min():
        ax.set_xscale("log")
        ax.set_xticks(x, [f"{value:g}" for value in x], fontsize="small")
        ax.minorticks_off()
    title = f"{curve.scoring} over {curve.name} (bars: ±1 standard deviation)"
    ax.set(xlabel=curve.name, ylabel=curve.scoring, title=title)
    ax.legend(fontsize="small")
    return ax


def plot_sweep(result: Any, *, ax: Any = None) -> Any:
    """Fold scores over k: a point for each fold's outcome, a line through the means, bars of +-1 standard
    deviation; one line for each metric and weighting of a :func:`nearline.sweep`. Of more than 100 folds (leave-one-out)
    single outcomes and their deviation say nothing: there are no points, and bars are standard errors.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import sweep
    >>> from nearline.plots import plot_sweep
    >>> plot_sweep(sweep(*load_iris(return_X_y=True), ks=[1, 5, 15])).get_ylabel()
    'accuracy'
    """
    from nearline.neighbors.weights import as_weights
    from nearline.selection.sweep_result import metric_name

    ax = axes(ax)
    n_folds = result.scores.shape[-1]
    many = n_folds > 100
    for i, a in np.ndindex(result.scores.shape[:2]):
        look = style(len(ax.containers))
        if not many:
            points = np.repeat(result.ks, n_folds), result.scores[i, a].ravel()
            ax.plot(*points, ".", color=look["color"], alpha=0.4, markersize=4)
        label = f"{metric_name(result.metrics[i])}, {as_weights(result.weights[a])}"
        bars = (result.standard_error if many else result.deviation)[i, a]
        ax.errorbar(result.ks, result.mean[i, a], yerr=bars, capsize=3, label=label, **look)
    what = "standard error" if many else "standard deviation over folds"
    _mark(ax, result)
    if result.ks.max() >= 20 * result.ks.min():  # small k would stick together
        ax.set_xscale("log")
        ax.set_xticks(result.ks, [str(k) for k in result.ks], fontsize="small")
        ax.minorticks_off()
    ax.set(xlabel="k", ylabel=result.scoring)
    ax.set_title(f"Cross-validation over k (bars: ±1 {what})", fontsize="medium")
    ax.legend(fontsize="small")
    return ax


def _mark(ax: Any, result: Any) -> None:
    """A ring at the best mean, a square at the one-standard-error choice."""
    for chosen, marker, said in (
        (result.best, "o", "best mean"),
        (result.one_standard_error, "s", "one standard error"),
    ):
        i, a = result.metrics.index(chosen["metric"]), result.weights.index(chosen["weights"])
        b = int(np.searchsorted(result.ks, chosen["n_neighbors"]))
        look = {"markersize": 12, "fillstyle": "none", "markeredgewidth": 1.6, "color": "black"}
        label = f"{said}: k = {chosen['n_neighbors']}"
        ax.plot(result.ks[b], result.mean[i, a, b], marker, linestyle="none", label=label, **look)
