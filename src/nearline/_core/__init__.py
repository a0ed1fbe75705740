"""The compiled core, in the widest instruction set that this machine has.

``NEARLINE_ISA`` in the environment (portable, avx2 or avx512) forces another build that it can run (used to test them).
"""

import os
from importlib import import_module
from importlib.util import find_spec

from nearline._core import _portable

# Builds that are here and that this machine can run, the widest first.
builds = tuple(name for name in _portable.instruction_sets() if find_spec(f"nearline._core._{name}"))


def _wanted() -> str:
    wanted = os.environ.get("NEARLINE_ISA", "").strip()
    if wanted and wanted not in builds:
        raise ImportError(
            f"NEARLINE_ISA={wanted} in the environment names no build of the core that this machine can run: "
            f"set it to {' or '.join(builds)}, or leave it out."
        )
    return wanted or builds[0]


isa = _wanted()
chosen = import_module(f"nearline._core._{isa}")

globals().update({name: getattr(chosen, name) for name in dir(chosen) if not name.startswith("_")})


def default_threads() -> int:
    """Number of threads that the environment asks for, else the cores this process may use."""
    for name in ("NEARLINE_NUM_THREADS", "OMP_NUM_THREADS"):
        text = os.environ.get(name, "").split(",")[0].strip()
        if text.isdigit() and int(text) > 0:
            return int(text)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        return os.cpu_count() or 1


chosen.set_thread_limit(default_threads())
