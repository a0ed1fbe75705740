"""``nearline try``: read, lock, try them all, test once, write."""

import shlex
import sys
import time
import warnings
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from nearline import __version__, num_threads
from nearline._records.visible import visible
from nearline._records.words import many
from nearline.cli._ending import Ending
from nearline.cli._errors import STOPPED, TooShortError, UsageError, as_usage, check_least, folds_of
from nearline.cli._numbers import ContestRows, FileRows
from nearline.cli._output import Output, check_folder
from nearline.cli._positive import label_of
from nearline.cli._reading import Reading, features_of, ordered, show, without
from nearline.cli._shown import described, print_json
from nearline.data import DataError, Table
from nearline.estimators import KNeighborsClassifier
from nearline.selection.families import families
from nearline.selection.folds import LeakageWarning
from nearline.selection.leaderboard import OPTIMISTIC
from nearline.selection.locked_test import LockedTest, fingerprint
from nearline.selection.openings import check_record
from nearline.selection.scoring import as_scorers
from nearline.selection.try_all import InterruptedFitWarning, TimeLimitError, TryThemAll


@dataclass(frozen=True)
class Request:
    """The options of a command."""

    data: Path
    reading: Reading
    scoring: list[str]
    positive: str | None
    folds: str
    groups: str | None
    time: str | None
    test: str
    include: list[str] | None
    exclude: Any
    preset: str
    time_limit: float | None
    random_state: int
    jobs: int | None
    out: Path
    force: bool
    json: bool
    quiet: bool
    openings: Path | None = None  # keeps how often the test was opened


def run_try(request: Request) -> int:
    """Do it all; what a person reads goes to standard output, or only JSON if that is asked for."""
    _check(request)
    table = request.reading.labeled(request.data)
    X, y, groups, order = ordered(table, request.groups, request.time)
    test: Any = None if request.test == "none" else _test(request, table)
    check_folder(request.out, request.force)  # what is wrong with the data is said first
    if not request.json:
        show(table)
    contest = TryThemAll(
        request.preset,
        include=request.include,
        exclude=request.exclude,
        scoring=request.scoring,
        pos_label=label_of(request.positive, y),
        folds=folds_of(request.folds),
        test=test,
        split="time" if request.time else "auto",
        calibrate="needed",  # so that the model that is saved answers --proba
        time_limit=request.time_limit,
        progress="auto" if sys.stderr.isatty() and not (request.quiet or request.json) else "silent",
        random_state=request.random_state,
    )
    began = time.perf_counter()
    with num_threads(request.jobs) if request.jobs else nullcontext(), warnings.catch_warnings():
        for said_below in (LeakageWarning, InterruptedFitWarning):
            warnings.simplefilter("ignore", said_below)
        _fit(contest, X, y, groups)
    seconds = time.perf_counter() - began
    _check_tried(request, contest)
    if request.time:  # the rows were put in order by it; other dates need not be
        contest.findings_ = [one for one in contest.findings_ if one.name != "time-order"]
    ending, result = Ending(contest.interrupted_), None
    if test is not None and contest.has_model:
        result = ending.attempt("the test", lambda: contest.open_test(request.openings))
    rows = _rows(request, table, contest, order)
    contest.findings_ = [rows.finding(one) for one in contest.findings_]
    facts = _facts(request, table, contest, result, seconds, rows)
    output = Output(request.out, contest, result, facts, _source(request, table, facts, rows), ending)
    if not request.json:  # before anything is written, which may fail
        _show(request, contest, result, seconds, facts, rows)
    ending.insist(output.write)
    if request.json:
        print_json(output.clean)
    else:
        _show_written(request, output)
    if output.failure is not None:
        said = str(output.failure) or type(output.failure).__name__
        raise DataError(f"The model was not saved, all else was: {said}") from output.failure
    return STOPPED if ending.interrupted else 0


