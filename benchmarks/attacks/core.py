"""Attacks on the compiled core and on what stands before it: sparse matrices whose indices lie, threads that are refused."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.attacks import NOTHING, REFUSED, Attack, Outcome, failed, survey_apart, verdict
from benchmarks.attacks import _doors as doors
from benchmarks.attacks._matrices import clean, damaged, odd
from benchmarks.attacks._threads import with_few_threads

HERE = __name__


def same(found: Any, wanted: Any) -> None:
    """Raises AssertionError where an answer differs by more than rounding."""
    dense = [x.toarray() if sp.issparse(x) else np.asarray(x) for x in (found, wanted)]
    if dense[1].dtype.kind in "fiub":
        np.testing.assert_allclose(*dense, rtol=1e-6, atol=1e-6)
    else:
        np.testing.assert_array_equal(*dense)


def refusal(name: str, door: doors.Door, X: Any) -> Outcome:
    """A matrix that leads out of its memory has no right answer."""
    outcome = verdict(name, lambda: door(X))
    return failed(f"{name}: not refused") if outcome.survived else outcome


def _group(group: str) -> dict[str, doors.Door]:
    return dict(getattr(doors, group)())


def against_damage(group: str, door: str) -> Outcome:
    """Every damaged matrix at one door."""
    call = _group(group)[door]
    return sum((refusal(f"{door}: {name}", call, X) for name, X in damaged()), NOTHING)


def of_odd_ones(group: str, door: str) -> Outcome:
    """Every odd matrix at one door: the answer is that of the plain one. A model of dense rows may refuse all of them."""
    call = _group(group)[door]
    name = door.split(".")[0]
    if name in doors.ESTIMATORS and not doors.takes_sparse(name):
        return sum((verdict(f"{door}: {how}", lambda X=X: call(X)) for how, X in odd()), NOTHING)
    wanted = call(clean())
    return sum((verdict(f"{door}: {how}", lambda X=X: same(call(X), wanted)) for how, X in odd()), NOTHING)


def at_all(function: str, group: str) -> Outcome:
    """One attack at all doors of a group, each in an interpreter of its own: some may die, the others are still seen."""
    return sum((survey_apart(HERE, function, group, door) for door in _group(group)), NOTHING)


def crafted_files(folder: str) -> Outcome:
    """Damaged matrices as .npz, read as data."""
    from nearline.data import read

    total = NOTHING
    for name, X in damaged(("matrix",)):
        path = Path(folder) / "crafted.npz"
        if not _saved(path, X):
            continue
        total += refusal(f"npz: {name}", lambda at: read(at), path)
    return total


def _saved(path: Path, X: Any) -> bool:
    """Written as SciPy does it, but without SciPy, which would look at the parts. Only formats that SciPy writes."""
    names = {
        **dict.fromkeys(("csr", "csc", "bsr"), ("indices", "indptr", "data")),
        "coo": ("row", "col", "data"),
        "dia": ("offsets", "data"),
    }.get(X.format, ())
    try:
        arrays = {name: np.asarray(getattr(X, name)) for name in names}
    except IndexError:  # nothing to write
        return False
    if not arrays or any(a.dtype == object for a in arrays.values()):
        return False
    np.savez(path, format=np.array(X.format.encode()), shape=np.array(X.shape), **arrays)
    return True


def by_command(folder: Path) -> Outcome:
    """The same through `nearline try`: exit code 2 and a sentence, or it is a failure."""
    import subprocess
    import sys

    total = NOTHING
    for name, X in list(damaged(("matrix",)))[::12]:
        path = folder / "crafted.npz"
        if not _saved(path, X):
            continue
        command = [sys.executable, "-m", "nearline.cli", "try", str(path), "--target", "first"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120)
        told = done.returncode in (1, 2) and "Traceback" not in done.stderr
        total += REFUSED if told else failed(f"try {name}: exit {done.returncode}: {done.stderr[-200:]}")
    return total


def attacks() -> Iterator[Attack]:
    for group, what in (
        ("estimators", "every estimator"),
        ("functions", "Index, Risk and other functions"),
        ("newer", "learned distances, curves, reasons, blocks"),
        ("others", "labels, weights, payloads, texts, embeddings"),
        ("contests", "TryThemAll"),
    ):
        yield Attack(
            f"damaged sparse matrices: {what}", lambda _, group=group: at_all("against_damage", group)
        )
    for group, what in (
        ("estimators", "every estimator"),
        ("functions", "other functions"),
        ("newer", "learned distances, curves, reasons, blocks"),
    ):
        yield Attack(f"odd sparse matrices: {what}", lambda _, group=group: at_all("of_odd_ones", group))
    yield Attack(
        "damaged .npz files: nearline.data", lambda folder: survey_apart(HERE, "crafted_files", str(folder))
    )
    yield Attack("damaged .npz files: nearline try", by_command)
    yield Attack(
        "spoiled arguments of every bound function",
        lambda _: survey_apart("benchmarks.attacks._bindings", "fuzz_all", seconds=3600.0),
    )
    yield Attack("refused threads", lambda _: with_few_threads())
