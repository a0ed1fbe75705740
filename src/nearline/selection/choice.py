"""The choice of a candidate among those of a leaderboard, or why there is none to choose."""

import numpy as np

from nearline._records.words import worded
from nearline.selection.leaderboard import Entry, Leaderboard


class TimeLimitError(ValueError):
    """No candidate could be finished within the time limit."""


def check_any(board: Leaderboard, time_limit: float | None) -> None:
    """Refuse a leaderboard without candidates, or without a score that decides."""
    if not len(board):
        if any(one.late for one in board.skipped):
            quick = worded('preset="quick"', "--preset quick")
            raise TimeLimitError(
                f"No candidate could be finished on all folds within the time limit of {time_limit:g} s: "
                f"give more time, fewer rows, or {quick}."
            )
        reasons = "; ".join(f"{one.family}: {one.reason}" for one in board.skipped)
        raise ValueError(f"No family could be tried on these data. {reasons or 'None was chosen.'}")
    if np.isnan(board.mean(board.best)):
        raise ValueError(
            f"The score {board.primary.name!r} is undefined for every candidate, on some fold at least: rare classes "
            "may be missing there, or no family gives probabilities. Choose another scoring, or fewer folds."
        )


def chosen_of(board: Leaderboard, choose: str) -> Entry:
    """The best mean, or the simplest model of its path within one standard error."""
    return board.one_standard_error(board.best) if choose == "one-se" else board.best


def not_in_time(chosen: Entry, time_limit: float | None) -> TimeLimitError:
    """The only candidate could not be fitted on all rows."""
    return TimeLimitError(
        f"The time limit of {time_limit:g} s passed before {chosen}, the only candidate, "
        "was fitted on all rows: give more time, or fewer rows."
    )
