"""Sets of files in a folder that belong together: one contest's report, model, leaderboard and result, never two contests'.

The files are written into a hidden folder. Where the folder is new, empty, or has files of an older set only, the hidden
folder takes its place in one step (on Linux two folders can be exchanged). Where other files are beside them, or the folder
cannot be exchanged (it is a mount point, or somebody's current folder), the hidden folder is first given a name that says
that it is complete; then the older files are removed and the new ones moved up. Whoever writes there next completes it.
"""

import ctypes
import errno
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from nearline._atomic.whole import BEGIN, END, alone_in, clear, scratch, synced, umask

READY = ".nearline-complete"  # a hidden folder with a whole set, whose files are being moved up
NAMES = ".names"  # in it: which files the set has
EXCHANGE, HERE = 2, -100  # RENAME_EXCHANGE and AT_FDCWD of Linux


@contextmanager
def written_set(folder: Path, owned: Sequence[str]) -> Iterator[Path]:
    """A hidden folder to write files into, of the names ``owned``; they take the place of the older ones together.

    The folder that they go to is made if need be. Where writing fails it is as it was.
    """
    settled(folder, owned)
    exchanged = _can_exchange(folder, owned)
    with scratch(folder.parent if exchanged else folder) as made:
        yield made
        names = sorted(one.name for one in made.iterdir())
        os.chmod(made, folder.stat().st_mode & 0o7777 if folder.exists() else 0o777 & ~umask())
        synced(made)
        if not (exchanged and _exchange(made, folder)):
            _move_up(made, folder, names, owned)
        synced(folder.parent)


def settled(folder: Path, owned: Sequence[str]) -> None:
    """Complete a set that a dead process had begun to move up, and remove what else it left."""
    for place in (folder, folder.parent):
        if place.is_dir():
            with suppress(PermissionError):
                clear(place)
    if (folder / READY).is_dir():
        with alone_in(folder):
            _complete(folder, owned)


def is_empty(folder: Path) -> bool:
    """Whether a folder has nothing but hidden files of writers."""
    return all(_is_hidden(one.name) for one in folder.iterdir())


def _is_hidden(name: str) -> bool:
    return name.startswith(BEGIN) and name.endswith(END)


def _can_exchange(folder: Path, owned: Sequence[str]) -> bool:
    """Whether nothing but an older set is lost by it, and nobody stands in the folder as far as this process knows."""
    if not os.access(folder.parent, os.W_OK | os.X_OK):
        return False
    if not folder.exists():
        return True
    same = folder.stat().st_dev == folder.parent.stat().st_dev and not os.path.ismount(folder)
    here = Path.cwd().resolve()
    inside = [one for one in folder.iterdir() if one.name not in owned or one.is_symlink() or one.is_dir()]
    return same and not inside and folder != here and folder not in here.parents


def _exchange(made: Path, folder: Path) -> bool:
    """Whether the new folder has taken the place of the old one, in one step."""
    if not folder.exists() or not any(folder.iterdir()):
        try:
            os.rename(made, folder)  # over an empty one: in one step too
        except OSError:
            return False
        return True
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    if rename(HERE, os.fsencode(made), HERE, os.fsencode(folder), EXCHANGE):
        if ctypes.get_errno() in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return False
    return True


def _move_up(made: Path, folder: Path, names: list[str], owned: Sequence[str]) -> None:
    """Say that the set is complete, in one step, then move its files; until then the older set is untouched."""
    folder.mkdir(exist_ok=True)
    (made / NAMES).write_text(json.dumps(names), encoding="utf-8")
    synced(made / NAMES)
    synced(made)
    with alone_in(folder):
        os.rename(made, folder / READY)
        synced(folder)
        _complete(folder, owned)


def _complete(folder: Path, owned: Sequence[str]) -> None:
    """Remove what is left of the older set, then move up what is not yet there; again and again with the same end."""
    ready = folder / READY
    if not (ready / NAMES).exists():  # all was moved, or another process has done it
        shutil.rmtree(ready, ignore_errors=True)
        return
    with suppress(FileNotFoundError):
        names = [name for name in json.loads((ready / NAMES).read_text(encoding="utf-8")) if name in owned]
        waiting = [name for name in names if (ready / name).exists()]
        for name in owned:
            if name in waiting or name not in names:
                (folder / name).unlink(missing_ok=True)
        for name in waiting:
            os.rename(ready / name, folder / name)
        synced(folder)
        shutil.rmtree(ready)
        synced(folder)
