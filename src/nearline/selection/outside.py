"""The outside reference: boosted trees on the folds of a contest, in which they have no part; is another kind better?"""

from dataclasses import dataclass
from typing import Any

from nearline._core import thread_limit
from nearline._parallel.stopping import Deadline, heeding
from nearline._records.words import worded
from nearline.representations.tree_columns import Columns, TreeColumns
from nearline.selection.cells import seconds_in, shown
from nearline.selection.contest import Contest
from nearline.selection.families.boosted import BoostedTrees, TooSlowError
from nearline.selection.leaderboard import Entry, Leaderboard

CALLED = "outside reference, not a candidate"
MODEL = "boosted trees (HistGradientBoosting of scikit-learn)"
LEAST = 10.0  # seconds that it may take where the contest took less


@dataclass(frozen=True)
class Outside:
    """What boosted trees scored, and the verdict of a paired comparison with the chosen candidate."""

    entry: Entry | None  # None: they were not fitted
    verdict: str = ""  # "better", "worse" or "alike"
    score: str = ""  # that decides
    own: float = float("nan")
    chosen: float = float("nan")  # of the chosen candidate
    seconds: float = 0.0
    reason: str = ""  # why they were not fitted

    def __str__(self) -> str:
        if self.entry is None:
            return f"{CALLED}: {MODEL}: not compared, {self.reason}."
        scores = f"{self.score} {shown(self.own)} against {shown(self.chosen)} of the chosen model"
        said = f"{CALLED}: {MODEL}, {scores} on the same folds, in {seconds_in(self.seconds)}: "
        return (
            said
            + {
                "better": "BETTER than the chosen model by a paired comparison (approximate). "
                + worded(
                    "own={...} lets such a model in.", "TryThemAll(own={...}) in Python lets such a model in."
                ),
                "alike": "not distinguishable from the chosen model by a paired comparison (approximate).",
                "worse": "worse than the chosen model by a paired comparison (approximate).",
                "": "they cannot be compared, as the score is undefined on a fold.",
            }[self.verdict]
        )

    def facts(self) -> dict[str, Any]:
        """As plain data."""
        found = {name: value for name, value in vars(self).items() if name != "entry"}
        return found | {"model": MODEL, "said": str(self)}


def outside_reference(contest: Contest, board: Leaderboard, chosen: Entry, most: float) -> Outside:
    """Boosted trees beside a contest that has been held, in at most so many seconds."""
    watch = Deadline(most)
    if most <= 0:
        return Outside(None, reason="as no time is left")
    rounds = -(-len(contest.rows.folds) // thread_limit())
    try:
        with heeding(watch):
            table = TreeColumns.of(contest.rows.X)
            trees = BoostedTrees(categories=table.categories, patience=most / rounds)
            found = contest.beside(trees, Columns(table))
    except (ValueError, TooSlowError) as error:
        found = f"as {error}"
    except KeyboardInterrupt:
        found = "as it was interrupted"
    if isinstance(found, str):
        return Outside(None, reason=found, seconds=watch.spent)
    means = board.mean(found), board.mean(chosen)
    return Outside(found, _verdict(board, found, chosen), board.primary.name, *means, watch.spent)


def _verdict(board: Leaderboard, outside: Entry, chosen: Entry) -> str:
    alike = {id(one) for one in board.equals_of_best([outside, chosen])}
    if {id(outside), id(chosen)} <= alike:
        return "alike"
    return {frozenset({id(outside)}): "better", frozenset({id(chosen)}): "worse"}.get(frozenset(alike), "")
