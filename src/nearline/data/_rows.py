"""From rows without column names (numbers, sparse numbers, texts) and raw labels to a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline.data._labels import brought, counted, matched, oddities, present
from nearline.data.base import DataError, Description, Request, Schema, Table
from nearline.data.bins import binned


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows as they come from a file or folder, with what is known about it."""

    path: Path
    format: str
    X: Any
    labels: Array | None = None
    sure: bool = False  # whether every label is one, whatever it looks like
    target: str | None = None
    shape: tuple[int, ...] = ()
    details: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    zero_based: bool | None = None

    def table(self, request: Request) -> Table:
        """Rows and labels as asked for."""
        X, y, target, unlabeled = self.X, self.labels, self.target, 0
        kept, edges = None, None
        if request.labels is not None:
            y, kept, target = brought(request.labels, _count(X), self.path)
        elif y is not None and not self.sure:
            y, kept = present(y)
        if kept is not None and not kept.all():
            unlabeled = int(len(kept) - kept.sum())
            from sklearn.utils import _safe_indexing

            X = _safe_indexing(X, np.flatnonzero(kept))
        notes = list(self.notes)
        if y is not None:
            if not len(y) and not request.part:
                raise DataError(f"No row of {self.path} has a label.")
            y, edges, told = binned(y, request.edges, self.path)
            y, changed = matched(y, request.like.classes, self.path)
            notes += [*told, *changed, *oddities(y)]
        table = self._assembled(X, y, target, unlabeled, notes, request.like)
        places = None if kept is None or kept.all() else np.flatnonzero(kept)
        return replace(table, places=places, schema=replace(table.schema, bins=edges))

    def _assembled(
        self, X: Any, y: Array | None, target: str | None, unlabeled: int, notes: list[str], like: Schema
    ) -> Table:
        description = Description(
            path=str(self.path),
            format=self.format,
            details=self.details,
            rows=_count(X),
            shape=self.shape,
            target=target,
            classes={} if y is None else counted(y),
            unlabeled=unlabeled,
            notes=tuple(notes),
        )
        classes = like.classes if y is None else tuple(description.classes)
        n_features = int(np.prod(self.shape)) if self.shape else None
        schema = Schema(None, classes, target, n_features, self.zero_based, texts=isinstance(X, list))
        return Table(X, y, description, schema)


def _count(X: Any) -> int:
    return X.shape[0] if getattr(X, "shape", None) else len(X)
