"""ImageFeatures: pixels, color histograms and histograms of oriented gradients as a transformer."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.kept import OneOf, kept
from nearline.data.pixels import KINDS, image_features
from nearline.representations.features.extractor import FeatureExtractor


@kept(kind=OneOf(tuple(KINDS)))
class ImageFeatures(FeatureExtractor):
    """Images of bytes (n, height, width) or (n, height, width, 3) as rows: :func:`nearline.data.image_features`.

    Parameters
    ----------
    kind : "pixels", "histogram", "hog" or "hog+histogram".
    cache : folder where features are kept, or None.
    progress : whether a line is printed for each batch.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.representations.features import ImageFeatures
    >>> images = np.zeros((2, 32, 32, 3), dtype=np.uint8)
    >>> ImageFeatures("hog").fit_transform(images).shape
    (2, 324)
    """

    def __init__(self, kind: str = "hog", *, cache: str | None = None, progress: bool = False) -> None:
        self.kind = kind
        self.cache = cache
        self.progress = progress

    def _checksum(self) -> str:
        return f"images-{self.kind}-1"

    def _items(self, X: Any) -> Sequence[Any]:
        X = np.asarray(X)
        if len(X):
            image_features(X[:1], self.kind)  # what it refuses is refused before anything is computed
        return X

    def _features(self, items: Any) -> Array:
        return image_features(items, self.kind)
