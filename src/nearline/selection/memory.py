"""Memory: what the machine has left, and how much of it a contest may keep."""

import os

KEPT = 1.3e9  # bytes of folds that are kept for the next family, so that contests on large data stay small


def available_memory() -> float:
    """Bytes that are free or can be freed; a guess where the system does not say."""
    try:
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return 1024.0 * float(line.split()[1])
    except OSError:
        pass
    try:
        return 0.5 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return 4e9
