"""Commands and their options."""

from pathlib import Path
from typing import Annotated, Any

import typer

from nearline.cli._errors import MISUSED, guarded
from nearline.cli._signals import heeded

app = typer.Typer(
    help="Try every nearest-neighbor, linear and naive Bayes classifier on your data, honestly.",
    epilog="Begin with:  nearline try DATA --target COLUMN",
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
# What wrong options raise: typer brings its own click, or takes the one installed.
USAGE: Any = typer.BadParameter.__mro__[1]
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
ModelFile = Annotated[Path, typer.Argument(help="a file that 'nearline try' wrote")]
AsJson = Annotated[bool, typer.Option("--json", help="print JSON")]
Positive = Annotated[
    str | None, typer.Option(help="positive one of two classes (default: 1 or true, else the rarer)")
]
Bins = Annotated[
    int | None, typer.Option(help="classes to make of a target that is a quantity, by quantiles")
]
Classes = Annotated[
    bool, typer.Option("--classes", help="each number of the target is a class, however many there are")
]
NumberOfFolds = Annotated[str, typer.Option("--folds", help="folds, or leave-one-out")]
RandomState = Annotated[int, typer.Option(help="decides folds and test rows")]
Force = Annotated[bool, typer.Option("--force", help="write over files that are there")]
Picture = Annotated[Path | None, typer.Option(help="file of the picture: .png, .svg or .pdf")]


@app.callback()
def nearline(
    version: Annotated[bool, typer.Option("--version", help="print the version and exit")] = False,
) -> None:
    if version:
        from nearline import __version__

        print(f"nearline {__version__}")
        raise typer.Exit


@app.command("try", epilog="Example:  nearline try penguins.csv --target species")
def try_(
    data: Data,
    target: Target = None,
    scoring: Annotated[
        str, typer.Option(help="what decides; several with commas: accuracy,log-loss")
    ] = "accuracy",
    positive: Positive = None,
    folds: NumberOfFolds = "5",
    groups: Annotated[str | None, typer.Option(help="column: rows of one group stay together")] = None,
    time: Annotated[str | None, typer.Option(help="column to sort by: test on the last rows")] = None,
    test: Annotated[str, typer.Option(help="share of the rows to lock away, a file, or 'none'")] = "0.2",
    openings: Annotated[
        Path | None, typer.Option(help="file that counts how often these test rows were opened")
    ] = None,
    include: Annotated[str | None, typer.Option(help="families, with commas: logistic,k-NN")] = None,
    exclude: Annotated[str | None, typer.Option(help="families, with commas")] = None,
    preset: Annotated[str, typer.Option(help="quick, default or thorough")] = "default",
    time_limit: Annotated[float | None, typer.Option(help="seconds")] = None,
    random_state: RandomState = 0,
    jobs: Annotated[int | None, typer.Option(help="threads (default: all)")] = None,
    labels: Labels = None,
    columns: Columns = None,
    drop: Drop = None,
    read: Read = None,
    bins: Bins = None,
    classes: Classes = False,
    out: Annotated[Path, typer.Option(help="folder for what is written")] = Path("nearline-out"),
    force: Annotated[bool, typer.Option("--force", help="write into a folder that has files")] = False,
    json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress")] = False,
) -> int:
    """Try every model, choose on folds, test once, write a report."""
    from nearline.cli._reading import Reading
    from nearline.cli._try import Request, run_try

    reading = Reading.of(target, labels, columns, drop, read, bins, classes)
    return run_try(
        Request(
            data, reading, scoring.split(","), positive, folds, groups, time, test, _families(include),
            _families(exclude) or (), preset, time_limit, random_state, jobs, out, force, json, quiet, openings,
        )
    )  # fmt: skip


@app.command(epilog="Example:  nearline predict nearline-out/model.nearline new.csv --proba --out labels.csv")
def predict(
    model: ModelFile,
    data: Data,
    proba: Annotated[bool, typer.Option("--proba", help="probabilities too")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="a column that says why")] = False,
    out: Annotated[
        Path | None, typer.Option(help="file: .csv, .tsv, .jsonl or .parquet (default: standard output)")
    ] = None,
    raw: Annotated[
        bool,
        typer.Option("--raw", help="CSV cells as they are, though a spreadsheet may take them for formulas"),
    ] = False,
    read: Read = None,
) -> None:
    """Predict rows in order; the data may be larger than memory."""
    from nearline.cli._reading import Reading
    from nearline.cli._use import run_predict

    run_predict(model, data, proba, explain, out, Reading.of(options=read), raw=raw)


