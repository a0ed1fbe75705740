"""One fused pass (scores, loss, gradient) against the two BLAS products X W^T and G^T X that code without it needs.

    python benchmarks/bench_pass.py [--threads 2] [--repeats 15]

The products alone are timed, without any loss: what is compared does less. Runs are interleaved; the best of each is
taken, as wall-clock and as processor time of all threads. On a busy machine trust --threads 1 and processor time: two
threads of BLAS wait for each other in a loop. The gradients' largest difference is printed beside.
"""

import argparse
import gzip
import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import nearline
from nearline.losses import LOSSES
from nearline.risk.params import Params
from nearline.risk.passes import CompiledPasses

DATA = Path(os.environ.get("NEARLINE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def fashion() -> tuple[np.ndarray, np.ndarray]:
    """Fashion-MNIST in [0, 1] as float32, or random numbers of its shape where the files are not there."""
    folder = DATA / "fashion_mnist"
    if not folder.is_dir():
        rng = np.random.default_rng(0)
        return rng.random((60_000, 784), dtype=np.float32), rng.integers(0, 10, 60_000)
    with gzip.open(folder / "train-images-idx3-ubyte.gz") as file:
        X = np.frombuffer(file.read(), np.uint8)[16:].reshape(-1, 784) / np.float32(255)
    with gzip.open(folder / "train-labels-idx1-ubyte.gz") as file:
        y = np.frombuffer(file.read(), np.uint8)[8:]
    return X.astype(np.float32), y


def best(contestants: list[Callable[[], object]], repeats: int) -> list[tuple[float, float]]:
    """Least wall-clock and processor milliseconds of each, taken in turns."""
    times = [(np.inf, np.inf)] * len(contestants)
    for _ in range(repeats):
        for i, run in enumerate(contestants):
            wall, cpu = time.perf_counter(), time.process_time()
            run()
            took = 1e3 * (time.perf_counter() - wall), 1e3 * (time.process_time() - cpu)
            times[i] = min(times[i][0], took[0]), min(times[i][1], took[1])
    return times


def compare(X: np.ndarray, y: np.ndarray, n_outputs: int, repeats: int) -> str:
    """One line of the table."""
    rng = np.random.default_rng(1)
    loss = LOSSES["logistic" if n_outputs == 1 else "softmax"]
    targets = (y % max(n_outputs, 2)).astype(np.int32)
    passes = CompiledPasses(X, targets, np.ones(len(X)), loss, n_outputs)
    params = Params.of(0.05 * rng.normal(size=(n_outputs, X.shape[1])), np.zeros(n_outputs))
    W = params.W.astype(X.dtype)
    scores, _, gradient, _ = passes.value_and_gradient(params)
    G = loss.value_and_gradient(scores.astype(np.float64), targets)[1].astype(X.dtype)
    error = np.abs(gradient - G.T @ X).max() / np.abs(gradient).max()
    runs = [lambda: passes.value_and_gradient(params), lambda: X @ W.T, lambda: G.T @ X]
    fused, forward, back = best(runs, repeats)
    wall, cpu = forward[0] + back[0], forward[1] + back[1]
    shape = f"{X.shape[0]} x {X.shape[1]} x {n_outputs} {X.dtype}"
    return (
        f"{shape:28} {fused[0]:8.1f} {wall:8.1f} {wall / fused[0]:6.2f}   "
        f"{fused[1]:8.1f} {cpu:8.1f} {cpu / fused[1]:6.2f}   {error:.0e}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    X, y = fashion()
    columns = f"{'fused':>8} {'BLAS':>8} {'ratio':>6}"
    print(f"{'':28} {'wall ms':^24}   {'processor ms':^24}   gradient's")
    print(f"{'rows x features x columns':28} {columns}   {columns}   error")
    with nearline.num_threads(options.threads), threadpool_limits(options.threads, user_api="blas"):
        for n_outputs in (10, 1, 3, 20):
            print(compare(X, y, n_outputs, options.repeats), flush=True)
        print(compare(X[:30_000].astype(np.float64), y[:30_000], 10, options.repeats), flush=True)


if __name__ == "__main__":
    main()
