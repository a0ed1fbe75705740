"""Fingerprints of rows and labels, and of what a model answers to them."""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from nearline._arrays.design import Array, is_sparse
from nearline._parallel.tiles import slices
from nearline.predictions import Predictions
from nearline.representations import is_frame, kind_of_series, read_series, series_of

PIECE = 1 << 16  # rows that a fingerprint takes at a time


def fingerprint(X: Any, y: Array) -> str:
    """Of rows and labels: equal for equal test parts."""
    digest = hashlib.sha256(repr(np.asarray(y).tolist()).encode())
    for part in _parts(X):
        for piece in slices(len(part), PIECE):
            some = part[piece]
            digest.update(_bytes(some) if isinstance(some, np.ndarray) else repr(some).encode())
    return digest.hexdigest()


def _bytes(some: Array) -> Any:
    """Of numbers in their order, without a copy where they lie so."""
    return some.data.cast("B") if some.flags.c_contiguous and some.dtype.kind in "fiub" else some.tobytes()


def _parts(X: Any) -> Iterator[Any]:
    """Arrays of numbers and lists, a frame by its columns: pieces of them are short work."""
    if is_sparse(X):
        yield from (X.data, X.indices, X.indptr)
    elif isinstance(X, np.ndarray) and X.dtype != object:
        yield X
    elif is_frame(X):
        for series in series_of(X):
            yield read_series(series).numbers if kind_of_series(series) == "number" else series.to_list()
    else:
        yield list(X)


def model_key(model: str, predictions: Predictions) -> str:
    """Equal for models of the same parameters that answer all test rows alike."""
    return hashlib.sha256(model.encode() + predictions.labels.tobytes()).hexdigest()
