"""Crews: who computes what is asked of each block, in this process or on the workers of a cluster."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import reduce
from typing import Any, NamedTuple, final

import dask
from dask.delayed import Delayed, delayed

from nearline import _core
from nearline._arrays.blocks import RECENT, Block
from nearline._arrays.sums import FAN
from nearline._parallel.tiles import single_threaded_blas

Task = Callable[..., Any]
HERE = os.uname().nodename, os.getpid()


class ClusterError(ConnectionError):
    """What a cluster could not do, and what to do about it. The model is as it was before."""


class Crew(ABC):
    """Whoever runs functions of held things. What is held may be lost, and is then made again from where it came."""

    @abstractmethod
    def hold(self, parts: Sequence[Delayed]) -> list[Any]:
        """Compute parts of a collection, and keep them where they are computed."""

    @abstractmethod
    def map(self, task: Task, held: Sequence[Any]) -> list[Any]:
        """Other held things, made of these one by one."""

    def ask(self, task: Task, held: Sequence[Any]) -> list[Any]:
        """What a function says of each, in order."""
        return self.answers([Question(held, task)])[0]

    @abstractmethod
    def answers(self, questions: Sequence["Question"]) -> list[list[Any]]:
        """Answers to several questions, asked together: what each says of its parts, or sums of runs of these."""


class Question(NamedTuple):
    """A function of held things, and how its values are added where sums will do."""

    held: Sequence[Any]
    task: Task
    add: Callable[[Any, Any], Any] | None = None


def by_held(questions: Sequence[Question]) -> list[list[int]]:
    """Numbers of the questions about the same things, which one message to each can answer."""
    found: dict[tuple[int, bool], list[int]] = {}
    for number, (held, _, add) in enumerate(questions):
        found.setdefault((id(held), add is None), []).append(number)
    return list(found.values())


class Several:
    """Several functions of one thing. What a block keeps for the next question it keeps for each of them."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.tasks = tasks

    def __call__(self, part: Any) -> list[Any]:
        if isinstance(part, Block):
            part.recent.most = max(part.recent.most, RECENT * len(self.tasks))
        return [task(part) for task in self.tasks]


class _AddedUp:
    """Lists of sums, added place by place."""

    def __init__(self, adds: Sequence[Callable[[Any, Any], Any]]) -> None:
        self.adds = adds

    def __call__(self, a: list[Any], b: list[Any]) -> list[Any]:
        return [add(x, y) for add, x, y in zip(self.adds, a, b, strict=True)]


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

    def answers(self, questions: Sequence[Question]) -> list[list[Any]]:
        found: list[list[Any]] = [[] for _ in questions]
        for numbers in by_held(questions):
            held, several = (
                questions[numbers[0]].held,
                Several([questions[number].task for number in numbers]),
            )
            asked = [delayed(_alone, pure=False)(several, part) for part in held]
            # Without memory for all, one part at a time, so that memory holds one.
            told = (
                dask.compute(*asked)
                if self.keep
                else [part.compute(scheduler="synchronous") for part in asked]
            )
            for number, answers in zip(numbers, zip(*told), strict=True):
                found[number] = list(answers)
        return found


@final
class ClusterCrew(Crew):
    """The workers of a cluster that this process is a client of."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def hold(self, parts: Sequence[Delayed]) -> list[Any]:
        return self._heeding(lambda: self.client.compute(list(parts)))

    def map(self, task: Task, held: Sequence[Any]) -> list[Any]:
        return self._heeding(lambda: self.client.map(task, held, pure=False))

    def answers(self, questions: Sequence[Question]) -> list[list[Any]]:
        groups = by_held(questions)

        def gathered() -> list[Any]:
            sent = [self._runs([questions[number] for number in numbers]) for numbers in groups]
            told: list[Any] = self.client.gather(sent)
            return told

        found: list[list[Any]] = [[] for _ in questions]
        for numbers, told in zip(groups, self._heeding(gathered), strict=True):
            for number, answers in zip(numbers, zip(*told), strict=True):
                found[number] = list(answers)
        return found

    def _runs(self, questions: Sequence[Question]) -> list[Any]:
        """What is sent of questions about the same things: an answer of each, or sums of runs that workers add up."""
        held, add = questions[0].held, questions[0].add
        parts = self._sent(Several([question.task for question in questions]), held)
        if add is None or len(held) <= FAN:
            return parts
        adding = _AddedUp([question.add for question in questions if question.add is not None])
        return [
            self.client.submit(_added, adding, parts[i : i + FAN], pure=False)
            for i in range(0, len(parts), FAN)
        ]

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
