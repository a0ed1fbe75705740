"""Indexes in files: one npz with the rows, the metric and the algorithm; written whole or not at all."""

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
from scipy.sparse import csr_array

from nearline.arrays import Array, is_sparse
from nearline.neighbors.approximate import Approximate, Graph
from nearline.neighbors.metrics import METRICS, Lq, Mahalanobis, Metric

if TYPE_CHECKING:
    from nearline.neighbors.index import Index

FORMAT, VERSION = "nearline index", 1


def save(index: "Index", path: Path) -> None:
    """Write an index to a file, by way of a temporary one beside it: no reader ever sees half of it."""
    arrays = _rows(index.X)
    about = {"format": FORMAT, "version": VERSION, "memory": index.memory, "metric": index.metric.name}
    about["algorithm"] = _algorithm(index.algorithm)
    match index.metric:
        case Lq(q=q):
            about["q"] = q
        case Mahalanobis(matrix=matrix):
            arrays["matrix"] = np.asarray(matrix, dtype=np.float64)
        case metric if METRICS.get(metric.name) != metric:
            raise ValueError(
                f"An index with the metric {metric.name!r} cannot be saved: a file holds no Python code. Metrics that it "
                f"holds: {', '.join(map(repr, METRICS))}, Lq and Mahalanobis. Save the rows, and build the index again."
            )
    backend = index._backend
    if isinstance(backend, Graph):
        arrays |= {f"graph_{name}": value for name, value in backend.arrays().items()}
    arrays["about"] = np.array(json.dumps(about))
    _write(arrays, path)


def load(path: Path) -> "Index":
    """An index from a file of :func:`save`; says what is wrong with any other."""
    from nearline.neighbors.index import Index

    arrays = _read(path)
    try:
        about = json.loads(str(arrays["about"]))
        known = about["format"] == FORMAT
    except (KeyError, ValueError, TypeError):
        known = False
    if not known:
        raise ValueError(
            f"{path} holds no index: its arrays are {sorted(arrays)}. Index.save writes such files."
        )
    if about["version"] > VERSION:
        raise ValueError(
            f"{path} has version {about['version']} of the format, but this nearline knows up to {VERSION}: upgrade it."
        )
    try:
        X, metric, algorithm = _rows_of(arrays), _metric_of(about, arrays), _algorithm_of(about["algorithm"])
        if not isinstance(algorithm, Approximate):
            return Index(X, metric, algorithm=algorithm, memory=about["memory"])
        state = {name[len("graph_") :]: value for name, value in arrays.items() if name.startswith("graph_")}
        index = Index.__new__(Index)
        index.metric, index.algorithm, index.memory, index.X = metric, algorithm, about["memory"], X
        index._backend = Graph.restored(X, metric, algorithm, state)
        return index
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"{path} is an index with parts missing or changed ({error}): save it again."
        ) from error


def _rows(X: Any) -> dict[str, Array]:
    if not is_sparse(X):
        return {"X": X}
    return {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}


def _rows_of(arrays: dict[str, Array]) -> Any:
    if "X" in arrays:
        return arrays["X"]
    shape = (int(arrays["shape"][0]), int(arrays["shape"][1]))
    return csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)


def _metric_of(about: dict[str, Any], arrays: dict[str, Array]) -> Metric:
    match about["metric"]:
        case "lq":
            return Lq(about["q"])
        case "mahalanobis":
            return Mahalanobis(arrays["matrix"])
        case name:
            return METRICS[name]


def _algorithm(algorithm: Any) -> Any:
    return {"recall": algorithm.recall} if isinstance(algorithm, Approximate) else algorithm


def _algorithm_of(stored: Any) -> Any:
    return Approximate(stored["recall"]) if isinstance(stored, dict) else stored


def _write(arrays: dict[str, Array], path: Path) -> None:
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _read(path: Path) -> dict[str, Array]:
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}: give the path that Index.save wrote.")
    try:
        with (
            path.open("rb") as file,
            np.load(file, allow_pickle=False) as arrays,
        ):  # NumPy leaves bad files open
            return dict(arrays)
    except (BadZipFile, ValueError, OSError, EOFError, AttributeError, TypeError) as error:
        raise ValueError(
            f"{path} is no index, or a damaged one ({error}): Index.save writes npz files."
        ) from error
