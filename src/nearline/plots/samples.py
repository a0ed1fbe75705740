"""Labeled rows to draw: given ones with their own units, or shipped ones."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from nearline._arrays.design import Array, is_sparse

MOST_CELLS = 20_000_000  # of sparse rows that are made dense for a picture


@dataclass(frozen=True)
class Units:
    """What a model sees of rows x that are drawn as they are: z = (x - center) / spread, column by column."""

    center: Any = 0.0
    spread: Any = 1.0
    name: str = ""  # of the unit that the model measures in

    @classmethod
    def of(cls, X: Array) -> Self:
        """Columns of mean 0 and deviation 1."""
        deviation = X.std(axis=0)
        return cls(X.mean(axis=0), np.where(deviation > 0, deviation, 1.0), "standard deviations")

    def off(self, X: Any) -> Array:
        """From the picture to the model."""
        return (np.asarray(X, dtype=np.float64) - self.center) / self.spread

    def on(self, Z: Any) -> Array:
        """From the model to the picture."""
        return np.asarray(Z, dtype=np.float64) * self.spread + self.center


@dataclass(frozen=True, eq=False)
class Flat:
    """Complete rows in the units of the axes, for a picture of one or two columns or of directions in more."""

    X: Array
    y: Array
    names: list[str]
    units: Units
    note: str = ""  # what is not in the picture


@dataclass(frozen=True, eq=False)
class Sample:
    """Labeled rows to draw: as numbers with names, and as they came, for contests."""

    X: Any  # (n, D) numbers, dense or CSR
    y: Array
    names: list[str]
    raw: Any = None
    shape: tuple[int, ...] = ()  # of one row, where it is an image
    what: str = ""
    representation: Any = None  # a transformer that makes X of the raw rows, to be fitted anew inside folds
    columns: Array | None = (
        None  # (n, 1 or 2) if that is all there is: values as they came, NaN where missing
    )

    def dense(self) -> Array:
        """The numbers as an array."""
        if is_sparse(self.X) and np.prod(self.X.shape) > MOST_CELLS:
            raise ValueError(
                f"These rows have {self.X.shape[1]:,} features, too many for this picture: choose 'weights', "
                "'leaderboard' or 'confusion', or fewer rows."
            )
        return np.asarray(self.X.toarray() if is_sparse(self.X) else self.X, dtype=np.float64)

    def of_two_classes(self) -> Array:
        """Numbers of the rows of the two most frequent classes."""
        classes, counts = np.unique(self.y, return_counts=True)
        chosen = classes[np.sort(np.argsort(-counts, kind="stable")[:2])]
        return np.flatnonzero(np.isin(self.y, chosen))

    def flat(self, two_classes: bool = False) -> Flat:
        """Complete rows for a picture in the units that they came in; models see standardized columns."""
        rows, notes = np.arange(len(self.y)), []
        if two_classes:
            rows, n_classes = self.of_two_classes(), len(np.unique(self.y))
            notes += [f"the two most frequent of {n_classes} classes"] if n_classes > 2 else []
        if self.columns is None:
            return Flat(self.dense()[rows], self.y[rows], self.names, Units(), ", ".join(notes))
        X = np.asarray(self.columns, dtype=np.float64)[rows]
        whole = np.isfinite(X).all(axis=1)
        n_missing = int((~whole).sum())
        notes += [f"without {n_missing} rows with missing values"] if n_missing else []
        return Flat(X[whole], self.y[rows][whole], self.names, Units.of(X[whole]), ", ".join(notes))

    def rows(self) -> Any:
        """What a contest takes."""
        return self.X if self.raw is None else self.raw


def _bundled(
    name: str, columns: list[int] | None = None, scale: bool = True, rows: int | None = None
) -> Sample:
    from sklearn import datasets
    from sklearn.preprocessing import StandardScaler

    bunch = getattr(datasets, f"load_{name}")()
    raw, labels = bunch.data[:rows], np.asarray(bunch.target_names)[bunch.target[:rows]]
    names = [str(one) for one in bunch.feature_names]
    if columns is not None:
        raw, names = raw[:, columns], [names[j] for j in columns]
    representation = StandardScaler() if scale else None
    X = raw if representation is None else representation.fit_transform(raw)
    return Sample(
        X, labels.astype(str), names, raw, what=name.replace("_", " "), representation=representation
    )


def iris() -> Sample:
    """Two columns of the irises."""
    return _bundled("iris", [2, 3], scale=False)


def wine() -> Sample:
    """All columns of the wines, standardized."""
    return _bundled("wine")


def tumors() -> Sample:
    """Breast tumors, two classes, standardized."""
    return _bundled("breast_cancer")


def digits(rows: int = 1000) -> Sample:
    """Handwritten digits of 8 x 8 pixels."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    names = [f"pixel {i // 8}, {i % 8}" for i in range(64)]
    return Sample(X[:rows] / 16.0, y[:rows].astype(str), names, shape=(8, 8), what="handwritten digits")


def versicolor() -> Sample:
    """Two classes of the irises that overlap."""
    sample = _bundled("iris", [2, 3], scale=False)
    rows = sample.y != "setosa"
    return Sample(sample.X[rows], sample.y[rows], sample.names, what="iris")


def moons() -> Sample:
    """Two half circles that reach into each other."""
    from sklearn.datasets import make_moons

    X, y = make_moons(160, noise=0.2, random_state=0)
    return Sample(X, np.array(["upper", "lower"])[y], ["x1", "x2"], what="two moons")


def petals() -> Sample:
    """One column of two classes of the irises, which overlap."""
    sample = _bundled("iris", [2], scale=False)
    rows = sample.y != "setosa"
    return Sample(sample.X[rows], sample.y[rows], sample.names, what="iris", columns=sample.X[rows])


def setosa() -> Sample:
    """Two classes of the irises that a line separates."""
    sample = _bundled("iris", [2, 3], scale=False)
    rows = sample.y != "virginica"
    return Sample(sample.X[rows], sample.y[rows], sample.names, what="iris")


def three_arms() -> Sample:
    """Three classes around a middle where each wins against the next: votes of two-class machines go in a circle."""
    rng, parts = np.random.default_rng(0), []
    for turn in 0.5 * np.pi + 2.0 * np.pi * np.arange(3) / 3.0:
        for angle, radius, n in ((turn, 3.0, 26), (turn + 1.83, 4.3, 12)):
            place = radius * np.array([np.cos(angle), np.sin(angle)])
            parts.append(place + 0.3 * rng.normal(size=(n, 2)))
    return Sample(
        np.vstack(parts), np.repeat(["first", "second", "third"], 38), ["x1", "x2"], what="three arms"
    )
