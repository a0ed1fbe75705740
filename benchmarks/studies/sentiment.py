"""Sentences of the Stanford sentiment treebank, positive or negative: a contest of some representations, and its own test.

    python -m benchmarks.studies.sentiment                       # words, pairs of words and runs of characters
    python -m benchmarks.studies.sentiment words characters      # others, by name

Neutral sentences are left out, as in the published comparisons; phrases inside sentences are not learned from.
"""

import re
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.data import data_folder

LEAF = re.compile(r"\(\d ([^()]+)\)")
NEUTRAL = 2


def sentences(path: Path) -> tuple[list[str], np.ndarray]:
    """The sentences of a file of trees, and whether each is positive."""
    lines = [line for line in path.read_text("utf-8").splitlines() if int(line[1]) != NEUTRAL]
    texts = [" ".join(LEAF.findall(line)).replace("-LRB-", "(").replace("-RRB-", ")") for line in lines]
    return texts, np.array([int(line[1]) > NEUTRAL for line in lines])


def main() -> None:
    from nearline import TryThemAll

    folder = data_folder()
    if folder is None or not (folder / "sst").exists():
        raise SystemExit("The sentiment treebank is not at hand: set NEARLINE_DATA.")
    names = sys.argv[1:] or ["words-and-runs"]
    (X, y), (X_test, y_test) = (sentences(folder / "sst" / f"{part}.txt") for part in ("train", "test"))
    start = time.perf_counter()
    contest = TryThemAll(features=names, test=None, progress="silent").fit(X, y)
    took, board, chosen = time.perf_counter() - start, contest.leaderboard_, contest.chosen_
    print(f"{', '.join(names)}: {len(X):,} sentences, {len(board)} candidates, {took:.0f} s")
    for entry in board.best_of_families()[:5]:
        print(f"  {entry}, {entry.representation}: {board.mean(entry):.4f} over folds")
    right = np.mean(contest.predict(X_test) == y_test)
    print(
        f"chosen: {chosen}, {chosen.representation}; accuracy on {len(y_test):,} test sentences {right:.4f}"
    )


if __name__ == "__main__":
    main()
