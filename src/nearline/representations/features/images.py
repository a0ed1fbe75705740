"""ImageFeatures: pixels, color histograms and histograms of oriented gradients as a transformer."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.kept import OneOf, OrNone, Whole, kept
from nearline._records.refused import ParameterError
from nearline.data.pixels import KINDS, as_images, image_features
from nearline.data.resampled import shrunk
from nearline.representations.features.extractor import FeatureExtractor


@kept(kind=OneOf(tuple(KINDS)), size=OrNone(Whole(8)))
class ImageFeatures(FeatureExtractor):
    """Images of bytes (n, height, width) or (n, height, width, 3) as rows: :func:`nearline.data.image_features`.

    Parameters
    ----------
    kind : "pixels", "histogram", "hog" or "hog+histogram".
    size : larger images are brought to a shorter side of so many pixels first; None: taken as they are.
    cache : folder where features are kept, or None.
    progress : whether a line is printed for each batch.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.representations.features import ImageFeatures
    >>> images = np.zeros((2, 96, 96, 3), dtype=np.uint8)
    >>> ImageFeatures("hog", size=32).fit_transform(images).shape
    (2, 324)
    """

    takes = "images"

    def __init__(
        self, kind: str = "hog", *, size: int | None = None, cache: str | None = None, progress: bool = False
    ) -> None:
        self.kind = kind
        self.size = size
        self.cache = cache
        self.progress = progress

    @property
    def called(self) -> str:
        return self.kind

    def _checksum(self) -> str:
        return f"images-{self.kind}-{'' if self.size is None else f'{self.size}-'}1"

    def _items(self, X: Any) -> Sequence[Any]:
        if self.size is not None and not (isinstance(self.size, (int, np.integer)) and self.size >= 8):
            raise ParameterError("size", self.size, "a whole number of pixels >= 8, or None")
        X = np.asarray(X)
        if len(X):
            image_features(
                self._sized(X[:1]), self.kind
            )  # what it refuses is refused before anything is computed
        return X

    def _features(self, items: Any) -> Array:
        return image_features(self._sized(items), self.kind)

    def _sized(self, items: Any) -> Array:
        images = as_images(items)
        return images if self.size is None else shrunk(images, self.size)
