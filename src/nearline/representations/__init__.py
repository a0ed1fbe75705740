"""How rows become numbers: tables, texts, sparse and dense numbers; fitted inside each fold, once for all models."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from nearline._arrays.design import admitted, flat, is_sparse
from nearline._records.refused import UnknownNameError
from nearline.kernels import Tree
from nearline.representations._columns import read_series
from nearline.representations._distinct import distinct_strings
from nearline.representations.base import (
    Prepared,
    Representation,
    is_frame,
    kind_of_series,
    names_of,
    series_of,
    strings_in,
)
from nearline.representations.coding import is_text
from nearline.representations.interactions import MultipliedNumbers
from nearline.representations.kernels import (
    LongSubsequences,
    PartialTrees,
    Spectra,
    Subsequences,
    SubsetTrees,
)
from nearline.representations.ngrams import PresentPairs, WeighedPairs, WordPairs
from nearline.representations.number_bases import Robust, Splines, Values
from nearline.representations.numbers import AsIs, MaxAbs, Quantile, Standardized, UnitLength
from nearline.representations.sparse import scale_of
from nearline.representations.table_bases import (
    InteractionsTable,
    MinMaxTable,
    QuantileTable,
    RobustTable,
    SharesTable,
    SplineTable,
    ValuesTable,
)
from nearline.representations.tables import TableEncoder, TableRepresentation
from nearline.representations.text_tables import TextTable, text_columns
from nearline.representations.texts import Characters, Words, documents, length_of
from nearline.representations.words_and_runs import WordsAndRuns

__all__ = [
    "PRESETS",
    "REPRESENTATIONS",
    "Prepared",
    "Representation",
    "TableEncoder",
    "distinct_strings",
    "is_frame",
    "kind_of",
    "kind_of_series",
    "read_series",
    "representations",
    "series_of",
    "tried_for",
]

PRESETS = ("quick", "default", "thorough")

REPRESENTATIONS: dict[str, Representation] = {
    r.name: r
    for r in (
        AsIs(),
        Standardized(),
        UnitLength(),
        Quantile(),
        Robust(),
        Values(),
        Splines(),
        MultipliedNumbers(),
        MaxAbs(),
        TableRepresentation(),
        MinMaxTable(),
        QuantileTable(),
        RobustTable(),
        ValuesTable(),
        SplineTable(),
        SharesTable(),
        InteractionsTable(),
        TextTable(),
        Words(),
        Characters(),
        WordPairs(),
        PresentPairs(),
        WeighedPairs(),
        WordsAndRuns(),
        Subsequences(),
        LongSubsequences(),
        Spectra(),
        SubsetTrees(),
        PartialTrees(),
    )
}
# what is tried for each kind of input; each preset adds to the one before
TRIED: dict[str, tuple[list[str], list[str], list[str]]] = {
    "numbers": (
        ["standardized"],
        ["as-is", "splines"],
        ["unit-length", "quantile", "values", "robust", "interactions"],
    ),
    "sparse": (["as-is"], ["unit-length"], ["max-abs"]),  # counts, or scaled already
    "sparse numbers": (["max-abs"], ["as-is"], ["unit-length"]),
    "table": (
        ["table"],
        ["table-minmax", "table-splines"],
        ["table-quantile", "table-values", "table-robust", "table-shares", "table-interactions"],
    ),
    "table of texts": (
        ["table-words"],
        ["table"],
        ["table-minmax", "table-quantile", "table-values", "table-splines"],
    ),
    "names": (["characters"], ["subsequences"], ["words", "subsequences-5", "spectrum"]),  # texts of one word
    "trees": (["words"], ["subset-trees"], ["partial-trees"]),  # bracketed
    "phrases": (
        ["words"],
        ["characters", "words-and-runs"],
        ["word-pairs", "word-pairs-present", "word-pairs-ratios"],
    ),
    "pages": (["words"], [], ["characters", "word-pairs", "word-pairs-present", "word-pairs-ratios"]),
}


def kind_of(X: Any) -> str:
    """What the rows are: 'numbers', 'sparse', 'table' or 'texts'.

    Examples
    --------
    >>> import pandas as pd
    >>> from nearline.representations import kind_of
    >>> kind_of([[1, 2], [3, 4]]), kind_of(["a text", "another"])
    ('numbers', 'texts')
    >>> kind_of(pd.DataFrame({"size": [1.5, 2.5], "color": ["red", "blue"]}))
    'table'
    """
    if is_sparse(X):
        return "sparse"
    if is_frame(X):
        return _kind_of_frame(X)
    # a list of texts is never made an array: that would give each of them the length of the longest
    listed = isinstance(X, Iterable) and not isinstance(X, str) and getattr(X, "ndim", 1) == 1
    if listed and (strings_in(list(X)) or (len(list(X)) and all(isinstance(x, Tree) for x in X))):
        return "texts"
    values = flat(np.asarray(X))
    if values.ndim == 2:
        return "numbers" if values.dtype.kind in "biuf" or _all_numbers(values) else "table"
    raise ValueError(
        f"Rows must be numbers with rows and columns, images (n, height, width), a table, or a list of texts; got "
        f"{type(X).__name__} of shape {values.shape} and type {values.dtype}. Reshape your data: "
        f"{'one column of numbers is X.reshape(-1, 1).' if values.ndim < 2 else 'give rows of numbers.'}"
    )


def _kind_of_frame(X: Any) -> str:
    names_of(X)
    columns = series_of(X)
    kinds = {kind_of_series(series) for series in columns}
    if kinds == {"number"}:
        return "numbers"
    return "texts" if len(columns) == 1 and is_text(read_series(columns[0])) else "table"


def _all_numbers(values: Any) -> bool:
    """Whether an array of objects holds only numbers."""
    numbers = (int, float, np.number, type(None))
    return values.dtype.kind == "O" and all(isinstance(v, numbers) for v in values.ravel())


def representations(X: Any, preset: str = "default") -> list[Representation]:
    """The representations to try for these rows: one for preset "quick", more for "default" and "thorough".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline.representations import representations
    >>> [r.name for r in representations(load_iris().data, "thorough")]
    ['standardized', 'as-is', 'splines', 'unit-length', 'quantile', 'robust', 'interactions']
    """
    if preset not in PRESETS:
        raise UnknownNameError("preset", preset, PRESETS)
    tried = tried_for(X)[: PRESETS.index(preset) + 1]
    suiting = (REPRESENTATIONS[name] for names in tried for name in names if REPRESENTATIONS[name].suits(X))
    return [representation.adapted(X) for representation in suiting]


def tried_for(X: Any) -> tuple[list[str], list[str], list[str]]:
    """The names of the representations for rows of this kind: what each preset adds to the one before."""
    kind = kind_of(X)
    finer: dict[str, Callable[[], str]] = {
        "texts": lambda: length_of(documents(X)),
        "sparse": lambda: scale_of(admitted(X)),
        "table": lambda: "table of texts" if text_columns(X) else "table",
    }
    return TRIED[finer[kind]() if kind in finer else kind]
