"""Reasons: why a model says what it says of a row, with the names that people know."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import singledispatch
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.explanation import Contributions, Explanation
from nearline.explain.origins import Origins, origins
from nearline.neighbors.explanation import Votes
from nearline.selection.ensemble import Opinions


@dataclass(frozen=True)
class Share:
    """What one column, word, training row or two-class problem adds to the score of each class."""

    name: str
    value: str | None  # what the row has there; of words None
    by_class: Array  # (C,)


@dataclass(frozen=True)
class Reason:
    """Why a row got its label: ``shares`` of a sum of scores, or ``neighbors`` that voted; neither, if it is said."""

    label: Any
    other: Any = None  # the class that came second
    bias: Array | None = None  # (C,)
    shares: list[Share] = field(default_factory=list)
    neighbors: list[dict[str, Any]] = field(default_factory=list)
    said: str | None = None
    rule: str | None = None  # that made the label, in words, where it is not the model's own

    def margin(self, share: Share, classes: list[Any]) -> float:
        """What a share adds to the lead of the label over the class that came second."""
        return self.lead(share.by_class, classes)

    def lead(self, by_class: Array, classes: list[Any]) -> float:
        """How much more the label has than the class that came second."""
        return float(by_class[classes.index(self.label)] - by_class[classes.index(self.other)])

    def strongest(self, classes: list[Any]) -> list[Share]:
        """The shares that matter most for that lead, for or against it."""
        return sorted(self.shares, key=lambda share: -abs(self.margin(share, classes)))


@dataclass(frozen=True)
class Named:
    """What things are called."""

    X: Any  # the rows as people know them
    features: Callable[[], Origins]
    place: Callable[[int], int]  # the number that people know a training row by
    most: int | None


def reasons(
    model: Any,
    X: Any,
    *,
    columns: Any = None,
    shape: Any = None,
    most: int | None = None,
    place: Callable[[int], int] = lambda row: row + 1,
) -> list[Reason]:
    """Why each row of X gets its label. ``columns``: names of the columns of a table of numbers; ``shape``: of an image.

    ``most``: so many shares of each row are wanted, the strongest; by default all. ``place``: what a training row is called.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import TryThemAll
    >>> from nearline.explain import reasons
    >>> X, y = load_iris(return_X_y=True)
    >>> contest = TryThemAll("quick", include="logistic, L2", progress="silent").fit(X, y)
    >>> reason = reasons(contest.model_, X[:1], columns=["sepal l", "sepal w", "petal l", "petal w"])[0]
    >>> reason.label, reason.strongest([0, 1, 2])[0].name.startswith("petal")
    (0, True)
    """
    chain = getattr(model, "estimator_", model)
    if not callable(getattr(model, "explain", None)):  # a model that is not nearline's
        said = f"{type(chain.steps[-1][1]).__name__} gives no parts that add up to its decision"
        return [Reason(label, said=said) for label in model.predict(X).tolist()]
    explanation: Explanation = model.explain(X)
    named = Named(X, lambda: origins(chain.steps[0][1], columns, shape), place, most)
    rule = getattr(chain, "rule", None)
    found = reasons_of(explanation, named)
    return found if rule is None else [replace(one, rule=rule.said(model.classes_.tolist())) for one in found]


@singledispatch
def reasons_of(explanation: Explanation, named: Named) -> list[Reason]:
    """Reasons of one kind of explanation."""
    raise TypeError(f"Nothing renders a {type(explanation).__name__}: register it with reasons_of.")


@reasons_of.register
def _(explanation: Votes, named: Named) -> list[Reason]:
    return [
        Reason(label, neighbors=explanation.rows(i))
        for i, label in enumerate(explanation.predictions.tolist())
    ]


@reasons_of.register
def _(explanation: Contributions, named: Named) -> list[Reason]:
    name = CALLED[explanation.of](named)
    return [_sum(explanation, i, name, named) for i in range(len(explanation))]


@reasons_of.register
def _(explanation: Opinions, named: Named) -> list[Reason]:
    return [
        Reason(label, said=explanation.said(i)) for i, label in enumerate(explanation.predictions.tolist())
    ]


Called = Callable[[int], tuple[str, str | None]]  # the name of a term, and what the row has there
Namer = Callable[[int, Array, Array], tuple[Called, Array]]


def _sum(explanation: Contributions, i: int, name: Namer, named: Named) -> Reason:
    """Why row i has its label: terms by name, the strongest first."""
    numbers, terms = explanation.terms[i]
    called, totals = name(i, numbers, terms)
    own, second = explanation.pair(i)
    label, other = explanation.classes[[own, second]].tolist()
    order = np.argsort(-np.abs(totals[own] - totals[second]), kind="stable")[: named.most]
    kept = [j for j in order.tolist() if totals[:, j].any()]
    shares = [Share(said, value, totals[:, j]) for j, (said, value) in zip(kept, map(called, kept))]
    return Reason(label, other, explanation.bias[i], shares)


def _features(named: Named) -> Namer:
    known = named.features()

    def name(i: int, numbers: Array, terms: Array) -> tuple[Called, Array]:
        owners, totals = known.together(numbers, terms)
        return (lambda j: known.called(named.X, i, int(owners[j]))), totals

    return name


def _training_rows(named: Named) -> Namer:
    return lambda i, numbers, terms: (
        lambda j: (f"like training row {named.place(int(numbers[j])):,}", None),
        terms,
    )


def _problems(named: Named) -> Namer:
    return lambda i, numbers, terms: (
        lambda j: (f"two-class problem {int(numbers[j]) + 1:,}", None),
        terms,
    )


CALLED: dict[str, Callable[[Named], Namer]] = {
    "features": _features,
    "training rows": _training_rows,
    "problems": _problems,
}
