"""Commands and their options."""

from pathlib import Path
from typing import Annotated

import typer

from nearline.cli._counted import number, whole
from nearline.cli._drawn import fact, plot
from nearline.cli._embedded import probe, transfer
from nearline.cli._options import (
    AsJson,
    Bins,
    Calibrate,
    Choose,
    Classes,
    ClassWeight,
    Columns,
    Dask,
    Data,
    Drop,
    Ensembled,
    FeatureCache,
    Features,
    Labels,
    Memory,
    ModelFile,
    Nested,
    NumberOfFolds,
    Picture,
    Positive,
    RandomState,
    Read,
    Reference,
    Refit,
    Target,
    Workers,
    families_in,
    without_a_screen,
)

app = typer.Typer(
    help="Try every nearest-neighbor, linear and naive Bayes classifier on your data, honestly.",
    epilog="Begin with:  nearline try DATA --target COLUMN",
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


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
    costs: Annotated[
        str | None, typer.Option(help="of mistakes, true:answered=cost with commas: sick:well=10")
    ] = None,
    threshold: Annotated[
        str, typer.Option(help="of two classes: tune (best on the folds); costs; none; auto: tune with costs")
    ] = "auto",
    folds: NumberOfFolds = "5",
    groups: Annotated[str | None, typer.Option(help="column: rows of one group stay together")] = None,
    time: Annotated[str | None, typer.Option(help="column to sort by: test on the last rows")] = None,
    test: Annotated[str, typer.Option(help="share of the rows to lock away, a file, or 'none'")] = "0.2",
    openings: Annotated[
        Path | None, typer.Option(help="file that counts how often these test rows were opened")
    ] = None,
    include: Annotated[str | None, typer.Option(help="families, with commas: logistic,k-NN")] = None,
    exclude: Annotated[str | None, typer.Option(help="families, with commas")] = None,
    features: Features = None,
    feature_cache: FeatureCache = None,
    preset: Annotated[str, typer.Option(help="quick, default or thorough")] = "default",
    choose: Choose = "best",
    calibrate: Calibrate = "needed",
    class_weight: ClassWeight = None,
    nested: Nested = False,
    refit: Refit = "train",
    reference: Reference = None,
    ensemble: Ensembled = None,
    time_limit: Annotated[
        float | None, typer.Option(help="seconds", **number("--time-limit", "a number of seconds > 0"))
    ] = None,
    random_state: RandomState = 0,
    jobs: Annotated[int | None, typer.Option(help="threads (default: all)", **whole("--jobs", 1))] = None,
    labels: Labels = None,
    columns: Columns = None,
    drop: Drop = None,
    read: Read = None,
    bins: Bins = None,
    classes: Classes = False,
    out: Annotated[Path, typer.Option(help="folder for what is written")] = Path("nearline-out"),
    force: Annotated[bool, typer.Option("--force", help="write into a folder that has files")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="go on with what an earlier contest in --out finished")
    ] = False,
    json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="no progress")] = False,
    memory: Memory = None,
    dask: Dask = None,
    workers: Workers = None,
) -> int:
    """Try every model, choose on folds, test once, write a report."""
    from nearline.cli._reading import Reading
    from nearline.cli._settings import Settings
    from nearline.cli._tried import Request
    from nearline.cli._try import run_try

    reading = Reading.of(target, labels, columns, drop, read, bins, classes)
    return run_try(
        Request(
            data, reading, scoring.split(","), positive, folds, groups, time, test, families_in(include),
            families_in(exclude) or (), preset, time_limit, random_state, jobs, out, force, json, quiet, openings,
            resume, features, feature_cache,
            Settings(choose, calibrate, class_weight, nested, refit, reference, ensemble),
            memory, dask, workers, costs, threshold,
        )
    )  # fmt: skip


@app.command(epilog="Example:  nearline predict nearline-out/model.nearline new.csv --proba --out labels.csv")
def predict(
    model: ModelFile,
    data: Data,
    proba: Annotated[bool, typer.Option("--proba", help="probabilities too")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="a column that says why")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="file: .csv, .tsv, .jsonl, .parquet; of Parquet a folder too (default: standard output)"
        ),
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
    row: Annotated[
        list[int] | None,
        typer.Option(
            help="rows, counted from 1 (default: the first 5)",
            **whole("--row", 1, why="rows are counted from 1"),
        ),
    ] = None,
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
    without_a_screen()
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
    without_a_screen()
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


app.command(epilog="Example:  nearline probe train.npz test.npz --protocol dino,honest")(probe)
app.command(
    epilog="Example:  nearline transfer photos.jsonl new.jsonl --payload captions --by image --consensus f1"
)(transfer)


app.command(
    epilog="Example:  nearline plot regions iris.csv --target species --columns petal_length,petal_width --model knn --k 3"
)(plot)
app.command(epilog="Example:  nearline fact threshold --out threshold.svg")(fact)


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
