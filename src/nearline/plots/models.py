"""Pictures of solvers and linear models."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.visible import visible
from nearline.plots.style import axes as _axes
from nearline.plots.style import panels as _panels
from nearline.plots.style import pyplot as _pyplot
from nearline.plots.style import style as _style
from nearline.solvers import Solution


def plot_objective(solutions: Mapping[str, Solution], *, seconds: bool = True, ax: Any = None) -> Any:
    """Objective above the best value found, per iteration, for several solutions of the same risk.

    ``seconds``: whether the legend says how long each took.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import Risk, minimize
    >>> from nearline.plots import plot_objective
    >>> risk = Risk(*load_iris(return_X_y=True), loss="softmax", alpha=1e-2)
    >>> ax = plot_objective({name: minimize(risk, name) for name in ("lbfgs", "newton")})
    >>> len(ax.get_lines())
    2
    """
    ax = _axes(ax)
    best = min(float(np.min(solution.trace)) for solution in solutions.values())
    for i, (name, solution) in enumerate(solutions.items()):
        excess = np.maximum(solution.trace - best, 1e-16 * max(abs(best), 1.0))
        label = f"{name} ({solution.seconds:.2g} s)" if seconds else name
        ax.plot(np.arange(len(excess)), excess, label=label, **_style(i))
    ax.set(xlabel="iteration", ylabel="objective - best found", title="Objective per iteration")
    ax.set_xscale("symlog", linthresh=1)
    ax.set_yscale("log")
    ax.legend(fontsize="small")
    return ax


def plot_coefficients(
    alphas: Array, coefficients: Array, *, names: Any = None, top: int = 8, ax: Any = None
) -> Any:
    """Weights over alpha, (n_alphas, D); the ``top`` largest are named, those that stay 0 are not.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import coefficients, path
    >>> from nearline.plots import plot_coefficients
    >>> X, y = load_iris(return_X_y=True)
    >>> alphas, W, _ = coefficients(path(X, y == 1, regularizer="l1", n_alphas=10))
    >>> plot_coefficients(alphas, W[:, 0], names=["sepal l", "sepal w", "petal l", "petal w"]).get_xlabel()
    'alpha'
    """
    ax = _axes(ax)
    alphas, coefficients = np.asarray(alphas), np.asarray(coefficients)
    labels = np.arange(coefficients.shape[1]) if names is None else np.asarray(names)
    size = np.abs(coefficients).max(axis=0)
    largest = np.argsort(-size, kind="stable")[: np.count_nonzero(size)]
    for j in largest[top:]:
        ax.plot(alphas, coefficients[:, j], color="0.8", linewidth=0.8, zorder=1)
    for i, j in enumerate(largest[:top]):
        ax.plot(alphas, coefficients[:, j], label=visible(labels[j]), zorder=2, **_style(i))
    ax.axhline(0.0, color="0.4", linewidth=0.8)
    ax.set(xlabel="alpha", ylabel="weight", title="Coefficient path")
    ax.set_xscale("log")
    ax.invert_xaxis()
    if len(largest):
        ax.legend(fontsize="small", title="largest weights", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def plot_path_scores(
    alphas: Array, scores: Array, *, ax: Any = None, label: str | None = None, marks: Any = None
) -> Any:
    """Fold scores over alpha, (n_alphas, n_folds): a point for each fold, a line through means, bars of +-1 standard
    deviation over folds. ``marks``: the :class:`nearline.selection.path_scores.PathScores` whose best alpha gets a ring
    and whose one-standard-error choice gets a square.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import LogisticRegression, path_scores
    >>> from nearline.plots import plot_path_scores
    >>> found = path_scores(LogisticRegression(), *load_iris(return_X_y=True), alphas=[0.1, 0.01])
    >>> plot_path_scores(found.alphas, found.scores, label="logistic", marks=found).get_xscale()
    'log'
    """
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
    ax.errorbar(
        alphas, mean, yerr=deviation, capsize=3, label=None if label is None else visible(label), **style
    )
    for at, marker, said in (
        ()
        if marks is None
        else ((marks.best, "o", "best mean"), (marks.one_standard_error, "s", "one standard error"))
    ):
        look = {
            "markersize": 12,
            "fillstyle": "none",
            "markeredgewidth": 1.6,
            "color": "black",
            "linestyle": "none",
        }
        ax.plot(alphas[at], mean[at], marker, label=f"{said}: alpha = {alphas[at]:.2g}", **look)
    ax.set(xlabel="alpha", ylabel="score")
    ax.set_title("Cross-validation over alpha (bars: ±1 standard deviation over folds)", fontsize="medium")
    ax.set_xscale("log")
    if label is not None:
        ax.legend(fontsize="small")
    return ax


def _by_class(model: Any) -> Array:
    """Weights (C, D); of two classes the first has the opposite signs."""
    W = np.asarray(model.coef_)
    return W if len(W) > 1 else np.vstack([-W, W])


def _signed() -> Any:
    """Colors of weights from dark red by gray to bright blue, brighter and brighter, so that signs are seen in gray too."""
    steps = ["#3d0010", "#9c3b46", "#a6a6a6", "#a8d3f0", "#f4fbff"]
    return _pyplot().matplotlib.colors.LinearSegmentedColormap.from_list("signed", steps)


def plot_templates(model: Any, shape: tuple[int, ...], *, axes: Any = None) -> Any:
    """Each class's weights as an image: bright and blue speaks for the class, dark and red against it.

    ``shape``: (height, width), or (height, width, 3) of images in color, whose weights are colors too: a channel is bright
    where it speaks for the class, dark where it speaks against it, and gray is 0.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from nearline import NearestCentroid
    >>> from nearline.plots import plot_templates
    >>> len(plot_templates(NearestCentroid().fit(*load_digits(return_X_y=True)), (8, 8)))
    10
    """
    W = _by_class(model)
    if len(shape) not in (2, 3) or shape[2:] not in ((), (1,), (3,)) or int(np.prod(shape)) != W.shape[1]:
        raise ValueError(
            f"shape must be (height, width) or (height, width, 3) with {W.shape[1]} numbers in all, got {shape}."
        )
    for ax, w, label in zip(drawn := _panels(len(W), axes, size=(1.3, 1.7), across=10), W, model.classes_):
        image = w.reshape(shape[:2]) if shape[2:] in ((), (1,)) else w.reshape(shape)
        limit = float(np.abs(image).max()) or 1.0
        in_color = image.ndim == 3
        how = {} if in_color else {"cmap": _signed(), "vmin": -limit, "vmax": limit}
        ax.imshow(0.5 + 0.5 * image / limit if in_color else image, **how)
        ax.set_title(visible(label), fontsize="medium")
        ax.set_axis_off()
    return drawn


def plot_weights(model: Any, names: Any = None, *, top: int = 8, axes: Any = None) -> Any:
    """The features or words that speak most for each class of a linear model (blue) and against it (orange).

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import MultinomialNB
    >>> from nearline.plots import plot_weights
    >>> model = MultinomialNB().fit(np.array([[3, 0, 1], [0, 3, 1]]), ["sport", "art"])
    >>> art, sport = plot_weights(model, ["goal", "canvas", "the"], top=2)
    >>> sport.get_title(), [tick.get_text() for tick in sport.get_yticklabels()]
    ('sport', ['goal', 'canvas'])
    >>> [bool(bar.get_width() > 0) for bar in sport.patches]
    [True, False]
    """
    W = _by_class(model)
    # what all classes share (as the logarithms of naive Bayes do) decides nothing
    W = W - W.mean(axis=0) if len(model.coef_) > 1 else W
    labels = np.array([f"x{j}" for j in range(W.shape[1])] if names is None else names, dtype=object)
    size = (2.7, 0.9 + 0.2 * min(top, W.shape[1]))
    for ax, w, label in zip(axes := _panels(len(W), axes, size=size), W, model.classes_):
        strongest = np.argsort(-np.abs(w), kind="stable")[:top]
        colors = [_style(int(w[j] < 0))["color"] for j in strongest]
        ax.barh(np.arange(len(strongest)), w[strongest], color=colors)
        ax.set_yticks(
            np.arange(len(strongest)), [visible(labels[j])[:24] for j in strongest], fontsize="x-small"
        )
        ax.invert_yaxis()
        ax.axvline(0.0, color="0.4", linewidth=0.8)
        ax.tick_params(axis="x", labelsize="x-small")
        ax.set_title(visible(label)[:24], fontsize="medium")
    return axes
