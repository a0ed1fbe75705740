"""Objects from JSON and arrays: what ``_encoding`` wrote, or an exception; the work is bounded by the size of the file."""

import json
from collections import Counter
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from nearline._arrays.design import Array, admitted
from nearline._records.kept import declaration
from nearline.files._container import LARGEST_EMPTY, TYPES
from nearline.files._encoding import DEEPEST, INT64, KEYS, SPARSE, WIDEST
from nearline.files._registry import FUNCTIONS, SCALARS, Kind, by_name
from nearline.losses import LOSSES

# What costs time or memory to make of arrays is made once of the same ones, and of one array only so often.
COSTLY, OFTEN = ("part.Index", "part.Electorate", "metric.Mahalanobis", "metric.Learned"), 4

# Names that files had before.
ATTRIBUTES = {"seed": "random_state", "bias": "fit_intercept"}
CLASSES = {
    "part.Expansion": "part.KernelScore",
    "metric.L1": "metric.Manhattan",
    "metric.L2": "metric.Euclidean",
    "metric.Precomputed": "metric.PrecomputedDistances",
    "part.Progress": "part.DescentProgress",
    "part.Temperature": "part.TemperatureScaling",
    "weights.Softmax": "weights.Temperature",
}
# What a class keeps now and had no attribute for before, from the rest of its state.
COMPLETED: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "KernelLogisticRegression": lambda state: {
        "loss_": LOSSES["logistic" if len(state["classes_"]) == 2 else "softmax"]
    },
    "CalibratedClassifier": lambda state: {"split": "auto"},
}


