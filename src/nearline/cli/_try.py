"""``nearline try``: read, lock, try them all, test once, write."""

import sys
import time
import warnings
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from nearline import num_threads
from nearline._records.refused import check_choice
from nearline._records.visible import visible
from nearline.cli._big import blocks_of, check_saved, is_big, table_of
from nearline.cli._costs import costs_of
from nearline.cli._ending import Ending
from nearline.cli._errors import STOPPED, TooShortError, UsageError, as_usage, folds_of
from nearline.cli._features import as_features, as_shaped, reading_for
from nearline.cli._journal import check_journal, journal_for
from nearline.cli._numbers import ContestRows, FileRows
from nearline.cli._output import Output, check_folder
from nearline.cli._positive import label_of
from nearline.cli._reading import Reading, features_of, ordered, show
from nearline.cli._shown import described, print_json
from nearline.cli._tried import Request, facts_of, late_families, show_outcome, show_written, source_of
from nearline.data import DataError, Table
from nearline.selection.choice import TimeLimitError
from nearline.selection.families import families
from nearline.selection.folds import LeakageWarning
from nearline.selection.input import check_words
from nearline.selection.locked_test import REFITS, as_holdout
from nearline.selection.openings import check_record
from nearline.selection.scoring import as_scorers
from nearline.selection.try_all import InterruptedFitWarning, TryThemAll


def run_try(request: Request) -> int:
    """Do it all; what a person reads goes to standard output, or only JSON if that is asked for."""
    _check(request)
    if is_big(request):
        return _in_pieces(request)
    features = as_features(request)
    request = replace(request, reading=reading_for(request, features))
    table = request.reading.labeled(request.data)
    X, y, groups, order = ordered(table, request.groups, request.time)
    test: Any = None if request.test == "none" else _test(request, table)
    check_journal(request.out, resume=request.resume, force=request.force)
    check_folder(request.out, request.force or request.resume)  # what is wrong with the data is said first
    if not request.json:
        show(table)
    with journal_for(request.out, resume=request.resume) as journal:
        X = as_shaped(X, table, features, request.preset)
        return _held(request, table, (X, y, groups, order), test, journal, features)


def _contest(request: Request, y: Any, test: Any, journal: Path | None, features: Any) -> TryThemAll:
    return TryThemAll(
        request.preset,
        features=features,
        include=request.include,
        exclude=request.exclude,
        scoring=request.scoring,
        pos_label=label_of(request.positive, y),
        costs=costs_of(request.costs, y),
        threshold=request.decision,
        time_limit=request.time_limit,
        progress="auto" if sys.stderr.isatty() and not (request.quiet or request.json) else "silent",
        journal=journal,
        random_state=request.random_state,
        **request.settings.parameters(
            y, test, "time" if request.time else "auto", folds_of(request.folds), request.preset
        ),
    )


def _in_pieces(request: Request) -> int:
    """The same of rows that memory does not hold, or that a cluster does."""
    with blocks_of(request) as (rows, found):
        if not request.json:
            print(f"\n{described(found.description)}\n", flush=True)
        test = None if request.test == "none" else float(request.test)
        contest = _contest(request, found.labels, test, None, None)
        seconds = _fit(request, contest, rows, rows, None)
        table = table_of(contest, found)
        check_saved(contest)
        return _outcome(request, table, contest, None, None, seconds)


def _held(
    request: Request, table: Table, rows_of: tuple[Any, ...], test: Any, journal: Path | None, features: Any
) -> int:
    """The contest, its test and its files."""
    X, y, groups, order = rows_of
    contest = _contest(request, y, test, journal, features)
    seconds = _fit(request, contest, X, y, groups)
    _check_tried(request, contest)
    if request.time:  # the rows were put in order by it; other dates need not be
        contest.findings_ = [one for one in contest.findings_ if one.name != "time-order"]
    return _outcome(request, table, contest, order, journal, seconds)


def _outcome(
    request: Request, table: Table, contest: TryThemAll, order: Any, journal: Path | None, seconds: float
) -> int:
    """The test of what was chosen, what is said of it, and the files."""
    ending, result = Ending(contest.interrupted_), None
    if contest.test is not None and contest.has_model:
        result = ending.attempt("the test", lambda: contest.open_test(request.openings))
    rows = _rows(request, table, contest, order)
    contest.findings_ = [rows.finding(one) for one in contest.findings_]
    facts = facts_of(request, table, contest, result, seconds, rows)
    output = Output(request.out, contest, result, facts, source_of(request, table, facts, rows), ending)
    output.journal = journal
    if not request.json:  # before anything is written, which may fail
        show_outcome(request, contest, result, seconds, facts, rows)
    ending.insist(output.write)
    if request.json:
        print_json(output.clean)
    else:
        show_written(request, output)
    if output.failure is not None:
        said = str(output.failure) or type(output.failure).__name__
        raise DataError(f"The model was not saved, all else was: {said}") from output.failure
    return STOPPED if ending.interrupted else 0


def _check(request: Request) -> None:
    """Refuse options that no data could make right, before data are read."""
    folds_of(request.folds)
    if request.time_limit is not None and not request.time_limit > 0:
        raise UsageError(f"--time-limit must be a number of seconds > 0, got {request.time_limit:g}.")
    if request.groups is not None and request.time is not None:
        raise UsageError(
            "--groups and --time exclude each other: later rows are of groups that were there before, so that groups would "
            "be on both sides. Give --groups to test on groups never seen, or --time to test on later rows."
        )
    settings = request.settings
    with as_usage():
        check_words(settings.choose, settings.calibration, request.decision)
        check_choice("refit", settings.refit, REFITS)
        as_scorers(request.scoring)
        if request.openings is not None:
            check_record(request.openings)
        if not families(request.preset, request.include, request.exclude):
            raise UsageError("--exclude leaves out every family: leave one in.")


def _fit(request: Request, contest: TryThemAll, X: Any, y: Any, groups: Any) -> float:
    """Hold the contest; the seconds that it took."""
    began = time.perf_counter()
    with num_threads(request.jobs) if request.jobs else nullcontext(), warnings.catch_warnings():
        for said_below in (LeakageWarning, InterruptedFitWarning):
            warnings.simplefilter("ignore", said_below)
        try:
            contest.fit(X, y, groups)
        except TimeLimitError as error:
            raise TooShortError(str(error)) from error
    account = contest.leaderboard_.account
    return time.perf_counter() - began if account is None else account.total


def _check_tried(request: Request, contest: TryThemAll) -> None:
    """A model that does not look at the rows is no success of a contest that had no time for others."""
    trivial = {one.name for one in families(request.preset, request.include, request.exclude) if one.trivial}
    if late_families(contest) and all(entry.family in trivial for entry in contest.leaderboard_):
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


def _rows(request: Request, table: Table, contest: TryThemAll, order: Any) -> ContestRows:
    """What the rows are called."""
    most = len(table) + table.description.unlabeled
    own = None
    test = as_holdout(contest.test)
    if test is not None and contest.test_rows_ is None:
        reading = Reading(request.reading.target, options=request.reading.options)
        own = FileRows(Path(request.test), reading, len(test.rows[1]), table.schema)
    return ContestRows(contest, order, table, FileRows(request.data, request.reading, most), own)
