"""What model files keep of a class: which attributes, and what each must be, declared beside the class.

    @kept(coef_=Numbers(("K", "D")), intercept_=Numbers(("K",)), links=_fit_together)
    class LinearModel: ...

The declaration is both: what is written, and what is checked when a file is read. An attribute that it does not name is
not in a file, so that a class cannot forget one. Letters are sizes: the same letter is the same number throughout an
object; "C" is the number of ``classes_``, "P" that of scores (1 for two classes) and "D" that of ``n_features_in_``. What
shapes cannot say is for ``links``, a function of the object that raises ``ValueError``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from nearline._records.kept._arrays import Labels, Numbers, Objects, RowArray
from nearline._records.kept._collections import ListOf, Mapping, Plain, Vocabulary
from nearline._records.kept._values import (
    AnyOf,
    Anything,
    Flag,
    Instance,
    Named,
    OneOf,
    Only,
    OrNone,
    Perhaps,
    Real,
    Sizes,
    Spec,
    Whole,
    Word,
    shown,
)

__all__ = [
    "AnyOf",
    "Anything",
    "Declaration",
    "Flag",
    "Instance",
    "Labels",
    "ListOf",
    "Mapping",
    "Named",
    "Numbers",
    "Objects",
    "OneOf",
    "Only",
    "OrNone",
    "Perhaps",
    "Plain",
    "Real",
    "RowArray",
    "Sizes",
    "Spec",
    "Vocabulary",
    "Whole",
    "Word",
    "check",
    "check_links",
    "declaration",
    "is_complete",
    "kept",
    "require",
]

Class = TypeVar("Class", bound=type[Any])
Links = Callable[[Any], None]
_OWN: dict[type[Any], tuple[dict[str, Spec | None], Links | None, Callable[[Any], bool] | None]] = {}


@dataclass(frozen=True)
class Declaration:
    """What a file keeps of a class: attributes by name, and what must hold between them."""

    specs: dict[str, Spec]
    required: frozenset[str]  # attributes that an object has if it is fitted
    links: tuple[Links, ...]
    complete: Callable[[Any], bool] | None  # whether an object is fitted, where its attributes do not say so


_WHOLE: dict[type[Any], Declaration] = {}  # made when first asked for


def kept(
    cls: type[Any] | None = None,
    /,
    *,
    links: Links | None = None,
    complete: Callable[[Any], bool] | None = None,
    **specs: Spec | None,
) -> Any:
    """Declare attributes of a class, beside those of its bases; None: what a base has there is fixed in this class.

    A class of another library is given first.
    """

    def declare(owner: Class) -> Class:
        _OWN[owner] = specs, links, complete
        _WHOLE.clear()
        return owner

    return declare if cls is None else declare(cls)


def declaration(cls: type[Any]) -> Declaration:
    """That of a class and of all its bases; what a class says of an attribute replaces what a base says."""
    if cls not in _WHOLE:
        _WHOLE[cls] = _with_bases(cls)
    return _WHOLE[cls]


def _with_bases(cls: type[Any]) -> Declaration:
    found: dict[str, Spec | None] = {}
    links: list[Links] = []
    complete = None
    for base in reversed(cls.__mro__):
        own, link, ready = _OWN.get(base, ({}, None, None))
        found |= own
        links += [] if link is None else [link]
        complete = ready or complete
    specs = {name: spec for name, spec in found.items() if spec is not None}
    required = frozenset(name for name, spec in specs.items() if spec.required)
    return Declaration(specs, required, tuple(links), complete)


def is_complete(value: Any) -> bool:
    """Whether an object has all that its declaration requires: whether an estimator is fitted."""
    declared = declaration(type(value))
    if declared.complete is not None:
        return declared.complete(value)
    return declared.required <= vars(value).keys()


def require(holds: Any, sentence: str) -> None:
    """Refuse, by a sentence, what does not hold."""
    if not holds:
        raise ValueError(sentence)


def check(cls: type[Any], state: dict[str, Any]) -> None:
    """Refuse a state that contradicts the declaration."""
    declared, sizes = declaration(cls), Sizes.of(state)
    unknown = sorted(set(state) - set(declared.specs))
    require(not unknown, f"{cls.__name__} has no attribute {', '.join(unknown)[:80]!r} that a file keeps")
    for name, spec in declared.specs.items():
        if name in state and not spec.fits(state[name], sizes):
            wanted, found = spec.wanted(sizes), shown(state[name])
            raise ValueError(f"{cls.__name__}.{name} must be {wanted}, but it is {found}")


def check_links(value: Any) -> None:
    """Refuse an object, all of whose attributes are as declared, if they do not fit together."""
    for link in declaration(type(value)).links:
        link(value)
