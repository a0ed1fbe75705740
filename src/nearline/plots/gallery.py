"""PICTURES: every picture of the field by name, on given rows or on shipped ones. To list a picture is to have it drawn by
``nearline plot``, tested, and shown in the documentation."""

from collections.abc import Callable
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

from nearline.plots import results
from nearline.plots.recipes import contests, descents, formulas, linear, planes
from nearline.plots.samples import (
    Sample,
    digits,
    iris,
    moons,
    petals,
    setosa,
    three_arms,
    tumors,
    versicolor,
    wine,
)


@dataclass(frozen=True)
class Picture:
    """How a picture is made of labeled rows; without rows, of shipped ones or of none."""

    about: str
    draw: Callable[..., Any]
    shipped: Callable[[], Sample] | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def takes(self) -> tuple[str, ...]:
        """Settings that may be given: what a slide says, such as model, k, metric."""
        listed = signature(self.draw).parameters.values()
        return tuple(one.name for one in listed if one.kind is one.KEYWORD_ONLY)

    def __call__(self, sample: Sample | None = None, **settings: Any) -> Any:
        """The axes, or an array of them."""
        lacking = [name for name in settings if name not in self.takes]
        if lacking:
            raise ValueError(f"This picture has no {lacking[0]}: it takes {', '.join(self.takes)}.")
        if self.shipped is None:
            if sample is not None:
                raise ValueError("This picture shows mathematics, not data: leave the data out.")
            return self.draw(**self.options, **settings)
        return self.draw(self.shipped() if sample is None else sample, **{**self.options, **settings})


PICTURES: dict[str, Picture] = {
    "losses": Picture(
        "losses of the margin: all surrogates of the zero-one loss",
        formulas.losses,
    ),
    "sigmoid": Picture("the sigmoid, scaled ones, and the softmax of two scores", formulas.sigmoids),
    "simplex": Picture("softmax and sparsemax of three scores, on the simplex", formulas.simplex),
    "embedding-losses": Picture(
        "embedding losses over the similarities of a triplet", formulas.embedding_losses
    ),
    "unit-balls": Picture("points at distance 1 by Lq", formulas.unit_balls),
    "regions": Picture(
        "decision regions, on one feature, two, or the two best directions", planes.regions, iris
    ),
    "one-feature": Picture(
        "scores, threshold and regions over one feature",
        planes.regions,
        petals,
        {"model": "logistic", "proba": True},
    ),
    "neighbors-over-k": Picture("regions of K = 1, 2, 3 and 15 neighbors, ties hatched", planes.over_k, iris),
    "metrics": Picture("nearest neighbors by L1, L2 and L-infinity", planes.metrics, moons),
    "voronoi": Picture(
        "cells of the nearest neighbor and the boundary between classes", planes.voronoi, iris
    ),
    "query": Picture("a query and its neighbors: images, places or distances", planes.query, digits),
    "reductions": Picture(
        "one-vs-rest, one-vs-one (what votes leave open hatched), joint", planes.reductions, three_arms
    ),
    "margins": Picture("a linear SVM's boundary, margins and support vectors", planes.margins, versicolor),
    "separators": Picture(
        "lines of the perceptron from many starts, and that of the widest margin", planes.separators, setosa
    ),
    "outliers": Picture("what outliers do to least squares and to logistic regression", formulas.outliers),
    "posteriors": Picture(
        "class densities and priors, Bayes' posteriors, the logistic fit", planes.posteriors, petals
    ),
    "densities": Picture("the same over two features", planes.posteriors, versicolor),
    "folds": Picture("which rows are in which fold", contests.folds, iris),
    "sweep": Picture("cross-validation over k, for two vote weightings", contests.over_k, wine),
    "path-scores": Picture("cross-validation over alpha", contests.over_alpha, tumors),
    "capacity": Picture(
        "over- and underfitting: training and test error over capacity", contests.capacity, moons
    ),
    "coefficients": Picture("regularization path: weights over alpha", linear.coefficient_path, tumors),
    "objective": Picture("objective per iteration of several solvers", linear.objective, digits),
    "descent": Picture("steps of solvers on the contours of a risk", descents.descent, versicolor),
    "newton": Picture(
        "Newton's method: quadratic models, and tangents of the slope", descents.newton, versicolor
    ),
    "templates": Picture("each class's weights as an image", linear.templates, digits),
    "weights": Picture("the features or words that speak for each class", linear.weights, wine),
    "leaderboard": Picture("the best of each family with its folds", contests.leaderboard, wine),
    "candidates": Picture("k-NN's candidates of a contest over k", contests.candidates, wine),
    "confusion": Picture("confusion matrix of the test rows", contests.confusion, digits),
    "roc": Picture("ROC curve of each class", contests.curve_of_ranks, tumors, {"plot": results.plot_roc}),
    "precision-recall": Picture(
        "precision over recall of each class",
        contests.curve_of_ranks,
        tumors,
        {"plot": results.plot_precision_recall},
    ),
    "reliability": Picture("whether probabilities keep their word", contests.reliability, digits),
    "learning-curve": Picture("scores as training rows grow", contests.learning, digits),
    "gram": Picture("the Gram matrix of a Gaussian kernel, by class", linear.gram, wine),
    "kernel-margins": Picture(
        "boundaries, margins and support vectors of three kernels", planes.kernel_margins, moons
    ),
    "degree-two": Picture("circles, and the map of degree 2 that makes them flat", formulas.degree_two),
}
