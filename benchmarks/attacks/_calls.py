"""Calls into the core as the package makes them, recorded while small fits, searches and kernels run."""

import copy
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum, EnumType
from typing import Any

import numpy as np
import scipy.sparse as sp

import nearline
from nearline import _core

LARGEST = 400_000  # bytes of the arguments of a call that is kept
HARMLESS = {
    "thread_limit",
    "instruction_sets",
    "panel_rows",
    "lanes",
    "rounds",
    "panel_words",
}  # they take nothing
PLACES = "place {}"

Copy = Callable[[Any], Any]


def _renewed(value: Any, renew: Copy) -> Any:
    if isinstance(value, np.ndarray):
        return renew(value)
    return tuple(_renewed(part, renew) for part in value) if isinstance(value, tuple) else value


@dataclass
class Step:
    """One function or method and what it was given."""

    name: str
    given: tuple[Any, ...]
    named: dict[str, Any]

    def arguments(self) -> Iterator[tuple[str, Any]]:
        yield from ((PLACES.format(i), value) for i, value in enumerate(self.given))
        yield from self.named.items()

    def with_changes(self, changed: dict[str, Any], renew: Copy) -> tuple[list[Any], dict[str, Any]]:
        given = [_renewed(changed.get(PLACES.format(i), v), renew) for i, v in enumerate(self.given)]
        named = {name: _renewed(changed.get(name, value), renew) for name, value in self.named.items()}
        return given, named

    @property
    def size(self) -> int:
        return sum(value.nbytes for _, value in self.arguments() if isinstance(value, np.ndarray))

    @property
    def types(self) -> tuple[str, ...]:
        """Two calls that differ here take different ways through the core."""
        return tuple(
            str(value.dtype)
            if isinstance(value, np.ndarray)
            else str(value)
            if isinstance(value, (str, Enum))
            else type(value).__name__
            for _, value in self.arguments()
        )


@dataclass
class Call:
    """A function that is called, or an object that is made and asked one thing after the other. One step is spoiled."""

    steps: list[Step]
    at: int  # the step whose arguments are spoiled

    def arguments(self) -> Iterator[tuple[str, Any]]:
        return self.steps[self.at].arguments()

    def run(self, changed: dict[str, Any], renew: Copy) -> None:
        thing: Any = _core.chosen
        for number, step in enumerate(self.steps):
            given, named = step.with_changes(changed if number == self.at else {}, renew)
            made = getattr(thing, step.name)(*given, **named)
            if number == 0 and len(self.steps) > 1:
                thing = made