def _check(request: Request) -> None:
    """Refuse options that no data could make right, before data are read."""
    folds_of(request.folds)
    check_least("--jobs", request.jobs, 1)
    check_least("--random-state", request.random_state, 0)
    if request.time_limit is not None and not request.time_limit > 0:
        raise UsageError(f"--time-limit must be a number of seconds > 0, got {request.time_limit:g}.")
    if request.groups is not None and request.time is not None:
        raise UsageError(
            "--groups and --time exclude each other: later rows are of groups that were there before, so that groups would "
            "be on both sides. Give --groups to test on groups never seen, or --time to test on later rows."
        )
    with as_usage():
        as_scorers(request.scoring)
        if request.openings is not None:
            check_record(request.openings)
        if not families(request.preset, request.include, request.exclude):
            raise UsageError("--exclude leaves out every family: leave one in.")


def _fit(contest: TryThemAll, X: Any, y: Any, groups: Any) -> None:
    try:
        contest.fit(X, y, groups)
    except TimeLimitError as error:
        raise TooShortError(str(error)) from error


def _check_tried(request: Request, contest: TryThemAll) -> None:
    """A model that does not look at the rows is no success of a contest that had no time for others."""
    trivial = {one.name for one in families(request.preset, request.include, request.exclude) if one.trivial}
    if _late(contest) and all(entry.family in trivial for entry in contest.leaderboard_):
        raise TooShortError(
            f"--time-limit {request.time_limit:g} was too short for any model that looks at the rows, so nothing is written: "
            "give more seconds, --preset quick, or --include with a family that is quick."
        )


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
        print(f"{visible(place)}: its rows are taken as of other groups than the training rows\n")
    return features_of(other, request.groups, request.time), np.asarray(other.y)


def _facts(
    request: Request,
    table: Table,
    contest: TryThemAll,
    result: LockedTest | None,
    seconds: float,
    rows: ContestRows,
) -> dict[str, Any]:
    """Everything that was found, and what further data are read like."""
    kept = without(table, tuple({name for name in (request.groups, request.time) if name is not None}))
    schema, description = kept.schema, kept.description
    last = None
    if contest.has_model:
        last = getattr(contest.model_, "estimator_", contest.model_).steps[-1][1]
    by_rows = isinstance(last, KNeighborsClassifier) or getattr(last, "expansion_", None) is not None
    return {
        "command": shlex.join(["nearline", *sys.argv[1:]]),
        "data": str(request.data),
        "rows": description.rows,
        "rows_in_file": description.rows + description.unlabeled,
        "fingerprint": fingerprint(kept.X, np.asarray(table.y)),
        "target": description.target,
        "target_given": request.reading.target,
        "labels": request.reading.labels,
        "reading": request.reading.options,
        "columns": None if schema.columns is None else dict(schema.columns),
        "features": schema.n_features,
        "shape": list(description.shape),
        "zero_based": schema.zero_based,
        "bins": None if schema.bins is None else list(schema.bins),
        "classes": contest.classes_.tolist(),
        "positive": contest.positive_,
        "model": str(contest.chosen_),
        "calibration": contest.calibration_,
        "representation": contest.chosen_.representation,
        "cross_validation": {
            s.name: contest.leaderboard_.mean(contest.chosen_, s.name) for s in contest.leaderboard_.scorers
        },
        "cross_validation_note": OPTIMISTIC,
        "candidates": len(contest.leaderboard_),
        "findings": [finding.facts() for finding in contest.findings_],
        "skipped": [vars(one) for one in contest.leaderboard_.skipped],
        "interrupted": contest.interrupted_,
        "fitted": contest.has_model,
        "time_limit_reached": bool(_late(contest)),
        "test": None if result is None else _test_facts(result),
        # so that training rows can be shown as rows of the file
        "training_rows": rows.places[contest.training_part()[2]].tolist() if by_rows else None,
        "seconds": seconds,
        "random_state": request.random_state,
        "version": __version__,
    }


