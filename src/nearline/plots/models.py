"""Pictures of losses, solvers, linear models and neighbors."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from nearline.arrays import Array
from nearline.losses import LOSSES
from nearline.plots._style import COLORS
from nearline.plots._style import axes as _axes
from nearline.plots._style import pyplot as _pyplot
from nearline.plots._style import style as _style
from nearline.solvers import Solution


def plot_losses(names: Iterable[str] | None = None, *, log2: bool = False, ax: Any = None) -> Any:
    """Every margin loss as a function of z = y f; ``log2`` scales the logistic loss to pass through (0, 1)."""
    ax = _axes(ax)
    z = np.linspace(-2.5, 2.5, 501)
    chosen = list(names) if names is not None else [name for name, loss in LOSSES.items() if not loss.joint]
    for i, name in enumerate(chosen):
        if name not in LOSSES or LOSSES[name].joint:
            known = ", ".join(repr(other) for other, loss in LOSSES.items() if not loss.joint)
            raise ValueError(f"{name!r} is no loss of the margin: choose among {known}.")
        value = LOSSES[name].value(z[:, None], np.ones(len(z), dtype=int))
        scaled = log2 and name == "logistic"
        ax.plot(
            z,
            value / np.log(2.0) if scaled else value,
            label=name + (" / log 2" if scaled else ""),
            **_style(i),
        )
    ax.set(xlabel="margin  z = y f(x)", ylabel="loss", ylim=(-0.1, 4.0), title="Losses of the margin")
    ax.legend(fontsize="small")
    return ax


def plot_objective(solutions: Mapping[str, Solution], *, ax: Any = None) -> Any:
    """Objective above the best value found, per iteration, for several solutions of the same risk."""
    ax = _axes(ax)
    best = min(float(np.min(solution.trace)) for solution in solutions.values())
    for i, (name, solution) in enumerate(solutions.items()):
        excess = np.maximum(solution.trace - best, 1e-16 * max(abs(best), 1.0))
        ax.plot(np.arange(len(excess)), excess, label=f"{name} ({solution.seconds:.2g} s)", **_style(i))
    ax.set(xlabel="iteration", ylabel="objective - best found", title="Objective per iteration")
    ax.set_xscale("symlog", linthresh=1)
    ax.set_yscale("log")
    ax.legend(fontsize="small")
    return ax


def plot_coefficients(
    alphas: Array, coefficients: Array, *, names: Any = None, top: int = 8, ax: Any = None
) -> Any:
    """Weights over alpha, (n_alphas, D); the ``top`` largest are named, those that stay 0 are not."""
    ax = _axes(ax)
    alphas, coefficients = np.asarray(alphas), np.asarray(coefficients)
    labels = np.arange(coefficients.shape[1]) if names is None else np.asarray(names)
    size = np.abs(coefficients).max(axis=0)
    largest = np.argsort(-size, kind="stable")[: np.count_nonzero(size)]
    for j in largest[top:]:
        ax.plot(alphas, coefficients[:, j], color="0.8", linewidth=0.8, zorder=1)
    for i, j in enumerate(largest[:top]):
        ax.plot(alphas, coefficients[:, j], label=str(labels[j]), zorder=2, **_style(i))
    ax.axhline(0.0, color="0.4", linewidth=0.8)
    ax.set(xlabel="alpha", ylabel="weight", title="Coefficient path")
    ax.set_xscale("log")
    ax.invert_xaxis()
    if len(largest):
        ax.legend(fontsize="small", title="largest weights", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def plot_path_scores(alphas: Array, scores: Array, *, ax: Any = None, label: str | None = None) -> Any:
    """Fold scores over alpha, (n_alphas, n_folds): a point for each fold, a line through means, bars of +-1 standard
    deviation over folds."""
    ax = _axes(ax)
    scores = np.asarray(scores)
    if scores.ndim != 2 or scores.shape[1] < 2 or len(scores) != len(alphas):
        raise ValueError(
            f"scores must be (n_alphas, n_folds) with at least 2 folds, got {scores.shape} for {len(alphas)} alphas."
        )
    mean, deviation = scores.mean(axis=1), scores.std(axis=1, ddof=1)
    style = _style(len(ax.containers))  # one for each call
    ax.plot(
        np.repeat(alphas, scores.shape[1]), scores.ravel(), ".", color=style["color"], alpha=0.4, markersize=4
    )
    ax.errorbar(alphas, mean, yerr=deviation, capsize=3, label=label, **style)
    ax.set(
        xlabel="alpha",
        ylabel="score",
        title="Cross-validation over alpha (bars: ±1 standard deviation over folds)",
    )
    ax.set_xscale("log")
    if label is not None:
        ax.legend(fontsize="small")
    return ax


def plot_templates(model: Any, shape: tuple[int, int], *, axes: Any = None) -> Any:
    """Each class's weights as an image (SPEC E14): blue speaks for the class, red against it."""
    W = model.coef_ if len(model.coef_) > 1 else np.vstack([-model.coef_, model.coef_])
    if axes is None:
        _, axes = _pyplot().subplots(1, len(W), figsize=(1.3 * len(W), 1.7), layout="constrained")
    for ax, w, label in zip(axes, W, model.classes_):
        limit = float(np.abs(w).max()) or 1.0
        ax.imshow(w.reshape(shape), cmap="RdBu", vmin=-limit, vmax=limit)
        ax.set_title(str(label), fontsize="medium")
        ax.set_axis_off()
    return axes


