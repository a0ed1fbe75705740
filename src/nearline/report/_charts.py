"""The charts of the report: curves over a parameter, ROC and precision-recall, reliability, decision regions."""

from typing import Any

import numpy as np

from nearline.report._html import Html, h
from nearline.report._plain import LETTERS, brief, clipped, number
from nearline.report._svg import Chart, padded

SHAPES = 12  # colors
MOST_LABELS = 24  # classes named in a picture of regions


def curve_chart(curve: dict[str, Any], score: str, *, larger: bool) -> Html:
    """Scores along a path: folds, means with bars of one standard deviation, the best, and the one-standard-error choice."""
    xs, means, errors, spreads = curve["values"], curve["mean"], curve["error"], curve["deviation"]
    name = LETTERS.get(curve["parameter"], curve["parameter"])
    best = xs.index(curve["best"])
    threshold = means[best] - errors[best] if larger else means[best] + errors[best]
    every = [s for scores in curve["folds"] for s in scores] + [threshold]
    every += [mean + side * spread for mean, spread in zip(means, spreads) for side in (-1, 1)]
    label = (
        f"{score} of {curve['family']} over {name}: best {number(means[best])} at {name} = {brief(curve['best'])}, "
        f"within one standard error up to {name} = {brief(curve['one_standard_error'])}"
    )
    wide = 10.0 ** (0.04 * float(np.log10(xs[-1] / xs[0]))) if xs[0] > 0 else 1.0
    ends = (xs[0] / wide, xs[-1] * wide) if xs[0] > 0 else padded(xs)
    chart = Chart(ends, padded(every), label, name, score, log_x=xs[0] > 0, height=230)
    chart.line([(ends[0], threshold), (ends[1], threshold)], "threshold")
    for x, scores in zip(xs, curve["folds"]):
        for s in scores:
            chart.dot(x, s, 1.7, "fold")
    chart.line(list(zip(xs, means)))
    for x, mean, spread in zip(xs, means, spreads):
        chart.line([(x, mean - spread), (x, mean + spread)], "bar")
        chart.dot(x, mean, 3, "mean", f"{name} = {brief(x)}: {number(mean)} ± {number(spread)}")
    place = xs.index(curve["one_standard_error"]) if curve["one_standard_error"] in xs else best
    chart.dot(xs[best], means[best], 7, "ring")
    x, y = chart.to_x(xs[place]), chart.to_y(means[place])
    chart.add("rect", x=f"{x - 6:.1f}", y=f"{y - 6:.1f}", width=12, height=12, class_="ring")
    return chart.render()


def ranking_chart(classes: list[dict[str, Any]], kind: str, *, two: bool) -> Html:
    """ROC or precision-recall curves, the hardest classes in color."""
    roc = kind == "roc"
    drawn = [one for one in classes if kind in one]
    measure = "auc" if roc else "average_precision"
    said = ", ".join(f"{clipped(str(one['class']), 30)} {number(one[measure], 3)}" for one in drawn[:3])
    label = f"{'ROC curve' if roc else 'Precision and recall'}: area {said}"
    names = ("false positive rate", "true positive rate") if roc else ("recall", "precision")
    chart = Chart((0.0, 1.0), (0.0, 1.0), label, *names, square=True, width=360)
    if roc:
        chart.line([(0, 0), (1, 1)], "threshold")
    elif two:
        chart.line([(0, drawn[0]["share"]), (1, drawn[0]["share"])], "threshold")
    for i, one in reversed(list(enumerate(drawn))):
        points = _steps(*one[kind]) if not roc else list(zip(*one[kind]))
        class_ = f"line s{i}" if i < 3 else "line faint"
        chart.line(points, class_, f"{clipped(str(one['class']))}: area {number(one[measure], 3)}")
        if f"{kind}_at" in one:
            x, y = one[f"{kind}_at"]
            place = {"x": f"{chart.to_x(x) - 5:.1f}", "y": f"{chart.to_y(y) - 5:.1f}"}
            chart.add("rect", **place, width=10, height=10, class_="ring")
    return chart.render()


def _steps(xs: list[float], ys: list[float]) -> list[tuple[float, float]]:
    """A step function, as precision is between two recalls."""
    points = [(xs[0], ys[0])]
    for x, y, before in zip(xs[1:], ys[1:], ys):
        points += [(x, before), (x, y)] if y != before else [(x, y)]
    return points


