"""Representation of tables with columns of texts: their words beside the other columns."""

from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import TfidfVectorizer

from nearline._arrays.design import Array
from nearline._records.kept import Instance, ListOf, OneOf, OrNone, Whole, Word, kept, require
from nearline.representations._columns import Column, read_columns
from nearline.representations.base import Prepared, Representation, is_frame
from nearline.representations.coding import NUMBERS, has_values, is_text
from nearline.representations.corrected import codes_over, words_over
from nearline.representations.tables import ColumnsEncoder, Encoding, checked_scale, targets_of
from nearline.representations.texts import LARGE, PreparedTexts, Watched, dampened, word_counts

LOOKED_AT = 2000  # rows that tell which columns are texts
WORDY = 3.0  # words of a text at least, on average
TOKENS: dict[str, Any] = {"lowercase": True}


def text_columns(X: Any) -> tuple[str, ...]:
    """Names of the columns that hold texts of several words."""
    first = X.head(LOOKED_AT) if is_frame(X) else np.asarray(X, dtype=object)[:LOOKED_AT]
    return tuple(
        name for name, column in read_columns(first).items() if is_text(column) and _is_wordy(column)
    )


def _is_wordy(column: Column) -> bool:
    strings = column.strings()
    return bool(np.mean([len(strings.distinct.values[code].split()) for code in strings.present()]) >= WORDY)


def joined(columns: dict[str, Column], names: tuple[str, ...] | list[str]) -> list[str]:
    """The texts of each row as one; missing ones are empty."""
    parts = []
    for name in names:
        strings = columns[name].strings()
        values = [*strings.distinct.values, ""]  # -1 finds the empty one at the end
        parts.append([values[code] for code in strings.codes])
    return [" ".join(texts) for texts in zip(*parts, strict=True)]


def _others(columns: dict[str, Column], texts: Any) -> dict[str, Column]:
    """The other columns, if some value of them is there."""
    others = {name: column for name, column in columns.items() if name not in texts}
    return others if any(map(has_values, others.values())) else {}


def _fits(table: "TextTableEncoder") -> None:
    own = set(table.texts) | set(table.encoding_.codes if table.encoding_ is not None else ())
    require(table.texts and own <= set(table.columns_), "A table has texts of columns that it does not have")


@kept(
    texts=ListOf(Word(), distinct=True),
    scale=OneOf(NUMBERS),
    min_df=Whole(1),
    encoding_=OrNone(Instance(Encoding)),
    words_=Instance(TfidfVectorizer),
    columns_=ListOf(Word(), "D", distinct=True),
    n_features_in_=Whole(1),
    links=_fits,
)
class TextTableEncoder(ColumnsEncoder):
    """A table with columns of texts as a CSR matrix: other columns as ``TableEncoder`` has them, then tf-idf of words.

    The texts of a row are read as one, so that a table of texts alone has the features of these texts.

    Parameters
    ----------
    texts : names of the columns of texts.
    scale : of the other columns, as in ``TableEncoder``.
    min_df : a word must occur in so many training rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from nearline.representations.text_tables import TextTableEncoder
    >>> frame = pd.DataFrame({"title": ["red fish", "old bridge"], "body": ["it swims", "it stands"], "size": [1.0, 3.0]})
    >>> TextTableEncoder(["title", "body"]).fit(frame).get_feature_names_out().tolist()
    ['size', 'bridge', 'fish', 'it', 'old', 'red', 'stands', 'swims']
    """

    def __init__(self, texts: list[str], scale: str = "standard", min_df: int = 1) -> None:
        self.texts = texts
        self.scale = scale
        self.min_df = min_df

    def _learn(self, columns: dict[str, Column], y: Any) -> None:
        lacking = [name for name in self.texts if name not in columns]
        if lacking or not self.texts:
            raise ValueError(
                f"texts must name columns of the table, got {list(self.texts)}; there are {', '.join(columns)}."
            )
        words = TfidfVectorizer(min_df=self.min_df, sublinear_tf=True, dtype=np.float32, **TOKENS)
        self.words_ = words.fit(Watched(joined(columns, self.texts)))
        others = _others(columns, self.texts)
        self.encoding_ = None
        if others:
            self.encoding_ = Encoding.fit(others, checked_scale(self.scale), targets_of(y, self.scale))

    def _encode(self, columns: dict[str, Column]) -> Any:
        words = self.words_.transform(Watched(joined(columns, self.texts)))
        return words if self.encoding_ is None else beside(self.encoding_.encode(columns), words)

    def _encode_own(self, columns: dict[str, Column], y: Any) -> Any:
        words = self.words_.transform(Watched(joined(columns, self.texts)))
        if self.encoding_ is None:
            return words
        return beside(self.encoding_.encode_own(columns, targets_of(y, self.scale)), words)

    @property
    def names(self) -> list[str]:
        before = [] if self.encoding_ is None else self.encoding_.names
        return [*before, *map(str, self.words_.get_feature_names_out())]


def beside(numbers: Any, words: Any) -> csr_matrix:
    """Two blocks of columns as one CSR matrix."""
    rows = csr_matrix(hstack([csr_matrix(numbers), words], format="csr"))
    rows.sort_indices()
    return rows


@dataclass(frozen=True)
class PreparedTextTable(Prepared):
    """Columns read and words counted once: each fold learns codes and weights of words from its training rows."""

    columns: dict[str, Column]  # that are no texts
    words: PreparedTexts
    scale: str

    def fold(self, train: Array, test: Array, codes: Array | None = None) -> tuple[Any, Any]:
        words = self.words.fold(train, test)
        rows = {name: column.take(train) for name, column in self.columns.items()}
        if not _others(rows, ()):
            return words
        encoding = Encoding.fit(rows, self.scale)
        others = {name: column.take(test) for name, column in self.columns.items()}
        return beside(encoding.encode(rows), words[0]), beside(encoding.encode(others), words[1])


@dataclass(frozen=True)
class TextTable(Representation):
    """Mixed columns scaled to mean 0 and deviation 1, and tf-idf of the words of all texts."""

    name: ClassVar[str] = "table-words"
    reading: ClassVar[str] = "columns"
    scale: ClassVar[str] = "standard"
    texts: tuple[str, ...] = ()
    min_df: int = 1

    def adapted(self, X: Any) -> Self:
        n_rows = X.shape[0] if is_frame(X) else len(X)
        return replace(self, texts=text_columns(X), min_df=2 if n_rows >= LARGE else 1)

    def transformer(self) -> Any:
        return TextTableEncoder(list(self.texts), self.scale, self.min_df)

    def read(self, X: Any) -> dict[str, Column]:
        return read_columns(X)

    def prepared(self, rows: dict[str, Column]) -> Prepared:
        counts = word_counts(joined(rows, self.texts), TOKENS)
        others = {name: column for name, column in rows.items() if name not in self.texts}
        return PreparedTextTable(others, PreparedTexts(dampened(counts), self.min_df), self.scale)

    def counted(self, X: Any) -> tuple[str, ...]:
        return self.texts

    def corrected(self, transformer: Any, seen: Any) -> Any:
        found = copy(transformer)
        found.words_ = words_over(transformer.words_, seen)
        if transformer.encoding_ is not None:
            found.encoding_ = Encoding(codes_over(transformer.encoding_.codes, seen, self.scale))
        return found
