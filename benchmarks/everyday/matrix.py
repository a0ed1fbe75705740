"""The matrix of a record: ratios by model and shape, the worst cells first, means, and the picture."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.report import Record, Result, Row

SMALL = 1000  # rows up to which the mean of its own is taken
LEAST, EVEN = 0.9, 1.0
WORST = 25  # cells that are listed


@dataclass(frozen=True)
class Cell:
    """One heat: times of the peers over that of nearline, None where a peer did not end; lost where ours is worse."""

    model: str
    shape: str
    ratio: float | None
    accelerated: float | None
    parts: tuple[float, ...]  # of fit, one row, a thousand rows
    lost: bool

    @property
    def rows(self) -> int:
        return int(self.shape.split(" x ")[0].replace(",", ""))


def cells(record: Record) -> list[Cell]:
    return [_cell(heat) for heat in record.heats]


def _cell(heat: Result) -> Cell:
    model, _, shape = heat.title.partition(": ")
    by_name = {row.name: row for row in heat.rows}
    ours, theirs = by_name["nearline"], by_name["scikit-learn"]
    ratios = [_ratio(by_name.get(name), ours) for name in ("scikit-learn", "scikit-learn-intelex")]
    both = ours.seconds is not None and theirs.seconds is not None
    parts = [float(theirs.quality[p]) / float(ours.quality[p]) for p in _parts(ours)] if both else []
    return Cell(model, shape, ratios[0], ratios[1], tuple(parts), not ours.reached)


def _parts(row: Row) -> list[str]:
    return [name for name in row.quality if name.endswith("(ms)")]


def _ratio(peer: Row | None, ours: Row) -> float | None:
    if peer is None or peer.seconds is None or ours.seconds is None:
        return None
    return peer.seconds / ours.seconds


def geometric_mean(ratios: list[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios)))) if ratios else float("nan")


def summary(record: Record) -> str:
    """What the goals ask, and the worst cells."""
    found = cells(record)
    held = [cell for cell in found if cell.ratio is not None]
    ratios = [cell.ratio for cell in held if cell.ratio is not None]
    small = [cell.ratio for cell in held if cell.ratio is not None and cell.rows <= SMALL]
    beside = [cell.accelerated for cell in found if cell.accelerated is not None]
    lines = [
        f"{len(found)} cells, {len(held)} with a time of scikit-learn; lost for a worse answer: {sum(c.lost for c in found)}",
        f"geometric mean: {geometric_mean(ratios):.2f}x scikit-learn, {geometric_mean(small):.2f}x up to {SMALL:,} rows "
        f"({len(small)} cells), {geometric_mean(beside):.2f}x scikit-learn-intelex ({len(beside)} cells)",
        f"below {LEAST}x: {sum(r < LEAST for r in ratios)}; below {EVEN:g}x: {sum(r < EVEN for r in ratios)}",
        "",
        "| worst cells | fit + predict | scikit-learn-intelex | fit | predict 1 | predict 1,000 | |",
        "| --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ]
    worst = sorted(held, key=lambda cell: (not cell.lost, cell.ratio))
    return "\n".join([*lines, *(_line(cell) for cell in worst[:WORST])])


def _line(cell: Cell) -> str:
    parts = [f"{part:.2f}" for part in cell.parts]
    accelerated = "" if cell.accelerated is None else f"{cell.accelerated:.2f}"
    lost = "worse answer" if cell.lost else ""
    return f"| {cell.model}: {cell.shape} | {cell.ratio:.2f} | {accelerated} | {' | '.join(parts)} | {lost} |"


def draw(record: Record, path: Path) -> None:
    """Models across, shapes down; each cell its ratio, colored by its logarithm."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    found = cells(record)
    models = list(dict.fromkeys(cell.model for cell in found))
    shapes = list(dict.fromkeys(cell.shape for cell in found))
    grid = np.full((len(shapes), len(models)), np.nan)
    for cell in found:
        if cell.ratio is not None:
            grid[shapes.index(cell.shape), models.index(cell.model)] = cell.ratio
    figure, ax = plt.subplots(figsize=(10.5, 0.34 * len(shapes) + 1.6), layout="constrained")
    ax.imshow(np.log2(grid), cmap="PuOr", vmin=-4, vmax=4, aspect="auto")
    for (i, j), ratio in np.ndenumerate(grid):
        if np.isfinite(ratio):
            weight = "bold" if ratio < LEAST else "normal"
            color = "white" if abs(np.log2(ratio)) > 2.5 else "black"
            ax.text(j, i, f"{ratio:.2g}" if ratio < 100 else f"{ratio:.0f}", ha="center", va="center", color=color,
                    fontsize=8, fontweight=weight)  # fmt: skip
    ax.set_xticks(range(len(models)), models, rotation=35, ha="right", fontsize=8)
    ax.set_yticks(range(len(shapes)), shapes, fontsize=8)
    ax.set_title("time of scikit-learn over that of nearline, fit + predict of 1,000 rows", fontsize=9)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)
