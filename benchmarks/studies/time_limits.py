"""Whether contests end at their time limit: python -m benchmarks.studies.time_limits [--processor] [SECONDS] [NAME ...].

For each kind of data one ``nearline try --time-limit``: how long its contest took, which the limit is for, how long the whole
command did, with reading, the test and the report, and how many candidates finished. With ``--processor`` all seconds are of
processor time on one thread, for machines that have other work.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.samples import SAMPLES

SECONDS = 15.0
HEAD = ["data", "limit", "contest ended after", "whole command", "candidates", "model"]


def measured(data: list[str], seconds: float, out: Path, processor: bool) -> list[str]:
    """What one command did, as cells of a table."""
    module = "benchmarks.studies._processor" if processor else "nearline.cli"
    command = [sys.executable, "-m", module, "try", *data, "--quiet", "--json", "--out", str(out)]
    began = _processor_seconds() if processor else time.monotonic()
    done = subprocess.run([*command, "--time-limit", f"{seconds:g}"], capture_output=True, text=True)
    took = (_processor_seconds() if processor else time.monotonic()) - began
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
        return ["-", f"{took:.1f} s", "0", f"exit {done.returncode}: {said}"]
    facts = json.loads(done.stdout)
    return [f"{facts['seconds']:.1f} s", f"{took:.1f} s", str(facts["candidates"]), facts["model"]]


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(arguments: list[str]) -> None:
    processor = "--processor" in arguments
    arguments = [one for one in arguments if one != "--processor"]
    seconds = float(arguments.pop(0)) if arguments and arguments[0] not in SAMPLES else SECONDS
    print("| " + " | ".join(HEAD) + " |\n|---|" + "---:|" * 4 + "---|", flush=True)
    for name in arguments or SAMPLES:
        with tempfile.TemporaryDirectory() as folder:
            data = SAMPLES[name](Path(folder))
            cells = measured(data, seconds, Path(folder) / "out", processor)
        print("| " + " | ".join([name, f"{seconds:g} s", *cells]) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
