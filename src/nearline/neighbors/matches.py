"""Metrics that ask of each feature whether it is equal, or present."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from nearline import _core
from nearline._arrays.design import is_sparse
from nearline.neighbors.metric import Metric


@dataclass(frozen=True)
class Hamming(Metric):
    """Share of the features in which two rows differ."""

    name: ClassVar[str] = "hamming"
    core: ClassVar[_core.Metric | None] = _core.Metric.hamming
    whole: ClassVar[bool] = True
    in_plane: ClassVar[bool] = False


@dataclass(frozen=True)
class Jaccard(Metric):
    """1 - |both| / |either| of the features that are present (not 0); two rows without any are at distance 0."""

    name: ClassVar[str] = "jaccard"
    core: ClassVar[_core.Metric | None] = _core.Metric.jaccard
    whole: ClassVar[bool] = True
    in_plane: ClassVar[bool] = False

    def rows(self, X: Any) -> Any:
        values = X.data if is_sparse(X) else X
        wrong = (values != 0) & (values != 1)
        if np.any(wrong):
            raise ValueError(
                f"Jaccard takes binary data (0 and 1, or booleans), got the value {np.asarray(values)[wrong].flat[0]!r}: "
                "give X != 0 (present or absent), or another metric."
            )
        return X
