"""``--positive``: the label that a word on the command line means."""

from typing import Any

import numpy as np

from nearline.cli._errors import UsageError


def label_of(word: str | None, y: Any) -> Any:
    """The label that is written so: 1 of the labels 0 and 1, true of booleans; None where nothing was said."""
    if word is None:
        return None
    labels = np.unique(np.asarray(y)).tolist()
    found = [label for label in labels if str(label) == word]
    found = found or [label for label in labels if str(label).lower() == word.lower()]
    if len(found) != 1 or len(labels) != 2:
        shown = ", ".join(map(str, labels[:10])) + (", ..." if len(labels) > 10 else "")
        raise UsageError(f"--positive names one of two classes, got {word!r}; the classes are {shown}.")
    return found[0]
