"""The command line by the clock of the processor: ``python -m benchmarks.studies._processor try ...``.

Limits and forecasts are then in seconds of processor time, on one thread, which other work on the machine does not change.
"""

import sys
import time


def by_processor_time() -> None:
    """All clocks of what is imported from now on are that of the processor."""
    time.monotonic = time.perf_counter = time.process_time


def main() -> int:
    by_processor_time()
    from nearline import num_threads
    from nearline.cli._run import run

    with num_threads(1):
        return int(run(sys.argv[1:]) or 0)


if __name__ == "__main__":
    sys.exit(main())
