"""Work on fixed tiles of the data, on our own threads, with BLAS on one thread in each.

What a task computes depends on its tile alone and results are combined in tile order, so they are the same for any
number of threads. It is faster too: the tasks need no barriers, where a BLAS that splits each call waits at many.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from threading import Lock, Thread
from typing import Any, Self, TypeVar

import numpy as np

from nearline import _core
from nearline._parallel.stopping import Stop, checkpoint, heeding

Item = TypeVar("Item")
Result = TypeVar("Result")

SMALL = 2e7  # floating-point operations that are not worth a thread
SPLIT = 4e5  # floating-point operations of a product, from which on a BLAS may split it
ROWS = 256  # of a product that one thread computes at a time
SIDE_BY_SIDE = 50_000  # numbers in the data of tasks that are worth a thread each


class SingleThreadedBlas:
    """Keeps BLAS on one thread while anyone is inside; the last to leave restores what the first found."""

    def __init__(self) -> None:
        self._lock, self._users = Lock(), 0
        self._limit: Any = None

    def __enter__(self) -> Self:
        with self._lock:
            if self._users == 0:
                self._limit = _libraries().limit(limits=1)
            self._users += 1
        return self

    def __exit__(self, *error: Any) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limit.restore_original_limits()


@cache
def _libraries() -> Any:
    """The BLAS libraries of NumPy and SciPy; to find them takes longer than many a tile."""
    import scipy.linalg.blas  # noqa: F401 - loads SciPy's own
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


single_threaded_blas = SingleThreadedBlas()


def side_by_side(task: Callable[[Item], Result], items: Sequence[Item], *, cells: float) -> list[Result]:
    """As map_tiles, for tasks that would use threads of their own: each stays on one while others run beside it.

    They need not wait for each other as the threads of one product do. ``cells``: numbers in the data of a task; tasks
    on little data wait for Python more than they compute, and run one after the other.
    """
    limit = _core.thread_limit()
    if limit == 1 or len(items) == 1 or cells < SIDE_BY_SIDE:
        with single_threaded_blas:
            return [task(item) for item in steps(items)]
    _core.set_thread_limit(1)
    try:
        return map_tiles(task, items, work=float("inf"), most=limit)
    finally:
        _core.set_thread_limit(limit)


def map_tiles(
    task: Callable[[Item], Result], items: Sequence[Item], *, work: float, most: int | None = None
) -> list[Result]:
    """task(item) for all items, results in their order. ``work``: floating-point operations in all."""
    if work < SMALL:
        return [task(item) for item in steps(items)]
    n_threads = min(most or _core.thread_limit(), len(items))
    with single_threaded_blas:
        if n_threads == 1:
            return [task(item) for item in steps(items)]
        return _Crew(task, items).run(n_threads)


class _Crew:
    """Threads, the caller's among them, that take items one by one. Where the machine refuses a thread, the others do all."""

    def __init__(self, task: Callable[[Item], Any], items: Sequence[Item]) -> None:
        self._task, self._items = task, items
        self._waiting = deque(range(len(items)))
        self._results: list[Any] = [None] * len(items)
        self._errors: list[BaseException] = []
        self._stop = Stop()

    def run(self, n_threads: int) -> list[Any]:
        helpers = self._helpers(n_threads - 1)
        try:
            self._work()
            for helper in helpers:
                helper.join()
        finally:  # Ctrl-C while others work: they end at their next checkpoint
            self._stop.request()
        if self._errors:
            raise self._errors[0]
        return self._results

    def _helpers(self, most: int) -> list[Thread]:
        started = []
        for _ in range(most):
            helper = Thread(target=self._work)
            try:
                helper.start()
            except RuntimeError:  # limits on processes or memory, as containers have
                break
            started.append(helper)
        return started

    def _work(self) -> None:
        with heeding(self._stop):
            try:
                while self._waiting:
                    checkpoint()
                    try:
                        i = self._waiting.popleft()
                    except IndexError:  # someone else was faster
                        return
                    self._results[i] = self._task(self._items[i])
            except BaseException as error:  # Ctrl-C too
                self._errors.append(error)
                self._stop.request()


def product_by_tiles(A: Any, B: Any, *, out: Any = None) -> Any:
    """A @ B of dense arrays, a fixed number of rows of A at a time: the same bits for any number of threads.

    A BLAS that splits one product among its threads waits for the slowest at many barriers: beside other work these
    cost many times the product.
    """
    work = 2.0 * A.shape[0] * A.shape[1] * B.shape[1]
    if work < SPLIT:
        return np.matmul(A, B, out=out)
    out = np.empty((A.shape[0], B.shape[1]), dtype=np.result_type(A, B)) if out is None else out
    with single_threaded_blas:
        map_tiles(lambda tile: np.matmul(A[tile], B, out=out[tile]), slices(A.shape[0], ROWS), work=work)
    return out


def steps(items: Iterable[Item], every: int = 1) -> Iterator[Item]:
    """The items of a long task, one by one, with a checkpoint before each, or before every so-manieth."""
    for number, item in enumerate(items):
        if number % every == 0:
            checkpoint()
        yield item


def slices(n: int, size: int) -> list[slice]:
    """0 .. n-1 in consecutive slices of ``size``."""
    return [slice(i, min(i + size, n)) for i in range(0, n, size)]


def groups(items: Sequence[Item], n_groups: int) -> list[Sequence[Item]]:
    """At most ``n_groups`` consecutive runs of items, of nearly equal length: one chain of additions each."""
    size = -(-len(items) // n_groups)
    return [items[i : i + size] for i in range(0, len(items), size)]