@app.command(epilog="Example:  nearline explain nearline-out/model.nearline new.csv --row 1 --row 7")
def explain(
    model: ModelFile,
    data: Data,
    row: Annotated[list[int] | None, typer.Option(help="rows, counted from 1 (default: the first 5)")] = None,
    training: Annotated[
        Path | None, typer.Option(help="the model's training data, if moved: its rows are shown as neighbors")
    ] = None,
    read: Read = None,
    json: AsJson = False,
) -> None:
    """Say why: the neighbors of a row, or its columns and words."""
    from nearline.cli._explain import run_explain
    from nearline.cli._reading import Reading

    run_explain(model, data, row or [], training, Reading.of(options=read), json)


@app.command(epilog="Example:  nearline evaluate nearline-out/model.nearline labeled.csv")
def evaluate(
    model: ModelFile,
    data: Data,
    target: Target = None,
    positive: Positive = None,
    labels: Labels = None,
    read: Read = None,
    json: AsJson = False,
) -> None:
    """Score a model on labeled rows that it has not seen."""
    from nearline.cli._reading import Reading
    from nearline.cli._use import run_evaluate

    run_evaluate(model, data, Reading.of(target, labels, options=read), positive, json)


@app.command(epilog="Example:  nearline inspect nearline-out/model.nearline")
def inspect(model: ModelFile, json: AsJson = False) -> None:
    """Say what is in a model file, and how it was made."""
    from nearline.cli._use import run_inspect

    run_inspect(model, json)


@app.command(epilog="Example:  nearline sweep penguins.csv --target species --metric l2,l1")
def sweep(
    data: Data,
    target: Target = None,
    ks: Annotated[str | None, typer.Option(help="numbers of neighbors, with commas")] = None,
    metric: Annotated[str, typer.Option(help="l2, l1, cosine, l-infinity, ..., with commas")] = "l2",
    weights: Annotated[str, typer.Option(help="of votes: uniform, distance")] = "uniform,distance",
    folds: NumberOfFolds = "5",
    random_state: RandomState = 0,
    labels: Labels = None,
    columns: Columns = None,
    drop: Drop = None,
    read: Read = None,
    bins: Bins = None,
    classes: Classes = False,
    out: Picture = None,
    json: AsJson = False,
) -> None:
    """Choose k of nearest neighbors: table, and picture with --out."""
    _without_a_screen()
    from nearline.cli._choose import run_sweep
    from nearline.cli._reading import Reading

    reading = Reading.of(target, labels, columns, drop, read, bins, classes)
    run_sweep(
        data,
        reading,
        ks=ks,
        metric=metric,
        weights=weights,
        folds=folds,
        random_state=random_state,
        out=out,
        as_json=json,
    )


