"""Representations of texts by words and pairs of words: tf-idf, which of them occur, and weights learned from the labels."""
# mypy: disallow-subclassing-any=False

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from nearline._arrays.design import Array
from nearline._arrays.validation import validate_data
from nearline._records.kept import Numbers, Whole, kept
from nearline.representations.base import Prepared
from nearline.representations.texts import (
    Documents,
    PreparedTexts,
    Texts,
    dampened,
    documents,
    known_tokens,
    length_of,
    selected,
    word_counts,
)

PSEUDO = 2.0  # texts in which a token is thought to occur beside those that are there


def log_count_ratios(present: csr_matrix, codes: Array) -> Array:
    """The largest |r_cj| over classes c of each token j, where

        r_cj = ln((N_cj + a p_c) / p_c) - ln((N_j - N_cj + a (1 - p_c)) / (1 - p_c)),

    N_cj is the number of texts of class c with token j, N_j their sum over classes, p_c the share of class c in all tokens,
    and a = 2: of two equally large classes this is the ratio of counts with one added to each.
    """
    known, targets = np.unique(codes, return_inverse=True)
    if len(known) < 2:
        return np.ones(present.shape[1])
    ones = np.ones(len(targets))
    classes = csr_matrix((ones, (targets, np.arange(len(targets)))), shape=(len(known), len(targets)))
    N = np.asarray((classes @ present).toarray(), dtype=np.float64)  # (C, D)
    p = N.sum(axis=1, keepdims=True) / max(1.0, N.sum())
    p = np.clip(p, 1e-12, 1 - 1e-12)  # a class may have no token at all
    own, others = N + PSEUDO * p, N.sum(axis=0) - N + PSEUDO * (1 - p)
    ratios = np.log(own / p) - np.log(others / (1 - p))
    return np.asarray(np.abs(ratios).max(axis=0))


def scaled(present: csr_matrix, weights: Array) -> csr_matrix:
    """Columns times their weights, then each row divided by its length."""
    rows = present.copy()
    rows.data = rows.data * weights[rows.indices]
    return normalize(rows, copy=False)


@kept(n_features_in_=Whole(1), weights_=Numbers(("D",), "float32", least=0.0))
class LogCountRatios(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Tokens weighed by how differently often classes use them; each text is divided by its length.

    A linear model behind it is the naive Bayes SVM: the size of a naive Bayes weight is the scale of its feature, so that
    telling tokens are penalized less.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_matrix
    >>> from nearline.representations.ngrams import LogCountRatios
    >>> has = csr_matrix(np.array([[1, 1], [1, 1], [0, 1], [0, 1]]))  # the first token tells the classes apart
    >>> LogCountRatios().fit(has, [0, 0, 1, 1]).weights_.astype(float).round(2).tolist()
    [0.92, 0.47]
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any) -> "LogCountRatios":
        """Learn the weights from counts or from zeros and ones."""
        X = csr_matrix(validate_data(self, X, accept_sparse="csr", dtype=[np.float32, np.float64]))
        self.weights_ = log_count_ratios(X, np.asarray(y)).astype(np.float32)
        return self

    def transform(self, X: Any) -> csr_matrix:
        """Rows of unit length."""
        check_is_fitted(self)
        checked = validate_data(self, X, accept_sparse="csr", dtype=[np.float32, np.float64], reset=False)
        return scaled(csr_matrix(checked), self.weights_)


@dataclass(frozen=True)
class PreparedPresence(Prepared):
    """Which tokens occur in each text; a fold keeps those that its training rows know."""

    present: csr_matrix
    min_df: int

    def fold(self, train: Array, test: Array, codes: Array | None = None) -> tuple[Any, Any]:
        rows = self.present[train]
        keep = known_tokens(rows, self.min_df)[1]
        return selected(rows, keep), selected(self.present[test], keep)


@dataclass(frozen=True)
class PreparedRatios(PreparedPresence):
    """The same, weighed by what the labels of the training rows say."""

    def fold(self, train: Array, test: Array, codes: Array | None = None) -> tuple[Any, Any]:
        if codes is None:
            raise ValueError(
                "Log-count ratios are learned from labels: give the classes of the training rows."
            )
        rows, others = super().fold(train, test)
        weights = log_count_ratios(rows, codes).astype(np.float32)
        return scaled(rows, weights), scaled(others, weights)


@dataclass(frozen=True)
class WordPairs(Texts):
    """tf-idf of lower-case words, those of one letter too, and of pairs of words that follow each other.

    Examples
    --------
    >>> from nearline.representations.ngrams import WordPairs
    >>> WordPairs().transformer().fit(["not a good one"]).get_feature_names_out().tolist()
    ['a', 'a good', 'good', 'good one', 'not', 'not a', 'one']
    """

    name: ClassVar[str] = "word-pairs"
    reading: ClassVar[str] = "word pairs"
    gives: ClassVar[str] = "n-grams"

    def adapted(self, X: Any) -> Self:
        """Most pairs of short texts occur once, and tell something: only those of long texts are left out."""
        return super().adapted(X) if length_of(documents(X)) == "pages" else self

    @property
    def tokens(self) -> dict[str, Any]:
        return {"lowercase": True, "ngram_range": (1, 2), "token_pattern": r"(?u)\b\w+\b"}

    def counts(self, texts: list[str]) -> csr_matrix:
        return word_counts(texts, self.tokens)

    def read(self, X: Any) -> csr_matrix:
        return self.counts(documents(X))

    def prepared(self, rows: Any) -> Prepared:
        return PreparedTexts(dampened(rows), self.min_df)


@dataclass(frozen=True)
class PresentPairs(WordPairs):
    """Which words and pairs of words occur: zeros and ones, for naive Bayes."""

    name: ClassVar[str] = "word-pairs-present"
    gives: ClassVar[str] = "presence"

    def transformer(self) -> Any:
        return make_pipeline(Documents(), self._counter())

    def _counter(self) -> Any:
        return CountVectorizer(min_df=self.min_df, binary=True, dtype=np.float32, **self.tokens)

    def prepared(self, rows: Any) -> Prepared:
        return PreparedPresence(present_tokens(rows), self.min_df)


@dataclass(frozen=True)
class WeighedPairs(PresentPairs):
    """Words and pairs of words weighed by their log-count ratios, for linear models: the naive Bayes SVM."""

    name: ClassVar[str] = "word-pairs-ratios"
    gives: ClassVar[str] = "n-grams"

    def transformer(self) -> Any:
        return make_pipeline(Documents(), self._counter(), LogCountRatios())

    def prepared(self, rows: Any) -> Prepared:
        return PreparedRatios(present_tokens(rows), self.min_df)


def present_tokens(counts: csr_matrix) -> csr_matrix:
    """Which tokens occur: ones in place of counts."""
    present = csr_matrix(counts, dtype=np.float32, copy=True)
    present.sort_indices()
    present.data.fill(1.0)
    return present
