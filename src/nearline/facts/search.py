"""What training and predicting cost nearest neighbors."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline.facts._checks import check_whole
from nearline.facts._fact import Fact, Table
from nearline.facts._pictures import panels
from nearline.neighbors.index import Index
from nearline.plots.style import COLORS, DASHES, MARKERS

LOOP, LIBRARY, INDEX, LINEAR = "a loop over rows", "scikit-learn", "nearline Index", "logistic regression"
Search = Callable[[Array], Any]


@dataclass(frozen=True)
class SearchCost(Fact):
    """Seconds to train, and seconds to answer one query, for each number of training rows."""

    says = "Nearest neighbors train for nothing and pay at each query, the more rows the more; a linear model does not."
    sizes: Array
    training: dict[str, Array]  # seconds
    query: dict[str, Array]  # seconds of one query

    def table(self) -> Table:
        rows = (
            (n, name, 1e3 * self.training[name][i], 1e6 * self.query[name][i])
            for i, n in enumerate(self.sizes)
            for name in self.training
        )
        return Table.of("n|method|training, ms|one query, µs", rows)

    def plot(self, ax: Any = None) -> Any:
        drawn = panels(ax, 2, (9.6, 4.0))
        for one, seconds, title in zip(
            drawn, (self.training, self.query), ("Training", "One query (of many at once)"), strict=True
        ):
            for i, (name, values) in enumerate(seconds.items()):
                known = values > 0  # what costs nothing has no place on this axis
                look = {"color": COLORS[i], "marker": MARKERS[i], "linestyle": DASHES[i]}
                label = name if known.any() else f"{name}: nothing"
                one.plot(self.sizes[known], values[known], label=label, **look)
            one.set(xlabel="training rows n", ylabel="seconds", title=title, xscale="log", yscale="log")
            one.legend(fontsize="small")
        return drawn


def search_cost(
    sizes: tuple[int, ...] = (100, 300, 1000, 3000),
    *,
    dimension: int = 32,
    n_queries: int = 200,
    repeat: int = 3,
    random_state: int = 0,
) -> SearchCost:
    """Training nearest neighbors is keeping the rows; a query looks at them all, unless an index leaves some out.

    Measured on this machine: the loop that a textbook has, scikit-learn's search and :class:`nearline.Index`, and a
    logistic regression beside them. Each time is the shortest of ``repeat``. The answers are compared: all find the
    same neighbor.

    Examples
    --------
    >>> from nearline.facts import search_cost
    >>> fact = search_cost((50, 100), n_queries=5, repeat=1)
    >>> list(fact.query)
    ['a loop over rows', 'scikit-learn', 'nearline Index', 'logistic regression']
    """
    check_whole(sizes, "sizes", 2)
    check_whole((dimension, n_queries, repeat), "dimension, n_queries and repeat", 1)
    rng = np.random.default_rng(random_state)
    X, Q = rng.standard_normal((max(sizes), dimension)), rng.standard_normal((n_queries, dimension))
    y = (X[:, 0] + 0.5 * rng.standard_normal(len(X)) > 0).astype(np.int64)
    y[:2] = 0, 1
    training = {name: np.zeros(len(sizes)) for name in METHODS}
    query = {name: np.zeros(len(sizes)) for name in METHODS}
    for method in METHODS.values():  # what is done for the first time takes longer
        method(X[: min(sizes)], y[: min(sizes)])(Q[:1])
    for i, n in enumerate(sizes):
        answers = {}
        for name, method in METHODS.items():
            few = Q[:1] if name == LOOP else Q  # the loop is slow enough to be measured on one
            taken, search = _timed(partial(method, X[:n], y[:n]), repeat)
            training[name][i] = 0.0 if name == LOOP else taken
            taken, answers[name] = _timed(partial(search, few), repeat)
            query[name][i] = taken / len(few)
        _check_same(answers)
    return SearchCost(np.array(sizes), training, query)


def _timed(run: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    """The shortest time, and what the last run gave."""
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        found = run()
        times.append(time.perf_counter() - began)
    return min(times), found


def _loop(X: Array, y: Array) -> Search:
    def search(queries: Array) -> Array:
        nearest = []
        for q in queries:
            best, least = 0, np.inf
            for i, x in enumerate(X):
                distance = float(((x - q) ** 2).sum())
                if distance < least:
                    best, least = i, distance
            nearest.append(best)
        return np.array(nearest)

    return search


def _library(X: Array, y: Array) -> Search:
    from sklearn.neighbors import NearestNeighbors

    index = NearestNeighbors(n_neighbors=1).fit(X)
    return lambda queries: index.kneighbors(queries, return_distance=False)[:, 0]


def _index(X: Array, y: Array) -> Search:
    index = Index(X)
    return lambda queries: index.search(queries, 1).indices[:, 0]


def _linear(X: Array, y: Array) -> Search:
    from nearline.estimators import LogisticRegression

    return LogisticRegression(alpha=1e-2).fit(X, y).predict


METHODS: dict[str, Callable[[Array, Array], Search]] = {
    LOOP: _loop,
    LIBRARY: _library,
    INDEX: _index,
    LINEAR: _linear,
}


def _check_same(answers: dict[str, Array]) -> None:
    for name in (LIBRARY, INDEX):
        assert answers[name][0] == answers[LOOP][0], f"{name} found another neighbor than {LOOP}"
