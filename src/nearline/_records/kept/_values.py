"""Specs: what one value of an object must be. Those of arrays are in ``_arrays``."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

Dims = tuple[int | str, ...]


class Sizes(dict[str, int]):
    """Numbers that letters stand for in one object. A letter means what it was first seen as."""

    @classmethod
    def of(cls, state: dict[str, Any]) -> "Sizes":
        """Of an object's state: what its classes and features say."""
        sizes = cls()
        classes, features = state.get("classes_"), state.get("n_features_in_")
        if isinstance(classes, np.ndarray) and classes.ndim == 1:
            sizes["C"] = len(classes)
            sizes["P"] = 1 if len(classes) == 2 else len(classes)
        if isinstance(features, (int, np.integer)):
            sizes["D"] = int(features)
        return sizes

    def agree(self, shape: tuple[int, ...], dims: Dims) -> bool:
        """Whether a shape is that of the letters; a new letter means what it is found to be."""
        return len(shape) == len(dims) and all(
            n == (d if isinstance(d, int) else self.setdefault(d, n)) for n, d in zip(shape, dims)
        )

    def said(self, dims: Dims) -> str:
        """The shape in letters, and in numbers as far as they are known."""
        letters = ", ".join(map(str, dims))
        numbers = ", ".join(str(d if isinstance(d, int) else self.get(d, "?")) for d in dims)
        comma = "," if len(dims) == 1 else ""
        known = f" = ({numbers}{comma})" if letters != numbers and "?" not in numbers else ""
        return f"({letters}{comma}){known}"


class Spec(ABC):
    """What a value must be."""

    required = True  # of an object that is fitted

    @abstractmethod
    def fits(self, value: Any, sizes: Sizes) -> bool:
        """Whether a value is so; it may be anything at all."""

    @abstractmethod
    def wanted(self, sizes: Sizes) -> str:
        """What it must be, in words."""


def shown(value: Any) -> str:
    """A value, or its type where that is long."""
    if isinstance(value, np.ndarray):
        return f"an array of type {value.dtype} and shape {value.shape}{_flaw(value)}"
    text = repr(value)
    return text if len(text) <= 60 else f"a {type(value).__name__} ({text[:40]}...)"


def _flaw(array: Any) -> str:
    if array.dtype.kind != "f" or not array.size:
        return ""
    if np.isnan(array).any():
        return " with NaN"
    return " with infinite numbers" if np.isinf(array).any() else f", from {array.min():g} to {array.max():g}"


@dataclass(frozen=True)
class Anything(Spec):
    """Whatever a file can hold: nothing is computed from it."""

    def fits(self, value: Any, sizes: Sizes) -> bool:
        return True

    def wanted(self, sizes: Sizes) -> str:
        return "anything"


@dataclass(frozen=True)
class Flag(Spec):
    def fits(self, value: Any, sizes: Sizes) -> bool:
        return isinstance(value, (bool, np.bool_))

    def wanted(self, sizes: Sizes) -> str:
        return "True or False"


@dataclass(frozen=True)
class Whole(Spec):
    """A whole number; ``most`` may be a letter, and the number must then be below that size."""

    least: int = 0
    most: int | str = 2**63 - 1

    def fits(self, value: Any, sizes: Sizes) -> bool:
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            return False
        return bool(self.least <= value <= self._most(sizes))

    def _most(self, sizes: Sizes) -> int:
        return self.most if isinstance(self.most, int) else sizes.get(self.most, 0) - 1

    def wanted(self, sizes: Sizes) -> str:
        return f"a whole number from {self.least} to {self._most(sizes)}"


@dataclass(frozen=True)
class Real(Spec):
    """A number; finite, unless ``wild``: then it only tells how something went, and may be infinite or NaN."""

    least: float = -np.inf
    most: float = np.inf
    above: float = -np.inf
    wild: bool = False

    def fits(self, value: Any, sizes: Sizes) -> bool:
        if isinstance(value, (bool, np.bool_)) or not isinstance(
            value, (int, float, np.integer, np.floating)
        ):
            return False
        return self.wild or bool(
            np.isfinite(value) and self.least <= value <= self.most and value > self.above
        )

    def wanted(self, sizes: Sizes) -> str:
        bounds = [f">= {self.least:g}"] if np.isfinite(self.least) else []
        bounds += [f"> {self.above:g}"] if np.isfinite(self.above) else []
        bounds += [f"<= {self.most:g}"] if np.isfinite(self.most) else []
        return " ".join(["a number" if self.wild else "a finite number", " and ".join(bounds)]).strip()


@dataclass(frozen=True)
class Word(Spec):
    def fits(self, value: Any, sizes: Sizes) -> bool:
        return isinstance(value, str)

    def wanted(self, sizes: Sizes) -> str:
        return "a string"


@dataclass(frozen=True)
class OneOf(Spec):
    values: Collection[Any]

    def fits(self, value: Any, sizes: Sizes) -> bool:
        return any(value is one or (type(value) is type(one) and value == one) for one in self.values)

    def wanted(self, sizes: Sizes) -> str:
        return f"one of {', '.join(map(repr, self.values))}"


@dataclass(frozen=True)
class Only(Spec):
    """One value; others are refused, and why."""

    value: Any
    why: str

    def fits(self, value: Any, sizes: Sizes) -> bool:
        return OneOf((self.value,)).fits(value, sizes)

    def wanted(self, sizes: Sizes) -> str:
        return f"{self.value!r} ({self.why})"


@dataclass(frozen=True)
class OrNone(Spec):
    spec: Spec

    def fits(self, value: Any, sizes: Sizes) -> bool:
        return value is None or self.spec.fits(value, sizes)

    def wanted(self, sizes: Sizes) -> str:
        return f"None or {self.spec.wanted(sizes)}"


@dataclass(frozen=True)
class Perhaps(Spec):
    """What some fits leave out."""

    spec: Spec
    required = False

    def fits(self, value: Any, sizes: Sizes) -> bool:
        return self.spec.fits(value, sizes)

    def wanted(self, sizes: Sizes) -> str:
        return self.spec.wanted(sizes)


@dataclass(frozen=True)
class AnyOf(Spec):
    specs: tuple[Spec, ...]

    def fits(self, value: Any, sizes: Sizes) -> bool:
        for spec in self.specs:
            trial = Sizes(sizes)
            if spec.fits(value, trial):
                sizes.update(trial)
                return True
        return False

    def wanted(self, sizes: Sizes) -> str:
        return ", or ".join(spec.wanted(sizes) for spec in self.specs)


@dataclass(frozen=True)
class Instance(Spec):
    """An object of a class, or of one that is derived from it: what a file builds is nearline's or scikit-learn's."""

    classes: type[Any] | tuple[type[Any], ...]

    def fits(self, value: Any, sizes: Sizes) -> bool:
        return isinstance(value, self.classes)

    def wanted(self, sizes: Sizes) -> str:
        classes = self.classes if isinstance(self.classes, tuple) else (self.classes,)
        return f"a {' or '.join(one.__name__ for one in classes)}"


@dataclass(frozen=True)
class Named(Spec):
    """A name that ``read`` knows, or an object; no function, which a file cannot hold."""

    read: Callable[[Any], Any]
    base: type[Any]

    def fits(self, value: Any, sizes: Sizes) -> bool:
        if not isinstance(value, (str, self.base)):
            return False
        try:
            self.read(value)
        except (ValueError, KeyError):
            return False
        return True

    def wanted(self, sizes: Sizes) -> str:
        return f"a known name or a {self.base.__name__}"
