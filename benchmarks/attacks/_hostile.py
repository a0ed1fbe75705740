"""Hostile files: each made by a function of a folder and a scale, and listed under a name that says what it is.

``scale`` is 1 for the sizes that the names tell; tests use smaller ones.
"""

from collections.abc import Callable
from pathlib import Path

MEGA = 1 << 20

Maker = Callable[[Path, float], Path]
FILES: dict[str, Maker] = {}


def hostile(name: str) -> Callable[[Maker], Maker]:
    def keep(make: Maker) -> Maker:
        FILES[name] = make
        return make

    return keep


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def rows(count: int = 50) -> bytes:
    """A small good table."""
    return b"a,b,label\n" + b"".join(
        b"%d,%d.5,%s\n" % (i, i % 7, b"xy"[i % 2 : i % 2 + 1]) for i in range(count)
    )
