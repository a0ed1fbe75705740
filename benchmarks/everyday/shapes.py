"""Tables of the matrix: their shapes, by hand and drawn by a seed, and the rows themselves."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp

QUERIES = 1000  # rows that are predicted
ROWS, FEATURES, CLASSES = (50, 1_000_000), (2, 20_000), (2, 100)  # ranges of the drawn shapes
MOST_BYTES = 2**30  # of the training rows
KINDS = ("noisy", "separable", "badly scaled", "duplicates", "float32", "sparse")


@dataclass(frozen=True)
class Shape:
    """A table: its size and what is special about it (one of ``KINDS``; "text" is sparse with few frequent words)."""

    rows: int
    features: int
    classes: int
    kind: str = "noisy"

    def __str__(self) -> str:
        kind = "" if self.kind == "noisy" else f", {self.kind}"
        return f"{self.rows:,} x {self.features:,}, {self.classes} classes{kind}"

    @property
    def sparse(self) -> bool:
        return self.kind in ("sparse", "text")

    @property
    def bytes(self) -> int:
        return self.rows * self.features * (4 if self.kind == "float32" else 8) // (200 if self.sparse else 1)


SHAPES = (
    Shape(50, 2, 2),
    Shape(100, 5, 2),
    Shape(200, 10, 3, "separable"),
    Shape(500, 30, 2),
    Shape(1000, 20, 2),
    Shape(1000, 20, 2, "badly scaled"),
    Shape(1000, 20, 10),
    Shape(1000, 100, 5),
    Shape(2000, 6, 3, "duplicates"),
    Shape(1500, 784, 10),
    Shape(300, 3000, 2),
    Shape(100, 20_000, 2),
    Shape(5000, 10, 100),
    Shape(10_000, 50, 2),
    Shape(10_000, 50, 2, "float32"),
    Shape(20_000, 200, 5),
    Shape(100_000, 20, 2),
    Shape(1_000_000, 10, 2),
    Shape(5000, 20_000, 2, "sparse"),
    Shape(2000, 10_000, 10, "text"),
)


def drawn(count: int, seed: int) -> tuple[Shape, ...]:
    """Shapes from the same ranges by a seed, sizes even in the logarithm; what does not fit is drawn anew."""
    rng = np.random.default_rng(seed)
    found: list[Shape] = []
    while len(found) < count:
        sizes = [int(np.exp(rng.uniform(*np.log(bounds)))) for bounds in (ROWS, FEATURES, CLASSES)]
        shape = Shape(sizes[0], sizes[1], sizes[2], KINDS[len(found) % len(KINDS)])
        if shape.classes * 5 <= shape.rows and shape.bytes <= MOST_BYTES // 4:
            found.append(shape)
    return tuple(found)


@lru_cache(maxsize=1)
def table(shape: Shape) -> tuple[Any, np.ndarray, Any]:
    """Training rows, their labels, and rows to predict."""
    rng = np.random.default_rng([shape.rows, shape.features, shape.classes])
    y = np.concatenate([np.arange(shape.classes), rng.integers(0, shape.classes, shape.rows - shape.classes)])
    both = np.concatenate([y, rng.integers(0, shape.classes, QUERIES)])
    X = _sparse_rows(shape, both, rng) if shape.sparse else _dense_rows(shape, both, rng)
    return X[: shape.rows], y, X[shape.rows :]


def _dense_rows(shape: Shape, y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Gaussian classes around random centers in a few directions of many; features correlate."""
    n, D = len(y), shape.features
    rank = min(D, 12)
    apart = 6.0 if shape.kind == "separable" else 1.2
    inner = rng.normal(size=(n, rank)) + apart * rng.normal(size=(shape.classes, rank))[y]
    X = inner @ rng.normal(size=(rank, D)) / np.sqrt(rank)
    X += rng.normal(size=(n, D))
    if shape.kind == "badly scaled":
        X = X * np.logspace(-3, 3, D) + 100 * rng.normal(size=D)
    if shape.kind == "duplicates":
        X = np.clip(np.round(X), -1, 1)
    return X.astype(np.float32 if shape.kind == "float32" else np.float64)


def _sparse_rows(shape: Shape, y: np.ndarray, rng: np.random.Generator) -> sp.csr_matrix:
    """Counts: even columns at 0.5%, or words whose frequency falls as 1 / rank; a tenth of the columns tell the class."""
    n, D = len(y), shape.features
    each = max(1, D // 200) if shape.kind == "sparse" else 60
    if shape.kind == "sparse":
        columns = rng.integers(0, D, (n, each))
    else:
        columns = np.minimum(np.exp(rng.uniform(0, np.log(D), (n, each))).astype(np.int64), D - 1)
    telling = rng.random((n, each)) < 0.1
    columns = np.where(telling, (columns // shape.classes * shape.classes + y[:, None]) % D, columns)
    values = np.ones(n * each)
    X = sp.csr_matrix((values, (np.repeat(np.arange(n), each), columns.ravel())), shape=(n, D))
    X.sum_duplicates()
    return X
