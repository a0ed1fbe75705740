"""Choose alpha: whole warm-started paths on every fold, scored on the rows left out."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets

from nearline._arrays.design import Array, is_sparse
from nearline._arrays.doors import door_of
from nearline._arrays.validation import indexable
from nearline._parallel.tiles import side_by_side, steps
from nearline._records.habits import translates_habits
from nearline.estimators.base import encoded
from nearline.estimators.linear import LinearClassifier
from nearline.selection.blocked_folds import hashed_parts, path_over_blocks
from nearline.selection.edges import ROUNDS, Axis, Edge, edge_of, equally_best
from nearline.selection.families import Fold
from nearline.selection.families.paths import Path
from nearline.selection.path import checked_alphas
from nearline.selection.splits import folds_by

DEFAULT = np.geomspace(1.0, 1e-6, 13)  # two alphas a decade


@dataclass(frozen=True)
class PathScores:
    """Accuracy of each alpha on each fold, with the certificates of the fits."""

    alphas: Array  # (n_alphas,), from large to small
    scores: Array  # (n_alphas, n_folds)
    gaps: Array  # (n_alphas, n_folds), relative to the null risk; nan where there is no certificate
    given: bool = True  # whether the alphas were; else the grid went on where its best stood at an end

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
        found = edge_of("alpha", self.alphas, self.mean)
        return found if found is None or self.given else replace(found, why=f"after going on {ROUNDS} times")

    def with_others(self, others: "PathScores") -> "PathScores":
        """These and the others, on the same folds."""
        alphas = np.concatenate([self.alphas, others.alphas])
        order = np.argsort(-alphas, kind="stable")
        scores, gaps = (
            np.vstack([getattr(self, part), getattr(others, part)]) for part in ("scores", "gaps")
        )
        return PathScores(alphas[order], scores[order], gaps[order], self.given)


@translates_habits
def path_scores(
    model: LinearClassifier,
    X: Any,
    y: Any,
    alphas: Any = None,
    *,
    folds: Any = 5,
    split: str = "auto",
    groups: Any = None,
    transformer: Any = None,
    random_state: int = 0,
) -> PathScores:
    """Cross-validate a linear model over alphas: one warm path a fold, equal to separate fits within their gaps.

    Fits on folds are certified to P - D <= tol P(W = 0, best b), ``tol`` that of the model: only their labels count.

    Parameters
    ----------
    model : a :class:`nearline.LinearClassifier` or a named one; its own alpha is not used.
    X, y : rows (array, sparse matrix or table) and labels of any kind.
    alphas : the grid. None is two a decade from 1 to 1e-6 and, where the best stands at an end, a power of ten further
        on the same folds, at most three times.
    folds : a number (stratified, shuffled by ``random_state``), "leave-one-out", an array with the number of each row's
        fold, a list of pairs (training rows, test rows), or a scikit-learn splitter.
    split, groups : how a number of folds divides the rows: "stratified" by class; "group", rows of one group together; or
        "time", where rows are in the order of time. "auto" is by group where ``groups`` are given.
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
    grid = checked_alphas(DEFAULT if alphas is None else alphas)
    door = door_of(X)
    if door is not None:
        parts = hashed_parts("A path", folds, split, groups, random_state)
        if transformer is not None:
            raise ValueError(
                "A path over rows in blocks takes no transformer: transform X first, or give X.compute()."
            )
        columns = path_over_blocks(model, door, X, y, parts)
    else:
        columns = _columns(model, X, y, (folds, split, groups, random_state), transformer)

    def scored(some: Array) -> PathScores:
        scores, gaps = columns(some)
        return PathScores(some, scores, gaps, given=alphas is not None)

    result, axis = scored(grid), Axis("alpha", "alpha")
    for _ in range(0 if result.given else ROUNDS):
        if result.edge is None:
            break
        further = axis.beyond(result.alphas.tolist(), result.edge.largest)
        result = result.with_others(scored(checked_alphas(further)))
    return result


def _columns(model: LinearClassifier, X: Any, y: Any, drawn: tuple[Any, ...], transformer: Any) -> Any:
    """A function of alphas: scores and gaps (n_alphas, n_folds)."""
    X, y = indexable(X, np.asarray(y))
    check_classification_targets(y)
    codes = encoded(y)[1]
    folds, split, groups, random_state = drawn
    pairs = folds_by(split, folds, codes, groups, random_state).learnable(codes)

    def columns(alphas: Array) -> tuple[Array, Array]:
        found = side_by_side(
            lambda pair: _fold(model, X, y, alphas, pair[0], pair[1], transformer),
            list(pairs),
            cells=X.nnz if is_sparse(X) else np.prod(np.shape(X)),
        )
        scores, gaps = (np.column_stack(part) for part in zip(*found))
        return scores, gaps

    return columns


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
        scores[outcome.number] = np.mean(outcome.predictions.labels == codes[test])
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
