"""Where a contestant runs: in this process, or in a process of its own with its own number of threads.

Libraries disagree about threads (OpenMP run-times, BLAS pools, settings that are ignored), so peers live apart. A home
lives as long as the run: data are loaded and code is compiled there once, before the clock starts.
"""

import multiprocessing as mp
import os
import pickle
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NEARLINE_NUM_THREADS",
)


PATIENCE = 1800.0  # seconds for what is not contested: loading, converting, compiling


class TooSlow(Exception):
    """A run took longer than it was given."""


@dataclass(frozen=True)
class Home:
    """A process by name; ``threads`` is what it is told to use."""

    name: str
    threads: int = 2


HERE = Home("here")
NEARLINE = Home("nearline", 2)
SKLEARN = Home("scikit-learn", 2)
LIBLINEAR = Home("liblinear", 1)
CYANURE = Home("cyanure", 2)
CELER = Home("celer", 2)
SKGLM = Home("skglm", 2)
FAISS = Home("faiss", 2)
USEARCH = Home("usearch", 2)
TORCH = Home("torch", 2)
SKLEARNEX = Home("scikit-learn-intelex", 2)


class Pool:
    """The homes in use; a context manager that ends them all."""

    def __init__(self, threads: int = 2, apart: bool = True) -> None:
        self.threads = threads  # no home gets more
        self.apart = apart  # False runs all in this process, to debug or to test
        self._workers: dict[Home, Worker] = {}

    def call(self, home: Home, task: Callable[[], Any], limit: float) -> Any:
        """task() at home; raises what it raises, or TooSlow (a task HERE cannot be ended)."""
        if home == HERE or not self.apart:
            return task()
        if home not in self._workers:
            self._workers[home] = Worker(min(home.threads, self.threads))
        try:
            return self._workers[home].call(task, limit)
        except (TooSlow, EOFError, KeyboardInterrupt):
            self._workers.pop(home).end()
            raise

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *_: object) -> None:
        while self._workers:
            self._workers.popitem()[1].end()


class Worker:
    """One process that runs tasks one after another."""

    def __init__(self, threads: int) -> None:
        context = mp.get_context("spawn")
        self._pipe, child = context.Pipe()
        with environment({name: str(threads) for name in THREAD_VARIABLES}):
            self._process = context.Process(target=serve, args=(child,), daemon=True)
            self._process.start()
        child.close()

    def call(self, task: Callable[[], Any], limit: float) -> Any:
        self._pipe.send_bytes(pickle.dumps(task))
        if not self._pipe.poll(limit):
            raise TooSlow
        good, value = pickle.loads(self._pipe.recv_bytes())
        if not good:
            raise RuntimeError(value)
        return value

    def end(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()


def serve(pipe: Connection) -> None:
    """Main loop of a worker. What libraries print goes nowhere; their warnings are not contested."""
    warnings.simplefilter("ignore")
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    while True:
        try:
            task = pickle.loads(pipe.recv_bytes())
        except EOFError:
            return
        try:
            answer = (True, task())
        except Exception as error:
            answer = (False, f"{type(error).__name__}: {error}")
        pipe.send_bytes(pickle.dumps(answer))


@contextmanager
def environment(changes: dict[str, str]) -> Iterator[None]:
    """Environment variables for the processes started inside."""
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
