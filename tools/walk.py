"""How many functions and files of nearline five common tasks pass through: ``python tools/walk.py``.

``python tools/walk.py --list fit`` lists the functions of one task in the order of their first calls. A task runs once
before it is counted, so imports do not count. Lambdas, comprehensions and generators count like functions.
"""

import argparse
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType, FrameType

from sklearn.datasets import load_iris

import nearline
from nearline import KernelSVM, KNeighborsClassifier, LogisticRegression, TryThemAll, load, save

SOURCE = str(Path(nearline.__file__).parent) + "/"
X, Y = load_iris(return_X_y=True)


def fit() -> None:
    LogisticRegression().fit(X, Y)


def kernel_fit() -> None:
    KernelSVM().fit(X, Y)


def search() -> None:
    KNeighborsClassifier().fit(X, Y).predict(X)


def contest() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        TryThemAll(progress="silent").fit(X, Y)


@cache
def fitted() -> LogisticRegression:
    return LogisticRegression().fit(X, Y)


def save_load() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.nearline"
        save(fitted(), path)
        load(path)


TASKS: dict[str, tuple[str, Callable[[], None]]] = {
    "fit": ("`LogisticRegression().fit(X, y)`", fit),
    "kernel": ("`KernelSVM().fit(X, y)`", kernel_fit),
    "search": ("`KNeighborsClassifier().fit(X, y).predict(X)`", search),
    "contest": ("`TryThemAll().fit(X, y)`", contest),
    "files": ("`save`, then `load`", save_load),
}


def walk(task: Callable[[], None]) -> list[tuple[str, str]]:
    """(file, function) that a task passes through, in the order of first calls."""
    task()
    codes: dict[CodeType, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(SOURCE):
            codes.setdefault(frame.f_code)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        task()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return [(code.co_filename.removeprefix(SOURCE), code.co_qualname) for code in codes]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", choices=TASKS, help="list the functions of one task")
    chosen = parser.parse_args().list
    if chosen:
        for file, function in walk(TASKS[chosen][1]):
            print(f"{file}: {function}")
        return
    print("| task | functions | files |\n|---|---|---|")
    for title, task in TASKS.values():
        found = walk(task)
        print(f"| {title} | {len(found)} | {len({file for file, _ in found})} |")


if __name__ == "__main__":
    main()
