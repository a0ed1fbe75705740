"""Parts of the page about the contest: leaderboard, curves, timing."""

from typing import Any

from nearline._records.words import many
from nearline.report._charts import curve_chart
from nearline.report._html import Html, h, join, name_of, scrolling, table
from nearline.report._parts import bar, section
from nearline.report._plain import LETTERS, brief, named, number, seconds, size
from nearline.report._svg import Scale, padded
from nearline.selection.leaderboard import Skipped, by_reason

MOST_CANDIDATES = 250  # listed
MOST_CURVES = 6  # drawn
OUTSIDE = "outside reference, not a candidate"
FAR = 1.0  # times the width of the better half: a candidate so far below does not set the scale


def board_section(facts: dict[str, Any]) -> Html:
    """The best of each family with bars, and all candidates to sort and filter."""
    board = facts["leaderboard"]
    alike = sum(one["not_distinguishable"] for one in board["families"])
    better = "" if board["larger_is_better"] else " Smaller is better."
    told = (
        f"The best of each family by {board['score']} on rows left out of the fit: a dot for the mean over "
        f"{facts['split']['folds']} folds, a bar of one standard deviation to each side, a tick for each fold.{better} "
    )
    rest = (
        f"Filled dots, {alike} of {len(board['families'])}, cannot be told from the best by a paired comparison "
        "(approximate, adjusted for the number of candidates)."
    )
    optimistic = (
        " The mean of the best is optimistic, as it was chosen for being the best: the test rows, or nested "
        "cross-validation, say how good it is."
    )
    return section(
        "leaderboard",
        "Leaderboard",
        h("p", told, rest, optimistic),
        _interrupted(board),
        _families(facts),
        _reference(board),
        _grid_ends(board),
        _nested(facts),
        _candidates(facts),
        _skipped(board["skipped"]),
    )


def _interrupted(board: dict[str, Any]) -> Html | None:
    said = "The contest was interrupted: what had finished by then is listed."
    return h("p", said, class_="remark") if board["interrupted"] else None


def _families(facts: dict[str, Any]) -> Html:
    board = facts["leaderboard"]
    scale = _scale_of(board["families"])
    titles, others = board["titles"], board["scores"][1:]
    ends = h("span", h("span", f"{scale.low:.3g}"), h("span", f"{scale.high:.3g}"), class_="ends")
    head: list[Any] = [
        "Family",
        h("th", ends, scope="col", class_="strip-cell", aria_label=f"{titles[board['score']]}, drawn"),
        h("th", titles[board["score"]], scope="col", class_="n"),
        *(h("th", titles[name], scope="col", class_="n opt") for name in others),
        *(h("th", name, scope="col", class_="n opt") for name in ("Fit", "Predict", "Size")),
    ]
    chosen = facts["model"]
    rows = [
        _family(one, board, scale, "chosen" if _is_same(one, chosen) else "") for one in board["families"]
    ]
    line = (board["reference"] or {}).get("line")
    if line is not None:
        rows.append(_family(line, board, scale, OUTSIDE))
    return scrolling(table(head, rows, "Best of each family", class_="board"), "Leaderboard of families")


def _is_same(one: dict[str, Any], chosen: dict[str, Any]) -> bool:
    return all(one[key] == chosen[key] for key in ("family", "representation", "parameters"))


def _family(one: dict[str, Any], board: dict[str, Any], scale: Scale, role: str) -> Html:
    small = ", ".join(part for part in (one["representation"], named(one["parameters"])) if part)
    who = [name_of(one["family"]), h("em", role) if role else None, h("small", small)]
    others = [h("td", number(one["scores"][name]["mean"]), class_="n opt") for name in board["scores"][1:]]
    return h(
        "tr",
        h("th", who, scope="row"),
        h("td", _strip(one, board["score"], scale), class_="strip-cell"),
        h("td", _mean(one["scores"][board["score"]]), class_="n"),
        others,
        h("td", seconds(one["fit_seconds"]), class_="n opt"),
        h("td", seconds(one["predict_seconds"]), class_="n opt"),
        h("td", size(one["bytes"]), class_="n opt"),
        class_="alike" if one["not_distinguishable"] else None,
    )


def _mean(score: dict[str, Any]) -> Html:
    if score["mean"] is None:
        return h("span", "n/a")
    return join([number(score["mean"]), h("small", f"± {number(score['deviation'])}")])


