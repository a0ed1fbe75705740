"""The journal of ``nearline try``: beside the folder of the output while the contest runs, in it afterwards."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nearline._atomic.whole import place_of
from nearline.cli._errors import TooShortError, note
from nearline.cli._output import JOURNAL, there
from nearline.data import DataError
from nearline.selection.nested import forget


def journal_beside(out: Path) -> Path:
    """Where the journal of a running contest is."""
    place = place_of(out)
    return place.with_name(f"{place.name}.journal")


def check_journal(out: Path, *, resume: bool, force: bool) -> None:
    """Refuse to write over the journal of a contest that did not end, before work starts."""
    if journal_beside(out).exists() and not (resume or force):
        raise DataError(
            f"{journal_beside(out)} is the journal of a contest that did not end: --resume goes on with it, --force begins "
            "anew."
        )


@contextmanager
def journal_for(out: Path, *, resume: bool) -> Iterator[Path | None]:
    """The journal of a contest; None, with a note, where none can be kept. To resume: with what an earlier one finished."""
    place = journal_beside(out)
    with there(place.parent):
        try:
            _prepare(place, out / JOURNAL, resume)
            kept = True
        except OSError as error:
            if resume:
                raise DataError(
                    f"{place} cannot be written ({error.strerror}): give another --out."
                ) from error
            note(f"no journal is kept, as {place} cannot be written ({error.strerror})")
            kept = False
        try:
            yield place if kept else None
        except TooShortError:  # nothing finished that is worth going on with
            forget(place)
            raise
        finally:
            if place.exists() and not place.stat().st_size:
                place.unlink(missing_ok=True)


def _prepare(place: Path, earlier: Path, resume: bool) -> None:
    if not resume:
        forget(place)
    elif not place.exists():
        if earlier.exists():
            shutil.copyfile(earlier, place)
        else:
            note("there is no journal to resume from: the contest begins anew")
    with place.open("ab"):  # whether it can be written
        pass
