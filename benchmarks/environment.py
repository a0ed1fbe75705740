"""What machine and which versions made the figures."""

import os
import platform
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "nearline",
    "numpy",
    "scipy",
    "scikit-learn",
    "liblinear-official",
    "cyanure",
    "celer",
    "skglm",
)
NEIGHBOR_PACKAGES = ("faiss-cpu", "scikit-learn-intelex")


@lru_cache(maxsize=1)
def processor() -> str:
    """Name of the processor, as the system tells it."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip()
            for line in info.read_text().splitlines()
            if line.startswith("model name")
        ]
        if names:
            return names[0]
    return platform.processor() or platform.machine()


def installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def versions() -> str:
    """The peers' versions, on which times that are kept depend."""
    return " ".join(f"{package}={installed(package)}" for package in PACKAGES[1:])


def describe(threads: int = 2) -> dict[str, str]:
    """Processor, cores, load, Python, packages and threads."""
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return {
        "processor": f"{processor()}, {os.cpu_count()} cores, load {load}",
        "python": platform.python_version(),
        **{package: installed(package) for package in PACKAGES + NEIGHBOR_PACKAGES},
        "threads": f"{threads} (LIBLINEAR 1)",
    }


def line(threads: int = 2) -> str:
    return "; ".join(
        f"{name} {value}" if name != "processor" else value for name, value in describe(threads).items()
    )
