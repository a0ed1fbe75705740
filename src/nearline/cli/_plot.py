"""``nearline plot``: which picture, of what, with which settings, into which file."""

from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from nearline._records.visible import visible
from nearline.cli._errors import UsageError, folds_of
from nearline.cli._options import families_in
from nearline.cli._output import check_file
from nearline.cli._reading import Reading, names, rows_of, show
from nearline.data import Table
from nearline.plots import PICTURES, Sample
from nearline.representations import representations

ENDINGS = (".png", ".svg", ".pdf", ".jpg")


def run_plot(
    name: str | None,
    data: Path | None,
    reading: Reading,
    out: Path | None,
    force: bool,
    listed: bool,
    settings: dict[str, Any],
) -> None:
    """Draw a picture into a file, or list them. ``settings``: what a slide says, None where it says nothing."""
    if listed or name is None:
        _list(name)
        return
    if name not in PICTURES:
        near = get_close_matches(name, PICTURES, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise UsageError(f"There is no picture {name!r}.{hint} 'nearline plot --list' shows all.")
    said = {
        key: SETTINGS[key](key, value)
        for key, value in settings.items()
        if value is not None and value is not False
    }
    lacking = [key for key in said if key not in PICTURES[name].takes]
    if lacking:
        raise UsageError(f"Picture {name!r} has no {option(lacking[0])}: it takes {_options(name)}.")
    place = out or Path(f"{name}.png")
    check_ending(place)
    import matplotlib as mpl

    table = None if data is None else reading.labeled(data)
    check_file(place, named=out is not None, force=force)  # what is wrong with the data is said first
    sample = None if table is None else sampled(table)
    with mpl.rc_context({"text.parse_math": False}):  # a dollar in a name is a dollar
        saved(PICTURES[name](sample, **said), place)
    print(f"picture: {visible(place)}")


def option(setting: str) -> str:
    """What the command line calls a setting."""
    return f"--{setting.replace('_', '-')}"


def _options(name: str) -> str:
    return ", ".join(map(option, PICTURES[name].takes))


def _list(name: str | None) -> None:
    """All pictures, or what one takes."""
    if name in PICTURES:
        print(f"{name}: {PICTURES[name].about}. It takes {_options(name)}.")
        return
    width = max(map(len, PICTURES))
    print("\n".join(f"{one:<{width}}  {picture.about}" for one, picture in PICTURES.items()))
    print("\n'nearline plot NAME --list' says what a picture takes.")


def _plain(setting: str, value: Any) -> Any:
    return value


def _words(setting: str, text: str) -> list[str]:
    found = names(text) or []
    if not found:
        raise UsageError(f"{option(setting)} needs a name.")
    return found


def _numbers(setting: str, text: str) -> list[float]:
    try:
        found = [float(part) for part in names(text) or []]
    except ValueError:
        found = []
    if not found:
        raise UsageError(f"{option(setting)} must be numbers with commas, got {text!r}.")
    return found


def _counts(setting: str, text: str) -> list[int]:
    found = names(text) or []
    if not found or not all(part.isdecimal() and int(part) > 0 for part in found):
        raise UsageError(f"{option(setting)} must be whole numbers >= 1 with commas, got {text!r}.")
    return [int(part) for part in found]


def _families(setting: str, text: str) -> list[str]:
    return families_in(text) or []


def _folds(setting: str, text: str) -> int | str:
    return folds_of(text)


# setting -> how its option is read
SETTINGS: dict[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(
        ("model", "k", "metric", "alpha", "loss", "regularizer", "kernel", "steps", "starts"), _plain
    ),
    **dict.fromkeys(
        ("row", "top", "outliers", "preset", "scoring", "random_state", "proba", "natural"), _plain
    ),
    **dict.fromkeys(("metrics", "weights", "losses", "kernels", "solvers"), _words),
    **dict.fromkeys(("alphas", "start", "qs", "scales", "scores"), _numbers),
    "ks": _counts,
    "include": _families,
    "folds": _folds,
}


def check_ending(place: Path) -> None:
    """Refuse a picture whose format is not known."""
    if place.suffix.lower() not in ENDINGS:
        raise UsageError(f"{place} ends with none of {', '.join(ENDINGS)}: the ending says the format.")


def sampled(table: Table) -> Sample:
    """A table that was read as rows to draw, which is shown first."""
    show(table)
    rows = rows_of(table.X)
    transformer = representations(rows, "quick")[0].transformer()
    X = transformer.fit_transform(rows)
    columns = None if table.schema.columns is None else np.array(list(table.schema.columns), dtype=object)
    given = columns if isinstance(rows, np.ndarray) else None
    out = [visible(name) for name in transformer.get_feature_names_out(given)]
    shape = table.description.shape if len(table.description.shape) > 1 else ()
    what = visible(Path(table.description.path).name)
    few = isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.shape[1] <= 2
    return Sample(X, _labels(table), out, rows, shape, what, transformer, rows if few else None)


def _labels(table: Table) -> Any:
    """Labels as they may be shown."""
    y = np.asarray(table.y)
    return np.array([visible(label) for label in y.tolist()]) if y.dtype.kind in "UO" else y


def saved(drawn: Any, place: Path) -> None:
    """The figure of axes, written whole."""
    import matplotlib.pyplot as plt

    from nearline._atomic.whole import written_whole

    figure = np.ravel(np.asarray(drawn, dtype=object))[0].figure
    with written_whole(place) as file:
        figure.savefig(file, dpi=120, format=place.suffix.lower().lstrip("."))
    plt.close(figure)