@dataclass
class Recorder:
    """Stands in the place of the core's functions and keeps what they are given."""

    most: int
    calls: dict[str, dict[Any, Call]] = field(default_factory=dict)

    def keep(self, name: str, steps: list[Step], at: int) -> None:
        known = self.calls.setdefault(name, {})
        kind = steps[at].types
        if kind in known or len(known) >= self.most or sum(step.size for step in steps) > LARGEST:
            return
        known[kind] = Call(copy.deepcopy(steps), at)

    def function(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            self.keep(name, [Step(name, given, named)], 0)
            return real(*given, **named)

        return call

    def searching(self) -> Callable[..., Any]:
        recorder, real = self, _core.chosen.Search

        class Search:
            def __init__(self, *given: Any) -> None:
                self._steps = [Step("Search", given, {})]
                self._real = real(*given)

            def __getattr__(self, name: str) -> Any:
                def call(*given: Any, **named: Any) -> Any:
                    self._steps.append(Step(name, given, named))
                    recorder.keep(f"Search.{name}", self._steps, len(self._steps) - 1)
                    if name == "finish":  # now the lists are known: what came in wrong would be seen
                        recorder.keep("Search", self._steps, 0)
                    return getattr(self._real, name)(*given, **named)

                return call

        return Search


def bound_names() -> list[str]:
    """Functions and classes of the core that do something; enumerations do not."""
    return [
        name for name, thing in vars(_core.chosen).items() if name[0] != "_" and type(thing) is not EnumType
    ]


def recorded(most: int) -> tuple[dict[str, list[Call]], list[str]]:
    """At most so many calls of each function, of different types; and the functions that were never called."""
    recorder = Recorder(most)
    names = [name for name in bound_names() if name not in HARMLESS]
    real = {name: getattr(_core, name) for name in names}
    try:
        for name in names:
            made = recorder.searching() if name == "Search" else recorder.function(name, real[name])
            setattr(_core, name, made)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for work in (_fits, _wide, _searches, _kernels, _by_hand):
                work()
    finally:
        for name in names:
            setattr(_core, name, real[name])
    methods = [f"Search.{name}" for name in dir(_core.chosen.Search) if not name.startswith("_")]
    never = [name for name in [*names, *methods] if not recorder.calls.get(name)]
    return {name: list(calls.values()) for name, calls in recorder.calls.items()}, never


def _rows(dtype: Any = np.float64, n: int = 70, d: int = 9) -> Any:
    return np.random.default_rng(1).normal(size=(n, d)).astype(dtype)


def _sparse(dtype: Any = np.float64, wide: bool = False) -> Any:
    X = sp.csr_matrix(np.where(_rows(dtype) > 0.3, _rows(dtype), 0))
    X[:, 0] = 1.0  # a column without a zero
    X = sp.csr_matrix(X)
    if wide:
        X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def _fits() -> None:
    three = np.arange(70) % 3
    for X in (
        _rows(),
        _rows(np.float32),
        _sparse(),
        _sparse(np.float32),
        _sparse(wide=True),
        _sparse(np.float32, True),
    ):
        for loss, penalty, solver in (
            ("softmax", "l2", "lbfgs"),
            ("softmax", "l2", "newton"),
            ("logistic", "l2", "newton-cg"),
            ("softmax", "l1", "coordinate-descent"),
            ("logistic", "l1", "coordinate-descent"),
            ("hinge", "l2", "dual-coordinate-descent"),
            ("crammer-singer", "l2", "dual-coordinate-descent"),
            ("sparsemax", "l1", "sgd"),
            ("squared", "l2", "closed-form"),
            ("softmax", "none", "lbfgs"),
        ):
            risk = nearline.Risk(X, three, loss=loss, regularizer=penalty, alpha=0.01)
            nearline.minimize(risk, solver, tol=1e-3, max_iter=4)
        nearline.minimize(
            nearline.Risk(X, three % 2, loss="squared", alpha=0.1), "preconditioned-lbfgs", max_iter=2
        )
        nearline.perceptron_rule(X, three, max_iter=3)
        nearline.perceptron_rule(X, three % 2, max_iter=3)
        model = nearline.LogisticRegression(alpha=0.1).fit(X, three)
        model.predict(X[:2])
        nearline.KernelSVM("linear").fit(X, three % 2)


def _wide() -> None:
    """Sparse rows with more columns than would be written out in full."""
    for dtype in (np.float32, np.float64):
        X = sp.random(40, 400, density=0.02, format="csr", rng=np.random.default_rng(2), dtype=dtype)
        for loss in ("hinge", "logistic", "weston-watkins"):
            risk = nearline.Risk(X, np.arange(40) % 3, loss=loss, alpha=0.1)
            nearline.minimize(risk, "dual-coordinate-descent", tol=1e-2, max_iter=3)


def _by_hand() -> None:
    """What needs large data, or an unlucky fit, to be called."""
    _core.set_thread_limit(nearline.get_num_threads())
    for dtype in (np.float32, np.float64):
        X, W, b = _rows(dtype), _rows(dtype, 3), np.zeros(3, dtype)
        _core.linear_scores(X, W, b)
        _core.linear_scores(X[0], W, b)
        none, pairs = np.empty((0, 0)), np.arange(5)
        _core.pair_distances(_core.Metric.l2, 2.0, none, X, _rows(), pairs, pairs, np.empty(5))


def _searches() -> None:
    large = _rows(np.float32, 900, 24)
    for X in (
        large,
        np.abs(large * 20).astype(np.uint8),
        large.astype(np.float64)[:600],
        _sparse(),
        _sparse(np.float32),
    ):
        for metric in ("l2", "l1", "l-infinity", "cosine"):
            index = nearline.Index(X, metric, algorithm="exact")
            index.search(X[:20], 3, groups=(np.arange(20), np.arange(X.shape[0])))
    nearline.Index(large[:60], nearline.Mahalanobis("total").fit(large)).search(large[:9], 3)
    nearline.Index(np.abs(_rows(n=9)), "precomputed").search(np.abs(_rows(n=5)), 2)


def _kernels() -> None:
    from nearline.kernels import RBF, PartialTree, Spectrum, Subsequence, SubsetTree, Subtree

    for X in (_rows(), _rows(np.float32), _sparse()):
        RBF(0.1)(X)
        RBF(0.1)(X, X[:5])
        RBF(0.1)(X + 1e6 if isinstance(X, np.ndarray) else X * 1e6)
    texts = ["abcabca", "bca", "cabbage", "a", "bbca"]
    trees = ["(S (N a) (V b))", "(S (N a) (V (V b) (N c)))", "(S (N c))"]
    for kernel, items in (
        (Subsequence(2), texts),
        (Subsequence(8), [text * 3 for text in texts]),
        (Spectrum(2), texts),
        (Subtree(), trees),
        (SubsetTree(), trees),
        (PartialTree(), trees),
    ):
        kernel(items)
        kernel(items, items[:2])
        kernel.diagonal(kernel.items(items))