def _scale_of(families: list[dict[str, Any]]) -> Scale:
    """That of the better half and what is near it; the majority far to one side would squeeze all others."""
    folds = [one["folds"] for one in families if None not in one["folds"]]
    if not folds:
        return Scale(0.0, 1.0, 0.0, 100.0)
    better = [score for scores in folds[: max(3, -(-len(folds) // 2))] for score in scores]
    low, high = min(better), max(better)
    width = FAR * max(high - low, 0.02 * abs(high), 1e-9)
    near = [scores for scores in folds if low - width <= sum(scores) / len(scores) <= high + width]
    return Scale(*padded([score for scores in near for score in scores], 0.05), 0.0, 100.0)


def _strip(one: dict[str, Any], name: str, scale: Scale) -> Html:
    """Folds, mean and bar on the common scale; an arrow where they are beyond it."""
    score = one["scores"][name]
    if score["mean"] is None:
        return h("div", class_="strip")
    mean, deviation = score["mean"], score["deviation"] or 0.0
    if not scale.low <= mean <= scale.high:
        side = "left" if mean < scale.low else "right"
        arrow = f"← {number(mean, 3)}" if side == "left" else f"{number(mean, 3)} →"
        return h("div", h("span", arrow, class_=f"beyond {side}"), class_="strip", aria_hidden="true")
    low, high = (min(max(scale(v), 0), 100) for v in (mean - deviation, mean + deviation))
    ticks = [h("s", style=f"left:{scale(v):.1f}%") for v in one["folds"] if scale.low <= v <= scale.high]
    span = h("u", style=f"left:{low:.1f}%;width:{high - low:.1f}%")
    dot = h("b", style=f"left:{scale(mean):.1f}%")
    return h("div", ticks, span, dot, class_="strip", aria_hidden="true")


def _grid_ends(board: dict[str, Any]) -> Html | None:
    """Families that might do better further along."""
    found = [
        f"{one['family']} ({end['end']} {LETTERS.get(end['parameter'], end['parameter'])} tried)"
        for one in board["families"]
        for end in one["grid_end"]
    ]
    said = f"At an end of its grid, so that values beyond may be better: {'; '.join(found)}."
    return h("p", said, class_="remark") if found else None


def _reference(board: dict[str, Any]) -> Html | None:
    """Whether another kind of model is better, in a sentence that nobody overlooks where it is."""
    found = board["reference"]
    if found is None:
        return None
    said = found["said"][:1].upper() + found["said"][1:]
    return h("p", said, class_="remark" if found["verdict"] == "better" else None)


def _nested(facts: dict[str, Any]) -> Html | None:
    """The honest mean; undefined if one of its folds is."""
    nested, name = facts["leaderboard"]["nested"], facts["leaderboard"]["score"]
    scores = (nested or {}).get(name, [])
    if not scores:
        return None
    mean = None if None in scores else sum(scores) / len(scores)
    said = (
        f"Nested cross-validation, which chooses anew on every one of {len(scores)} folds, gives {name} {number(mean)} "
        "for the whole procedure: an honest estimate."
    )
    return h("p", said)


def _candidates(facts: dict[str, Any]) -> Html:
    board = facts["leaderboard"]
    shown = board["candidates"][:MOST_CANDIDATES]
    left = len(board["candidates"]) - len(shown)
    names = ["Rank", "Family", "Data", "Parameters"]
    measures = [*board["titles"].values(), "± deviation", "Fit, s", "Predict, s", "Bytes"]
    head: list[Any] = [
        *(h("th", name, scope="col", data_sort="text" if i else "number") for i, name in enumerate(names)),
        *(h("th", name, scope="col", data_sort="number", class_="n") for name in measures),
    ]
    rows = [_candidate(one, board) for one in shown]
    made = table(head, rows, "All candidates, best first", class_="plain sortable", id="candidates")
    more = h("p", f"The {left:,} candidates after these are in the facts of this page.") if left else None
    note = h(
        "p", "Filled dots: not distinguishable from the best of all. Sort by a column, or filter by words."
    )
    inside = [note, scrolling(made, "All candidates"), more]
    title = f"All {many(len(board['candidates']), 'candidate')}" + (
        f" (the best {len(shown)} listed)" if left else ""
    )
    return h("details", h("summary", title), inside)


def _candidate(one: dict[str, Any], board: dict[str, Any]) -> Html:
    mark = (
        h("span", class_="mark", title="not distinguishable from the best")
        if one["not_distinguishable"]
        else None
    )
    primary = one["scores"][board["score"]]
    means = [h("td", number(one["scores"][name]["mean"]), class_="n") for name in board["scores"]]
    return h(
        "tr",
        h("td", one["rank"], mark, class_="rank"),
        h("th", name_of(one["family"]), scope="row"),
        h("td", one["representation"]),
        h("td", named(one["parameters"]), title=one["note"] or None),
        means,
        h("td", number(primary["deviation"]), class_="n"),
        h("td", f"{one['fit_seconds']:.2g}", class_="n"),
        h("td", f"{one['predict_seconds']:.2g}", class_="n"),
        h("td", "unknown" if one["bytes"] is None else f"{one['bytes']:,}", class_="n"),
        class_="alike" if one["not_distinguishable"] else None,
    )


def _skipped(skipped: list[dict[str, Any]]) -> Html | None:
    """What was not tried; families that share a reason share a line."""
    if not skipped:
        return None
    together = by_reason([Skipped(**one) for one in skipped])
    items = [h("li", h("b", names), f": {reason}") for reason, names in together.items()]
    return h("details", h("summary", f"Not tried: {len(skipped)}"), h("ul", items))


def curve_section(facts: dict[str, Any]) -> Html:
    """Panels of the best families that have a parameter to choose."""
    board, curves = facts["leaderboard"], facts["curves"]
    if not curves:
        return section(
            "curves", "Curves", h("p", "No family was tried at three or more values of its parameter.")
        )
    curves = sorted(
        curves, key=lambda one: one["chosen"] is None
    )  # the chosen one's first, the others by score
    drawn = [_panel(one, board) for one in curves[:MOST_CURVES]]
    told = (
        "Each family's score over the parameter that makes its models simpler as it grows, everything else as in its best "
        "candidate: small dots for folds, bars of one standard deviation over folds. "
    )
    marks = (
        "A ring marks the best mean; a square the simplest model that is within one standard error of it, on the good side "
        "of the dashed line."
    )
    left = len(curves) - len(drawn)
    more = (
        f" The curves of {many(left, 'further family', 'further families')} are in the facts." if left else ""
    )
    return section(
        "curves", "Scores over k and alpha", h("p", told, marks, more), h("div", drawn, class_="panels")
    )


def _panel(curve: dict[str, Any], board: dict[str, Any]) -> Html:
    name = LETTERS.get(curve["parameter"], curve["parameter"])
    best, simple = brief(curve["best"]), brief(curve["one_standard_error"])
    choice = f"best at {name} = {best}" + (
        f", within one standard error at {simple}"
        if simple != best
        else ", also the simplest within one standard error"
    )
    others = ", ".join(part for part in (curve["representation"], named(curve["others"])) if part)
    caption = h("figcaption", h("b", name_of(curve["family"])), h("small", f"{others}; {choice}"))
    chart = curve_chart(curve, board["titles"][board["score"]], larger=board["larger_is_better"])
    return h("figure", caption, chart)


def timing_section(facts: dict[str, Any]) -> Html:
    """Where the time went."""
    timing = facts["timing"]
    charged = timing["charged"]
    if not charged:
        return section("timing", "Timing", h("p", "Where the time went was not counted."))
    most = max(one["seconds"] for one in charged) or 1
    said = (
        f"The contest took {seconds(timing['seconds'])}. Every second is charged once, so that these add up to all of it. "
        "What candidates of a family share (a search, Gram matrices, a factorization) is done once, and named; folds run "
        "side by side, and their work is counted in proportion."
    )
    head: list[Any] = [
        "What for",
        h("th", "Time", scope="col", class_="wide"),
        *(h("th", name, scope="col", class_="n") for name in ("Seconds", "Candidates")),
    ]
    rows = [
        [
            h("th", name_of(one["payer"]), h("small", _shared(one["shared"])), scope="row"),
            h("td", bar(one["seconds"] / most), class_="wide"),
            h("td", seconds(one["seconds"]), class_="n"),
            h("td", "" if one["candidates"] is None else one["candidates"], class_="n"),
        ]
        for one in charged
    ]
    made = table(head, rows, "Where the time went", class_="plain narrow")
    return section("timing", "Timing", h("p", said), scrolling(made, "Where the time went"))


def _shared(work: dict[str, float]) -> str:
    named = ", ".join(f"{name} {seconds(spent)}" for name, spent in work.items())
    return f"shared: {named}" if named else ""
