"""The page: a function of the facts alone."""

from datetime import datetime
from importlib.resources import files
from typing import Any

from nearline._records.words import many
from nearline.report._html import Html, h, join, name_of, safe, table
from nearline.report._page_board import board_section, curve_section, timing_section
from nearline.report._page_model import look_section, mistake_section
from nearline.report._page_regions import region_section
from nearline.report._page_tested import no_better, tested_section
from nearline.report._parts import bar, folded, section
from nearline.report._plain import named, number

PARTS = {
    "checks": "Checks",
    "data": "Data",
    "leaderboard": "Leaderboard",
    "curves": "Curves",
    "test": "Test",
    "looks-at": "Model",
    "mistakes": "Mistakes",
    "regions": "Regions",
    "timing": "Timing",
    "reproduce": "Reproduce",
}
# A browser holds the page to it: nothing is fetched from anywhere.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
SPLITS = {
    "stratified": "every class in proportion in each part",
    "group": "whole groups in one part or the other",
    "time": "later rows are predicted from earlier ones",
}


def page(facts: dict[str, Any], data: str) -> str:
    """The report as HTML, with the facts as JSON text inside."""
    title = facts["title"]
    parts = [
        h("meta", charset="utf-8"),
        h("meta", name="viewport", content="width=device-width, initial-scale=1"),
        h("meta", http_equiv="Content-Security-Policy", content=POLICY),
        h("meta", name="color-scheme", content="light dark"),
        h("meta", name="generator", content=f"nearline {facts['reproduce']['versions']['nearline']}"),
        h("title", f"{title} · nearline report"),
        h("link", rel="icon", href="data:,"),
        h("style", Html(_part("page.css"))),
    ]
    # A "<" would end the element; JSON has another way to write it.
    inside = Html(data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
    body = [
        h("a", "Skip to the report", href="#main", class_="skip"),
        _header(facts),
        h("main", _sections(facts), id="main"),
        _footer(facts),
        h("script", inside, type="application/json", id="facts"),
        h("script", Html(_part("page.js"))),
    ]
    whole = h("html", h("head", parts), h("body", body), lang="en")
    return f"<!doctype html>\n{whole}\n"


def _part(name: str) -> str:
    return files("nearline.report").joinpath(name).read_text(encoding="utf-8")


def _sections(facts: dict[str, Any]) -> list[Html]:
    return [
        _checks(facts["findings"]),
        _data(facts),
        board_section(facts),
        curve_section(facts),
        tested_section(facts),
        look_section(facts),
        mistake_section(facts),
        region_section(facts),
        timing_section(facts),
        _reproduce(facts),
    ]


# -- the top ------------------------------------------------------------------------------------------------------


def _header(facts: dict[str, Any]) -> Html:
    links = [h("a", name, href=f"#{part}") for part, name in PARTS.items()]
    return h(
        "header",
        h("p", "nearline report", class_="kicker"),
        h("h1", facts["title"]),
        h("p", _result(facts), class_="lead"),
        *(h("p", said, class_="remark") for said in (no_better(facts["test"]) if facts["test"] else [])),
        _caution(facts["findings"]),
        _figures(facts),
        h("nav", links, aria_label="Parts of the report"),
    )


def _result(facts: dict[str, Any]) -> Html:
    """The outcome in two or three sentences."""
    model, name = facts["model"], facts["leaderboard"]["score"]
    title = facts["leaderboard"]["titles"][name]
    who = h("strong", name_of(model["family"]))
    how = (
        f" ({named(model['parameters'])})" if model["parameters"] else ""
    ) + f" on {model['representation']} data"
    test = facts["test"]
    if test is None:
        mean = number(model["scores"][name]["mean"])
        return join(
            [
                "Best of ",
                many(len(facts["leaderboard"]["candidates"]), "candidate"),
                ": ",
                who,
                f"{how}. In cross-validation its {title} is {mean}, which is optimistic, as it was chosen by it; no test "
                "rows have been opened.",
            ]
        )
    one = test["scores"][name]
    bounds = "" if one["reason"] else f" ({one['confidence']:.0%} interval {one['ends']}, {one['method']})"
    if facts["leaderboard"]["is_accuracy"] and one["score"] is not None:
        said = f" is right on {one['score']:.1%} of {many(test['rows'], 'test row')}{bounds}. "
        said += f"Always calling the most frequent class is right on {test['majority']:.1%}."
    else:
        said = f" has {title} {number(one['score'])} on {many(test['rows'], 'test row')}{bounds}."
    return join([who, how, said])


def _caution(findings: list[dict[str, Any]]) -> Html | None:
    """Scores that cannot be trusted are not to be read without the reason."""
    serious = sum(one["severity"] == "warning" for one in findings)
    if not serious:
        return None
    link = h("a", f"{many(serious, 'warning')} of the checks", href="#checks")
    return h("p", "Do not trust these scores before you have read the ", link, ".", class_="remark")


def _figures(facts: dict[str, Any]) -> Html:
    board, test, name = facts["leaderboard"], facts["test"], facts["leaderboard"]["score"]
    folds = facts["model"]["scores"][name]
    shown = []
    if test is not None:
        one = test["scores"][name]
        bounds = "no interval" if one["reason"] else f"{one['confidence']:.0%} interval {one['ends']}"
        shown.append((number(one["score"], 3), f"test {board['titles'][name]}", bounds))
    spread = (
        ""
        if folds["deviation"] is None
        else f"± {number(folds['deviation'], 3)} over {facts['split']['folds']} folds"
    )
    shown.append((number(folds["mean"], 3), "in cross-validation (optimistic)", spread))
    shown.append(
        (f"{len(board['candidates']):,}", "candidates tried", f"of {len(board['families'])} families")
    )
    data = facts["data"]
    tested = f", {data['test_rows']:,} to test" if data["test_rows"] else ""
    shown.append((f"{data['rows']:,}", "rows", f"{data['training_rows']:,} to train{tested}"))
    boxes = [
        h("div", h("dt", label), h("dd", h("b", value), h("span", small))) for value, label, small in shown
    ]
    return h("dl", boxes, class_="figures")


# -- checks, data, reproduction -----------------------------------------------------------------------------------


def _checks(findings: list[dict[str, Any]]) -> Html:
    if not findings:
        return section("checks", "Checks", h("p", "The checks for leaks and other traps found nothing."))
    serious = sum(one["severity"] == "warning" for one in findings)
    said = (
        f"{many(serious, 'warning')}: with what is described, the scores below cannot be trusted until it is settled."
        if serious
        else f"{many(len(findings), 'note')}, worth a look; no warnings."
    )
    findings = sorted(findings, key=lambda one: one["severity"] != "warning")
    items = [
        h(
            "li",
            h("p", h("b", one["severity"].capitalize()), " ", name_of(one["subject"], 120), class_="what"),
            h("p", one["message"]),
            h("p", one["remedy"], class_="remedy"),
            class_=f"finding {'serious' if one['severity'] == 'warning' else 'mild'}",
        )
        for one in findings
    ]
    return section("checks", "Checks", h("p", said), h("ul", items, class_="findings"))


def _data(facts: dict[str, Any]) -> Html:
    data, split = facts["data"], facts["split"]
    tested = (
        many(data["test_rows"], "row") + " locked away before anything looked at them"
        if data["test_rows"]
        else None
    )
    rows = {
        "Data": data["data"],
        "Kind": data["kind"],
        "Target": data["target"],
        "Columns": f"{data['features']:,}",
        "Training part": f"{many(data['training_rows'], 'row')}, {split['folds']} folds: {SPLITS[split['kind']]}",
        "Test part": tested or "none: what is said below rests on cross-validation",
        "Fingerprint": h("code", data["fingerprint"][:16]) if data["fingerprint"] else None,
    }
    listed = [(h("dt", key), h("dd", value)) for key, value in rows.items() if value]
    told = data["description"] or _column_types(data["columns"])
    more = h("details", h("summary", "What was understood of the data"), h("pre", told)) if told else None
    return section("data", "Data and split", h("dl", listed, class_="facts"), _classes(data), more)


def _column_types(columns: Any) -> str:
    return "\n".join(f"{name}: {kind}" for name, kind in columns.items()) if isinstance(columns, dict) else ""


def _classes(data: dict[str, Any]) -> Html:
    """How many rows of each class there are."""
    classes = data["classes"]
    most = max(one["training"] for one in classes) or 1
    tested = classes[0]["test"] is not None
    head: list[Any] = [
        "Class",
        h("th", "Training rows", scope="col", class_="wide"),
        h("td", ""),
        *([h("th", "Test rows", scope="col", class_="n")] if tested else []),
    ]
    rows = [
        [
            h("th", name_of(one["class"]), scope="row"),
            h("td", bar(one["training"] / most), class_="wide"),
            h("td", f"{one['training']:,}", class_="n"),
            *([h("td", f"{one['test']:,}", class_="n")] if tested else []),
        ]
        for one in classes
    ]
    made = table(
        head, rows, f"Rows of the {many(len(classes), 'class', 'classes')}", class_="plain narrow tight"
    )
    return folded(made, len(classes), "classes", "Rows of the classes")


def _reproduce(facts: dict[str, Any]) -> Html:
    one = facts["reproduce"]
    versions = ", ".join(f"{name} {number}" for name, number in one["versions"].items())
    command = [h("h3", "Command"), h("pre", one["command"], tabindex="0")] if one["command"] else []
    rows = {"Seed": str(one["random_state"]), "Versions": versions, "System": one["system"]}
    listed = [(h("dt", key), h("dd", value)) for key, value in rows.items()]
    return section(
        "reproduce",
        "How to repeat it",
        *command,
        h("h3", "In Python"),
        h("pre", one["call"], tabindex="0"),
        h("dl", listed, class_="facts"),
        h(
            "p",
            "All facts of this page are also in it as JSON, in the element with the id ",
            h("code", "facts"),
            ". ",
            h("button", "Save the facts as JSON", type="button", id="save", hidden=True),
        ),
    )


def _footer(facts: dict[str, Any]) -> Html:
    made = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")
    return h(
        "footer", h("p", safe(f"Written by nearline {facts['reproduce']['versions']['nearline']} on {made}."))
    )
