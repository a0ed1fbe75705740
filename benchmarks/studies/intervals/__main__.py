"""python -m benchmarks.studies.intervals: measure coverage and false rejections, write the page docs/interval-study.md."""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.studies.intervals import comparisons, dependent, independent
from benchmarks.studies.intervals.populations import Rng

PAGE = Path(__file__).resolve().parents[3] / "docs" / "interval-study.md"
AREAS = " | ".join(f"AUC {area:g}" for area in independent.AREAS)
LOSSES = " | ".join(f"{loss} at AUC {area}" for area in (0.6, 0.9, 0.97) for loss in ("log-loss", "Brier"))
RECALLS = " | ".join(f"{a:g} and {b:g}" for a, b in independent.RECALLS)
Rows = Callable[[Rng, int], Iterator[list[str]]]

# title, columns, rows, and which part of the sets is drawn
TABLES: tuple[tuple[str, str, Rows, float], ...] = (
    (
        "Accuracy (exact sums; last column: the worst of all accuracies from 0.5 to 0.9999)",
        "rows | " + " | ".join(f"{p:g}" for p in independent.ACCURACIES) + " | worst",
        independent.accuracy_rows,
        1.0,
    ),
    (
        "Balanced accuracy, by the shares found of the rare and of the other class (exact sums)",
        f"rare rows | {RECALLS}",
        independent.balanced_rows,
        1.0,
    ),
    (
        "Balanced accuracy of several classes, by the share found of each",
        "rows of the classes | 0.6 | 0.75 | 0.9 | 0.97 | 0.99",
        independent.recall_rows,
        1.0,
    ),
    ("AUC, two normal classes of equal spread", f"rare rows | {AREAS}", independent.area_rows, 1.0),
    (
        "AUC, the rare class spread 1.5 times as widely",
        f"rare rows | {AREAS}",
        independent.wider_rows,
        1.0,
    ),
    (
        "AUC, the rare class spread 2/3 as widely",
        f"rare rows | {AREAS}",
        independent.narrower_rows,
        1.0,
    ),
    ("AUC of several classes", f"rows of the classes | {AREAS}", independent.several_rows, 1.0),
    (
        "Log-loss and Brier score, by how sure the probabilities are; class sizes by chance",
        f"rare rows, on average | probabilities | {LOSSES}",
        independent.loss_rows,
        1.0,
    ),
    (
        "Accuracy by groups, by correlation within groups",
        "groups | rows each | accuracy | 0.02 | 0.1 | 0.4 | at 0.4 without groups",
        dependent.grouped_rows,
        1.0,
    ),
    (
        "Accuracy in time, by correlation from row to row",
        "rows | accuracy | 0 | 0.5 | 0.8 | 0.9 | at 0.9 without blocks",
        dependent.time_rows,
        1.0,
    ),
    (
        "Other scores by groups and in time (a fifth of the rows is of the rare class; fewer sets)",
        "rows | noise in common, or correlation | true AUC | balanced accuracy | AUC | log-loss | Brier",
        dependent.dependent_rows,
        0.2,
    ),
    *comparisons.TABLES,
    (
        "AUC, a share of the rare class told from the other by chance alone, the rest perfectly",
        "rare rows | " + " | ".join(f"{share:.0%} lost" for share in independent.LOST),
        independent.lost_rows,
        1.0,
    ),
)


def table(number: int, n_sets: int, seed: int) -> str:
    """One of the tables as Markdown."""
    title, header, rows, part = TABLES[number]
    lines = rows(np.random.default_rng([seed, number]), max(1, round(part * n_sets)))
    head = f"## {title}\n\n| {header} |\n|{'---|' * len(header.split(' | '))}"
    return "\n".join([head, *(f"| {' | '.join(line)} |" for line in lines)])


def main(arguments: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser(prog="python -m benchmarks.studies.intervals", description=__doc__)
    p.add_argument("--sets", type=int, default=5000, help="test sets a cell (default 5000)")
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--processes", type=int, default=1)
    p.add_argument("--out", type=Path, default=PAGE)
    p.add_argument(
        "--only", default="", metavar="TITLE", help="print the tables whose titles begin so; write no page"
    )
    args = p.parse_args(arguments)
    began = time.perf_counter()
    if args.only:
        chosen = [number for number, (title, *_) in enumerate(TABLES) if title.startswith(args.only)]
        print("\n\n".join(table(number, args.sets, args.seed) for number in chosen))
        return 0
    error = np.sqrt(0.05 * 0.95 / args.sets)
    texts = [
        f"# What the intervals cover\n\nWritten by `python -m benchmarks.studies.intervals --sets {args.sets}`.\n"
        f"Cells are the coverage of 95% intervals, their mean width in parentheses, from {args.sets:,} test sets\n"
        f"unless a title says otherwise (Monte-Carlo standard error {error:.4f}). True values are closed forms,\n"
        "integrals, or scores of a million rows. Settings without an interval, for too few rows of a class, are left\n"
        "out. [Try them all](try-them-all.md) says what follows.\n"
    ]
    with ProcessPoolExecutor(args.processes) as pool:
        for text in pool.map(partial(table, n_sets=args.sets, random_state=args.seed), range(len(TABLES))):
            print(f"{text}\n", flush=True)
            texts.append(text + "\n")
    args.out.write_text("\n".join(texts))
    print(f"{time.perf_counter() - began:.0f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
