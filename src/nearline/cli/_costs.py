"""``--costs``: what mistakes cost, as it is written on the command line."""

from typing import Any

import numpy as np

from nearline.cli._errors import UsageError

FORM = "--costs is true:answered=cost, several with commas, such as sick:well=10,well:sick=1"


def costs_of(text: str | None, y: Any) -> dict[tuple[Any, Any], float] | None:
    """{(true, answered): cost} with the labels that are written so; None where nothing was said.

    >>> costs_of("1:0=5", [0, 1, 1])
    {(1, 0): 5.0}
    """
    if text is None:
        return None
    labels = {str(label): label for label in np.unique(np.asarray(y)).tolist()}
    found = dict[tuple[Any, Any], float]()
    for one in text.split(","):
        pair, cost = _pair(one, labels)
        if pair in found:
            raise UsageError(f"--costs names {pair[0]}:{pair[1]} more than once: give one cost.")
        found[pair] = cost
    return found


def _pair(text: str, labels: dict[str, Any]) -> tuple[tuple[Any, Any], float]:
    names, equals, cost = text.rpartition("=")
    found = [
        (labels[true], labels[answered])
        for true in labels
        for answered in labels
        if names.strip() == f"{true}:{answered}"
    ]
    try:
        value = float(cost)
    except ValueError:
        value = float("nan")
    if not equals or value != value:
        raise UsageError(f"{FORM}, got {text!r}.")
    if len(found) != 1:
        shown = ", ".join(list(labels)[:10]) + (", ..." if len(labels) > 10 else "")
        raise UsageError(f"{FORM}, got {text!r}; the classes are {shown}.")
    return found[0], value
