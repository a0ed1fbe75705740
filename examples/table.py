"""A mixed table with missing values: Palmer penguins.   python -m examples.table"""

from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd

from examples._common import show
from nearline import TryThemAll


def main(preset: str = "default", out: Path = Path("out/examples")) -> Any:
    with files("palmerpenguins").joinpath("data/penguins.csv").open() as file:
        table = pd.read_csv(file)
    contest = TryThemAll(preset, scoring=["accuracy", "log-loss"])
    return show(contest.fit(table.drop(columns="species"), table["species"]), out, "table")


if __name__ == "__main__":
    main()
