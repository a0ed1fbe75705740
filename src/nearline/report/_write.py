"""facts_of and write_report."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from nearline._atomic.whole import written_whole
from nearline._parallel.tiles import steps
from nearline.report import _contest as contests
from nearline.report._mistakes import mistake_facts
from nearline.report._model import look_facts
from nearline.report._page import page
from nearline.report._plain import plain
from nearline.report._regions import region_facts
from nearline.report._rows import Sight
from nearline.report._tested import opened_facts
from nearline.selection.test_result import TestResult
from nearline.selection.try_all import TryThemAll


def facts_of(
    contest: TryThemAll, opened: TestResult | None = None, *, source: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Everything that a report says, as values that JSON can hold; what is undefined is None.

    Parameters
    ----------
    contest : a fitted :class:`nearline.TryThemAll`.
    opened : what ``contest.open_test()`` gave; without it nothing is said about the test rows but their number.
    source : what is known of the data beyond its rows, all optional: "data" (a file's name), "rows", "fingerprint",
        "target", "columns" {name: type}, "command", "description" (text), "kind", "shape" (of an image), "seconds",
        "row_place" (a function of a row's number in the contest and of "rows" or "test rows": its number in the file,
        counted from 1, and its line or None).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import TryThemAll
    >>> from nearline.report import facts_of
    >>> contest = TryThemAll("quick", progress="silent").fit(*load_iris(return_X_y=True))
    >>> facts = facts_of(contest, contest.open_test(), source={"data": "iris.csv"})
    >>> facts["title"], facts["data"]["training_rows"], facts["test"]["rows"]
    ('iris.csv', 120, 30)
    >>> facts["leaderboard"]["candidates"][0]["family"] == contest.best_.family
    True
    """
    check_is_fitted(contest, "model_")
    source = {} if source is None else source
    sight = Sight(contest, opened, source)
    parts: dict[str, Callable[[], Any]] = {
        "title": lambda: contests.title_of(source),
        "model": lambda: contests.model_facts(contest),
        "data": lambda: contests.data_facts(contest, opened, source),
        "split": lambda: contests.split_facts(contest),
        "findings": lambda: [finding.facts() for finding in contest.findings_],
        "leaderboard": lambda: contests.leaderboard_facts(contest),
        "curves": lambda: contests.curve_facts(contest),
        "test": lambda: None if opened is None else opened_facts(opened),
        "looks_at": lambda: look_facts(sight),
        "mistakes": lambda: mistake_facts(sight),
        "regions": lambda: region_facts(sight),
        "timing": lambda: contests.timing_facts(contest, source),
        "reproduce": lambda: contests.reproduce_facts(contest, source),
    }
    return plain({name: part() for name, part in steps(parts.items())})


def write_report(
    path: Any,
    contest: TryThemAll,
    opened: TestResult | None = None,
    *,
    title: str | None = None,
    source: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Write a contest's report as one HTML file that needs nothing else; its facts come back.

    The file is written whole or not at all. It holds its facts as JSON too, in the element ``#facts``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from nearline import TryThemAll
    >>> from nearline.report import write_report
    >>> contest = TryThemAll("quick", progress="silent").fit(*load_iris(return_X_y=True))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "report.html"
    ...     facts = write_report(file, contest, contest.open_test(), title="Three irises")
    ...     "<h1>Three irises</h1>" in file.read_text(encoding="utf-8")
    True
    """
    facts = facts_of(contest, opened, source=source)
    if title is not None:
        facts["title"] = str(title)
    text = page(facts, json.dumps(facts, separators=(",", ":")))
    with written_whole(Path(path), "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
    return facts
