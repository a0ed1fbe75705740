"""``nearline probe``: embeddings tested by published protocols."""

from pathlib import Path
from typing import Any

from nearline._records.visible import visible
from nearline.cli._choose import check_picture, keep_picture
from nearline.cli._errors import UsageError, as_usage
from nearline.cli._output import clean
from nearline.cli._reading import names
from nearline.cli._shown import print_json
from nearline.data.embeddings import read_embeddings
from nearline.probes import probe
from nearline.probes.protocols import as_protocol


def run_probe(
    train: Path,
    test: Path,
    protocol: str,
    shots: str | None,
    repeats: int | None,
    random_state: int,
    *,
    target: str | None,
    labels: Path | None,
    test_labels: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """A table for each protocol; with JSON, one object with all of them."""
    asked_for = names(protocol)
    if not asked_for:
        raise UsageError("--protocol needs a name.")
    with as_usage():
        protocols = [as_protocol(name) for name in asked_for]
    counts = None if shots is None else [_count(text) for text in names(shots) or [""]]
    learned = read_embeddings(train, "train", target=target, labels=labels)
    asked = read_embeddings(test, "test", target=target, labels=test_labels)
    check_picture(out)  # what is wrong with the data is said first
    if not as_json:
        for path, found in ((train, learned), (test, asked)):
            print(f"{visible(path)}: {visible(found.said)}")
    results = []
    for one in protocols:
        result = probe(
            learned.X,
            learned.y,
            asked.X,
            asked.y,
            one,
            shots=counts,
            repeats=repeats,
            random_state=random_state,
        )
        results.append(result)
        if not as_json:
            print(f"\n{result}", flush=True)
    if as_json:
        print_json(clean({"probes": [result.to_dict() for result in results]}))
    if out is not None:
        _picture(results, out, as_json)


def _picture(results: list[Any], out: Path, as_json: bool) -> None:
    from nearline.plots import plot_probe

    keep_picture(plot_probe(*results), out, as_json)


def _count(text: str) -> int:
    if not text.isdecimal():
        raise UsageError(f"--shots must be whole numbers with commas, got {text!r}.")
    return int(text)
