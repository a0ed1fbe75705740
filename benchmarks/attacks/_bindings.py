"""A fuzz of the functions that the core binds: real calls, as the package makes them, with one or two arguments spoiled.

A bound function may raise or answer. It may not crash, write beside its arguments, or go on when it is interrupted.
"""

import itertools
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from enum import Enum
from typing import Any

import numpy as np

from benchmarks.attacks import NOTHING, REFUSED, SURVIVED, Outcome, failed
from benchmarks.attacks._calls import Call, recorded

Spoiled = tuple[str, Any]  # how, and the argument

SECONDS = 2.0  # after which a call is interrupted, as by Ctrl-C
GUARD = 64  # bytes around arrays that nobody may write to
GUARDED = "asan" not in os.environ.get(
    "LD_PRELOAD", ""
)  # it looks at more than these bytes, if they are not there


def fuzz(name: str, calls: list[Call], pairs: int) -> Outcome:
    """All spoiled arguments of one function, each alone, and some of them in pairs."""
    rng = np.random.default_rng(sum(name.encode()))
    total = NOTHING
    for call in calls:
        single = [(place, made) for place, value in call.arguments() for made in spoiled(value)]
        for place, (how, value) in single:
            total += _verdict(f"{name}, {place}: {how}", call, {place: value})
        for _ in range(pairs if len(single) > 1 else 0):
            chosen = [single[i] for i in rng.integers(0, len(single), 2)]
            what = ", ".join(f"{place}: {how}" for place, (how, _) in chosen)
            total += _verdict(f"{name}, {what}", call, {place: value for place, (_, value) in chosen})
    return total


class _Interrupted(Exception):
    pass


def _verdict(what: str, call: Call, changed: dict[str, Any]) -> Outcome:
    def ring(*_: Any) -> None:
        raise _Interrupted

    guards: list[Any] = []
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        call.run(changed, lambda array: _copied(array, guards))
        outcome = SURVIVED
    except _Interrupted:
        outcome = SURVIVED
    except SystemError as error:
        outcome = failed(f"{what}: SystemError: {error}")
    except Exception:
        outcome = REFUSED
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    whole = all((guard == 0xA5).all() for guard in guards)
    return outcome if whole else failed(f"{what}: wrote beside its arguments")


def _copied(array: Any, guards: list[Any]) -> Any:
    """A copy with its own strides, alignment and rights, between bytes that are looked at afterwards."""
    plain = (
        array.flags.c_contiguous and array.flags.aligned and array.flags.writeable and array.dtype.isnative
    )
    if not plain or array.dtype.hasobject or array.size == 0:
        return array
    if not GUARDED:
        return array.copy()
    memory = np.full(array.nbytes + 2 * GUARD, 0xA5, dtype=np.uint8)
    inside = memory[GUARD : GUARD + array.nbytes].view(array.dtype).reshape(array.shape)
    inside[...] = array
    guards += [memory[:GUARD], memory[GUARD + array.nbytes :]]
    return inside


def spoiled(value: Any) -> Iterator[Spoiled]:
    """What else could have been given."""
    yield "None", None
    kinds: tuple[tuple[type, Callable[[Any], Iterator[Spoiled]]], ...] = (
        (np.ndarray, _arrays),
        (bool, lambda v: iter([("not", not v)])),
        (int, _integers),
        (float, _floats),
        (str, lambda v: iter([("empty", ""), ("unknown", "no such thing"), ("a number", 3)])),
        (tuple, _tuples),
        (Enum, lambda v: ((one.name, one) for one in type(v))),
    )
    yield from next((make(value) for kind, make in kinds if isinstance(value, kind)), iter(()))


def _integers(value: int) -> Iterator[Spoiled]:
    for number in (
        -1,
        0,
        1,
        value - 1,
        value + 1,
        2 * value + 7,
        2**31 - 1,
        2**31,
        2**62,
        2**63 - 1,
        2**64 - 1,
        2**64,
    ):
        yield str(number), number
    yield "1.5", 1.5


def _floats(_: float) -> Iterator[Spoiled]:
    for number in (0.0, -1.0, 1e300, 5e-324, np.inf, -np.inf, np.nan):
        yield str(number), number


def _tuples(value: tuple[Any, ...]) -> Iterator[Spoiled]:
    yield "shorter", value[:-1]
    yield "longer", (*value, value[-1])
    for i, part in enumerate(value):
        for how, other in spoiled(part):
            yield f"part {i} {how}", (*value[:i], other, *value[i + 1 :])


