"""make compilers: the core built by GCC and by Clang, warnings as errors, and tests of its answers on both.

Searches must give the same bits whichever compiler built them, which the tests below check against slow reference code;
fits must end with the gap that they were asked for. The builds are in build/compilers.
"""

import os
import shutil
import subprocess
import sys
import time

from sanitize import ROOT, configured

COMPILERS = {"gcc": "g++", "clang": "clang++"}
TESTS = ("test_dual", "test_index", "test_losses", "test_passes", "test_rounded", "test_sgd", "test_tree")


def check(name: str, compiler: str) -> None:
    """Build with one compiler, then run the tests on what it built."""
    if shutil.which(compiler) is None:
        sys.exit(
            f"There is no {compiler}: install it (Debian: apt-get install {name}), as both compilers are checked."
        )
    begin = time.perf_counter()
    build = ROOT / "build" / "compilers" / name
    configured(build, CMAKE_BUILD_TYPE="Release", CMAKE_CXX_COMPILER=compiler)
    tests = [f"tests/{test}.py" for test in TESTS]
    start = [sys.executable, str(ROOT / "tools" / "sanitized.py"), "pytest", "-n", "0", "-q", "-x"]
    done = subprocess.run(
        [*start, "-p", "no:cacheprovider", *tests], cwd=ROOT, env={**os.environ, "NEARLINE_BUILD": str(build)}
    )
    print(
        f"-- {name}: {'failed' if done.returncode else 'clean'} after {time.perf_counter() - begin:.0f} s",
        flush=True,
    )
    if done.returncode:
        sys.exit(done.returncode)


def main(names: list[str]) -> None:
    for name in names or COMPILERS:
        if name not in COMPILERS:
            sys.exit(f"There is no compiler {name!r} to check: choose among {', '.join(COMPILERS)}.")
        check(name, COMPILERS[name])


if __name__ == "__main__":
    main(sys.argv[1:])
