"""Options that are numbers: text that is none is refused in the words of the house, whatever reads the command line."""

from collections.abc import Callable
from typing import Any

import typer

Reader = dict[str, Any]  # parameters of typer.Option


class NumberError(typer.BadParameter):
    """An option that is not the number that it must be."""

    def __init__(self, option: str, must: str, got: Any) -> None:
        super().__init__(f"{option} must be {must}, got {str(got)!r}.")

    def format_message(self) -> str:
        """The sentence as it is: it names the option."""
        return str(self.message)


def whole(option: str, least: int | None = None, most: int | None = None, why: str = "") -> Reader:
    """How typer reads a whole number, of some size at least, and at most, for some reason."""
    must = "a whole number" if least is None else f"a whole number >= {least}"
    must += "" if most is None else f" and <= {most}"
    must += f" ({why})" if why else ""

    def int_(value: Any) -> Any:
        found = _read(int, option, must, value)
        if (least is not None and found < least) or (most is not None and found > most):
            raise NumberError(option, must, value)
        return found

    return {"parser": int_, "metavar": "<int>"}


def number(option: str, must: str = "a number") -> Reader:
    """How typer reads a number; its range is checked where it is used."""

    def float_(value: Any) -> Any:
        return _read(float, option, must, value)

    return {"parser": float_, "metavar": "<float>"}


def _read(kind: Callable[[Any], Any], option: str, must: str, value: Any) -> Any:
    try:
        return kind(value)
    except (ValueError, OverflowError):
        raise NumberError(option, must, value) from None
