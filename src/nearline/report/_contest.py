"""Facts of a contest: data, split, leaderboard, curves, timing, how to repeat it."""

import platform
import shlex
import sys
from collections import Counter
from importlib.metadata import PackageNotFoundError, version
from pathlib import PurePath
from typing import Any

import numpy as np

import nearline
from nearline.report._plain import rounded
from nearline.selection.leaderboard import OPTIMISTIC, Entry, Leaderboard
from nearline.selection.locked_test import as_holdout
from nearline.selection.scoring import SCORERS
from nearline.selection.test_result import TestResult
from nearline.selection.try_all import TryThemAll

PACKAGES = ("numpy", "scipy", "scikit-learn", "pandas", "polars")
FEWEST_POINTS = 3  # of a curve
UNSAID = ("progress", "journal")  # parameters that change nothing in the result


def data_facts(contest: TryThemAll, opened: TestResult | None, source: dict[str, Any]) -> dict[str, Any]:
    """What the rows are, and how many of each class there are. Of locked rows nothing but their number is said."""
    counts_of = contest.training_counts_
    tested = contest.opened_part() if opened is not None else None
    classes = contest.classes_ if tested is None else np.unique(np.concatenate([contest.classes_, tested[1]]))
    n_test = None if contest.test_rows_ is None else len(contest.test_rows_)
    n_test = n_test if opened is None else opened.n_rows
    in_training = np.zeros(len(classes), dtype=np.int64)
    in_training[np.searchsorted(classes, contest.classes_)] = counts_of
    in_test = None
    if tested is not None:
        in_test = np.bincount(np.searchsorted(classes, tested[1]), minlength=len(classes))
    counts = [
        {"class": label, "training": in_training[c], "test": None if in_test is None else in_test[c]}
        for c, label in enumerate(classes.tolist())
    ]
    known = ("data", "target", "fingerprint", "columns", "description", "kind")
    return {name: source.get(name) for name in known} | {
        "rows": source.get("rows", int(counts_of.sum()) + (n_test or 0)),
        "training_rows": int(counts_of.sum()),
        "test_rows": n_test,
        "features": contest.n_features_in_,
        "classes": counts,
    }


def split_facts(contest: TryThemAll) -> dict[str, Any]:
    """How rows were divided."""
    holdout = as_holdout(contest.test)
    share = None if holdout is None else holdout.rows
    return {
        "kind": contest.split_,
        "folds": len(contest.best_.scores[contest.leaderboard_.primary.name]),
        "test": "own rows" if holdout is not None and holdout.own else share,
        "random_state": contest.random_state,
    }


def model_facts(contest: TryThemAll) -> dict[str, Any]:
    """The candidate that was fitted."""
    chosen = contest.chosen_
    return _entry_facts(contest.leaderboard_, chosen) | {
        "name": str(chosen),
        "choice": contest.choose,
        "calibration": contest.calibration_,
        "classes": contest.classes_.tolist(),
    }


def leaderboard_facts(contest: TryThemAll) -> dict[str, Any]:
    """All candidates, best first, and the best of each family with its score on every fold."""
    board = contest.leaderboard_
    best = board.best_of_families()
    alike = {id(entry) for entry in board.equals_of_best(best)}
    all_alike = {id(entry) for entry in board.equals_of_best()}
    name = board.primary.name
    return {
        "score": name,
        "note": OPTIMISTIC,
        "is_accuracy": board.primary.score is SCORERS["accuracy"].score,
        "larger_is_better": board.primary.sign > 0,
        "scores": [scorer.name for scorer in board.scorers],
        "titles": {scorer.name: scorer.title for scorer in board.scorers},
        "families": [
            _entry_facts(board, entry)
            | {"not_distinguishable": id(entry) in alike, "folds": rounded(entry.scores[name], 6)}
            for entry in best
        ],
        "candidates": [
            _entry_facts(board, entry)
            | {"rank": rank + 1, "not_distinguishable": id(entry) in all_alike, "note": entry.note}
            for rank, entry in enumerate(board)
        ],
        "skipped": [vars(one) for one in board.skipped],
        "interrupted": contest.interrupted_,
        "nested": getattr(contest, "nested_", None),
        "reference": None
        if board.outside is None
        else board.outside.facts() | _reference(board, board.outside.entry),
    }


def _reference(board: Leaderboard, entry: Entry | None) -> dict[str, Any]:
    """The outside reference as a line of the leaderboard; nothing where it was not fitted."""
    if entry is None:
        return {"line": None}
    folds = rounded(entry.scores[board.primary.name], 6)
    return {"line": _entry_facts(board, entry) | {"folds": folds, "not_distinguishable": False}}


