"""Representations of texts: tf-idf of words or of runs of characters. Tokens are counted once for all folds."""
# mypy: disallow-subclassing-any=False

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import normalize

from nearline._arrays.design import Array
from nearline._parallel.tiles import steps
from nearline._records.kept import kept
from nearline.representations._runs import count_runs
from nearline.representations.base import NOTHING, Prepared, Representation, is_frame, names_of, series_of

LONG = 200  # texts of more characters on average take long to cut into runs of characters
LARGE = 1000  # from this many texts on, a token seen in one text only is left out


def documents(X: Any) -> list[str]:
    """Texts as a list of strings; a missing text is an empty one.

    Examples
    --------
    >>> from nearline.representations.texts import documents
    >>> documents(["Good day", None])
    ['Good day', '']
    """
    if isinstance(X, str):
        raise ValueError(
            f"Texts must come as a list, one string a row, but got the single string {X[:40]!r}."
        )
    if is_frame(X):
        names = names_of(X)
        if len(names) != 1:
            raise ValueError(
                f"Texts must be one column, got {len(names)}: {', '.join(names[:5])}. Select one."
            )
        X = series_of(X)[0]
    values = np.asarray(list(X), dtype=object)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"Texts must be a list of strings, one a row, got an array of shape {values.shape}.")
    return [value if isinstance(value, str) else _text(value) for value in values]


def _text(value: Any) -> str:
    text = str(value)
    return "" if text in NOTHING else text


def length_of(texts: list[str]) -> str:
    """Whether texts are 'names' (mostly one word), 'phrases', 'pages', or 'trees' in brackets."""
    if texts and all(text.startswith("(") and text.rstrip().endswith(")") for text in texts):
        return "trees"
    if np.mean([len(text.split(None, 2)) for text in texts]) < 1.5:
        return "names"
    return "phrases" if np.mean([len(text) for text in texts]) <= LONG else "pages"


class Watched(list[str]):
    """A list of texts that can be stopped while somebody goes through it."""

    def __iter__(self) -> Iterator[str]:
        return steps(super().__iter__())


