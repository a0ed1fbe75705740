"""Mahalanobis distance: given by a matrix, or by a rule that training rows decide."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from nearline import _core
from nearline._arrays.design import Array, admitted, is_sparse
from nearline._arrays.once import once
from nearline._records.kept import Numbers, OrNone, Plain, Real, kept, require
from nearline._records.refused import ParameterError
from nearline.neighbors.choice import VANISHING_SQUARES
from nearline.neighbors.embeddings import Embedding, Mapped
from nearline.neighbors.metric import NO_ROWS, Metric

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
class Mahalanobis(Metric):
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
    on_sparse: ClassVar[bool] = False
    maps: ClassVar[bool] = True
    in_tree: ClassVar[bool] = True
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

    @property
    def learned_from(self) -> Array:
        return NO_ROWS if self.learned is None else self.learned

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
        X = np.asarray(admitted(X).toarray() if is_sparse(X) else X, dtype=np.float64)
        codes = np.zeros(len(X), dtype=int)
        if self.matrix == "within":
            codes = np.unique(np.asarray(y), return_inverse=True)[1]
        S = covariance(X, codes, np.ones(len(X)) if weights is None else weights)
        share = SHRINKAGE if self.shrinkage is None else self.shrinkage
        scale = float(np.trace(S)) / max(len(S), 1)
        M = np.linalg.inv((1.0 - share) * S + share * (scale or 1.0) * np.eye(len(S)))
        return replace(self, matrix=0.5 * (M + M.T), shrinkage=None, learned=in_any_precision(X))

    def embedding(self, X: Array) -> Embedding | None:
        return Mapped(self.map)

    @property
    def vanishing(self) -> float:
        return VANISHING_SQUARES

    def parts(self) -> dict[str, Any]:
        return {"matrix": np.asarray(self.matrix, dtype=np.float64)}

    @classmethod
    def from_parts(cls, parts: dict[str, Any]) -> Self:
        matrix = parts["matrix"]
        if matrix.dtype != np.float64 or matrix.ndim != 2 or not np.isfinite(matrix).all():
            raise ValueError(f"matrix is of type {matrix.dtype} and shape {matrix.shape}, or has no numbers")
        return cls(matrix)

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
