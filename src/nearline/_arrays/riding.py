"""Riding together: works that ask for passes over blocks wait for each other, so that one pass answers them all.

Reading rows, or telling every worker of a cluster what to do, costs the same for one question as for many. So the fits of
several folds or alphas run side by side, each in a thread; whatever one of them asks waits until all others ask too, or have
ended. Works do not know of each other: each gets the answers that it would get alone, to the same bits.
"""

from collections.abc import Callable, Sequence
from contextvars import ContextVar, copy_context
from threading import Condition, Thread
from typing import Any, TypeVar, final

Result = TypeVar("Result")


@final
class Ride:
    """Those who ride, and the questions that wait."""

    def __init__(self, riders: int, answer: Callable[[list[Any]], list[Any]]) -> None:
        self._answer, self._riding, self._turn = answer, riders, Condition()
        self._waiting: list[tuple[Any, list[Any]]] = []  # questions, each with a place for its answer
        self._stopped = False

    def ask(self, question: Any) -> Any:
        """The answer, once everyone who rides has asked or left."""
        place: list[Any] = []
        with self._turn:
            self._waiting.append((question, place))
            self._go_if_all_wait()
            while not place and not self._stopped:
                self._turn.wait()
        if not place:
            raise RuntimeError("The others were stopped, so this was too.")
        answer, error = place
        if error is not None:
            raise error
        return answer

    def leave(self) -> None:
        """One rides no more."""
        with self._turn:
            self._riding -= 1
            self._go_if_all_wait()

    def stop(self) -> None:
        """Nobody is answered any more."""
        with self._turn:
            self._stopped = True
            self._turn.notify_all()

    def _go_if_all_wait(self) -> None:
        """One pass for all questions; a failure is told to everyone who waits for it."""
        if self._stopped or not self._waiting or len(self._waiting) < self._riding:
            return
        waiting, self._waiting = self._waiting, []
        try:
            answers = [(answer, None) for answer in self._answer([question for question, _ in waiting])]
        except BaseException as error:
            answers = [(None, error)] * len(waiting)  # type: ignore[list-item]
        for (_, place), answer in zip(waiting, answers, strict=True):
            place.extend(answer)
        self._turn.notify_all()


_current: ContextVar[Ride | None] = ContextVar("the ride that this work takes part in", default=None)


def riding() -> Ride | None:
    """The ride that this work takes part in."""
    return _current.get()


def ride_together(
    works: Sequence[Callable[[], Result]], answer: Callable[[list[Any]], list[Any]]
) -> list[Result]:
    """What each work returns, in order; the first failure is raised when all have ended."""
    ride = Ride(len(works), answer)
    ends: list[list[Any]] = [[] for _ in works]

    def run(work: Callable[[], Result], end: list[Any]) -> None:
        _current.set(ride)
        try:
            end.extend((work(), None))
        except BaseException as error:
            end.extend((None, error))
        finally:
            ride.leave()

    threads = [
        Thread(target=copy_context().run, args=(run, work, end), daemon=True)
        for work, end in zip(works, ends, strict=True)
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except BaseException:  # Ctrl-C
        ride.stop()
        raise
    for _, error in ends:
        if error is not None:
            raise error
    return [result for result, _ in ends]
