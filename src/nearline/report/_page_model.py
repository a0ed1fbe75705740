"""Parts of the page about the model: what it looks at, and its mistakes."""

from typing import Any

from nearline._records.visible import row_said
from nearline._records.words import many
from nearline.report._html import Html, h, name_of, scrolling, table
from nearline.report._parts import section
from nearline.report._plain import brief, clipped, number

TITLE = "What the model looks at"


def look_section(facts: dict[str, Any]) -> Html:
    """Weights, words, templates or prototypes."""
    looks = facts["looks_at"]
    shown = {"weights": _weights, "words": _words, "templates": _templates, "prototypes": _prototypes}
    if looks["kind"] not in shown:
        return section("looks-at", TITLE, h("p", looks["said"]))
    content = shown[looks["kind"]](looks)
    left = looks["n_classes"] - len(looks["classes"])
    two = looks.get("two_classes", False)
    more = (
        h("p", f"{many(left, 'further class is', 'further classes are')} not shown.")
        if left > 0 and not two
        else None
    )
    return section("looks-at", TITLE, *content, more)


def _zeros(looks: dict[str, Any], what: str) -> str:
    zero = looks["n_zero"]
    return f" {zero:,} of {looks['n_features']:,} {what} have weight 0." if zero else ""


def _weights(looks: dict[str, Any]) -> list[Any]:
    said = (
        f"Columns with the largest weights ({looks['unit']}): to the right those that speak for the class, to the left those "
        "against it." + _zeros(looks, "columns")
    )
    lists = []
    for one in looks["classes"]:
        features = one["for"] + one["against"][::-1]
        limit = max((abs(f["effect"]) for f in features), default=1.0)
        rows = [
            [
                h("th", name_of(f["feature"], 48), scope="row"),
                h("td", _diverging(f["effect"] / limit)),
                h("td", f"{f['effect']:+.3g}", class_="n"),
            ]
            for f in features
        ]
        against = [" against ", name_of(looks["against"], 40)] if looks["two_classes"] else []
        title = h("h3", name_of(one["class"]), *against)
        made = table(
            ["Column", h("td", ""), h("th", "Weight", scope="col", class_="n")],
            rows,
            f"Weights of {clipped(str(one['class']))}",
            class_="plain tight weights",
        )
        lists.append(h("div", title, made if rows else h("p", "No column counts.")))
    return [h("p", said), h("div", lists, class_="panels")]


def _diverging(share: float) -> Html:
    """A bar from the middle, to the right or left."""
    width = 50 * min(abs(share), 1.0)
    left = 50.0 if share >= 0 else 50.0 - width
    sign = "plus" if share >= 0 else "minus"
    return h(
        "span",
        h("i", style=f"left:{left:.1f}%;width:{width:.1f}%", class_=sign),
        class_="diverging",
        aria_hidden="true",
    )


def _words(looks: dict[str, Any]) -> list[Any]:
    tokens = looks["tokens"]
    said = (
        f"The {tokens} with the largest weights for each class, the largest first; the stronger the color, the larger the "
        "weight." + _zeros(looks, tokens)
    )
    rows = []
    for one in looks["classes"]:
        rows.append(
            [
                h("th", name_of(one["class"], 40), scope="row"),
                h("td", _chips(one["for"], "plus"), class_="chips"),
            ]
        )
        if looks["two_classes"]:
            other = h("th", name_of(looks["against"], 40), scope="row")
            rows.append([other, h("td", _chips(one["against"], "minus"), class_="chips")])
    made = table(
        ["Class", f"{tokens.capitalize()} that speak for it"], rows, "Words by class", class_="plain"
    )
    return [h("p", said), scrolling(made, "Words by class")]


def _chips(features: list[dict[str, Any]], sign: str) -> list[Html]:
    most = max((abs(f["effect"]) for f in features), default=1.0) or 1.0
    return [
        h(
            "span",
            name_of(f["feature"].replace(" ", "␣"), 32),
            class_=f"chip {sign}",
            style=f"--v:{abs(f['effect']) / most:.2f}",
            title=f"{f['effect']:+.3g}",
        )
        for f in features
    ] or [h("span", "none")]


def _templates(looks: dict[str, Any]) -> list[Any]:
    said = (
        f"The weights of each class as an image ({looks['unit']}): a bright pixel at a blue place speaks for the class, at "
        "an orange place against it." + _zeros(looks, "pixels")
    )
    if looks["two_classes"]:
        said += f" Against it is for {clipped(str(looks['against']))}."
    figures = [
        h(
            "figure",
            h(
                "img",
                src=one["picture"],
                alt=f"Weights of class {clipped(str(one['class']))}",
                class_="template",
            ),
            h("figcaption", name_of(one["class"], 40)),
        )
        for one in looks["classes"]
    ]
    return [h("p", said), h("div", figures, class_="pictures many")]


