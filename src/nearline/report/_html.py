"""Elements of the page as text, with everything that is not markup escaped."""

from html import escape
from typing import Any

from nearline._records.visible import visible
from nearline.report._plain import clipped

VOID = {"img", "br", "link", "meta", "input", "hr"}
LONE = {"path", "circle", "rect", "line", "polyline"}


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def safe(value: Any) -> Html:
    """Any value as text of the page; controls, marks of direction and half characters are written out.

    Examples
    --------
    >>> safe("<script>")
    '&lt;script&gt;'
    """
    if isinstance(value, Html):
        return value
    return Html(escape(visible(value, keep="\t\n\r")))


def h(name: str, /, *children: Any, **attributes: Any) -> Html:
    """An element; ``class_`` is class, ``aria_label`` is aria-label; None and False leave out.

    Examples
    --------
    >>> h("p", "a < b ", h("b", "now"), class_="note", hidden=True)
    '<p class="note" hidden>a &lt; b <b>now</b></p>'
    """
    said = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID:
        return Html(f"<{name}{said}>")
    inside = join(children)
    return Html(f"<{name}{said}/>" if name in LONE and not inside else f"<{name}{said}>{inside}</{name}>")


def join(children: Any, between: str = "") -> Html:
    """Elements and texts one after the other; lists among them are joined, None is left out."""
    parts = [
        join(child) if isinstance(child, (list, tuple)) else safe(child)
        for child in children
        if child is not None
    ]
    return Html(between.join(parts))


def _attribute(key: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{safe(value)}"'


def name_of(text: Any, most: int = 60) -> Html:
    """A name from the user's data: in its own direction of writing, and with its middle left out if it is long."""
    whole = str(text)
    short = clipped(whole, most)
    return h("bdi", short, title=whole[:1000] if short != whole else None)


def table(head: list[Any], rows: list[Any], caption: str, **attributes: Any) -> Html:
    """A table with a caption; cells that are no elements yet become td, headings th, empty ones td."""
    headings = [
        cell if _is_cell(cell) else h("th", cell, scope="col") if cell else h("td", "") for cell in head
    ]
    body = [
        row if isinstance(row, Html) else h("tr", [cell if _is_cell(cell) else h("td", cell) for cell in row])
        for row in rows
    ]
    inside = [h("caption", caption), h("thead", h("tr", headings)), h("tbody", body)]
    return h("table", inside, **attributes)


def _is_cell(cell: Any) -> bool:
    return isinstance(cell, Html) and cell.startswith(("<td", "<th"))


def scrolling(inside: Html, label: str) -> Html:
    """A part that scrolls sideways on small screens, by keyboard too."""
    return h("div", inside, class_="scroll", tabindex="0", role="region", aria_label=label)
