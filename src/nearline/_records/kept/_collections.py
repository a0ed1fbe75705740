"""Specs of values that hold others: lists, dictionaries, plain parameters."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._records.kept._values import Sizes, Spec

DEEPEST = 6  # levels of lists and dictionaries in a plain value


@dataclass(frozen=True)
class ListOf(Spec):
    """A list or tuple of values that are all so."""

    spec: Spec
    size: int | str | None = None
    kind: type[Any] = list
    distinct: bool = False

    def fits(self, value: Any, sizes: Sizes) -> bool:
        if type(value) is not self.kind or not all(self.spec.fits(one, sizes) for one in value):
            return False
        if self.distinct and len(set(value)) < len(value):
            return False
        return self.size is None or sizes.agree((len(value),), (self.size,))

    def wanted(self, sizes: Sizes) -> str:
        many = "" if self.size is None else f" {sizes.said((self.size,))}"
        other = "different values" if self.distinct else "values"
        return f"a {self.kind.__name__}{many} of {other}, each {self.spec.wanted(sizes)}"


@dataclass(frozen=True)
class Mapping(Spec):
    """A dictionary."""

    keys: Spec
    values: Spec

    def fits(self, value: Any, sizes: Sizes) -> bool:
        return type(value) is dict and all(
            self.keys.fits(key, sizes) and self.values.fits(one, sizes) for key, one in value.items()
        )

    def wanted(self, sizes: Sizes) -> str:
        return f"a dictionary from {self.keys.wanted(sizes)} to {self.values.wanted(sizes)}"


@dataclass(frozen=True)
class Vocabulary(Spec):
    """A dictionary that numbers strings from 0 on, each number once."""

    size: str

    def fits(self, value: Any, sizes: Sizes) -> bool:
        if type(value) is not dict or not all(isinstance(token, str) for token in value):
            return False
        if not sizes.agree((len(value),), (self.size,)):
            return False
        numbers = list(value.values())
        whole = all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in numbers)
        return whole and sorted(numbers) == list(range(len(numbers)))

    def wanted(self, sizes: Sizes) -> str:
        return f"a dictionary {sizes.said((self.size,))} whose strings are numbered from 0 on"


@dataclass(frozen=True)
class Plain(Spec):
    """None, truth values, numbers and strings, and lists, tuples, dictionaries and arrays of these: parameters of fits."""

    def fits(self, value: Any, sizes: Sizes) -> bool:
        return _is_plain(value, 0)

    def wanted(self, sizes: Sizes) -> str:
        return "numbers, strings, or lists or dictionaries of these"


def _is_plain(value: Any, depth: int) -> bool:
    if value is None or isinstance(value, (bool, int, float, str, np.generic)):
        return True
    if depth > DEEPEST:
        return False
    if isinstance(value, np.ndarray):
        return value.dtype != object or all(_is_plain(one, depth + 1) for one in value.ravel().tolist())
    if type(value) is dict:
        return all(_is_plain(one, depth + 1) for one in (*value, *value.values()))
    return type(value) in (list, tuple) and all(_is_plain(one, depth + 1) for one in value)