def _test_facts(result: LockedTest) -> dict[str, Any]:
    intervals = {name: asdict(interval) for name, interval in result.intervals.items()}
    return {
        "rows": result.n_rows,
        "openings": result.openings,
        "models": result.models,
        "scores": result.scores,
        "intervals": intervals,
        "majority": result.majority,
        "against": vars(result.against) | {"said": str(result.against)},
        "classes": result.classes.tolist(),
        "confusion": result.confusion.tolist(),
    }


def _rows(request: Request, table: Table, contest: TryThemAll, order: Any) -> ContestRows:
    """What the rows are called."""
    most = len(table) + table.description.unlabeled
    own = None
    if contest.test is not None and contest.test_rows_ is None:
        reading = Reading(request.reading.target, options=request.reading.options)
        own = FileRows(Path(request.test), reading, len(contest.test[1]), table.schema)
    return ContestRows(contest, order, table, FileRows(request.data, request.reading, most), own)


def _source(request: Request, table: Table, facts: dict[str, Any], rows: ContestRows) -> dict[str, Any]:
    """What the report says about where the rows come from."""
    names = ("data", "rows", "fingerprint", "target", "columns", "command", "shape", "seconds")
    kind = table.description.format
    return {name: facts[name] for name in names} | {
        "description": described(table.description),
        "kind": kind,
        "row_place": rows.place,
    }


def _late(contest: TryThemAll) -> set[str]:
    """Families that the time limit kept from finishing."""
    return {one.family for one in contest.leaderboard_.skipped if one.late}


def _fitted(contest: TryThemAll) -> str:
    if contest.has_model:
        return "fitted"
    return (
        f"not, as that takes long: for a model try again with --include {shlex.quote(contest.chosen_.family)}"
    )


def _show(
    request: Request,
    contest: TryThemAll,
    result: LockedTest | None,
    seconds: float,
    facts: dict[str, Any],
    rows: ContestRows,
) -> None:
    print(contest.leaderboard_)
    print(f"\n{many(len(contest.leaderboard_), 'candidate')} in {seconds:.1f} s")
    if contest.interrupted_:
        print(f"interrupted: what had finished is shown, and the best of it was {_fitted(contest)}")
    if facts["time_limit_reached"]:
        known = {one.name for one in families(request.preset, request.include, request.exclude)}
        late = _late(contest) & known
        finished = {entry.family for entry in contest.leaderboard_} - late
        total = len(finished | late)
        print(f"the time limit ended the contest: {len(finished)} of {total} families finished")
    if contest.calibration_ is not None:
        print(
            f"{visible(contest.chosen_.family)} gives no probabilities of its own: they come from its scores by "
            f"{contest.calibration_}, fitted to rows left out on {contest.model_.folds} folds; labels are unchanged"
        )
    if request.time is not None:
        print(visible(rows.times(request.time)))
    for finding in contest.findings_:
        print(visible(f"{finding.severity}: {finding.subject}: {finding.message} {finding.remedy}"))
    _show_drop(contest, facts["columns"])
    if result is not None:
        print(f"\n{result}")


def _show_drop(contest: TryThemAll, known: Any) -> None:
    """How to leave out the columns that should be; columns without names cannot be."""
    found = [one.columns.names for one in contest.findings_ if one.leave_out and one.columns is not None]
    names = [name for name in dict.fromkeys(chain(*found)) if name in (known or {})]
    if names:
        print(visible(f"to try again without: --drop {shlex.quote(','.join(names))}"))


def _show_written(request: Request, output: Output) -> None:
    print(f"\nwritten: {', '.join(map(visible, output.written))}")
    for note in output.notes:
        print(f"note: {visible(note)}")
    for name in output.ending.left_out:
        print(f"interrupted: {name} was left out")
    if output.failure is not None or not output.contest.has_model:
        return
    model = shlex.quote(str(request.out / "model.nearline"))
    print(visible(f"predict with: nearline predict {model} NEW_DATA"))
    print(visible(f"explain with: nearline explain {model} {shlex.quote(str(request.data))} --row 1"))
