"""Choose alpha: whole warm-started paths on every fold, scored on the rows left out (SPEC H2, H4)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.multiclass import check_classification_targets

from nearline.arrays import Array, is_sparse
from nearline.estimators._base import encoded
from nearline.estimators.linear import LinearClassifier
from nearline.selection.edges import Edge, edge_of, equally_best
from nearline.selection.families import Fold
from nearline.selection.families.paths import Path
from nearline.selection.path import checked_alphas
from nearline.tiles import side_by_side, steps


@dataclass(frozen=True)
class PathScores:
    """Accuracy of each alpha on each fold, with the certificates of the fits."""

    alphas: Array  # (n_alphas,), from large to small
    scores: Array  # (n_alphas, n_folds)
    gaps: Array  # (n_alphas, n_folds), relative to the null risk; nan where there is no certificate

    @property
    def mean(self) -> Array:
        """Mean over folds."""
        return np.asarray(self.scores.mean(axis=1))

    @property
    def deviation(self) -> Array:
        """Standard deviation over folds."""
        return np.asarray(self.scores.std(axis=1, ddof=1))

    @property
    def best(self) -> int:
        """Number of the alpha with the best mean; the larger alpha among equals."""
        return int(np.argmax(equally_best(self.mean)))

    @property
    def one_standard_error(self) -> int:
        """The largest alpha whose mean is within one standard error of the best."""
        error = self.deviation[self.best] / np.sqrt(self.scores.shape[1])
        return int(np.argmax(self.mean >= self.mean[self.best] - error))

    @property
    def edge(self) -> Edge | None:
        """Where the best alpha is the smallest or largest given, so that values beyond may be better."""
        return edge_of("alpha", self.alphas, self.mean)


def path_scores(
    model: LinearClassifier,
    X: Any,
    y: Any,
    alphas: Any,
    *,
    folds: Any = 5,
    transformer: Any = None,
    seed: int = 0,
) -> PathScores:
    """Cross-validate a linear model over alphas: one warm path a fold, equal to separate fits within their gaps.

    Fits on folds are certified to P - D <= tol P(W = 0, best b), ``tol`` that of the model: only their labels count.

    Parameters
    ----------
    model : a :class:`nearline.LinearClassifier` or a named one; its own alpha is not used.
    X, y : rows (array, sparse matrix or table) and labels of any kind.
    alphas : the grid.
    folds : a number (stratified, shuffled by ``seed``) or a scikit-learn splitter.
    transformer : any scikit-learn transformer, fitted on the training rows of each fold only.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import LogisticRegression, path_scores
    >>> result = path_scores(LogisticRegression(), *load_iris(return_X_y=True), alphas=[1e-1, 1e-2, 1e-3])
    >>> result.scores.shape, bool(result.mean.max() > 0.9)
    ((3, 5), True)
    """
    _check_model(model)
    X, y = indexable(X, np.asarray(y))
    check_classification_targets(y)
    grid = checked_alphas(alphas)
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed) if isinstance(folds, int) else folds
    pairs = list(splitter.split(np.zeros(len(y)), y))
    columns = side_by_side(
        lambda pair: _fold(model, X, y, grid, pair[0], pair[1], transformer),
        pairs,
        cells=X.nnz if is_sparse(X) else np.prod(np.shape(X)),
    )
    scores, gaps = (np.column_stack(part) for part in zip(*columns))
    return PathScores(grid, scores, gaps)


def _fold(
    model: LinearClassifier, X: Any, y: Array, alphas: Array, train: Array, test: Array, transformer: Any
) -> tuple[Array, Array]:
    """Scores and gaps along the path of one fold."""
    X_train, X_test = _safe_indexing(X, train), _safe_indexing(X, test)
    if transformer is not None:
        fitted = clone(transformer)
        X_train, X_test = fitted.fit_transform(X_train, y[train]), fitted.transform(X_test)
    classes, codes = encoded(y)
    fold = Fold(X_train, codes[train], None, X_test, classes)
    scores, gaps = np.empty(len(alphas)), np.full(len(alphas), np.nan)
    family = Path("path", model, tol=model.tol)
    for outcome in steps(family.outcomes(fold, [{"alpha": alpha} for alpha in alphas])):
        scores[outcome.number] = np.mean(outcome.answers.labels == codes[test])
        gaps[outcome.number] = np.nan if outcome.gap is None else outcome.gap
    return scores, gaps


def _check_model(model: Any) -> None:
    if not isinstance(model, LinearClassifier):
        raise ValueError(
            f"path_scores needs a linear model with a penalty (LinearClassifier, LogisticRegression, ...), got {model!r}: "
            "use sklearn.model_selection.cross_val_score for others."
        )
    if model.get_params().get("hard_margin"):
        raise ValueError("A hard margin does not depend on alpha, so it has no path: set hard_margin=False.")
