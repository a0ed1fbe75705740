"""Shared problems. Real data sets are read where they are; tests that need them skip with a reason elsewhere."""

import os
import signal
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

DATA = Path(os.environ.get("NEARLINE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))


def pytest_collection_modifyitems(config, items):
    """scikit-learn checks arrays of other libraries in a mode of SciPy's that is off; elsewhere there is nothing to run."""
    if "SCIPY_ARRAY_API" not in os.environ:
        out = {item for item in items if "check_array_api_input" in item.name}
        config.hook.pytest_deselected(items=list(out))
        items[:] = [item for item in items if item not in out]


@pytest.fixture(scope="session")
def shared_data():
    """The folder of real data sets."""
    if not DATA.is_dir():
        pytest.skip(f"the real data sets are not at {DATA} (set NEARLINE_DATA to their folder)")
    return DATA


@pytest.fixture
def rendered():
    """What a test draws can also be rendered."""
    import matplotlib.pyplot as plt

    yield
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()


@contextmanager
def interrupted(cpu_seconds=0.2):
    """What is inside runs for long, is interrupted as Ctrl-C does, and ends by it. The clock is that of our own work."""
    before = signal.signal(signal.SIGPROF, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_PROF, cpu_seconds)
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def tiny_problem(n_classes, *, sparse=False, dtype=np.float64, n=40, d=4, seed=0):
    """Overlapping Gaussian classes: not separable, so that every risk has a minimizer."""
    rng = np.random.default_rng(seed)
    targets = np.arange(n) % n_classes
    X = rng.normal(size=(n, d)) + 0.7 * rng.normal(size=(n_classes, d))[targets]
    X[np.abs(X) < 0.2] = 0.0
    X = X.astype(dtype)
    return (csr_matrix(X) if sparse else X), targets
