"""Indexes in files: one npz with the rows, the metric and the algorithm; written whole or not at all."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_STORED, ZipFile

import numpy as np
from scipy.sparse import csr_array

from nearline._arrays.design import Array, admitted, is_sparse
from nearline._atomic.whole import written_whole
from nearline.neighbors.approximate import Approximate
from nearline.neighbors.graph import Graph
from nearline.neighbors.metrics import METRIC_TYPES, Metric

if TYPE_CHECKING:
    from nearline.neighbors.index import Index

FORMAT, VERSION = "nearline index", 1


def save(index: "Index", path: Path) -> None:
    """Write an index to a file, by way of a temporary one beside it: no reader ever sees half of it."""
    arrays = _rows(index.X)
    about = {"format": FORMAT, "version": VERSION, "memory": index.memory, "metric": index.metric.name}
    about["algorithm"] = _algorithm(index.algorithm)
    if type(index.metric) not in METRIC_TYPES:
        names = ", ".join(repr(kind.name) for kind in METRIC_TYPES)
        raise ValueError(
            f"An index with the metric {index.metric.name!r} cannot be saved: a file holds no Python code. Metrics that it "
            f"holds: {names}. Save the rows, and build the index again."
        )
    for name, part in index.metric.parts().items():
        if isinstance(part, np.ndarray):
            arrays[name] = part
        else:
            about[name] = part
    backend = index._backend
    if isinstance(backend, Graph):
        arrays |= {f"graph_{name}": value for name, value in backend.arrays().items()}
    arrays["about"] = np.array(json.dumps(about))
    _write(arrays, path)


def load(path: Path) -> "Index":
    """An index from a file of :func:`save`; says what is wrong with any other."""
    arrays = _read(path)
    about = _about(arrays)
    if about is None:
        raise ValueError(
            f"{path} holds no index: its arrays are {sorted(arrays)}. Index.save writes such files."
        )
    version = about.get("version")
    if not isinstance(version, int) or version < 1:
        raise ValueError(f"{path} says version {version!r} of the format, which there is not: save it again.")
    if version > VERSION:
        raise ValueError(
            f"{path} has version {version} of the format, but this nearline knows up to {VERSION}: upgrade it."
        )
    try:
        return _index_of(about, arrays)
    except ImportError:
        raise
    except Exception as error:  # whatever NumPy, SciPy or FAISS say of parts that do not fit together
        raise ValueError(
            f"{path} is an index with parts missing or changed ({error}): save it again."
        ) from error


def _about(arrays: dict[str, Array]) -> dict[str, Any] | None:
    """What the file says of itself, if it says that it is an index."""
    try:
        about = json.loads(str(arrays["about"]))
    except (KeyError, ValueError, RecursionError):
        return None
    return about if isinstance(about, dict) and about.get("format") == FORMAT else None


def _index_of(about: dict[str, Any], arrays: dict[str, Array]) -> "Index":
    from nearline.neighbors.index import Index
    from nearline.neighbors.wanted import as_rows, check_memory

    X, metric, algorithm = _rows_of(arrays), _metric_of(about, arrays), _algorithm_of(about["algorithm"])
    if not isinstance(algorithm, Approximate):
        return Index(X, metric, algorithm=algorithm, memory=about["memory"])
    state = {name[len("graph_") :]: value for name, value in arrays.items() if name.startswith("graph_")}
    index = Index.__new__(Index)
    index.metric, index.algorithm, index.memory = metric, algorithm, check_memory(about["memory"])
    index.X = as_rows(X, "X")
    index._backend = Graph.restored(index.X, metric, algorithm, state)
    return index


def _rows(X: Any) -> dict[str, Array]:
    if not is_sparse(X):
        return {"X": X}
    return {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}


def _rows_of(arrays: dict[str, Array]) -> Any:
    if "X" in arrays:
        X = arrays["X"]
        _check_kind(X, "X", np.dtype(X.dtype).kind in "fu", 2)
        return X
    data, indices, indptr, shape = (arrays[name] for name in ("data", "indices", "indptr", "shape"))
    _check_kind(data, "data", data.dtype.kind == "f", 1)
    for part, name in ((indices, "indices"), (indptr, "indptr"), (shape, "shape")):
        _check_kind(part, name, part.dtype.kind == "i", 1)
    if len(shape) != 2:
        raise ValueError(f"the shape of X has {len(shape)} numbers, not 2")
    return admitted(csr_array((data, indices, indptr), shape=(int(shape[0]), int(shape[1]))))


def _check_kind(array: Array, name: str, right: bool, dimensions: int) -> None:
    if not right or array.ndim != dimensions:
        raise ValueError(f"{name} is of type {array.dtype} and shape {array.shape}")


def _metric_of(about: dict[str, Any], arrays: dict[str, Array]) -> Metric:
    kind = next((kind for kind in METRIC_TYPES if kind.name == about["metric"]), None)
    if kind is None:
        raise ValueError(f"unknown metric {about['metric']!r}")
    return kind.from_parts(about | arrays)


def _algorithm(algorithm: Any) -> Any:
    return {"recall": algorithm.recall} if isinstance(algorithm, Approximate) else algorithm


def _algorithm_of(stored: Any) -> Any:
    return Approximate(stored["recall"]) if isinstance(stored, dict) else stored


def _write(arrays: dict[str, Array], path: Path) -> None:
    with written_whole(path) as file:
        np.savez(file, allow_pickle=False, **arrays)


def _read(path: Path) -> dict[str, Array]:
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}: give the path that Index.save wrote.")
    try:
        with path.open("rb") as file:  # NumPy leaves bad files open
            with ZipFile(file) as parts:  # a file that is not packed unpacks to no more than itself
                packed = [one.filename for one in parts.infolist() if one.compress_type != ZIP_STORED]
            if packed:
                raise ValueError(f"{packed[0]} is packed, and Index.save packs nothing")
            file.seek(0)
            with np.load(file, allow_pickle=False) as arrays:
                return dict(arrays)
    except Exception as error:  # a damaged header fails in zipfile, zlib, tokenize, ast or struct
        raise ValueError(
            f"{path} is no index, or a damaged one ({error}): Index.save writes npz files."
        ) from error
