"""python -m benchmarks.attacks._cost: what the check of a sparse matrix costs, relative to one pass over its rows."""

from collections.abc import Callable
from time import perf_counter

import numpy as np
import scipy.sparse as sp

import nearline
from nearline._arrays.sparse import sound

SHAPES = ((2_000, 1_000, 10), (20_000, 47_000, 75), (300_000, 100_000, 40))  # rows, columns, entries a row


def best(call: Callable[[], object], times: int = 15) -> float:
    seconds = []
    for _ in range(times):
        begin = perf_counter()
        call()
        seconds.append(perf_counter() - begin)
    return min(seconds)


def main() -> None:
    rng = np.random.default_rng(0)
    print("| rows | columns | entries | pass, ms | check, ms | share |\n|---:|---:|---:|---:|---:|---:|")
    for n, columns, each in SHAPES:
        X = sp.random(n, columns, density=each / columns, format="csr", rng=rng, dtype=np.float64)
        risk = nearline.Risk(X, rng.integers(0, 2, n), loss="logistic", alpha=1e-3)
        start = risk.zeros()
        risk.at(start)  # what is made once is made now
        one, check = best(lambda: risk.at(start)), best(lambda: sound(X))  # noqa: B023 - called at once
        print(
            f"| {n:,} | {columns:,} | {X.nnz:,} | {1e3 * one:.2f} | {1e3 * check:.2f} | {check / one:.1%} |"
        )


if __name__ == "__main__":
    nearline.set_num_threads(1)
    main()
