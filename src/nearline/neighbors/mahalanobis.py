"""Mahalanobis distance: given by a matrix, or by a rule that training rows decide."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from nearline import _core
from nearline._arrays.design import Array, is_sparse
from nearline._arrays.once import once
from nearline._records.kept import Numbers, OrNone, Plain, Real, kept, require
from nearline._records.refused import ParameterError
from nearline.neighbors.mapped import MappedMetric, dense_rows, in_any_precision

SHRINKAGE = 1e-6
RULES = ("within", "total")


def _rooted(metric: "Mahalanobis") -> None:
    """The root is computed, but by a factorization whose last digits differ from machine to machine: files keep it."""
    given = metric.learns or np.isfinite(np.asarray(metric.matrix, dtype=float)).all()
    require(given, "The matrix of a Mahalanobis distance has NaN or infinite numbers")
    shape = (0, 0) if metric.learns else np.shape(metric.matrix)
    require(metric._root.shape == shape, "The map of a Mahalanobis distance does not fit its matrix")


@kept(
    matrix=Plain(),
    shrinkage=OrNone(Real(0.0, 1.0)),
    learned=OrNone(Numbers(("E",), "fingerprints")),
    _root=Numbers(("R", "R"), "float64"),
    links=_rooted,
)
@dataclass(frozen=True)
class Mahalanobis(MappedMetric):
    """sqrt((x - q)^T M (x - q)) for a symmetric positive semi-definite M (D, D): |A (x - q)| where M = A^T A.

    Rows are subtracted before they are mapped, so that an offset of all of them costs no digits. Rows of A are
    eigenvectors of M times the roots of their eigenvalues, the largest first.

    Parameters
    ----------
    matrix : M, or how training rows decide it. "within": the inverse of the covariance within classes, which is what
        linear discriminant analysis measures by. "total": that of all rows, which needs no labels. Models, ``sweep`` and
        contests learn it from the training rows of each fold; ``fit(X, y)`` does by hand.
    shrinkage : share of a multiple of I in the covariance, 0 < shrinkage <= 1; None: 1e-6. Of rules only.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import KNeighborsClassifier, Mahalanobis
    >>> X, y = np.array([[0.0, 0.0], [0.1, 9.0], [1.0, 0.0], [1.1, 9.0]]), ["a", "a", "b", "b"]
    >>> KNeighborsClassifier(1, metric=Mahalanobis("within")).fit(X, y).predict([[0.0, 5.0], [1.1, 5.0]]).tolist()
    ['a', 'b']
    """

    name: ClassVar[str] = "mahalanobis"
    core: ClassVar[_core.Metric | None] = _core.Metric.mahalanobis
    matrix: Any
    shrinkage: float | None = None
    learned: Array | None = field(
        default=None, repr=False
    )  # fingerprints of the rows that it was learned from

    def __post_init__(self) -> None:
        if isinstance(self.matrix, str):
            self._check_rule()
        else:
            self._check_matrix()

    @property
    def learns(self) -> bool:
        return isinstance(self.matrix, str)

    @classmethod
    def learn(cls, X: Any, y: Any = None, shrinkage: float = SHRINKAGE) -> "Mahalanobis":
        """Inverse covariance of the rows, within classes where y is given; shrunk towards a multiple of I."""
        return cls("total" if y is None else "within", shrinkage).fit(X, y)

    def fit(self, X: Any, y: Any = None, weights: Array | None = None) -> "Mahalanobis":
        """The metric with a matrix, from training rows; weights count how often a row is there."""
        if not self.learns:
            return self
        if self.matrix == "within" and y is None:
            raise ValueError(
                "Mahalanobis('within') learns from the classes of the rows, but there are no labels: take "
                "Mahalanobis('total'), or give labels to its fit(X, y)."
            )
        X = dense_rows(X)
        codes = np.zeros(len(X), dtype=int)
        if self.matrix == "within":
            codes = np.unique(np.asarray(y), return_inverse=True)[1]
        S = covariance(X, codes, np.ones(len(X)) if weights is None else weights)
        share = SHRINKAGE if self.shrinkage is None else self.shrinkage
        scale = float(np.trace(S)) / max(len(S), 1)
        M = np.linalg.inv((1.0 - share) * S + share * (scale or 1.0) * np.eye(len(S)))
        return replace(self, matrix=0.5 * (M + M.T), shrinkage=None, learned=in_any_precision(X))

    def parts(self) -> dict[str, Any]:
        return {"matrix": np.asarray(self.matrix, dtype=np.float64)}

    @classmethod
    def from_parts(cls, parts: dict[str, Any]) -> Self:
        return cls(cls._kept_matrix(parts))

    @once
    def _root(self) -> Array:
        if self.learns:
            return np.empty((0, 0))
        values, vectors = np.linalg.eigh(np.asarray(self.matrix, dtype=float))
        return np.ascontiguousarray(vectors * np.sqrt(np.maximum(values, 0.0)))

    @once
    def map(self) -> Array:
        """A (rank, D)."""
        A = self._root.T[::-1]
        return np.ascontiguousarray(A[A.any(axis=1)])

    def rows(self, X: Any) -> Any:
        n_features = len(self._root)
        if X.shape[1] != n_features:
            raise ValueError(
                f"The Mahalanobis matrix is for {n_features} features, but the rows have {X.shape[1]}."
            )
        values = X.data if is_sparse(X) else X
        farthest = float(abs(values).max(initial=0.0)) * float(
            np.abs(self._root).sum(axis=0).max(initial=0.0)
        )
        if farthest > 1e150:
            raise ValueError(
                f"Mahalanobis needs rows whose squared distances are finite, got values up to {abs(values).max():.3g}: scale "
                "the features."
            )
        return X.toarray() if is_sparse(X) else X

    def __hash__(self) -> int:
        return hash((self.name, self.shrinkage, np.asarray(self.matrix).tobytes()))

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is Mahalanobis
            and self.shrinkage == other.shrinkage
            and np.array_equal(self.matrix, other.matrix)
        )

    def _check_rule(self) -> None:
        if self.matrix not in RULES:
            raise ValueError(
                f"Mahalanobis needs a matrix, or one of {', '.join(map(repr, RULES))}, got {self.matrix!r}."
            )
        if self.shrinkage is not None and not 0 < self.shrinkage <= 1:
            raise ParameterError("shrinkage", self.shrinkage, "above 0 and at most 1")

    def _check_matrix(self) -> None:
        if self.shrinkage is not None:
            raise ValueError("shrinkage is for Mahalanobis('within') or 'total': a matrix is taken as it is.")
        M = np.asarray(self.matrix, dtype=float)
        square = M.ndim == 2 and M.shape[0] == M.shape[1]
        if not square or not np.allclose(M, M.T, rtol=1e-8, atol=1e-12 * abs(M).max(initial=0.0)):
            raise ValueError(
                f"Mahalanobis needs a symmetric (D, D) matrix, got shape {M.shape}: give (M + M.T) / 2."
            )
        values = np.linalg.eigvalsh(M)
        if len(values) and values[0] < -1e-10 * max(values[-1], 0.0):
            raise ValueError(
                f"Mahalanobis needs a positive semi-definite matrix, got one with the eigenvalue {values[0]:.3g}: "
                "distances would be imaginary."
            )


def covariance(X: Array, codes: Array, weights: Array) -> Array:
    """sum_i s_i (x_i - m_c(i)) (x_i - m_c(i))^T / (S - C), m_c the mean of class c, S the sum of weights."""
    Z = X.copy()
    counted = np.unique(codes)
    for c in counted:
        rows = codes == c
        for _ in range(2):  # the mean of rows far from the origin is itself rounded
            Z[rows] -= np.average(Z[rows], axis=0, weights=weights[rows])
    total = float(weights.sum())
    freedom = total - len(counted)
    return np.asarray((Z * weights[:, None]).T @ Z / (freedom if freedom > 0 else total))