@app.command(epilog="Example:  nearline path penguins.csv --target species --regularizer l1")
def path(
    data: Data,
    target: Target = None,
    loss: Annotated[str, typer.Option(help="logistic, hinge, squared-hinge, squared, ...")] = "logistic",
    regularizer: Annotated[str, typer.Option(help="l2, l1, elastic-net or group-l1")] = "l2",
    alphas: Annotated[str | None, typer.Option(help="strengths of the penalty, with commas")] = None,
    folds: NumberOfFolds = "5",
    random_state: RandomState = 0,
    labels: Labels = None,
    columns: Columns = None,
    drop: Drop = None,
    read: Read = None,
    bins: Bins = None,
    classes: Classes = False,
    out: Picture = None,
    json: AsJson = False,
) -> None:
    """Choose alpha of a linear model: table, and picture with --out."""
    _without_a_screen()
    from nearline.cli._choose import run_path
    from nearline.cli._reading import Reading

    reading = Reading.of(target, labels, columns, drop, read, bins, classes)
    run_path(
        data,
        reading,
        loss=loss,
        regularizer=regularizer,
        alphas=alphas,
        folds=folds,
        random_state=random_state,
        out=out,
        as_json=json,
    )


@app.command(
    epilog="Example:  nearline plot regions iris.csv --target species --columns petal_length,petal_width"
)
def plot(
    name: Annotated[str | None, typer.Argument(help="which picture")] = None,
    data: Annotated[Path | None, typer.Argument(help="as for 'try' (default: shipped data)")] = None,
    target: Target = None,
    labels: Labels = None,
    columns: Columns = None,
    drop: Drop = None,
    read: Read = None,
    bins: Bins = None,
    classes: Classes = False,
    out: Picture = None,
    force: Force = False,
    list_: Annotated[bool, typer.Option("--list", help="name all pictures")] = False,
) -> None:
    """Draw a picture: losses, regions, margins, ROC, ... (--list)."""
    from nearline.cli._plot import run_plot
    from nearline.cli._reading import Reading

    _without_a_screen()
    reading = Reading.of(target, labels, columns, drop, read, bins, classes)
    run_plot(name, data, reading, out, force, list_)


@app.command(epilog="Example:  nearline demo --out out")
def demo(
    out: Annotated[Path, typer.Option(help="folder for reports and pictures")] = Path("out"),
    force: Annotated[bool, typer.Option("--force", help="write into a folder that has files")] = False,
) -> None:
    """Try them all on shipped data, in under two minutes."""
    from nearline.cli._output import check_folder
    from nearline.demo import main

    check_folder(out, force)
    main(["--out", str(out)])


def run(arguments: list[str]) -> int:
    """Exit code of a command line; with --debug errors keep their traceback."""
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    with heeded() as heard:
        return heard.exit_code(guarded(lambda: _run(arguments), debug=debug))


def _run(arguments: list[str]) -> int:
    command: Any = typer.main.get_command(app)
    try:
        # not by way of main(), which makes other things of Ctrl-C and of exit codes
        with command.make_context("nearline", list(arguments) or ["--help"]) as context:
            result = command.invoke(context)
        return result if isinstance(result, int) else 0
    except typer.Exit as end:
        return int(end.exit_code)
    except USAGE as error:
        _show_usage(error)
        return MISUSED


def _show_usage(error: Any) -> None:
    """What is wrong with the options, by the door: typer would look for a stream of its own."""
    import sys

    from nearline._records.visible import visible

    if error.ctx is not None:
        hint = f"Try '{error.ctx.command_path} --help' for help."
        print(error.ctx.get_usage(), hint, sep="\n", end="\n\n", file=sys.stderr)
    said = _called_now(error) or error.format_message()
    print(f"Error: {visible(said)}", file=sys.stderr)


def _called_now(error: Any) -> str | None:
    """A sentence for an option of another name that the command has: an earlier one, or one of other libraries."""
    from nearline._records.habits import meant_by

    asked = getattr(error, "option_name", "")
    known = {} if error.ctx is None else {one.name: one.opts[0] for one in error.ctx.command.params}
    for name in meant_by(asked.removeprefix("--").replace("-", "_")) & known.keys():
        return f"{asked} is called {known[name]} now."
    return None


def _without_a_screen() -> None:
    """Pictures go into files, so that no window is needed; where there is no matplotlib, drawing will say so."""
    import os

    os.environ.setdefault("MPLBACKEND", "Agg")


def _families(text: str | None) -> list[str] | None:
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
