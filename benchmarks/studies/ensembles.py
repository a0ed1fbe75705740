"""Whether the ensemble helps: contests on small tables, with it and without it, each opened on rows that were left out.

    python -m benchmarks.studies.ensembles --out ensembles.jsonl
    python -m benchmarks.studies.ensembles --out ensembles.jsonl --summary
    python -m benchmarks.studies.ensembles --quick          # two tables, one split: does it run?

One contest serves both: without the ensemble its best single candidate is fitted to the same training part of at most 200
rows, drawn at random by class; the others, at most 1,000, are opened. Each result is a line of the file as soon as it is
known.
"""

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from benchmarks.studies.contest_study import kept
from benchmarks.studies.contest_tables import study_tables

BUNDLED = {"breast cancer": load_breast_cancer, "digits": load_digits, "iris": load_iris, "wine": load_wine}
FILES = ("banknote", "horse-colic", "ionosphere", "penguins", "promoters", "sonar", "winequality-red")
MOST_ROWS = 1_200
TRAINED = 200
SPLITS = 4
LEFT_OUT = 1 / 3  # at least
SCORINGS = ("accuracy", "log-loss")


def tables() -> dict[str, tuple[Any, Any]]:
    """At most so many rows of each, in an order by chance."""
    found: dict[str, tuple[Any, Any]] = {}
    for name, load in BUNDLED.items():
        X, y = load(return_X_y=True)
        some = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
        found[name] = X[some], y[some]
    for table in study_tables():
        if table.name in FILES and table.source == "data folder":
            found[table.name] = table.rows(MOST_ROWS)
    return found


def one_split(X: Any, y: Any, scoring: str, seed: int, preset: str) -> dict[str, Any]:
    """Scores on the rows left out with the ensemble and without it, those on the folds, and what the ensemble took."""
    from nearline import TryThemAll

    train, test = train_test_split(
        np.arange(len(y)),
        train_size=min(TRAINED, int(len(y) * (1 - LEFT_OUT))),
        stratify=y,
        random_state=seed,
    )
    rows = (lambda numbers: X.iloc[numbers]) if callable(getattr(X, "iterrows", None)) else X.__getitem__
    start = time.perf_counter()
    contest = TryThemAll(preset, scoring=scoring, test=None, beside="ensemble", progress="silent").fit(
        rows(train), y[train]
    )
    seconds = time.perf_counter() - start
    board = contest.leaderboard_
    single = next(entry for entry in board if not entry.members)
    together = next((entry for entry in board if entry.members), None)
    alone = (
        contest.model_ if contest.chosen_ is single else contest.estimator(single).fit(rows(train), y[train])
    )
    spent = board.account.spent.get("ensemble", 0.0)
    return {
        "scoring": scoring, "seed": seed, "rows": len(train), "opened": len(test), "chosen": bool(contest.chosen_.members),
        "members": 0 if together is None else len(together.members),
        "with scores only": 0 if together is None else sum(m.temperature is not None for m in together.members),
        "on": opened(contest.model_, rows(test), y[test], scoring), "off": opened(alone, rows(test), y[test], scoring),
        "on the folds": None if together is None else board.mean(together), "single on the folds": board.mean(single),
        "always": None if together is None else opened(
            contest.model_ if contest.chosen_ is together else contest.estimator(together).fit(rows(train), y[train]),
            rows(test), y[test], scoring),
        "seconds": round(seconds, 2), "seconds of the ensemble": round(spent, 3),
    }  # fmt: skip


def opened(model: Any, X: Any, y: Any, scoring: str) -> float:
    if scoring == "accuracy":
        return float(np.mean(model.predict(X) == y))
    return float(log_loss(y, model.predict_proba(X), labels=model.classes_))


def run(
    *, quick: bool, preset: str, scorings: tuple[str, ...], splits: int, out: Path | None
) -> list[dict[str, Any]]:
    found, every = [], tables()
    for seed in range(1 if quick else splits):  # first of all: a slice is a study too
        for scoring in scorings:
            for name, (X, y) in every.items():
                if quick and name not in ("iris", "wine"):
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    one = {"table": name, "preset": preset} | one_split(X, y, scoring, seed, preset)
                found.append(one)
                print(json.dumps(one), flush=True)
                if out is not None:
                    with out.open("a") as file:
                        file.write(json.dumps(one) + "\n")
    return found


def summary(results: list[dict[str, Any]]) -> str:
    """A line for each preset and score: means over tables, wins and losses, and how the promise of folds held."""
    lines = []
    for preset, scoring in dict.fromkeys((one["preset"], one["scoring"]) for one in results):
        sign = 1 if scoring == "accuracy" else -1
        own = [one for one in results if (one["preset"], one["scoring"]) == (preset, scoring)]
        lines += [
            "",
            f"| {preset}, {scoring}, opened | single | with the ensemble | gain | chosen in |",
            "|---|---|---|---|---|",
        ]
        gains = []
        for name in dict.fromkeys(one["table"] for one in own):
            here = [one for one in own if one["table"] == name]
            means = [np.mean([one[which] for one in here]) for which in ("off", "on")]
            gains.append(sign * (means[1] - means[0]))
            chosen = f"{sum(one['chosen'] for one in here)} of {len(here)}"
            lines.append(f"| {name} | {means[0]:.4f} | {means[1]:.4f} | {gains[-1]:+.4f} | {chosen} |")
        better, worse = (sum(sign * gain > 1e-9 for gain in gains) for sign in (1, -1))
        joined = [one for one in own if one["on the folds"] is not None]
        promised = np.mean([sign * (one["on the folds"] - one["single on the folds"]) for one in joined])
        always = np.mean([sign * (one["always"] - one["off"]) for one in joined])
        share = sum(one["seconds of the ensemble"] for one in own) / sum(one["seconds"] for one in own)
        error = float(np.std(gains, ddof=1)) / len(gains) ** 0.5
        lines.append(
            f"\nmean gain {np.mean(gains):+.4f} (standard error over tables {error:.4f}): better on {better}, "
            f"worse on {worse} of {len(gains)} tables"
        )
        lines.append(
            f"the ensemble, chosen or not, beside the best single: on the folds {promised:+.4f}, opened {always:+.4f}; "
            f"chosen in {sum(one['chosen'] for one in own)} of {len(own)} contests; {share:.0%} of the time"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path)
    parser.add_argument("--preset", default="default")
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--scoring", nargs="+", default=list(SCORINGS))
    parser.add_argument("--quick", action="store_true", help="two tables, one split, the quick preset")
    parser.add_argument("--summary", action="store_true", help="of the file alone: nothing is run")
    asked = parser.parse_args()
    preset = "quick" if asked.quick else asked.preset
    if asked.summary:
        print(summary(kept(asked.out)))
        return
    scorings = tuple(asked.scoring)
    print(
        summary(run(quick=asked.quick, preset=preset, scorings=scorings, splits=asked.splits, out=asked.out))
    )


if __name__ == "__main__":
    main()
