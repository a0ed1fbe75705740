"""LIBSVM (SVMlight) files: ``label index:value ...`` a line, read into a CSR matrix."""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from nearline._arrays.design import Array
from nearline._records.words import many
from nearline.data._files import compression, content
from nearline.data._rows import Rows
from nearline.data._text import check_lines, lines_of, sample_of
from nearline.data.base import DataError, Format, Request, Schema, Table, polars

LINE = re.compile(r"[^\s:|]+(\s+(qid|\d+):\S+)*\s*(#.*)?")
VOWPAL = re.compile(r"[^\s|]+\s+\|\w*\s.*")
MOST_FEATURES = 100_000_000
TOKEN = re.compile(r"(\d+|qid):[^\s:]+")


@dataclass(frozen=True)
class LibSVM(Format):
    """A label and ``index:value`` pairs a line; what is not written is zero."""

    name = "LIBSVM"
    extensions = (".svm", ".libsvm", ".svmlight")

    def matches(self, path: Path) -> bool:
        lines = [line for line in sample_of(path)[0].split("\n")[:100] if line.strip() and line[0] != "#"]
        told = [line for line in lines if ":" in line]
        # the last line of a sample may be cut
        lines = lines[:-1] if len(lines) > 1 else lines
        return len(told) > 0.5 * len(lines) and (
            all(LINE.fullmatch(line) for line in lines) or all(VOWPAL.fullmatch(line) for line in lines)
        )

    def read(self, path: Path, request: Request) -> Table:
        X, y = _parsed(content(path), path, 1)
        if not len(y):
            raise DataError(f"{path} has no rows, only comments or blank lines.")
        like = request.like
        zero = _zero_based(X) if like.zero_based is None else like.zero_based
        return _table(X, y, path, request, like.n_features or _width(X, zero), zero)

    def batches(self, path: Path, rows: int, request: Request) -> Iterator[Table]:
        known = request.like
        if known.n_features is None or known.zero_based is None:
            known = _measured(path, rows, known)
        done = 0
        for chunk in _chunks(path, rows):
            X, y = _parsed(chunk, path, done + 1)
            done += chunk.count(b"\n")
            if len(y):
                yield _table(X, y, path, request, known.n_features or 0, bool(known.zero_based))

    def lines(self, path: Path, request: Request) -> Iterator[int]:
        with lines_of(path, "utf-8") as lines:
            yield from (number for number, line in enumerate(lines, 1) if line.partition("#")[0].strip())


def _chunks(path: Path, rows: int) -> Iterator[bytes]:
    with lines_of(path, "utf-8") as lines:
        while chunk := list(islice(lines, rows)):
            yield "".join(chunk).encode()


def _measured(path: Path, rows: int, known: Schema) -> Schema:
    """The number of features and their first index, from a pass over the file."""
    lowest, highest = 1, -1
    for chunk in _chunks(path, rows):
        X, _ = _parsed(chunk, path, 1)
        if X.nnz:
            lowest, highest = min(lowest, int(X.indices.min())), max(highest, int(X.indices.max()))
    zero = lowest == 0 if known.zero_based is None else known.zero_based
    return replace(known, zero_based=zero, n_features=known.n_features or max(1, highest + zero))


def _zero_based(X: csr_matrix) -> bool:
    return bool(X.nnz) and int(X.indices.min()) == 0


def _width(X: csr_matrix, zero: bool) -> int:
    return max(1, (int(X.indices.max()) if X.nnz else 0) + zero)


def _table(X: csr_matrix, y: Array, path: Path, request: Request, width: int, zero: bool) -> Table:
    """Rows of the given width; features beyond it are unknown to the model and are left out."""
    notes = []
    if not zero:
        if _zero_based(X):
            raise DataError(f"{path} has a feature 0, where features were counted from 1: count them alike.")
        X = csr_matrix((X.data, X.indices - 1, X.indptr), shape=(X.shape[0], max(1, X.shape[1] - 1)))
    if X.shape[1] > width:
        extra = int((X.indices >= width).sum())
        X = csr_matrix(X[:, :width])
        if extra:
            notes.append(f"left out: {many(extra, 'value')} of features beyond the known {width:,}")
    X = csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], width))
    packed = compression(path)
    details = {"features from": "0" if zero else "1"} | ({"compression": packed} if packed else {})
    rows = Rows(path, "LIBSVM", X, y, shape=(width,), details=details, notes=notes, zero_based=zero)
    return rows.table(request)


