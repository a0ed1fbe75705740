"""Draw every picture of the gallery on shipped data, and write the page that shows them: python tools/make_pictures.py"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np

from nearline.cli._plot import option
from nearline.plots import PICTURES
from nearline.plots.style import pyplot

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE, IMAGES = DOCS / "pictures.md", DOCS / "img" / "pictures"
DPI = 80  # small files

# name -> the function of nearline.plots, and how it is called
CALLS = {
    "losses": "plot_losses(log2=True)",
    "simplex": "plot_simplex()",
    "unit-balls": "plot_unit_balls()",
    "one-feature": "compare_regions([logistic], X, y, proba=True)",
    "neighbors-over-k": "compare_regions({f'K = {k}': KNeighborsClassifier(k).fit(X, y) for k in (1, 2, 3, 15)}, X, y)",
    "metrics": "compare_regions({m: KNeighborsClassifier(1, metric=m).fit(X, y) for m in ('l1', 'l2', 'l-infinity')}, X, y)",
    "query": "plot_query(model, X, y, query, shape=(8, 8))",
    "reductions": "compare_regions([OneVsRest(logistic).fit(X, y), OneVsOne(logistic).fit(X, y), logistic.fit(X, y)], X, y)",
    "separators": "plot_separators(X, y)",
    "posteriors": "plot_posteriors(X[:, :1], y)",
    "densities": "plot_posteriors(X, y)",
    "folds": "plot_folds(y, 5)",
    "capacity": "plot_capacity(capacity_curve(KNeighborsClassifier(), X, y, [1, 5, 50]))",
    "sigmoid": "plot_sigmoid()",
    "embedding-losses": "plot_embedding_losses()",
    "gram": "plot_gram(RBF(0.1), X, y)",
    "kernel-margins": "plot_kernel_margins([KernelSVM(kernel).fit(X, y) for kernel in kernels], X, y)",
    "degree-two": "plot_degree_two()",
    "regions": "plot_regions(model.predict, X, y, plane=Plane.of(X, y))",
    "margins": "plot_margins(svm, X, y)",
    "outliers": "plot_outliers()",
    "sweep": "plot_sweep(sweep(X, y, ks=[1, 3, 10, 30]))",
    "path-scores": "plot_path_scores(found.alphas, found.scores, marks=found)",
    "coefficients": "plot_coefficients(alphas, W, names=names)",
    "objective": "plot_objective({name: minimize(risk, name) for name in solvers})",
    "descent": "plot_descent(risk, ['gradient-descent', 'newton', SGD()])",
    "newton": "plot_newton(risk, start=0.0)",
    "templates": "plot_templates(model, (8, 8))",
    "weights": "plot_weights(model, names)",
    "leaderboard": "plot_leaderboard(contest.leaderboard_)",
    "candidates": "plot_candidates(contest.leaderboard_, ['k-NN, L2', 'k-NN, cosine'])",
    "confusion": "plot_confusion(result.confusion, result.classes)",
    "roc": "plot_roc(y, scores, classes)",
    "precision-recall": "plot_precision_recall(y, scores, classes)",
    "reliability": "plot_reliability(reliability_curve(y, probabilities, classes))",
    "learning-curve": "plot_curve(learning_curve(model, X, y))",
    "voronoi": "plot_voronoi(X, y)",
}
HEAD = """# Pictures

Each picture of the field is one function of `nearline.plots` (they return matplotlib axes, so that titles, limits and colors
can be changed) and one command: `nearline plot NAME` draws it on shipped data, `nearline plot NAME DATA --target COLUMN` on
yours, in the units and with the names of its columns. `nearline plot --list` names them. Colors can be told apart with any
color vision; lines also by their dashes, classes by their marks and regions by their edges, so that a picture printed in gray
says the same.

Pictures take what a slide says; `nearline plot NAME --list` says which of it. Models are knn, centroid, logistic, svm,
least-squares, sparsemax, perceptron, lda, gaussian-nb, kernel-svm, kernel-logistic, one-vs-rest and one-vs-one. What has
parameters of its own is one word with colons: `lq:3`, `rbf:0.1`, `polynomial:3`, `elastic-net:0.2`, `triplet:0.5`. So it is
in Python: `KNeighborsClassifier(metric="lq:3")` is `KNeighborsClassifier(metric=Lq(3))`.

```
nearline plot regions iris.csv --target species --columns petal_length,petal_width --model knn --k 3 --metric lq:3
nearline plot voronoi iris.csv --target species --columns petal_length,petal_width --metric l1
nearline plot descent --loss squared-hinge --solvers gradient-descent,newton --start=-2,1 --steps 10
nearline plot confusion iris.csv --target species --include k-NN
nearline plot losses --losses hinge,logistic --natural
```

`compare_regions` has any models side by side, with what votes leave open hatched:

```python
>>> from sklearn.datasets import load_iris
>>> from nearline import KNeighborsClassifier, LogisticRegression
>>> from nearline.plots import PICTURES, compare_regions
>>> X, y = load_iris(return_X_y=True)
>>> X = X[:, 2:]
>>> models = {"K = 1": KNeighborsClassifier(1).fit(X, y), "logistic": LogisticRegression().fit(X, y)}
>>> [ax.get_title() for ax in compare_regions(models, X, y, steps=40, proba=True)]
['K = 1', 'logistic']
>>> ax = PICTURES["sigmoid"]()
>>> ax.get_title()
'Sigmoid, and softmax of two scores'

```

This page is made by `python tools/make_pictures.py`.
"""


def page() -> str:
    """The page, which does not depend on how the pictures look."""
    parts = [HEAD]
    for name, picture in PICTURES.items():
        about = picture.about[0].upper() + picture.about[1:]
        settings = f" It takes {', '.join(f'`{option(key)}`' for key in picture.takes)}."
        said = f"{about}: `nearline plot {name}`, or `{CALLS[name]}` of `nearline.plots`.{settings}"
        parts.append(f"## {name}\n\n{said}\n\n![{name}](img/pictures/{name}.png)\n")
    return "\n".join(parts)


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name, picture in PICTURES.items():
        figure = np.ravel(np.asarray(picture(), dtype=object))[0].figure
        figure.savefig(IMAGES / f"{name}.png", dpi=DPI, metadata={"Software": None})
        pyplot().close(figure)
    PAGE.write_text(page())


if __name__ == "__main__":
    main()
