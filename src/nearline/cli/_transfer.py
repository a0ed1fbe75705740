"""``nearline transfer``: what the nearest rows of one file carry, for each row of another."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nearline._records.visible import visible
from nearline._records.words import many
from nearline.cli._errors import UsageError, note
from nearline.cli._sinks import check_ending, check_out, sink
from nearline.data import DataError
from nearline.data.embeddings import read_rows
from nearline.data.records import are_images, check_texts, column, image_rows, read_records
from nearline.estimators import NeighborsTransfer
from nearline.neighbors.captions import CAPTION_SIMILARITIES
from nearline.neighbors.consensus import Consensus
from nearline.selection.captions import caption_test

WIDTH = 200  # features that texts are brought to
LARGEST = 1e100  # numbers whose squares can be added


@dataclass(frozen=True)
class Rows:
    """Features of training rows and of queries, and how they were made."""

    train: Any
    queries: Any
    said: str


def run_transfer(
    train: Path,
    queries: Path,
    payload: str,
    by: str | None,
    embeddings: tuple[Path | None, Path | None],
    k: int,
    metric: str,
    consensus: str | None,
    out: Path | None,
    random_state: int,
) -> None:
    """A line for each query: the payload, and the training row that it comes from."""
    check_ending(out)
    if consensus is not None and consensus not in CAPTION_SIMILARITIES:
        raise UsageError(
            f"There is no --consensus {consensus!r}: choose among {', '.join(CAPTION_SIMILARITIES)}."
        )
    known, asked = read_records(train), read_records(queries)
    carried = column(known, payload, train)
    rows = _features(known, asked, train, queries, payload, by, embeddings, random_state)
    note(rows.said)
    if metric == "cosine":
        _note_zeros(rows, train, queries)
    if k < 1:
        raise UsageError(f"--k must be a whole number of at least 1, got {k}.")
    if k > len(carried):
        raise UsageError(f"--k is {k}, but {train} has only {many(len(carried), 'row')}: take a smaller one.")
    if consensus is not None:
        _check_captions(carried, payload, train)
    check_out(out)
    model = NeighborsTransfer(k, metric=metric, consensus=None if consensus is None else Consensus(consensus))
    model.fit(rows.train, carried)
    found = model.predict(rows.queries)
    nearest = model.kneighbors(rows.queries, return_distance=False)[:, 0] + 1
    with sink(out, [payload, "nearest row"], ["string", "integer"]) as write:
        for one, row in zip(found, nearest.tolist(), strict=True):
            write([one if isinstance(one, (str, int, float)) else json.dumps(one, ensure_ascii=False), row])
    if consensus is not None and payload in asked.columns:
        references = column(asked, payload, queries)
        _check_captions(references, payload, queries)
        test = caption_test(
            rows.train,
            carried,
            rows.queries,
            references,
            k=k,
            metric=metric,
            similarity=consensus,
            random_state=random_state,
        )
        for line in str(test).split("\n"):
            note(line) if line.strip() else None


def _note_zeros(rows: Rows, train: Path, queries: Path) -> None:
    """Say of what the cosine gives no direction: all rows are as far from it."""
    for X, path in ((rows.train, train), (rows.queries, queries)):
        zeros = int((~np.asarray(X).any(axis=1)).sum())
        if zeros:
            what = f"{many(zeros, 'row')} of {visible(path)} with nothing but zeros to compare by"
            note(f"{what}: the cosine tells them from no other row (--metric l2 does)")


def _features(
    known: Any,
    asked: Any,
    train: Path,
    queries: Path,
    payload: str,
    by: str | None,
    embeddings: Any,
    random_state: int,
) -> Rows:
    given, given_queries = embeddings
    if given is not None or given_queries is not None:
        if given is None or given_queries is None:
            raise UsageError("--embeddings and --query-embeddings belong together: give both.")
        X, Q = _array(given, len(known), train), _array(given_queries, len(asked), queries)
        if X.shape[1] != Q.shape[1]:
            raise DataError(
                f"{given} has {many(X.shape[1], 'feature')} and {given_queries} {Q.shape[1]:,}",
                "give embeddings of one model",
            )
        for file, one in ((given, X), (given_queries, Q)):
            finite = np.isfinite(one).all(axis=1)
            if not finite.all():
                raise DataError(
                    f"Row {int(finite.argmin()) + 1:,} of {file} has NaN or infinite values",
                    "leave such rows out",
                )
        return Rows(X, Q, f"by the embeddings of {given.name} and {given_queries.name}")
    if by is None:
        return _numbers(known, asked, train, queries, payload)
    values, others = column(known, by, train), column(asked, by, queries)
    if are_images(values, train):
        return Rows(image_rows(values, train), image_rows(others, queries), f"by the images of {visible(by)}")
    texts, more = check_texts(values, by, train), check_texts(others, by, queries)
    T, Q = _texts(texts, more, random_state)
    return Rows(T, Q, f"by tf-idf of {visible(by)}, brought to few features")


def _texts(texts: list[str], queries: list[str], random_state: int) -> tuple[Any, Any]:
    """tf-idf of words and pairs of words, then the leading directions of the training texts, of unit length."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2 if len(texts) > 100 else 1)
    try:
        T, Q = words.fit_transform(texts), words.transform(queries)
    except ValueError as error:  # of texts without a word of two letters
        raise DataError(
            "The texts have no words to compare them by", "name another column by --by"
        ) from error
    if min(T.shape) > WIDTH:
        reduce = TruncatedSVD(WIDTH, random_state=random_state).fit(T)
        return reduce.transform(T), reduce.transform(Q)
    return T.toarray(), Q.toarray()


