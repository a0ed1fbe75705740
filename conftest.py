"""For tests and for examples in docstrings and pages alike: pictures need no screen, and are closed when looked at."""

import gc
import os
import sys

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is slow now and then: no test depends on the clock.
settings.register_profile("nearline", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("nearline")

os.environ.setdefault("MPLBACKEND", "Agg")


def pytest_collection_finish():
    """Thousands of tests live as long as the run: the garbage collector need not look through them again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _closed_pictures():
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
