"""What a contest leaves behind: all of its files or none, and never over files that were there."""

import csv
import json
import math
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nearline import save
from nearline._atomic.whole import WriteError, check_place, place_of, written_whole
from nearline._atomic.whole_set import is_empty, settled, written_set
from nearline.cli._cells import to_cell
from nearline.cli._ending import Ending
from nearline.data import DataError
from nearline.selection.nested import forget
from nearline.selection.test_result import TestResult
from nearline.selection.try_all import TryThemAll

JOURNAL = "journal.jsonl"
FILES = ("report.html", "model.nearline", "leaderboard.csv", "result.json", JOURNAL)
MOST_ROWS = 200_000  # numbers of training rows that a model file holds


def check_folder(out: Path, force: bool) -> None:
    """Refuse, before work starts, a folder that has files or cannot be written."""
    if out.exists() and not out.is_dir():
        raise DataError(f"{out} is a file, and results need a folder: give another --out.")
    settled(place_of(out), FILES)  # what a dead process left is no obstacle
    if out.is_dir() and not is_empty(out) and not force:
        raise DataError(f"{out} has files already: give another --out, or --force to write over them.")
    try:
        with there(place_of(out)) as folder, tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise DataError(f"{out} cannot be written ({error.strerror}): give another --out.") from error


@contextmanager
def there(folder: Path) -> Iterator[Path]:
    """A folder, made if need be; what was made and is empty in the end is removed again."""
    made = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
    finally:
        for one in made:
            with suppress(OSError):  # it has files, or could not be made
                one.rmdir()


def check_file(out: Path, *, named: bool, force: bool) -> None:
    """Refuse a file that is there, unless the person named it."""
    try:
        check_place(out)
    except WriteError as error:
        raise DataError(str(error)) from error
    if out.exists() and not named and not force:
        raise DataError(f"{out} is there already: give --out, or --force to write over it.")


def clean(value: Any) -> Any:
    """What JSON can hold: numbers of NumPy as Python's, infinite and undefined ones as null, the rest as text."""
    if isinstance(value, dict):
        return {str(key): clean(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(one) for one in value]
    if isinstance(value, (str, bool, int)) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    plain = getattr(value, "tolist", None)
    return clean(plain()) if plain is not None else str(value)


@dataclass
class Output:
    """The folder of a contest: report, model, leaderboard, result."""

    folder: Path
    contest: TryThemAll
    result: TestResult | None
    facts: dict[str, Any]
    source: dict[str, Any]
    ending: Ending = field(default_factory=Ending)
    written: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    failure: Exception | None = None  # why there is no model
    journal: Path | None = None  # of the contest, which goes into the folder

    @property
    def clean(self) -> dict[str, Any]:
        """The facts as JSON has them."""
        found: dict[str, Any] = clean(self.facts)
        return found

    def write(self) -> None:
        """Write all files, which take the place of those of an earlier contest together."""
        place = place_of(self.folder)
        try:
            with there(place.parent), written_set(place, FILES) as made:
                names = self._files(made)
        except OSError as error:
            said = error.strerror or str(error)
            raise DataError(f"{self.folder} cannot be written ({said}): give another --out.") from error
        self.written = [self.folder / name for name in names]
        if self.journal is not None:
            forget(self.journal)

    def _files(self, folder: Path) -> list[str]:
        facts = self.clean
        if self.contest.has_model:
            self._model(folder / "model.nearline", facts)
        with written_whole(folder / "leaderboard.csv", "w", newline="", encoding="utf-8") as file:
            _table(file, self.contest.leaderboard_.records())
        report = None
        if self.contest.has_model:
            report = self.ending.attempt("the report", lambda: self._report(folder / "report.html"))
        with written_whole(folder / "result.json", "w", encoding="utf-8") as file:
            json.dump(facts | {"report": report, "left_out": self.ending.left_out}, file, indent=1)
        if self.journal is not None and self.journal.exists():
            shutil.copyfile(self.journal, folder / JOURNAL)
        return [name for name in FILES if (folder / name).exists()]

    def _model(self, path: Path, facts: dict[str, Any]) -> None:
        """If the model cannot be written, the reason is kept and the other files are written all the same."""
        try:
            save(self.contest.model_, path, facts=self._bounded(facts))
        except Exception as error:  # a long contest is not to be lost for one of its files
            self.failure = error

    def _bounded(self, facts: dict[str, Any]) -> dict[str, Any]:
        """Facts for the model file, whose header is limited: without what grows with rows, or classes squared."""
        found = dict(facts)
        if found.get("test"):
            found["test"] = {name: value for name, value in found["test"].items() if name != "confusion"}
        if len(found.get("training_rows") or ()) > MOST_ROWS:
            found |= {"training_rows": None, "training_rows_left_out": True}
            self.notes.append(
                f"more than {MOST_ROWS:,} training rows: the model file does not say where they are in the data, so "
                "'explain' counts them within the training part"
            )
        return found

    def _report(self, path: Path) -> Any:
        """The facts of the report, which is written; None, with a note, where it cannot be."""
        try:
            from nearline.report import write_report

            return clean(write_report(path, self.contest, self.result, source=self.source))
        except Exception as error:  # a long contest is not to be lost for a picture of it
            said = " ".join(str(error).split())
            named = said if isinstance(error, ImportError) else f"{type(error).__name__}: {said}"
            self.notes.append(f"no report was written ({named})")
            return None


def _table(file: Any, records: list[dict[str, Any]]) -> None:
    writer = csv.DictWriter(file, list(records[0]), lineterminator="\n")
    writer.writeheader()
    for record in records:
        plain = {k: json.dumps(clean(v)) if isinstance(v, (dict, list)) else v for k, v in record.items()}
        writer.writerow({name: to_cell(value) for name, value in plain.items()})
