"""What the numbers of a sparse matrix are: counts of words, numbers of one scale, or columns in units of their own."""

from typing import Any

import numpy as np

from nearline._arrays.design import Array, is_sparse

WIDE = 256  # columns from which on a matrix may be one of words
THIN = 0.1  # largest share of cells that such a matrix stores
ALIKE = 0.1  # columns are of one scale if each reaches this share of what the largest reaches


def is_thin(X: Any) -> bool:
    """Whether X is sparse, has many columns, and nearly all of its cells are zeros, as in a matrix of words."""
    return is_sparse(X) and X.shape[1] >= WIDE and X.nnz <= THIN * X.shape[0] * X.shape[1]


def are_counts(X: Any) -> bool:
    """Whether X may be counts of words: whole numbers that are not negative, in a wide matrix of zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> from nearline.representations.sparse import are_counts
    >>> words = csr_matrix(np.eye(300))
    >>> are_counts(words), are_counts(words * 0.5), are_counts(words[:, :20])
    (True, False, False)
    """
    return is_thin(X) and bool((X.data >= 0).all() and (X.data == np.floor(X.data)).all())


def is_scaled(X: Any) -> bool:
    """Whether the columns of a sparse X need no scaling: within [-1, 1] and, unless X is thin, of one scale.

    In a thin matrix a rare word has small numbers for a reason.
    """
    reach = reaches(X)
    reach = reach[reach > 0]
    if not len(reach):
        return True
    return bool(reach.max() <= 1 and (is_thin(X) or reach.min() >= ALIKE * reach.max()))


def reaches(X: Any) -> Array:
    """The largest absolute value of each column."""
    if not min(X.shape):
        return np.zeros(X.shape[1])
    largest = X.max(axis=0).toarray().ravel().astype(np.float64)
    return np.maximum(largest, -X.min(axis=0).toarray().ravel().astype(np.float64))


def scale_of(X: Any) -> str:
    """Which list of representations a sparse X gets: 'sparse' as it stands, or 'sparse numbers' that need scaling."""
    return "sparse" if are_counts(X) or is_scaled(X) else "sparse numbers"
