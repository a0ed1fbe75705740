"""What a change of the house costs: this version beside an earlier one, in turns, on small jobs where fixed costs count.

python -m benchmarks.studies.against_version OLD_PYTHON [--only WORD ...] [--rounds 7] [--threads 1] [--json FILE]

OLD_PYTHON is the interpreter of another environment, in which the earlier version is installed. Both live in a process of
their own for the whole run and take turns, each first in every other round; the seconds of a job are its best round. A
contest is charged by the candidate, as grids grow. Ratios are old seconds over new ones: above 1, the new version is faster.
The same interpreter twice shows how far ratios of equal versions lie from 1.
"""

import argparse
import json
import math
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.homes import THREAD_VARIABLES
from benchmarks.studies._version_jobs import JOBS

WORKER = Path(__file__).with_name("_version_jobs.py")
ROUND = 0.05  # seconds that a round of one job lasts, at least


class Version:
    """A process that runs jobs with one version."""

    def __init__(self, python: str, threads: int) -> None:
        # -P: not the folder of the worker, whose files would hide packages of the same names
        self._process = subprocess.Popen(
            [os.path.abspath(python), "-P", str(WORKER), str(threads)],  # not resolved: that would leave the environment
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd="/",
            env=os.environ | dict.fromkeys(THREAD_VARIABLES, str(threads)),
        )  # fmt: skip

    def seconds(self, job: str, runs: int) -> float:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{runs} {job}\n")
        self._process.stdin.flush()
        said = self._process.stdout.readline()
        if not said or said.startswith("!"):
            raise RuntimeError(said[1:].strip() or "the process ended")
        return float(said)

    def end(self) -> None:
        self._process.communicate()


def meeting(job: str, old: Version, new: Version, rounds: int) -> tuple[float, float]:
    """Best seconds of a job with the old and the new version."""
    both = (old, new)
    for version in both:
        version.seconds(job, 1)  # imports, data
    once = max(version.seconds(job, 1) for version in both)
    runs = max(1, min(1000, math.ceil(ROUND / once)))
    best = [math.inf, math.inf]
    for i in range(rounds):
        for which in ((0, 1), (1, 0))[i % 2]:
            best[which] = min(best[which], both[which].seconds(job, runs))
    return best[0], best[1]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", metavar="OLD_PYTHON")
    parser.add_argument("--only", nargs="*", default=[""], help="jobs whose names contain one of these words")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    old, new = Version(options.old, options.threads), Version(sys.executable, options.threads)
    found = {}
    print("| job | old | new | ratio |\n|---|---|---|---|")
    for job in (job for job in JOBS if any(word in job for word in options.only)):
        try:
            before, after = meeting(job, old, new, options.rounds)
        except RuntimeError as error:
            print(f"| {job} | {error} | | |")
            continue
        found[job] = {"old": before, "new": after, "ratio": before / after}
        print(f"| {job} | {1e3 * before:.3f} ms | {1e3 * after:.3f} ms | {before / after:.2f} |", flush=True)
    old.end()
    new.end()
    if found:
        ratios = [one["ratio"] for one in found.values()]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"\ngeometric mean of {len(ratios)}: {mean:.3f}; lowest: {min(ratios):.3f}")
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
