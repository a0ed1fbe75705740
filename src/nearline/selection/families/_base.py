"""Family: models that differ in parameters only, evaluated along their whole grid at once."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import Array, is_sparse
from nearline.predictions import Predictions, predictions_of
from nearline.selection.edges import Axis
from nearline.selection.families._sizes import arrays_size


@dataclass(frozen=True)
class Fold:
    """Rows of one fold as numbers, labels as class numbers."""

    X_train: Any
    codes: Array  # of the training rows
    weights: Array | None  # of the training rows
    X_test: Any
    classes: Array  # labels, in all folds
    gram: bool = False  # whether X holds a kernel's values with the training rows
    squares: Array | None = None  # then k(x, x) of the test rows
    fewest_voters: int | None = None  # rows that can be neighbors in every fold; None: those of this one

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def labels(self) -> Array:
        """Of the training rows, as users gave them."""
        return np.asarray(self.classes[self.codes])

    @property
    def shape(self) -> tuple[int, int]:
        """(training rows, features); a list has one feature, its items."""
        shape = getattr(self.X_train, "shape", None)
        return (len(self.X_train), 1) if shape is None else (shape[0], shape[1])

    @property
    def most_neighbors(self) -> int:
        """The largest k that every fold has."""
        own = voters_of(len(self.codes), self.weights)
        return own if self.fewest_voters is None else self.fewest_voters

    @property
    def data_bytes(self) -> int:
        X = self.X_train
        if not is_sparse(X) and not isinstance(X, np.ndarray):  # a frame or a list: about as much
            return 8 * self.shape[0] * self.shape[1]
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if is_sparse(X) else X.nbytes)

    @property
    def cells(self) -> float:
        """Numbers in the training rows; one of a sparse row costs about as much as four."""
        n, D = self.shape
        return 4.0 * self.X_train.nnz if is_sparse(self.X_train) else float(n) * D

    @property
    def row_bytes(self) -> int:
        """Of one row, on average."""
        return self.data_bytes // max(1, self.shape[0])

    @property
    def smallest(self) -> float:
        """The smallest value."""
        values = self.X_train.data if is_sparse(self.X_train) else self.X_train
        return float(min(values.min(), 0.0)) if values.size else 0.0


@dataclass(frozen=True)
class Shared:
    """Work on a fold that several candidates need and that is done once: a search, a Gram matrix, a factorization."""

    name: str
    seconds: float
    fitting: bool = True  # or predicting


@dataclass(frozen=True)
class Outcome:
    """What one candidate says about the rows of a fold, and what it took beside the work that it shares."""

    number: int  # of the candidate
    predictions: Predictions
    fit_seconds: float
    predict_seconds: float
    size: int | None  # what the model keeps, in bytes; None: unknown
    note: str = ""
    gap: float | None = None  # certified, where there is a certificate
    shared: tuple[Shared, ...] = ()


@dataclass(frozen=True)
class Family(ABC):
    """Candidates of one kind. To list one in ``FAMILIES`` is to have it in every contest."""

    name: str
    # which representations: of numbers, of kernel values, of words and pairs of words ("n-grams", "presence")
    takes: tuple[str, ...] = field(default=("numbers",), kw_only=True)
    threads: ClassVar[bool] = True  # whether folds may run at the same time
    alone: ClassVar[bool] = False  # whether its candidates share no work
    by_number: ClassVar[bool] = True  # whether its models learn class numbers, which are quicker than labels
    trivial: ClassVar[bool] = False  # whether it answers without a look at the features
    path: ClassVar[str | None] = None  # the parameter along which models get simpler as it grows
    pace: ClassVar[float] = 1e-9  # seconds a unit of cost
    fixed: ClassVar[float] = 2e-3  # seconds a candidate and fold, however few the rows
    warm: ClassVar[bool] = False  # whether each candidate starts where the last one ended

    @property
    def identity(self) -> str:
        """By which a journal knows the family again: all that its candidates do not say."""
        return repr(self)

    def refuses(self, fold: Fold) -> str | None:
        """Why these data are not for this family, if so; "" where that goes without saying."""
        return None

    @abstractmethod
    def grid(self, fold: Fold, preset: str) -> list[dict[str, Any]]:
        """Parameters of the candidates, from looking at the training rows of the largest fold."""

    def axes(self, fold: Fold, grid: list[dict[str, Any]]) -> tuple[Axis, ...]:
        """Along which the grid goes on where its best stands at an end."""
        return ()

    @abstractmethod
    def estimator(self, parameters: dict[str, Any]) -> Any:
        """The candidate as an unfitted scikit-learn classifier."""

    def outcomes(self, fold: Fold, grid: list[dict[str, Any]]) -> Iterator[Outcome]:
        """Each candidate's answers on a fold, in any order. Families that can share work between candidates do it here."""
        for number, parameters in enumerate(grid):
            start = perf_counter()
            model = self.estimator(parameters)
            fit_weighted(model, fold, fold.codes if self.by_number else None)
            fitted = perf_counter()
            classes = np.arange(fold.n_classes) if self.by_number else fold.classes
            predictions = predictions_of(model, fold.X_test, classes)
            end = perf_counter()
            yield Outcome(number, predictions, fitted - start, end - fitted, self.size_of(model))

    def size_of(self, model: Any) -> int | None:
        """Bytes that a fitted model keeps; None where nobody knows."""
        return arrays_size(model)

    def memory(self, fold: Fold, grid: list[dict[str, Any]]) -> int:
        """Bytes that the family needs beside the data, for a fold, about."""
        return 2 * fold.data_bytes

    def cost(self, fold: Fold, grid: list[dict[str, Any]]) -> float:
        """Rough number of multiplications on a fold, to tell how long the rest will take."""
        return float(len(grid)) * fold.cells * fold.n_classes

    def seconds(self, fold: Fold, grid: list[dict[str, Any]]) -> float:
        """About how long a fold takes, on a machine of our days."""
        return self.fixed * len(grid) + self.pace * self.cost(fold, grid)


def voters_of(n_rows: int, weights: Array | None) -> int:
    """Rows that can be neighbors: those of positive weight, and no more than the weights add up to."""
    return n_rows if weights is None else int(min(weights.sum(), np.count_nonzero(weights)))


def fit_weighted(model: Any, fold: Fold, labels: Array | None = None) -> None:
    """Fit, to class numbers if they are given, with weights only where there are some: not every classifier takes them."""
    labels = fold.labels if labels is None else labels
    if fold.weights is None:
        model.fit(fold.X_train, labels)
    else:
        model.fit(fold.X_train, labels, sample_weight=fold.weights)
