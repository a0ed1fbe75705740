"""Files that are written whole or not at all."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def written_whole(path: Path, mode: str = "wb", **options: Any) -> Iterator[Any]:
    """A file to write into that takes its name, in place of an older one, when all is written and on the disk.

    Readers see the old file or the new one, never a half; where writing fails or is interrupted nothing is left behind.
    """
    path = Path(os.path.realpath(path))
    handle, temporary = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, mode, **options) as file:
            os.chmod(temporary, _permissions(path))  # temporary files are for their owner only
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _permissions(path: Path) -> int:
    """Those of the file that is there, else those that the umask leaves to new ones."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
