"""The interval of the accuracy: of independent rows, by groups, in time, with weights."""

from typing import Any, Literal

import numpy as np

from nearline._arrays.design import Array
from nearline.selection.intervals._interval import Interval, tail
from nearline.selection.intervals.dependent import (
    block_length,
    bounded_interval,
    group_numbers,
    grouped_spread,
    time_spread,
    too_few_blocks,
    too_few_groups,
)
from nearline.selection.intervals.shares import share_interval

Block = int | Literal["auto"] | None


def accuracy_interval(
    correct: Any, *, groups: Any = None, block: Block = None, confidence: float = 0.95
) -> Interval:
    """Interval for the accuracy p: that of a share for independent rows, else logit(p) -+ t sqrt(v) / (p (1 - p)).

    v is the variance of the mean by groups or in time, see :func:`grouped_spread` and :func:`time_spread`.

    Parameters
    ----------
    correct : (n,) of bool or 0 and 1.
    groups : (n,) of any labels; rows of a group may be alike, groups are independent. Fewer than 10 have no interval.
    block : rows in order of time: the number of consecutive rows that may be alike, or "auto" for 6 n^(1/3), which covers
        93% to 96% for 95% where 200 rows have a correlation of 0.9 from row to row.

    Examples
    --------
    >>> import numpy as np
    >>> correct = np.repeat([1, 1, 1, 0, 1], 20)
    >>> print(accuracy_interval(correct), accuracy_interval(correct, groups=np.arange(100) // 10))
    [0.710, 0.867] [0.308, 0.973]
    """
    correct = _checked_correct(correct)
    check_dependence(groups, block)
    tail(confidence)
    if groups is not None:
        numbers = group_numbers(groups, len(correct))
        if len(correct) and numbers.max() + 1 < len(correct):
            few = too_few_groups(numbers, confidence)
            return few or bounded_interval(
                float(correct.mean()), grouped_spread(correct - correct.mean(), numbers), confidence
            )
    if block is not None:
        length = block_length(block, len(correct))
        few = too_few_blocks(len(correct), length, confidence)
        spread = time_spread(correct - correct.mean(), max(1, len(correct) // length))
        return few or bounded_interval(float(correct.mean()), spread, confidence)
    return share_interval(correct.sum(), len(correct), confidence)


def _checked_correct(correct: Any) -> Array:
    correct = np.asarray(correct)
    if correct.ndim != 1 or not ((correct == 0) | (correct == 1)).all():
        raise ValueError(
            f"correct must be one-dimensional with True and False (or 1 and 0), got shape {correct.shape} and type "
            f"{correct.dtype}: give predicted == y."
        )
    return correct.astype(np.float64)


def check_dependence(groups: Any, block: Block) -> None:
    """Groups, or blocks in time, not both."""
    if groups is not None and block is not None:
        raise ValueError(
            "groups and block were both given: choose one, groups for alike rows, block for rows in time."
        )
