"""``nearline explain``, and the sentences of ``predict --explain``."""

from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from nearline._records.visible import row_said, visible
from nearline._records.words import many
from nearline.cli._errors import note
from nearline.cli._numbers import FileRows
from nearline.cli._reading import KEYS, Reading, files_of, model_reading, model_schema, parts, rows_of
from nearline.cli._shown import print_json
from nearline.data import DataError
from nearline.explain import Reason, facts, lines, reasons, sentence
from nearline.files import inspect as inspected
from nearline.files import load
from nearline.selection.fingerprints import fingerprint

ROWS = 5  # rows that are explained where none is named


def run_explain(
    model_file: Path, data: Path, wanted: list[int], training: Path | None, reading: Reading, as_json: bool
) -> None:
    """Why the model says what it says of some rows, counted from 1."""
    explainer = Explainer(model_file, training)
    numbers = sorted(set(wanted)) if wanted else list(range(1, ROWS + 1))
    said = model_reading(model_file, reading)
    file, explained = FileRows(data, said, numbers[-1], explainer.schema), list[int]()
    seen = Seen()
    for number, one, name in _rows(data, numbers, explainer, said, seen):
        explained.append(number)
        reason = explainer.reasons(one)[0]
        probability = explainer.probability(one, reason)
        if as_json:
            place = {"row": number, "line": file.line(number)} | ({"file": name} if name else {})
            print_json(place | explainer.facts(reason, probability), default=str)
        else:
            print(
                explainer.text(
                    f"{file.said(number)}{f', {visible(name)}' if name else ''}", reason, probability
                ),
                flush=True,
            )
    if not explained and not wanted:
        raise DataError(f"{data} has no rows to explain.")
    lacking = [number for number in numbers if number not in explained]
    if lacking and wanted:
        raise DataError(_without(data, lacking[0], seen.rows))


def _without(data: Path, row: int, rows: int) -> str:
    if row > rows:
        return f"{data} has {many(rows, 'row')}, counted from 1, and --row {row} is none of them."
    return f"Row {row:,} of {data} was left out, as it has no label or cannot be read: take another."


@dataclass
class Seen:
    """How many rows there are, as far as the data were read."""

    rows: int = 0


def _rows(data: Path, numbers: list[int], explainer: "Explainer", reading: Reading, seen: Seen) -> Any:
    """The wanted rows, one at a time, in order, with their numbers and files."""
    before, waiting = 0, list(numbers)
    for part in parts(data, explainer.schema, reading):
        files = files_of(data, part)
        known = range(len(part)) if part.places is None else part.places.tolist()
        places = {before + place + 1: at for at, place in enumerate(known)}
        for n in [n for n in waiting if n in places]:
            at = places[n]
            yield n, part.X[at : at + 1], files[at] if files else None
        seen.rows = max(places, default=before)
        waiting = [n for n in waiting if n not in places]
        if not waiting:
            return
        before += len(part)


class Explainer:
    """A model file, and what is known about its training rows."""

    def __init__(self, model_file: Path, training: Path | None = None) -> None:
        self.model, self.schema = load(model_file), model_schema(model_file)
        self.about = inspected(model_file).facts or {}
        self.classes = self.model.classes_.tolist()
        self.source = Path(training or self.about.get("data") or "")
        self._training = training
        self._file = FileRows(
            self.source, self._reading, int(self.about.get("rows_in_file") or 0), self.schema
        )

    def reasons(self, X: Any, most: int | None = None) -> list[Reason]:
        """Why each of these rows gets its label, by all or the strongest shares."""
        columns = None if self.schema.columns is None else list(self.schema.columns)
        shape = self.about.get("shape")
        return reasons(self.model, rows_of(X), columns=columns, shape=shape, most=most, place=self.place)

    def probability(self, X: Any, reason: Reason) -> float | None:
        """The probability of the label that one row gets, where the model gives any; others may have more."""
        if not callable(getattr(self.model, "predict_proba", None)):
            return None
        return float(self.model.predict_proba(rows_of(X))[0, self.classes.index(reason.label)])

    def sentence(self, reason: Reason) -> str:
        """A reason in a line."""
        return sentence(reason, self.classes, self.place)

    def text(self, row: str, reason: Reason, probability: float | None) -> str:
        """A reason as lines."""
        said = f" (probability {probability:.3f})" if probability is not None else ""
        head = f"row {row}: {visible(reason.label)}{said}"
        return "\n".join([head, *lines(reason, self.classes, self._neighbor), ""])

    def facts(self, reason: Reason, probability: float | None) -> dict[str, Any]:
        """A reason as JSON."""
        found: dict[str, Any] = {"label": reason.label, "probability": probability}
        return found | facts(reason, self.classes, self._neighbor_facts)

    def _neighbor(self, index: int) -> tuple[str, str | None]:
        return f"row {self.said(index)}", self.shown(index)

    def _neighbor_facts(self, one: dict[str, Any]) -> dict[str, Any]:
        index = one["index"]
        rest = {name: value for name, value in one.items() if name != "index"}
        return {"row": self.place(index), "line": self.line(index)} | rest | {"shown": self.shown(index)}

    def place(self, index: int) -> int:
        """The number of a training row in its file, counted from 1; in the training part, if no more is known."""
        rows = self._training_rows()
        return int(rows[index]) + 1 if rows is not None else index + 1

    def shown(self, index: int) -> str | None:
        """A training row as it stands in its file, if the file is there and unchanged, and the place is known."""
        if self.about.get("training_rows_left_out"):
            return None
        return self._source.get(self.place(index))

    def said(self, index: int) -> str:
        """The number of a training row, and its line if its file is there and unchanged."""
        return row_said(self.place(index), self.line(index))

    def line(self, index: int) -> int | None:
        """The line of a training row, if its file is there and unchanged."""
        return None if self.shown(index) is None else self._file.line(self.place(index))

    def _training_rows(self) -> Any:
        found = self.about.get("training_rows")
        return None if found is None else np.asarray(found)

    @property
    def _reading(self) -> Reading:
        """How the data of the model were read."""
        options = {key: v for key, v in (self.about.get("reading") or {}).items() if key in KEYS}
        return Reading(self.about.get("target_given"), self.about.get("labels"), options=options)

    @cached_property
    def _source(self) -> dict[int, str]:
        """What the rows of the model's data look like, by number; none, with a note, if they are not to be had."""
        try:
            table = self._reading.table(self.source, self.schema)
            X = table.X
            if self.about.get("fingerprint") not in (None, fingerprint(X, np.asarray(table.y))):
                raise DataError(f"{self.source} has changed since")
        except (DataError, ValueError, OSError) as error:
            if self._training is not None:
                raise
            note(f"training rows are not shown ({error}): give their file with --training")
            return {}
        places = range(len(table)) if table.places is None else table.places.tolist()
        files = files_of(self.source, table)
        return {place + 1: files[i] if files else _line(X, i) for i, place in enumerate(places)}


def _line(X: Any, i: int) -> str:
    """A row of a table, or the beginning of a text; numbers without names say nothing."""
    if getattr(X, "columns", None) is not None:
        return ", ".join(f"{name} {value}" for name, value in islice(X.row(i, named=True).items(), 8))
    return " ".join(str(X[i]).split())[:100] if isinstance(X, list) else ""
