"""Figures as data: a JSON file for each contest that was held, and the pages that are made of them."""

import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks.data import ROOT
from benchmarks.harness import Contest
from benchmarks.report import Record, markdown

FOLDER = Path(__file__).parent
TABLES = ROOT / "docs" / "benchmark-tables.md"
PICTURE = ROOT / "docs" / "img" / "benchmarks.png"
TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
HEAD = """# Tables of the contests

Written by `python -m benchmarks --pages` from the data files in `benchmarks/results/`, which `python -m benchmarks --keep`
writes; each table has the command and the machine that made it. What they mean, and a summary: [benchmarks](benchmarks.md).
"""


def keep(record: Record, folder: Path = FOLDER) -> Path:
    """Write the figures of a contest in place of those before."""
    path = folder / f"{record.contest}.json"
    path.write_text(json.dumps(record.stored(), indent=1) + "\n")
    return path


def kept(contest: Contest, folder: Path = FOLDER) -> Record | None:
    """The figures of a contest, if it was held."""
    path = folder / f"{contest.name}.json"
    return Record.read(json.loads(path.read_text())) if path.exists() else None


def tables(contests: Sequence[Contest], folder: Path = FOLDER) -> str:
    """The page of all tables."""
    parts, missing = [HEAD], []
    for contest in contests:
        record = kept(contest, folder)
        if record is None:
            missing.append(f"- `{contest.name}`: {contest.title} (goal: {contest.goal})")
        else:
            parts.append(f"## {contest.name}: {contest.title}\n\n{markdown(contest, record)}\n")
    if missing:
        parts.append("## Not measured yet\n\n" + "\n".join(missing) + "\n")
    return "\n".join(parts)


def draw(contests: Sequence[Contest], path: Path = PICTURE, folder: Path = FOLDER) -> None:
    """A dot for each heat of each contest: the best peer's time over that of nearline."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    found = {}
    for contest in contests:
        record = kept(contest, folder)
        if record and contest.drawn is not None:
            contest.drawn(record, path.with_name(f"benchmarks-{contest.name}.png"))
            continue
        best = [heat.best_peer() for heat in record.heats] if record else []
        ratios = [peer.ratio for peer in best if peer is not None]
        if ratios:
            found[contest.name] = ratios
    figure, ax = plt.subplots(figsize=(8, 0.28 * len(found) + 1), layout="constrained")
    for place, ratios in enumerate(found.values()):
        ax.plot(ratios, [place] * len(ratios), "o", color="C0", alpha=0.6)
    ax.axvline(1.0, color="0.5", linewidth=1)
    ax.set(xscale="log", yticks=range(len(found)), yticklabels=list(found))
    ticks = [tick for tick in TICKS if ax.get_xlim()[0] < tick < ax.get_xlim()[1]]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
    ax.invert_yaxis()
    ax.set_xlabel("time of the best peer over that of nearline, a dot for each heat")
    ax.grid(axis="x", alpha=0.3)
    figure.savefig(path, dpi=120, metadata={"Software": None})
    plt.close(figure)
