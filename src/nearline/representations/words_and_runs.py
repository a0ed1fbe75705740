"""Words, pairs of words and runs of characters side by side, weighed by how differently classes use them."""
# mypy: disallow-subclassing-any=False

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

from nearline._arrays.design import Array
from nearline._records.kept import Instance, Numbers, Whole, kept, require
from nearline.representations._runs import count_runs
from nearline.representations.base import Prepared
from nearline.representations.ngrams import (
    LogCountRatios,
    PreparedRatios,
    WordPairs,
    log_count_ratios,
    present_tokens,
    scaled,
)
from nearline.representations.texts import LARGE, Documents, Texts, documents, word_counts

WORDS = WordPairs().tokens
SHORTEST, LONGEST = 2, 6  # runs of characters
RUNS: dict[str, Any] = {"lowercase": True, "analyzer": "char_wb", "ngram_range": (SHORTEST, LONGEST)}


def beside(words: csr_matrix, runs: csr_matrix) -> csr_matrix:
    """Both, as one CSR matrix; each half of a row has length 1."""
    rows = csr_matrix(hstack([words, runs], format="csr"))
    rows.sort_indices()
    return rows


def _weighs_all(found: "WordsAndRunsRatios") -> None:
    fits = len(found.weights_) == len(found.words_.vocabulary_) + len(found.runs_.vocabulary_)
    require(fits, "Words and runs of characters do not have a weight each")


@kept(
    min_words=Whole(1),
    min_runs=Whole(1),
    words_=Instance(CountVectorizer),
    runs_=Instance(CountVectorizer),
    weights_=Numbers(("D",), "float32", least=0.0),
    links=_weighs_all,
)
class WordsAndRunsRatios(TransformerMixin, BaseEstimator):
    """Which words, pairs of words and runs of 2 to 6 characters occur in texts, weighed by their log-count ratios.

    Parameters
    ----------
    min_words, min_runs : in how many training texts a word or a pair, and a run, must occur.

    Examples
    --------
    >>> from nearline.representations.words_and_runs import WordsAndRunsRatios
    >>> ratios = WordsAndRunsRatios().fit(["so good", "not so good"], [1, 0])
    >>> ratios.get_feature_names_out()[[0, 1, 2, 5, -1]].tolist()
    ['good', 'not', 'not so', ' g', 't ']
    """

    def __init__(self, min_words: int = 1, min_runs: int = 1) -> None:
        self.min_words = min_words
        self.min_runs = min_runs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Learn tokens and their weights from a list of texts and its labels."""
        self._fit(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> csr_matrix:
        """The training texts as numbers; their tokens are counted once."""
        words, runs = self._fit(X, y)
        return self._scaled(words, runs)

    def _fit(self, X: Any, y: Any) -> tuple[csr_matrix, csr_matrix]:
        self.words_ = CountVectorizer(min_df=self.min_words, binary=True, dtype=np.float32, **WORDS)
        self.runs_ = CountVectorizer(min_df=self.min_runs, binary=True, dtype=np.float32, **RUNS)
        words, runs = self.words_.fit_transform(X), self.runs_.fit_transform(X)
        weights = [log_count_ratios(rows, np.asarray(y)) for rows in (words, runs)]
        self.weights_ = np.concatenate(weights).astype(np.float32)
        return words, runs

    def transform(self, X: Any) -> csr_matrix:
        """Texts as numbers: words and pairs of words first."""
        check_is_fitted(self)
        return self._scaled(self.words_.transform(X), self.runs_.transform(X))

    def _scaled(self, words: csr_matrix, runs: csr_matrix) -> csr_matrix:
        of_words, of_runs = np.split(self.weights_, [words.shape[1]])
        return beside(scaled(csr_matrix(words), of_words), scaled(csr_matrix(runs), of_runs))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Words and pairs of words, then runs of characters."""
        check_is_fitted(self)
        return np.concatenate([self.words_.get_feature_names_out(), self.runs_.get_feature_names_out()])


def token_weights(representation: Any) -> Array | None:
    """By what a fitted representation multiplies each token, where it learned that from labels."""
    steps = getattr(representation, "steps", [(None, representation)])
    last = steps[-1][1]
    return last.weights_ if isinstance(last, (LogCountRatios, WordsAndRunsRatios)) else None


def runs_from(representation: Any) -> int:
    """The place of the first feature of a fitted representation of texts that is a run of characters; they come last."""
    last = representation.steps[-1][1]
    if isinstance(last, WordsAndRunsRatios):
        return len(last.words_.vocabulary_)
    n = len(last.get_feature_names_out())
    return 0 if getattr(last, "analyzer", "word") == "char_wb" else n


@dataclass(frozen=True)
class PreparedWordsAndRuns(Prepared):
    """Tokens of all rows, found once; a fold keeps and weighs those that its training rows know."""

    words: PreparedRatios
    runs: PreparedRatios

    def fold(self, train: Array, test: Array, codes: Array | None = None) -> tuple[Any, Any]:
        words, runs = (half.fold(train, test, codes) for half in (self.words, self.runs))
        return beside(words[0], runs[0]), beside(words[1], runs[1])


@dataclass(frozen=True)
class WordsAndRuns(Texts):
    """Words, pairs of words and runs of characters, weighed by their log-count ratios, for linear models."""

    name: ClassVar[str] = "words-and-runs"
    gives: ClassVar[str] = "n-grams"
    min_runs: int = 1

    def adapted(self, X: Any) -> Self:
        """Most pairs of short texts occur once, and tell something; runs that occur once mostly repeat a word."""
        return replace(self, min_runs=2 if len(documents(X)) >= LARGE else 1)

    @property
    def tokens(self) -> dict[str, Any]:
        return WORDS

    def counts(self, texts: list[str]) -> csr_matrix:
        return word_counts(texts, self.tokens)

    def transformer(self) -> Any:
        return make_pipeline(Documents(), WordsAndRunsRatios(self.min_df, self.min_runs))

    def prepared(self, rows: Any) -> Prepared:
        texts = documents(rows)
        runs = count_runs(texts, SHORTEST, LONGEST)[0]
        return PreparedWordsAndRuns(
            PreparedRatios(present_tokens(self.counts(texts)), self.min_df),
            PreparedRatios(present_tokens(runs), self.min_runs),
        )
