"""Bases that bend: a number as several features, so that a linear model follows curves."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.interpolate import BSpline

from nearline._arrays.design import Array
from nearline._records.kept import Instance, Numbers, kept, require
from nearline.representations._columns import Column
from nearline.representations.codes import Code, NumberCode
from nearline.representations.scales import Fit

QUANTILES = 6  # knots, the ends among them
DEGREE = 3


def _enough_knots(code: "SplineCode") -> None:
    require(len(code.knots) != 1, "A spline has a single knot")


@kept(number=Instance(NumberCode), knots=Numbers(("k",), rising=True), links=_enough_knots)
@dataclass(frozen=True, eq=False)
class SplineCode(Code):
    """A scaled number, and cubic B-splines of it with knots at quantiles of the training rows; constant outside.

    A number of fewer than three different quantiles has no knots and stays as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.representations._columns import NumberColumn
    >>> from nearline.representations.bases import SplineCode
    >>> from nearline.representations.scales import standard
    >>> column = NumberColumn(np.arange(100.0))
    >>> code, out = SplineCode.fit("age", column, standard), np.zeros((100, 9), dtype=np.float32)
    >>> code.write(column, out)
    >>> code.names[:2], bool(np.allclose(out[:, 1:].sum(axis=1), 1))
    (['age', 'age_spline1'], True)
    """

    number: NumberCode
    knots: Array

    @classmethod
    def fit(cls, name: str, column: Column, scale: Fit) -> Self:
        values = column.numbers
        known = np.sort(values[~np.isnan(values)])
        places = np.linspace(0, len(known) - 1, QUANTILES).astype(np.intp)
        knots = np.unique(known[places])
        return cls(NumberCode.fit(name, column, scale), knots if len(knots) > 2 else np.empty(0))

    @property
    def names(self) -> list[str]:
        name = self.number.name
        return [*self.number.names, *(f"{name}_spline{j + 1}" for j in range(self._count))]

    @property
    def _count(self) -> int:
        return len(self.knots) + DEGREE - 1 if len(self.knots) else 0

    def write(self, column: Column, out: Array) -> None:
        start = len(self.number.names)
        self.number.write(column, out[:, :start])
        if not len(self.knots):
            return
        values = column.numbers
        values = np.where(np.isnan(values), self.number.median, values).clip(self.knots[0], self.knots[-1])
        ends = np.repeat(self.knots[[0, -1]], DEGREE)
        t = np.concatenate([ends[:DEGREE], self.knots, ends[DEGREE:]])
        out[:, start : start + self._count] = BSpline.design_matrix(values, t, DEGREE).toarray()
