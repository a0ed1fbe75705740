"""Leak checks on tables: false alarms on tables as they are, and how often a planted leak is found.

    python -m benchmarks.studies.leak_checks --out leak-checks.json
    python -m benchmarks.studies.leak_checks --quick          # scikit-learn's own tables, one repeat: does it run?

The thresholds of the checks were set on scikit-learn's tables ("tuning"); the others count false alarms. In a table whose
rows are shuffled no order of rows can be found, so whatever `row-order` says there is a false alarm.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from benchmarks.data import data_folder
from nearline.selection.checks import check

CHECKED = ("near-duplicates", "row-order", "pair-determines-target")
TUNING: dict[str, Callable[..., Any]] = {
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
    "iris": load_iris,
    "wine": load_wine,
}
FILES = {
    "banknote": "tabular_classic/banknote_authentication.csv",
    "ionosphere": "tabular_classic/ionosphere.csv",
    "mammography": "tabular_classic/mammography.csv",
    "pima": "tabular_classic/pima-indians-diabetes.csv",
    "sonar": "tabular_classic/sonar.csv",
    "winequality, red": "tabular_classic/winequality-red.csv",
    "winequality, white": "tabular_classic/winequality-white.csv",
    "penguins": "tabular_mixed/penguins.csv",
    "horse colic": "tabular_mixed/horse-colic.csv",
    "titanic": "tabular_mixed/titanic3.csv",
    "mushroom": "tabular_mixed/agaricus-lepiota.data",
    "adult": "tabular_mixed/adult.data",
}
TARGETS = {"penguins": "species", "titanic": "survived", "mushroom": "edible"}
SORTED = "sorted by class, and divided by row number"
FINDS = {
    "equal but for one column": "near-duplicates",
    "within rounding": "near-duplicates",
    SORTED: "row-order",
    "a column drifts": "row-order",
    "exclusive-or of flags": "pair-determines-target",
    "difference": "pair-determines-target",
}
SHUFFLES = 5
MOST_ROWS = 3_000  # of a table, drawn in order
NOISE = 200  # tables without any order, for the level of row-order


def tables() -> dict[str, tuple[str, Any, Any]]:
    """(role, rows, labels) by name."""
    found = {name: ("tuning", *load(return_X_y=True)) for name, load in TUNING.items()}
    folder = data_folder()
    for name, path in FILES.items() if folder is not None else ():
        assert folder is not None
        if (folder / path).exists():
            header = 0 if name in TARGETS else None
            frame = pandas.read_csv(folder / path, header=header, na_values="?", skipinitialspace=True)
            frame.columns = frame.columns.map(str)
            target = TARGETS.get(name, frame.columns[-1])  # the last column, unless it is named
            frame = frame[frame[target].notna()]
            keep = np.sort(np.random.default_rng(0).permutation(len(frame))[:MOST_ROWS])
            frame = frame.iloc[keep]
            found[name] = ("counted", frame.drop(columns=target), frame[target].to_numpy())
    return found


def some(X: Any, numbers: Any) -> Any:
    """Rows of an array or a frame."""
    return X.iloc[numbers] if callable(getattr(X, "iterrows", None)) else X[numbers]


def names_of(X: Any, y: Any, *, runs: bool = False) -> list[str]:
    """Names of findings, with folds drawn at random or, if they are runs of rows, by row number."""
    rows = np.arange(len(y))
    folds = [(np.setdiff1d(rows, test), test) for test in np.array_split(rows, 5)] if runs else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [one.name for one in check(X, y, folds=folds) if one.name in CHECKED]


def planted(X: Any, y: Any, rng: np.random.Generator) -> dict[str, tuple[Any, Any]]:
    """The same table with one leak each: numbers only."""
    X = np.asarray(X, dtype=np.float64)
    n = len(X)
    twins = rng.choice(n, max(20, n // 20), replace=False)
    near = X[twins].copy()
    near[:, 0] += 1.0 + rng.uniform(size=len(near))
    blurred = X[twins] * (1 + 1e-7 * rng.normal(size=(len(near), X.shape[1])))
    moving = np.column_stack([X, np.linspace(0, 1, n) + 0.3 * rng.normal(size=n)])
    flag, codes = rng.integers(0, 2, n), np.unique(y, return_inverse=True)[1]
    base = rng.normal(size=n)
    order = np.argsort(codes, kind="stable")
    return {
        "equal but for one column": (np.vstack([X, near]), np.append(y, y[twins])),
        "within rounding": (np.vstack([X, blurred]), np.append(y, y[twins])),
        SORTED: (X[order], y[order]),
        "a column drifts": (moving, y),
        "exclusive-or of flags": (np.column_stack([X, flag, flag ^ (codes == codes[0])]), codes == codes[0]),
        "difference": (np.column_stack([X, base, base + rng.normal(size=n)]), None),
    }


def _difference(X: Any) -> Any:
    return X[:, -1] > X[:, -2]


def run(*, quick: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"tables": [], "planted": []}
    rng = np.random.default_rng(0)
    for name, (role, X, y) in tables().items():
        if quick and role != "tuning":
            continue
        numbers = rng.permutation(len(y))
        start = time.perf_counter()
        as_is = names_of(X, y)
        seconds = time.perf_counter() - start
        repeats = 1 if quick else SHUFFLES
        shuffled: list[list[str]] = []
        for _ in range(repeats):
            order = rng.permutation(numbers)
            shuffled.append(names_of(some(X, order), np.asarray(y)[order]))
        counts = {one: sum(one in names for names in shuffled) for one in CHECKED}
        found["tables"].append(
            {"table": name, "role": role, "rows": len(y), "as it is": as_is, "shuffles": repeats}
            | {"shuffled": counts, "seconds": round(seconds, 3)}
        )
        numbers_only = X.to_numpy() if callable(getattr(X, "to_numpy", None)) else X
        plain = numbers_only.dtype.kind in "fiu" and np.isfinite(numbers_only).all()
        for leak, (rows, labels) in (
            planted(numbers_only[numbers], np.asarray(y)[numbers], rng).items() if plain else ()
        ):
            labels = _difference(rows) if labels is None else labels
            found["planted"].append(
                {
                    "table": name,
                    "role": role,
                    "leak": leak,
                    "found": names_of(rows, labels, runs=leak == SORTED),
                }
            )
    tries = 20 if quick else NOISE
    alarms = sum(
        "row-order" in names_of(rng.normal(size=(200, 10)), rng.integers(0, 2, 200)) for _ in range(tries)
    )
    found["noise"] = {"tables": tries, "alarms of row-order": alarms}
    return found


def summary(found: dict[str, Any]) -> str:
    lines = [
        "| check | false alarms on shuffled tables, tuning | counted | tables as they come that have it |"
    ]
    lines.append("|---|---|---|---|")
    for name in CHECKED:
        cells = []
        for role in ("tuning", "counted"):
            own = [one for one in found["tables"] if one["role"] == role]
            cells.append(f"{sum(o['shuffled'][name] for o in own)} of {sum(o['shuffles'] for o in own)}")
        there = [one["table"] for one in found["tables"] if name in one["as it is"]]
        lines.append(f"| `{name}` | {cells[0]} | {cells[1]} | {', '.join(there) or 'none'} |")
    lines += ["", "| planted | found |", "|---|---|"]
    for leak in dict.fromkeys(one["leak"] for one in found["planted"]):
        own = [one for one in found["planted"] if one["leak"] == leak]
        lines.append(f"| {leak} | {sum(FINDS[leak] in one['found'] for one in own)} of {len(own)} tables |")
    noise = found["noise"]
    lines.append(f"\nrow-order on noise: {noise['alarms of row-order']} of {noise['tables']} tables")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    found = run(quick=asked.quick)
    if asked.out is not None:
        asked.out.write_text(json.dumps(found, indent=1) + "\n")
    print(summary(found))


if __name__ == "__main__":
    main()