def plot_regions(
    predict: Any, X: Array, y: Array, *, ambiguous: Any = None, steps: int = 300, ax: Any = None
) -> Any:
    """Decision regions of a 2-D classifier; ``ambiguous(X)`` marks with hatching where its votes do not settle it."""
    ax = _axes(ax)
    X = np.asarray(X)
    if X.ndim != 2 or X.shape[1] != 2:
        raise ValueError(f"Regions are drawn in the plane: X must be (n, 2), got shape {X.shape}.")
    low, high = X.min(axis=0), X.max(axis=0)
    pad = np.where(high > low, 0.1 * (high - low), 1.0)
    grids = np.meshgrid(*[np.linspace(low[j] - pad[j], high[j] + pad[j], steps) for j in range(2)])
    points = np.column_stack([g.ravel() for g in grids])
    classes = np.unique(y)
    regions = np.searchsorted(classes, predict(points)).reshape(grids[0].shape)
    levels = np.arange(len(classes) + 1) - 0.5
    colors = [COLORS[i % len(COLORS)] for i in range(len(classes))]
    ax.contourf(*grids, regions, levels=levels, colors=colors, alpha=0.25)
    if ambiguous is not None:
        unsettled = np.asarray(ambiguous(points), dtype=float).reshape(grids[0].shape)
        ax.contourf(*grids, unsettled, levels=[0.5, 1.5], colors="none", hatches=["///"])
    for i, label in enumerate(classes):
        rows = np.asarray(y) == label
        ax.scatter(
            X[rows, 0], X[rows, 1], s=14, color=colors[i], edgecolor="white", linewidth=0.4, label=str(label)
        )
    ax.legend(fontsize="small")
    return ax


def plot_sweep(result: Any, *, ax: Any = None) -> Any:
    """Fold scores over k (SPEC H2): a point for each fold's outcome, a line through the means, bars of +-1 standard
    deviation; one line for each metric and weighting of a :func:`nearline.sweep`. Of more than 100 folds (leave-one-out)
    single outcomes and their deviation say nothing: there are no points, and bars are standard errors."""
    from nearline.neighbors.weights import as_weights
    from nearline.selection.sweep_result import metric_name

    ax = _axes(ax)
    n_folds = result.scores.shape[-1]
    many = n_folds > 100
    for i, a in np.ndindex(result.scores.shape[:2]):
        style = _style(len(ax.containers))
        if not many:
            points = np.repeat(result.ks, n_folds), result.scores[i, a].ravel()
            ax.plot(*points, ".", color=style["color"], alpha=0.4, markersize=4)
        label = f"{metric_name(result.metrics[i])}, {as_weights(result.weights[a])}"
        bars = (result.standard_error if many else result.deviation)[i, a]
        ax.errorbar(result.ks, result.mean[i, a], yerr=bars, capsize=3, label=label, **style)
    what = "standard error" if many else "standard deviation over folds"
    ax.set(xlabel="k", ylabel=result.scoring, title=f"Cross-validation over k (bars: ±1 {what})")
    ax.legend(fontsize="small")
    return ax
