"""Files that are written whole or not at all, whenever the process ends, and what dead processes left is removed.

A file is written under a hidden name beside its own, forced to the disk, and renamed. Hidden names begin with ``.nearline-``
and end with ``.tmp``; who writes one holds a lock on it, which ends with the process. So whoever writes into the same folder
next can tell what is left of a dead process, on this machine or another, and removes it.

A symbolic link is followed, by every writer: what it leads to is replaced, and the link stays.
"""

import errno
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

fcntl: Any
try:
    import fcntl
except ImportError:  # a system without such locks
    fcntl = None

BEGIN, END = ".nearline-", ".tmp"
OLD = 86400.0  # seconds after which a hidden file is left over, where there are no locks
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class WriteError(OSError):
    """A file cannot be written; the sentence says why, and what to do. What was there is as it was."""


def place_of(path: Any) -> Path:
    """Where a path leads: symbolic links are followed, so that what they lead to is replaced, and they stay."""
    return Path(os.path.realpath(path))


def check_place(path: Any) -> Path:
    """Where a file can be written, as far as can be told beforehand; else a :class:`WriteError`."""
    try:
        place = place_of(path)
        folder, kind = place.parent.is_dir(), _kind(place)
    except (OSError, ValueError) as error:  # a name that is too long, or has a zero in it
        raise refusal(path, error) from error
    if kind is not None and not stat.S_ISREG(kind):
        found = "it is a folder" if stat.S_ISDIR(kind) else "it is a device, pipe, socket or endless link"
        raise WriteError(f"{path} cannot be written, since {found}: give the path of a file.")
    if not folder:
        raise WriteError(f"{path} cannot be written, since there is no folder {place.parent}: make it first.")
    return place


def _kind(place: Path) -> int | None:
    """What is there, None: nothing. A name that cannot be there at all is an error."""
    try:
        return os.lstat(place).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None


@contextmanager
def written_whole(path: Any, mode: str = "wb", **options: Any) -> Iterator[Any]:
    """A file to write into that takes its name, in place of an older one, when all is written and on the disk.

    Readers see the old file or the new one, never a half; where writing fails or is interrupted nothing is left behind.
    """
    place = check_place(path)
    with _told(path):
        clear(place.parent)
        handle, hidden = _claimed(place.parent, _new_file)
    try:
        with (
            _told(path, FULL),
            os.fdopen(handle, mode, **options) as file,
        ):  # closing may find the disk full too
            yield file
            with _told(path):
                file.flush()
                put(Path(hidden), place)
    except BaseException:
        Path(hidden).unlink(missing_ok=True)
        raise


def put(made: Path, place: Path) -> None:
    """Give a file that is written its place, once it is on the disk; it gets the permissions of what was there."""
    os.chmod(made, _permissions(place))  # temporary files are for their owner only
    synced(made)
    os.replace(made, place)
    synced(place.parent)


@contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """A hidden folder within a folder, for files on their way; in the end it is removed, by the next writer if need be."""
    clear(folder)
    handle, made = _claimed(folder, _new_folder)
    try:
        yield Path(made)
    finally:
        shutil.rmtree(made, ignore_errors=True)
        if handle is not None:
            os.close(handle)


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
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


def clear(folder: Path) -> None:
    """Remove what dead processes left in a folder: hidden names of ours that nobody has locked."""
    with os.scandir(folder) as entries:
        names = [one.name for one in entries if one.name.startswith(BEGIN) and one.name.endswith(END)]
    for name in names:
        with suppress(OSError):  # it is gone by now, or another's
            _remove_dead(folder / name)


def _remove_dead(left: Path) -> None:
    found = os.lstat(left)
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        return
    if fcntl is None:
        if time.time() - found.st_mtime > OLD:
            _remove(left)
        return
    handle = os.open(left, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)  # refused while its writer lives
        _remove(left)
    except BlockingIOError:
        pass
    except OSError:  # no locks on this file system
        if time.time() - found.st_mtime > OLD:
            _remove(left)
    finally:
        os.close(handle)


def _remove(left: Path) -> None:
    if left.is_dir():
        shutil.rmtree(left, ignore_errors=True)
    else:
        left.unlink(missing_ok=True)


def _new_file(folder: Path) -> tuple[int, str]:
    return tempfile.mkstemp(prefix=BEGIN, suffix=END, dir=folder)


def _new_folder(folder: Path) -> tuple[int | None, str]:
    made = tempfile.mkdtemp(prefix=BEGIN, suffix=END, dir=folder)
    try:
        return None if fcntl is None else os.open(made, os.O_RDONLY), made
    except FileNotFoundError:  # taken for a dead one
        return _new_folder(folder)


def _claimed(folder: Path, new: Callable[[Path], tuple[Any, str]]) -> tuple[Any, str]:
    """Something hidden of one's own, locked; before that another process may have taken it for a dead one."""
    while True:
        handle, hidden = new(folder)
        if handle is None:
            return handle, hidden
        if fcntl is not None:
            with suppress(OSError):  # no locks on this file system: its age must tell
                fcntl.flock(handle, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.stat(hidden), os.fstat(handle)):
                return handle, hidden
        os.close(handle)


def synced(path: Path) -> None:
    """Force a file, or the names in a folder, to the disk, as far as the system can."""
    if path.is_dir() and os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a file system that has no such thing
            raise
    finally:
        os.close(handle)


@contextmanager
def _told(path: Any, only: tuple[int, ...] | None = None) -> Iterator[None]:
    """What the system refuses meanwhile, as a sentence; ``only`` some of it."""
    try:
        yield
    except WriteError:
        raise
    except OSError as error:
        if only is not None and error.errno not in only:
            raise
        raise refusal(path, error) from error


def refusal(path: Any, error: Exception) -> WriteError:
    """What the system said, as a sentence with a remedy."""
    said = getattr(error, "strerror", None) or str(error)
    remedy = "free some space" if getattr(error, "errno", None) in FULL else "check your rights to it"
    found = WriteError(f"{str(path)[:200]} cannot be written ({said}): {remedy}, or give another path.")
    found.errno = getattr(error, "errno", None)
    return found


def _permissions(place: Path) -> int:
    """Those of the file that is there, else those that the umask leaves to new ones."""
    if place.exists():
        return stat.S_IMODE(place.stat().st_mode)
    return 0o666 & ~umask()


def umask() -> int:
    """The umask, which can only be read by setting it."""
    found = os.umask(0)
    os.umask(found)
    return found
