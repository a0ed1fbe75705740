"""What a class may inherit: never what was written for another formula.

A loss is its value, a penalty too; the rest (conjugate, curvature, prox, ...) is derived from it by whoever wrote it.
A subclass with a value of its own would inherit derivations that no longer hold, and certificates that prove nothing.
"""

from abc import ABCMeta
from collections.abc import Iterable


def concrete_parents(cls: type) -> list[type]:
    """The classes above that can be instantiated."""
    return [base for base in cls.__mro__[1:] if isinstance(base, ABCMeta) and not base.__abstractmethods__]


def forget_derived(cls: type, defining: Iterable[str], derived: Iterable[str]) -> None:
    """Where a class redefines what it is, take back the derived methods that it inherits from concrete parents.

    They become what abstract classes above make of them (usually "not known"). To be called as a class is made.
    """
    if not any(method in cls.__dict__ for method in defining):
        return
    others = concrete_parents(cls)
    for method in derived:
        sources = [base for base in cls.__mro__ if method in base.__dict__]
        if sources and sources[0] in others:
            known = next(base for base in sources if base not in others)
            setattr(cls, method, known.__dict__[method])


def mixed(cls: type, formula: str, partner: str) -> bool:
    """Whether a class has a formula of its own and the partner (its derivative, say) of a concrete parent's."""
    owners = [
        next((base for base in cls.__mro__ if name in base.__dict__), None) for name in (formula, partner)
    ]
    own, other = (cls.__mro__.index(owner) if owner is not None else -1 for owner in owners)
    return (
        0 <= own < other
        and cls.__mro__[own] is not cls.__mro__[other]
        and bool(concrete_parents(cls.__mro__[own]))
    )
