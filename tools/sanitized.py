"""Run Python with a core built elsewhere in the place of the installed one: sanitized.py MODULE [ARGUMENT ...]

Called by tools/sanitize.py, which sets what the sanitizers need, and by tools/compilers.py. The core is that of the folder
NEARLINE_BUILD, else of build/sanitize. At the end the bound functions that were called are
added to the file that NEARLINE_CALLED names.
"""

import atexit
import importlib.util
import os
import runpy
import sys
from collections.abc import Callable
from enum import EnumType
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("NEARLINE_BUILD", ROOT / "build" / "sanitize"))

called: set[str] = set()


def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*given: Any, **named: Any) -> Any:
        called.add(name)
        return function(*given, **named)

    call.__name__, call.__doc__ = name, function.__doc__
    return call


def loaded(name: str) -> ModuleType:
    """A module of the core as it was built for the sanitizers; the package finds it as its own."""
    path = next(BUILD.glob(f"{name}.*.so"))
    spec = importlib.util.spec_from_file_location(f"nearline._core.{name}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no module: run tools/sanitize.py.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for public, thing in list(vars(module).items()):
        if not public.startswith("_") and public != "Search" and type(thing) is not EnumType:
            setattr(module, public, counted(public, thing))
    sys.modules[spec.name] = module
    return module


def tell() -> None:
    path = os.environ.get("NEARLINE_CALLED")
    if path and called:
        with open(path, "a") as stream:
            stream.write("\n".join(sorted(called)) + "\n")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    for core in ("_portable", "_avx2", "_avx512"):
        if any(BUILD.glob(f"{core}.*.so")):
            loaded(core)
    atexit.register(tell)
    sys.argv = sys.argv[1:]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
