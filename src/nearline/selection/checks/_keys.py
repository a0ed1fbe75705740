"""A 64-bit key for each row: equal rows have equal keys, other rows do but by an accident of 2^-64."""

from dataclasses import replace

import numpy as np

from nearline._arrays.design import Array
from nearline.selection.checks._table import CheckedTable, Column

FIRST = 48  # columns that usually tell rows apart; the others are read only of rows that these do not
BLOCK = 64


def joint_keys(tables: list[CheckedTable], keep: Array | None = None, *, whole: bool = False) -> Array:
    """Keys of all rows of tables with the same columns, one table after the other, over the columns to keep.

    The key is a sum over columns, so it costs one pass over the table. Unless the whole is asked for, a row of a
    wide array that 48 columns already tell from every other row is not read further.
    """
    width = tables[0].n_columns
    columns = np.arange(width) if keep is None else np.flatnonzero(keep)
    if whole or width <= 2 * FIRST or any(table.kind != "array" for table in tables):
        return np.concatenate([_keys(table, columns) for table in tables])
    order = np.random.default_rng(0).permutation(columns)
    keys = np.concatenate([_keys(table, np.sort(order[:FIRST])) for table in tables])
    _, codes, counts = np.unique(keys, return_inverse=True, return_counts=True)
    open_rows = counts[codes] > 1
    start = 0
    for table in tables:
        rows = np.flatnonzero(open_rows[start : start + table.n_rows])
        keys[start + rows] += _keys(table, np.sort(order[FIRST:]), rows)
        start += table.n_rows
    return keys


def row_hashes(table: CheckedTable, rows: Array, digits: int | None = None) -> Array:
    """(columns, rows) numbers whose sum over columns is a row's key; of numbers rounded to so many digits."""
    salts = _mix(np.arange(1, table.n_columns + 1, dtype=np.uint64))
    found = np.empty((table.n_columns, len(rows)), dtype=np.uint64)
    for j in range(table.n_columns):
        column = table.column(j, rows)
        if digits is not None and column.kind == "number":
            column = replace(column, values=_rounded(column.values, digits))
        found[j] = _mix(_column_bits(column) + salts[j])
    return found


def _rounded(values: Array, digits: int) -> Array:
    with np.errstate(all="ignore"):
        size = np.floor(np.log10(np.abs(values)))
        scale = 10.0 ** (digits - 1 - np.where(np.isfinite(size), size, 0.0))
        return np.asarray(np.where(np.isfinite(values), np.rint(values * scale) / scale, values))


def _keys(table: CheckedTable, columns: Array, rows: Array | None = None) -> Array:
    salts = _mix(np.arange(1, table.n_columns + 1, dtype=np.uint64))
    if table.kind == "sparse":
        return _sparse_keys(table, columns, salts)
    if table.kind == "texts":
        return np.array([_hash(text) for text in table.data.tolist()], dtype=np.uint64)
    n = table.n_rows if rows is None else len(rows)
    keys = np.zeros(n, dtype=np.uint64)
    if table.kind == "array":
        data = table.data if rows is None else table.data[rows]
        for start in range(0, len(columns), BLOCK):
            part = columns[start : start + BLOCK]
            keys += _mix(_bits(data[:, part]) + salts[part]).sum(axis=1)
        return keys
    for j in columns:
        keys += _mix(_column_bits(table.column(int(j), rows)) + salts[j])
    return keys


def _sparse_keys(table: CheckedTable, columns: Array, salts: Array) -> Array:
    kept = np.zeros(table.n_columns, dtype=bool)
    kept[columns] = True
    X = table.data
    cells = np.where(kept[X.indices], _mix(_bits(X.data) + salts[X.indices]), np.uint64(0))
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(cells, dtype=np.uint64)])
    return np.asarray(sums[X.indptr[1:]] - sums[X.indptr[:-1]])


def _column_bits(column: Column) -> Array:
    if column.kind == "number":
        return _bits(column.values)
    levels = np.array([_hash(level) for level in column.levels], dtype=np.uint64)
    return np.append(levels, _bits(np.array([np.nan])))[column.values]  # -1, missing, is the last


def _bits(values: Array) -> Array:
    values = np.ascontiguousarray(values, dtype=np.float64) + 0.0  # -0.0 becomes 0.0
    values[np.isnan(values)] = np.nan  # of the many bit patterns of NaN, one
    return values.view(np.uint64)


def _hash(value: object) -> int:
    return hash(value.strip() if isinstance(value, (str, bytes)) else value) & 0xFFFFFFFFFFFFFFFF


def _mix(bits: Array) -> Array:
    """The finalizer of splitmix64."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(bits ^ (bits >> np.uint64(31)))
