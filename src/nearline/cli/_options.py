"""Options that several commands have."""

from pathlib import Path
from typing import Annotated

import typer

from nearline.cli._counted import whole

LARGEST_SEED = 2**32 - 1  # of NumPy's generators

Data = Annotated[
    Path,
    typer.Argument(help="CSV, TSV, Parquet, JSON lines, LIBSVM, .npy, .npz, texts, or a folder of classes"),
]


Target = Annotated[
    str | None, typer.Option("--target", "-t", help="column of the labels: name, number, 'first' or 'last'")
]


Labels = Annotated[Path | None, typer.Option(help="file with one label a line, or .npy")]


Columns = Annotated[str | None, typer.Option(help="columns to classify by, with commas (default: all)")]


Drop = Annotated[str | None, typer.Option(help="columns to leave out, with commas")]


Read = Annotated[
    list[str] | None,
    typer.Option(
        "--read",
        help="KEY=VALUE on how to read: delimiter, header, encoding, missing, format; of images features, size",
    ),
]


Features = Annotated[
    str | None,
    typer.Option(
        help="what rows are seen by, with commas: pixels, histogram, hog, convnet, NETWORK.onnx of images; words, "
        "word-vectors of texts"
    ),
]


FeatureCache = Annotated[
    Path | None, typer.Option(help="folder that keeps what networks see, so that it is computed once")
]


NumberOfFolds = Annotated[str, typer.Option("--folds", help="folds, or leave-one-out")]
ModelFile = Annotated[Path, typer.Argument(help="a file that 'nearline try' wrote")]


AsJson = Annotated[bool, typer.Option("--json", help="print JSON")]


Choose = Annotated[
    str, typer.Option(help="best, or one-se: the simplest within a standard error of the best")
]


Calibrate = Annotated[
    str, typer.Option(help="probabilities: needed, none, auto, temperature, sigmoid or isotonic")
]


ClassWeight = Annotated[str | None, typer.Option(help="balanced, or LABEL=WEIGHT with commas, for fitting")]


Nested = Annotated[bool, typer.Option("--nested", help="cross-validate the whole procedure too")]


Refit = Annotated[str, typer.Option(help="train, or all: fit anew on all rows after the test")]


Reference = Annotated[
    bool | None,
    typer.Option(
        "--reference/--no-reference",
        help="boosted trees beside the contest, never chosen (default: unless quick)",
        show_default=False,
    ),
]


Ensembled = Annotated[
    bool | None,
    typer.Option(
        "--ensemble/--no-ensemble",
        help="the candidates' weighted mean as a further candidate (default: no)",
        show_default=False,
    ),
]


Positive = Annotated[
    str | None, typer.Option(help="positive one of two classes (default: 1 or true, else the rarer)")
]


Bins = Annotated[
    int | None,
    typer.Option(help="classes to make of a target that is a quantity, by quantiles", **whole("--bins", 2)),
]


Classes = Annotated[
    bool, typer.Option("--classes", help="each number of the target is a class, however many there are")
]


RandomState = Annotated[
    int, typer.Option(help="decides folds and test rows", **whole("--random-state", 0, LARGEST_SEED))
]


Memory = Annotated[
    str | None,
    typer.Option(help="such as 2GB: data that need more are read in pieces (default: what is free)"),
]


Dask = Annotated[str | None, typer.Option(help="address of a Dask scheduler, whose workers hold the rows")]


Workers = Annotated[
    int | None,
    typer.Option(help="start so many processes here, which hold the rows", **whole("--workers", 1)),
]


Force = Annotated[bool, typer.Option("--force", help="write over files that are there")]


Picture = Annotated[Path | None, typer.Option(help="file of the picture: .png, .svg or .pdf")]


def families_in(text: str | None) -> list[str] | None:
    """Names of families between commas; those that have a comma themselves, as 'k-NN, L2', are put together again."""
    if text is None:
        return None
    from nearline.cli._reading import names
    from nearline.selection.families import FAMILIES

    known = {name.lower(): name for name in FAMILIES}
    found, parts = [], names(text) or []
    while parts:
        pair = ", ".join(parts[:2]).lower()
        taken = 2 if len(parts) > 1 and pair in known else 1
        found.append(known[pair] if taken == 2 else parts[0])
        parts = parts[taken:]
    return found


def without_a_screen() -> None:
    """Pictures go into files, so that no window is needed; where there is no matplotlib, drawing will say so."""
    import os

    os.environ.setdefault("MPLBACKEND", "Agg")
