"""Generative and discriminative side by side: densities of the classes, priors, posteriors, the logistic fit."""

from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.visible import visible
from nearline.estimators import GaussianNB, LogisticRegression
from nearline.plots.regions import Plane, grid, paint
from nearline.plots.style import look, panels, scatter, style

MOST = 8  # classes whose curves can be told apart


def plot_posteriors(
    X: Any, y: Any, *, names: Any = None, alpha: float = 1e-3, steps: int = 150, axes: Any = None
) -> Any:
    """p(x | C) of normal classes, and p(C | x) by Bayes' rule beside that of logistic regression, over one feature or two.

    Of one feature: left p(C) p(x | C) of each class, right the posteriors, with the logistic fit dashed. Of two: contours of
    p(x | C), then both posteriors as shades.

    Parameters
    ----------
    X, y : rows (n, 1) or (n, 2) and labels, at least two classes.
    alpha : strength of logistic regression's penalty (its columns are standardized).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline.plots import plot_posteriors
    >>> X, y = load_iris(return_X_y=True)
    >>> [ax.get_title() for ax in plot_posteriors(X[50:, 2:3], y[50:])]
    ['priors times densities', "Bayes' rule, and the logistic fit (dashed)"]
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y)
    classes = np.unique(y)
    if X.ndim != 2 or X.shape[1] not in (1, 2):
        raise ValueError(
            f"Densities are drawn over one feature or two, X has the shape {X.shape}: choose columns."
        )
    if not 2 <= len(classes) <= MOST:
        raise ValueError(
            f"Posteriors are drawn of 2 to {MOST} classes, there are {len(classes)}: choose rows of some."
        )
    deviation = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    center = X.mean(axis=0)
    bayes = GaussianNB().fit(X, y)
    logistic = LogisticRegression(alpha=alpha).fit((X - center) / deviation, y)

    def fitted(rows: Array) -> Array:
        return logistic.predict_proba((rows - center) / deviation)

    if X.shape[1] == 1:
        drawn = panels(2, axes, size=(4.8, 3.6))
        _over_one(drawn, X[:, 0], y, bayes, fitted, names)
        return drawn
    drawn = panels(3, axes, size=(4.0, 3.7))
    _in_the_plane(drawn, X, y, bayes, fitted, names, steps)
    return drawn


def _log_densities(bayes: GaussianNB, rows: Array) -> Array:
    """log p(x | C), (m, C)."""
    variance = np.broadcast_to(bayes.var_, bayes.theta_.shape)
    terms = (rows[:, None, :] - bayes.theta_) ** 2 / variance + np.log(2.0 * np.pi * variance)
    return np.asarray(-0.5 * terms.sum(axis=2))


def _over_one(drawn: Array, x: Array, y: Array, bayes: GaussianNB, fitted: Any, names: Any) -> None:
    left, right = drawn
    pad = 0.25 * float(np.ptp(x)) or 1.0
    across = np.linspace(x.min() - pad, x.max() + pad, 500)
    joint = np.exp(_log_densities(bayes, across[:, None])) * bayes.class_prior_
    posterior, fit = bayes.predict_proba(across[:, None]), fitted(across[:, None])
    n = len(bayes.classes_)
    for i, label in enumerate(bayes.classes_):
        said = f"{visible(label)}: prior {bayes.class_prior_[i]:.2f}"
        left.plot(across, joint[:, i], label=said, **style(i))
        left.fill_between(across, 0.0, joint[:, i], color=style(i)["color"], alpha=0.12)
        own = x[y == label]
        mark = look(i, n) | {"s": 14, "linewidth": 0.3, "edgecolor": "white", "zorder": 3}
        left.scatter(
            own,
            np.full(len(own), -0.03 * (i + 1)),
            transform=left.get_xaxis_transform(),
            clip_on=False,
            **mark,
        )
        if n > 2 or i == 1:
            color = style(i)["color"]
            right.plot(across, posterior[:, i], color=color, label=f"p({visible(label)} | x), Bayes")
            right.plot(
                across, fit[:, i], color=color, linestyle="--", label=f"p({visible(label)} | x), logistic"
            )
    named = "feature" if names is None else visible(names[0])
    left.set(ylabel="p(C) p(x | C)", xlabel=named, title="priors times densities", ylim=(0.0, None))
    left.xaxis.labelpad = 6 + 6 * n
    left.tick_params(axis="x", pad=4 + 6 * n)
    right.axhline(0.5, color="0.6", linewidth=0.8, linestyle=":")
    right.set(
        ylabel="p(C | x)",
        xlabel=named,
        title="Bayes' rule, and the logistic fit (dashed)",
        ylim=(-0.03, 1.03),
    )
    for ax in drawn:
        ax.legend(fontsize="x-small")


def _in_the_plane(
    drawn: Array, X: Array, y: Array, bayes: GaussianNB, fitted: Any, names: Any, steps: int
) -> None:
    plane = Plane.of(X, y, names)
    grids, rows = grid(X, steps)
    logs, classes = _log_densities(bayes, rows), bayes.classes_
    for i in range(len(classes)):
        density = np.exp(logs[:, i] - logs[:, i].max()).reshape(grids[0].shape)
        drawn[0].contour(
            *grids, density, levels=[0.05, 0.25, 0.6, 0.9], colors=style(i)["color"], linewidths=1.0
        )
    scatter(drawn[0], X, y, classes, 12.0)
    for ax, p in zip(drawn[1:], (bayes.predict_proba(rows), fitted(rows)), strict=True):
        codes = p.argmax(axis=1).reshape(grids[0].shape)
        paint(ax, grids, codes, classes, p.max(axis=1).reshape(grids[0].shape))
        scatter(ax, X, y, classes, 8.0)
        ax.get_legend().remove()
        _named(ax, X, y, classes)
    priors = ", ".join(f"{visible(label)} {prior:.2f}" for label, prior in zip(classes, bayes.class_prior_))
    titles = (f"densities p(x | C); priors {priors}", "posteriors by Bayes' rule", "logistic fit")
    for ax, title in zip(drawn, titles, strict=True):
        ax.set_title(title, fontsize="small" if len(title) > 40 else "medium")
        ax.set(xlabel=plane.names[0], ylabel=plane.names[1])


def _named(ax: Any, X: Array, y: Array, classes: Array) -> None:
    """Each class by its name, in the middle of its rows: both sides of a boundary may be one gray on paper."""
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "0.5", "alpha": 0.85}
    for label in classes:
        ax.text(
            *X[y == label].mean(axis=0),
            visible(label),
            ha="center",
            va="center",
            fontsize="small",
            bbox=box,
            zorder=5,
        )
