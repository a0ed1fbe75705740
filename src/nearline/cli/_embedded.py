"""Commands on embeddings: probe, transfer."""

from pathlib import Path
from typing import Annotated

import typer

from nearline.cli._counted import whole
from nearline.cli._options import AsJson, Labels, Picture, RandomState, without_a_screen


def probe(
    train: Annotated[Path, typer.Argument(help="embeddings to learn from: .npy, .npz, Parquet, CSV, ...")],
    test: Annotated[Path, typer.Argument(help="embeddings to test on; may be the same .npz, with X_test")],
    protocol: Annotated[
        str, typer.Option(help="with commas: dino, dinov2, clip, lightly, simsiam, mteb, big_vision, honest")
    ] = "honest",
    shots: Annotated[
        str | None, typer.Option(help="training rows of each class, with commas (0: all rows)")
    ] = None,
    repeats: Annotated[int | None, typer.Option(help="draws of these rows", **whole("--repeats", 1))] = None,
    target: Annotated[str | None, typer.Option(help="array or column of the labels")] = None,
    labels: Labels = None,
    test_labels: Annotated[Path | None, typer.Option(help="the same for the test rows")] = None,
    random_state: RandomState = 0,
    out: Picture = None,
    json: AsJson = False,
) -> None:
    """Probe embeddings by published protocols: k-NN, linear, few-shot."""
    without_a_screen()
    from nearline.cli._probe import run_probe

    run_probe(
        train, test, protocol, shots, repeats, random_state, target=target, labels=labels, test_labels=test_labels,
        out=out, as_json=json,
    )  # fmt: skip


def transfer(
    train: Annotated[Path, typer.Argument(help="rows with the payload: JSON lines, Parquet or CSV")],
    queries: Annotated[
        Path, typer.Argument(help="rows that get it; with the payload column too they are scored")
    ],
    payload: Annotated[str, typer.Option(help="column to hand over: captions, labels, anything")],
    by: Annotated[
        str | None, typer.Option(help="column of texts or image files to compare by (default: all numbers)")
    ] = None,
    embeddings: Annotated[Path | None, typer.Option(help=".npy with a row for each row of TRAIN")] = None,
    query_embeddings: Annotated[Path | None, typer.Option(help="the same for QUERIES")] = None,
    k: Annotated[int, typer.Option("--k", help="neighbors", **whole("--k", 1))] = 10,
    metric: Annotated[str, typer.Option(help="cosine, l2, l1, ...")] = "cosine",
    consensus: Annotated[
        str | None,
        typer.Option(help="f1, bleu or cider: the caption that neighbors agree on (default: the nearest's)"),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="file: .csv, .tsv, .jsonl or .parquet")] = None,
    random_state: RandomState = 0,
) -> None:
    """Hand over what the nearest rows carry, such as captions."""
    from nearline.cli._transfer import run_transfer

    files = (embeddings, query_embeddings)
    run_transfer(train, queries, payload, by, files, k, metric, consensus, out, random_state)
