"""PICTURES: every picture of the field by name, on given rows or on shipped ones. To list a picture is to have it drawn by
``nearline plot``, tested, and shown in the documentation."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.visible import visible
from nearline.plots import kernels, models, regions, results, selection
from nearline.plots.margins import plot_margins
from nearline.plots.samples import Flat, Sample, digits, iris, moons, tumors, versicolor, wine


@dataclass(frozen=True)
class Picture:
    """How a picture is made of labeled rows; without rows, of shipped ones or of none."""

    about: str
    draw: Callable[..., Any]
    shipped: Callable[[], Sample] | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, sample: Sample | None = None) -> Any:
        """The axes, or an array of them."""
        if self.shipped is None:
            if sample is not None:
                raise ValueError("This picture shows mathematics, not data: leave the data out.")
            return self.draw(**self.options)
        return self.draw(self.shipped() if sample is None else sample, **self.options)


def in_the_plane(flat: Flat) -> tuple[Flat, tuple[str, str]]:
    """Rows of two columns as they are, of more on the plane where the classes lie farthest apart; and names of its axes."""
    plane = regions.Plane.of(flat.X, flat.y, flat.names)
    if flat.X.shape[1] == 2:
        return flat, plane.names
    return replace(flat, X=plane.down(flat.X)), plane.names


def noted(ax: Any, flat: Flat) -> Any:
    """What is not in the picture is said under its title."""
    if flat.note:
        ax.set_title(f"{ax.get_title()}\n({flat.note})", fontsize="medium")
    return ax


def _regions(sample: Sample) -> Any:
    from nearline.estimators import KNeighborsClassifier

    flat = sample.flat()
    plane = regions.Plane.of(flat.X, flat.y, flat.names)
    model = KNeighborsClassifier(min(15, len(flat.X))).fit(flat.units.off(flat.X), flat.y)

    def predict(rows: Array) -> Array:
        return model.predict(flat.units.off(rows))

    ax = regions.plot_regions(predict, flat.X, flat.y, plane=plane, steps=200)
    ax.set_title(f"Decision regions of {model.n_neighbors}-NN" + _said(sample))
    return noted(ax, flat)


def _margins(sample: Sample) -> Any:
    from nearline.estimators import LinearSVM

    flat = sample.flat(two_classes=True)
    # so tight that rows on the margin are told from rows beside it
    model = LinearSVM(loss="hinge", alpha=1e-2, tol=1e-8).fit(flat.units.off(flat.X), flat.y)
    names = flat.names if flat.X.shape[1] <= 2 else None
    return noted(plot_margins(model, flat.X, flat.y, names=names, units=flat.units), flat)


def _sweep(sample: Sample) -> Any:
    from nearline.selection.sweep import sweep

    most = min(100, int(0.75 * len(sample.y)))
    ks = [k for k in (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 100) if k <= most]
    weights = ["uniform", "distance"]
    return selection.plot_sweep(sweep(sample.rows(), sample.y, ks, weights=weights, transformer=sample.way))


def _alphas() -> Array:
    return np.geomspace(1.0, 1e-5, 11)


def _path_scores(sample: Sample) -> Any:
    from nearline.estimators import LogisticRegression
    from nearline.selection.path_scores import path_scores

    model = LogisticRegression(tol=1e-6)  # a row near the boundary may fall on either side of a coarser one
    found = path_scores(model, sample.rows(), sample.y, _alphas(), transformer=sample.way)
    ax = models.plot_path_scores(found.alphas, found.scores, label="logistic, L2", marks=found)
    ax.set_ylabel("accuracy")
    return ax


def _coefficients(sample: Sample) -> Any:
    from nearline.selection.path import coefficients, path

    rows = sample.of_two_classes()
    X, y = sample.dense()[rows], sample.y[rows]
    alphas, W, _ = coefficients(path(X, y, loss="logistic", regularizer="l1", n_alphas=40))
    ax = models.plot_coefficients(alphas, W[:, 0], names=sample.names)
    ax.set_title(
        "L1 coefficient path: " + " against ".join(map(visible, np.unique(y).tolist()[::-1])),
        fontsize="medium",
    )
    return ax


def _objective(sample: Sample) -> Any:
    from nearline.risk import Risk
    from nearline.solvers import minimize

    codes = np.unique(sample.y, return_inverse=True)[1]
    risk = Risk(sample.X, codes, loss="softmax" if codes.max() > 1 else "logistic", alpha=1e-3)
    names = ("gradient-descent", "conjugate-gradient", "lbfgs", "newton-cg", "fista")
    return models.plot_objective({name: minimize(risk, name, tol=1e-9, max_iter=300) for name in names})


def _templates(sample: Sample) -> Any:
    from nearline.estimators import LogisticRegression

    if not sample.shape:
        raise ValueError("Templates are weights as images, and these rows are no images: try 'weights'.")
    return models.plot_templates(LogisticRegression(alpha=1e-2).fit(sample.X, sample.y), sample.shape)


def _weights(sample: Sample) -> Any:
    from nearline.estimators import LogisticRegression

    model = LogisticRegression(alpha=1e-3).fit(sample.X, sample.y)
    return models.plot_weights(model, sample.names)


def _contest(sample: Sample, *families: str) -> Any:
    import warnings

    from nearline.selection.folds import LeakageWarning
    from nearline.selection.try_all import TryThemAll

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeakageWarning)
        include = list(families) or None
        return TryThemAll("quick", include=include, progress="silent").fit(sample.rows(), sample.y)


def _leaderboard(sample: Sample) -> Any:
    return selection.plot_leaderboard(_contest(sample).leaderboard_)


def _candidates(sample: Sample) -> Any:
    board = _contest(sample, "k-NN").leaderboard_
    return selection.plot_candidates(board, [e.family for e in board.best_of_families()])


def _tested(sample: Sample) -> Any:
    """What a model that gives probabilities says of locked rows."""
    return _contest(sample, "logistic, L2").open_test()


def _confusion(sample: Sample) -> Any:
    result = _tested(sample)
    return results.plot_confusion(result.confusion, result.classes)


def _curve_of_ranks(sample: Sample, plot: Callable[..., Any]) -> Any:
    result = _tested(sample)
    return plot(result.classes[result.codes], result.predictions.ranking(), result.classes)


def _reliability(sample: Sample) -> Any:
    from nearline.selection.reliability import reliability_curve

    result = _tested(sample)
    truth = result.classes[result.codes]
    return results.plot_reliability(
        reliability_curve(truth, result.predictions.probabilities(), result.classes)
    )


def _learning_curve(sample: Sample) -> Any:
    from sklearn.pipeline import make_pipeline

    from nearline.estimators import KNeighborsClassifier
    from nearline.selection.curves import learning_curve

    model = KNeighborsClassifier(1)
    model = model if sample.way is None else make_pipeline(sample.way, model)
    return selection.plot_curve(learning_curve(model, sample.rows(), sample.y))


def _gram(sample: Sample) -> Any:
    from nearline.kernels import RBF

    X, y = sample.dense(), sample.y
    rows = np.unique(np.linspace(0, len(X) - 1, min(len(X), 600)).astype(int))  # a heat map shows no more
    return kernels.plot_gram(RBF("scale").fitted(X[rows]), X[rows], y[rows])


def _kernel_margins(sample: Sample) -> Any:
    from nearline.estimators import KernelSVM
    from nearline.kernels import Linear, Polynomial

    flat, names = in_the_plane(sample.flat(two_classes=True))
    X = flat.units.off(flat.X)
    machines = [
        KernelSVM(kernel, alpha=1e-3, tol=1e-6).fit(X, flat.y) for kernel in (Linear(), Polynomial(3), "rbf")
    ]
    titles = ("linear", "polynomial of degree 3", "Gaussian")
    machines_by_title = dict(zip(titles, machines, strict=True))
    drawn = kernels.plot_kernel_margins(machines_by_title, flat.X, flat.y, names=names, units=flat.units)
    drawn[0].figure.suptitle(flat.note, fontsize="medium")
    return drawn


def _said(sample: Sample) -> str:
    return f": {sample.what}" if sample.what else ""


PICTURES: dict[str, Picture] = {
    "losses": Picture(
        "losses of the margin: all surrogates of the zero-one loss", models.plot_losses, None, {"log2": True}
    ),
    "sigmoid": Picture("the sigmoid, and the softmax of two scores", models.plot_sigmoid),
    "regions": Picture("decision regions, on two features or the two best directions", _regions, iris),
    "margins": Picture("a linear SVM's boundary, margins and support vectors", _margins, versicolor),
    "outliers": Picture(
        "what outliers do to least squares and to logistic regression", regions.plot_outliers
    ),
    "sweep": Picture("cross-validation over k, for two vote weightings", _sweep, wine),
    "path-scores": Picture("cross-validation over alpha", _path_scores, tumors),
    "coefficients": Picture("regularization path: weights over alpha", _coefficients, tumors),
    "objective": Picture("objective per iteration of several solvers", _objective, digits),
    "templates": Picture("each class's weights as an image", _templates, digits),
    "weights": Picture("the features or words that speak for each class", _weights, wine),
    "leaderboard": Picture("the best of each family with its folds", _leaderboard, wine),
    "candidates": Picture("k-NN's candidates of a contest over k", _candidates, wine),
    "confusion": Picture("confusion matrix of the test rows", _confusion, digits),
    "roc": Picture("ROC curve of each class", _curve_of_ranks, tumors, {"plot": results.plot_roc}),
    "precision-recall": Picture(
        "precision over recall of each class",
        _curve_of_ranks,
        tumors,
        {"plot": results.plot_precision_recall},
    ),
    "reliability": Picture("whether probabilities keep their word", _reliability, digits),
    "learning-curve": Picture("scores as training rows grow", _learning_curve, digits),
    "gram": Picture("the Gram matrix of a Gaussian kernel, by class", _gram, wine),
    "kernel-margins": Picture(
        "boundaries, margins and support vectors of three kernels", _kernel_margins, moons
    ),
    "degree-two": Picture("circles, and the map of degree 2 that makes them flat", kernels.plot_degree_two),
}
