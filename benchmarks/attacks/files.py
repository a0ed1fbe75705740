"""Attacks on files: models whose arrays or parameters were changed under right checksums, writers that are killed."""

import dataclasses
import json
import os
import resource
import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.attacks import NOTHING, Attack, Outcome, failed
from benchmarks.attacks._forgery import Good, attack, changed_arrays, changed_values
from benchmarks.attacks._kills import WRITERS, kills_of_a_file, kills_of_a_set, refused_by_a_disk
from benchmarks.attacks._models import example, examples

VALUES = 250  # changes of the header of a model that are tried: a sample of all
MEMORY = 6 * 2**30  # bytes of address space: what asks for more fails


def attacks() -> Iterator[Attack]:
    yield Attack("files: learned arrays changed", partial(_of_all, arrays_of))
    yield Attack("files: parameters and structure changed", partial(_of_all, values_of))
    for name in WRITERS:
        yield Attack(f"files: {name}, killed at every call", partial(kills_of_a_file, name))
        yield Attack(f"files: {name}, refused by a disk", partial(refused_by_a_disk, name))
    yield Attack("files: a contest over another, killed at every call", partial(kills_of_a_set, False))
    yield Attack("files: the same beside other files", partial(kills_of_a_set, True))


def _of_all(run: Callable[[str], Outcome], folder: Path) -> Outcome:
    """Each model in a process of its own: a crash ends one of them."""
    return sum((apart(run, name) for name in examples()), NOTHING)


def apart(run: Callable[[str], Outcome], name: str) -> Outcome:
    """What ``run`` finds in a copy of this process, which may die of it."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        with os.fdopen(writing, "w") as file:
            file.write(json.dumps(dataclasses.astuple(run(name))))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        said = file.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status or not said:
        return failed(f"{name}: the process ended with {status}")
    tries, refused, survived, failures = json.loads(said)
    return Outcome(tries, refused, survived, tuple(f"{name}: {one}" for one in failures))


def arrays_of(name: str, most: int | None = None) -> Outcome:
    """All changes of the arrays of a model's file, or a sample."""
    return _forged(name, most, arrays=True)


def values_of(name: str, most: int = VALUES) -> Outcome:
    """A sample of the changes of a model's header."""
    return _forged(name, most, arrays=False)


def _forged(name: str, most: int | None, *, arrays: bool) -> Outcome:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    warnings.simplefilter("ignore")
    good = Good(*example(name))
    tries = list(changed_arrays(good) if arrays else changed_values(good))
    if most is not None and len(tries) > most:
        chosen = np.random.default_rng(0).choice(len(tries), most, replace=False)
        tries = [tries[i] for i in np.sort(chosen)]
    with tempfile.TemporaryDirectory() as folder:
        return attack(good, tries, Path(folder) / "forged")
