"""Remarks: findings about a contest that has been held, from what its candidates scored."""

from nearline._records.words import worded
from nearline.selection.checks import Finding
from nearline.selection.leaderboard import Leaderboard
from nearline.selection.trivial import Against

GRID_END, TRIVIAL = "grid-end", "no-better-than-trivial"


def grid_ends(board: Leaderboard) -> list[Finding]:
    """Families whose best candidate is the last of its grid, even after the grid went on."""
    best = [entry for entry in board.best_of_families() if entry.edges]
    if not best:
        return []
    said = [
        f"The best {edge.parameter} of {entry.family} on {entry.representation} is the {edge.place} tried, {edge.value:g} "
        f"({edge.why})."
        for entry in best
        for edge in entry.edges
    ]
    remedy = (
        "Values beyond may be better, and the place on the leaderboard too low: try them by themselves "
        f"({worded('path_scores, sweep, kernel_scores', 'nearline path, nearline sweep')}), or give more time."
    )
    return [Finding(GRID_END, "note", "; ".join(entry.family for entry in best), " ".join(said), remedy)]


def no_better(found: Against, where: str) -> list[Finding]:
    """A model that was not shown to be better than answers without a look at the features."""
    if found.better is not False:
        return []
    remedy = "Give more rows or other features; without them the model is of no use."
    if found.score == "accuracy":
        balanced = worded('scoring="balanced-accuracy"', "--scoring balanced-accuracy")
        remedy = (
            "Where the rare class matters, choose by a score that counts it: "
            f"{balanced}. "
            "Else give more rows or other features."
        )
    return [Finding(TRIVIAL, "note", where, f"The chosen model is {found}.", remedy)]
