"""Same bits on any number of threads; fork, processes and Ctrl-C are safe."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import nearline
from conftest import interrupted
from nearline import Risk, minimize

CASES = [
    ("softmax", "l2", "auto"),
    ("softmax", "l2", "lbfgs"),
    ("squared", "l2", "auto"),
    ("logistic", "l2", "newton-cg"),
    ("squared-hinge", "l2", "auto"),
    ("sparsemax", "l2", "auto"),
    ("hinge", "l2", "auto"),
    ("crammer-singer", "l2", "auto"),
    ("weston-watkins", "l2", "auto"),
    ("logistic", "l1", "auto"),
    ("softmax", "elastic-net", "auto"),
    ("hinge", "l2", "sgd"),
]
FIT = f"""
import hashlib, numpy as np
from scipy.sparse import random as random_sparse
from nearline import Risk, minimize
rng = np.random.default_rng(0)
dense = rng.normal(size=(3000, 150)).astype(np.float32)
sparse = random_sparse(2000, 15000, density=0.01, format="csr", rng=rng)
little = rng.normal(size=(2000, 40))
for name, X in (("dense", dense), ("sparse", sparse), ("little", little)):
    y = rng.integers(0, 4, X.shape[0])
    for case in {CASES}:
        loss, regularizer, solver = case
        risk = Risk(X, y, loss=loss, regularizer=regularizer, alpha=1e-2)
        flat = minimize(risk, solver, tol=1e-3, max_iter=30).params.flat
        print(name, *case, hashlib.sha256(flat.tobytes()).hexdigest())
"""
PATIENCE = 1800.0  # seconds until a process counts as hanging: no measure of speed


def python(script, **environment):
    """What another interpreter prints."""
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)]
    environment = {**os.environ, **environment}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_same_bits_for_any_number_of_threads():
    """All threads of the core and of BLAS are set by the environment, before either is loaded."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NEARLINE_NUM_THREADS")
    one, two, three = (python(FIT, **dict.fromkeys(names, n)).splitlines() for n in "123")
    assert len(one) == 3 * len(CASES)
    assert two == one
    assert three == one


def test_the_limit_can_be_set_and_read():
    before = nearline.get_num_threads()
    try:
        nearline.set_num_threads(1)
        assert nearline.get_num_threads() == 1
        with nearline.num_threads(2):
            assert nearline.get_num_threads() == 2
        assert nearline.get_num_threads() == 1
        with pytest.raises(ValueError, match="at least 1"):
            nearline.set_num_threads(0)
    finally:
        nearline.set_num_threads(before)


def test_fork_after_use_is_safe():
    """A fit in the parent leaves nothing behind that forked children could hang on; they compute the same numbers."""
    script = """
    import multiprocessing, numpy as np
    from nearline import LogisticRegression
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5000, 50)), rng.integers(0, 3, 5000)
    def coefficients(_=None):
        return LogisticRegression().fit(X, y).coef_
    first = coefficients()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(all(np.array_equal(first, coef) for coef in pool.map(coefficients, range(2))))
    """
    assert python(script) == "True\n"


def test_ctrl_c_ends_a_fit():
    """A signal in the middle of a fit raises KeyboardInterrupt and is not taken for the end of it."""
    rng = np.random.default_rng(0)
    risk = Risk(rng.normal(size=(5000, 100)), rng.integers(0, 5, 5000), loss="softmax", alpha=1e-9)
    with interrupted():
        for _ in range(100):
            minimize(risk, "gradient-descent", tol=1e-15, max_iter=10**9)


def test_other_builds_agree():
    """The builds for other instruction sets give the same solutions within the certified gaps."""
    script = """
    import numpy as np
    from nearline import Risk, minimize, _core
    rng = np.random.default_rng(0)
    risk = Risk(rng.normal(size=(300, 20)).astype(np.float32), rng.integers(0, 3, 300), loss="softmax", alpha=1e-2)
    found = _core.isa, minimize(risk, tol=1e-6).value
    """
    here = {}
    exec(textwrap.dedent(script), here)
    assert here["_core"].builds[-1] == "portable"
    for wanted in here["_core"].builds:
        isa, value = python(script + "print(*found)", NEARLINE_ISA=wanted).split()
        assert isa == wanted
        np.testing.assert_allclose(float(value), here["found"][1], rtol=1e-5)


def test_a_build_that_is_not_there_is_refused():
    environment = {**os.environ, "NEARLINE_ISA": "abacus"}
    done = subprocess.run(
        [sys.executable, "-c", "import nearline._core"], capture_output=True, text=True, env=environment
    )
    assert done.returncode
    assert "NEARLINE_ISA=abacus in the environment names no build" in done.stderr
    assert "portable, or leave it out." in done.stderr


def test_import_is_light():
    """`import nearline` loads neither scikit-learn nor scipy nor matplotlib."""
    heavy = ("sklearn", "scipy", "matplotlib", "pandas")
    script = f"import sys, nearline; print([m for m in {heavy} if m in sys.modules])"
    assert python(script) == "[]\n"
