"""Writers that are killed at every point where they call the system, and disks that refuse them."""

import os
import resource
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import nearline
from benchmarks.attacks import NOTHING, REFUSED, SURVIVED, Outcome, failed
from nearline._atomic.whole import written_whole
from nearline._atomic.whole_set import settled, written_set
from nearline.cli._sinks import sink
from nearline.neighbors.index import Index
from nearline.selection.openings import record_opening

CALLS = ("open", "replace", "rename", "fsync", "unlink", "rmdir", "mkdir", "chmod", "close", "scandir")
KILLED = 9
X = np.arange(12.0).reshape(6, 2)
Write = Callable[[Path, int], object]


def killed_at(n: int, work: Callable[[], object]) -> int:
    """What a copy of this process ends with if it dies before its n-th call of the system: KILLED, or 0 if it got through."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        left = [n]
        for name in CALLS:
            setattr(os, name, _counting(getattr(os, name), left))
        work()
    except BaseException:
        os._exit(1)
    os._exit(0)


def _counting(call: Callable[..., Any], left: list[int]) -> Callable[..., Any]:
    def counted(*arguments: Any, **keywords: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            os._exit(KILLED)
        return call(*arguments, **keywords)

    return counted


def _model(path: Path, version: int) -> None:
    nearline.save(nearline.NearestCentroid().fit(X + version, [0, 0, 0, 1, 1, 1]), path)


def _text(path: Path, version: int) -> None:
    with written_whole(path, "w", encoding="utf-8") as file:
        file.write(f"version {version}\n" * 5000)


def _predictions(path: Path, version: int) -> None:
    with sink(path.with_suffix(".csv"), ["label"], ["integer"]) as write:
        write([version])


# Each writes one file, of a version.
WRITERS: dict[str, Write] = {
    "model": _model,
    "index": lambda path, version: Index(X + version).save(path),
    "openings": lambda path, version: record_opening(path, "rows", f"model {version}"),
    "predictions": _predictions,
    "text": _text,
}


def files_in(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.is_file()}


def hidden_in(folder: Path) -> list[str]:
    return sorted(
        str(one.relative_to(folder)) for one in folder.rglob("*") if one.name.startswith(".nearline")
    )


def kills_of_a_file(name: str, folder: Path) -> Outcome:
    """After each death the old file or the new one is there, and the next writer leaves nothing hidden."""
    write, path, outcome = WRITERS[name], folder / "file", NOTHING
    write(path, 1)
    old = files_in(folder)
    for n in range(1, 1000):
        done = killed_at(n, lambda: write(path, 2)) == 0
        found = {key: value for key, value in files_in(folder).items() if not key.startswith(".nearline")}
        whole = found == old or len(found) == 1
        if found != old:
            with suppress(FileNotFoundError):
                whole = whole and _is_new(write, folder, found)
        outcome += SURVIVED if whole else failed(f"{name}: call {n}: neither the old file nor the new one")
        for one in found:
            (folder / one).write_bytes(old[one])
        write(path, 1) if name != "openings" else record_opening(path, "rows", "model 1")
        if hidden_in(folder):
            outcome += failed(f"{name}: call {n}: {hidden_in(folder)} is left")
        for one in old:
            (folder / one).write_bytes(old[one])
        if done:
            return outcome
    return outcome + failed(f"{name}: there is no end of calls")


def _is_new(write: Write, folder: Path, found: dict[str, bytes]) -> bool:
    """Whether a file is what the writer writes when nobody kills it."""
    other = folder.parent / f"{folder.name}-whole"
    other.mkdir(exist_ok=True)
    if not any(other.iterdir()):
        write(other / "file", 1)
        write(other / "file", 2)
    return files_in(other) == found


OLD_SET = {"report.html": "old", "model.nearline": "old", "result.json": "old"}
NEW_SET = {"report.html": "new", "result.json": "new"}
OWNED = ("report.html", "model.nearline", "leaderboard.csv", "result.json")


def write_set(folder: Path, files: dict[str, str]) -> None:
    with written_set(folder, OWNED) as made:
        for name, text in files.items():
            with written_whole(made / name, "w") as file:
                file.write(text)


def kills_of_a_set(beside: bool, folder: Path) -> Outcome:
    """After each death all old files or all new ones are there; with others ``beside`` them never some of both."""
    place, outcome = folder / "out", NOTHING
    for n in range(1, 2000):
        place.mkdir(exist_ok=True)
        for one in place.iterdir():
            one.unlink()
        for name, text in OLD_SET.items():
            (place / name).write_text(text)
        if beside:
            (place / "mine.txt").write_text("mine")
        done = killed_at(n, lambda: write_set(place, NEW_SET)) == 0
        outcome += SURVIVED if _one_set(place, beside) else failed(f"set: call {n}: {files_in(place)}")
        settled(place, OWNED)
        found = {name: text.decode() for name, text in files_in(place).items()}
        kept = found.pop("mine.txt", None) == ("mine" if beside else None)
        if not kept or found not in (OLD_SET, NEW_SET):
            outcome += failed(f"set: call {n}, completed: {found}")
        if hidden_in(folder):
            outcome += failed(f"set: call {n}: {hidden_in(folder)} is left")
        if done:
            return outcome
    return outcome + failed("set: there is no end of calls")


def _one_set(place: Path, beside: bool) -> bool:
    found = {name: text.decode() for name, text in files_in(place).items() if name in OWNED}
    return len(set(found.values())) <= 1 if beside else found in (OLD_SET, NEW_SET)


def faults() -> Iterator[tuple[str, Callable[[Path], Path], int | None]]:
    """What can be wrong with a place: (name, the path to write to, most bytes of a file)."""
    yield "a full disk", lambda folder: folder / "file", 4
    yield "a folder", lambda folder: folder, None
    yield "no folder", lambda folder: folder / "none" / "file", None
    yield "a file for a folder", lambda folder: _there(folder) / "file", None
    yield "a long name", lambda folder: folder / ("x" * 300), None
    yield "a zero", lambda folder: folder / "a\0b", None
    yield "a device", lambda folder: Path("/dev/null"), None


def _there(folder: Path) -> Path:
    (folder / "there").write_text("x")
    return folder / "there"


def refused_by_a_disk(name: str, folder: Path) -> Outcome:
    """Each fault gets a sentence from each writer, in another process, and the folder is as it was."""
    outcome = NOTHING
    for fault, at, most in faults():
        if name == "predictions" and fault in ("a folder", "a device"):
            continue  # the ending makes it another place
        path = at(folder)
        before = files_in(folder)
        status = _in_a_process(lambda path=path: WRITERS[name](path, 1), most)
        kept = files_in(folder) == before and not hidden_in(folder)
        outcome += (
            REFUSED
            if status == 0 and kept
            else failed(f"{name}: {fault}: {status}, {sorted(files_in(folder))}")
        )
    return outcome


def _in_a_process(work: Callable[[], object], most: int | None) -> int:
    """0: refused by a sentence; 1: it was written; 2: something else."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if most is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    try:
        work()
    except (ValueError, OSError) as error:
        os._exit(0 if "cannot be" in str(error) else 2)
    except BaseException:
        os._exit(3)
    os._exit(1)
