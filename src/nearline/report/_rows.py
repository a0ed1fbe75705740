"""Sight: the rows that the report may look at, as they came and as the model sees them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.utils import _safe_indexing

from nearline._arrays.design import Array, is_sparse
from nearline.estimators import KNeighborsClassifier, Nystroem
from nearline.neighbors.index import Index
from nearline.report._images import picture_shape, row_picture
from nearline.report._plain import brief
from nearline.representations import is_frame, kind_of, series_of
from nearline.representations.words_and_runs import token_weights
from nearline.selection.test_result import TestResult
from nearline.selection.try_all import TryThemAll

MOST_ROWS = 5_000  # training rows that are looked at
MOST_LANDMARKS = 200  # strings or trees that span the coordinates of the others
MOST_CELLS = 20_000_000  # numbers of them
MOST_READ = 1_500_000  # letters of them, which take longer to represent
MOST_TEST_ROWS = 400  # drawn
LEAST_ROWS = 300
MOST_COLUMNS = 8  # of a row that is shown
MOST_LETTERS = 240  # of a text that is shown


@dataclass(frozen=True)
class Sight:
    """A contest's rows and its model."""

    contest: TryThemAll
    opened: TestResult | None
    source: dict[str, Any]

    def place(self, row: int, what: str = "rows") -> dict[str, int | None]:
        """The number, counted from 1, of a row of the contest or of its own test rows, and its line if that is known."""
        place = self.source.get("row_place")
        number, line = (row + 1, None) if place is None else place(row, what)
        return {"row": number, "line": line}

    @cached_property
    def training(self) -> tuple[Any, Array, Array]:
        """Rows, labels and numbers of the training part, or of some of its rows by chance."""
        return self.contest.training_part(self.most)

    @cached_property
    def most(self) -> int:
        """Training rows that can be represented in about a second, by the size of a few."""
        some, _, _ = self.contest.training_part(50)
        each = _letters(some) / (50 * MOST_READ) + self.contest.n_features_in_ / MOST_CELLS
        return int(min(MOST_ROWS, max(LEAST_ROWS, 1 / each)))

    @property
    def n_training(self) -> int:
        return len(self.contest.training_labels_)

    @property
    def sampled(self) -> bool:
        """Whether some training rows are left out."""
        return len(self.training[1]) < self.n_training

    @cached_property
    def test(self) -> tuple[Any, Array] | None:
        return self.contest.opened_part() if self.opened is not None else None

    @cached_property
    def kind(self) -> str:
        """'numbers', 'sparse', 'table' or 'texts'."""
        return kind_of(self.training[0])

    @cached_property
    def steps(self) -> tuple[Any, Any]:
        """The fitted representation, and the model behind it."""
        model = self.contest.model_
        model = getattr(model, "estimator_", model)  # of a calibrated one
        representation, last = model.named_steps["representation"], model.named_steps["model"]
        if self.by_kernel(last):  # of strings or trees: numbers are coordinates in the space of its features
            some = representation.transform(self.contest.training_part(MOST_LANDMARKS)[0])
            representation = make_pipeline(representation, Nystroem(last.kernel_, MOST_LANDMARKS)).fit(some)
        return representation, last

    @staticmethod
    def by_kernel(model: Any) -> bool:
        """Whether a model sees strings or trees as they are."""
        kernel = getattr(model, "kernel_", None)
        return kernel is not None and kernel.takes in ("strings", "trees")

    @cached_property
    def names(self) -> Array:
        """What the columns that the model sees are called."""
        columns = None if self.kind == "texts" else np.array(self.columns, dtype=object)
        return np.asarray(self.steps[0].get_feature_names_out(columns), dtype=object)

    @cached_property
    def numbers(self) -> Any:
        """The training rows as the model sees them."""
        return self.steps[0].transform(self.training[0])

    @cached_property
    def codes(self) -> Array:
        """Class numbers of the training rows."""
        return np.searchsorted(self.contest.classes_, self.training[1])

    def seen(self, numbers: Array) -> Any:
        """Some test rows as the model sees them."""
        assert self.test is not None
        return self.steps[0].transform(_safe_indexing(self.test[0], numbers))

    @cached_property
    def shape(self) -> tuple[int, int, int] | None:
        """(height, width, channels) of rows that are images."""
        own = getattr(self.contest, "row_shape_", ())
        known = {"shape": list(own)} if len(own) > 1 else {}
        return picture_shape(self.training[0], known | self.source)

    @cached_property
    def _span(self) -> tuple[float, float]:
        X = self.training[0]
        return float(np.nanmin(X)), float(np.nanmax(X))

    @cached_property
    def columns(self) -> list[str]:
        """Names of the columns of a table, as it came."""
        named = getattr(
            self.contest, "feature_names_in_", None
        )  # a table of numbers alone has become an array
        if named is not None:
            return [str(name) for name in named]
        X = self.training[0]
        if is_frame(X):
            return [str(name) for name in X.columns]
        return [] if self.kind == "texts" else [f"column {j + 1}" for j in range(X.shape[1])]

    def shown(self, X: Any, number: int) -> dict[str, Any]:
        """A row for people: a picture, a text, or its first cells."""
        row = _safe_indexing(X, [number])
        if self.shape is not None:
            return {"picture": row_picture(np.asarray(row)[0], self.shape, self._span)}
        if self.kind == "texts":
            text = str(np.ravel(_values(row))[0])
            return {"text": text[:MOST_LETTERS] + ("…" if len(text) > MOST_LETTERS else "")}
        if is_sparse(row):
            return {"cells": self._largest(row)}
        values = _values(row)[0].tolist()
        return {"cells": {self.columns[j]: _cell(values[j]) for j in self.telling_columns}}

    @cached_property
    def effects(self) -> Array | None:
        """(C, D) what a column of usual size adds to the scores of the classes, less what all classes share."""
        W = getattr(self.steps[1], "coef_", None)
        if W is None or np.ndim(W) != 2 or np.shape(W)[1] != len(self.names) or not np.any(W):
            return None
        W = np.asarray(W, dtype=np.float64)
        W = np.vstack([-W, W]) if len(W) == 1 else W - W.mean(axis=0)
        weights = token_weights(self.steps[0])
        if weights is not None:
            return W * weights
        # Sparse columns (words) are on one scale already, and a rare one would vanish by its deviation.
        return W if is_sparse(self.numbers) else W * np.asarray(self.numbers, dtype=np.float64).std(axis=0)

    @cached_property
    def telling_columns(self) -> list[int]:
        """The columns of a row that are shown: those that count most, by weight or by the means of the classes."""
        if len(self.columns) <= MOST_COLUMNS:
            return list(range(len(self.columns)))
        told = self.effects
        if told is None:
            Z = self.numbers.toarray() if is_sparse(self.numbers) else np.asarray(self.numbers)
            told = np.array([Z[self.codes == c].mean(axis=0) for c in np.unique(self.codes)])
            told = told - told.mean(axis=0)
        size = np.abs(told).max(axis=0)
        if len(size) != len(self.columns):
            pairs = list(zip(self.names.tolist(), size.tolist()))
            size = np.array(
                [
                    max([n for name, n in pairs if _is_of(name, column)], default=0.0)
                    for column in self.columns
                ]
            )
        return sorted(np.argsort(-size, kind="stable")[:MOST_COLUMNS].tolist())

    def _largest(self, row: Any) -> dict[str, str]:
        order = np.argsort(-np.abs(row.data), kind="stable")[:MOST_COLUMNS]
        return {f"column {row.indices[p]}": brief(float(row.data[p])) for p in order}

    @property
    def votes(self) -> bool:
        """Whether the model is one of neighbors."""
        return isinstance(self.steps[1], KNeighborsClassifier)

    def neighbors(self, queries: Any, k: int) -> "Nearby":
        """The nearest training rows: those that the model finds, if it is one of neighbors, else of those looked at."""
        model = self.steps[1]
        metric = model.index_.metric if self.votes else "cosine" if is_sparse(self.numbers) else "l2"
        # A model that was fitted anew on all rows would find the test rows themselves.
        if self.votes and not (self.opened is not None and self.opened.refitted):
            distances, places = model.kneighbors(queries, min(k, self.n_training))
            unique, inverse = np.unique(places, return_inverse=True)
            part = self.contest.training_part(places=unique)
            return Nearby(distances, inverse.reshape(places.shape), part, model.index_.metric.name, None)
        index = Index(self.numbers, metric)
        found = index.search(queries, min(k, index.n_rows), ties=False)
        looked_at = len(self.codes) if self.sampled else None
        return Nearby(found.distances, found.indices, self.training, index.metric.name, looked_at)


@dataclass(frozen=True)
class Nearby:
    """Training rows near some queries."""

    distances: Array  # (m, k)
    places: Array  # (m, k) in part
    part: tuple[Any, Array, Array]  # rows, labels, numbers
    metric: str
    looked_at: int | None  # how many rows were, if not all


def _is_of(name: str, column: str) -> bool:
    """Whether what the model sees comes from a column: size, size_nan, color_red."""
    return name == column or name.startswith((f"{column}_", f"missingindicator_{column}"))


def _letters(X: Any) -> int:
    """Letters in the strings of a table or of texts."""
    if is_sparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind in "biuf"):
        return 0
    return sum(len(value) for value in np.ravel(_values(X)).tolist() if isinstance(value, str))


def _values(X: Any) -> Array:
    """Rows as they are, column by column: numbers and dates have no type in common."""
    if not is_frame(X):
        return np.asarray(X, dtype=object)
    values = np.empty((len(X), len(X.columns)), dtype=object)
    for j, series in enumerate(series_of(X)):
        values[:, j] = series.to_list()
    return values


def _cell(value: Any) -> str:
    missing = value is None or value != value
    return "missing" if missing else brief(value)[:80]
