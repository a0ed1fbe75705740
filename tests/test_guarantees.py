"""The page of promises names tests and pages that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "guarantees.md").read_text()


def test_promises_are_held_by_tests_that_exist():
    named = set(re.findall(r"`(test_\w+\.py)`", PAGE))
    assert len(named) > 15
    assert [name for name in sorted(named) if not (ROOT / "tests" / name).is_file()] == []


def test_every_row_says_what_holds_it():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| promise ")]
    assert rows
    assert [row for row in rows if "`test_" not in row.split("|")[-2]] == []


def test_pages_and_studies_exist():
    pages = re.findall(r"\]\(([\w-]+\.md)\)", PAGE)
    assert [page for page in pages if not (ROOT / "docs" / page).is_file()] == []
    studies = set(re.findall(r"python -m (benchmarks\.studies\.\w+)", PAGE))
    assert studies
    for study in studies:
        place = ROOT / study.replace(".", "/")
        assert place.with_suffix(".py").is_file() or (place / "__main__.py").is_file(), study
