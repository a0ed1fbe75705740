"""``nearline plot`` and ``nearline demo``."""

from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from nearline._records.visible import visible
from nearline.cli._errors import UsageError
from nearline.cli._output import check_file
from nearline.cli._reading import Reading, rows_of, show
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
        width = max(map(len, PICTURES))
        print("\n".join(f"{one:<{width}}  {picture.about}" for one, picture in PICTURES.items()))
        return
    if name not in PICTURES:
        near = get_close_matches(name, PICTURES, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise UsageError(f"There is no picture {name!r}.{hint} 'nearline plot --list' shows all.")
    said = {key: value for key, value in settings.items() if value is not None and value is not False}
    lacking = [key for key in said if key not in PICTURES[name].takes]
    if lacking:
        taken = ", ".join(f"--{key}" for key in PICTURES[name].takes) or "none of them"
        raise UsageError(
            f"Picture {name!r} has no --{lacking[0]}: of --model, --k and so on it takes {taken}."
        )
    place = out or Path(f"{name}.png")
    check_ending(place)
    import matplotlib as mpl

    table = None if data is None else reading.labeled(data)
    check_file(place, named=out is not None, force=force)  # what is wrong with the data is said first
    sample = None if table is None else sampled(table)
    with mpl.rc_context({"text.parse_math": False}):  # a dollar in a name is a dollar
        saved(PICTURES[name](sample, **said), place)
    print(f"picture: {visible(place)}")


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
