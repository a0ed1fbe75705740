"""Predictions of a Parquet file or folder as a Parquet folder: a file for each file, whole or not at all, resumable."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from nearline._atomic.whole import WriteError, written_whole
from nearline._records.words import many
from nearline.cli._errors import note
from nearline.cli._explain import Explainer
from nearline.cli._reading import Reading, model_reading, parts, rows_of
from nearline.data import DataError
from nearline.data.base import polars
from nearline.data.parquet_folders import parquet_files
from nearline.explain.words import STRONGEST
from nearline.selection.progress import Progress

ABOUT = "_about.json"  # whose predictions a folder has; readers of Parquet leave such names out


def is_folder(data: Path, out: Path | None) -> bool:
    """Whether predictions go into a folder: that of a Parquet table, where --out is no file."""
    if out is None or out.suffix or out.is_file():
        return False
    files = parquet_files(data) if data.exists() else []
    return bool(files) and all(file.suffix.lower() in (".parquet", ".pq") for file in files)


def predict_folder(
    model_file: Path,
    data: Path,
    out: Path,
    reading: Reading,
    *,
    proba: bool,
    explain: bool,
    progress: Progress,
) -> None:
    """Write a file of predictions for each file; those that are there are left as they are."""
    explainer = Explainer(model_file)
    files = parquet_files(data)
    _claim(out, {"model": _checksum(model_file), "proba": proba, "explain": explain})
    waiting = [file for file in files if not (out / file.name).exists()]
    if len(waiting) < len(files):
        note(f"{many(len(files) - len(waiting), 'file')} of {out} there already: these are left as they are")
    progress.begin()
    for number, file in enumerate(waiting):
        progress.advance(number / len(waiting), file.name)
        _write(explainer, file, out / file.name, model_reading(model_file, reading), proba, explain)
    progress.end()
    print(f"written: {many(len(waiting), 'file')} in {out}")


def _claim(out: Path, about: dict[str, Any]) -> None:
    """Refuse a folder that has other things, or the predictions of another model."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        found = [one for one in out.iterdir() if not one.name.startswith(".")]
        if not found:
            with written_whole(out / ABOUT, "w", encoding="utf-8") as file:
                json.dump(about, file)
            return
    except (OSError, WriteError) as error:
        raise DataError(f"{out} cannot be written ({error}): give another --out.") from error
    try:
        known = json.loads((out / ABOUT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        known = None
    if known != about:
        whose = (
            "has other files" if known is None else "has predictions of another model, or with other options"
        )
        raise DataError(f"{out} {whose}: give another --out, or empty it.")


def _checksum(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _write(
    explainer: Explainer, file: Path, place: Path, reading: Reading, proba: bool, explain: bool
) -> None:
    pl, model = polars(), explainer.model
    frames = []
    for part in parts(file, explainer.schema, reading):
        rows = rows_of(part.X)
        columns: dict[str, Any] = {"label": model.predict(rows)}
        if proba:
            shares = np.asarray(model.predict_proba(rows), dtype=np.float64)
            columns |= {
                f"probability of {label}": shares[:, c] for c, label in enumerate(model.classes_.tolist())
            }
        if explain:
            columns["because"] = [explainer.sentence(one) for one in explainer.reasons(part.X, STRONGEST)]
        frames.append(pl.DataFrame(columns))
    frame = pl.concat(frames) if frames else pl.DataFrame({"label": model.classes_[:0]})
    with written_whole(place) as written:
        frame.write_parquet(written)
