"""Text from outside as it may be shown: what would command a terminal, or turn the order of letters, is written out."""

import re
from typing import Any

# Controls (C0, delete, C1), separators of lines, marks of direction, letters without width that hide, halves of letters.
# The joiners U+200C and U+200D stay: words of Persian and families of emoji are written with them.
HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)


def visible(text: Any, keep: str = "") -> str:
    """A value as text that says what is in it and does nothing; ``keep`` names controls that may stay.

    Examples
    --------
    >>> from nearline._records.visible import visible
    >>> print(visible("red\\x1b[31m, \\u202eabc"))
    red\\x1b[31m, \\u202eabc
    >>> print(visible("two\\nlines"), visible("two\\nlines", keep="\\n"))
    two\\nlines two
    lines
    """
    return HIDDEN.sub(lambda found: found[0] if found[0] in keep else _written(found[0]), str(text))


def row_said(number: int, line: int | None) -> str:
    """A row by its number counted from 1, with its line unless that is the same.

    Examples
    --------
    >>> from nearline._records.visible import row_said
    >>> row_said(1300, 1301), row_said(7, None), row_said(7, 7)
    ('1,300 (line 1,301)', '7', '7')
    """
    return f"{number:,}" if line in (None, number) else f"{number:,} (line {line:,})"


def _written(letter: str) -> str:
    """As Python writes it between quotes."""
    return letter.encode("unicode_escape", "surrogatepass").decode("ascii")
