"""What a contest leaves behind: all of its files or none, and never over files that were there."""

import csv
import json
import math
import os
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nearline import save
from nearline.data import DataError
from nearline.selection.opened import Opened
from nearline.selection.try_all import TryThemAll
from nearline.whole import written_whole


def check_folder(out: Path, force: bool) -> None:
    """Refuse, before work starts, a folder that has files."""
    if out.exists() and not out.is_dir():
        raise DataError(f"{out} is a file, and results need a folder: give another --out.")
    if out.is_dir() and any(out.iterdir()) and not force:
        raise DataError(f"{out} has files already: give another --out, or --force to write over them.")


def check_file(out: Path, *, named: bool, force: bool) -> None:
    """Refuse a file that is there, unless the person named it."""
    if out.is_dir() or not out.resolve().parent.is_dir():
        raise DataError(f"{out} cannot be written: give the name of a file in a folder that exists.")
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
    result: Opened | None
    facts: dict[str, Any]
    source: dict[str, Any]
    written: list[Path] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def clean(self) -> dict[str, Any]:
        """The facts as JSON has them."""
        found: dict[str, Any] = clean(self.facts)
        return found

    def write(self) -> None:
        """Write all files beside their folder, then move them there, the report first."""
        place = Path(os.path.realpath(self.folder))
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".nearline-", dir=place.parent) as made:
            beside = Path(made)
            names = self._files(beside)
            place.mkdir(exist_ok=True)
            if "report.html" not in names:  # an older one would be of another contest
                (place / "report.html").unlink(missing_ok=True)
            for name in names:
                shutil.move(beside / name, place / name)
        self.written = [self.folder / name for name in names]

    def _files(self, folder: Path) -> list[str]:
        names = ["model.nearline", "leaderboard.csv", "result.json"]
        facts = self.clean
        save(self.contest.model_, folder / names[0], facts=facts)
        with written_whole(folder / names[1], "w", newline="", encoding="utf-8") as file:
            _table(file, self.contest.leaderboard_.records())
        report = self._report(folder / "report.html")
        with written_whole(folder / names[2], "w", encoding="utf-8") as file:
            json.dump(facts | {"report": report}, file, indent=1)
        return (["report.html"] if report is not None else []) + names

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
        writer.writerow(plain)
