"""Pieces that several parts of the page use."""

from typing import Any

from nearline.report._html import Html, h, scrolling

MOST_LINES = 30  # of a table in the open


def section(part: str, title: str, *content: Any) -> Html:
    """A part of the page under its heading."""
    return h(
        "section", h("h2", title, id=f"{part}-title"), *content, id=part, aria_labelledby=f"{part}-title"
    )


def folded(inside: Html, n: int, what: str, label: str) -> Html:
    """A long table behind a line that opens it."""
    inside = scrolling(inside, label)
    return inside if n <= MOST_LINES else h("details", h("summary", f"All {n:,} {what}"), inside)


def bar(share: float, class_: str = "bar") -> Html:
    """A bar of a share of its cell."""
    return h(
        "span",
        h("i", style=f"width:{100 * min(max(share, 0.0), 1.0):.1f}%"),
        class_=class_,
        aria_hidden="true",
    )