def _numbers(known: Any, asked: Any, train: Path, queries: Path, payload: str) -> Rows:
    names = [name for name in known.columns if known[name].dtype.is_numeric() and name != payload]
    if not names:
        raise UsageError(
            f"{train} has no columns of numbers: name one of texts or of image files by --by, or give --embeddings."
        )
    lacking = [name for name in names if name not in asked.columns]
    if lacking:
        raise DataError(f"{queries} has no column {lacking[0]!r}, by which neighbors are looked for.")
    X, Q = _check_numbers(known, names, train), _check_numbers(asked, names, queries)
    center, scale = X.mean(axis=0), X.std(axis=0)
    scale[scale == 0] = 1.0
    said = f"by {many(len(names), 'column')} of numbers, standardized"
    return Rows((X - center) / scale, (Q - center) / scale, said)


def _check_numbers(frame: Any, names: list[str], path: Path) -> Any:
    """Columns (n, D), all of them finite numbers."""
    for name in names:
        if not frame[name].dtype.is_numeric():
            raise DataError(
                f"Column {name!r} of {path} has no numbers", "give the same columns in both files"
            )
        values = frame[name].cast(float).to_numpy()
        strange = ~(np.abs(values) < LARGEST)
        if strange.any():
            raise DataError(
                f"{many(int(strange.sum()), 'row')} of {path} with no number in {name!r}, or one beyond {LARGEST:.0e} (the "
                f"first is row {int(strange.argmax()) + 1:,})",
                "fill them in or leave them out",
            )
    return frame.select(names).to_numpy().astype(np.float64)


def _array(file: Path, n: int, of: Path) -> Any:
    if file.suffix.lower() != ".npy":
        raise UsageError(f"Embeddings are .npy files, got {file}.")
    return read_rows(file, n, of)


def _check_captions(carried: list[Any], payload: str, path: Path) -> None:
    """Refuse what has no words to agree on."""
    for number, one in enumerate(carried, 1):
        texts = one if isinstance(one, list) else [one]
        if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
            raise DataError(
                f"Row {number:,} of {path} has an empty caption, or none, in {payload!r}: leave the row out, or the option "
                "--consensus."
            )
