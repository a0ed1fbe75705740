"""Import time, each in a fresh interpreter."""

import subprocess
import sys
from collections.abc import Iterator
from functools import partial

from benchmarks.harness import Contest, Entry, Heat, Outcome, Session

STATEMENTS = {
    "import nearline": True,
    "from nearline import Risk, minimize": True,
    "from nearline import LogisticRegression": True,
    "import numpy": False,
    "import scipy.sparse": False,
    "import sklearn": False,
    "from sklearn.linear_model import LogisticRegression": False,
    "from cyanure.estimators import Classifier": False,
    "import celer": False,
    "import skglm": False,
}


def import_seconds(statement: str) -> Outcome:
    """Wall time of one import statement, without the start of the interpreter; how many modules it loads."""
    code = (
        "import sys, time; before = len(sys.modules); t = time.perf_counter(); "
        f"{statement}; t = time.perf_counter() - t; print(t, len(sys.modules) - before)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    seconds, modules = done.stdout.split()[-2:]
    return Outcome(float(seconds), {"modules": int(modules)})


def heats(session: Session) -> Iterator[Heat]:
    entries = [Entry(text, partial(import_seconds, text), ours=own) for text, own in STATEMENTS.items()]
    yield Heat("import time", "none", entries)


CONTESTS = (Contest("import", "time of imports", "import nearline under 0.3 s", heats),)
