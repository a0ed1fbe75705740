"""What files keep of scikit-learn's classes. What a file may set is what is harmless: no patterns, functions or places."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, RobustScaler, StandardScaler

from nearline._records.kept import (
    AnyOf,
    Flag,
    Instance,
    Labels,
    ListOf,
    Mapping,
    Numbers,
    Objects,
    OneOf,
    Only,
    OrNone,
    Perhaps,
    Plain,
    Real,
    Vocabulary,
    Whole,
    Word,
    is_complete,
    kept,
    require,
)

# Patterns of words: any other one could take hours for a text (its search may have to try all ways to cut it).
PATTERNS = (
    None,
    *(rf"{flag}{p}" for flag in ("(?u)", "") for p in (r"\b\w\w+\b", r"\b\w+\b", r"\w+", r"\S+")),
)
LONGEST = 20  # runs of more words or characters cost more than they tell
NO_CODE = "a file holds no code"

kept(
    BaseEstimator,
    n_features_in_=Perhaps(Whole(1)),
    feature_names_in_=Perhaps(Objects(("D",), Word())),
    _sklearn_output_config=Perhaps(
        Mapping(OneOf(("transform",)), OneOf((None, "default", "pandas", "polars")))
    ),
)


# -- scalers ------------------------------------------------------------------------------------------------


def _centers(scaler: Any) -> None:
    pairs = (
        ("with_mean", "mean_"),
        ("with_std", "scale_"),
        ("with_centering", "center_"),
        ("with_scaling", "scale_"),
    )
    for asked, has in pairs:
        state = vars(scaler)
        fits = not state.get(asked) or state[has] is not None
        require(fits, f"{type(scaler).__name__} with {asked}=True lacks {has}")


D, SEEN = Numbers(("D",)), AnyOf((Real(least=0.0), Numbers(("D",), "any numbers", least=0)))
POSITIVE = Numbers(("D",), above=0.0)
ROWS: dict[str, Any] = {"n_features_in_": Whole(1), "copy": Flag()}
kept(
    StandardScaler, links=_centers, with_mean=Flag(), with_std=Flag(), n_samples_seen_=SEEN, mean_=OrNone(D),
    var_=OrNone(Numbers(("D",), least=0.0)), scale_=OrNone(POSITIVE), **ROWS,
)  # fmt: skip
kept(
    RobustScaler, links=_centers, with_centering=Flag(), with_scaling=Flag(), unit_variance=Flag(),
    quantile_range=ListOf(Real(0.0, 100.0), 2, tuple), center_=OrNone(D), scale_=OrNone(POSITIVE), **ROWS,
)  # fmt: skip
kept(MaxAbsScaler, clip=Perhaps(Flag()), n_samples_seen_=SEEN, max_abs_=D, scale_=POSITIVE, **ROWS)
kept(
    MinMaxScaler, feature_range=AnyOf((ListOf(Real(), 2, tuple), ListOf(Real(), 2))), clip=Flag(), n_samples_seen_=SEEN,
    scale_=Numbers(("D",)), min_=D, data_min_=D, data_max_=D, data_range_=D, **ROWS,
)  # fmt: skip
kept(Normalizer, norm=OneOf(("l1", "l2", "max")), **ROWS)


# -- missing values -----------------------------------------------------------------------------------------


def _fills(imputer: Any) -> None:
    numeric = imputer.statistics_.dtype.kind == "f"
    require(
        numeric or imputer._fit_dtype.kind not in "iuf",
        "SimpleImputer has no numbers to fill in numbers with",
    )
    indicator = imputer.indicator_
    fits = (indicator is not None) == imputer.add_indicator
    fits = fits and (
        indicator is None or (is_complete(indicator) and indicator.n_features_in_ == imputer.n_features_in_)
    )
    require(fits, "The indicator of missing values does not fit the imputer")


def _of_its_features(indicator: Any) -> None:
    require(indicator._n_features == indicator.n_features_in_, "MissingIndicator has two numbers of features")


kept(
    MissingIndicator, links=_of_its_features, missing_values=Plain(), features=OneOf(("missing-only", "all")),
    sparse=OneOf((True, False, "auto")), error_on_new=Flag(), _precomputed=Perhaps(Flag()), n_features_in_=Whole(1),
    _n_features=Whole(1), features_=Numbers(("F",), "whole numbers", least=0, below="D", rising=True),
)  # fmt: skip
kept(
    SimpleImputer, links=_fills, missing_values=Plain(), add_indicator=Flag(), keep_empty_features=Flag(), fill_value=Plain(),
    strategy=OneOf(("mean", "median", "most_frequent", "constant")), _fit_dtype=Instance(np.dtype),
    _fill_dtype=Perhaps(Instance(np.dtype)), indicator_=OrNone(Instance(MissingIndicator)),
    statistics_=AnyOf((Numbers(("D",), wild=True), Objects(("D",), Plain()))), **ROWS,
)  # fmt: skip


# -- texts --------------------------------------------------------------------------------------------------


def _from_short_to_long(vectorizer: Any) -> None:
    low, high = vectorizer.ngram_range
    require(low <= high, f"ngram_range goes from {low} down to {high}")
    weighting = vars(vectorizer).get("_tfidf")
    if weighting is not None:
        fits = is_complete(weighting) and weighting.n_features_in_ == len(vectorizer.vocabulary_)
        require(fits, "The weights of tokens do not fit the vocabulary")
        require(len(vectorizer.vocabulary_), "A vocabulary has no token")


def _has_weights(weighting: Any) -> None:
    require(
        not weighting.use_idf or "idf_" in vars(weighting), "TfidfTransformer with use_idf=True lacks idf_"
    )


KINDS = tuple(one for kind in (np.float64, np.float32) for one in (kind, np.dtype(kind)))
WHOLE = tuple(one for kind in (np.int64, np.int32) for one in (kind, np.dtype(kind)))
NAMES = AnyOf(tuple(ListOf(Word(), kind=kind) for kind in (list, set, frozenset, tuple)))
TFIDF: dict[str, Any] = {
    "norm": OneOf((None, "l1", "l2")),
    "use_idf": Flag(),
    "smooth_idf": Flag(),
    "sublinear_tf": Flag(),
}
kept(TfidfTransformer, links=_has_weights, n_features_in_=Whole(1), idf_=Perhaps(POSITIVE), **TFIDF)
kept(
    CountVectorizer,
    links=_from_short_to_long,
    input=Only("content", "others make a vectorizer which opens files"),
    encoding=OneOf(("utf-8", "ascii", "latin-1", "utf-16", "cp1252")),
    decode_error=OneOf(("strict", "ignore", "replace")),
    strip_accents=OneOf((None, "ascii", "unicode")),
    preprocessor=Only(None, NO_CODE),
    tokenizer=Only(None, NO_CODE),
    analyzer=OneOf(("word", "char", "char_wb")),
    lowercase=Flag(),
    token_pattern=OneOf(PATTERNS),
    stop_words=AnyOf((OneOf((None, "english")), NAMES)),
    max_df=Real(least=0.0),
    min_df=Real(least=0.0),
    max_features=OrNone(Whole(1)),
    ngram_range=AnyOf((ListOf(Whole(1, LONGEST), 2, tuple), ListOf(Whole(1, LONGEST), 2))),
    vocabulary=Plain(),
    binary=Flag(),
    dtype=OneOf(KINDS + WHOLE),
    fixed_vocabulary_=Flag(),
    vocabulary_=Vocabulary("V"),
)
kept(TfidfVectorizer, dtype=OneOf(KINDS), _tfidf=Instance(TfidfTransformer), **TFIDF)


# -- the trivial classifier ---------------------------------------------------------------------------------


def _of_shares(model: Any) -> None:
    fits = model._strategy == model.strategy and model.n_classes_ == len(model.classes_)
    require(fits, "DummyClassifier has two strategies or two numbers of classes")
    require(abs(model.class_prior_.sum() - 1.0) < 1e-6, "The shares of classes do not add up to 1")
    known = model.strategy != "constant" or model.constant in model.classes_.tolist()
    require(known, "The constant of DummyClassifier is none of its classes")


STRATEGY = OneOf(("most_frequent", "prior", "stratified", "uniform", "constant"))
kept(
    DummyClassifier, links=_of_shares, strategy=STRATEGY, _strategy=STRATEGY, random_state=OrNone(Whole(0, 2**32 - 1)),
    constant=Plain(), sparse_output_=OneOf((False,)), n_outputs_=OneOf((1,)), classes_=Labels(1), n_classes_=Whole(1),
    class_prior_=Numbers(("C",), least=0.0),
)  # fmt: skip
