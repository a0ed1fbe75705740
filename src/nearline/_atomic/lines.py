"""Files that grow by a line at a time. A line is whole, or the last one and dropped; one process writes at a time.

Each line is a JSON object behind its checksum. What a killed process was writing is a torn last line, which the next one
writes over. A line that is damaged with others after it is no accident of ours, and the file is refused.
"""

import json
import os
import zlib
from threading import Lock
from typing import Any

from nearline._atomic.whole import WriteError, check_place, refusal

fcntl: Any
try:
    import fcntl
except ImportError:  # a system without such locks
    fcntl = None


class DamagedLinesError(ValueError):
    """The file is none of ours, or was changed."""


class Lines:
    """Lines of a file, those that are there and those that are added. The file is made with the first.

    A line that cannot be written is no error: ``failure`` says why, and no further ones are tried.
    """

    def __init__(self, path: Any) -> None:
        self.path, self.place = path, check_place(path)
        self.failure: WriteError | None = None
        self._lock, self._handle, self._end = Lock(), -1, 0
        self.found: list[dict[str, Any]] = []
        if self.place.exists():
            self._open(os.O_RDWR)
            try:
                self.found = self._read()
            except BaseException:
                self.close()
                raise

    def add(self, line: dict[str, Any]) -> None:
        """One more; from any thread."""
        written = _framed(line)
        with self._lock:
            if self.failure is not None:
                return
            try:
                if self._handle < 0:
                    self._open(os.O_RDWR | os.O_CREAT | os.O_EXCL)
                self._write(written)
            except OSError as error:
                self.failure = refusal(self.path, error)

    def close(self, *, keep: bool = True) -> None:
        """Others may write now; a file that is not worth keeping is removed."""
        if self._handle < 0:
            return
        if not keep:
            self.place.unlink(missing_ok=True)
        os.close(self._handle)
        self._handle = -1

    def _open(self, flags: int) -> None:
        try:
            self._handle = os.open(self.place, flags, 0o666)
            if fcntl is not None:
                fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise WriteError(
                f"{self.path} is being written by another process: wait for it, or give another path."
            ) from None
        except OSError as error:
            self.close()
            raise refusal(self.path, error) from error

    def _read(self) -> list[dict[str, Any]]:
        lines: list[dict[str, Any]] = []
        size = os.fstat(self._handle).st_size
        with open(self.place, "rb") as file:
            for number, line in enumerate(file):
                found = _parsed(line)
                if found is None:
                    if file.tell() < size or (number == 0 and not _may_be_torn(line)):
                        raise DamagedLinesError(
                            f"line {number + 1} is none that nearline wrote, or was changed since"
                        )
                    break
                lines.append(found)
                self._end += len(line)
        return lines

    def _write(self, data: bytes) -> None:
        """Where the last whole line ends: what is left of a torn one is written over."""
        os.ftruncate(self._handle, self._end)
        os.lseek(self._handle, self._end, os.SEEK_SET)
        left = memoryview(data)
        while left:
            left = left[os.write(self._handle, left) :]
        self._end += len(data)


def _framed(line: dict[str, Any]) -> bytes:
    data = json.dumps(line, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(data), data)


def _parsed(line: bytes) -> dict[str, Any] | None:
    """None: it is torn or damaged."""
    data = line[9:-1]
    if not line.endswith(b"\n") or line[:9] != b"%08x " % zlib.crc32(data):
        return None
    found = json.loads(data)
    return found if isinstance(found, dict) else None


def _may_be_torn(line: bytes) -> bool:
    """Whether a first line could be the beginning of one of ours; other people's files are not written over."""
    return all(byte in b"0123456789abcdef" for byte in line[:8]) and line[8:9] in (b"", b" ")
