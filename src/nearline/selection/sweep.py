"""Choose k, metric and vote weights of nearest neighbors: one search a metric gives them all."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import mean_squared_error, r2_score
from sklearn.utils import _safe_indexing

from nearline._arrays.blocks import Block, Blocks
from nearline._arrays.design import Array
from nearline._arrays.doors import Door, door_of
from nearline._arrays.validation import check_array, indexable
from nearline._records.habits import translates_habits
from nearline._records.refused import ParameterError, UnknownNameError
from nearline.estimators.base import encoded
from nearline.estimators.blocked import Found, seen_blocks
from nearline.estimators.neighbors_base import ROWS
from nearline.neighbors.ballots import as_boundary
from nearline.neighbors.blocked import BlockedIndex
from nearline.neighbors.index import Index
from nearline.neighbors.lists import Neighbors
from nearline.neighbors.mapped import refuse_seen, seen_elsewhere
from nearline.neighbors.metrics import Metric, as_metric
from nearline.neighbors.vote import Electorate, Prior, Vote, as_ties
from nearline.neighbors.weights import as_weights
from nearline.selection.blocked_folds import folds_of_blocks, hashed_parts, index_without
from nearline.selection.folds import Folds
from nearline.selection.hashed import Parts
from nearline.selection.splits import folds_by
from nearline.selection.sweep_result import Sweep


@translates_habits
def sweep(
    X: Any,
    y: Any,
    ks: Any,
    metrics: Any = ("l2",),
    weights: Any = ("uniform",),
    folds: Any = 5,
    *,
    split: str = "auto",
    groups: Any = None,
    boundary: Any = "share",
    ties: Any = "nearest",
    algorithm: Any = "auto",
    scoring: str = "accuracy",
    transformer: Any = None,
    random_state: int = 0,
) -> Sweep:
    """Cross-validate k nearest neighbors over k, metric and vote weights. Scores equal those of fitting each alone.

    Every row looks once for its neighbors outside of its own fold, as many as the largest k needs; the votes of each k and
    each weighting are counted from these lists.

    Parameters
    ----------
    X, y : rows (array, CSR matrix, table; for metric "precomputed" the (n, n) distances) and labels, or targets.
    ks : numbers of neighbors.
    metrics, weights : names, objects or functions, as for :class:`nearline.KNeighborsClassifier`. A metric that learns,
        such as ``Mahalanobis("within")``, learns from the training rows of each fold, at the price of a search for each.
    folds : a number (stratified for labels, shuffled by ``random_state``), "leave-one-out", an array with the number of each
        row's fold, a list of pairs (training rows, test rows), or a scikit-learn splitter.
    split, groups : how a number of folds divides the rows: "stratified" by class; "group", rows of one group together; or
        "time", where rows are in the order of time. "auto" is by group where ``groups`` are given.
    boundary, ties, algorithm : as for :class:`nearline.KNeighborsClassifier`.
    scoring : "accuracy"; for targets "r2" or "neg_mean_squared_error".
    transformer : any scikit-learn transformer, fitted on the training rows of each fold only; then every fold has a search
        of its own.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import KNeighborsClassifier, sweep
    >>> X, y = load_iris(return_X_y=True)
    >>> result = sweep(X, y, ks=[1, 5, 15], metrics=["l2", "l1"], weights=["uniform", "distance"])
    >>> result.scores.shape  # metrics, weights, ks, folds
    (2, 2, 3, 5)
    >>> model = KNeighborsClassifier(**result.best).fit(X, y)
    """
    door, cut = door_of(X), None
    if door is not None:
        cut, y, drawn = _cut(
            door, X, y, hashed_parts("A sweep", folds, split, groups, random_state), transformer
        )
    else:
        X, y = indexable(X, np.asarray(y))
        if transformer is None:
            X = check_array(X, **ROWS)
        drawn = folds_by(split, folds, y, groups, random_state, labels=scoring == "accuracy")
    task = _task(y, scoring, prior=isinstance(as_ties(ties), Prior))
    task.check(drawn)
    grid = _checked_ks(ks, drawn.fewest)
    chosen, given = _listed(metrics, "metrics"), _listed(weights, "weights")
    votes = [
        [
            [
                Vote(int(k), as_weights(w), as_boundary(boundary), as_ties(ties), as_metric(metric))
                for k in grid
            ]
            for w in given
        ]
        for metric in chosen
    ]
    shape = len(chosen), len(given), len(grid)
    scores, boundary_ties = np.empty((*shape, len(drawn))), np.zeros((shape[0], shape[2]))
    vote_ties, seconds, search_seconds = np.zeros(shape), np.zeros(shape), np.zeros(shape[0])
    for i, metric in enumerate(chosen):
        begin = perf_counter()
        labels = y if scoring == "accuracy" else None
        known = as_metric(metric)
        parts = (
            _parts(X, y, labels, drawn, known, algorithm, transformer)
            if cut is None
            else _blocked_parts(*cut, known, algorithm)
        )
        for part in parts:
            outcome = _outcome(task, part, votes[i], boundary_ties[i], vote_ties[i], seconds[i])
            task.score(outcome, part, scores[i])
        search_seconds[i] = perf_counter() - begin - seconds[i].sum()
    n_queries = sum(map(len, drawn.tests()))
    ties_and_seconds = boundary_ties / n_queries, vote_ties / n_queries, search_seconds, seconds
    rules = _unusual(boundary=boundary, algorithm=algorithm, ties=ties)
    if scoring != "accuracy":  # means of targets have no ties of votes
        rules.pop("ties", None)
    return Sweep(grid, tuple(chosen), tuple(given), scores, *ties_and_seconds, scoring, rules)


@dataclass(frozen=True)
class Part:
    """Queries that one index answers."""

    index: Index | BlockedIndex
    Q: Any
    groups: Array | None
    train: Array  # numbers of the rows of the index
    queries: Array  # numbers of the queries
    tests: list[tuple[Any, Array]]  # fold, and where among the queries its rows are


def _parts(
    X: Any, y: Array, labels: Array | None, split: Folds, metric: Metric, algorithm: Any, transformer: Any
) -> Iterator[Part]:
    """One for all where every row is left out once and nothing is fitted on the others; else one for each fold."""
    if split.numbers is not None and transformer is None and not metric.learns:
        every = np.arange(len(y))
        refuse_seen(metric.learned_from, X)
        index = Index(X, metric, algorithm=algorithm)
        yield Part(index, index.X, split.numbers, every, every, list(enumerate(split.tests())))
        return
    for f, (train, test) in enumerate(split):
        rows, Q = _safe_indexing(X, train), _safe_indexing(X, test)
        if metric.given:
            rows, Q = rows[:, train], Q[:, train]
        if transformer is not None:
            fitted = clone(transformer)
            rows, Q = fitted.fit_transform(rows, y[train]), fitted.transform(Q)
        rows, Q = check_array(rows, **ROWS), check_array(Q, **ROWS)
        refuse_seen(seen_elsewhere(metric, rows), Q)
        fitted_metric = metric.fit(rows, None if labels is None else labels[train])
        index = Index(rows, fitted_metric, algorithm=algorithm)
        yield Part(index, Q, None, train, test, [(f, np.arange(len(test)))])


def _cut(
    door: Door, X: Any, y: Any, hashed: Parts, transformer: Any
) -> tuple[tuple[Blocks, Parts], Array, Folds]:
    """Rows in blocks, their labels, which come here, and the folds."""
    if transformer is not None:
        raise ValueError(
            "A sweep over rows in blocks takes no transformer: transform X first, or give X.compute()."
        )
    blocks = seen_blocks(Found("A sweep"), door, X, y)
    return (blocks, hashed), np.concatenate(blocks.each(_targets_of)), folds_of_blocks(blocks, hashed)


def _targets_of(block: Block) -> Array:
    return block.targets


def _blocked_parts(blocks: Blocks, hashed: Parts, metric: Metric, algorithm: Any) -> Iterator[Part]:
    """One for each fold: its rows come here, and those outside of it are searched where they are."""
    for f in range(hashed.n_folds):
        index, rows = index_without(blocks, hashed, f, metric, algorithm)
        train = np.setdiff1d(np.arange(blocks.n_rows), rows.numbers, assume_unique=True)
        yield Part(index, rows.X, None, train, rows.numbers, [(f, np.arange(len(rows.numbers)))])


class Task(ABC):
    """What is predicted, and how it is scored."""

    @abstractmethod
    def check(self, split: Folds) -> None:
        """Refuse folds that cannot be scored."""

    @abstractmethod
    def empty(self, n_weights: int, n_ks: int, m: int) -> Array:
        """Room for the outcomes of m queries."""

    @abstractmethod
    def voter(self, part: Part) -> Any:
        """A function (vote, lists, numbers of the queries) -> (outcomes, number of tied votes)."""

    @abstractmethod
    def score(self, outcome: Array, part: Part, scores: Array) -> None:
        """Fill in the scores (weights, ks, folds) of the folds of a part."""


class Classification(Task):
    """Accuracy of the labels."""

    def __init__(self, y: Array, prior: bool) -> None:
        self.classes, self.codes = encoded(y)
        self.prior = prior

    def check(self, split: Folds) -> None:
        pass

    def empty(self, n_weights: int, n_ks: int, m: int) -> Array:
        return np.empty((n_weights, n_ks, m), dtype=bool)

    def voter(self, part: Part) -> Any:
        codes, C, sizes = self.codes[part.train], len(self.classes), None
        if self.prior and part.groups is not None:  # class sizes outside of a row's fold
            inside = np.zeros((len(part.tests), C))
            np.add.at(inside, (part.groups, codes), 1.0)
            sizes = (inside.sum(axis=0) - inside)[part.groups]
        electorate, own = Electorate(codes, C, sizes=sizes), self.codes[part.queries]

        def vote(how: Vote, found: Neighbors, rows: Array) -> tuple[Array, int]:
            decision = how.decide(found, electorate, rows)
            return decision.winners == own[rows], int(np.count_nonzero(decision.vote_ties))

        return vote

    def score(self, outcome: Array, part: Part, scores: Array) -> None:
        if len(part.tests) == len(part.queries):  # leave-one-out
            order = np.concatenate([test for _, test in part.tests])
            scores[:, :, [f for f, _ in part.tests]] = outcome[:, :, order]
            return
        for f, test in part.tests:
            scores[:, :, f] = outcome[:, :, test].mean(axis=2)


class Regression(Task):
    """r2 or minus the mean squared error of means of targets."""

    def __init__(self, y: Array, scoring: str) -> None:
        self.y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        self.targets = self.y.reshape(len(y), -1)
        self.scoring = scoring

    def check(self, split: Folds) -> None:
        if self.scoring == "r2" and min(map(len, split.tests())) < 2:
            raise ValueError(
                "r2 needs at least 2 rows in each fold: use scoring='neg_mean_squared_error', or fewer folds."
            )

    def empty(self, n_weights: int, n_ks: int, m: int) -> Array:
        return np.empty((n_weights, n_ks, m, self.targets.shape[1]))

    def voter(self, part: Part) -> Any:
        targets = self.targets[part.train]
        return lambda how, found, rows: (how.cast(found).mean(targets), 0)

    def score(self, outcome: Array, part: Part, scores: Array) -> None:
        for f, test in part.tests:
            true = self.targets[part.queries[test]]
            for at in np.ndindex(outcome.shape[:2]):
                guess = outcome[at][test]
                scores[(*at, f)] = (
                    r2_score(true, guess) if self.scoring == "r2" else -mean_squared_error(true, guess)
                )


def _outcome(
    task: Task, part: Part, votes: list[list[Vote]], boundary_ties: Array, vote_ties: Array, seconds: Array
) -> Array:
    """Outcomes (weights, ks, m, ...) of a part, from one search; counts of ties and seconds are added up."""
    outcome, voter = task.empty(len(votes), len(votes[0]), len(part.queries)), task.voter(part)
    longest = votes[0][-1]
    ties = not longest.boundary.in_order
    for block, found in part.index.search_blocks(part.Q, longest.k, groups=part.groups, ties=ties):
        rows = np.arange(block.start, block.stop)
        for b in range(len(votes[0])):
            cut = found.first(votes[0][b].k)
            boundary_ties[b] += np.count_nonzero(cut.boundary.counts)
            for a in range(len(votes)):
                start = perf_counter()
                outcome[a, b, rows], tied = voter(votes[a][b], cut, rows)
                vote_ties[a, b] += tied
                seconds[a, b] += perf_counter() - start
    return outcome


SCORINGS = ("accuracy", "r2", "neg_mean_squared_error")


def _task(y: Array, scoring: str, *, prior: bool) -> Task:
    if scoring not in SCORINGS:
        raise UnknownNameError("scoring", scoring, SCORINGS)
    return Classification(y, prior) if scoring == "accuracy" else Regression(y, scoring)


def _unusual(**rules: Any) -> dict[str, Any]:
    """Those that differ from what a model has by default."""
    usual = {"boundary": "share", "ties": "nearest", "algorithm": "auto"}
    return {name: rule for name, rule in rules.items() if rule != usual[name]}


def _listed(values: Any, name: str) -> list[Any]:
    """Several things, or one alone."""
    if isinstance(values, np.ndarray):
        values = values.tolist()
    values = list(values) if isinstance(values, (list, tuple)) else [values]
    if not values:
        raise ValueError(f"{name} is empty: give at least one.")
    return values


def _checked_ks(ks: Any, fewest: int) -> Array:
    grid = np.atleast_1d(np.asarray(ks))
    if grid.ndim != 1 or not len(grid) or not np.issubdtype(grid.dtype, np.integer) or grid.min() < 1:
        raise ParameterError("ks", ks, "whole numbers >= 1, at least one")
    if grid.max() > fewest:
        raise ValueError(
            f"k = {grid.max()} neighbors were asked for, but a fold leaves only {fewest} rows to choose from: take "
            f"k <= {fewest}, or more folds."
        )
    return np.unique(grid)