def _entry_facts(board: Leaderboard, entry: Entry) -> dict[str, Any]:
    return {
        "family": entry.family,
        "representation": entry.representation,
        "parameters": {
            k: v for k, v in entry.parameters.items() if k != "metric" or ", " not in entry.family
        },
        "scores": {
            scorer.name: {
                "mean": board.mean(entry, scorer.name),
                "deviation": rounded(board.deviation(entry, scorer.name), 6),
                "error": rounded(board.error(entry, scorer.name), 6),
            }
            for scorer in board.scorers
        },
        "fit_seconds": rounded(entry.fit_seconds, 3),
        "predict_seconds": rounded(entry.predict_seconds, 3),
        "bytes": entry.size,
        "grid_end": [{"parameter": one.parameter, "end": one.place, "why": one.why} for one in entry.edges],
    }


def curve_facts(contest: TryThemAll) -> list[dict[str, Any]]:
    """The path of each family's best candidate: scores over k, alpha, ..., the best, and the one-standard-error choice."""
    board = contest.leaderboard_
    found = [_curve(contest, entry) for entry in board.best_of_families() if entry.path is not None]
    return [curve for curve in found if len(curve["values"]) >= FEWEST_POINTS]


def _curve(contest: TryThemAll, best: Entry) -> dict[str, Any]:
    board, path = contest.leaderboard_, str(best.path)
    name = board.primary.name
    mates = sorted(board.mates(best), key=lambda one: one.parameters[path])
    # An undefined score has no place on a curve.
    mates = [one for one in mates if np.isfinite(one.scores[name]).all()]
    others = {key: value for key, value in best.parameters.items() if key not in (path, "metric")}
    chosen = contest.chosen_
    return {
        "family": best.family,
        "representation": best.representation,
        "others": others,
        "parameter": path,
        "values": [one.parameters[path] for one in mates],
        "mean": [board.mean(one) for one in mates],
        "deviation": [board.deviation(one) for one in mates],
        "error": [board.error(one) for one in mates],
        "folds": [rounded(one.scores[name]) for one in mates],
        "best": best.parameters[path],
        "one_standard_error": board.one_standard_error(best).parameters[path],
        "chosen": chosen.parameters[path] if any(one is chosen for one in mates) else None,
    }


def timing_facts(contest: TryThemAll, source: dict[str, Any]) -> dict[str, Any]:
    """Where the time went: every second charged once, so that the parts add up to the whole."""
    account = contest.leaderboard_.account
    if account is None:
        return {"seconds": source.get("seconds"), "charged": []}
    tried = Counter(entry.family for entry in contest.leaderboard_)
    charged = [
        {
            "payer": one["payer"],
            "seconds": rounded(one["seconds"], 4),
            "shared": {name: rounded(seconds, 4) for name, seconds in one["shared"].items()},
            "candidates": tried.get(one["payer"]),
        }
        for one in account.records()
    ]
    return {"seconds": rounded(account.total, 4), "charged": charged}


def reproduce_facts(contest: TryThemAll, source: dict[str, Any]) -> dict[str, Any]:
    """Versions, and the command or the call that gives the same again."""
    versions = {"nearline": nearline.__version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {
        "command": source.get("command"),
        "call": _call(contest),
        "random_state": contest.random_state,
        "versions": versions,
        "system": f"{platform.system()} {platform.machine()}, {sys.implementation.name}",
    }


def _call(contest: TryThemAll) -> str:
    """The contest in Python, with the parameters that differ from those it has by default."""
    usual = TryThemAll().get_params(deep=False)
    given = contest.get_params(deep=False)
    own = [f"{k}={_written(k, v)}" for k, v in given.items() if k not in UNSAID and not _same(v, usual[k])]
    return f"TryThemAll({', '.join(own)}).fit(X, y)"


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and repr(one) == repr(other)


def _written(name: str, value: Any) -> str:
    """A pair of test rows is named, not spelled out."""
    return "(X_test, y_test)" if name == "test" and isinstance(value, (tuple, list)) else repr(value)[:200]


def title_of(source: dict[str, Any]) -> str:
    """The name of the data, if it is known."""
    data = source.get("data")
    return PurePath(str(data)).name or str(data) if data else "Report"


def command_line(source: dict[str, Any]) -> str | None:
    """The command as one line."""
    command = source.get("command")
    return command if command is None or isinstance(command, str) else shlex.join(map(str, command))
