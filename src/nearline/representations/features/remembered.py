"""Remembered: the rows of features that were computed last, so that nobody computes them twice in one process."""

from collections import OrderedDict
from threading import Lock

from nearline._arrays.design import Array

MOST = 128 * 2**20  # bytes


class Remembered:
    """Rows by the checksum of the model and the content of the item; the oldest go when there are too many."""

    def __init__(self, most: int = MOST) -> None:
        self._rows: OrderedDict[tuple[str, str], Array] = OrderedDict()
        self._most, self._bytes, self._lock = most, 0, Lock()

    def get(self, checksum: str, content: str) -> Array | None:
        """The row, if it is there."""
        with self._lock:
            row = self._rows.get((checksum, content))
            if row is not None:
                self._rows.move_to_end((checksum, content))
            return row

    def keep(self, checksum: str, content: str, row: Array) -> None:
        """Keep a row, in place of the oldest ones."""
        with self._lock:
            if (checksum, content) not in self._rows:
                self._rows[checksum, content] = row
                self._bytes += row.nbytes
            while self._bytes > self._most:
                _, oldest = self._rows.popitem(last=False)
                self._bytes -= oldest.nbytes

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._rows.clear()
            self._bytes = 0


remembered = Remembered()
