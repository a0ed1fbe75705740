"""``nearline fact``: the numbers of a fact, and its picture."""

import re
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from nearline._records.visible import visible
from nearline.cli._errors import UsageError
from nearline.cli._output import check_file, clean
from nearline.cli._plot import check_ending, saved
from nearline.cli._shown import print_json
from nearline.facts import FACTS, Fact


def run_fact(name: str | None, out: Path | None, force: bool, as_json: bool) -> None:
    """Print a fact and draw it into a file, or list them all."""
    if name is None:
        _list(as_json)
        return
    known = name.replace("_", "-")
    if known not in FACTS:
        near = get_close_matches(known, FACTS, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise UsageError(f"There is no fact {name!r}.{hint} 'nearline fact' lists all.")
    place = out or Path(f"{known}.png")
    check_ending(place)
    check_file(place, named=out is not None, force=force)
    fact = FACTS[known]()
    saved(fact.plot(), place)
    if as_json:
        print_json(clean(_facts(known, fact) | {"picture": str(place)}))
        return
    print(fact)
    print(f"\npicture: {visible(place)}")


def _facts(name: str, fact: Fact) -> dict[str, Any]:
    table = fact.table()
    return {"fact": name, "says": fact.says, "columns": table.columns, "rows": table.rows}


def _list(as_json: bool) -> None:
    about = {name: _about(function) for name, function in FACTS.items()}
    if as_json:
        print_json(about)
        return
    width = max(map(len, about))
    print("\n".join(f"{name:<{width}}  {sentence}" for name, sentence in about.items()))


def _about(function: Callable[..., Fact]) -> str:
    """The first paragraph of what it says about itself, in one line."""
    first = (function.__doc__ or "").strip().partition("\n\n")[0]
    return re.sub(r":\w+:|`", "", " ".join(first.split()))
