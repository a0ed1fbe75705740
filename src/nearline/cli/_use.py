"""``nearline predict``, ``evaluate`` and ``inspect``: what is done with a model file."""

import json
import sys
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from nearline._records.visible import visible
from nearline._records.words import many
from nearline.cli._errors import note
from nearline.cli._explain import Explainer
from nearline.cli._folders import is_folder, predict_folder
from nearline.cli._output import clean
from nearline.cli._positive import label_of
from nearline.cli._reading import (
    Reading,
    files_of,
    model_reading,
    model_schema,
    of_the_models_kind,
    parts,
    rows_of,
    tell_notes,
)
from nearline.cli._shown import print_json
from nearline.cli._sinks import check_ending, check_out, sink
from nearline.data import DataError
from nearline.explain.words import STRONGEST
from nearline.files import inspect as inspected
from nearline.files import load
from nearline.predictions import predictions_of
from nearline.selection.cells import shown
from nearline.selection.fingerprints import fingerprint
from nearline.selection.intervals.of_scores import Sample, intervals_of
from nearline.selection.progress import as_progress
from nearline.selection.scoring import scorers_for

KINDS = {"i": "integer", "u": "integer", "f": "number", "b": "boolean"}
EVALUATED = [
    "accuracy",
    "balanced-accuracy",
    "precision",
    "recall",
    "f1",
    "mcc",
    "auc",
    "average-precision",
    "log-loss",
    "brier",
]
LONG = 300  # characters of a fact that are shown


def run_predict(
    model_file: Path,
    data: Path,
    proba: bool,
    explain: bool,
    out: Path | None,
    reading: Reading,
    *,
    raw: bool = False,
) -> None:
    """A line for each row, in order: the label and, if asked for, the probabilities and the reason."""
    if out is not None and is_folder(data, out):
        _check_proba(load(model_file), proba)
        shown = as_progress("auto" if sys.stderr.isatty() else "lines")
        predict_folder(model_file, data, out, reading, proba=proba, explain=explain, progress=shown)
        return
    check_ending(out)
    explainer = Explainer(model_file)
    model = explainer.model
    _check_proba(model, proba)
    labels = model.classes_
    names = ["label", *(f"probability of {label}" for label in labels.tolist() if proba)]
    types = [KINDS.get(labels.dtype.kind, "string"), *("number" for _ in names[1:])]
    if explain:
        names, types = [*names, "because"], [*types, "string"]
    if data.is_dir():
        names, types = ["file", *names], ["string", *types]
    found, aside = 0, 0
    waiting = parts(data, explainer.schema, model_reading(model_file, reading))
    first = next(waiting, None)
    if first is None:
        raise DataError(
            f"{data} has no rows to predict: it is empty, or its only line has the names of columns."
        )
    check_out(out)  # what is wrong with the data is said first
    tell_notes(first)
    with sink(out, names, types, raw=raw) as write:
        for part in chain([first], waiting):
            found += len(part)
            rows = _predictions(explainer, part.X, proba, explain)
            if proba:
                aside += sum(_is_aside(row, labels.tolist()) for row in rows)
            if data.is_dir():
                files = files_of(data, part) or [""] * len(rows)
                rows = [[file, *row] for file, row in zip(files, rows)]
            for row in rows:
                write(row)
    if aside:
        note(
            f"of {aside:,} of {many(found, 'row')} another class has a larger probability than the label: the label is what "
            "the model's scores decide, the probabilities were calibrated afterwards"
        )


def _check_proba(model: Any, proba: bool) -> None:
    if proba and not callable(getattr(model, "predict_proba", None)):
        raise DataError(
            "This model gives no probabilities: leave --proba out, or try again with --scoring log-loss, which chooses "
            "among those that do."
        )


def _is_aside(row: list[Any], labels: list[Any]) -> bool:
    """Whether a row of answers, (label, probabilities, ...), has a probability above that of the label."""
    probabilities = row[1 : 1 + len(labels)]
    return bool(max(probabilities) > probabilities[labels.index(row[0])])


def _predictions(explainer: Explainer, X: Any, proba: bool, explain: bool) -> list[list[Any]]:
    rows, model = rows_of(X), explainer.model
    lines = [[label] for label in model.predict(rows).tolist()]
    if proba:
        for line, probabilities in zip(lines, model.predict_proba(rows).tolist(), strict=True):
            line += [round(probability, 6) for probability in probabilities]
    if explain:
        for line, reason in zip(lines, explainer.reasons(X, STRONGEST), strict=True):
            line.append(explainer.sentence(reason))
    return lines


def run_evaluate(model_file: Path, data: Path, reading: Reading, positive: str | None, as_json: bool) -> None:
    """Scores with intervals on labeled rows."""
    model, schema = load(model_file), model_schema(model_file)
    known = inspected(model_file).facts or {}
    given = known.get("target_given")
    said = model_reading(model_file, reading)
    target = said.target or (None if said.labels else given)
    table = Reading(target, said.labels, None, (), said.options).table(data, schema)
    of_the_models_kind(table, schema, data)
    if table.y is None:
        raise DataError(f"{data} has no labels to compare with: name their column with --target.")
    y = np.asarray(table.y)
    classes = np.unique(np.concatenate([model.classes_, y]))
    codes = np.searchsorted(classes, y)
    predictions = predictions_of(model, rows_of(table.X), classes).settled()
    chosen = known.get("positive") if positive is None and len(classes) == 2 else label_of(positive, classes)
    scorers, positive_label = scorers_for(EVALUATED, classes, codes, chosen)
    intervals = intervals_of(scorers, predictions, Sample(codes, classes))
    scores = {s.name: s(predictions, codes, classes) for s in scorers}
    seen = known.get("fingerprint") == fingerprint(table.X, y)
    if as_json:
        ends = {name: asdict(interval) for name, interval in intervals.items()}
        found = {
            "rows": len(y),
            "positive": positive_label,
            "ranked_by": predictions.ranked_by,
            "scores": scores,
        }
        found |= {"intervals": ends, "seen_in_training": seen}
        print_json(clean(found))
        return
    print(f"{visible(data)}: {many(len(y), 'row')}")
    tell_notes(table)
    if seen:
        note("these are the rows that the model was made of: what it scores on them is no test")
    for scorer in scorers:
        score, interval = scores[scorer.name], intervals[scorer.name]
        ends_said = "the model or the rows do not define it" if np.isnan(score) else interval.said()
        print(f"  {visible(scorer.title)} {shown(score)} ({ends_said})")
    if predictions.ranked_by is not None:
        print(f"  auc, average-precision: rows ranked by {predictions.ranked_by}")


def run_inspect(model_file: Path, as_json: bool) -> None:
    """The header of a model file, once it is sure that the rest is intact too."""
    facts: dict[str, Any] = {**vars(inspected(model_file, whole=True))}
    if as_json:
        print_json(clean(facts))
        return
    made = facts.pop("facts") or {}
    for name, value in {**facts, **made}.items():
        if value is None or value in ({}, []):
            continue
        listed = isinstance(value, (dict, list))
        text = visible(json.dumps(clean(value), ensure_ascii=False) if listed else value)
        print(f"{visible(name)}: {text if len(text) <= LONG else text[: LONG - 3] + '...'}")
