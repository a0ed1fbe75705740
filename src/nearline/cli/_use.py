"""``nearline predict``, ``evaluate`` and ``inspect``: what is done with a model file."""

import csv
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from nearline import inspect as inspected
from nearline import load
from nearline.answers import answers_of
from nearline.data import DataError, Schema, batches, read
from nearline.selection.opened import LockedRows, intervals_of
from nearline.selection.scoring import SCORERS
from nearline.whole import written_whole


def run_predict(model_file: Path, data: Path, proba: bool, out: Path | None) -> None:
    """A line for each row, in order: the label and, if asked for, the probabilities."""
    model, schema = load(model_file), _schema(model_file)
    if proba and not callable(getattr(model, "predict_proba", None)):
        raise DataError(
            "This model gives no probabilities: leave --proba out, or try again with calibration."
        )
    names = ["label", *(f"probability of {label}" for label in model.classes_.tolist() if proba)]
    with _sink(out, names) as write:
        for part in batches(data, like=schema):
            labels = model.predict(part.X).tolist()
            chances = model.predict_proba(part.X).tolist() if proba else [[] for _ in labels]
            for label, row in zip(labels, chances, strict=True):
                write([label, *(round(p, 6) for p in row)])


def run_evaluate(model_file: Path, data: Path, target: str | None, as_json: bool) -> None:
    """Scores with intervals on labelled rows."""
    model, schema = load(model_file), _schema(model_file)
    table = read(data, target or schema.target, like=schema)
    if table.y is None:
        raise DataError(f"{data} has no labels to compare with: name their column with --target.")
    y = np.asarray(table.y)
    classes = np.unique(np.concatenate([model.classes_, y]))
    codes = np.searchsorted(classes, y)
    answers = answers_of(model, table.X, classes).settled()
    scorers = [SCORERS[name] for name in ("accuracy", "balanced-accuracy", "auc", "log-loss")]
    intervals = intervals_of(answers, codes, classes, LockedRows(y), scorers, 0)
    scores = {s.name: s(answers, codes, classes) for s in scorers}
    if as_json:
        bounds = {name: [interval.low, interval.high] for name, interval in intervals.items()}
        print(json.dumps({"rows": len(y), "scores": scores, "intervals": bounds}).replace("NaN", "null"))
        return
    print(f"{data}: {len(y):,} rows")
    for name, score in scores.items():
        interval = intervals[name]
        shown = "n/a" if np.isnan(score) else f"{score:.4f}"
        said = f" (95% interval {interval.low:.4f} to {interval.high:.4f})" if interval.defined else ""
        print(f"  {name} {shown}{said}")


def run_inspect(model_file: Path, as_json: bool) -> None:
    """The header of a model file."""
    about = inspected(model_file)
    facts: dict[str, Any] = {**vars(about)}
    if as_json:
        print(json.dumps(facts, default=str))
        return
    made = facts.pop("facts") or {}
    for name, value in {**facts, **made}.items():
        print(f"{name}: {value if not isinstance(value, (dict, list)) else json.dumps(value, default=str)}")


def _schema(model_file: Path) -> Schema:
    """How the data of the model was read."""
    facts = inspected(model_file).facts or {}
    classes = facts.get("classes")
    return Schema(
        columns=facts.get("columns"),
        classes=None if classes is None else tuple(classes),
        target=facts.get("target"),
        n_features=facts.get("features"),
    )


@contextmanager
def _sink(out: Path | None, names: list[str]) -> Iterator[Any]:
    """A function that writes rows: to standard output, or to a file that appears when all is written."""
    if out is None:
        writer = csv.writer(sys.stdout)
        writer.writerow(names)
        yield writer.writerow
        return
    with written_whole(out, "w", newline="", encoding="utf-8") as file:
        if out.suffix == ".jsonl":
            yield lambda row: file.write(json.dumps(dict(zip(names, row, strict=True))) + "\n")
        else:
            writer = csv.writer(file)
            writer.writerow(names)
            yield writer.writerow