@kept()
class Documents(TransformerMixin, BaseEstimator):
    """Texts of any container (list, array, series, frame of one column) as a list of strings."""

    def fit(self, X: Any, y: Any = None) -> "Documents":
        """Nothing is fitted."""
        return self

    def transform(self, X: Any) -> list[str]:
        """The texts as a list."""
        return Watched(documents(X))

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The one column of texts."""
        return np.array(["text"], dtype=object)


def selected(tf: csr_matrix, keep: Array) -> csr_matrix:
    """The columns of a CSR matrix where ``keep`` is true, in one pass over its entries."""
    mask = keep[tf.indices]
    places = np.concatenate([[0], np.cumsum(mask)])
    numbers = (np.cumsum(keep) - 1).astype(tf.indices.dtype)
    parts = tf.data[mask], numbers[tf.indices[mask]], places[tf.indptr].astype(tf.indptr.dtype)
    return csr_matrix(parts, shape=(tf.shape[0], int(keep.sum())))


def inverse_frequencies(frequencies: Array, n: int, dtype: Any) -> Array:
    """ln((1 + n) / (1 + df)) + 1 of tokens that occur in df of n texts, rounded as scikit-learn does."""
    return np.log(np.asarray(n + 1, dtype=dtype) / (frequencies + 1).astype(dtype)) + np.asarray(
        1, dtype=dtype
    )


def weighted(tf: csr_matrix, keep: Array, idf: Array) -> csr_matrix:
    """Term frequencies times idf of the kept columns, each row divided by its length."""
    rows = selected(tf, keep)
    rows.data *= idf[rows.indices]
    return normalize(rows, copy=False)


def known_tokens(rows: csr_matrix, min_df: int) -> tuple[Array, Array]:
    """In how many training texts each token occurs, and whether these are enough."""
    frequencies = np.bincount(rows.indices, minlength=rows.shape[1])
    keep = frequencies >= min_df
    if not keep.any():
        raise ValueError(
            f"No token occurs in {min_df} or more of the {rows.shape[0]} training texts: give longer or more "
            "texts, or min_df=1."
        )
    return frequencies, keep


def word_counts(texts: list[str], tokens: dict[str, Any]) -> csr_matrix:
    """Of every token, columns in the order of the sorted tokens; one empty column if there is no token."""
    try:
        return CountVectorizer(dtype=np.int64, **tokens).fit_transform(Watched(texts))
    except ValueError:  # no text has a token: this is refused by the folds, which know how to say it
        return csr_matrix(np.zeros((len(texts), 1), dtype=np.int64))


@dataclass(frozen=True)
class PreparedTexts(Prepared):
    """Dampened counts, 1 + ln(count), of the tokens of all rows; a fold keeps the columns its training rows know."""

    tf: csr_matrix
    min_df: int

    def fold(self, train: Array, test: Array, codes: Array | None = None) -> tuple[Any, Any]:
        rows = self.tf[train]
        frequencies, keep = known_tokens(rows, self.min_df)
        idf = inverse_frequencies(frequencies[keep], len(train), self.tf.dtype)
        return weighted(rows, keep, idf), weighted(self.tf[test], keep, idf)


def dampened(counts: csr_matrix, dtype: Any = np.float32) -> csr_matrix:
    """1 + ln(count) of every token."""
    tf = csr_matrix(counts, dtype=dtype)
    tf.sort_indices()
    tf.data = np.log(tf.data) + np.asarray(1, dtype=dtype)
    return tf


@dataclass(frozen=True)
class Texts(Representation):
    """tf-idf of tokens: (1 + ln(count)) (ln((1 + n) / (1 + df)) + 1), each text divided by its length."""

    min_df: int = 1  # a token must occur in so many training texts

    @property
    @abstractmethod
    def tokens(self) -> dict[str, Any]:
        """What a token is, as parameters of scikit-learn's vectorizers."""

    def adapted(self, X: Any) -> Self:
        return replace(self, min_df=2 if len(documents(X)) >= LARGE else 1)

    def transformer(self) -> Any:
        tfidf = TfidfVectorizer(min_df=self.min_df, sublinear_tf=True, dtype=np.float32, **self.tokens)
        return make_pipeline(Documents(), tfidf)

    @abstractmethod
    def counts(self, texts: list[str]) -> csr_matrix:
        """Of every token, columns in the order of the sorted tokens; one empty column if there is no token."""

    def prepared(self, rows: Any) -> Prepared:
        return PreparedTexts(dampened(self.counts(documents(rows))), self.min_df)


@dataclass(frozen=True)
class Words(Texts):
    """tf-idf of lower-case words.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.representations.texts import Words
    >>> prepared = Words().prepare(["red fish", "blue fish", "green bird"])
    >>> train, test = prepared.fold(np.array([0, 1]), np.array([2]))
    >>> train.shape, test.nnz  # blue, fish, red; the text left out has none of them
    ((2, 3), 0)
    """

    name: ClassVar[str] = "words"

    @property
    def tokens(self) -> dict[str, Any]:
        return {"lowercase": True}

    def counts(self, texts: list[str]) -> csr_matrix:
        return word_counts(texts, self.tokens)

    def counted(self, X: Any) -> tuple[str, ...]:
        return tuple(names_of(X)) if is_frame(X) else ()

    def corrected(self, transformer: Any, seen: Any) -> Any:
        from nearline.representations.corrected import words_over

        return Pipeline(
            [*transformer.steps[:-1], (transformer.steps[-1][0], words_over(transformer.steps[-1][1], seen))]
        )


@dataclass(frozen=True)
class Characters(Texts):
    """tf-idf of runs of characters inside words: for names, codes, misspellings and languages without spaces."""

    name: ClassVar[str] = "characters"
    shortest: int = 1
    longest: int = 5

    def adapted(self, X: Any) -> Self:
        long = length_of(documents(X)) == "pages"  # which have very many runs already
        return replace(super().adapted(X), longest=4 if long else 5)

    @property
    def tokens(self) -> dict[str, Any]:
        return {"lowercase": True, "analyzer": "char_wb", "ngram_range": (self.shortest, self.longest)}

    def counts(self, texts: list[str]) -> csr_matrix:
        return count_runs(texts, self.shortest, self.longest)[0]
