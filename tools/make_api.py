"""Write docs/api.md from the package's own lists and docstrings: `python tools/make_api.py` (checked by the tests)."""

from pathlib import Path

import nearline

PAGE = Path(__file__).resolve().parents[1] / "docs" / "api.md"


def first_line(thing: object) -> str:
    return (thing.__doc__ or "").strip().splitlines()[0]


def table(title: str, things: dict[str, object]) -> str:
    rows = [
        f"| `{name}` | {first_line(thing).replace('|', chr(92) + '|')} |" for name, thing in things.items()
    ]
    return "\n".join([f"## {title}", "", "| name | what it is |", "|---|---|", *rows, ""])


def page() -> str:
    lists = ("ESTIMATORS", "LOSSES", "EMBEDDING_LOSSES", "REGULARIZERS", "SOLVERS", "METRICS")
    others = {
        name: getattr(nearline, name)
        for name in sorted(dir(nearline))
        if name not in nearline.ESTIMATORS and name not in lists and callable(getattr(nearline, name))
    }
    parts = [
        "# Public names",
        "",
        "Made by `tools/make_api.py` from the docstrings; `help(nearline.X)` has formulas, shapes and an example.",
        "",
        table("Estimators (`nearline.ESTIMATORS`)", nearline.ESTIMATORS),
        table("Losses (`nearline.LOSSES`)", nearline.LOSSES),
        table("Embedding losses (`nearline.EMBEDDING_LOSSES`)", nearline.EMBEDDING_LOSSES),
        table("Regularizers (`nearline.REGULARIZERS`)", nearline.REGULARIZERS),
        table("Solvers (`nearline.SOLVERS`)", nearline.SOLVERS),
        table("Metrics (`nearline.METRICS`)", nearline.METRICS),
        table("Functions and objects", others),
    ]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page())
