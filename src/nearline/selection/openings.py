"""Openings: how often test rows were opened, and for how many models, kept in a file over sessions."""

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nearline.answers import Answers
from nearline.whole import written_whole

fcntl: Any
try:
    import fcntl
except ImportError:  # a system without such locks
    fcntl = None


@dataclass(frozen=True)
class Openings:
    """How often, and for how many models."""

    openings: int
    models: int


def model_key(model: str, answers: Answers) -> str:
    """Equal for models of the same parameters that answer all test rows alike."""
    return hashlib.sha256(model.encode() + answers.labels.tobytes()).hexdigest()


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
    path = Path(path)
    with _alone_in(path.resolve().parent):
        known = _read(path)
        entry = known.setdefault(test, {"openings": 0, "models": []})
        entry["openings"] += 1
        entry["models"] = sorted({*entry["models"], model})
        with written_whole(path, "w", encoding="utf-8") as file:
            json.dump({"tests": known}, file, indent=1)
    return Openings(entry["openings"], len(entry["models"]))


def check_record(path: Path | str) -> None:
    """Refuse a file that is no record before the work, not after it."""
    folder = Path(path).resolve().parent
    if not folder.is_dir():
        raise ValueError(f"The record of openings cannot be written: there is no folder {folder}.")
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


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """While no other session is in here, where the system has such locks."""
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
