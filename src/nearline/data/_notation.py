"""Notations of numbers and dates beyond the plain ones: a whole column decides which one is meant.

A notation is kept as the type of its column ('number 1.234,5', 'date d/m/y'), so that further files are read alike.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

LOOKED_AT = 50  # values that rule most notations out
SPACES = r"[ \u00a0\u202f]"  # plain, not breaking, narrow
UNIT = r"(?:%|‰|[€$£¥₹]|EUR|USD|GBP|CHF|JPY)"
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
CLOCK = (
    r"(?:[T ]\s*(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(am|pm)?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?"
)
YEAR_FIRST = re.compile(rf"(\d{{4}})([-/.])(\d{{1,2}})(?:\2(\d{{1,2}}))?{CLOCK}", re.IGNORECASE)
YEAR_LAST = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2(\d{{4}}|\d{{2}}){CLOCK}", re.IGNORECASE)
NAMED = re.compile(rf"(\d{{1,2}})[ -]([a-z]{{3,9}})\.?[ -](\d{{4}}){CLOCK}", re.IGNORECASE)
CODED = re.compile(r"0\d{2,}")


@dataclass(frozen=True)
class Notation:
    """A way to write values: its name, and what reads one (None where it is not written so)."""

    name: str
    value: Callable[[str], Any]

    def reads(self, values: Iterable[str]) -> bool:
        return all(self.value(text) is not None for text in values)


def _number(thousands: str, decimal: str) -> Callable[[str], float | None]:
    digits = re.compile(
        rf"({UNIT})?{SPACES}?([+-])?{SPACES}?({UNIT})?{SPACES}?"
        rf"(\d{{1,3}}(?:{thousands}\d{{3}})+|\d+)(?:{decimal}(\d+))?{SPACES}?({UNIT})?"
    )

    def value(text: str) -> float | None:
        found = digits.fullmatch(text)
        if found is None or sum(found[i] is not None for i in (1, 3, 6)) > 1:
            return None
        whole = re.sub(r"\D", "", found[4])
        return float(f"{found[2] or ''}{whole}.{found[5] or '0'}")

    return value


def unit_of(text: str) -> str:
    """The unit of a number, such as % or a currency; '' where there is none."""
    found = re.search(UNIT, text)
    return found[0] if found else ""


def _moment(year: int, month: int, day: int, clock: Sequence[str | None]) -> datetime | None:
    hour, minute, second, fraction, half, zone = clock
    hours = int(hour or 0)
    if half:
        if not 1 <= hours <= 12:
            return None
        hours = hours % 12 + 12 * (half.lower() == "pm")
    try:
        found = datetime(
            year,
            month,
            day,
            hours,
            int(minute or 0),
            int(second or 0),
            int((fraction or "0").ljust(6, "0")[:6]),
        )
    except ValueError:
        return None
    if zone and zone[0] in "+-":
        away = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
        try:
            found = (
                found.replace(tzinfo=timezone(-away if zone[0] == "-" else away))
                .astimezone(UTC)
                .replace(tzinfo=None)
            )
        except (ValueError, OverflowError):
            return None
    return found


def _year(text: str) -> int:
    """Two digits are the years 1969 to 2068."""
    return int(text) if len(text) > 2 else int(text) + (2000 if int(text) <= 68 else 1900)


def _year_first(text: str) -> datetime | None:
    found = YEAR_FIRST.fullmatch(text)
    return found and _moment(int(found[1]), int(found[3]), int(found[4] or 1), found.groups()[4:])


def _year_last(day: int, month: int) -> Callable[[str], datetime | None]:
    def value(text: str) -> datetime | None:
        found = YEAR_LAST.fullmatch(text)
        return found and _moment(_year(found[4]), int(found[month]), int(found[day]), found.groups()[4:])

    return value


def _named(text: str) -> datetime | None:
    found = NAMED.fullmatch(text)
    if found is None or found[2][:3].lower() not in MONTHS:
        return None
    return _moment(int(found[3]), MONTHS.index(found[2][:3].lower()) + 1, int(found[1]), found.groups()[3:])


NUMBERS = (
    Notation("number 1,234.5", _number(",", r"\.")),
    Notation("number 1.234,5", _number(r"\.", ",")),
    Notation("number 1 234,5", _number(SPACES, ",")),
    Notation("number 1 234.5", _number(SPACES, r"\.")),
    Notation("number 1'234.5", _number("['’]", r"\.")),
)
# in this order where nothing tells them apart: with dots the day comes first, as nobody writes months so
DATES = (
    Notation("date y-m-d", _year_first),
    Notation("date d/m/y", _year_last(1, 3)),
    Notation("date m/d/y", _year_last(3, 1)),
    Notation("date d mon y", _named),
)
NOTATIONS = {one.name: one for one in (*NUMBERS, *DATES)}


def is_coded(values: Iterable[str]) -> bool:
    """Whether values are codes of one length, some with leading zeros, such as 00501: no numbers to add or compare."""
    distinct = list(values)
    same = len({len(text) for text in distinct}) == 1
    return same and all(text.isdecimal() for text in distinct) and any(map(CODED.fullmatch, distinct))


def numbers_notation(distinct: Sequence[str], decimal_comma: bool) -> Notation | None:
    """The notation in which all values are numbers, with the same unit."""
    order = (NUMBERS[1], NUMBERS[0], *NUMBERS[2:]) if decimal_comma else NUMBERS
    some = distinct[:LOOKED_AT]
    fitting = [one for one in order if one.reads(some) and one.reads(distinct)]
    return fitting[0] if fitting and len({unit_of(text) for text in distinct}) == 1 else None


def dates_notation(distinct: Sequence[str]) -> tuple[Notation | None, bool]:
    """The notation in which all values are dates, and whether another one would do as well."""
    some = distinct[:LOOKED_AT]
    fitting = [one for one in DATES if one.reads(some) and one.reads(distinct)]
    if not fitting:
        return None, False
    dotted = "." in distinct[0].split()[0] or "-" in distinct[0].split()[0]
    return (fitting[0] if dotted else fitting[-1]), len(fitting) > 1
