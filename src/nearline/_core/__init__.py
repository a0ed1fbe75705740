"""The compiled core, in the widest instruction set that this machine has.

``NEARLINE_ISA=portable`` in the environment forces the portable build (used to test it).
"""

import os

from nearline._core import _portable

if _portable.cpu_supports_avx2() and os.environ.get("NEARLINE_ISA") != "portable":
    from nearline._core import _avx2 as chosen

    isa = "avx2"
else:
    chosen = _portable
    isa = "portable"

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
