"""Who sets the limit of threads; children and pickles; the stub of the core."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nearline
from conftest import tiny_problem
from nearline import Risk, _core

ROOT = Path(__file__).resolve().parents[1]


def test_limit_is_set_and_restored():
    """The limit holds for the process or for a block, also if the block raises."""
    before = nearline.get_num_threads()
    inside = []

    def fails():
        with nearline.num_threads(3):
            inside.append(nearline.get_num_threads())
            raise KeyError

    with pytest.raises(KeyError):
        fails()
    assert inside == [3]
    assert nearline.get_num_threads() == before
    for wrong in (0, -1, 1.5, "2"):
        with pytest.raises(ValueError, match="at least 1"):
            nearline.set_num_threads(wrong)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [("OMP_NUM_THREADS", "3", 3), ("NEARLINE_NUM_THREADS", "5", 5), ("OMP_NUM_THREADS", "4,2", 4)],
)
def test_environment_sets_the_limit(name, value, expected):
    """The usual environment variables are honored; workers of joblib get theirs that way."""
    code = "import nearline; print(nearline.get_num_threads())"
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, name: value},
        check=True,
    )
    assert int(run.stdout) == expected


def test_threadpoolctl_limits_hold():
    """threadpool_limits(1) limits the core as it limits BLAS."""
    threadpoolctl = pytest.importorskip("threadpoolctl")
    from nearline._parallel.threads import register_with

    register_with(threadpoolctl)
    before = nearline.get_num_threads()
    with threadpoolctl.threadpool_limits(1):
        assert nearline.get_num_threads() == 1
    assert nearline.get_num_threads() == before


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
def test_risk_survives_a_pickle(sparse):
    """A risk can be sent to another process."""
    X, targets = tiny_problem(3, sparse=sparse)
    risk = Risk(X, targets, loss="softmax")
    again = pickle.loads(pickle.dumps(risk))
    np.testing.assert_array_equal(again.at(again.zeros()).gradient.flat, risk.at(risk.zeros()).gradient.flat)


def test_stub_of_the_core_is_up_to_date():
    """src/nearline/_core/__init__.pyi has every function of the core, with its parameters."""
    pytest.importorskip("nanobind.stubgen")
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import make_core_stub
    finally:
        sys.path.pop(0)
    made, committed = (
        make_core_stub.functions(make_core_stub.stub()),
        make_core_stub.functions(make_core_stub.STUB.read_text()),
    )
    assert made == committed, "run `python tools/make_core_stub.py`"
    public = {name for name in dir(_core.chosen) if not name.startswith("_")}
    assert public <= {head.split("(")[0] for head in committed}
