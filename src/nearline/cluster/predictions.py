"""Predictions of rows in blocks as a folder of Parquet files, block by block."""

from pathlib import Path
from typing import Any

import numpy as np
from dask.delayed import delayed

from nearline._atomic.whole import written_whole
from nearline.cluster._crews import crew
from nearline.cluster.door import parts_of


def write_predictions(model: Any, X: Any, folder: Any, *, proba: bool = False) -> list[Path]:
    """Labels of the rows of X, a Parquet file for each block, in order; with ``proba`` a column for each class too.

    Files are written by whoever computes the block, whole or not at all, so the folder must be one that all workers see.
    Those that are there already are left as they are: the same call goes on where an earlier one was broken off. Empty the
    folder before predictions of other rows, or of another model.

    Examples
    --------
    >>> import tempfile
    >>> import dask.array as da
    >>> from sklearn.datasets import load_iris
    >>> from nearline import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianNB().fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = write_predictions(model, da.from_array(X, chunks=(60, 4)), folder)
    >>> [file.name for file in files]
    ['part-00000.parquet', 'part-00001.parquet', 'part-00002.parquet']
    """
    if proba and not callable(getattr(model, "predict_proba", None)):
        raise ValueError(
            f"{type(model).__name__} gives no probabilities: leave proba out, or use another model."
        )
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    files = [place / f"part-{number:05d}.parquet" for number in range(len(parts_of(X)))]
    waiting = [
        delayed(_written, pure=False)(model, part, str(file), proba)
        for part, file in zip(parts_of(X), files, strict=True)
        if not file.exists()
    ]
    working = crew()
    working.ask(_done, working.hold(waiting))
    return files


def _written(model: Any, rows: Any, file: str, proba: bool) -> str:
    """Predict a block and write it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    classes = model.classes_
    empty = not rows.shape[0]
    columns: dict[str, Any] = {"label": classes[:0] if empty else np.asarray(model.predict(rows))}
    if proba:
        shares = np.zeros((0, len(classes))) if empty else np.asarray(model.predict_proba(rows))
        columns |= {f"probability of {label}": shares[:, c] for c, label in enumerate(classes.tolist())}
    with written_whole(file) as out:
        pq.write_table(pa.table(columns), out)
    return file


def _done(file: str) -> bool:
    return Path(file).exists()
