"""Products of two columns, chosen on the training rows by what a linear fit of their labels leaves over."""
# mypy: disallow-subclassing-any=False

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from nearline._arrays.design import Array, is_sparse
from nearline._arrays.validation import validate_data
from nearline._parallel.tiles import single_threaded_blas
from nearline._records.kept import Numbers, Whole, kept, require
from nearline.representations.base import Prepared
from nearline.representations.numbers import Numeric

MOST = 20  # products
STRONGEST = 40  # columns whose products are looked at
FITTED = 200  # columns of the linear fit
RIDGE = 1e-6  # of the mean square of the columns


def _of_columns(found: "Interactions") -> None:
    first, second = found.pairs_.T
    fits = (first < second).all() and (second < found.n_features_in_).all()
    require(fits, "Products are not of two columns each")


@kept(
    n_features_in_=Whole(1),
    pairs_=Numbers(("P", 2), "whole numbers", least=0),
    scale_=Numbers(("P",), above=0.0),
    links=_of_columns,
)
class Interactions(TransformerMixin, BaseEstimator):
    """Standardized columns, and at most 20 products of two of them.

    Of the 40 columns that correlate most with the labels, those products are taken that correlate most with what a
    least-squares fit of the labels leaves over, if they do so by more than chance explains: a correlation of
    sqrt(2 ln(number of products) / n). Each is divided by the root of its mean square.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.representations.interactions import Interactions
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> Interactions().fit(X, X[:, 0] * X[:, 2] > 0).get_feature_names_out().tolist()
    ['x0', 'x1', 'x2', 'x0 * x2']
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Choose products."""
        if y is None:
            raise ValueError(
                "Products are chosen by labels: requires y to be passed, but the target y is None."
            )
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        labels = np.asarray(y)
        classes = (labels[:, None] == np.unique(labels)).astype(np.float64)
        with single_threaded_blas:  # threads would change the last digits
            self.pairs_ = _chosen(X, classes - classes.mean(axis=0))
        products = self._products(X).astype(np.float64)
        self.scale_ = np.sqrt((products**2).mean(axis=0))
        return self

    def transform(self, X: Any) -> Any:
        """The columns, then the products."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        if not len(self.pairs_):
            return X
        products = (self._products(X) / self.scale_).astype(X.dtype)
        if is_sparse(X):
            rows = csr_matrix(hstack([X, csr_matrix(products)], format="csr"))
            rows.sort_indices()
            return rows
        return np.hstack([X, products])

    def _products(self, X: Any) -> Array:
        first, second = (_dense(X, columns) for columns in self.pairs_.T)
        return np.asarray(first * second)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns, then "a * b"."""
        check_is_fitted(self)
        known = vars(self).get("feature_names_in_")
        given = [f"x{j}" for j in range(self.n_features_in_)] if known is None else list(known)
        names = given if input_features is None else list(map(str, input_features))
        return np.array(
            [*names, *(f"{names[i]} * {names[j]}" for i, j in self.pairs_.tolist())], dtype=object
        )


def _dense(X: Any, columns: Array) -> Array:
    return X[:, columns].toarray() if is_sparse(X) else X[:, columns]


def _strength(X: Any, Y: Array) -> Array:
    """The largest correlation of each column with the centered columns of Y."""
    n = X.shape[0]
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel()
    squares = np.asarray((X.power(2) if is_sparse(X) else X**2).mean(axis=0), dtype=np.float64).ravel()
    spread = np.sqrt(np.maximum(squares - mean**2, 0.0))
    length = np.sqrt((Y**2).mean(axis=0))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.abs(X.T @ Y) / n / spread[:, None] / length
    return np.asarray(
        np.where(np.isfinite(found) & (spread[:, None] > 1e-6), found, 0.0).max(axis=1, initial=0.0)
    )


def _left_over(Z: Array, Y: Array) -> Array:
    """What is left of Y by least squares on the centered columns of Z, next to no ridge for columns that depend on others."""
    Z = Z - Z.mean(axis=0)
    G = Z.T @ Z
    G[np.diag_indices_from(G)] += RIDGE * max(float(np.trace(G)) / len(G), 1e-12)
    return np.asarray(Y - Z @ np.linalg.solve(G, Z.T @ Y))


def _chosen(X: Any, Y: Array) -> Array:
    """The columns (P, 2) of the products, the strongest first."""
    strongest = np.argsort(-_strength(X, Y), kind="stable")
    rest = _left_over(_dense(X, np.sort(strongest[:FITTED])).astype(np.float64), Y)
    columns = np.sort(strongest[:STRONGEST])
    Z = _dense(X, columns).astype(np.float64)
    first, second = np.triu_indices(len(columns), 1)
    if not len(first):
        return np.empty((0, 2), dtype=np.int64)
    found = _correlations(Z, rest)[first, second]
    least = np.sqrt(2 * np.log(1 + len(first)) / len(Z))
    order = np.argsort(-found, kind="stable")[:MOST]
    order = order[found[order] > least]
    return np.column_stack([columns[first[order]], columns[second[order]]]).astype(np.int64)


def _correlations(Z: Array, rest: Array) -> Array:
    """Of the product of each two columns with what is left over: the largest over classes. Sums of products are products."""
    n = len(Z)
    mean, square = Z.T @ Z / n, (Z**2).T @ (Z**2) / n
    spread = np.sqrt(np.maximum(square - mean**2, 0.0))
    length = np.sqrt((rest**2).mean(axis=0))
    found = np.zeros_like(mean)
    for values, long in zip(rest.T, length):
        if long > 1e-6:
            found = np.maximum(found, np.abs((Z.T * values) @ Z) / (n * long))
    return np.asarray(np.where(spread > 1e-6, found / np.where(spread > 1e-6, spread, 1.0), 0.0))


@dataclass(frozen=True)
class PreparedInteractions(Prepared):
    """A representation whose folds get products."""

    rows: Prepared

    def fold(self, train: Array, test: Array, codes: Array | None = None) -> tuple[Any, Any]:
        rows, others = self.rows.fold(train, test, codes)
        found = Interactions().fit(rows, codes)
        return found.transform(rows), found.transform(others)


@dataclass(frozen=True)
class MultipliedNumbers(Numeric):
    """Standardized columns, and products of two that the labels ask for, for linear models."""

    name: ClassVar[str] = "interactions"
    gives: ClassVar[str] = "products"

    def suits(self, X: Any) -> bool:
        return np.shape(X)[1] > 1

    def scaler(self) -> Any:
        return StandardScaler()

    def steps(self) -> list[Any]:
        return [*super().steps(), Interactions()]

    def corrected(self, transformer: Any, seen: Any) -> Any:
        """Products belong to the scales of the sample."""
        return transformer
