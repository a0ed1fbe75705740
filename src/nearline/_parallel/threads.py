"""How many threads the compiled core may use.

At the start it is what ``NEARLINE_NUM_THREADS`` or ``OMP_NUM_THREADS`` say (joblib sets the latter in its workers),
else the number of cores that the process may use. Limits set with threadpoolctl hold too. Threads live for one call
into the core, so a process may fork at any time; results do not depend on their number.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from nearline import _core


def get_num_threads() -> int:
    """Largest number of threads that any computation uses."""
    return _core.thread_limit()


def set_num_threads(n: int) -> None:
    """Set the largest number of threads that any computation uses, in the whole process.

    Examples
    --------
    >>> import nearline
    >>> before = nearline.get_num_threads()
    >>> nearline.set_num_threads(1)
    >>> nearline.get_num_threads()
    1
    >>> nearline.set_num_threads(before)
    """
    if not (isinstance(n, (int, np.integer)) and n >= 1):
        raise ValueError(f"The number of threads must be an integer of at least 1, got {n!r}.")
    _core.set_thread_limit(int(n))


@contextmanager
def num_threads(n: int) -> Iterator[None]:
    """Limit the number of threads for the time of a ``with`` block.

    Examples
    --------
    >>> import nearline
    >>> with nearline.num_threads(1):
    ...     nearline.get_num_threads()
    1
    """
    before = get_num_threads()
    set_num_threads(n)
    try:
        yield
    finally:
        set_num_threads(before)


def register_with(threadpoolctl: Any) -> None:
    """Make ``threadpoolctl.threadpool_limits`` know the core. ``threadpoolctl`` is the module."""

    class NearlineController(threadpoolctl.LibController):  # type: ignore[misc]
        user_api = "nearline"
        internal_api = "nearline"
        filename_prefixes = (f"_{_core.isa}",)
        check_symbols = ("nearline_set_num_threads", "nearline_get_num_threads")

        def get_num_threads(self) -> int:
            return int(self.dynlib.nearline_get_num_threads())

        def set_num_threads(self, num_threads: int) -> None:
            self.dynlib.nearline_set_num_threads(num_threads)

        def get_version(self) -> None:
            return None

    threadpoolctl.register(NearlineController)


# Importing threadpoolctl is not worth it for those who do not use it; scikit-learn does, before any estimator is made.
if "threadpoolctl" in sys.modules:
    register_with(sys.modules["threadpoolctl"])
