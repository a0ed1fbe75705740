"""A process that may start no thread, or few: answers must have the same bits as with all of them."""

import hashlib
import os
import resource
import subprocess
import sys
from threading import Event, Thread

from benchmarks.attacks import NOTHING, SURVIVED, Outcome, failed

NOBODY = 65534  # limits on processes do not hold for root


def work() -> str:
    """What threads of the core and of Python work on, as a digest of all numbers that come out."""
    import numpy as np

    import nearline
    from nearline.kernels import RBF, Subsequence

    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 60))
    y = (X[:, 0] + rng.normal(size=4000) > 0).astype(int) + (X[:, 1] > 1)
    digest = hashlib.sha256()
    for loss, solver in (("softmax", "lbfgs"), ("hinge", "dual-coordinate-descent"), ("logistic", "sgd")):
        risk = nearline.Risk(X, y, loss=loss, alpha=1e-2)
        digest.update(nearline.minimize(risk, solver, tol=1e-2, max_iter=5).params.flat.tobytes())
    for metric in ("l2", "l1"):
        digest.update(nearline.Index(X, metric).search(X[:500], 5).distances.tobytes())
    digest.update(RBF(0.1)(X[:1500]).tobytes())
    digest.update(Subsequence()(["abcab" * 9, "bacca" * 7, "cabab" * 8] * 20).tobytes())
    return digest.hexdigest()


def limited(more: int) -> bool:
    """Whether work has the same bits when this process may start only ``more`` threads beyond those it has."""
    wanted = work()  # all that is needed is loaded now: nobody may be allowed to read it
    if os.getuid() == 0:
        os.setuid(NOBODY)
    running = _own_threads()
    resource.setrlimit(resource.RLIMIT_NPROC, (running + more, running + more))
    if _started() > more:
        raise RuntimeError("this system does not limit threads")
    return work() == wanted


def _started() -> int:
    """Threads that can be started until one is refused, at most 8."""
    end, started = Event(), []
    try:
        while len(started) < 8:
            thread = Thread(target=end.wait)
            thread.start()
            started.append(thread)
    except RuntimeError:
        pass
    end.set()
    for thread in started:
        thread.join()
    return len(started)


def _own_threads() -> int:
    """Threads of all processes of this user: that is what the limit counts."""
    total = 0
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.stat(f"/proc/{process}").st_uid == os.getuid():
                total += len(os.listdir(f"/proc/{process}/task"))
        except OSError:  # it has ended
            continue
    return total


def with_few_threads(allowed: tuple[int, ...] = (0, 1, 3)) -> Outcome:
    """The core asks for 8 threads and gets fewer."""
    environment = {**os.environ, "NEARLINE_NUM_THREADS": "8", "OPENBLAS_NUM_THREADS": "1"}
    total = NOTHING
    for more in allowed:
        code = f"from benchmarks.attacks._threads import limited; assert limited({more})"
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
        total += (
            failed(f"{more} threads: exit {done.returncode}: {done.stderr[-300:]}")
            if done.returncode
            else SURVIVED
        )
    return total
