"""The main job on shipped data: tune every model by cross-validation, test the winner once, draw pictures.

Run it with ``make demo`` or ``python -m nearline.demo --out out``.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nearline.arrays import Array

ALPHAS = np.logspace(0, -6, 10)
KS = (1, 2, 3, 5, 7, 10, 15, 20, 30)
METRICS = {"k-NN, L2": "l2", "k-NN, L1": "l1", "k-NN, cosine": "cosine"}


@dataclass(frozen=True)
class Row:
    """One line of the leaderboard."""

    name: str
    choice: str  # what was tuned, and to what
    scores: Array  # per fold
    gap: float | None
    solver: str
    seconds: float
    model: Any
    tuning: Any = None  # PathScores or Sweep


def digits() -> tuple[str, Any, Array, Any]:
    """Handwritten digits, 1,797 images of 8 x 8 pixels (scikit-learn)."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return "digits: 1,797 images of 8 x 8 pixels, 10 classes", (X / 16.0).astype(np.float32), y, None


def penguins() -> tuple[str, Any, Array, Any]:
    """Palmer penguins, a CSV with numbers, names and missing values (CC0, package palmerpenguins)."""
    from importlib.resources import files

    import pandas as pd
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    with files("palmerpenguins").joinpath("data/penguins.csv").open() as file:
        table = pd.read_csv(file)
    numbers = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    names = ["island", "sex"]
    encode = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), names),
    )
    y = table["species"].to_numpy(dtype=str)
    return (
        "penguins: a CSV with numbers, names and missing values, 3 species",
        table[numbers + names],
        y,
        encode,
    )


def candidates() -> Iterator[tuple[str, Any]]:
    """Linear models that a path over alpha tunes."""
    from nearline import ElasticNet, LinearClassifier, LinearSVM, LogisticRegression, SparsemaxClassifier

    yield "logistic, L2", LogisticRegression()
    yield "logistic, L1", LogisticRegression(regularizer="l1")
    yield "logistic, elastic net", LogisticRegression(regularizer=ElasticNet(0.5))
    yield "logistic one-vs-rest", LogisticRegression(multiclass="one-vs-rest")
    yield "sparsemax", SparsemaxClassifier()
    yield "SVM, squared hinge", LinearSVM()
    yield "SVM, hinge", LinearSVM(loss="hinge")
    yield "SVM, Weston-Watkins", LinearSVM(loss="weston-watkins")
    yield "SVM, Crammer-Singer", LinearSVM(loss="crammer-singer")
    yield "least squares", LinearClassifier(loss="squared")


def without_alpha() -> Iterator[tuple[str, Any]]:
    """Models with nothing to tune."""
    from nearline import GaussianNB, LinearDiscriminantAnalysis, NearestCentroid, Perceptron

    yield "nearest centroid", NearestCentroid()
    yield "naive Bayes, Gaussian", GaussianNB()
    yield "linear discriminant", LinearDiscriminantAnalysis()
    yield "perceptron, averaged", Perceptron(averaged=True, max_iter=50)


def contest(X: Any, y: Array, encode: Any) -> list[Row]:
    """Every candidate, tuned on folds of the training rows; best mean first."""
    from sklearn.model_selection import StratifiedKFold

    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    rows = [row for part in (linear, neighbors, fixed) for row in part(X, y, encode, folds)]
    return sorted(rows, key=lambda row: -float(row.scores.mean()))


def linear(X: Any, y: Array, encode: Any, folds: Any) -> Iterator[Row]:
    """Models with a penalty: one warm path a fold gives every alpha."""
    from sklearn.base import clone

    from nearline import path_scores

    for name, model in candidates():
        began = time.perf_counter()
        result = path_scores(model, X, y, ALPHAS, folds=folds, transformer=encode)
        tuned = clone(model).set_params(alpha=float(result.alphas[result.best]))
        pipeline = _pipeline(encode, tuned).fit(X, y)
        fitted, seconds = pipeline[-1], time.perf_counter() - began
        choice, scores = f"alpha {fitted.alpha:.1e}", result.scores[result.best]
        yield Row(name, choice, scores, fitted.gap_, fitted.solver_, seconds, pipeline, result)


def neighbors(X: Any, y: Array, encode: Any, folds: Any) -> Iterator[Row]:
    """Nearest neighbors: one search gives every k and both weightings."""
    from nearline import KNeighborsClassifier, sweep

    for name, metric in METRICS.items():
        began = time.perf_counter()
        weights = ("uniform", "distance")
        result = sweep(X, y, KS, metrics=(metric,), weights=weights, folds=folds, transformer=encode)
        best = result.best
        pipeline = _pipeline(encode, KNeighborsClassifier(**best)).fit(X, y)
        choice, scores = f"k {best['n_neighbors']}, {best['weights']}", np.array(result.rows()[0]["scores"])
        solver = f"{pipeline[-1].index_.algorithm_} search"
        yield Row(name, choice, scores, None, solver, time.perf_counter() - began, pipeline, result)


