"""Graphs that come from files: FAISS follows what they hold without a look, so it is looked at here."""

from typing import Any

import numpy as np

from nearline._arrays.design import Array, is_sparse


def faiss_library() -> Any:
    try:
        import faiss
    except ImportError as error:
        raise ImportError("Approximate search needs FAISS: pip install 'nearline[approximate]'") from error
    return faiss


def check_parts(X: Any, arrays: dict[str, Array]) -> None:
    nodes, rows, efforts = (arrays[name] for name in ("nodes", "rows", "efforts"))
    if is_sparse(X):
        raise ValueError("a graph is of dense rows")
    if nodes.dtype != np.uint8 or nodes.ndim != 1:
        raise ValueError(f"the graph is of type {nodes.dtype} and shape {nodes.shape}")
    if rows.dtype != np.int64 or not np.array_equal(np.sort(rows, axis=None), np.arange(len(X))):
        raise ValueError(f"the nodes of the graph are not the {len(X)} rows")
    starts = arrays.get("starts", np.arange(len(rows) + 1))
    if (
        starts.dtype != np.int64
        or starts.ndim != 1
        or not (starts[:1] == 0).all()
        or starts[-1:] != len(rows)
    ):
        raise ValueError(f"the starts of the nodes are of type {starts.dtype} and shape {starts.shape}")
    if not (np.diff(starts) > 0).all():
        raise ValueError("a node of the graph has no rows")
    if efforts.dtype != np.float64 or efforts.ndim != 2 or efforts.shape[1] != 3:
        raise ValueError(f"the efforts are of type {efforts.dtype} and shape {efforts.shape}")
    if not (np.isfinite(efforts).all() and (efforts[:, :2] >= 1).all() and (efforts >= 0).all()):
        raise ValueError("an effort is no number >= 1")


def stored_rows(graph: Any) -> Array:
    """The rows that a graph has kept, (n, D) float32."""
    flat = faiss_library().downcast_index(graph.storage)
    size = graph.ntotal * graph.d
    if not isinstance(flat, faiss_library().IndexFlat) or flat.codes.size() != 4 * size:
        raise ValueError("the graph has not kept its rows")
    return np.asarray(faiss_library().rev_swig_ptr(flat.get_xb(), size)).reshape(-1, graph.d)


def check_links(graph: Any) -> None:
    """Links lead to nodes: FAISS follows them without a look."""
    hnsw, n = graph.hnsw, graph.ntotal
    levels, offsets, links = (
        faiss_library().vector_to_array(part) for part in (hnsw.levels, hnsw.offsets, hnsw.neighbors)
    )
    widths = faiss_library().vector_to_array(hnsw.cum_nneighbor_per_level)
    right = (
        len(levels) == n
        and len(offsets) == n + 1
        and (levels >= 1).all()
        and (widths[:1] == 0).all()
        and (np.diff(widths) > 0).all()
        and levels.max(initial=1) < len(widths)
        and np.array_equal(np.diff(offsets.astype(np.int64)), widths[levels])
        and (offsets[0], offsets[-1]) == (0, len(links))
        and ((links >= -1) & (links < n)).all()
        and 0 <= hnsw.entry_point < n
        and hnsw.max_level == levels.max(initial=1) - 1 == levels[hnsw.entry_point] - 1
    )
    if not right:
        raise ValueError("the links of the graph are damaged")
