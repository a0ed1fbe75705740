"""Texts: spam among short messages.   python -m examples.texts"""

from pathlib import Path
from typing import Any

from examples._common import data_folder, show
from nearline import TryThemAll


def main(preset: str = "default", out: Path = Path("out/examples")) -> Any:
    file = data_folder() / "sms_spam" / "SMSSpamCollection"
    lines = [line.split("\t", 1) for line in file.read_text(encoding="utf-8").splitlines() if "\t" in line]
    contest = TryThemAll(preset, scoring=["accuracy", "balanced-accuracy", "auc"])
    return show(contest.fit([text for _, text in lines], [label for label, _ in lines]), out, "texts")


if __name__ == "__main__":
    main()