def fixed(X: Any, y: Array, encode: Any, folds: Any) -> Iterator[Row]:
    """Models with nothing to tune."""
    from sklearn.model_selection import cross_val_score

    for name, model in without_alpha():
        began = time.perf_counter()
        pipeline = _pipeline(encode, model)
        scores = cross_val_score(pipeline, X, y, cv=folds)
        solver = getattr(pipeline.fit(X, y)[-1], "solver_", "closed form")
        yield Row(name, "", scores, None, solver, time.perf_counter() - began, pipeline)


def _pipeline(encode: Any, model: Any) -> Any:
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline

    return make_pipeline(model) if encode is None else make_pipeline(clone(encode), model)


def print_leaderboard(rows: list[Row]) -> None:
    print(f"  {'model':24} {'choice':14}  {'5-fold accuracy':>17}  {'gap':>8}  {'solver':24} {'seconds':>7}")
    for row in rows:
        gap = "" if row.gap is None else f"{row.gap:.1e}"
        score = f"{row.scores.mean():.4f} ± {row.scores.std(ddof=1):.4f}"
        print(f"  {row.name:24} {row.choice:14}  {score:>17}  {gap:>8}  {row.solver:24} {row.seconds:7.2f}")


def wilson(share: float, n: int, z: float = 1.959964) -> tuple[float, float]:
    """95% interval of a proportion."""
    center = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return center - half, center + half


def run(data: tuple[str, Any, Array, Any]) -> list[Row]:
    """Split, tune on the training rows, test the winner once."""
    from sklearn.model_selection import train_test_split

    title, X, y, encode = data
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)
    print(
        f"\n{title}\n  {len(y_train)} training rows, {len(y_test)} test rows locked away; tuned on 5 folds\n"
    )
    rows = contest(X_train, y_train, encode)
    print_leaderboard(rows)
    winner = rows[0]
    accuracy = float(winner.model.score(X_test, y_test))
    low, high = wilson(accuracy, len(y_test))
    print(f"\n  winner by cross-validation: {winner.name}")
    print(f"  tested once: {accuracy:.4f} (95% interval {low:.4f} to {high:.4f})")
    return rows


def draw(out: Path) -> list[Path]:
    """Objective per iteration for several solvers, coefficient path, weight templates, losses."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from nearline import LogisticRegression, Risk, minimize, path, plots

    _, X, y, _ = digits()
    risk = Risk(X.astype(np.float64), y, loss="softmax", alpha=1e-3)
    solvers = ("gradient-descent", "conjugate-gradient", "lbfgs", "newton-cg", "newton", "fista")
    solutions = {name: minimize(risk, name, tol=1e-9, max_iter=1000) for name in solvers}
    _, table, species, encode = penguins()
    features = encode.fit_transform(table)
    names = [name.split("__")[-1] for name in encode.get_feature_names_out()]
    gentoo = (species == "Gentoo").astype(int)
    grid = list(path(features, gentoo, loss="logistic", regularizer="l1", n_alphas=40))
    alphas = np.array([alpha for alpha, _ in grid])
    weights = np.array([solution.params.W[0] for _, solution in grid])

    figure, axes = plt.subplots(1, 2, figsize=(12.5, 4.4), layout="constrained")
    plots.plot_objective(solutions, ax=axes[0]).set_title("Objective per iteration: softmax on digits")
    plots.plot_coefficients(alphas, weights, names=names, ax=axes[1]).set_title(
        "L1 coefficient path: Gentoo penguins"
    )
    made = {"tour.png": figure}
    made["losses.png"] = plots.plot_losses(log2=True).figure
    made["templates.png"] = plots.plot_templates(LogisticRegression(alpha=1e-2).fit(X, y), (8, 8))[0].figure
    written = []
    for name, picture in made.items():
        written.append(out / name)
        picture.savefig(written[-1], dpi=120)
        plt.close(picture)
    return written


def draw_tuning(rows: list[Row], out: Path) -> Path:
    """Cross-validated accuracy over alpha, a panel for the losses and one for the penalties, and over k."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from nearline import plots

    panels = {
        "Losses, with an L2 penalty": (
            "logistic, L2",
            "sparsemax",
            "SVM, squared hinge",
            "SVM, hinge",
            "least squares",
        ),
        "Penalties, of the logistic loss": ("logistic, L2", "logistic, elastic net", "logistic, L1"),
    }
    paths = {row.name: row.tuning for row in rows}
    figure, axes = plt.subplots(1, 3, figsize=(16, 4.4), layout="constrained")
    for ax, (title, names) in zip(axes[:2], panels.items(), strict=True):
        for name in names:
            plots.plot_path_scores(paths[name].alphas, paths[name].scores, label=name, ax=ax)
        ax.set(title=f"{title} (bars: ±1 standard deviation)", ylabel="accuracy on the fold left out")
    plots.plot_sweep(paths["k-NN, L2"], ax=axes[2]).set_title(
        "k nearest neighbors, L2 (bars: ±1 standard deviation)"
    )
    file = out / "tuning.png"
    figure.savefig(file, dpi=120)
    plt.close(figure)
    return file


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="nearline.demo", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for pictures (default: out)")
    out = parser.parse_args(arguments).out
    out.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    rows = run(digits())
    run(penguins())
    written = [*draw(out), draw_tuning(rows, out)]
    print("\npictures: " + ", ".join(map(str, written)))
    print(f"done in {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
