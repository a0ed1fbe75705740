"""``nearline try``: read, lock, try them all, test once, write."""

import csv
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

from nearline import __version__, num_threads, save
from nearline.data import DataError, Table, read
from nearline.selection.opened import Opened, fingerprint
from nearline.selection.try_all import LeakageWarning, TryThemAll
from nearline.whole import written_whole


@dataclass(frozen=True)
class Request:
    """The options of a command."""

    data: Path
    target: str | None
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


def run_try(request: Request) -> None:
    """Do it all; what a person reads goes to standard output, or only JSON if that is asked for."""
    _check_folder(request)
    table = read(request.data, request.target)
    if table.y is None:
        raise DataError(f"Which column holds the labels? Give --target, one of: {_columns(table)}.")
    X, y, groups = _rows(table, request)
    if not request.json:
        print(table.description, end="\n\n")
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
        progress="silent" if request.quiet or request.json else "auto",
        seed=request.seed,
    )
    began = time.perf_counter()
    with num_threads(request.jobs) if request.jobs else nullcontext(), warnings.catch_warnings():
        warnings.simplefilter("ignore", LeakageWarning)  # printed below, with the notes
        contest.fit(X, y, groups)
    seconds = time.perf_counter() - began
    result = None if test is None else contest.open_test()
    facts = _facts(request, table, contest, result, seconds)
    _write(request, contest, facts)
    if request.json:
        print(json.dumps(facts, default=str))
    else:
        _show(request, contest, result, seconds)


def _check_folder(request: Request) -> None:
    if (
        request.out.exists()
        and (not request.out.is_dir() or any(request.out.iterdir()))
        and not request.force
    ):
        raise DataError(
            f"{request.out} has files already: give another --out, or --force to write over them."
        )


def _columns(table: Table) -> str:
    names = [column.name for column in table.description.columns]
    return ", ".join(names[:30]) or "none (give a label file, or folders by class)"


def _rows(table: Table, request: Request) -> tuple[Any, Any, Any]:
    """X, y and groups, in the order of time if there is one."""
    X, y, groups = table.X, table.y, None
    for name in (request.groups, request.time):
        if name is not None and name not in getattr(X, "columns", []):
            raise DataError(f"There is no column {name!r}; there are: {_columns(table)}.")
    if request.groups is not None:
        groups = X[request.groups].to_numpy()
        X = X.drop(request.groups)
    if request.time is not None:
        order = np.asarray(X[request.time].arg_sort())
        X, y = X[order].drop(request.time), np.asarray(y)[order]
        groups = None if groups is None else groups[order]
    return X, y, groups


def _test(request: Request, table: Table) -> Any:
    try:
        return float(request.test)
    except ValueError:
        pass
    other = read(Path(request.test), request.target, like=table)
    if other.y is None:
        raise DataError(f"{request.test} has no labels to test on: name them with --target.")
    X = other.X if request.groups is None else other.X.drop(request.groups)
    return X, other.y


def _facts(
    request: Request, table: Table, contest: TryThemAll, result: Opened | None, seconds: float
) -> dict[str, Any]:
    """Everything that was found, as JSON."""
    schema = table.schema
    return {
        "command": shlex.join(["nearline", *sys.argv[1:]]),
        "data": str(request.data),
        "rows": table.description.rows,
        "fingerprint": fingerprint(table.X, np.asarray(table.y)),
        "target": table.description.target,
        "columns": None if schema.columns is None else dict(schema.columns),
        "features": schema.n_features,
        "classes": contest.classes_.tolist(),
        "model": str(contest.chosen_),
        "representation": contest.chosen_.representation,
        "cross_validation": {
            s.name: contest.leaderboard_.mean(contest.chosen_, s.name) for s in contest._scorers
        },
        "candidates": len(contest.leaderboard_),
        "findings": [vars(finding) for finding in contest.findings_],
        "skipped": [vars(one) for one in contest.leaderboard_.skipped],
        "interrupted": contest.interrupted_,
        "test": None if result is None else _test_facts(result),
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


def _write(request: Request, contest: TryThemAll, facts: dict[str, Any]) -> None:
    request.out.mkdir(parents=True, exist_ok=True)
    clean = json.loads(json.dumps(facts, default=str).replace("NaN", "null"))
    save(contest.model_, request.out / "model.nearline", facts=clean)
    records = contest.leaderboard_.records()
    lines = [
        {k: json.dumps(v, default=str) if isinstance(v, (dict, list)) else v for k, v in r.items()}
        for r in records
    ]
    _replace(request.out / "leaderboard.csv", lines)
    _replace(request.out / "result.json", clean)


def _replace(path: Path, content: Any) -> None:
    with written_whole(path, "w", newline="", encoding="utf-8") as file:
        if path.suffix == ".json":
            json.dump(content, file, indent=1)
        else:
            writer = csv.DictWriter(file, list(content[0]))
            writer.writeheader()
            writer.writerows(content)


def _show(request: Request, contest: TryThemAll, result: Opened | None, seconds: float) -> None:
    print(contest.leaderboard_)
    print(f"\n{len(contest.leaderboard_)} candidates in {seconds:.1f} s")
    if contest.interrupted_:
        print("interrupted: what had finished is shown, and the best of it was fitted")
    for finding in contest.findings_:
        print(f"{finding.severity}: {finding.subject}: {finding.message} {finding.remedy}")
    if result is not None:
        print(f"\n{result}")
    model = request.out / "model.nearline"
    print(f"\nwritten: {model}, {request.out / 'leaderboard.csv'}, {request.out / 'result.json'}")
    print(f"predict with: nearline predict {shlex.quote(str(model))} NEW_DATA")
