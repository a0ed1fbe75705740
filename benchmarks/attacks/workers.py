"""Workers killed in the middle of fits over blocks, by seed: is every result that of the undisturbed fit, bit for bit?"""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.attacks import NOTHING, SURVIVED, Attack, Outcome, failed

SEEDS = 20
SOLVERS = ("newton", "lbfgs", "newton-cg", "fista")


def attacks() -> Iterator[Attack]:
    yield Attack("workers killed during fits over blocks", lambda folder: killed(range(SEEDS), folder))


def killed(seeds: Sequence[int], folder: Path) -> Outcome:
    """One fit for each seed, on a cluster of its own, in which a worker dies after some messages of tasks."""
    from distributed import Client, LocalCluster

    found = NOTHING
    for seed in seeds:
        with (
            LocalCluster(
                n_workers=2,
                threads_per_worker=1,
                dashboard_address=":0",
                local_directory=str(folder),
                silence_logs=50,
            ) as cluster,
            Client(cluster) as client,
        ):
            found = found + _one(client, seed)
    return found


def _one(client: Any, seed: int) -> Outcome:
    import dask.array as da

    from nearline import LogisticRegression

    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2000, 8))
    y = (X[:, 0] + rng.normal(size=2000) > 0).astype(int)
    model = LogisticRegression(alpha=1e-3, tol=1e-8, solver=SOLVERS[seed % len(SOLVERS)])
    blocks = da.from_array(X, chunks=(300, 8)), da.from_array(y, chunks=300)
    undisturbed = model.fit(*blocks).coef_.copy()
    after, victim = int(rng.integers(2, 8)), int(rng.integers(2))
    sent = _with_kill(client, after, victim, lambda: model.fit(*blocks))
    if sent < after:
        return failed(f"seed {seed}: the fit ended after {sent} messages, before a worker was killed")
    same = np.array_equal(model.coef_, undisturbed)
    return SURVIVED if same else failed(f"seed {seed}: other weights after a worker died")


def _with_kill(client: Any, after: int, victim: int, fit: Callable[[], object]) -> int:
    """Fit while a worker is killed right after so many messages of tasks; how many there were."""
    from nearline.cluster._crews import ClusterCrew

    own, sent = ClusterCrew._sent, 0

    def counting(crew: Any, task: Any, held: Any) -> Any:
        nonlocal sent
        futures = own(crew, task, held)
        sent += 1
        if sent == after:
            pids = sorted(client.run(os.getpid, on_error="ignore").values())
            os.kill(pids[victim % len(pids)], signal.SIGKILL)
        return futures

    ClusterCrew._sent = counting  # type: ignore[method-assign]
    try:
        fit()
    finally:
        ClusterCrew._sent = own  # type: ignore[method-assign]
    return sent
