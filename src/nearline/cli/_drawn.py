"""Commands that draw: plot, fact."""

from pathlib import Path
from typing import Annotated, Any

import typer

from nearline.cli._counted import Reader, number, whole
from nearline.cli._options import (
    LARGEST_SEED,
    AsJson,
    Bins,
    Classes,
    Columns,
    Drop,
    Force,
    Labels,
    Picture,
    Read,
    Target,
    without_a_screen,
)


def _of_a_slide(help: str, *names: str, read: Reader | None = None) -> Any:
    """An option that some pictures take."""
    return typer.Option(*names, help=help, rich_help_panel="What a slide says", **(read or {}))


def plot(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="which picture")] = None,
    data: Annotated[Path | None, typer.Argument(help="as for 'try' (default: shipped data)")] = None,
    target: Target = None,
    labels: Labels = None,
    columns: Columns = None,
    drop: Drop = None,
    read: Read = None,
    bins: Bins = None,
    classes: Classes = False,
    model: Annotated[str | None, _of_a_slide("knn, logistic, svm, perceptron, lda, ...")] = None,
    k: Annotated[int | None, _of_a_slide("neighbors", read=whole("--k", 1))] = None,
    ks: Annotated[str | None, _of_a_slide("numbers of neighbors, with commas")] = None,
    metric: Annotated[str | None, _of_a_slide("l2, l1, l-infinity, cosine, lq:3, ...")] = None,
    metrics: Annotated[str | None, _of_a_slide("several, with commas")] = None,
    weights: Annotated[str | None, _of_a_slide("of votes, with commas: uniform,distance")] = None,
    alpha: Annotated[float | None, _of_a_slide("strength of the penalty", read=number("--alpha"))] = None,
    alphas: Annotated[str | None, _of_a_slide("several, with commas")] = None,
    loss: Annotated[str | None, _of_a_slide("logistic, hinge, squared, ...")] = None,
    losses: Annotated[str | None, _of_a_slide("several, with commas; of embeddings triplet:0.2, ...")] = None,
    regularizer: Annotated[str | None, _of_a_slide("l2, l1, elastic-net:0.5, ...")] = None,
    kernel: Annotated[str | None, _of_a_slide("linear, polynomial:3, rbf:0.1, ...")] = None,
    kernels: Annotated[str | None, _of_a_slide("several, with commas")] = None,
    solvers: Annotated[str | None, _of_a_slide("with commas: gradient-descent,newton")] = None,
    start: Annotated[str | None, _of_a_slide("weights that solvers start at, with commas")] = None,
    steps: Annotated[int | None, _of_a_slide("iterations at most", read=whole("--steps", 1))] = None,
    starts: Annotated[int | None, _of_a_slide("of the perceptron", read=whole("--starts", 1))] = None,
    row: Annotated[
        int | None,
        _of_a_slide("the query, counted from 1", read=whole("--row", 1, why="rows are counted from 1")),
    ] = None,
    top: Annotated[int | None, _of_a_slide("features of each class", read=whole("--top", 1))] = None,
    qs: Annotated[str | None, _of_a_slide("of Lq, with commas: 1,2,inf")] = None,
    scales: Annotated[str | None, _of_a_slide("of scores, with commas")] = None,
    scores: Annotated[str | None, _of_a_slide("of three classes, with commas")] = None,
    outliers: Annotated[int | None, _of_a_slide("how many", read=whole("--outliers", 0))] = None,
    folds: Annotated[str | None, _of_a_slide("folds, or leave-one-out")] = None,
    include: Annotated[str | None, _of_a_slide("families of a contest, with commas")] = None,
    preset: Annotated[str | None, _of_a_slide("of a contest: quick, default or thorough")] = None,
    scoring: Annotated[str | None, _of_a_slide("what decides a contest")] = None,
    random_state: Annotated[
        int | None,
        _of_a_slide("decides folds, test rows and starts", read=whole("--random-state", 0, LARGEST_SEED)),
    ] = None,
    proba: Annotated[bool, _of_a_slide("shade by probability", "--proba")] = False,
    natural: Annotated[bool, _of_a_slide("natural logarithms, not those to base 2", "--natural")] = False,
    out: Picture = None,
    force: Force = False,
    list_: Annotated[bool, typer.Option("--list", help="name all pictures, and what each takes")] = False,
) -> None:
    """Draw a picture: losses, regions, margins, ROC, ... (--list)."""
    from nearline.cli._plot import SETTINGS, run_plot
    from nearline.cli._reading import Reading

    without_a_screen()
    reading = Reading.of(target, labels, columns, drop, read, bins, classes)
    settings = {key: value for key, value in context.params.items() if key in SETTINGS}
    run_plot(name, data, reading, out, force, list_, settings)


def fact(
    name: Annotated[str | None, typer.Argument(help="which fact (default: list them)")] = None,
    out: Picture = None,
    force: Force = False,
    json: AsJson = False,
) -> None:
    """Reproduce a fact: its numbers, and its picture in a file."""
    from nearline.cli._fact import run_fact

    without_a_screen()
    run_fact(name, out, force, json)