class Decoder:
    """Objects from JSON and arrays. All that goes wrong is an exception of any kind, which the caller words."""

    def __init__(self, arrays: list[Array]) -> None:
        self._arrays = arrays
        self._made: dict[str, Any] = {}
        self._claims: Counter[str] = Counter()
        self._columns = 0
        self.used: set[str] = set()  # names of the registry
        self._made_by: dict[str, Callable[[Any, int], Any]] = {
            "tuple": lambda items, depth: tuple(self._list(items, depth)),
            "set": lambda items, depth: set(self._keys(items, depth)),
            "frozenset": lambda items, depth: frozenset(self._keys(items, depth)),
            "dict": self._dict,
            "array": self._array,
            "scalar": lambda number, depth: self._array(number)[()],
            "strings": lambda numbers, depth: self._strings(*numbers),
            "numbers": lambda number, depth: self._claimed("numbers", number).tolist(),
            "objects": lambda content, depth: self._objects(depth, *content),
            "sparse": lambda content, depth: self._sparse(*content),
            "dtype": lambda name, depth: self._dtype(name),
            "type": lambda name, depth: SCALARS[name],
            "function": lambda name, depth: FUNCTIONS[name],
            "object": lambda content, depth: self._object(depth, *content),
        }

    def decode(self, code: Any, depth: int = 0) -> Any:
        """The object that JSON stands for."""
        kind = type(code)
        if code is None or kind in (str, float, bool) or (kind is int and code in INT64):
            return code
        if depth > DEEPEST:
            raise ValueError(f"objects more than {DEEPEST} levels deep")
        if kind is list:
            return [self.decode(one, depth + 1) for one in code]
        if kind is not dict or len(code) != 1 or next(iter(code)) not in self._made_by:
            raise ValueError(f"unknown content {str(code)[:60]!r}")
        [(tag, content)] = code.items()
        return self._made_by[tag](content, depth + 1)

    def _array(self, number: Any, depth: int = 0) -> Array:
        if type(number) is not int or number not in range(len(self._arrays)):
            raise ValueError(f"no array number {str(number)[:20]}")
        return self._arrays[number]

    def _claimed(self, use: str, number: Any) -> Array:
        """An array for a use that copies or looks through it."""
        array = self._array(number)
        self._claims[f"{use} {number}"] += 1
        if self._claims[f"{use} {number}"] > OFTEN:
            raise ValueError(f"array {number} is used too often")
        return array

    def _once(self, code: Any, make: Callable[[], Any]) -> Any:
        """What the same code was made into before, so that a model and its index share their rows again."""
        key = json.dumps(code, sort_keys=True)
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def _dtype(self, name: Any) -> Any:
        if type(name) is not str or not TYPES.fullmatch(name):
            raise ValueError(f"no type {str(name)[:20]!r}")
        return np.dtype(name)

    def _list(self, code: Any, depth: int) -> list[Any]:
        items = self.decode(code, depth)
        if type(items) is not list:
            raise ValueError("a list is missing")
        return items

    def _keys(self, code: Any, depth: int) -> list[Any]:
        keys = self._list(code, depth)
        if not all(type(key) in KEYS for key in keys):
            raise ValueError("keys that are neither strings nor numbers")
        return keys

    def _dict(self, content: Any, depth: int) -> dict[Any, Any]:
        keys, values = self._keys(content[0], depth), self._list(content[1], depth)
        found = dict(zip(keys, values, strict=True))
        if len(found) != len(keys):
            raise ValueError("a key twice")
        return found

    def _strings(self, text: Any, lengths: Any) -> list[str]:
        whole = self._claimed("strings", text).tobytes().decode("utf-8", "surrogatepass")
        sizes = self._array(lengths)
        if sizes.dtype != np.int64 or sizes.ndim != 1 or (sizes < 0).any() or (sizes > len(whole)).any():
            raise ValueError("wrong lengths of strings")
        ends = np.cumsum(sizes).tolist()
        if ends[-1:] != [len(whole)]:
            raise ValueError("wrong lengths of strings")
        return [whole[a:b] for a, b in zip([0, *ends], ends)]

    def _objects(self, depth: int, shape: Any, items: Any) -> Array:
        values = self._list(items, depth)
        if not all(type(n) is int and 0 <= n <= LARGEST_EMPTY for n in shape) or prod(shape) != len(values):
            raise ValueError(f"{len(values)} objects for another shape")
        flat = np.empty(len(values), dtype=object)
        flat[:] = values
        return flat.reshape(shape)

    def _sparse(self, name: Any, shape: Any, *numbers: Any) -> Any:
        return self._once([name, shape, *numbers], lambda: self._matrix(SPARSE[name], shape, *numbers))

    def _matrix(self, cls: Any, shape: Any, *numbers: Any) -> Any:
        data, indices, indptr = (self._claimed("sparse", number) for number in numbers)
        whole = (
            all(type(n) is int and n >= 0 for n in shape) and indices.dtype.kind == indptr.dtype.kind == "i"
        )
        if not whole or len(shape) != 2 or not data.ndim == indices.ndim == indptr.ndim == 1:
            raise ValueError("wrong sparse rows")
        matrix = cls((data, indices, indptr), shape=tuple(shape))
        self._columns += matrix.shape[matrix.format == "csr"]
        if self._columns > WIDEST:
            raise ValueError("too many columns of sparse rows")
        admitted(matrix)
        return matrix

    def _object(self, depth: int, name: Any, state: Any) -> Any:
        known = by_name()
        kind = known.get(name) or known.get(CLASSES.get(name, "")) if type(name) is str else None
        if kind is None:
            raise ValueError(f"unknown class {str(name)[:60]!r}")
        self.used.add(kind.name)
        if kind.name not in COSTLY:
            return self._restored(kind, state, depth)
        return self._once([kind.name, state], lambda: self._restored(kind, state, depth))

    def _restored(self, kind: Kind, state: Any, depth: int) -> Any:
        if kind.name in COSTLY:
            for code in state.values():
                if type(code) is dict and type(number := code.get("array")) is int:
                    self._claimed(kind.name, number)
        found = {attribute: self.decode(code, depth) for attribute, code in state.items()}
        return kind.restored(attributes_now(kind.cls, found))


def attributes_now(cls: type[Any], state: dict[str, Any]) -> dict[str, Any]:
    """A state whose names are those of the class: an old one is translated where the class has the new one only."""
    known = declaration(cls).specs
    for old, new in ATTRIBUTES.items():
        if old in state and old not in known and new in known:
            state[new] = state.pop(old)
    if cls.__name__ in COMPLETED and "classes_" in state:
        for name, value in COMPLETED[cls.__name__](state).items():
            state.setdefault(name, value)
    return state
