"""The options of ``nearline try``, and what is said of its outcome: facts for files, lines for people."""

import shlex
import sys
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from nearline import __version__
from nearline._records.visible import visible
from nearline._records.words import many
from nearline.cli._features import by_features, extractor_facts
from nearline.cli._numbers import ContestRows
from nearline.cli._output import Output
from nearline.cli._reading import Reading, without
from nearline.cli._settings import Settings
from nearline.cli._shown import described
from nearline.data import Table
from nearline.estimators import KNeighborsClassifier
from nearline.selection.cells import shown
from nearline.selection.families import families
from nearline.selection.fingerprints import fingerprint
from nearline.selection.leaderboard import OPTIMISTIC
from nearline.selection.test_result import TestResult
from nearline.selection.try_all import TryThemAll


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
    resume: bool = False  # with what an earlier contest finished
    features: str | None = None  # names with commas
    feature_cache: Path | None = None
    settings: Settings = field(default_factory=Settings)
    memory: str | None = None  # beyond which data are read in pieces
    dask: str | None = None  # address of a scheduler
    workers: int | None = None  # of a cluster on this machine
    costs: str | None = None
    threshold: str = "auto"

    @property
    def decision(self) -> str | None:
        """What decides between two classes."""
        return None if self.threshold == "none" else self.threshold


def facts_of(
    request: Request,
    table: Table,
    contest: TryThemAll,
    result: TestResult | None,
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
        "fingerprint": None if rows.order is None else fingerprint(kept.X, np.asarray(table.y)),
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
        "rule": None
        if contest.chosen_.rule is None
        else contest.chosen_.rule.said(contest.classes_.tolist()),
        "representation": contest.chosen_.representation,
        "extractor": extractor_facts(contest) if contest.has_model else None,
        "cross_validation": {
            s.name: contest.leaderboard_.mean(contest.chosen_, s.name) for s in contest.leaderboard_.scorers
        },
        "cross_validation_note": OPTIMISTIC,
        "candidates": len(contest.leaderboard_),
        "nested": getattr(contest, "nested_", None),
        "reference": None if contest.leaderboard_.outside is None else contest.leaderboard_.outside.facts(),
        "findings": [finding.facts() for finding in contest.findings_],
        "skipped": [vars(one) for one in contest.leaderboard_.skipped],
        "interrupted": contest.interrupted_,
        "fitted": contest.has_model,
        "time_limit_reached": bool(late_families(contest)),
        "test": None if result is None else _test_facts(result),
        # so that training rows can be shown as rows of the file
        "training_rows": rows.places[contest.training_part()[2]].tolist() if by_rows else None,
        "seconds": seconds,
        "random_state": request.random_state,
        "version": __version__,
    }


def _test_facts(result: TestResult) -> dict[str, Any]:
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


def source_of(request: Request, table: Table, facts: dict[str, Any], rows: ContestRows) -> dict[str, Any]:
    """What the report says about where the rows come from."""
    names = ("data", "rows", "fingerprint", "target", "columns", "command", "shape", "seconds")
    kind = table.description.format
    return {name: facts[name] for name in names} | {
        "description": described(table.description),
        "kind": kind,
        "row_place": rows.place,
    }


def late_families(contest: TryThemAll) -> set[str]:
    """Families that the time limit kept from finishing."""
    return {one.family for one in contest.leaderboard_.skipped if one.late}


def _fitted(contest: TryThemAll) -> str:
    if contest.has_model:
        return "fitted"
    return (
        f"not, as that takes long: for a model try again with --include {shlex.quote(contest.chosen_.family)}"
    )


def show_outcome(
    request: Request,
    contest: TryThemAll,
    result: TestResult | None,
    seconds: float,
    facts: dict[str, Any],
    rows: ContestRows,
) -> None:
    print(contest.leaderboard_)
    if request.features is not None or len(getattr(contest, "row_shape_", ())) > 1:
        trivial = {
            one.name for one in families(request.preset, request.include, request.exclude) if one.trivial
        }
        lines = by_features(contest, trivial)
        print(f"\nthe best by data, {contest.leaderboard_.primary.title}:", *map(visible, lines), sep="\n")
    print(f"\n{many(len(contest.leaderboard_), 'candidate')} in {seconds:.1f} s")
    if contest.interrupted_:
        print(f"interrupted: what had finished is shown, and the best of it was {_fitted(contest)}")
    if facts["time_limit_reached"]:
        known = {one.name for one in families(request.preset, request.include, request.exclude)}
        late = late_families(contest) & known
        finished = {entry.family for entry in contest.leaderboard_} - late
        total = len(finished | late)
        print(f"the time limit ended the contest: {len(finished)} of {total} families finished")
    if contest.calibration_ is not None:
        print(
            f"{visible(contest.chosen_.family)} gives no probabilities of its own: they come from its scores by "
            f"{contest.calibration_}, fitted to rows left out on {contest.model_.folds} folds; labels are unchanged"
        )
    for name, scores in getattr(contest, "nested_", {}).items():
        print(
            f"nested cross-validation, which chooses anew on each of {len(scores)} folds: {name} {shown(scores.mean())}"
        )
    if facts["rule"] is not None:
        print(visible(f"labels: {facts['rule']}"))
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


def show_written(request: Request, output: Output) -> None:
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
