"""How time and memory grow with the data: python -m benchmarks.studies.growth [PART ...] [--keep].

Each engine along rows, features, classes and queries: seconds (the better of two runs) and the bytes beyond the data at their
peak, each size in a process of its own, and the slopes of straight lines through their logarithms. With ``--keep`` the lines
of the parts that ran replace theirs in benchmarks/results/growth.jsonl, and docs/growth.md and its picture are made anew.
"""

import gc
import json
import multiprocessing
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.studies.growth_tasks import PARTS, Growth

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "benchmarks" / "results" / "growth.jsonl"
PAGE, PICTURE = ROOT / "docs" / "growth.md", ROOT / "docs" / "img" / "growth.png"
WORSE = 0.25  # by which a slope may exceed the best known before the page asks why
SMALL = 1e6  # bytes below which peaks are the allocator's


def measured(growth: Growth, size: int) -> tuple[float, float]:
    """Seconds and peak bytes of a size, in a process of its own."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=_run, args=(growth, size, there))
    process.start()
    there.close()
    try:
        found: tuple[float, float] = here.recv()
    finally:
        process.join()
    return found


def _run(growth: Growth, size: int, pipe: Any) -> None:
    warnings.simplefilter("ignore")
    small = growth.make(growth.sizes[0])
    small()  # what is loaded at the first call is no growth
    task = growth.make(size)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before, took = _status("VmRSS"), []
    for _ in range(2):
        began = time.perf_counter()
        task()
        took.append(time.perf_counter() - began)
    pipe.send((min(took), _status("VmHWM") - before))


def _status(name: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024.0 * float(next(line for line in lines if line.startswith(f"{name}:")).split()[1])


def slope(sizes: list[int], values: list[float]) -> float:
    """Of the line through the logarithms.

    >>> round(slope([1, 2, 4], [3.0, 12.0, 48.0]), 6)
    2.0
    """
    return float(np.polyfit(np.log(sizes), np.log(np.maximum(values, 1e-12)), 1)[0])


def record(part: str, growth: Growth) -> dict[str, Any]:
    found = [measured(growth, size) for size in growth.sizes]
    seconds, peak = ([float(f"{one[i]:.3g}") for one in found] for i in (0, 1))
    return {
        "part": part, "engine": growth.engine, "axis": growth.axis, "sizes": growth.sizes, "seconds": seconds,
        "bytes": peak, "slope": round(slope(list(growth.sizes), seconds), 2),
        "bytes slope": round(slope(list(growth.sizes), peak), 2) if min(peak) > SMALL else None, "best": growth.best,
        "why": growth.why,
    }  # fmt: skip


def main(arguments: list[str]) -> None:
    keep, parts = "--keep" in arguments, [one for one in arguments if one != "--keep"]
    unknown = [one for one in parts if one not in PARTS]
    if unknown:
        raise SystemExit(f"No part is called {unknown[0]!r}. There are: {', '.join(PARTS)}.")
    import nearline  # noqa: F401 - loaded once, for all processes

    rows = []
    for part in parts or PARTS:
        for growth in PARTS[part]:
            rows.append(record(part, growth))
            print(json.dumps(rows[-1]), flush=True)
    if keep:
        before = [json.loads(line) for line in KEPT.read_text().splitlines()] if KEPT.exists() else []
        rows += [one for one in before if one["part"] not in {row["part"] for row in rows}]
        rows.sort(key=lambda one: list(PARTS).index(one["part"]))
        KEPT.write_text("".join(json.dumps(row) + "\n" for row in rows))
        PAGE.write_text(page(rows))
        draw(rows)


def page(rows: list[dict[str, Any]]) -> str:
    """docs/growth.md."""
    out = [
        "# Growth\n",
        "How time and memory grow with the data, on two cores: seconds of the smallest and the largest size (the better",
        "of two runs), the bytes at the peak beyond the data, and the slopes of straight lines through their logarithms:",
        "1 is proportional, 2 quadratic. Fixed costs make slopes smaller than for large data, and times of milliseconds",
        "wander. Memory that a small fit before left to be used again is not in the peaks, so that small ones are too",
        "small. This page is made by `python -m benchmarks.studies.growth --keep`; the figures are in",
        "`benchmarks/results/growth.jsonl`.\n",
        "![Time over size](img/growth.png)\n",
        "| engine | along | sizes | seconds | slope | best known | peak MB | its slope |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        sizes, seconds, peak = (row[key] for key in ("sizes", "seconds", "bytes"))
        memory = "-" if row["bytes slope"] is None else f"{row['bytes slope']:.2f}"
        out.append(
            f"| {row['engine']} | {row['axis']} | {sizes[0]:,} to {sizes[-1]:,} | {seconds[0]:.3g} to {seconds[-1]:.3g} | "
            f"{row['slope']:.2f} | {row['best']:g} | {peak[0] / 1e6:.0f} to {peak[-1] / 1e6:.0f} | {memory} |"
        )
    notes = [row for row in rows if row["why"]]
    out += ["", "The best known slope is that of the work the method cannot do without:", ""]
    out += [f"- {row['engine']}, {row['axis']}: {row['why']}." for row in notes]
    worse = [row for row in rows if row["slope"] > row["best"] + WORSE]
    out += ["", "## Where it is worse\n"]
    out += [
        f"- {row['engine']}, {row['axis']}: {row['slope']:.2f} for {row['best']:g}. "
        f"{WHY.get((row['part'], row['axis']), OPEN)}"
        for row in worse
    ] or ["Nowhere by more than 0.25."]
    had = {(row["engine"], row["axis"]) for row in rows}
    lacking = [one for part in PARTS.values() for one in part if (one.engine, one.axis) not in had]
    if lacking:
        out += [
            "",
            "Not measured yet: " + "; ".join(f"{one.engine} along {one.axis}" for one in lacking) + ".",
        ]
    return "\n".join(out) + "\n"


OPEN = "The reason has not been looked for."
WHY = {
    ("kernel-svm", "classes"): "Each pair of classes is a problem of its own, C (C - 1) / 2 of them; where their time goes "
    "has not been profiled.",
}  # fmt: skip


def draw(rows: list[dict[str, Any]]) -> None:
    """A panel for each axis, a line for each engine."""
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    axes = list(dict.fromkeys(row["axis"] for row in rows))
    figure, panels = plt.subplots(
        1, len(axes), figsize=(4.2 * len(axes), 4.6), squeeze=False, layout="constrained"
    )
    engines = list(dict.fromkeys(row["engine"] for row in rows))
    for panel, axis in zip(panels[0], axes, strict=True):
        for row in (one for one in rows if one["axis"] == axis):
            label = f"{row['engine']} ({row['slope']:.2f})"
            color = f"C{engines.index(row['engine'])}"
            panel.loglog(row["sizes"], row["seconds"], "o-", label=label, color=color)
        panel.set(xlabel=axis, ylabel="seconds")
        panel.legend(fontsize=7)
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main(sys.argv[1:])
