"""Tables of heats: for the terminal, for Markdown, for JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.harness import Contest, Heat, Row


@dataclass(frozen=True)
class Result:
    """A heat that was run."""

    contest: str
    goal: str
    title: str
    bar: str
    command: str
    rows: list[Row]

    def best_peer(self) -> Row | None:
        """The fastest other row that reached the bar."""
        counted = [row for row in self.rows if not row.ours and row.ratio is not None]
        return min(counted, key=lambda row: row.ratio or 0.0, default=None)

    def summary(self) -> str:
        best = self.best_peer()
        if best is None:
            ours = any(row.ours and row.reached for row in self.rows)
            return "no peer reached the bar" if ours else "nearline did not reach the bar"
        return f"best peer {best.name}: {best.ratio:.2f}x the time of nearline"


def result(contest: Contest, heat: Heat, command: str, rows: list[Row]) -> Result:
    return Result(contest.name, contest.goal, heat.title, heat.bar, command, rows)


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
    return (
        f"{value:.3g} s"
        if value >= 1
        else f"{value * 1e3:.3g} ms"
        if value >= 1e-3
        else f"{value * 1e6:.3g} us"
    )


def plain(done: Result) -> str:
    """For the terminal."""
    table = cells(done.rows)
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in table]
    return "\n".join(
        [f"\n{done.title}", f"  bar: {done.bar}; goal: {done.goal}", *lines, f"  {done.summary()}"]
    )


def markdown(results: Sequence[Result], environment: str) -> str:
    """For the documentation: the heats of one contest."""
    parts = []
    for done in results:
        head, *body = cells(done.rows)
        lines = [head, ["---"] * len(head), *body]
        rows = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        parts.append(f"**{done.title}** (bar: {done.bar}; goal: {done.goal})\n\n{rows}\n\n{done.summary()}.")
    parts.append(f"`{results[0].command}` on {environment}")
    return "\n\n".join(parts)


def write_markdown(path: Path, results: Sequence[Result], environment: str) -> None:
    """Put each contest's tables between its marks in the file; marks that are missing are added at the end."""
    text = path.read_text() if path.exists() else ""
    for name in dict.fromkeys(done.contest for done in results):
        begin, end = f"<!-- contest {name} -->", f"<!-- end {name} -->"
        block = markdown([done for done in results if done.contest == name], environment)
        if begin not in text or end not in text:
            text = f"{text.rstrip()}\n\n{begin}\n{end}\n".lstrip()
        before, rest = text.split(begin, 1)
        after = rest.split(end, 1)[1]
        text = f"{before}{begin}\n\n{block}\n\n{end}{after}"
    path.write_text(text)


def as_json(results: Sequence[Result], environment: dict[str, str]) -> dict[str, Any]:
    return {"environment": environment, "results": [{**asdict(r), "summary": r.summary()} for r in results]}
