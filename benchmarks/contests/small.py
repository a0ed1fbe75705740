"""What surrounds the work and must stay small beside it: votes beside their search, files, checks for leaks."""

import tempfile
import time
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import Contest, Entry, Heat, Outcome, Session
from benchmarks.homes import NEARLINE


@lru_cache(maxsize=2)
def cloud(n: int, D: int) -> tuple[np.ndarray, np.ndarray]:
    """Random rows in ten classes."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, D)), rng.integers(0, 10, n)


def timed(work: Callable[[], Any]) -> Outcome:
    began = time.perf_counter()
    work()
    return Outcome(time.perf_counter() - began)


def search(n: int) -> Outcome:
    from nearline import Index

    X, _ = cloud(n, 3)
    return timed(lambda: Index(X).search(X, 10))


def predict(n: int, weights: str) -> Outcome:
    from nearline import KNeighborsClassifier, Temperature

    X, y = cloud(n, 3)
    model = KNeighborsClassifier(10, weights=Temperature(1.0) if weights == "temperature" else weights)
    model.fit(X, y)
    return timed(lambda: model.predict(X))


def file(n: int, kind: str) -> Outcome:
    from nearline import NearestCentroid, load, save

    model = NearestCentroid().fit(*cloud(40, n))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.nearline"
        save(model, path)
        return timed(lambda: save(model, path) if kind == "save" else load(path))


def leaks(n: int) -> Outcome:
    from nearline import check

    X, y = cloud(n, 784)
    return timed(lambda: check(X, y))


def own(name: str, task: Callable[[], Outcome]) -> Entry:
    return Entry(name, task, home=NEARLINE, ours=True)


def heats(session: Session) -> Iterator[Heat]:
    n = session.options.rows(10_000, 200) or 0
    votes = [own(f"predict, {w}", partial(predict, n, w)) for w in ("uniform", "distance", "temperature")]
    yield Heat(
        f"votes of {n} queries among {n} rows, k = 10",
        "none",
        [own("the search alone", partial(search, n)), *votes],
    )
    features = session.options.rows(6250, 50) or 0
    kinds = [own(kind, partial(file, features, kind)) for kind in ("save", "load")]
    yield Heat(f"a model of 10 x {features} numbers in a file", "none", kinds)
    yield Heat(f"checks for leaks, {n} rows x 784", "none", [own("check", partial(leaks, n))])


CONTESTS = (Contest("small-costs", "what surrounds the work", "small beside the work", heats),)