def _arrays(a: Any) -> Iterator[Spoiled]:
    yield from itertools.chain(_shapes(a), _types(a), _memory(a), _values(a))


def _shapes(a: Any) -> Iterator[Spoiled]:
    yield "empty", a[:0].copy()
    yield "one row", a[:1].copy()
    yield "one row less", a[:-1].copy()
    yield "one row more", np.concatenate([a, a[:1]])
    yield "twice", np.concatenate([a, a])
    yield "another dimension", a[None].copy()
    yield "no dimension", np.array(0, dtype=a.dtype)
    if GUARDED:  # it ends the process where memory is refused, and Python's MemoryError cannot come
        yield "huge, but empty", np.empty((2**50, *[0] * max(a.ndim - 1, 1)), dtype=a.dtype)
    if a.ndim > 1:
        yield "flat", a.ravel().copy()
        yield "transposed", np.ascontiguousarray(a.T)
        yield "no columns", a[:, :0].copy()
        yield "one column less", a[:, :-1].copy()
        yield "one column more", np.concatenate([a, a[:, :1]], axis=1)
        if GUARDED:
            yield "empty, with huge columns", np.empty((0, 2**50, *[1] * (a.ndim - 2)), dtype=a.dtype)


def _types(a: Any) -> Iterator[Spoiled]:
    for dtype in (
        "f4",
        "f8",
        "i4",
        "i8",
        "u1",
        "u8",
        "?",
        "c16",
        "f2",
        "O",
        "U3",
        "M8[s]",
        a.dtype.newbyteorder(),
    ):
        with np.errstate(all="ignore"):
            try:
                yield f"of type {dtype}", a.astype(dtype)
            except (TypeError, ValueError):
                continue


def _memory(a: Any) -> Iterator[Spoiled]:
    yield "strided", np.repeat(a, 2, axis=0)[::2]
    yield "backwards", a[::-1].copy()[::-1]
    yield "one number broadcast", np.broadcast_to(a.ravel()[:1], (2**40,)) if a.size else a
    raw = np.zeros(a.nbytes + 1, dtype=np.uint8)[1:]
    yield "misaligned", raw.view(a.dtype).reshape(a.shape)
    frozen = a.copy()
    frozen.flags.writeable = False
    yield "read-only", frozen
    if a.ndim > 1:
        yield "by columns", np.asfortranarray(a)


def _values(a: Any) -> Iterator[Spoiled]:
    numbers: list[Any] = [np.nan, np.inf, -np.inf, 1e308, -1e308, 0.0, 1.0]
    if a.dtype.kind in "iu":
        limits = np.iinfo(a.dtype)
        numbers = [-1, 0, 1, a.size, 10**6, limits.min, limits.max, 2**31 - 1]
    for number in numbers:
        with np.errstate(all="ignore"):
            if a.dtype.kind in "iu" and not limits.min <= number <= limits.max:
                continue
            yield f"all {number}", np.full_like(a, number)
            for place in {0, a.size // 2, a.size - 1} if a.size else ():
                one = a.copy()
                one.reshape(-1)[place] = number
                yield f"number {place} is {number}", one


def apart(task: Callable[[], Outcome], what: str) -> Outcome:
    """The outcome of a task in a fork of this process; if it dies, that is the outcome."""
    out, into = os.pipe()
    child = os.fork()
    if not child:
        os.close(out)
        try:
            with os.fdopen(into, "w") as stream:
                stream.write(json.dumps(asdict(task())))
        finally:
            os._exit(0)
    os.close(into)
    with os.fdopen(out) as stream:
        told = stream.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status or not told:
        return failed(f"{what}: the interpreter ended with {status}")
    found = json.loads(told)
    return Outcome(found["tries"], found["refused"], found["survived"], tuple(found["failures"]))


def fuzz_all(pairs: int = 100, most: int = 3, told: bool = False) -> Outcome:
    """Every bound function, each in a process of its own. A function that the package never calls is a failure."""
    calls, never = recorded(most)
    total = sum((failed(f"{name}: no call of it was recorded") for name in never), NOTHING)
    for name, known in calls.items():
        found = apart(lambda name=name, known=known: fuzz(name, known, pairs), name)
        total += found
        if told:
            print(
                f"{name}: {found.tries} calls, {found.refused} refused",
                *found.failures,
                sep="\n  ",
                flush=True,
            )
    return total


if __name__ == "__main__":
    sys.exit(1 if fuzz_all(*map(int, sys.argv[1:]), told=True).failures else 0)
