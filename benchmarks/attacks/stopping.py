"""Signals at seeded moments of real runs: does the command end in time, keep what had finished, and leave no halves?

The time until the end is measured by the clock of the wall, so other work on the machine counts: as a benchmark, not a test.
"""

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from benchmarks.attacks import NOTHING, SURVIVED, Attack, Outcome, failed

SECONDS = 2.0  # from the signal to the end
TRIES = 4
WHOLE = {"leaderboard.csv", "result.json"}
MAY = WHOLE | {"model.nearline", "report.html"}


def table(folder: Path) -> list[str]:
    """20,000 rows of numbers, with a short text."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 12))
    y = (X[:, :3].sum(axis=1) + rng.normal(size=len(X)) > 0).astype(int)
    lines = [
        f"{','.join(f'{v:.3f}' for v in row)},word{abs(int(row[0] * 99))} more,c{c}" for row, c in zip(X, y)
    ]
    (folder / "rows.csv").write_text(
        ",".join(f"x{j}" for j in range(12)) + ",text,y\n" + "\n".join(lines) + "\n"
    )
    return [str(folder / "rows.csv"), "--target", "y"]


def texts(folder: Path) -> list[str]:
    rng = np.random.default_rng(0)
    words = [f"word{i}" for i in range(3000)]
    lines = [f"c{i % 2}\t{' '.join(rng.choice(words[i % 2 * 200 :], 30))}" for i in range(4000)]
    (folder / "texts.txt").write_text("\n".join(lines) + "\n")
    return [str(folder / "texts.txt")]


def images(folder: Path) -> list[str]:
    X, y = load_digits(return_X_y=True)
    np.savez(folder / "images.npz", X=X, y=y)
    return [str(folder / "images.npz")]


def stopped(data: list[str], folder: Path, number: int, after: float) -> Outcome:
    """One run, which gets a signal after so many seconds."""
    out = folder / "out"
    command = [sys.executable, "-m", "nearline.cli", "try", *data, "--quiet", "--out", str(out), "--force"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        process.communicate(timeout=after)
        return SURVIVED  # it was quicker
    except subprocess.TimeoutExpired:
        process.send_signal(number)
    began, name = time.monotonic(), f"{signal.Signals(number).name} after {after:.1f} s"
    try:
        _, said = process.communicate(timeout=60.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return failed(f"{name}: no end after 60 s")
    late = time.monotonic() - began
    there = {path.name for path in out.iterdir()} if out.is_dir() else set()
    if process.returncode not in (128 + number, 0):
        return failed(f"{name}: exit {process.returncode}: {said[-200:]}")
    if there and (
        not WHOLE <= there <= MAY or not json.loads((out / "result.json").read_text())["candidates"]
    ):
        return failed(f"{name}: left {sorted(there)}")
    if late > SECONDS:
        return failed(f"{name}: ended {late:.1f} s later; kept {sorted(there)}")
    return SURVIVED


def tried(kind: str, folder: Path) -> Outcome:
    draw, total = random.Random(kind), NOTHING
    data = {"table": table, "texts": texts, "images": images}[kind](folder)
    for i in range(TRIES):
        place = folder / str(i)
        place.mkdir()
        total += stopped(data, place, (signal.SIGTERM, signal.SIGINT)[i % 2], draw.uniform(2.0, 40.0))
    return total


def attacks() -> Iterator[Attack]:
    for kind in ("table", "texts", "images"):
        yield Attack(f"stopping: signals during a contest on {kind}", partial(tried, kind))
