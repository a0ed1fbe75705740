"""``nearline try``: read, lock, try them all, test once, write."""

import json
import shlex
import sys
import time
import warnings
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nearline import __version__, num_threads
from nearline.cli._errors import STOPPED, UsageError
from nearline.cli._output import Output, check_folder
from nearline.cli._reading import Reading, features_of, ordered, show, without
from nearline.data import DataError, Table
from nearline.estimators import KNeighborsClassifier
from nearline.selection.opened import Opened, fingerprint
from nearline.selection.try_all import LeakageWarning, TryThemAll


@dataclass(frozen=True)
class Request:
    """The options of a command."""

    data: Path
    reading: Reading
    metrics: list[str]
    cv: int
    groups: str | None
    time: str | None
    test: str
    include: list[str] | None
    exclude: Any
    preset: str
    time_limit: float | None
    seed: int
    jobs: int | None
    out: Path
    force: bool
    json: bool
    quiet: bool


def run_try(request: Request) -> int:
    """Do it all; what a person reads goes to standard output, or only JSON if that is asked for."""
    check_folder(request.out, request.force)
    table = request.reading.labeled(request.data)
    X, y, groups, order = ordered(table, request.groups, request.time)
    if not request.json:
        show(table)
    test: Any = None if request.test == "none" else _test(request, table)
    contest = TryThemAll(
        request.preset,
        include=request.include,
        exclude=request.exclude,
        scoring=request.metrics,
        folds=request.cv,
        test=test,
        split="time" if request.time else "auto",
        time_limit=request.time_limit,
        progress="auto" if sys.stderr.isatty() and not (request.quiet or request.json) else "silent",
        seed=request.seed,
    )
    began = time.perf_counter()
    with num_threads(request.jobs) if request.jobs else nullcontext(), warnings.catch_warnings():
        warnings.simplefilter("ignore", LeakageWarning)  # printed below, with the notes
        contest.fit(X, y, groups)
    seconds = time.perf_counter() - began
    result = None if test is None else contest.open_test()
    facts = _facts(request, table, contest, result, seconds, order)
    output = Output(request.out, contest, result, facts, _source(request, table, facts))
    output.write()
    if request.json:
        print(json.dumps(output.clean))
    else:
        _show(request, contest, result, seconds, output)
    return STOPPED if contest.interrupted_ else 0


def _test(request: Request, table: Table) -> Any:
    """A share of the rows, or rows and labels of a file of their own."""
    try:
        share = float(request.test)
    except ValueError:
        share = None
    if share is not None:
        if not 0 < share < 1:
            raise UsageError(f"--test is a share between 0 and 1, a file, or 'none', got {request.test!r}.")
        return share
    place = Path(request.test)
    if not place.exists():
        raise UsageError(
            f"--test is a share between 0 and 1, 'none', or a file, and there is no file {place}."
        )
    reading = Reading(request.reading.target, None, None, (), request.reading.options)
    other = reading.table(place, table)
    if other.y is None:
        raise DataError(f"{request.test} has no labels to test on: name them with --target.")
    if request.groups is not None and not request.json:
        print(f"{place}: its rows are taken as of other groups than the training rows\n")
    return features_of(other, request.groups, request.time), np.asarray(other.y)


def _facts(
    request: Request, table: Table, contest: TryThemAll, result: Opened | None, seconds: float, order: Any
) -> dict[str, Any]:
    """Everything that was found, and what further data are read like."""
    kept = without(table, tuple({name for name in (request.groups, request.time) if name is not None}))
    schema, description = kept.schema, kept.description
    last = contest.model_.steps[-1][1]
    by_rows = isinstance(last, KNeighborsClassifier) or getattr(last, "expansion_", None) is not None
    return {
        "command": shlex.join(["nearline", *sys.argv[1:]]),
        "data": str(request.data),
        "rows": description.rows,
        "fingerprint": fingerprint(kept.X, np.asarray(table.y)),
        "target": description.target,
        "target_given": request.reading.target,
        "labels": request.reading.labels,
        "reading": request.reading.options,
        "columns": None if schema.columns is None else dict(schema.columns),
        "features": schema.n_features,
        "shape": list(description.shape),
        "zero_based": schema.zero_based,
        "classes": contest.classes_.tolist(),
        "model": str(contest.chosen_),
        "representation": contest.chosen_.representation,
        "cross_validation": {
            s.name: contest.leaderboard_.mean(contest.chosen_, s.name) for s in contest.leaderboard_.scorers
        },
        "candidates": len(contest.leaderboard_),
        "findings": [vars(finding) for finding in contest.findings_],
        "skipped": [vars(one) for one in contest.leaderboard_.skipped],
        "interrupted": contest.interrupted_,
        "test": None if result is None else _test_facts(result),
        # so that training rows can be shown as rows of the file
        "training_rows": np.asarray(order)[contest.training_part()[2]].tolist() if by_rows else None,
        "seconds": seconds,
        "seed": request.seed,
        "version": __version__,
    }


def _test_facts(result: Opened) -> dict[str, Any]:
    intervals = {name: [interval.low, interval.high] for name, interval in result.intervals.items()}
    return {
        "rows": result.n_rows,
        "scores": result.scores,
        "intervals": intervals,
        "majority": result.majority,
        "classes": result.classes.tolist(),
        "confusion": result.confusion.tolist(),
    }


def _source(request: Request, table: Table, facts: dict[str, Any]) -> dict[str, Any]:
    """What the report says about where the rows come from."""
    names = ("data", "rows", "fingerprint", "target", "columns", "command", "shape", "seconds")
    kind = table.description.format
    return {name: facts[name] for name in names} | {"description": str(table.description), "kind": kind}


def _show(
    request: Request, contest: TryThemAll, result: Opened | None, seconds: float, output: Output
) -> None:
    print(contest.leaderboard_)
    print(f"\n{len(contest.leaderboard_)} candidates in {seconds:.1f} s")
    if contest.interrupted_:
        print("interrupted: what had finished is shown, and the best of it was fitted")
    for finding in contest.findings_:
        print(f"{finding.severity}: {finding.subject}: {finding.message} {finding.remedy}")
    leaks = [one.subject for one in contest.findings_ if one.remedy.startswith("Leave the column out")]
    if leaks:
        print(f"to try again without: --drop {shlex.quote(','.join(dict.fromkeys(leaks)))}")
    if result is not None:
        print(f"\n{result}")
    print(f"\nwritten: {', '.join(map(str, output.written))}")
    for note in output.notes:
        print(f"note: {note}")
    model = shlex.quote(str(request.out / "model.nearline"))
    print(f"predict with: nearline predict {model} NEW_DATA")
    print(f"explain with: nearline explain {model} {shlex.quote(str(request.data))} --row 1")
