"""Commands and their options."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    help="Try every nearest-neighbor, linear and naive Bayes classifier on your data, honestly.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
# What wrong options raise: typer brings its own click, or takes the one installed.
USAGE: Any = typer.BadParameter.__mro__[1]
Data = Annotated[Path, typer.Argument(help="CSV, TSV, Parquet, JSON lines, LIBSVM, .npy, .npz, or a folder")]
Target = Annotated[
    str | None, typer.Option("--target", "-t", help="column with the labels: a name, 'first' or 'last'")
]
ModelFile = Annotated[Path, typer.Argument(help="a file that 'nearline try' wrote")]
AsJson = Annotated[bool, typer.Option("--json", help="print JSON")]


@app.command("try", epilog="Example:  nearline try penguins.csv --target species")
def try_(
    data: Data,
    target: Target = None,
    metric: Annotated[
        str, typer.Option(help="what decides; several with commas: accuracy,log-loss")
    ] = "accuracy",
    cv: Annotated[int, typer.Option(help="folds")] = 5,
    groups: Annotated[str | None, typer.Option(help="column: rows of one group stay together")] = None,
    time: Annotated[str | None, typer.Option(help="column to sort by: test on the last rows")] = None,
    test: Annotated[str, typer.Option(help="share of the rows to lock away, a file, or 'none'")] = "0.2",
    include: Annotated[str | None, typer.Option(help="families, with commas")] = None,
    exclude: Annotated[str | None, typer.Option(help="families, with commas")] = None,
    preset: Annotated[str, typer.Option(help="quick, default or thorough")] = "default",
    time_limit: Annotated[float | None, typer.Option(help="seconds")] = None,
    seed: Annotated[int, typer.Option(help="decides folds and test rows")] = 0,
    jobs: Annotated[int | None, typer.Option(help="threads (default: all)")] = None,
    out: Annotated[Path, typer.Option(help="folder for what is written")] = Path("nearline-out"),
    force: Annotated[bool, typer.Option("--force", help="write into a folder that has files")] = False,
    json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress")] = False,
) -> None:
    """Try every model on DATA, choose on folds, test once; write model, leaderboard and result."""
    from nearline.cli._try import Request, run_try

    run_try(
        Request(
            data, target, metric.split(","), cv, groups, time, test, _names(include), _names(exclude) or (), preset,
            time_limit, seed, jobs, out, force, json, quiet,
        )
    )  # fmt: skip


@app.command(epilog="Example:  nearline predict nearline-out/model.nearline new.csv --out labels.csv")
def predict(
    model: ModelFile,
    data: Data,
    proba: Annotated[bool, typer.Option("--proba", help="probabilities too")] = False,
    out: Annotated[
        Path | None, typer.Option(help="CSV or JSON lines (.jsonl); default: standard output")
    ] = None,
) -> None:
    """Predict the rows of DATA, in order, some at a time: the data may be larger than memory."""
    from nearline.cli._use import run_predict

    run_predict(model, data, proba, out)


@app.command(epilog="Example:  nearline evaluate nearline-out/model.nearline labelled.csv")
def evaluate(model: ModelFile, data: Data, target: Target = None, json: AsJson = False) -> None:
    """Score a model on labelled rows that it has not seen, with intervals."""
    from nearline.cli._use import run_evaluate

    run_evaluate(model, data, target, json)


@app.command(epilog="Example:  nearline inspect nearline-out/model.nearline")
def inspect(model: ModelFile, json: AsJson = False) -> None:
    """Say what is in a model file, how it was made and on which data."""
    from nearline.cli._use import run_inspect

    run_inspect(model, json)


def run(arguments: list[str]) -> int:
    """Exit code of a command line; with --debug errors keep their traceback."""
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    try:
        result: Any = typer.main.get_command(app).main(arguments, prog_name="nearline", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except (typer.Abort, KeyboardInterrupt):
        return _stopped()
    except typer.Exit as end:
        return int(end.exit_code)
    except USAGE as error:
        error.show()
        return 2
    except (ValueError, OSError, ImportError, MemoryError) as error:
        if debug:
            raise
        print(f"nearline: {error}", file=sys.stderr)
        return 1


def _stopped() -> int:
    print("nearline: stopped.", file=sys.stderr)
    return 130


def _names(text: str | None) -> list[str] | None:
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]
