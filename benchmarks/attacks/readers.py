"""Attacks on the readers of files: what expands, never ends, nests, lies about its size, or is no file at all.

Every file is made in this interpreter and read in another, whose memory and time are limited; all parts of it are asked
for, at once and in batches. A reader may refuse it by a sentence or read it rightly; more memory, more time, or anything
else than a sentence is a failure.
"""

import gzip
import random
import resource
from collections.abc import Iterator
from pathlib import Path

from benchmarks.attacks import (
    NOTHING,
    REFUSED,
    Attack,
    Outcome,
    _expanding,
    _lines,
    _nested,
    _places,
    failed,
    survey_apart,
    verdict,
)
from benchmarks.attacks._hostile import FILES, MEGA, Maker, rows, written

MAKERS = (_expanding, _lines, _nested, _places)  # each fills FILES

MEMORY = (
    4096 * MEGA
)  # addresses of the reading interpreter, its libraries and their threads' stacks among them
RESIDENT = 1536  # MB in use at most
SECONDS = 120  # of the processor
LATE = 900.0  # of the clock, on a machine that others use

READABLE = {  # strange, but not wrong: these must be read
    "csv: UTF-16 without a mark",
    "csv: UTF-8 with a mark",
    "csv: bytes that are no UTF-8",
    "csv: a field of 1 MB in quotes",
    "json: one array on one line",
    "folder: a loop of links inside",
    "folder: pipes and broken images inside",
}


def _seeds(folder: Path) -> list[Path]:
    """A small good file of each format that is more than lines."""
    import numpy as np
    import polars as pl
    from scipy.sparse import csr_matrix, save_npz

    frame = pl.DataFrame(
        {"a": range(60), "b": ["x", "y", None] * 20, "c": [1.5, None] * 30, "e": [[1.0, 2.0]] * 60}
    )
    frame.write_parquet(folder / "seed.parquet")
    frame.drop("e").write_parquet(folder / "plain.parquet", compression="snappy", use_pyarrow=False)
    frame.write_ndjson(folder / "seed.jsonl")
    np.save(folder / "seed.npy", np.arange(60.0).reshape(20, 3))
    np.savez_compressed(folder / "seed.npz", X=np.arange(60.0).reshape(20, 3), y=np.arange(20) % 2)
    save_npz(folder / "sparse.npz", csr_matrix(np.eye(6)))
    written(folder / "seed.csv", rows())
    written(folder / "seed.svm", b"1 1:0.5 3:2\n0 2:1\n" * 10)
    written(
        folder / "seed-idx3-ubyte", b"\0\0\x08\x03" + bytes([0, 0, 0, 6, 0, 0, 0, 2, 0, 0, 0, 5]) + bytes(60)
    )
    written(folder / "seed.csv.gz", gzip.compress(rows()))
    return sorted(path for path in folder.iterdir() if path.is_file())


def damaged(seed: bytes, source: random.Random) -> bytes:
    """Some bytes changed, a piece cut out, doubled, or filled with the largest number."""
    data = bytearray(seed)
    for _ in range(source.choice((1, 1, 2, 5))):
        start = source.randrange(len(data))
        length = source.choice((1, 1, 4, 16, 200))
        kind = source.randrange(4)
        if kind == 0:
            data[start : start + length] = source.randbytes(length)
        elif kind == 1 and len(data) > length + 10:
            del data[start : start + length]
        elif kind == 2:
            data[start:start] = data[start : start + length]
        else:
            data[start : start + length] = b"\xff" * length
    return bytes(data)


def fuzzed(folder: str, tries: str) -> Outcome:
    """Damaged copies of each seed, all in this interpreter."""
    _limit(10 * SECONDS)
    place = Path(folder)
    found, source = NOTHING, random.Random(7)
    for seed in _seeds(place):
        content, strange = seed.read_bytes(), place / f"strange-{seed.name}"
        for number in range(int(tries)):
            strange.write_bytes(damaged(content, source))
            found += verdict(f"{seed.name} {number}", lambda strange=strange: _read(strange))
    return found


def _read(path: Path) -> None:
    """All rows at once and in parts, and what is said of them."""
    from nearline.data import DataError, batches, read

    try:
        for part in batches(path, 500_000):
            len(str(part))
    except DataError:
        pass  # the same, or that there are no parts, is said of the whole
    str(read(path))


def _limit(seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def _peak() -> int:
    """Megabytes that this process had in memory at most. What getrusage says includes the process that started it."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


def tried(name: str, path: str) -> Outcome:
    """One hostile file in this interpreter."""
    _limit(SECONDS)
    outcome = verdict(name, lambda: _read(Path(path)))
    used = _peak()
    if used > RESIDENT:
        return failed(f"{name}: {used:,} MB were in use, and {RESIDENT:,} are the limit")
    if outcome == REFUSED and name in READABLE:
        return failed(f"{name}: refused, though it can be read")
    return outcome


def attacks() -> Iterator[Attack]:
    for name, make in FILES.items():

        def run(folder: Path, name: str = name, make: Maker = make) -> Outcome:
            return survey_apart(__name__, "tried", name, str(make(folder, 1.0)), seconds=LATE)

        yield Attack(f"readers: {name}", run)
    yield Attack(
        "readers: damaged bytes",
        lambda folder: survey_apart(__name__, "fuzzed", str(folder), "400", seconds=LATE),
    )