def reliability_chart(curve: dict[str, Any]) -> Html:
    """Share correct over the probability claimed, with 95% intervals; below, how many rows there are."""
    label = f"Reliability: expected calibration error {number(curve['expected_calibration_error'], 3)}"
    chart = Chart((0, 1), (0, 1), label, "probability claimed", "share correct", square=True, width=360)
    most = max(curve["count"]) or 1
    for i, n in enumerate(curve["count"]):
        x0, x1 = chart.to_x(curve["edges"][i]), chart.to_x(curve["edges"][i + 1])
        top = 0.22 * n / most
        y = chart.to_y(top)
        if n:
            place = {"x": f"{x0 + 1:.1f}", "y": f"{y:.1f}", "width": f"{x1 - x0 - 2:.1f}"}
            chart.add(
                "rect", h("title", f"{n:,} rows"), **place, height=f"{chart.to_y(0) - y:.1f}", class_="count"
            )
    chart.line([(0, 0), (1, 1)], "threshold")
    there = [i for i, n in enumerate(curve["count"]) if n]
    chart.line([(curve["confidence"][i], curve["accuracy"][i]) for i in there])
    for i in there:
        x = curve["confidence"][i]
        if curve["low"][i] is not None:
            chart.line([(x, curve["low"][i]), (x, curve["high"][i])], "bar")
        said = f"claimed {number(x, 2)}, found {number(curve['accuracy'][i], 2)}, {curve['count'][i]:,} rows"
        chart.dot(x, curve["accuracy"][i], 3.5, "mean", said)
    return chart.render()


def region_chart(regions: dict[str, Any]) -> Html:
    """What the model calls over the plane, rows as dots in the color of their class, those called wrong with a cross."""
    (x0, y0), (x1, y1), side = regions["low"], regions["high"], regions["side"]
    label = f"Decision regions over the {regions['axes'][0]} and the {regions['axes'][1]}"
    chart = Chart((x0, x1), (y0, y1), label, width=560, height=430)
    chart.to_x, chart.to_y = (
        chart.to_x.__class__(x0, x1, 0, chart.width),
        chart.to_y.__class__(y0, y1, chart.height, 0),
    )
    cells = np.array(regions["cells"])
    scale = f"scale({chart.width / side:.4f} {chart.height / side:.4f})"
    areas = [h("path", d=_area(cells == c), class_=f"area c{c % SHAPES}") for c in np.unique(cells)]
    chart.add("g", areas, transform=scale)
    for (x, y), code, right in zip(regions["points"], regions["codes"], regions["right"]):
        chart.dot(x, y, 3.2, f"point c{code % SHAPES}")
        if not right:
            px, py = chart.to_x(x), chart.to_y(y)
            d = f"M{px - 5:.1f} {py - 5:.1f}l10 10m0 -10l-10 10"
            chart.add("path", d=d, class_="wrong")
    _name_classes(chart, regions)
    return chart.render(axes=False)


def _name_classes(chart: Chart, regions: dict[str, Any]) -> None:
    """A class's name where most of its rows are."""
    points, codes = np.array(regions["points"]).reshape(-1, 2), np.array(regions["codes"], dtype=int)
    sizes = np.bincount(codes, minlength=len(regions["classes"]))
    taken: list[tuple[float, float, float]] = []
    for c in np.argsort(-sizes, kind="stable")[:MOST_LABELS].tolist():
        if not sizes[c]:
            continue
        name = clipped(str(regions["classes"][c]), 24)
        x, y = np.median(points[codes == c], axis=0)
        px, py, half = chart.to_x(float(x)), chart.to_y(float(y)), 4.5 * len(name) + 2
        px = min(max(px, half), chart.width - half)
        # A name that would cover another moves down.
        while any(abs(px - qx) < half + other and abs(py - qy) < 15 for qx, qy, other in taken):
            py += 3
        taken.append((px, py, half))
        place = {"x": f"{px:.1f}", "y": f"{min(py + 5, chart.height - 4):.1f}"}
        chart.add("text", name, **place, class_="region-name", text_anchor="middle")


def _area(inside: Any) -> str:
    """The cells of a class as one path, runs of cells at a time."""
    parts = []
    for row, line in enumerate(inside):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], line.astype(np.int8), [0]])))
        parts += [f"M{a} {row}h{b - a}v1h{a - b}z" for a, b in edges.reshape(-1, 2).tolist()]
    return "".join(parts)
