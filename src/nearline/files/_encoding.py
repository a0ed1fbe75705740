"""Objects as JSON and arrays; ``_decoding`` is the way back.

None, truth values, numbers, strings and lists are JSON's own; all else is an object of one entry, {tag: content}:

    tuple, set, frozenset   [items]
    dict                    [keys, values]
    array, scalar           number of the array (a scalar's has shape ())
    strings                 [number, number]: UTF-8 of all together, and the lengths; for lists of strings
    numbers                 number of an array; for lists of int or of float
    objects                 [shape, items]: an array of objects
    sparse                  [class, shape, data, indices, indptr]
    dtype, type, function   a name
    object                  [name in the registry, {attribute: value}]
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from nearline._arrays.design import Array
from nearline.files._container import TYPES
from nearline.files._errors import ModelFileError
from nearline.files._registry import FUNCTIONS, SCALARS, by_class

DEEPEST = 60  # levels of objects within objects
PACKED = 8  # items from which on lists are kept in arrays
WIDEST = 2**25  # columns of all sparse matrices together: they cost a file nothing, but a search 8 bytes each
SPARSE: dict[str, Any] = {c.__name__: c for c in (sp.csr_matrix, sp.csr_array, sp.csc_matrix, sp.csc_array)}
INT64 = range(-(2**63), 2**63)
# Of keys: tuples, or integers of more bits, can be made to have one and the same hash, and then a dictionary takes hours.
KEYS = (
    str,
    int,
    float,
    bool,
    type(None),
    *(t for t in SCALARS.values() if issubclass(t, np.generic)),
    np.str_,
)


class Encoder:
    """Objects on their way to a file; ``arrays`` fills up."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self._numbers: dict[int, int] = {}
        self._columns: dict[int, int] = {}
        self._coded_by: dict[type[Any], Callable[[Any, str, int], Any]] = {
            int: self._int,
            list: self._list,
            tuple: partial(self._items, "tuple"),
            set: self._set,
            frozenset: self._set,
            dict: self._dict,
            np.ndarray: self._array,
            np.memmap: self._array,
            **dict.fromkeys(SPARSE.values(), self._sparse),
        }

    def encode(self, value: Any, where: str, depth: int = 0) -> Any:
        """The value as JSON; ``where`` it stands is for errors."""
        kind = type(value)
        if value is None or kind in (str, float, bool):
            return value
        if depth > DEEPEST:
            raise ModelFileError(
                f"{where[:80]}... has parts more than {DEEPEST} levels deep, or contains itself: give simpler parameters."
            )
        if kind in self._coded_by:
            return self._coded_by[kind](value, where, depth + 1)
        if kind in by_class():
            return self._object(value, where, depth + 1)
        return self._named(value, where)

    def _named(self, value: Any, where: str) -> Any:
        """What is kept by name or as a number of NumPy; the last way, or a refusal."""
        if isinstance(value, np.generic):
            return {"scalar": self._number(np.asarray(value), where)}
        if isinstance(value, np.dtype) and TYPES.fullmatch(value.newbyteorder("<").str):
            return {"dtype": value.newbyteorder("<").str}
        for tag, known in (("type", SCALARS), ("function", FUNCTIONS)):
            for name, one in known.items():
                if value is one:
                    return {tag: name}
        raise _refusal(value, where)

    def _int(self, value: int, where: str, depth: int) -> int:
        if value not in INT64:
            raise ModelFileError(
                f"{where} is a whole number of more than 64 bits, which a model file cannot hold: "
                "give a smaller one, or a string."
            )
        return value

    def _list(self, value: list[Any], where: str, depth: int) -> Any:
        kinds = set(map(type, value)) if len(value) >= PACKED else set()
        if kinds == {str}:
            text = "".join(value).encode("utf-8", "surrogatepass")
            lengths = np.array([len(one) for one in value], dtype=np.int64)
            return {"strings": [self._number(np.frombuffer(text, np.uint8)), self._number(lengths)]}
        if kinds == {float} or (kinds == {int} and min(value) in INT64 and max(value) in INT64):
            return {"numbers": self._number(np.array(value, np.float64 if kinds == {float} else np.int64))}
        return [self.encode(one, f"{where}[{i}]", depth) for i, one in enumerate(value)]

    def _items(self, tag: str, value: Any, where: str, depth: int) -> Any:
        return {tag: self._list(list(value), where, depth)}

    def _set(self, value: Any, where: str, depth: int) -> Any:
        _check_keys(value, where)
        ordered = sorted(value, key=repr)  # the same in every process
        return self._items(type(value).__name__, ordered, where, depth)

    def _dict(self, value: dict[Any, Any], where: str, depth: int) -> Any:
        _check_keys(value, where)
        items = [self._list(list(part), where, depth) for part in (value.keys(), value.values())]
        return {"dict": items}

    def _array(self, value: Array, where: str, depth: int) -> Any:
        if value.dtype == object:
            return {"objects": [list(value.shape), self._list(value.ravel().tolist(), where, depth)]}
        return {"array": self._number(value, where)}

    def _sparse(self, value: Any, where: str, depth: int) -> Any:
        self._columns[self._number(value.indptr, where)] = value.shape[value.format == "csr"]
        if sum(self._columns.values()) > WIDEST:
            raise ModelFileError(
                f"The sparse matrices of the model, {where} among them, have more than {WIDEST:,} columns together, which a "
                "model file cannot hold: hash the features to fewer."
            )
        parts = [self._number(part, where) for part in (value.data, value.indices, value.indptr)]
        return {"sparse": [type(value).__name__, list(map(int, value.shape)), *parts]}

    def _object(self, value: Any, where: str, depth: int) -> Any:
        kind = by_class()[type(value)]
        state = kind.state(value)
        code = {name: self.encode(one, f"{where}.{name}", depth) for name, one in state.items()}
        try:
            kind.verify(value, state)
        except ModelFileError:
            raise
        except ValueError as error:
            raise ModelFileError(
                f"{error}: a model file cannot hold it so. Fit the model again, or change it."
            ) from error
        return {"object": [kind.name, code]}

    def _number(self, value: Array, where: str = "") -> int:
        """Of the array in the file; one that several objects share is there once."""
        if not TYPES.fullmatch(value.dtype.newbyteorder("<").str):
            raise _refusal(value, where)
        if id(value) not in self._numbers:
            self._numbers[id(value)] = len(self.arrays)
            self.arrays.append(value)  # and so no other array can get its id
        return self._numbers[id(value)]


def _check_keys(keys: Any, where: str) -> None:
    for key in keys:
        if type(key) not in KEYS:
            raise ModelFileError(
                f"{where} has the key {str(key)[:50]!r} of type {type(key).__name__}: keys must be strings or numbers."
            )


def _refusal(value: Any, where: str) -> ModelFileError:
    kind = type(value)
    if isinstance(value, np.ndarray):
        return ModelFileError(
            f"{where} is an array of type {value.dtype}, which a model file cannot hold: make it numbers or strings."
        )
    if callable(value) and getattr(value, "__name__", None):
        return ModelFileError(
            f"{where} is the function {value.__name__}, and a model file holds no code: take a metric, weighting or "
            "analyzer that has a name or is an object of nearline, such as metric=Lq(3)."
        )
    if kind.__qualname__ == "TryThemAll":
        return ModelFileError(
            "TryThemAll holds all your rows: save its chosen model, contest.model_, instead."
        )
    return ModelFileError(
        f"{where} is a {kind.__module__}.{kind.__qualname__}, which a model file cannot hold: it holds nearline's "
        "estimators with their parameters, scikit-learn's Pipeline, scalers, imputers and text vectorizers, numbers, "
        "strings, arrays and lists. Replace it by one of these, or save the parts separately."
    )
