"""Short strings: surnames by language, by n-grams of characters.   python -m examples.strings"""

from pathlib import Path
from typing import Any

from examples._common import data_folder, show
from nearline import TryThemAll


def main(preset: str = "default", out: Path = Path("out/examples")) -> Any:
    names, languages = [], []
    for file in sorted((data_folder() / "surnames").glob("*.txt")):
        lines = file.read_text(encoding="utf-8").splitlines()
        names += lines
        languages += [file.stem] * len(lines)
    contest = TryThemAll(preset, scoring=["balanced-accuracy", "accuracy"], class_weight="balanced")
    return show(contest.fit(names, languages), out, "strings")


if __name__ == "__main__":
    main()
