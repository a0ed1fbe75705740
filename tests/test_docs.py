"""What is listed is documented (law 8): the API page is up to date, every public class has an example or a formula."""

import importlib.util
import re
from pathlib import Path

import pytest

import nearline
from nearline.estimators import ESTIMATORS
from nearline.solvers import RULES

ROOT = Path(__file__).resolve().parents[1]


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_api_page_is_up_to_date():
    make_api = load(ROOT / "tools" / "make_api.py")
    assert make_api.PAGE.read_text() == make_api.page(), "run: python tools/make_api.py"


@pytest.mark.parametrize("name", list(ESTIMATORS))
def test_every_estimator_has_an_executed_example(name):
    assert ">>>" in (ESTIMATORS[name].__doc__ or "")


@pytest.mark.parametrize("name", list(ESTIMATORS))
def test_estimators_are_public_and_in_the_readme(name):
    assert getattr(nearline, name) is ESTIMATORS[name]
    assert f"`{name}`" in (ROOT / "README.md").read_text()


def test_every_public_name_can_be_imported():
    for name in nearline.__all__:
        assert getattr(nearline, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = nearline.nothing


def pages():
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def anchors(page):
    """What links may point to: headings as GitHub spells them, and anchors written out."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", text, flags=re.M)
    spelled = [re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings]
    return {*spelled, *re.findall(r'<a id="([^"]+)"', text)}


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if "://" in target:
            continue
        place, _, anchor = target.partition("#")
        linked = (page.parent / place).resolve() if place else page
        assert linked.exists(), target
        assert not anchor or anchor in anchors(linked), target


LISTS = {
    "loss": nearline.LOSSES,
    "penalty": nearline.REGULARIZERS,
    "solver": {**nearline.SOLVERS, **RULES},
    "kernel": nearline.KERNELS,
}


@pytest.mark.parametrize("kind", LISTS)
def test_what_is_listed_has_a_row(kind):
    rows = anchors(ROOT / "docs" / "what-it-does.md")
    without = [name for name in LISTS[kind] if f"{kind}-{name}" not in rows]
    assert not without, f"give each a row of docs/what-it-does.md with the anchor {kind}-NAME"


@pytest.mark.parametrize("page", ["loss", "penalty", "solver"])
def test_pages_on_extending_count_the_lines_of_their_example(page):
    """What a piece of one's own takes, as the page says: lines of the first example up to the end of its class."""
    text = (ROOT / "docs" / "extending" / f"{page}.md").read_text()
    said = re.search(r"1 file, (\d+)\s+lines", text)
    first = text.split("```python\n")[1].split("```")[0]
    example = first[: first.index("\n\n", first.index("@dataclass"))]
    code = [line for line in example.splitlines() if line.startswith((">>> ", "... ")) and line[4:].strip()]
    assert int(said.group(1)) == len(code)
