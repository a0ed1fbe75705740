"""Corrections: what was fitted to a sample, as all training rows say it, from what was seen of them."""

from copy import deepcopy
from dataclasses import replace
from functools import singledispatch
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline.representations.codes import PARTS, CategoryCode, Code, DateCode, NumberCode
from nearline.representations.scales import Affine
from nearline.representations.seen import Moments, Seen, SeenColumn
from nearline.representations.texts import inverse_frequencies


def _standard(seen: Moments) -> Affine:
    """To mean 0 and standard deviation 1."""
    if seen.low[0] == seen.high[0]:
        return Affine(float(seen.low[0]), 1.0)
    return Affine(float(seen.mean[0]), float(np.sqrt(seen.squares[0] / seen.n[0])) or 1.0)


def _minmax(seen: Moments) -> Affine:
    """To the range from 0 to 1."""
    low, high = float(seen.low[0]), float(seen.high[0])
    return Affine(low, high - low or 1.0)


# Scales that follow from sums and ends; others (quantiles) stay those of the sample.
ADDED = {
    "standard": _standard,
    "minmax": _minmax,
    "values": _standard,
    "splines": _standard,
    "shares": _standard,
}


@singledispatch
def code_over(code: Code, seen: SeenColumn, scale: str) -> Code:
    """A code as all training rows say it; what does not add up (principal directions of texts) stays the sample's."""
    return code


@code_over.register
def _(code: NumberCode, seen: SeenColumn, scale: str) -> Code:
    return _number(code, seen.numbers, scale)


@code_over.register
def _(code: DateCode, seen: SeenColumn, scale: str) -> Code:
    parts = {}
    for j, name in enumerate(PARTS):
        own = Moments(*(value[j : j + 1] for value in vars(seen.dates).values()))
        if name == "days" or own.low[0] < own.high[0]:
            new = NumberCode(
                f"{code.parts['days'].name.removesuffix('days')}{name}", 0.0, Affine(0.0, 1.0), False
            )
            known = code.parts.get(name, replace(new, median=float(own.mean[0])))
            found = _number(known, own, scale)
            parts[name] = found if name == "days" else replace(found, missing=False)
    return DateCode(parts)


@code_over.register
def _(code: CategoryCode, seen: SeenColumn, scale: str) -> Code:
    if not seen.strings:  # numbers that are taken as categories
        return code
    return CategoryCode(code.name, tuple(sorted(seen.strings)), seen.missing > 0)


def _number(code: NumberCode, seen: Moments, scale: str) -> NumberCode:
    missing = bool(seen.missing[0] > 0)
    if scale not in ADDED or not seen.n[0]:
        return replace(code, missing=missing)
    with np.errstate(all="ignore"):
        found = ADDED[scale](seen.filled(np.array([code.median])))
    sound = np.isfinite([found.center, found.scale]).all() and found.scale > 0
    return replace(code, missing=missing, scale=found if sound else code.scale)


def codes_over(codes: dict[str, Code], seen: Seen, scale: str) -> dict[str, Code]:
    """The codes of a table."""
    known = seen.columns or {}
    return {
        name: code_over(code, known[name], scale) if name in known else code for name, code in codes.items()
    }


def words_over(words: Any, seen: Seen) -> Any:
    """A vectorizer with the vocabulary and document frequencies of all training rows."""
    known = sorted(word for word, count in seen.words.items() if count >= words.min_df)
    if not known:
        return words
    found = deepcopy(words)
    found.vocabulary_ = {word: place for place, word in enumerate(known)}
    counts = np.array([seen.words[word] for word in known])
    weights = found._tfidf
    weights.idf_ = inverse_frequencies(counts, seen.n_rows, np.float32)
    weights.n_features_in_ = len(known)
    return found


def scaler_over(scaler: Any, seen: Moments, medians: Array, marked: Array) -> Any:
    """A StandardScaler of columns whose missing values are medians, followed by marks of where some were missing."""
    found, rows = deepcopy(scaler), seen.n + seen.missing
    filled = seen.filled(medians) if len(medians) else seen
    share = (seen.missing / rows)[marked]
    mean = np.concatenate([filled.mean, share])
    variance = np.concatenate([filled.squares / rows, share * (1.0 - share)])
    constant = np.concatenate([filled.low == filled.high, (share == 0) | (share == 1)])
    found.mean_, found.var_ = mean, np.where(constant, 0.0, variance)
    found.scale_ = np.where(constant | (variance <= 0), 1.0, np.sqrt(variance))
    found.n_samples_seen_ = int(rows[0])
    return found


def ends_over(scaler: Any, seen: Moments) -> Any:
    """A MaxAbsScaler by the ends of all training rows."""
    found = deepcopy(scaler)
    found.max_abs_ = np.maximum(np.abs(seen.low), np.abs(seen.high))
    found.scale_ = np.where(found.max_abs_ == 0, 1.0, found.max_abs_)
    found.n_samples_seen_ = int(seen.n[0])
    return found
