"""Representations of numbers, dense or sparse: as they are, scaled by columns, or scaled by rows."""
# mypy: disallow-subclassing-any=False

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer, StandardScaler
from sklearn.utils.validation import check_is_fitted

from nearline._arrays.design import Array, admitted, flat, is_sparse
from nearline._arrays.validation import check_array, validate_data
from nearline._records.kept import AnyOf, Instance, ListOf, Numbers, OneOf, OrNone, Whole, Word, kept
from nearline.representations.base import Prepared, Representation, by_name, is_frame, names_of
from nearline.representations.corrected import ends_over, scaler_over
from nearline.representations.scales import Knots, quantile

EXACT = 2**24  # whole numbers up to here are exact in float32


def _width(largest: float) -> Any:
    return np.float32 if largest <= EXACT else np.float64


def _largest(X: Any) -> float:
    """The largest absolute value, without overflow at the ends of the integers."""
    return max(float(X.max()), -float(X.min())) if min(X.shape) else 0.0


def _raw(X: Any, checked: Callable[..., Any] = check_array) -> Any:
    """X as an array or CSR matrix of its own type; numbers that came as objects become float64."""
    if is_frame(X):
        names_of(X)
    finite = True if is_sparse(X) else "allow-nan"
    X = checked(flat(X), accept_sparse="csr", dtype=None, ensure_all_finite=finite)
    return X if X.dtype.kind in "biuf" else X.astype(np.float64)


