"""The main job on shipped data: try every model, choose on folds, test the winner once, write reports and pictures.

Run it with ``make demo``, ``nearline demo`` or ``python -m nearline.demo --out out``.
"""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._atomic.whole import written_whole
from nearline.selection.test_result import TestResult
from nearline.selection.try_all import TryThemAll

TIME_LIMIT = 40.0  # seconds of a contest, so that a busy or small machine does not keep people waiting


def digits() -> tuple[str, Any, Array]:
    """Handwritten digits, 1,797 images of 8 x 8 pixels (scikit-learn)."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return "digits: 1,797 images of 8 x 8 pixels, 10 classes", (X / 16.0).astype(np.float32), y


def penguins() -> tuple[str, Any, Array]:
    """Palmer penguins, a CSV with numbers, names and missing values (CC0, package palmerpenguins)."""
    from importlib.resources import files

    import pandas as pd

    with files("palmerpenguins").joinpath("data/penguins.csv").open() as file:
        table = pd.read_csv(file)
    title = "penguins: a CSV with numbers, names and missing values, 3 species"
    return title, table.drop(columns="species"), table["species"].to_numpy(dtype=str)


def run(data: tuple[str, Any, Array], **options: Any) -> tuple[TryThemAll, TestResult]:
    """Lock test rows, try them all on the others, test the winner once; everything that is found is printed."""
    title, X, y = data
    began = time.perf_counter()
    usual: dict[str, Any] = {"scoring": ["accuracy", "auc"], "test": 0.25, "time_limit": TIME_LIMIT}
    usual["progress"] = "auto" if sys.stderr.isatty() else "silent"  # a log needs none
    settings = usual | options
    contest = TryThemAll(**settings).fit(X, y)
    seconds, n_folds = time.perf_counter() - began, len(contest.best_.scores["accuracy"])
    print(f"\n{title}\n")
    print(contest.leaderboard_)
    print(f"\n{len(contest.leaderboard_)} candidates x {n_folds} folds in {seconds:.1f} s")
    for finding in contest.findings_:
        print(f"{finding.severity}: {finding.subject}: {finding.message} {finding.remedy}")
    result = contest.open_test()
    print(f"\n{result}")
    return contest, result


def draw(out: Path, contest: TryThemAll, result: TestResult, data: tuple[str, Any, Array]) -> list[Path]:
    """The leaderboard, the scores over k and alpha, the confusion matrix, a learning curve, a reliability curve."""
    from nearline import learning_curve, plots, reliability_curve

    _, X, y = data
    board = contest.leaderboard_
    pictures: dict[str, Callable[[], Any]] = {
        "leaderboard": lambda: plots.plot_leaderboard(board),
        "over-k": lambda: plots.plot_candidates(board, [n for n in _names(contest) if "k-NN" in n]),
        "over-alpha": lambda: plots.plot_candidates(board, ["logistic, L2", "SVM, squared hinge"]),
        "confusion": lambda: plots.plot_confusion(result.confusion, result.classes),
        "learning-curve": lambda: plots.plot_curve(learning_curve(contest.estimator(contest.best_), X, y)),
    }
    probabilities = result.predictions.probabilities()
    if probabilities is not None:
        truth = result.classes[result.codes]
        curve = reliability_curve(truth, probabilities, result.classes)
        pictures["reliability"] = lambda: plots.plot_reliability(curve)
    return [_saved(make(), out / f"{name}.png") for name, make in pictures.items()]


def draw_mathematics(out: Path) -> list[Path]:
    """Objective per iteration for several solvers, an L1 coefficient path, weight templates, losses."""
    import matplotlib.pyplot as plt

    from nearline import LogisticRegression, Risk, TableEncoder, minimize, path, plots

    _, X, y = digits()
    risk = Risk(X.astype(np.float64), y, loss="softmax", alpha=1e-3)
    solvers = ("gradient-descent", "conjugate-gradient", "lbfgs", "newton-cg", "newton", "fista")
    solutions = {name: minimize(risk, name, tol=1e-9, max_iter=1000) for name in solvers}
    _, table, species = penguins()
    encode = TableEncoder().fit(table)
    features = np.asarray(encode.transform(table), dtype=np.float64)
    gentoo = (species == "Gentoo").astype(int)
    grid = list(path(features, gentoo, loss="logistic", regularizer="l1", n_alphas=40))
    alphas = np.array([alpha for alpha, _ in grid])
    weights = np.array([solution.params.W[0] for _, solution in grid])
    axes = plt.subplots(1, 2, figsize=(12.5, 4.4), layout="constrained")[1]
    plots.plot_objective(solutions, ax=axes[0]).set_title("Objective per iteration: softmax on digits")
    names = encode.get_feature_names_out().tolist()
    plots.plot_coefficients(alphas, weights, names=names, ax=axes[1])
    axes[1].set_title("L1 coefficient path: Gentoo penguins")
    templates = plots.plot_templates(LogisticRegression(alpha=1e-2).fit(X, y), (8, 8))[0]
    made = {"tour": axes[0], "losses": plots.plot_losses(log2=True), "templates": templates}
    return [_saved(ax, out / f"{name}.png") for name, ax in made.items()]


def _names(contest: TryThemAll) -> list[str]:
    return [entry.family for entry in contest.leaderboard_.best_of_families()]


def _saved(ax: Any, file: Path) -> Path:
    import matplotlib.pyplot as plt

    with written_whole(file) as whole:
        ax.figure.savefig(whole, dpi=120, format=file.suffix.lstrip("."))
    plt.close(ax.figure)
    return file


def keep(out: Path, name: str, contest: TryThemAll, result: TestResult, about: dict[str, Any]) -> list[Path]:
    """The report and the model of a contest."""
    from nearline import save
    from nearline.report import write_report

    report, model = out / f"{name}.html", out / f"{name}.nearline"
    write_report(report, contest, result, source={"command": "nearline demo", "data": name} | about)
    save(contest.model_, model, facts={"test": result.scores, "model": result.model})
    return [report, model]


def main(arguments: list[str] | None = None) -> None:
    about = __doc__.splitlines()[0] if __doc__ else None
    parser = argparse.ArgumentParser(prog="nearline.demo", description=about)
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for reports and pictures")
    out = parser.parse_args(arguments).out
    out.mkdir(parents=True, exist_ok=True)
    import matplotlib

    matplotlib.use("Agg")
    began = time.perf_counter()
    written: dict[str, list[Path]] = {}
    for name, data, about_rows in (("penguins", penguins(), {}), ("digits", digits(), {"shape": [8, 8]})):
        contest, result = run(data)
        written[name] = keep(out, name, contest, result, about_rows)
    pictures = draw(out, contest, result, data) + draw_mathematics(out)
    print("\npictures: " + ", ".join(map(str, pictures)))
    print(
        "models:   "
        + ", ".join(str(model) for _, model in written.values())
        + " (nearline.load gives them back)"
    )
    print(
        "reports:  " + ", ".join(str(report) for report, _ in written.values()) + " (open them in a browser)"
    )
    print(f"done in {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
