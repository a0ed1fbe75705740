"""``nearline try`` on data larger than memory or than one machine: read in pieces for each pass, or held by a cluster."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nearline._arrays.blocks import Blocks
from nearline._arrays.doors import BlockedRows
from nearline._atomic.whole import place_of, scratch
from nearline._records.visible import visible
from nearline._records.words import many
from nearline.cli._errors import UsageError, note
from nearline.cli._output import check_folder, there
from nearline.cli._tried import Request
from nearline.data import Table
from nearline.data.bins import refuse_quantity
from nearline.data.pieces import Look, in_pieces, look, table_size
from nearline.selection.memory import available_memory
from nearline.selection.try_all import TryThemAll

NEEDED = 4.0  # times the table: what reading and a contest hold
SURELY_SMALL = 0.01  # of the budget: no file unpacks to more than a hundred times its size
SHARE = (
    48.0  # pieces that would fill the memory: a piece is held as it was read, as an array, and as it is shown
)
LEAST, MOST = 1_000, 1_000_000  # rows of a piece
UNITS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}


def memory_of(text: str | None) -> float:
    """--memory: bytes, as 500MB, 2GB or 1.5g; by default what the machine has left."""
    if text is None:
        return available_memory()
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(?:i?b)?\s*", text.lower())
    if found is None or not float(found[1]) > 0:
        raise UsageError(f"--memory is a size such as 500MB or 2GB, got {text!r}.")
    return float(found[1]) * UNITS[found[2]]


def is_big(request: Request) -> bool:
    """Whether the data are to be read in pieces: a cluster is asked for, or memory does not hold them."""
    if request.dask is not None and request.workers is not None:
        raise UsageError("--dask uses a cluster that runs, --workers starts one: give one of them.")
    budget = memory_of(request.memory)
    place, kind = request.data, request.reading.options.get("format")
    asked = request.dask is not None or request.workers is not None
    if not asked and place.is_file() and place.stat().st_size < SURELY_SMALL * budget:
        return False
    if not in_pieces(place, kind):
        if asked:
            raise UsageError(
                f"{place} cannot be read in pieces: leave --dask and --workers out, or give Parquet (a file or a folder), "
                "CSV or JSON lines."
            )
        return False
    return asked or NEEDED * table_size(place, kind)[1] > budget


@contextmanager
def blocks_of(request: Request) -> Iterator[tuple[BlockedRows, Look]]:
    """The rows in blocks with their labels, where they are asked to be, and what a look at all of them found."""
    _refuse(request)
    check_folder(request.out, request.force or request.resume)
    budget = memory_of(request.memory)
    rows, size = table_size(request.data, request.reading.options.get("format"))
    _tell(request, rows, size, budget)
    with there(place_of(request.out).parent) as beside, scratch(beside) as folder:
        found = look(
            request.data,
            request.reading.target,
            rows=_piece_rows(request.data, rows, size, budget / (request.workers or 1)),
            scratch=folder,
            columns=request.reading.columns,
            drop=request.reading.drop,
            told=None if request.quiet or request.json else _told,
            **request.reading.options,
        )
        if not request.reading.classes:
            refuse_quantity(found.labels, found.description.target, ", ".join(found.schema.columns or {}))
        with _held(request, found, budget) as blocks:
            yield BlockedRows(blocks), found


@contextmanager
def _held(request: Request, found: Look, budget: float) -> Iterator[Blocks]:
    if request.dask is None and request.workers is None:
        yield found.blocks()
        return
    try:
        from nearline.cluster import connected, placed
    except ImportError as error:
        raise ImportError("Clusters need Dask: pip install 'nearline[cluster]'") from error
    with connected(request.dask, request.workers, budget) as (client, said):
        if not request.json:
            print(f"{visible(said)}\n", flush=True)
        yield placed(client, found.pieces)


def _refuse(request: Request) -> None:
    """Options that need all rows at hand."""
    options = request.reading.options
    try:
        share = request.test == "none" or 0 < float(request.test) < 1
    except ValueError:
        share = False
    refused = {
        "--groups": request.groups is not None,
        "--time": request.time is not None,
        "--labels": request.reading.labels is not None,
        "--bins": "bins" in options,
        "--time-limit": request.time_limit is not None,
        "--resume": request.resume,
        "--features": request.features is not None,
        "--nested": request.settings.nested,
        "--refit": request.settings.refit != "train",
        "--calibrate": request.settings.calibrate not in ("needed", "none"),
        "--reference": bool(request.settings.reference),
        "--ensemble": bool(request.settings.ensemble),
        "--folds leave-one-out": not request.folds.isdecimal(),
        f"--test {request.test}": not share,
    }
    for option, given in refused.items():
        if given:
            raise UsageError(
                f"{option} needs all rows at hand, and these are read in pieces: leave it out, or give more --memory."
            )
    if request.reading.target is None:
        raise UsageError("Which column holds the labels? Rows that are read in pieces need --target.")


def _tell(request: Request, rows: int | None, size: float, budget: float) -> None:
    """How the data will be read, before they are."""
    if request.json:
        return
    counted = "" if rows is None else f"{many(rows, 'row')}, "
    held = (
        "workers hold its pieces"
        if request.dask is not None or request.workers is not None
        else "it is read again, piece by piece, for each pass"
    )
    print(
        visible(
            f"{request.data}: {counted}about {_said(size)} as a table; in memory a contest needs about "
            f"{_said(NEEDED * size)}, and --memory is {_said(budget)}: {held}"
        ),
        flush=True,
    )


def _said(size: float) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def _piece_rows(path: Path, rows: int | None, size: float, budget: float) -> int:
    """Rows of a piece that memory holds several times over."""
    if rows:
        wide = size / rows
    else:
        with path.open("rb") as file:
            begin = file.read(1 << 16)
        wide = max(8.0, len(begin) / max(1, begin.count(b"\n")))
    return int(min(MOST, max(LEAST, budget / (SHARE * wide))))


def _told(rows: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{rows:,} rows seen", end="", file=sys.stderr, flush=True)


def table_of(contest: TryThemAll, found: Look) -> Table:
    """The rows that came here, as a table of the whole file."""
    rows = contest.training_part()
    return Table(rows[0], rows[1], found.description, found.schema, found.places)


def check_saved(contest: TryThemAll) -> None:
    """Say where a model has no probabilities, as none are calibrated on rows in blocks."""
    if contest.has_model and not callable(getattr(contest.model_, "predict_proba", None)):
        note(
            f"{contest.chosen_.family} gives no probabilities, and rows in pieces are not calibrated on: --scoring log-loss "
            "chooses among families that do"
        )
