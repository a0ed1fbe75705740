"""What users give for a loss, a penalty and its strength: names, objects, numbers."""

import numbers
from typing import Any, TypeVar, cast

import numpy as np

from nearline._records.habits import ours
from nearline._records.refused import ParameterError, UnknownNameError
from nearline._records.spoken import spoken

Named = TypeVar("Named")


def named(given: Any, known: dict[str, Named], kind: Any, what: str) -> Named:
    """The object of a name, or of one with parameters as "elastic-net:0.2"; objects of the right kind are given back."""
    if isinstance(given, kind):
        return cast(Named, given)
    name = "none" if given is None else ours(given)
    if (said := spoken(name, {one: type(listed) for one, listed in known.items()})) is not None:
        return cast(Named, said)
    if not isinstance(name, str) or name not in known:
        raise UnknownNameError(what, given, known, f"or give a {kind.__name__} object")
    return known[name]


def strength(alpha: Any, total_weight: float) -> float:
    """alpha as a number: "1/n" is 1 / S, S the sum of the weights, that is n where each row counts once.

    Then S risk(W, b) = sum_i s_i loss_i + R(W): the strength of scikit-learn's C = 1 and of Ridge's alpha = 1.
    """
    if not isinstance(alpha, str):
        return checked_alpha(alpha)
    if alpha != "1/n":
        raise ParameterError("alpha", alpha, "a finite number >= 0 (0 means no penalty) or '1/n'")
    return 1.0 / total_weight


def checked_alpha(alpha: Any) -> float:
    if not isinstance(alpha, numbers.Real) or not 0.0 <= float(alpha) < np.inf:
        raise ParameterError("alpha", alpha, "a finite number >= 0 (0 means no penalty)")
    return float(alpha)
