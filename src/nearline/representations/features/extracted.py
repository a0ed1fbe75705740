"""Extracted: what an extractor sees, as a representation of a contest; as it is, standardized or of unit length."""
# mypy: disallow-subclassing-any=False

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

from nearline._arrays.design import Array, flat
from nearline._arrays.validation import validate_data
from nearline._records.kept import ListOf, OneOf, Whole, kept
from nearline._records.refused import ParameterError
from nearline.representations import kind_of
from nearline.representations.base import Prepared, Representation
from nearline.representations.features.extractor import FeatureExtractor
from nearline.representations.numbers import AsIs, Numeric, Standardized, UnitLength
from nearline.representations.texts import Documents, documents

SCALES: tuple[tuple[Numeric, ...], ...] = (
    (AsIs(),),
    (Standardized(),),
    (UnitLength(),),
)  # each preset adds one


@kept(shape=ListOf(Whole(1)), n_features_in_=Whole(1), unit_=OneOf((False, True)))
class AsImages(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Rows of numbers (n, D) as images of bytes (n, height, width[, channels]); numbers from 0 to 1 are taken times 255.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.representations.features.extracted import AsImages
    >>> AsImages([2, 3]).fit_transform(np.array([[0.0, 0.2, 0.4, 0.6, 0.8, 1.0]])).tolist()
    [[[0, 51, 102], [153, 204, 255]]]
    """

    def __init__(self, shape: Sequence[int]) -> None:
        self.shape = shape

    def fit(self, X: Any, y: Any = None) -> "AsImages":
        """Note whether numbers are bytes or parts of one."""
        X = validate_data(self, flat(X), dtype="numeric")
        if X.shape[1] != int(np.prod(self.shape)):
            raise ValueError(f"Rows of {X.shape[1]} numbers are no images of shape {tuple(self.shape)}.")
        self.unit_ = bool(X.dtype.kind == "f" and X.max(initial=0) <= 1)
        _check(X, self.unit_)
        return self

    def transform(self, X: Any) -> Array:
        """The images."""
        check_is_fitted(self)
        X = validate_data(self, flat(X), dtype="numeric", reset=False)
        _check(X, self.unit_)
        values = np.rint(X * 255.0) if self.unit_ else X
        return values.astype(np.uint8, copy=False).reshape(len(X), *self.shape)


def _check(X: Array, unit: bool) -> None:
    """Refuse numbers that are no bytes."""
    if X.dtype == np.uint8:
        return
    low, high = float(X.min(initial=0)), float(X.max(initial=0))
    if low < 0 or high > (1 if unit else 255):
        raise ValueError(
            f"Features of images are taken of bytes from 0 to 255, or of numbers from 0 to 1, but these go from {low:g} to "
            f"{high:g}{', and those of the fit from 0 to 1' if unit else ''}: bring them there."
        )


@dataclass(frozen=True)
class Extracted(Representation):
    """What an extractor makes of rows that are images of a shape, or texts; then a scale that is fitted in each fold."""

    name: str  # type: ignore[misc]
    extractor: FeatureExtractor
    scale: Numeric
    shape: tuple[int, ...] | None = None  # of images
    few: bool = False  # whether it is for few families only: those that are quick on thousands of columns

    @property
    def gives(self) -> str:  # type: ignore[override]
        return "pixels" if self.few else "numbers"

    @property
    def reading(self) -> str:  # type: ignore[override]
        return f"features {self.name.partition(',')[0]}"

    def _first(self) -> list[Any]:
        """What brings rows to what the extractor takes."""
        if self.extractor.takes == "texts":
            return [Documents()]
        return [] if self.shape is None else [AsImages(list(self.shape))]

    def read(self, X: Any) -> Any:
        return make_pipeline(*self._first(), clone(self.extractor)).fit_transform(X)

    def prepared(self, rows: Any) -> Prepared:
        return self.scale.prepared(rows)

    def transformer(self) -> Any:
        # Where features are kept, and whether that is shown, is no matter of the model.
        plain = clone(self.extractor).set_params(cache=None, progress=False)
        return make_pipeline(*self._first(), plain, *self.scale.steps())


def extracted(
    name: str, extractor: FeatureExtractor, X: Any, shape: tuple[int, ...], n_scales: int
) -> list[Extracted]:
    """An extractor's features at the first scales; what it cannot take, and what it lacks, is said now."""
    texts, image = kind_of(X) == "texts", len(shape) > 1
    found_kind = (
        "texts" if texts else f"images of {' x '.join(map(str, shape))}" if image else "rows of numbers"
    )
    fits = {"texts": texts, "images": image and not texts, "rows": not texts}[extractor.takes]
    if not fits:
        raise ParameterError(
            "features",
            name,
            f"features of {found_kind}, as the rows are",
            f"{name} is for {extractor.takes}",
        )
    scales = [scale for scales in SCALES[:n_scales] for scale in scales]
    names = [name if isinstance(scale, AsIs) else f"{name}, {scale.name}" for scale in scales]
    own = shape if image and not texts else None
    found = [Extracted(called, extractor, scale, own) for called, scale in zip(names, scales)]
    found[0].read(documents(X)[:1] if texts else X[:1])
    return found
