"""Draw every picture of the gallery on shipped data, and write the page that shows them: python tools/make_pictures.py"""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np

from nearline.cli._plot import EVERY
from nearline.plots.style import pyplot

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE, IMAGES = DOCS / "pictures.md", DOCS / "img" / "pictures"
DPI = 80  # small files

# name -> the function of nearline.plots, and how it is called
CALLS = {
    "losses": "plot_losses(log2=True)",
    "sigmoid": "plot_sigmoid()",
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
yours. `nearline plot --list` names them. Colors can be told apart with any color vision, and lines also by their dashes.

```python
>>> from nearline.plots import PICTURES
>>> ax = PICTURES["sigmoid"]()
>>> ax.get_title()
'Sigmoid, and softmax of two scores'

```

This page is made by `python tools/make_pictures.py`.
"""


def page() -> str:
    """The page, which does not depend on how the pictures look."""
    parts = [HEAD]
    for name, picture in EVERY.items():
        where = "nearline" if name == "voronoi" else "nearline.plots"
        about = picture.about[0].upper() + picture.about[1:]
        said = f"{about}: `nearline plot {name}`, or `{CALLS[name]}` of `{where}`."
        parts.append(f"## {name}\n\n{said}\n\n![{name}](img/pictures/{name}.png)\n")
    return "\n".join(parts)


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name, picture in EVERY.items():
        figure = np.ravel(np.asarray(picture(), dtype=object))[0].figure
        figure.savefig(IMAGES / f"{name}.png", dpi=DPI, metadata={"Software": None})
        pyplot().close(figure)
    PAGE.write_text(page())


if __name__ == "__main__":
    main()
