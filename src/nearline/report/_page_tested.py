"""The part of the page about the test."""

from typing import Any

from nearline._records.words import many
from nearline.report._charts import ranking_chart, reliability_chart
from nearline.report._html import Html, h, name_of, scrolling, table
from nearline.report._parts import folded, section
from nearline.report._plain import number

MOST_MATRIX = 20  # classes of a confusion matrix that is readable
MOST_PAIRS = 15  # confusions listed instead
FEW = 12  # classes whose matrix leaves room beside it
LONG = 4  # letters of a label from which on columns are headed by turned labels


def tested_section(facts: dict[str, Any]) -> Html:
    """Scores with intervals, and everything that is known about single classes and probabilities."""
    test = facts["test"]
    if test is None:
        said = "The test rows are still locked, or there are none: what is said above rests on cross-validation alone."
        return section("test", "Test", h("p", said))
    openings = _openings(test)
    return section(
        "test",
        "Test",
        h(
            "p",
            f"The chosen model, fitted on {many(test['training_rows'], 'row')}, on the {many(test['rows'], 'row')} that "
            "were locked away. Intervals account for the choice of the test rows only."
            + (" Rows count by their weights, but for the confusion matrix." if test["weighted"] else ""),
        ),
        *(h("p", said, class_="remark") for said in [*openings, *no_better(test)]),
        _scores(test),
        h(
            "div",
            _confusion(test),
            _per_class(test),
            class_="panels" if len(test["classes"]) <= FEW else None,
        ),
        _ranking(test),
        _reliability(test),
    )


def no_better(test: dict[str, Any]) -> list[str]:
    """That the model is of no use, where the test rows do not show any."""
    return [f"The model is {test['against']['said']}."] if test["against"]["better"] is False else []


def _openings(test: dict[str, Any]) -> list[str]:
    said = []
    if test["models"] > 1:
        said.append(
            f"The test was opened {test['openings']} times, for {test['models']} models: a test that models are chosen by is "
            "no test any more."
        )
    elif test["openings"] > 1:
        said.append(f"The test was opened {test['openings']} times, for the same model.")
    if test["refitted"]:
        said.append(
            "The model in hand has been fitted anew on all rows since; the scores are the earlier model's."
        )
    return said


def _scores(test: dict[str, Any]) -> Html:
    before = ", before calibration" if test["calibrated"] else ""
    names = (
        "Test",
        "Interval",
        f"Cross-validation{before} (optimistic: the model was chosen on these folds)",
    )
    head: list[Any] = ["Score", *(h("th", name, scope="col", class_="n") for name in names)]
    rows: list[list[Any]] = [
        [
            h("th", one["title"], scope="row"),
            h("td", h("b", number(one["score"])), class_="n"),
            _interval(one),
            h("td", number(one["cross_validation"]), class_="n"),
        ]
        for one in test["scores"].values()
    ]
    rows.append(
        [
            h("th", "always the most frequent class", scope="row"),
            h("td", number(test["majority"]), class_="n"),
            "",
            "",
        ]
    )
    return scrolling(table(head, rows, "Scores on the test rows", class_="plain narrow"), "Test scores")


def _interval(one: dict[str, Any]) -> Html:
    if one["reason"]:
        return h("td", f"none: {one['reason']}")
    return h("td", one["ends"], h("small", f"{one['confidence']:.0%}, {one['method']}"), class_="n")


def _confusion(test: dict[str, Any]) -> Html:
    wrong = sum(one["rows"] for one in test["confused"])
    title = h("h3", "Confusion matrix")
    if len(test["classes"]) > MOST_MATRIX:
        if not wrong:
            return h("div", title, h("p", "No row was called wrong."))
        said = (
            f"{len(test['classes']):,} classes are too many for a matrix; the most frequent confusions are:"
        )
        rows = [
            [name_of(one["class"]), name_of(one["called"]), h("td", f"{one['rows']:,}", class_="n")]
            for one in test["confused"][:MOST_PAIRS]
        ]
        made = table(
            ["Class", "Called", h("th", "Rows", scope="col", class_="n")],
            rows,
            "Most frequent confusions",
            class_="plain narrow",
        )
        return h("div", title, h("p", said), scrolling(made, "Most frequent confusions"))
    said = (
        "Rows of a class (down) by what they were called (across). Blue: right, orange: wrong; the stronger, the larger the "
        "share of the class."
    )
    return h("div", title, h("p", said), scrolling(_matrix(test), "Confusion matrix"))


