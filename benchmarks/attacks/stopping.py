"""Signals over the whole of real runs: does the command end in time, keep what had finished, and leave no halves?

Moments are spread over a run from its first look at the file to its report, which a run that is left alone measures. The time
until the end is by the clock, or by the processor where that is shorter: other work on the machine does not count.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from benchmarks.attacks import NOTHING, SURVIVED, Attack, Outcome, failed
from benchmarks.samples import SAMPLES

SECONDS = 2.0  # from the signal to the end
LIMIT = 8.0  # seconds that a contest has, so that moments reach the last fit, the test and the report
MOMENTS = (0.06, 0.3, 0.5, 0.7, 0.9)  # of the whole run
LONG = (3.0, 9.0, 16.0)  # seconds into runs that are not waited for
PATIENCE = 180.0
WHOLE = {"leaderboard.csv", "result.json"}
MAY = WHOLE | {"model.nearline", "report.html"}
PYTHON = """
import sys, warnings
import numpy as np
from nearline import TryThemAll
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=(200_000, 18))
y = (X[:, :4].sum(axis=1) + rng.normal(size=len(X)) > 0).astype(int)
contest = TryThemAll(progress="silent")
try:
    contest.fit(X, y)
    print("kept", len(contest.leaderboard_), contest.interrupted_)
except KeyboardInterrupt:
    print("nothing had finished")
"""


def _used(process: int) -> float:
    """Seconds of the processor that a process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def interrupted(command: list[str], number: int, after: float) -> tuple[int, str, str, float] | str | None:
    """Exit code, output, errors and the seconds from signal to end; None if it was quicker, why if it did not end."""
    before = _children()
    if (
        signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    ):  # as shells have it in the background: children would ignore it too
        signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        process.communicate(timeout=after)
        return None
    except subprocess.TimeoutExpired:
        used = _used(process.pid)
        process.send_signal(number)
    began = time.monotonic()
    try:
        said, errors = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return f"no end after {PATIENCE:g} s"
    late = min(time.monotonic() - began, _children() - before - used)
    return process.returncode, said, errors, late


def stopped(command: list[str], out: Path, number: int, after: float, alone: int = 0) -> Outcome:
    """One command line, which gets a signal after so many seconds; left alone it ends with its exit code `alone`."""
    name = f"{signal.Signals(number).name} after {after:.1f} s"
    found = interrupted([sys.executable, "-m", "nearline.cli", *command, "--out", str(out)], number, after)
    if found is None:
        return SURVIVED  # it was quicker
    if isinstance(found, str):
        return failed(f"{name}: {found}")
    code, _, errors, late = found
    there = {path.name for path in out.iterdir()} if out.is_dir() else set()
    if code not in (128 + number, alone):  # the second if it was at its end
        return failed(f"{name}: exit {code}: {errors[-200:]}")
    if there and (
        not WHOLE <= there <= MAY or not json.loads((out / "result.json").read_text())["candidates"]
    ):
        return failed(f"{name}: left {sorted(there)}")
    if late > SECONDS:
        return failed(f"{name}: ended {late:.1f} s later; kept {sorted(there)}")
    return SURVIVED


def contest(kind: str, folder: Path) -> Outcome:
    """A contest with a time limit: one is left alone, the others are stopped on their way."""
    data, total = SAMPLES[kind](folder), NOTHING
    command = ["try", *data, "--quiet", "--time-limit", f"{LIMIT:g}"]
    began = time.monotonic()
    whole = [sys.executable, "-m", "nearline.cli", *command, "--out", str(folder / "whole")]
    alone = subprocess.run(whole, capture_output=True).returncode
    took = time.monotonic() - began
    for i, moment in enumerate(MOMENTS):
        number = (signal.SIGTERM, signal.SIGINT)[i % 2]
        total += stopped(command, folder / f"out{i}", number, moment * took, alone)
    return total


def choosing(command: str, kind: str, folder: Path) -> Outcome:
    """A sweep or a path, which have nothing to keep."""
    data, total = SAMPLES[kind](folder), NOTHING
    for i, after in enumerate(LONG):
        number = (signal.SIGTERM, signal.SIGINT)[i % 2]
        total += stopped([command, *data], folder / f"picture{i}.png", number, after)
    return total


def in_python(folder: Path) -> Outcome:
    """Ctrl-C in a program: what has finished is kept, and the program goes on."""
    total = NOTHING
    for after in LONG:
        found = interrupted([sys.executable, "-c", PYTHON], signal.SIGINT, after)
        name = f"Ctrl-C after {after:g} s"
        if isinstance(found, str):
            total += failed(f"{name}: {found}")
        elif found is not None and found[3] > SECONDS:
            total += failed(f"{name}: ended {found[3]:.1f} s later: {found[1]}")
        elif found is not None and not found[1].startswith(("kept", "nothing")):
            early = "KeyboardInterrupt" in found[2] and "import" in found[2]  # before the program had begun
            total += SURVIVED if early else failed(f"{name}: {found[2][-200:]}")
        else:
            total += SURVIVED
    return total


CONTESTS = (
    "table with texts",
    "names",
    "trees",
    "array of images",
    "wide numbers",
    "1,000,000 rows of numbers",
    "1,000,000 mixed rows",
)


def attacks() -> Iterator[Attack]:
    for kind in CONTESTS:
        yield Attack(f"stopping: signals during a contest on {kind}", partial(contest, kind))
    for command in ("sweep", "path"):
        for kind in ("array of images", "1,000,000 rows of numbers"):
            yield Attack(f"stopping: signals during a {command} of {kind}", partial(choosing, command, kind))
    yield Attack("stopping: Ctrl-C during a contest in Python", in_python)