def _parsed(data: bytes, path: Path, first: int) -> tuple[csr_matrix, Array]:
    """Numbers with the indices of the file (column 0 is empty where these count from 1), and labels."""
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    check_lines(data, path, b"\n")
    if b"\n\n" in data or data.startswith((b"\n", b" ")) or b"\n " in data:
        data = re.sub(rb"(?m)^[ \t]*(\n|\Z)", b"", data)
    if not data.strip():
        return csr_matrix((0, 1)), np.empty(0)
    read = None if b"#" in data or b"qid:" in data else _fast(data)
    if read is None:
        from sklearn.datasets import load_svmlight_file

        try:
            read = load_svmlight_file(io.BytesIO(data), zero_based=True)
        except (ValueError, OverflowError) as error:
            raise _diagnosed(data, path, first, error) from error
    X, y = read
    if X.shape[1] > MOST_FEATURES + 1:
        raise DataError(
            f"{path} has a feature number {X.shape[1] - 1:,}, and models go to {MOST_FEATURES:,} features, as each has a "
            "weight for every one: number the features without gaps."
        )
    if not np.isfinite(X.data).all():
        raise DataError(f"{path} has values that are not finite: replace them.")
    return X, y


def _fast(data: bytes) -> tuple[csr_matrix, Array] | None:
    """Plain lines parsed all at once; None for what needs a closer look."""
    values = np.frombuffer(data, dtype=np.uint8)
    blank = values <= 32
    starts = np.flatnonzero(~blank & np.concatenate([[True], blank[:-1]]))
    ends = np.flatnonzero(values == ord("\n"))
    if not len(ends) or ends[-1] != len(values) - 1:
        ends = np.append(ends, len(values))
    colons = np.diff(np.searchsorted(np.flatnonzero(values == ord(":")), ends), prepend=0)
    tokens = np.diff(np.searchsorted(starts, ends), prepend=0)
    if not np.array_equal(tokens, colons + 1):
        return None
    numbers = _numbers(data)
    if numbers is None:
        return None
    if len(numbers) != len(colons) + 2 * colons.sum():
        return None
    firsts = np.concatenate([[0], np.cumsum(1 + 2 * colons)[:-1]])
    pairs = np.delete(numbers, firsts).reshape(-1, 2)
    indices = pairs[:, 0]
    if len(indices) and not (
        np.all(indices == np.floor(indices)) and 0 <= indices.min() <= indices.max() < 2**31
    ):
        return None
    indptr = np.concatenate([[0], np.cumsum(colons)]).astype(np.int32)
    steps = np.diff(indices) > 0
    steps[indptr[1:-1][(indptr[1:-1] > 0) & (indptr[1:-1] < len(indices))] - 1] = True
    if not steps.all():  # not in order, or twice
        return None
    width = int(indices.max()) + 1 if len(indices) else 1
    columns = indices.astype(np.int32)
    return csr_matrix((pairs[:, 1].copy(), columns, indptr), shape=(len(colons), width)), numbers[firsts]


def _numbers(data: bytes) -> Array | None:
    """All numbers in order, parsed by polars where it is installed; None if something else stands there."""
    try:
        pl = polars()
    except ImportError:
        return None
    words = data.translate(bytes.maketrans(b": \t", b"\n\n\n"))
    try:
        # the separator is one that does not occur: each line is a number, or blank where there were two spaces
        frame = pl.read_csv(
            words, has_header=False, separator="\x1f", quote_char=None, schema={"number": pl.Float64}
        )
    except pl.exceptions.PolarsError:
        return None
    return np.asarray(frame["number"].drop_nulls().to_numpy())


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _diagnosed(data: bytes, path: Path, first: int, error: Exception) -> DataError:
    """The first line that is wrong, and what is wrong with it."""
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), first):
        label, *pairs = line.partition("#")[0].split() or ["0"]
        bad = [pair for pair in pairs if not TOKEN.fullmatch(pair)]
        values = [label, *(pair.partition(":")[2] for pair in pairs if TOKEN.fullmatch(pair))]
        bad += [value for value in values if not _is_number(value)]
        bad += [pair for pair in pairs if len(pair.partition(":")[0]) > 18]
        places = [
            int(pair.partition(":")[0])
            for pair in pairs
            if not bad and pair[0].isdigit() and TOKEN.fullmatch(pair)
        ]
        if any(a >= b for a, b in pairwise(places)):
            bad.append("indices that do not grow")
        if bad:
            kind = "Vowpal Wabbit" if bad[0].startswith("|") else None
            if kind:
                return DataError(f"{path} is in {kind} format", f"take the '{bad[0]}' out to make it LIBSVM")
            return DataError(
                f"Line {number:,} of {path} is no LIBSVM line: it has {bad[0][:40]!r} where a number as label "
                "and then index:value pairs with growing indices should be."
            )
    return DataError(f"{path} is no LIBSVM file: {error}.")