def _prototypes(looks: dict[str, Any]) -> list[Any]:
    said = (
        "The model keeps its training rows and lets the nearest of them vote. "
        if looks["by_neighbors"]
        else "The model has no weights that are linear in its columns. "
    )
    some = f" (of {looks['looked_at']:,} taken by chance)" if looks["looked_at"] else ""
    said += f"For each class, the training row{some} that is nearest to the mean of its class in what the model sees:"
    return [
        h("p", said),
        _rows_shown(
            [(name_of(one["class"], 40), f"row {_called(one)}", one, None) for one in looks["classes"]],
            "Prototypes",
            many=True,
        ),
    ]


def _rows_shown(
    rows: list[tuple[Any, str, dict[str, Any], str | None]], label: str, *, many: bool = False
) -> Html:
    """Rows as pictures side by side, as texts in a list, or as lines of a table. Each: who, what, the row, a class."""
    if rows and "picture" in rows[0][2]:
        figures = [
            h(
                "figure",
                h("img", src=row["picture"], alt=f"Image of {what}"),
                h("figcaption", who, h("small", what)),
                class_=kind,
            )
            for who, what, row, kind in rows
        ]
        return h("div", figures, class_="pictures many" if many else "pictures")
    if rows and "text" in rows[0][2]:
        lines = [
            h(
                "tr",
                h("th", who, h("small", what), scope="row"),
                h("td", h("bdi", row["text"]), class_="text"),
                class_=kind,
            )
            for who, what, row, kind in rows
        ]
        return scrolling(table(["", "Text"], lines, label, class_="plain texts"), label)
    names = list(dict.fromkeys(name for _, _, row, _ in rows for name in row["cells"]))
    lines = [
        h(
            "tr",
            h("th", who, h("small", what), scope="row"),
            [h("td", row["cells"].get(name, "")) for name in names],
            class_=kind,
        )
        for who, what, row, kind in rows
    ]
    return scrolling(
        table(["", *(name_of(name, 24) for name in names)], lines, label, class_="plain cells"), label
    )


def _called(one: dict[str, Any]) -> str:
    return row_said(one["row"], one["line"])


def mistake_section(facts: dict[str, Any]) -> Html:
    """Test rows that were called wrong with the most confidence, each with its neighbors."""
    mistakes = facts["mistakes"]
    if not mistakes["rows"]:
        return section("mistakes", "Mistakes", h("p", mistakes["said"]))
    how = {
        "probability": "the most confident first, by the probability of the class called",
        "lead": "the most confident first, by the lead of the score of the class called",
        "score": "the most confident first, by the size of the score",
        "none": "in their order, as the model gives no confidence",
    }[mistakes["measure"]]
    some = f" of {mistakes['looked_at']:,} taken by chance" if mistakes["looked_at"] else ""
    said = (
        f"The model called {mistakes['n_wrong']:,} of {many(mistakes['n_rows'], 'test row')} wrong; here {how}. With each "
        f"come the training rows{some} that are nearest to it in what the model sees (distance: {mistakes['metric']}). "
        "Where they all agree with the model, the label itself may be wrong."
    )
    shown = len(mistakes["rows"][0].get("cells", {}))
    if 0 < shown < mistakes["n_columns"]:
        said += f" Of {mistakes['n_columns']:,} columns the {shown} that count most are shown."
    return section(
        "mistakes",
        "The most confident mistakes",
        h("p", said),
        h("div", [_mistake(one, mistakes["measure"]) for one in mistakes["rows"]], class_="mistakes"),
    )


def _mistake(one: dict[str, Any], measure: str) -> Html:
    sure = {"probability": f"{number(one['sureness'], 2)} sure", "none": ""}.get(
        measure, f"{measure} {brief(one['sureness'])}"
    )
    title = h(
        "h3",
        "Row ",
        _called(one),
        ": ",
        name_of(one["class"], 40),
        h("span", " called "),
        name_of(one["called"], 40),
        h("small", sure),
    )
    rows: list[tuple[Any, str, dict[str, Any], str | None]] = [
        (name_of(one["class"], 24), "the test row", one, "own")
    ]
    for near in one["neighbors"]:
        same = "agrees" if near["class"] == one["class"] else None
        rows.append(
            (name_of(near["class"], 24), f"row {_called(near)} at {near['distance']:.3g}", near, same)
        )
    return h("article", title, _rows_shown(rows, f"Row {_called(one)} and its neighbors"))
