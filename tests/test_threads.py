"""Same bits on any number of threads; fork, processes and Ctrl-C are safe."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import nearline

FIT = """
import hashlib, numpy as np
from scipy.sparse import random as random_sparse
from nearline import Risk, minimize
rng = np.random.default_rng(0)
digest = hashlib.sha256()
dense = rng.normal(size=(3000, 150)).astype(np.float32)
sparse = random_sparse(2000, 15000, density=0.01, format="csr", rng=rng)
for X in (dense, sparse):
    y = rng.integers(0, 4, X.shape[0])
    for loss, regularizer, solver in {cases}:
        risk = Risk(X, y, loss=loss, regularizer=regularizer, alpha=1e-2)
        digest.update(minimize(risk, solver, tol=1e-3, max_iter=30).params.flat.tobytes())
print(digest.hexdigest())
"""


def digest(threads, cases, **environment):
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": str(threads),
        "OPENBLAS_NUM_THREADS": str(threads),
        **environment,
    }
    environment.pop("NEARLINE_NUM_THREADS", None)
    script = FIT.replace("{cases}", repr(cases))
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.parametrize(
    "cases",
    [
        [("softmax", "l2", "auto"), ("softmax", "l2", "lbfgs"), ("squared", "l2", "auto")],
        [("logistic", "l2", "newton-cg"), ("squared-hinge", "l2", "auto"), ("sparsemax", "l2", "auto")],
        [("hinge", "l2", "auto"), ("crammer-singer", "l2", "auto"), ("weston-watkins", "l2", "auto")],
        [("logistic", "l1", "auto"), ("softmax", "elastic-net", "auto"), ("hinge", "l2", "sgd")],
    ],
    ids=lambda cases: cases[0][0] + "-" + cases[0][1],
)
def test_same_bits_for_any_number_of_threads(cases):
    assert len({digest(threads, cases) for threads in (1, 2, 3)}) == 1


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
    """A fit in the parent leaves nothing behind that a forked child could hang on."""
    script = """
    import os, numpy as np
    from nearline import LogisticRegression
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5000, 50)), rng.integers(0, 3, 5000)
    first = LogisticRegression().fit(X, y).coef_
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(LogisticRegression().fit(X, y).coef_, first) else 3)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.strip() == "0", done.stderr


def test_ctrl_c_ends_a_fit():
    """A signal in the middle of a long fit raises KeyboardInterrupt; the process does not wait for the fit to end."""
    script = """
    import numpy as np, signal, sys
    from nearline import Risk, minimize
    signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
    rng = np.random.default_rng(0)
    risk = Risk(rng.normal(size=(20000, 100)), rng.integers(0, 5, 20000), loss="softmax", alpha=1e-9)
    def started(n, state):
        if n == 1:
            print("started", flush=True)
    try:
        minimize(risk, "gradient-descent", tol=1e-15, max_iter=10**9, callback=started)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline().strip() == "started"
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=120)
    assert output.strip() == "interrupted"


def test_portable_build_agrees():
    """The build without AVX2 gives the same solutions within the certified gaps."""
    script = """
    import numpy as np
    from nearline import Risk, minimize, _core
    rng = np.random.default_rng(0)
    risk = Risk(rng.normal(size=(300, 20)).astype(np.float32), rng.integers(0, 3, 300), loss="softmax", alpha=1e-2)
    print(_core.isa, minimize(risk, tol=1e-6).value)
    """
    values = {}
    for isa in ("portable", "best"):
        environment = {**os.environ, "NEARLINE_ISA": isa}
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(script)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        name, value = done.stdout.split()
        values[isa] = float(value)
        assert isa == "best" or name == "portable"
    np.testing.assert_allclose(values["portable"], values["best"], rtol=1e-5)


def test_import_is_light():
    """`import nearline` loads neither scikit-learn nor scipy nor matplotlib."""
    heavy = ("sklearn", "scipy", "matplotlib", "pandas")
    script = f"import sys, nearline; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
