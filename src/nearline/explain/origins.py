"""Origins: which column, word or pixel each feature of a representation comes from."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from nearline._arrays.design import Array
from nearline.representations import TableEncoder, is_frame
from nearline.representations.features import FeatureExtractor
from nearline.representations.interactions import Interactions
from nearline.representations.text_tables import TextTableEncoder
from nearline.representations.texts import Documents, documents
from nearline.representations.words_and_runs import runs_from

MOST_WORDS = 3  # that a run of characters is said to stand in


@dataclass(frozen=True)
class Origins:
    """What the model's features are to the person who made the data."""

    names: list[str]  # of columns, features or words
    owners: Array  # (D,): the number of the name that each feature belongs to
    n_columns: (
        int  # so many of the names, the first ones, are columns of the rows, whose values say something
    )

    def value(self, X: Any, row: int, owner: int) -> str | None:
        """What the row has under a name."""
        if owner >= self.n_columns:
            return None
        if is_frame(X):
            found = X[self.names[owner]][row]
        elif owner < X.shape[1]:
            found = X[row, owner]
        else:
            return None
        return "missing" if found is None or found != found else _short(found)

    def called(self, X: Any, row: int, owner: int) -> tuple[str, str | None]:
        """A name, as it is said of a row, and what the row has under it."""
        return self.names[owner], self.value(X, row, owner)

    def together(self, numbers: Array, terms: Array) -> tuple[Array, Array]:
        """Names that have terms, and their sums (C, names)."""
        if len(self.owners) == len(self.names):  # each feature has a name of its own
            return self.owners[numbers], terms
        owners, place = np.unique(self.owners[numbers], return_inverse=True)
        totals = np.zeros((len(owners), len(terms)))
        np.add.at(totals, place, terms.T)
        return owners, totals.T


@dataclass(frozen=True)
class TextOrigins(Origins):
    """Of texts: words, and runs of characters, which are said with the words of the text that they stand in."""

    runs: dict[int, str]  # by the number of the name

    def called(self, X: Any, row: int, owner: int) -> tuple[str, str | None]:
        name = self.names[owner]
        if owner not in self.runs:
            return name, None
        words = documents(_safe_indexing(X, [row]))[0].lower().split()
        within = list(dict.fromkeys(word for word in words if self.runs[owner] in f" {word} "))
        more = ", ..." if len(within) > MOST_WORDS else ""
        return (f"{name} in {', '.join(within[:MOST_WORDS])}{more}" if within else name), None


def origins(representation: Any, columns: Any = None, shape: Any = None) -> Origins:
    """Of a fitted representation. ``columns``: names of the columns of a table of numbers; ``shape``: of an image."""
    steps = [step for _, step in getattr(representation, "steps", [(None, representation)])]
    if type(steps[-1]) is Interactions:
        return _with_products(origins(_before_last(steps), columns, shape), steps[-1])
    for step in steps:
        if isinstance(step, FeatureExtractor):
            return _of_extractor(step)
    of = OF_KIND.get(type(steps[0]))
    if of is not None:
        return of(representation)
    if type(steps[-1]) is TableEncoder:
        return _of_encoded_numbers(steps[-1], columns, shape)
    return _of_numbers(representation, columns, shape)


def _before_last(steps: list[Any]) -> Any:
    return Pipeline([(str(j), step) for j, step in enumerate(steps[:-1])]) if len(steps) > 2 else steps[0]


def _with_products(found: Origins, products: Interactions) -> Origins:
    """Two columns, or two features of columns that have several, after all others; the rows have no value for them."""
    owned = found.owners[products.pairs_]
    names = [f"{found.names[a]} * {found.names[b]}" for a, b in owned.tolist()]
    owners = np.concatenate([found.owners, len(found.names) + np.arange(len(names))])
    return Origins([*found.names, *names], owners, found.n_columns)


def _of_extractor(extractor: FeatureExtractor) -> Origins:
    """What an extractor sees: numbers that are no columns of the rows."""
    names = [str(name) for name in extractor.get_feature_names_out()]
    return Origins(names, np.arange(len(names)), 0)


def _of_codes(codes: dict[str, Any]) -> Array:
    """The number of the code that each of its features belongs to."""
    return np.repeat(np.arange(len(codes)), [len(code.names) for code in codes.values()])


def _of_table(encoder: Any) -> Origins:
    codes = encoder.encoding_.codes
    return Origins(list(codes), _of_codes(codes), len(codes))


def _of_text_table(encoder: Any) -> Origins:
    codes = {} if encoder.encoding_ is None else encoder.encoding_.codes
    words = [repr(str(word)) for word in encoder.words_.get_feature_names_out()]
    owners = np.concatenate([_of_codes(codes), len(codes) + np.arange(len(words))])
    return Origins([*codes, *words], owners.astype(np.intp), len(codes))


def _of_encoded_numbers(encoder: Any, columns: Any, shape: Any) -> Origins:
    names = list(columns) if columns is not None else _places(encoder.n_features_in_, shape)
    place = {name: j for j, name in enumerate(encoder.columns_)}
    places = np.array([place[name] for name in encoder.encoding_.codes])
    return Origins(names, places[_of_codes(encoder.encoding_.codes)], len(names))


def _of_texts(pipeline: Any) -> Origins:
    found = list(map(str, pipeline.get_feature_names_out()))
    first = runs_from(pipeline)
    runs = dict(enumerate(found[first:], first))
    return TextOrigins(list(map(repr, found)), np.arange(len(found)), 0, runs)


OF_KIND: dict[type[Any], Callable[[Any], Origins]] = {
    TableEncoder: _of_table,
    TextTableEncoder: _of_text_table,
    Documents: _of_texts,
}


def _of_numbers(representation: Any, columns: Any, shape: Any) -> Origins:
    names = list(columns) if columns is not None else _places(representation.n_features_in_, shape)
    out = [str(name) for name in representation.get_feature_names_out(np.array(names, dtype=object))]
    place = {name: j for j, name in enumerate(names)}
    # a column that tells where values are missing belongs to the column that misses them
    owners = np.array([place[name.removeprefix("missingindicator_")] for name in out])
    return Origins(names, owners, len(names))


def _places(wide: int, shape: Any) -> list[str]:
    """Names of features without names: places of pixels, or numbers counted from 1."""
    sides = list(shape or ())
    if len(sides) < 2 or int(np.prod(sides)) != wide:
        return [f"feature {j + 1}" for j in range(wide)]
    places = np.indices(sides).reshape(len(sides), -1).T + 1
    return ["pixel " + ", ".join(map(str, place)) for place in places.tolist()]


def _short(value: Any) -> str:
    text = f"{value:.4g}" if isinstance(value, (float, np.floating)) else str(value)
    return text if len(text) <= 40 else text[:37] + "..."
