"""Draw every fact, and write the page that shows them with their numbers: python tools/make_facts.py"""

import inspect
import io
import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
from PIL import Image

from nearline.facts import FACTS, STEP_RULES
from nearline.plots.style import pyplot

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE, IMAGES = DOCS / "facts.md", DOCS / "img" / "facts"
DPI, SHADES = 72, 128  # small files

HEAD = """# Facts

What lectures say about classification, each as one call of `nearline.facts` and one command, `nearline fact NAME`, which
prints the numbers and draws the picture (`nearline fact` lists them, `--out` names the file, `--json` is for programs). Where
risks are compared the distribution is known, so that the best possible one is a number. Sizes, rows and `random_state` are
parameters; the examples of this page are executed.

```python
>>> from nearline import facts
>>> fact = facts.perceptron_steps()
>>> fact.says
'Perceptron, w += y x where z <= 0: 4 rows visited, 2 move w; the last cycle changes nothing.'
>>> [str(step.after.W[0]) for step in fact.steps]  # numbers are attributes
['[2. 2.]', '[0. 3.]', '[0. 3.]', '[0. 3.]']
>>> axes = fact.plot()  # matplotlib's

```

This page is made by `python tools/make_facts.py`.
"""
# Times differ from run to run, and the numbers of the others do not.
TIMED = """```python
>>> facts.search_cost((100, 1000), n_queries=20, repeat=1).table().columns
('n', 'method', 'training, ms', 'one query, µs')

```

The picture is one run on a busy machine, where times scatter by a factor of several; [benchmarks](benchmarks.md) are the
place for comparisons."""
OTHERS = {
    "sgd-steps": (
        "Every rule of the table is one call, `facts.sgd_steps(loss)`:\n\n| loss | step for a row (x, y) |\n|---|---|\n"
        + "\n".join(f"| `{name}` | {rule} |" for name, rule in STEP_RULES.items())
    ),
    "svm-or-softmax": "`facts.loss_table(scores, y)` makes the same table of any scores.",
}


def section(name: str) -> str:
    """Title, words, executed line, picture."""
    function = FACTS[name]
    words = inspect.getdoc(function).partition("\nExamples\n")[0].strip()
    words = re.sub(r":(?:func|class):`([^`]+)`", r"`\1`", words).replace("``", "`").replace("*", r"\*")
    shown = TIMED if name == "search-cost" else executed(name)
    parts = [f"## {name}", words, shown, OTHERS.get(name, ""), f"![{name}](img/facts/{name}.png)"]
    return "\n\n".join(filter(None, parts)) + "\n"


def executed(name: str) -> str:
    call = f"facts.{FACTS[name].__name__}()"
    return f"```python\n>>> print({call}.table())\n{draw(name).table()}\n\n```"


def draw(name: str):
    """The fact, whose picture goes to its file."""
    fact = FACTS[name]()
    figure = np.ravel(np.asarray(fact.plot(), dtype=object))[0].figure
    with io.BytesIO() as file:
        figure.savefig(file, dpi=DPI, format="png")
        image = Image.open(file).convert("RGB").quantize(SHADES, dither=Image.Dither.NONE)
    image.save(IMAGES / f"{name}.png", optimize=True)
    pyplot().close(figure)
    return fact


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    draw("search-cost")
    PAGE.write_text("\n".join([HEAD, *map(section, FACTS)]))


if __name__ == "__main__":
    main()
