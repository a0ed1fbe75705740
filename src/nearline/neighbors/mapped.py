"""Distances |A (x - q)| of rows that a matrix maps, which training rows may decide; and which rows those were."""

from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import Array, admitted, is_sparse
from nearline.neighbors.choice import VANISHING_SQUARES
from nearline.neighbors.embeddings import Embedding, Mapped
from nearline.neighbors.metric import NO_ROWS, Metric


class MappedMetric(Metric):
    """|A (x - q)|, A the ``map``. Searches look at the mapped rows; files keep the matrix."""

    on_sparse: ClassVar[bool] = False
    maps: ClassVar[bool] = True
    in_tree: ClassVar[bool] = True
    learned: Array | None  # fingerprints of the rows that it was learned from

    @property
    def learned_from(self) -> Array:
        return NO_ROWS if self.learned is None else self.learned

    def embedding(self, X: Array) -> Embedding | None:
        return Mapped(self.map)

    @property
    def vanishing(self) -> float:
        return VANISHING_SQUARES

    @staticmethod
    def _kept_matrix(parts: dict[str, Any]) -> Array:
        """The matrix of a file."""
        matrix: Array = parts["matrix"]
        if matrix.dtype != np.float64 or matrix.ndim != 2 or not np.isfinite(matrix).all():
            raise ValueError(f"matrix is of type {matrix.dtype} and shape {matrix.shape}, or has no numbers")
        return matrix


def dense_rows(X: Any) -> Array:
    """Rows from which a map is learned."""
    return np.asarray(admitted(X).toarray() if is_sparse(X) else X, dtype=np.float64)


def fingerprints(X: Any) -> Array:
    """A number of 64 bits for each row (n,), the same for equal rows, whatever their type or place."""
    X = X.toarray() if is_sparse(X) else np.asarray(X)
    out = np.zeros(len(X), dtype=np.uint64)
    keys = np.random.default_rng(0).integers(2**63, size=(2, X.shape[1]), dtype=np.uint64) | np.uint64(1)
    for start in range(0, len(X), 4096):  # so that no second copy of all rows is made
        part = slice(start, start + 4096)
        bits = (X[part].astype(np.float64) + 0.0).view(np.uint64)  # -0 is 0
        with np.errstate(over="ignore"):
            mixed = (bits ^ (bits >> np.uint64(29))) * keys[0] + keys[1]
            mixed = (mixed ^ (mixed >> np.uint64(32))) * keys[1]
            out[part] = (mixed ^ (mixed >> np.uint64(29))).sum(axis=1, dtype=np.uint64)
    return out


def in_any_precision(X: Any) -> Array:
    """Fingerprints of rows as they are, and as they are once they have been rounded to float32."""
    with np.errstate(over="ignore"):
        return np.union1d(fingerprints(X), fingerprints(X.astype(np.float32)))


def seen_elsewhere(metric: Metric, X: Any) -> Array:
    """Fingerprints of the rows that a metric was learned from, but for those of X."""
    learned = metric.learned_from
    return np.setdiff1d(learned, in_any_precision(X)) if len(learned) else learned


def refuse_seen(elsewhere: Array, Q: Any) -> None:
    """Refuse to answer for rows that the metric was learned from, though the model itself has not seen them."""
    if not len(elsewhere):
        return
    known = np.isin(fingerprints(Q), elsewhere)
    if known.any():
        raise ValueError(
            f"The metric was learned from {np.count_nonzero(known)} of these {len(known)} rows, which the model itself has "
            "not seen: scores on them would be too good. Give the unfitted metric, such as metric=Mahalanobis('within'), "
            "which every fold learns for itself, or, if that is what you want, its matrix: Mahalanobis(metric.matrix)."
        )
