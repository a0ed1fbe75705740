"""Specs of arrays: shape, type and range."""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import is_sparse
from nearline._records.kept._values import Dims, Sizes, Spec

TYPES: dict[str, tuple[str, ...]] = {
    "floats": ("f4", "f8"),
    "float32": ("f4",),
    "float64": ("f8",),
    "whole numbers": ("i1", "i2", "i4", "i8", "u1", "u2", "u4"),
    "truth values": ("b1",),
    "fingerprints": ("u8",),
    "any numbers": ("b1", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"),
    "floats or bytes": ("f4", "f8", "u1", "b1"),
}


@dataclass(frozen=True)
class Numbers(Spec):
    """An array of numbers; ``dims`` None: of any shape. Finite, unless ``infinite``, or ``wild``: then NaN too.

    ``below``: a letter, all numbers are less than that size. ``rising``: each is more than the last.
    """

    dims: Dims | None
    kind: str = "floats"
    least: float = -np.inf
    most: float = np.inf
    above: float = -np.inf
    below: str | None = None
    rising: bool = False
    infinite: bool = False
    wild: bool = False

    def fits(self, value: Any, sizes: Sizes) -> bool:
        if type(value) is not np.ndarray or value.dtype.str[1:] not in TYPES[self.kind]:
            return False
        if self.dims is not None and not sizes.agree(value.shape, self.dims):
            return False
        return self.wild or self._in_range(value, sizes)

    def _in_range(self, value: Any, sizes: Sizes) -> bool:
        finite = not np.isnan(value).any() if self.infinite else np.isfinite(value).all()
        if not finite or not (value >= self.least).all() or not (value <= self.most).all():
            return False
        if not (value > self.above).all() or (self.rising and not (value[1:] > value[:-1]).all()):
            return False
        return self.below is None or bool((value < sizes.get(self.below, 0)).all())

    def wanted(self, sizes: Sizes) -> str:
        shape = "" if self.dims is None else f" {sizes.said(self.dims)}"
        bounds = [f">= {self.least:g}"] if np.isfinite(self.least) else []
        bounds += [f"> {self.above:g}"] if np.isfinite(self.above) else []
        bounds += [f"<= {self.most:g}"] if np.isfinite(self.most) else []
        bounds += [] if self.below is None else [f"< {sizes.get(self.below, 0)}"]
        bounds += ["rising"] if self.rising else []
        finite = "" if self.infinite or self.wild or self.kind != "floats" else "finite "
        return f"an array{shape} of {finite}{self.kind} {' and '.join(bounds)}".strip()


@dataclass(frozen=True)
class RowArray(Spec):
    """Rows of finite numbers: an array, or a CSR matrix, whose indices were checked when it was made."""

    dims: Dims
    kind: str = "floats"

    def fits(self, value: Any, sizes: Sizes) -> bool:
        if is_sparse(value):
            if value.format != "csr" or value.dtype.str[1:] not in ("f4", "f8"):
                return False
            values = value.data
        elif type(value) is np.ndarray and value.dtype.str[1:] in TYPES[self.kind]:
            values = value
        else:
            return False
        return sizes.agree(value.shape, self.dims) and bool(np.isfinite(values).all())

    def wanted(self, sizes: Sizes) -> str:
        return f"rows {sizes.said(self.dims)} of finite {self.kind}"


@dataclass(frozen=True)
class Objects(Spec):
    """A 1-D array of objects that are all so."""

    dims: Dims
    spec: Spec

    def fits(self, value: Any, sizes: Sizes) -> bool:
        if type(value) is not np.ndarray or value.dtype != object or not sizes.agree(value.shape, self.dims):
            return False
        return all(self.spec.fits(one, sizes) for one in value)

    def wanted(self, sizes: Sizes) -> str:
        return f"an array {sizes.said(self.dims)} of objects, each {self.spec.wanted(sizes)}"


@dataclass(frozen=True)
class Labels(Spec):
    """Different labels in order, at least so many: numbers, truth values or strings, in an array of one type."""

    least: int = 2

    def fits(self, value: Any, sizes: Sizes) -> bool:
        if type(value) is not np.ndarray or value.ndim != 1 or len(value) < self.least:
            return False
        kind = value.dtype.kind
        if kind not in "OfbiuUS" or (kind == "f" and not np.isfinite(value).all()):
            return False
        if kind == "O" and not (len(set(map(type, value))) == 1 and _is_label(value[0])):
            return False
        labels = value.tolist()
        return all(a < b for a, b in itertools.pairwise(labels))

    def wanted(self, sizes: Sizes) -> str:
        return f"an array of at least {self.least} different labels, in order"


def _is_label(value: Any) -> bool:
    return isinstance(value, (str, bool, int, float, bytes, np.generic)) and value == value
