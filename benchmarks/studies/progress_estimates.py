"""How good the time left is that a contest shows: python -m benchmarks.studies.progress_estimates [NAME ...].

Prints the estimated total over the true one after 10%, 25% and 50% of the time; "-" where nothing was shown yet. Time is the
processor time of one thread, which other work on the machine does not change.
"""

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits

from benchmarks.data import data_folder
from benchmarks.studies._processor import by_processor_time

by_processor_time()

from nearline import TryThemAll, num_threads  # noqa: E402 - they take their clocks when they are imported
from nearline.data import read  # noqa: E402
from nearline.selection import forecast  # noqa: E402
from nearline.selection.progress import Progress  # noqa: E402

MOMENTS = (0.1, 0.25, 0.5)
LARGE = 100_000  # rows of which a quick contest takes minutes


class Recorder(Progress):
    """Keeps (seconds, share) of every word."""

    def __init__(self) -> None:
        self.words: list[tuple[float, float]] = []
        self.total = 0.0

    def clock(self) -> float:
        return time.process_time()

    def advance(self, share: float, doing: str) -> None:
        self.words.append((self.clock() - self._start, share))

    def end(self) -> None:
        self.total = self.clock() - self._start


def file(name: str, rows: int | None = None, **options: Any) -> Callable[[], tuple[Any, Any]]:
    def rows_of() -> tuple[Any, Any]:
        folder = data_folder()
        if folder is None:
            raise SystemExit("Set NEARLINE_DATA to a folder with the data.")
        table = read(folder / name, **options)
        return table.X[:rows], np.asarray(table.y)[:rows]

    return rows_of


def numbers(n: int) -> tuple[Any, Any]:
    """Rows of 10 numbers, of two classes that overlap."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10))
    return X, (X[:, :3].sum(axis=1) + rng.normal(size=n) > 0).astype(int)


CONTESTS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "penguins": file("tabular_mixed/penguins.csv", target="species"),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "digits": lambda: load_digits(return_X_y=True),
    "SMS": file("sms_spam/SMSSpamCollection", 2500),
    "Adult, 4,000 rows": file("tabular_mixed/adult.data", 4000, target="last"),
    "numbers, 200,000 rows": lambda: numbers(200_000),
}


def ratios(recorder: Recorder) -> list[float | None]:
    """Estimated total over the true one, by the last word before each moment."""
    found: list[float | None] = []
    for moment in MOMENTS:
        before = [one for one in recorder.words if one[0] <= moment * recorder.total and one[1] > 0]
        found.append(before[-1][0] / before[-1][1] / recorder.total if before else None)
    return found


def main(names: list[str]) -> None:
    forecast.FEWEST = 0.0  # seconds: small contests are over before a person would be told
    warnings.simplefilter("ignore")
    print(
        f"| contest | seconds | {' | '.join(f'{moment:.0%}' for moment in MOMENTS)} |\n|---|---:|---:|---:|---:|"
    )
    for name in names or CONTESTS:
        recorder = Recorder()
        X, y = CONTESTS[name]()
        with num_threads(1):
            TryThemAll("quick" if len(y) > LARGE else "default", progress=recorder).fit(X, y)
        cells = ["-" if one is None else f"{one:.2f}" for one in ratios(recorder)]
        print(f"| {name} | {recorder.total:.0f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
