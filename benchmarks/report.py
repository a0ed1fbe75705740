"""Heats that were run: for the terminal, for Markdown."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.harness import Contest, Heat, Row


@dataclass(frozen=True)
class Result:
    """A heat that was run."""

    title: str
    bar: str
    rows: list[Row]

    @classmethod
    def of(cls, heat: Heat, rows: list[Row]) -> "Result":
        return cls(heat.title, heat.bar, rows)

    @classmethod
    def read(cls, stored: dict[str, Any]) -> "Result":
        return cls(stored["title"], stored["bar"], [Row(**row) for row in stored["rows"]])

    def best_peer(self) -> Row | None:
        """The fastest other row that reached the bar."""
        counted = [row for row in self.rows if not row.ours and row.ratio is not None]
        return min(counted, key=lambda row: row.ratio or 0.0, default=None)

    def summary(self) -> str:
        best = self.best_peer()
        if best is not None:
            return f"best peer {best.name}: {best.ratio:.2f}x the time of nearline"
        if all(row.ours for row in self.rows):
            return "no peer takes part"
        reached = any(row.ours and row.reached for row in self.rows)
        return "no peer reached the bar" if reached else "nearline did not reach the bar"


@dataclass(frozen=True)
class Record:
    """A contest that was held: what its data file has."""

    contest: str
    command: str
    environment: str
    heats: list[Result]
    note: str = ""  # what a reader must know of these figures

    @classmethod
    def read(cls, stored: dict[str, Any]) -> "Record":
        return cls(**{**stored, "heats": [Result.read(heat) for heat in stored["heats"]]})

    def stored(self) -> dict[str, Any]:
        return asdict(self)


def cells(rows: Sequence[Row]) -> list[list[str]]:
    """The table as text, header first."""
    names = list(dict.fromkeys(name for row in rows for name in row.quality))
    table = [["contestant", "seconds", "ratio", *names, "note"]]
    for row in rows:
        ratio = "not reached" if not row.reached else "-" if row.ratio is None else f"{row.ratio:.2f}"
        quality = [row.quality.get(name, "") for name in names]
        table.append([row.name, seconds(row.seconds), ratio, *quality, row.note])
    return table


def seconds(value: float | None) -> str:
    if value is None:
        return "-"
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if float(f"{value:.3g}") >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e6:.3g} us"


def plain(done: Result, goal: str) -> str:
    """For the terminal."""
    table = cells(done.rows)
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in table]
    return "\n".join([f"\n{done.title}", f"  bar: {done.bar}; goal: {goal}", *lines, f"  {done.summary()}"])


def markdown(contest: Contest, record: Record) -> str:
    """For the documentation: the heats of one contest."""
    parts = [f"Goal: {contest.goal}.", *([record.note] if record.note else [])]
    if contest.summary is not None:
        return "\n\n".join([*parts, contest.summary(record), f"`{record.command}` on {record.environment}"])
    for done in record.heats:
        head, *body = ([_escaped(cell) for cell in line] for line in cells(done.rows))
        rows = "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *body])
        parts.append(f"**{done.title}** (bar: {done.bar})\n\n{rows}\n\n{done.summary()}.")
    return "\n\n".join([*parts, f"`{record.command}` on {record.environment}"])


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|").replace("*", "\\*")