def _matrix(test: dict[str, Any]) -> Html:
    labels = [str(label) for label in test["classes"]]
    turned = max(map(len, labels)) > (LONG if len(labels) > 5 else 16)
    head = [h("td", "", class_="corner")] + [
        h("th", h("span", name_of(label, 24)), scope="col", class_="turned" if turned else None)
        for label in labels
    ]
    rows = []
    for i, (label, counts) in enumerate(zip(labels, test["confusion"])):
        total = sum(counts) or 1
        cells = [_cell(n, n / total, i == j) for j, n in enumerate(counts)]
        rows.append(h("tr", h("th", name_of(label, 24), scope="row"), cells))
    return table(head, rows, "Confusion matrix: classes down, called across", class_="matrix")


def _cell(n: int, share: float, right: bool) -> Html:
    kind = ("right" if right else "wrong") + (" strong" if share > 0.75 else "")
    return h(
        "td",
        f"{n:,}" if n else h("span", "·"),
        class_=kind if n else None,
        style=f"--v:{share:.2f}" if n else None,
    )


def _per_class(test: dict[str, Any]) -> Html:
    names = ("precision", "recall", "f1")
    head: list[Any] = [
        h("th", "Class", scope="col", data_sort="text"),
        *(
            h("th", n, scope="col", class_="n", data_sort="number")
            for n in ("Precision", "Recall", "F1", "Rows")
        ),
    ]
    rows = [
        [
            h("th", name_of(one["class"]), scope="row"),
            *(h("td", number(one[name], 3), class_="n") for name in names),
            h("td", f"{one['rows']:,}", class_="n"),
        ]
        for one in test["per_class"]
    ]
    missing = [one for one in test["per_class"] if not one["rows"]]
    said = None
    if missing:
        said = h(
            "p",
            f"{many(len(missing), 'class has', 'classes have')} no test row, so that some of their figures are undefined.",
        )
    made = table(head, rows, "Precision, recall and F1 by class", class_="plain narrow tight sortable")
    return h("div", h("h3", "Per class"), said, folded(made, len(rows), "classes", "Figures by class"))


def _ranking(test: dict[str, Any]) -> Html:
    ranking, title = test["ranking"], h("h3", "ROC, precision and recall")
    if "said" in ranking:
        return h("div", title, h("p", ranking["said"]))
    classes, two = ranking["classes"], len(test["classes"]) == 2
    if two:
        one = classes[0]
        said: list[Any] = [
            f"How well {ranking['ranked_by']} ranks rows of class ",
            name_of(one["class"]),
            f" above the others: area under the ROC curve {number(one['auc'])}, average precision "
            f"{number(one['average_precision'])}. The square is where the model's labels are",
            f": {test['rule']}." if test.get("rule") else ".",
        ]
    else:
        said = [
            f"Each class against the rest, rows ranked by {ranking['ranked_by']}; mean area under the ROC curve "
            f"{number(ranking['mean_auc'])}. In color the classes with the smallest areas: ",
            _legend(classes[:3]),
            ". ",
        ]
    without = ranking["without"]
    left = (
        h(
            "p",
            f"{many(len(without), 'class', 'classes')} without test rows {'has' if len(without) == 1 else 'have'} no curve.",
        )
        if without
        else None
    )
    figures = [
        h("figure", h("figcaption", h("b", name)), ranking_chart(classes, kind, two=two))
        for name, kind in (("ROC", "roc"), ("Precision and recall", "precision_recall"))
    ]
    return h("div", title, h("p", said), left, h("div", figures, class_="panels"))


def _legend(classes: list[dict[str, Any]]) -> list[Any]:
    items: list[Any] = []
    for i, one in enumerate(classes):
        items += [
            ", " if i else "",
            h("i", class_=f"swatch s{i}"),
            name_of(one["class"], 40),
            f" ({number(one['auc'], 3)})",
        ]
    return items


def _reliability(test: dict[str, Any]) -> Html:
    curve, title = test["reliability"], h("h3", "Reliability of the probabilities")
    if "said" in curve:
        return h("div", title, h("p", curve["said"]))
    bars = (
        "" if test["weighted"] else "Bars up and down: 95% intervals (Wilson t), rows taken for independent. "
    )
    said = (
        f"Where the model claims a probability, how often is it right? On the dashed line claims are kept. Expected "
        f"calibration error {number(curve['expected_calibration_error'], 3)}, Brier score {number(curve['brier'], 3)}. "
        f"{bars}Boxes below: how many rows have such a claim."
    )
    return h(
        "div", title, h("div", h("figure", reliability_chart(curve)), h("p", said), class_="panels beside")
    )
