"""make sanitize: the core under AddressSanitizer, UndefinedBehaviorSanitizer and ThreadSanitizer.

The core is built once more, in build/sanitize. Under AddressSanitizer and UndefinedBehaviorSanitizer the tests below and
a fuzz of every bound function run, on each instruction set that the machine has; under ThreadSanitizer a program of the
threaded paths, tests/native/threads.cpp. A bound function that none of these tests calls ends the run with an error: the
list cannot fall behind the core.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "sanitize"
SUPPRESSIONS = ROOT / "tools" / "sanitizers"
# Tests that reach the core. Each must name a file, and together they must call every bound function.
TESTS = (
    "test_bayes",
    "test_coordinate_descent",
    "test_discriminant",
    "test_dual",
    "test_hostile_arrays",
    "test_index",
    "test_kernel_distances",
    "test_kernel_machines",
    "test_knn",
    "test_passes",
    "test_perceptron",
    "test_rounded",
    "test_sgd",
    "test_smooth_solvers",
    "test_string_kernels",
    "test_tree_kernels",
    "test_true_distances",
)
LEFT_OUT = {"test_refused_threads_change_no_bit"}  # the sanitizers' own threads count towards the limit
PAIRS, CALLS = 60, 2  # of spoiled arguments, and of recorded calls, for each bound function


def run(command: list[str], **environment: str) -> None:
    begin = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment})
    name = " ".join(command[-4:])
    print(
        f"-- {'failed' if done.returncode else 'clean'} after {time.perf_counter() - begin:.0f} s: {name}",
        flush=True,
    )
    if done.returncode:
        sys.exit(done.returncode)


def configured(folder: Path, **options: str) -> None:
    """Build the core in a folder, with options of CMake's; warnings are errors."""
    import nanobind

    tools = Path(sys.executable).parent
    options |= {
        "CMAKE_MAKE_PROGRAM": str(tools / "ninja"),
        "NEARLINE_WERROR": "ON",
        "Python_EXECUTABLE": sys.executable,
        "nanobind_DIR": nanobind.cmake_dir(),
    }
    given = [f"-D{name}={value}" for name, value in options.items()]
    run([str(tools / "cmake"), "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", *given])
    run([str(tools / "cmake"), "--build", str(folder)])


def library(name: str) -> str:
    compiler = os.environ.get("CXX", "c++")
    found = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return str(Path(found.stdout.strip()).resolve())


def watched(isa: str, called: Path) -> dict[str, str]:
    """The environment of a Python whose core is watched."""
    address = (
        "detect_leaks=0",  # the interpreter frees little of its memory at its end
        "allocator_may_return_null=1",  # refused memory is an error of Python's, as without the sanitizer
        # GCC 12 places vectors of 64 bytes at multiples of 32 in the stack frames that this needs, and faults on them
        f"detect_stack_use_after_return={int(isa != 'avx512')}",
        f"suppressions={SUPPRESSIONS / 'address.txt'}",
    )
    undefined = ("print_stacktrace=1", "halt_on_error=1", f"suppressions={SUPPRESSIONS / 'undefined.txt'}")
    return {
        "LD_PRELOAD": f"{library('libasan.so')} {library('libstdc++.so.6')}",
        "ASAN_OPTIONS": ":".join(address),
        "UBSAN_OPTIONS": ":".join(undefined),
        "NEARLINE_ISA": isa,
        "NEARLINE_NUM_THREADS": "2",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONMALLOC": "malloc",  # else small objects share memory, and reading beside them is not seen
        "NEARLINE_CALLED": str(called),
    }


def check_python(isa: str) -> None:
    start = [sys.executable, str(ROOT / "tools" / "sanitized.py")]
    with tempfile.TemporaryDirectory() as folder:
        called = Path(folder) / "called"
        tests = [f"tests/{name}.py" for name in TESTS]
        chosen = " and ".join(f"not {name}" for name in sorted(LEFT_OUT))
        options = ["-n", "0", "-q", "-x", "-p", "no:cacheprovider", "-k", chosen]
        run([*start, "pytest", *options, *tests], **watched(isa, called))
        missing = bound_functions() - set(called.read_text().split())
        if missing:
            sys.exit(
                f"No test of the list calls {', '.join(sorted(missing))}: add one that does to tools/sanitize.py."
            )
        run([*start, "benchmarks.attacks._bindings", str(PAIRS), str(CALLS)], **watched(isa, called))


def bound_functions() -> set[str]:
    from enum import EnumType

    from nearline import _core

    named = vars(_core.chosen).items()
    return {
        name for name, thing in named if name[0] != "_" and name != "Search" and type(thing) is not EnumType
    }


def main() -> None:
    begin = time.perf_counter()
    configured(BUILD, CMAKE_BUILD_TYPE="None", NEARLINE_SANITIZE="ON")
    thread = {"TSAN_OPTIONS": f"halt_on_error=1:suppressions={SUPPRESSIONS / 'thread.txt'}"}
    run([str(BUILD / "threads")], **thread)
    for isa in ("portable", "avx2", "avx512"):
        if any(BUILD.glob(f"_{isa}.*.so")):
            check_python(isa)
    print(f"All clean after {(time.perf_counter() - begin) / 60:.0f} minutes.")


if __name__ == "__main__":
    main()
