"""Crews: who computes what is asked of each block, in this process or on the workers of a cluster."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import reduce
from typing import Any, final

import dask
from dask.delayed import Delayed, delayed

from nearline import _core
from nearline._arrays.blocks import FAN
from nearline._parallel.tiles import single_threaded_blas

Task = Callable[..., Any]
HERE = os.uname().nodename, os.getpid()


class ClusterError(RuntimeError):
    """What a cluster could not do, and what to do about it. The model is as it was before."""


class Crew(ABC):
    """Whoever runs functions of held things. What is held may be lost, and is then made again from where it came."""

    @abstractmethod
    def hold(self, parts: Sequence[Delayed]) -> list[Any]:
        """Compute parts of a collection, and keep them where they are computed."""

    @abstractmethod
    def map(self, task: Task, held: Sequence[Any]) -> list[Any]:
        """Other held things, made of these one by one."""

    @abstractmethod
    def ask(self, task: Task, held: Sequence[Any]) -> list[Any]:
        """What a function says of each, in order."""

    def total(self, task: Task, held: Sequence[Any], add: Callable[[Any, Any], Any]) -> list[Any]:
        """What it says of each, or sums of runs of these that the crew adds up itself."""
        return self.ask(task, held)


@final
class LocalCrew(Crew):
    """Dask's own scheduler in this process, without a cluster."""

    def __init__(self, keep: bool = True) -> None:
        self.keep = keep  # in memory; else parts are made again whenever they are asked

    def hold(self, parts: Sequence[Delayed]) -> list[Any]:
        return list(dask.persist(*parts)) if self.keep else list(parts)

    def map(self, task: Task, held: Sequence[Any]) -> list[Any]:
        made = [delayed(task, pure=False)(part) for part in held]
        return list(dask.persist(*made)) if self.keep else made

    def ask(self, task: Task, held: Sequence[Any]) -> list[Any]:
        if not self.keep:  # one part at a time, so that memory holds one
            return [delayed(_alone, pure=False)(task, part).compute(scheduler="synchronous") for part in held]
        return list(dask.compute(*[delayed(_alone, pure=False)(task, part) for part in held]))


@final
class ClusterCrew(Crew):
    """The workers of a cluster that this process is a client of."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def hold(self, parts: Sequence[Delayed]) -> list[Any]:
        return self._heeding(lambda: self.client.compute(list(parts)))

    def map(self, task: Task, held: Sequence[Any]) -> list[Any]:
        return self._heeding(lambda: self.client.map(task, held, pure=False))

    def ask(self, task: Task, held: Sequence[Any]) -> list[Any]:
        return self._heeding(lambda: self.client.gather(self._sent(task, held)))

    def total(self, task: Task, held: Sequence[Any], add: Callable[[Any, Any], Any]) -> list[Any]:
        if len(held) <= FAN:
            return self.ask(task, held)

        def runs() -> list[Any]:
            parts = self._sent(task, held)
            sums = [
                self.client.submit(_added, add, parts[i : i + FAN], pure=False)
                for i in range(0, len(parts), FAN)
            ]
            gathered: list[Any] = self.client.gather(sums)
            return gathered

        return self._heeding(runs)

    def _sent(self, task: Task, held: Sequence[Any]) -> list[Any]:
        sent: list[Any] = self.client.map(_Alone(task, HERE), held, pure=False)
        return sent

    def _heeding(self, work: Callable[[], Any]) -> Any:
        """Failures of the cluster in words; those of a task are as they are."""
        from distributed import KilledWorker

        try:
            return work()
        except KilledWorker as error:
            raise ClusterError(
                "Several workers died while they worked on the same block: as a rule they ran out of memory. Cut the data "
                "into smaller blocks (X.rechunk, or repartition of a frame), or give workers more memory."
            ) from error
        except Exception as error:
            if type(error).__module__.partition(".")[0] != "distributed":
                raise
            where = getattr(self.client.scheduler, "address", "an address that is closed now")
            raise ClusterError(
                f"The connection to the cluster at {where} was lost, and with it the blocks on its workers: start the "
                "cluster, connect a Client, and call it again."
            ) from error


class _Alone:
    """A task that leaves other cores to other tasks: on a worker, blocks are worked on side by side."""

    def __init__(self, task: Task, asker: tuple[str, int]) -> None:
        self.task, self.asker = task, asker

    def __call__(self, part: Any) -> Any:
        if (os.uname().nodename, os.getpid()) != self.asker:
            _core.set_thread_limit(1)
        return _alone(self.task, part)


def _alone(task: Task, part: Any) -> Any:
    with single_threaded_blas:
        return task(part)


def _added(add: Callable[[Any, Any], Any], parts: list[Any]) -> Any:
    return reduce(add, parts)


_streams: ContextVar[bool] = ContextVar("whether blocks are made again for each pass", default=False)


@contextmanager
def streaming() -> Iterator[None]:
    """Within a ``with`` block, rows are read again for each pass, one block at a time: memory holds one block, not all.

    For data larger than memory, without a cluster. What was computed of a block goes with it, so that solvers of few
    passes are best: 'newton', where a Hessian fits.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from nearline import LogisticRegression
    >>> X = da.random.default_rng(0).normal(size=(4000, 3), chunks=(1000, 3))
    >>> with streaming():
    ...     model = LogisticRegression(alpha=0.1).fit(X, (X[:, 0] > 0).astype(int))
    >>> bool(model.gap_ <= 1e-4)
    True
    """
    token = _streams.set(True)
    try:
        yield
    finally:
        _streams.reset(token)


def crew() -> Crew:
    """The cluster that this process is a client of; without one, Dask's scheduler in this process."""
    if _streams.get():
        return LocalCrew(keep=False)
    try:
        from distributed import default_client
    except ImportError:  # Dask without its distributed part
        return LocalCrew()
    try:
        return ClusterCrew(default_client())
    except ValueError:  # no client
        return LocalCrew()
