"""Which representations and families earn their place in a preset: each pair by itself, on the tuning half of the tables.

    python -m benchmarks.studies.representations_study --out pairs.jsonl             # resumable; small tables first
    python -m benchmarks.studies.representations_study --out pairs.jsonl --summary

A pair is a family on a representation. What a contest of some pairs would choose follows from their means over folds, and
what it would score from the rows left out, so that one run serves any number of presets.
"""

import argparse
import json
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.studies.contest_study import GRID, TREES, _grid, _trees, kept, splits
from benchmarks.studies.contest_tables import Table, study_tables

Array = np.ndarray
Pair = dict[str, Any]


def pairs(X: Any, y: Array, X_test: Any, y_test: Array, names: list[str]) -> list[Pair]:
    """The best candidate of each family on each representation: its mean over folds, its score on the rows left out."""
    from nearline import TryThemAll

    contest = TryThemAll("default", features=names, test=None, progress="silent", random_state=0).fit(X, y)
    board, seconds = contest.leaderboard_, {}
    for entry in board:
        place = (entry.family, entry.representation)
        seconds[place] = seconds.get(place, 0.0) + 5 * (entry.fit_seconds + entry.predict_seconds)
    found = []
    for entry in _first(board):
        model = contest.estimator(entry).fit(X, y)
        found.append({
            "representation": entry.representation, "family": entry.family, "mean": float(board.mean(entry)),
            "accuracy": float(np.mean(model.predict(X_test) == y_test)),
            "seconds": round(seconds[entry.family, entry.representation], 3),
        })  # fmt: skip
    return found


def _first(board: Iterable[Any]) -> list[Any]:
    first: dict[tuple[str, str], Any] = {}
    for entry in board:  # the best come first
        first.setdefault((entry.family, entry.representation), entry)
    return list(first.values())


def run(tables: list[Table], out: Path, most: int, repeats: int, only: list[str] | None) -> None:
    """What is not in the file yet: a line for all pairs on one representation, and one for each reference."""
    from nearline.representations import representations

    done = {(one["table"], one["seed"], one["what"]) for one in kept(out)}
    for table in tables:
        for seed, X, y, X_test, y_test in splits(table, most, repeats):
            named = [one.name for one in representations(X, "thorough")]
            for what in [name for name in (*named, GRID, TREES) if only is None or name in only]:
                if (table.name, seed, what) in done:
                    continue
                start = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    if what in named:
                        found = pairs(X, y, X_test, y_test, [what])
                    else:
                        model = {GRID: _grid, TREES: _trees}[what](X, y)
                        found = [{"accuracy": float(np.mean(model.predict(X_test) == y_test))}]
                took = round(time.perf_counter() - start, 2)
                one = {"table": table.name, "seed": seed, "what": what, "took": took, "pairs": found}
                with out.open("a") as file:
                    file.write(json.dumps(one) + "\n")
                print(f"{table.name:18} split {seed} {what:16} {took:6.1f} s", flush=True)


SCALED, AS_IS = ("standardized", "table"), ("as-is", "table-minmax")
ADDED = ("splines", "values", "quantile", "robust", "unit-length")
FAMILIES_ADDED = ("kernel SVM", "k-NN, L1")


def presets() -> dict[str, tuple[tuple[str, ...], tuple[str, ...] | None]]:
    """Representations, and families where not all of the default ones."""
    from nearline.selection.families import QUICK

    found: dict[str, Any] = {"quick": (SCALED, QUICK)}
    for place, one in enumerate(FAMILIES_ADDED):
        found[f"quick + {one}"] = (SCALED, (*QUICK, *FAMILIES_ADDED[: place + 1]))
    found |= {"standardized": (SCALED, None), "and as they are": ((*SCALED, *AS_IS), None)}
    for one in ADDED:
        found[f"and {one}"] = ((*SCALED, *AS_IS, one, f"table-{one}"), None)
    return found


def summary(results: list[dict[str, Any]]) -> str:
    """What contests of some pairs would score, beside the references, on tables that have both."""
    splits_: dict[tuple[str, int], dict[str, list[Pair]]] = {}
    for one in results:
        splits_.setdefault((one["table"], one["seed"]), {})[one["what"]] = one["pairs"]
    whole = [by for by in splits_.values() if GRID in by and TREES in by]
    lines = [
        f"{len(whole)} splits; accuracy, wins and losses beside the grid and the boosted trees, seconds of fits"
    ]
    for name, (of, families) in presets().items():
        taken, seconds = [], 0.0
        for by in whole:
            listed = [
                one
                for what in of
                for one in by.get(what, ())
                if families is None or one["family"] in families
            ]
            taken.append(max(listed, key=lambda one: round(one["mean"], 9))["accuracy"])
            seconds += sum(one["seconds"] for one in listed)
        text = f"{name:24} {np.mean(taken):.4f}"
        for other in (GRID, TREES):
            d = np.array(taken) - [by[other][0]["accuracy"] for by in whole]
            text += f"   {(d > 1e-9).sum()} : {(d < -1e-9).sum()}, {d.mean():+.4f}"
        lines.append(f"{text}   {seconds:.0f} s")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="a file of results, one a line")
    parser.add_argument("--tables", nargs="+", help="only these")
    parser.add_argument("--only", nargs="+", help="only these representations or references")
    parser.add_argument("--most-rows", type=int, default=1500)
    parser.add_argument("--repeats", type=int, default=1, help="splits of a table")
    parser.add_argument("--summary", action="store_true", help="of the file alone: nothing is run")
    asked = parser.parse_args()
    if not asked.summary:
        tables = [
            one for one in study_tables() if one.half == "tuning" and one.name in (asked.tables or [one.name])
        ]
        tables.sort(key=lambda one: one.rows(asked.most_rows)[0].size)
        run(tables, asked.out, asked.most_rows, asked.repeats, asked.only)
    print(summary(kept(asked.out)))


if __name__ == "__main__":
    main()
