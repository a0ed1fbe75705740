"""Openings: how often test rows were opened, and for how many models, kept in a file over sessions."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nearline._atomic.whole import WriteError, alone_in, check_place, written_whole


@dataclass(frozen=True)
class Openings:
    """How often, and for how many models."""

    openings: int = 0
    models: int = 0


def record_opening(path: Path | str, test: str, model: str) -> Openings:
    """Count one more opening of the test rows of a fingerprint for a model, in a file that knows the earlier ones.

    The file is written whole or not at all. Where the system can lock folders, sessions that open at the same time wait for
    each other.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = f"{folder}/openings.json"
    ...     [record_opening(file, "rows", model) for model in ("a", "b", "a")][-1]
    Openings(openings=3, models=2)
    """
    place = check_place(path)
    with alone_in(place.parent):
        known = _read(place)
        entry = known.setdefault(test, {"openings": 0, "models": []})
        entry["openings"] += 1
        entry["models"] = sorted({*entry["models"], model})
        with written_whole(path, "w", encoding="utf-8") as file:
            json.dump({"tests": known}, file, indent=1)
    return Openings(entry["openings"], len(entry["models"]))


def check_record(path: Path | str) -> None:
    """Refuse a file that is no record before the work, not after it."""
    try:
        check_place(path)
    except WriteError as error:
        raise ValueError(f"The record of openings: {error}") from error
    _read(Path(path))


def _read(path: Path) -> dict[str, Any]:
    """{fingerprint of test rows: {openings, models}}."""
    if not path.exists():
        return {}
    try:
        tests = json.loads(path.read_text(encoding="utf-8"))["tests"]
        whole = all(one["openings"] >= len(set(one["models"])) > 0 for one in tests.values())
    except (ValueError, KeyError, TypeError, AttributeError):
        whole = False
    if not whole:
        raise ValueError(
            f"{path} is not a record of openings: name another file, or one that is not there yet."
        )
    return dict(tests)
