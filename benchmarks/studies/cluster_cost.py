"""What a logistic fit over blocks would take on clusters that are not here: a model, from costs measured here.

``python -m benchmarks.studies.cluster_cost`` measures what a row, a message and a byte cost, prints them, and then the
times that follow. The times are no measurements. What they assume:

- a fit is three steps of Newton's method, as many passes as one took here, and every worker holds its blocks;
- workers have a core each as fast as this one and memory of its own, and share the blocks evenly;
- one scheduler, as fast as the one here, sends all messages one after the other; nobody fails;
- one machine of 32 cores is taken to be 32 times as fast as one core, which its memory may not allow;
- sums of blocks travel to the client at the speed of this machine's own network device (a slower network: ``--bytes``).
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.contests.blocks import Made, Traffic, workers

D, BLOCK = 50, 125_000  # features, rows of a block
ROWS = (10**6, 10**7, 10**8, 10**9)
WORKERS = (4, 10, 32, 100)


@dataclass(frozen=True)
class Costs:
    """Seconds, as they were measured."""

    row: float  # of all passes of a fit, on one core that does nothing else
    message: float  # to one block, there and back
    byte: float  # of an answer
    latency: float  # of a pass, however many blocks
    passes: float
    back: float  # bytes that come back from a block in a pass

    def arithmetic(self, n: float, n_workers: int) -> float:
        """Each worker has whole blocks: the one with the most decides."""
        return float(np.ceil(n / BLOCK / n_workers)) * BLOCK * self.row

    def travel(self, n: float) -> float:
        blocks = n / BLOCK
        return self.passes * (self.latency + blocks * (self.message + self.back * self.byte))

    def seconds(self, n: float, n_workers: int) -> float:
        return self.arithmetic(n, n_workers) + self.travel(n)

    def worth(self, n: float) -> int:
        """Workers from which on messages take longer than the rows."""
        return max(1, int(n * self.row / self.travel(n)))


def _nothing(block: Any) -> int:
    return 0


def _sums(block: Any, size: int) -> Any:
    return np.zeros(size)


def timed(work: Callable[[], Any], times: int = 5) -> float:
    """The least of some times, as others are disturbed."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return min(taken)


def row_cost() -> float:
    """One block in this process, as a worker has it: one thread."""
    from nearline import LogisticRegression, _core
    from nearline._arrays.blocks import Block, HeldBlocks
    from nearline.risk import BlockedRisk
    from nearline.solvers import minimize

    X, y = Made(BLOCK, D, BLOCK).rows(0)
    LogisticRegression().fit(X[:1000], y[:1000])  # a process that has loaded what it needs
    _core.set_thread_limit(1)

    def fit() -> None:
        blocks = HeldBlocks([Block(X, y.astype(np.int32), np.ones(len(y)))])
        minimize(BlockedRisk(blocks, loss="logistic", alpha=1e-4, n_classes=2), "newton")

    return timed(fit, 3) / BLOCK


def measured() -> Costs:
    from nearline import LogisticRegression
    from nearline.cluster._crews import crew

    row = row_cost()
    with workers(2) as client:
        working = crew()
        few, many = (client.map(abs, range(size), pure=False) for size in (8, 64))
        client.gather([*few, *many])
        working.ask(_nothing, few)
        short, long = (timed(partial(working.ask, _nothing, held)) for held in (few, many))
        size = 500_000
        heavy = timed(partial(working.ask, partial(_sums, size=size), few))
        X, y = Made(40_000, D, 5_000).arrays()
        LogisticRegression(alpha=1e-4).fit(X, y)
        with Traffic() as traffic:
            LogisticRegression(alpha=1e-4).fit(X, y)
    message = (long - short) / 56
    return Costs(
        row=row,
        message=message,
        byte=max(heavy - short, 0.0) / (8 * size * 8),
        latency=max(short - 8 * message, 0.0),
        passes=traffic.passes,
        back=traffic.back / traffic.passes / 8,
    )


def told(costs: Costs) -> str:
    """The costs, and the table that follows from them."""
    lines = [
        f"measured: {1e9 * costs.row:.0f} ns a row of {D} features for the whole fit on one core, "
        f"{1e3 * costs.message:.2f} ms a message, {1e9 * costs.byte:.1f} ns a byte, {1e3 * costs.latency:.1f} ms a pass "
        f"besides, {costs.passes:.0f} passes, {costs.back / 1e3:.1f} kB back from a block in a pass",
        f"a model, no measurement: seconds of a fit, {D} features, blocks of {BLOCK:,} rows",
        "| rows | GB | "
        + " | ".join(f"{w} workers" for w in WORKERS)
        + " | one machine, 32 cores | messages |"
        " workers worth having |",
        "|---|---|" + "---|" * (len(WORKERS) + 3),
    ]
    for n in ROWS:
        times = " | ".join(f"{costs.seconds(n, w):.2g}" for w in WORKERS)
        whole = n * costs.row / 32
        lines.append(
            f"| 10^{np.log10(n):.0f} | {8e-9 * n * D:g} | {times} | {whole:.2g} | {costs.travel(n):.2g} | {costs.worth(n)} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=float, help="bytes a second that the network carries")
    given = parser.parse_args()
    costs = measured()
    if given.bytes:
        costs = Costs(**{**costs.__dict__, "byte": 1.0 / given.bytes})
    print(told(costs))


if __name__ == "__main__":
    main()
