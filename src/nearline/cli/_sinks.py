"""Where predictions go: standard output, CSV, JSON lines or Parquet; files appear when all is written."""

import csv
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nearline._atomic.whole import WriteError, check_place, put, scratch, written_whole
from nearline.cli._cells import cells
from nearline.cli._errors import UsageError
from nearline.cli._shown import data_stream

ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
Write = Callable[[list[Any]], Any]


def check_ending(out: Path | None) -> None:
    """Refused before work starts rather than after."""
    if out is None:
        return
    if out.suffix.lower() not in ENDINGS:
        raise UsageError(f"{out} ends with none of {', '.join(ENDINGS)}: the ending says the format.")


def check_out(out: Path | None) -> None:
    """Refuse a place that cannot be written, before rows are predicted."""
    if out is None:
        return
    try:
        check_place(out)
    except WriteError as error:
        raise UsageError(str(error)) from error


@contextmanager
def sink(out: Path | None, names: list[str], types: list[str], *, raw: bool = False) -> Iterator[Write]:
    """A function that writes rows. ``types``: of the columns, 'string', 'integer', 'number' or 'boolean'.

    ``raw``: cells of CSV are not made safe for spreadsheets.
    """
    if out is None:
        yield _as_lines(csv.writer(data_stream(), lineterminator="\n"), names, raw)
        return
    if out.suffix.lower() == ".parquet":
        with _parquet(out, names, types) as write:
            yield write
        return
    with written_whole(out, "w", newline="", encoding="utf-8") as file:
        if out.suffix.lower() in (".jsonl", ".ndjson"):
            yield _as_json(file, names)
        else:
            mark = "\t" if out.suffix.lower() == ".tsv" else ","
            writer = csv.writer(file, delimiter=mark, lineterminator="\n")
            writer.writerow(cells(names, raw=raw))
            yield lambda row: writer.writerow(cells(row, raw=raw))


def _as_lines(writer: Any, names: list[str], raw: bool) -> Write:
    """The header comes with the first row: where reading fails, nothing was said that looks like an answer."""
    waiting = [names]

    def write(row: list[Any]) -> None:
        while waiting:
            writer.writerow(cells(waiting.pop(), raw=raw))
        writer.writerow(cells(row, raw=raw))

    return write


def _as_json(file: Any, names: list[str]) -> Write:
    return lambda row: file.write(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) + "\n")


@contextmanager
def _parquet(out: Path, names: list[str], types: list[str]) -> Iterator[Write]:
    """By way of JSON lines, which polars makes Parquet of without having all rows in memory."""
    import polars as pl

    kinds = {"string": pl.String, "integer": pl.Int64, "number": pl.Float64, "boolean": pl.Boolean}
    schema = {name: kinds[kind] for name, kind in zip(names, types, strict=True)}
    place = check_place(out)
    with scratch(place.parent) as folder:
        lines = folder / "rows.jsonl"
        with lines.open("w", encoding="utf-8") as file:
            yield _as_json(file, names)
        made = folder / "rows.parquet"
        if lines.stat().st_size:
            pl.scan_ndjson(lines, schema=schema).sink_parquet(made)
        else:
            pl.DataFrame(schema=schema).write_parquet(made)
        put(made, place)
