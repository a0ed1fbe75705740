"""Cells of the tables that results are printed as."""

from typing import Any

import numpy as np

from nearline._records.visible import visible


def table(rows: list[list[str]]) -> list[str]:
    """Lines of aligned columns, a rule under the first."""
    rows = [[visible(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [lines[0], "  ".join("-" * w for w in widths), *lines[1:]]


def shown(score: float) -> str:
    """Four digits, or "n/a" where a score is undefined."""
    return "n/a" if np.isnan(score) else f"{score:.4f}"


def short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def seconds_in(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 0.1 else f"{1e3 * seconds:.1f} ms"


def bytes_in(size: float | None) -> str:
    if size is None:
        return "unknown"
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
