"""What a coordinate costs in the filter of exact search: python -m benchmarks.studies.panel_costs.

A search within a radius that no row is in, and that no box of rows excludes: all of its time goes into the products of
queries and rows. It is measured for two widths, so that what does not grow with the width falls out; one thread.
"""

import time

import numpy as np

from nearline import Index, _core, get_num_threads, set_num_threads
from nearline.neighbors import exact

ROWS, QUERIES, NARROW, WIDE = 20_000, 512, 128, 384
NEAR = 0.6  # radius, in units of the distance that rows have, about: nobody is within it
TURNS = 7


def seconds(width: int) -> float:
    """Of the best of some searches."""
    rng = np.random.default_rng(width)
    X, Q = (rng.standard_normal((n, width), dtype=np.float32) for n in (ROWS, QUERIES))
    index, radius = Index(X, algorithm="exact"), NEAR * float(np.sqrt(2.0 * width))
    found = index.radius(Q, radius)
    assert not any(len(indices) for _, indices in found), "rows were within the radius: take a smaller one."
    times = []
    for _ in range(TURNS):
        begin = time.perf_counter()
        index.radius(Q, radius)
        times.append(time.perf_counter() - begin)
    return min(times)


def nanoseconds() -> float:
    """Of a coordinate of a pair."""
    return (seconds(WIDE) - seconds(NARROW)) * 1e9 / (ROWS * QUERIES * (WIDE - NARROW))


def main() -> None:
    """The cost with products of rounded coordinates, where there are any, and without."""
    before, rounds = get_num_threads(), _core.rounds()
    set_num_threads(1)
    try:
        print(f"| {_core.isa} | ns for a coordinate |\n| --- | --- |")
        if rounds:
            print(f"| rounded to bfloat16 | {nanoseconds():.4f} |")
            exact.MOVED = -1.0  # no rows are rounded
        print(f"| float32 | {nanoseconds():.4f} |")
    finally:
        set_num_threads(before)


if __name__ == "__main__":
    main()
