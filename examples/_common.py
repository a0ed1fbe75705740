"""What the examples share: where real data are, and how a contest is shown."""

import os
from pathlib import Path
from typing import Any

from nearline import TryThemAll, plots


def data_folder() -> Path:
    """The folder of real data: NEARLINE_DATA, or ../shared/data beside the repository."""
    folder = Path(os.environ.get("NEARLINE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
    if not folder.is_dir():
        raise SystemExit(f"This example reads real data, and there is no folder {folder}: set NEARLINE_DATA.")
    return folder


def show(contest: TryThemAll, out: Path, name: str) -> Any:
    """Leaderboard, findings and test result on the terminal, pictures in a folder."""
    import matplotlib

    matplotlib.use("Agg")
    print(contest.leaderboard_)
    for finding in contest.findings_:
        print(f"{finding.severity}: {finding.subject}: {finding.message} {finding.remedy}")
    result = contest.open_test()
    print(result)
    out.mkdir(parents=True, exist_ok=True)
    pictures = {
        "leaderboard": lambda: plots.plot_leaderboard(contest.leaderboard_),
        "confusion": lambda: plots.plot_confusion(result.confusion, result.classes),
    }
    for picture, draw in pictures.items():
        figure = draw().figure
        figure.savefig(out / f"{name}-{picture}.png", dpi=110)
        matplotlib.pyplot.close(figure)
    return result
