"""What a class may inherit: never what was written for another formula.

A loss is its value, a penalty too; the rest (conjugate, curvature, prox, ...) is derived from it by whoever wrote it.
A subclass with a value of its own would inherit derivations that no longer hold, and certificates that prove nothing.
"""

from abc import ABC, ABCMeta
from collections.abc import Iterable


def concrete_parents(cls: type) -> list[type]:
    """The classes above that can be instantiated; ABC itself, at the top of all, is none of them."""
    above = [base for base in cls.__mro__[1:] if isinstance(base, ABCMeta) and base is not ABC]
    return [base for base in above if not base.__abstractmethods__]


def redefined(cls: type, name: str) -> bool:
    """Whether a method is the class's own: written in it, or in a mixin that comes before a concrete parent."""
    if name in cls.__dict__:
        return True
    parents = concrete_parents(cls)
    above = cls.__mro__[_owner(cls, name) :]
    return bool(above) and above[0] not in parents and any(base in parents for base in above)


def _owner(cls: type, name: str) -> int:
    """Which of the classes from this one upwards the attribute comes from; their number if from none."""
    return next((i for i, base in enumerate(cls.__mro__) if name in base.__dict__), len(cls.__mro__))


def forget_derived(cls: type, defining: Iterable[str], derived: Iterable[str]) -> None:
    """Where a class redefines what it is, take back the derived methods that it inherits from concrete parents.

    They become what abstract classes above make of them (usually "not known"). To be called as a class is made.
    """
    if not any(redefined(cls, method) for method in defining):
        return
    others = concrete_parents(cls)
    for method in derived:
        sources = [base for base in cls.__mro__ if method in base.__dict__]
        if sources and sources[0] in others:
            known = next(base for base in sources if base not in others)
            setattr(cls, method, known.__dict__[method])
