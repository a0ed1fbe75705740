"""Objects with parameters as one word, "name:3": what a command line, a JSON file and a legend can say."""

from collections.abc import Callable, Mapping
from typing import Any


def spoken(text: Any, kinds: Mapping[str, Callable[..., Any]]) -> Any | None:
    """The object that "name:value:value" stands for; None where it is not of that form, or of no name that there is.

    Values are numbers where they can be read as such, else words, in the order of the parameters.

    Examples
    --------
    >>> from nearline import Lq
    >>> from nearline._records.spoken import spoken
    >>> spoken("lq:3", {"lq": Lq}), spoken("l2", {"lq": Lq})
    (Lq(q=3), None)
    """
    name, *values = text.split(":") if isinstance(text, str) else ("",)
    if not values or name not in kinds:
        return None
    try:
        return kinds[name](*map(_value, values))
    except TypeError as error:
        raise ValueError(
            f"{text!r} does not say what {name!r} takes: give its parameters in order, as numbers or words between colons."
        ) from error


def _value(text: str) -> Any:
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text
