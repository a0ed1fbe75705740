"""The positive class: the one of two that precision, recall, F1 and average precision are about."""

from typing import Any

import numpy as np

from nearline._arrays.design import Array


def positive_class(classes: Array, codes: Array, pos_label: Any = None) -> Any:
    """The label asked for; else 1 or True among {0, 1}, {-1, 1} and booleans; else the rarer class, in a tie the second.

    ``codes`` are the class numbers of the rows that are counted. None where there are more than two classes.

    Examples
    --------
    >>> positive_class(np.array(["ham", "spam"]), np.array([0, 0, 1]))
    'spam'
    >>> positive_class(np.array([-1, 1]), np.array([0, 1, 1]))
    1
    """
    labels = classes.tolist()
    if len(labels) != 2:
        if pos_label is not None:
            raise ValueError(
                f"pos_label={pos_label!r} names the positive one of two classes, and there are {len(labels)}: leave it out; "
                "scores of several classes are means over the classes."
            )
        return None
    if pos_label is not None:
        if pos_label not in labels:
            raise ValueError(f"pos_label={pos_label!r} is not among the classes {labels}: name one of them.")
        return labels[labels.index(pos_label)]
    if conventional(classes):
        return labels[1]
    return labels[0] if np.count_nonzero(codes == 0) < np.count_nonzero(codes == 1) else labels[1]


def conventional(classes: Array) -> bool:
    """Whether the classes are {0, 1}, {-1, 1} or booleans, of which the second is the positive one."""
    return classes.dtype.kind in "biuf" and classes.tolist() in ([0, 1], [-1, 1])
