"""Images: handwritten digits; curves over k, alpha and the number of rows.   python -m examples.images"""

from pathlib import Path
from typing import Any

from sklearn.datasets import load_digits

from examples._common import show
from nearline import TryThemAll, learning_curve, plots, reliability_curve


def main(preset: str = "default", out: Path = Path("out/examples")) -> Any:
    X, y = load_digits(return_X_y=True)
    contest = TryThemAll(preset, scoring=["accuracy", "log-loss"]).fit(X, y)
    result = show(contest, out, "images")
    board = contest.leaderboard_
    axes = {
        "k": plots.plot_candidates(board, ["k-NN, L2", "k-NN, cosine"]),
        "alpha": plots.plot_candidates(board, ["logistic, L2", "SVM, squared hinge"]),
        "learning": plots.plot_curve(learning_curve(contest.estimator(contest.best_), X, y)),
    }
    if result.predictions.probabilities() is not None:
        curve = reliability_curve(y[contest.test_rows_], result.predictions.probabilities(), result.classes)
        axes["reliability"] = plots.plot_reliability(curve)
    for name, ax in axes.items():
        ax.figure.savefig(out / f"images-{name}.png", dpi=110)
    return result


if __name__ == "__main__":
    main()