@kept(
    columns=OrNone(ListOf(Word(), "D", distinct=True)),
    n_features_in_=Whole(1),
    dtype_=OneOf((np.float32, np.float64, np.dtype(np.float32), np.dtype(np.float64))),
)
class AsNumbers(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Numbers as float32 or float64: floats stay as they are, whole numbers become float32 if that is exact.

    Parameters
    ----------
    columns : names of the columns where the rows of the fit had some and are an array now: frames are then taken by name.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.representations.numbers import AsNumbers
    >>> pixels = np.array([[0, 255], [128, 7]], dtype=np.uint8)
    >>> AsNumbers().fit_transform(pixels).dtype
    dtype('float32')
    """

    def __init__(self, columns: list[str] | None = None) -> None:
        self.columns = columns

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any = None) -> "AsNumbers":
        """Remember the type that the training rows need."""
        self.dtype_ = _dtype(_raw(X, partial(validate_data, self)))
        return self

    def transform(self, X: Any) -> Any:
        """X in that type, C-contiguous or CSR."""
        check_is_fitted(self)
        if self.columns is not None and is_frame(X):
            X = by_name(X, self.columns).to_numpy()
        return _cast(_raw(X, partial(validate_data, self, reset=False)), self.dtype_)


@kept(n_features_in_=Whole(1), medians_=AnyOf((Numbers(("D",)), Numbers((0,)))))
class FillMissing(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Medians of the training rows in place of NaN; rows without NaN, and sparse ones, pass as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.representations.numbers import FillMissing
    >>> FillMissing().fit(np.array([[1.0], [2.0], [9.0]])).transform(np.array([[np.nan], [5.0]])).tolist()
    [[2.0], [5.0]]
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def fit(self, X: Any, y: Any = None) -> "FillMissing":
        """Remember the medians."""
        X = validate_data(self, X, accept_sparse="csr", ensure_all_finite="allow-nan")
        columns = [] if is_sparse(X) else [column[~np.isnan(column)] for column in X.T]
        self.medians_ = np.array([np.median(known) if len(known) else 0.0 for known in columns])
        return self

    def transform(self, X: Any) -> Any:
        """X with medians where it misses values."""
        X = validate_data(self, X, accept_sparse="csr", ensure_all_finite="allow-nan", reset=False)
        if is_sparse(X) or not np.isnan(X).any():
            return X
        if len(self.medians_) != X.shape[1]:
            raise ValueError(
                "The rows of the fit were sparse and had no missing values, but these have NaN: fill them in."
            )
        return np.where(np.isnan(X), self.medians_.astype(X.dtype), X)


def _dtype(X: Any) -> Any:
    if X.dtype in (np.float32, np.float64):
        return X.dtype
    return _width(_largest(X)) if X.dtype.kind in "biu" else np.promote_types(X.dtype, np.float32)


def _cast(X: Any, dtype: Any) -> Any:
    return X.astype(dtype, copy=False) if is_sparse(X) else np.ascontiguousarray(X, dtype=dtype)


@dataclass(frozen=True)
class PreparedNumbers(Prepared):
    """Numbers in their final type, and the steps that each fold fits."""

    X: Any
    representation: "Numeric"
    largest: Array | None  # (n,) largest absolute value of each row, where some need float64

    def fold(self, train: Array, test: Array, codes: Array | None = None) -> tuple[Any, Any]:
        rows, others = self.X[train], self.X[test]
        if self.largest is not None:
            dtype = _width(self.largest[train].max())
            rows, others = _cast(rows, dtype), _cast(others, dtype)
        steps = self.representation.steps()
        if not steps:
            return rows, others
        fitted = make_pipeline(*steps)
        return _ordered(fitted.fit_transform(rows, codes)), _ordered(fitted.transform(others))


def _ordered(X: Any) -> Any:
    return X if is_sparse(X) else np.ascontiguousarray(X)


def _with_last(pipeline: Any, step: Any) -> Any:
    """A pipeline with another last step."""
    return Pipeline([*pipeline.steps[:-1], (pipeline.steps[-1][0], step)])


@dataclass(frozen=True)
class Numeric(Representation):
    """Numbers in, numbers out; with ``missing``, medians of the training rows replace NaN, and new columns tell where."""

    missing: bool = False

    @abstractmethod
    def scaler(self) -> Any:
        """What is done after missing values are replaced; None: nothing."""

    def steps(self) -> list[Any]:
        """What is fitted, in order."""
        # a column that is all missing in the training rows stays, as zeros: no warning, the same places
        imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
        return [step for step in (imputer if self.missing else None, self.scaler()) if step is not None]

    def adapted(self, X: Any) -> Self:
        raw = admitted(X) if is_sparse(X) else _raw(X)
        floats = raw.dtype.kind == "f" and not is_sparse(raw)
        return replace(self, missing=bool(floats and np.isnan(raw).any()))

    def transformer(self) -> Any:
        # Rows to come may miss values even where no training row does.
        filled = [] if self.missing else [FillMissing()]
        return make_pipeline(AsNumbers(), *filled, *self.steps())

    def prepared(self, rows: Any) -> Prepared:
        raw = _raw(rows)
        dtype = _dtype(raw)
        mixed = raw.dtype.kind in "iu" and dtype == np.float64
        largest = np.asarray(_row_largest(raw)) if mixed else None
        return PreparedNumbers(_cast(raw, dtype), self, largest)


def _row_largest(X: Any) -> Array:
    X = abs(X.astype(np.float64))
    top = X.max(axis=1)
    return np.ravel(top.toarray() if is_sparse(top) else top)


@dataclass(frozen=True)
class AsIs(Numeric):
    """The numbers themselves."""

    name: ClassVar[str] = "as-is"

    def scaler(self) -> Any:
        return None


@dataclass(frozen=True)
class Standardized(Numeric):
    """Each column minus its mean, divided by its standard deviation.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.representations.numbers import Standardized
    >>> prepared = Standardized().prepare(np.array([[1.0], [3.0], [7.0]]))
    >>> train, test = prepared.fold(np.array([0, 1]), np.array([2]))
    >>> train.ravel(), test.ravel()
    (array([-1.,  1.]), array([5.]))
    """

    name: ClassVar[str] = "standardized"

    def scaler(self) -> Any:
        return StandardScaler()

    def corrected(self, transformer: Any, seen: Any) -> Any:
        filler, scaler = transformer[1], transformer[-1]
        medians = filler.statistics_ if self.missing else filler.medians_
        marked = filler.indicator_.features_ if self.missing else np.empty(0, dtype=np.intp)
        return _with_last(transformer, scaler_over(scaler, seen.moments, medians, marked))


@dataclass(frozen=True)
class UnitLength(Numeric):
    """Each row divided by its length: distances then compare directions."""

    name: ClassVar[str] = "unit-length"

    def scaler(self) -> Any:
        return Normalizer()


@kept(n_features_in_=Whole(1), knots_=ListOf(Instance(Knots), "D"))
class NormalRanks(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """The place of each value among the training rows, on the scale of a standard normal variable."""

    def fit(self, X: Any, y: Any = None) -> "NormalRanks":
        """Find the quantiles of the training rows."""
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        self.knots_ = [quantile(column) for column in X.T]
        return self

    def transform(self, X: Any) -> Array:
        """Ranks of the values, equal ones in the middle; beyond the training rows, those of the ends."""
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        out = np.empty(X.shape, dtype=X.dtype)
        for j, knots in enumerate(self.knots_):
            out[:, j] = knots(X[:, j])
        return out


@dataclass(frozen=True)
class Quantile(Numeric):
    """Each column's ranks, mapped to a normal distribution: outliers and skewed columns do no harm."""

    name: ClassVar[str] = "quantile"

    def scaler(self) -> Any:
        return NormalRanks()


@dataclass(frozen=True)
class MaxAbs(Numeric):
    """Each column divided by its largest absolute value: zeros stay zeros."""

    name: ClassVar[str] = "max-abs"

    def scaler(self) -> Any:
        return MaxAbsScaler()

    def corrected(self, transformer: Any, seen: Any) -> Any:
        return _with_last(transformer, ends_over(transformer[-1], seen.moments))
