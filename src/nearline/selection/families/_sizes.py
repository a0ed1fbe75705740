"""How large a fitted model is, in bytes."""

import io
import pickle
from typing import Any

import numpy as np

MOST = 1 << 32  # bytes that are counted: a larger model is as large as that


class TooLarge(Exception):
    """Counting has come to ``MOST``."""


class Counter(io.RawIOBase):
    """A file that keeps nothing of what is written, but how much."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    def write(self, data: Any) -> int:
        self.count(memoryview(data).nbytes)
        return memoryview(data).nbytes

    def count(self, n_bytes: int) -> None:
        self.total += n_bytes
        if self.total >= MOST:
            raise TooLarge


def arrays_size(model: Any) -> int:
    """Bytes in the arrays that a fitted model of nearline's holds."""
    return sum(int(value.nbytes) for value in vars(model).values() if isinstance(value, np.ndarray))


def pickled_size(model: Any) -> int | None:
    """Bytes of the pickled model, whatever it consists of; None where it cannot be pickled, so that nobody knows.

    Nothing is stored: arrays are counted where they are.
    """
    counter = Counter()
    try:
        pickle.Pickler(
            counter, protocol=5, buffer_callback=lambda buffer: counter.count(buffer.raw().nbytes)
        ).dump(model)
    except TooLarge:
        return MOST
    except Exception:  # a model of the user's may refuse in any way
        return None
    return counter.total
