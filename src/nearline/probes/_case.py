"""Case: training and test rows of a probe, checked once; and the draws of few rows a class."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array, contiguous, is_sparse
from nearline._arrays.validation import is_missing
from nearline._parallel.tiles import slices
from nearline._records.words import many, worded
from nearline.estimators.base import encoded

UNKNOWN = -1  # class number of a test label that no training row has
TILE = 4096


@dataclass(frozen=True)
class Case:
    """Embeddings with labels as class numbers: X, codes are what a probe learns from, Q, truth what it is tested on."""

    X: Array  # (n, D)
    codes: Array  # (n,)
    Q: Array  # (m, D)
    truth: Array  # (m,)
    classes: Array  # (C,) labels
    random_state: int = 0

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    def of(self, rows: Array, random_state: int) -> "Case":
        """The same test for some of the training rows."""
        return Case(self.X[rows], self.codes[rows], self.Q, self.truth, self.classes, random_state)

    def few(self, shots: int, repeat: int) -> "Case":
        """``shots`` rows of each class, or all where a class has fewer.

        Row numbers of each class are permuted by a generator seeded with (random_state, repeat), class by class; the
        first ``shots`` of each are taken, so that more shots have the rows of fewer ones and some more.
        """
        rng = np.random.default_rng([self.random_state, repeat])
        drawn = [rng.permutation(np.flatnonzero(self.codes == c))[:shots] for c in range(self.n_classes)]
        return self.of(np.sort(np.concatenate(drawn)), self.random_state + repeat)


def as_case(
    X: Any, y: Any, X_test: Any, y_test: Any, random_state: int, *, directions: bool
) -> tuple[Case, list[str]]:
    """The rows and labels of a probe, and what is to be said of them. ``directions``: rows of zeros have none."""
    X, y = _rows(X, "training"), _labels(y, "training")
    Q, y_test = _rows(X_test, "test"), _labels(y_test, "test")
    _check_seed(random_state)
    for rows, labels, what in ((X, y, "training"), (Q, y_test, "test")):
        if len(rows) != len(labels):
            raise ValueError(
                f"There are {many(len(rows), f'{what} row')} and {many(len(labels), f'{what} label')}: give one label for "
                "each row, in the order of the rows."
            )
    if X.shape[1] != Q.shape[1]:
        raise ValueError(
            f"Training rows have {X.shape[1]:,} features and test rows {Q.shape[1]:,}: give embeddings of one model."
        )
    dtype = np.result_type(X, Q)
    X, Q = (rows if rows.dtype == dtype else rows.astype(dtype) for rows in (X, Q))
    for rows, what in ((X, "training"), (Q, "test")):
        _check_values(rows, what, directions=directions)
    classes, codes = encoded(y)
    if len(classes) < 2:
        raise ValueError(
            f"All training labels are {classes.tolist()[0]!r}: a probe needs at least 2 classes."
        )
    truth, notes = _matched(y_test, classes)
    return Case(X, codes, Q, truth, classes, random_state), [*notes, *_duplicates(X, Q)]


def _rows(X: Any, what: str) -> Array:
    """Rows (n, D) in float32 or float64; those of float16 become float32, mapped ones stay on disk."""
    if is_sparse(X):
        raise ValueError(
            f"The {what} rows are a sparse matrix: a probe takes dense embeddings (rows.toarray())."
        )
    X = _array(X, f"The {what} rows have different numbers of features: give embeddings of one model.")
    if X.ndim != 2 or X.dtype.kind not in "fiub" or 0 in X.shape:
        raise ValueError(
            f"The {what} rows must be an array (rows, features) of numbers, got shape {X.shape} and type {X.dtype}."
        )
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float32 if X.dtype.itemsize <= 2 else np.float64)
    return contiguous(X)


def _labels(y: Any, what: str) -> Array:
    """Labels (n,) of one kind: strings, whole numbers or truth values."""
    y = _array(y, f"The {what} labels are lists of different lengths: give one label for each row.")
    if y.ndim != 1:
        raise ValueError(f"The {what} labels must be one for each row (n,), got shape {y.shape}.")
    values = y.tolist()
    missing = np.array([is_missing(label) for label in values], dtype=bool)
    if missing.any():
        raise ValueError(
            f"{many(int(missing.sum()), f'{what} row')} without a label (the first is row {int(missing.argmax()) + 1:,}, "
            "counted from 1): leave them out."
        )
    kinds = {_kind(label) for label in values}
    if len(kinds) > 1 or None in kinds:
        names = ", ".join(sorted({type(label).__name__ for label in values}))
        raise ValueError(
            f"The {what} labels are of {names}: give strings, whole numbers or truth values, all of one kind."
        )
    y = np.array(values, dtype=kinds.pop()) if y.dtype.kind == "O" else y
    strange = [label for label in values if not label.is_integer()][:1] if y.dtype.kind == "f" else []
    if strange:
        raise ValueError(
            f"The {what} labels have the number {strange[0]!r}, which looks like a quantity: a probe calls classes, so give "
            "strings or whole numbers."
        )
    return y


def _kind(label: Any) -> type | None:
    """What a label is, of the kinds that make classes."""
    kinds: tuple[tuple[type, Any], ...] = (
        (str, str), (bool, (bool, np.bool_)), (int, (int, np.integer)), (float, (float, np.floating)),
    )  # fmt: skip
    return next((kind for kind, types in kinds if isinstance(label, types)), None)


def _array(values: Any, ragged: str) -> Array:
    try:
        return np.asarray(values)
    except ValueError as error:  # lists of different lengths
        raise ValueError(ragged) from error


def _check_seed(random_state: Any) -> None:
    whole = isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool)
    if not whole or not 0 <= random_state < 2**32:
        raise ValueError(
            f"{worded('random_state', '--random-state')} must be a whole number from 0 to 2^32 - 1, got {random_state!r}: "
            "figures are the same for the same one."
        )


def _check_values(X: Array, what: str, *, directions: bool) -> None:
    """Refuse numbers that are not finite and, where directions count, rows of zeros."""
    for part in slices(len(X), TILE):
        if not np.isfinite(X[part]).all():
            row = part.start + int(np.argmin(np.isfinite(X[part]).all(axis=1)))
            raise ValueError(
                f"The {what} rows have NaN or infinite values, first in row {row + 1:,} (counted from 1): "
                "leave such rows out."
            )
    largest = max(float(np.abs(X[part]).max()) for part in slices(len(X), TILE))
    if largest * np.sqrt(X.size) > np.sqrt(np.finfo(X.dtype).max):
        raise ValueError(
            f"The {what} rows have values up to {largest:.1e}, whose squares overflow: divide the embeddings by the largest."
        )
    if directions:
        zero = np.concatenate([~X[part].any(axis=1) for part in slices(len(X), TILE)])
        if zero.any():
            raise ValueError(
                f"{many(int(zero.sum()), f'{what} row')} of zeros only (the first is row {int(zero.argmax()) + 1:,}, "
                "counted from 1), which the cosine gives no direction: leave them out."
            )


def _matched(y_test: Array, classes: Array) -> tuple[Array, list[str]]:
    """Test labels as class numbers; a label that training lacks is never right, which is said."""
    numbers = {label: c for c, label in enumerate(classes.tolist())}
    truth = np.array([numbers.get(label, UNKNOWN) for label in y_test.tolist()], dtype=np.int64)
    strange = truth == UNKNOWN
    names = ", ".join(map(repr, np.unique(y_test[strange]).tolist()[:3]))
    if strange.all():
        raise ValueError(
            f"No test label is a training label: test rows have {names}, training rows "
            f"{', '.join(map(repr, classes.tolist()[:3]))}. Give both in the same spelling and type."
        )
    if not strange.any():
        return truth, []
    said = f"{many(int(strange.sum()), 'test row')} with labels that no training row has ({names}): counted as wrong"
    return truth, [said]


def _duplicates(X: Array, Q: Array) -> list[str]:
    """How many test rows are training rows too, to the last bit."""
    known, asked = _keys(X), _keys(Q)
    order = np.argsort(known, kind="stable")
    place = np.minimum(np.searchsorted(known[order], asked), len(known) - 1)
    likely = np.flatnonzero(known[order][place] == asked)
    same = sum(bool((X[order[place[i]]] == Q[i]).all()) for i in likely.tolist())
    if not same:
        return []
    what = "is a training row" if same == 1 else "are training rows"
    remedy = worded("leave them out of X_test", "leave them out of the test file")
    return [f"{many(same, 'test row')} of {len(Q):,} {what} too: accuracy is too good by them; {remedy}"]


def _keys(X: Array) -> Array:
    """A whole number for each row (n,), the same for rows of the same bits."""
    wide = np.uint32 if X.dtype == np.float32 else np.uint64
    factors = np.random.default_rng(0).integers(2**31, size=X.shape[1], dtype=np.uint64) | np.uint64(1)
    keys = np.empty(len(X), dtype=np.uint64)
    for part in slices(len(X), TILE):
        bits = (X[part] + X.dtype.type(0)).view(wide)  # -0 is 0
        keys[part] = np.einsum("ij,j->i", bits, factors, dtype=np.uint64, casting="unsafe")
    return keys
