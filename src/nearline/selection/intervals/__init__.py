"""Intervals for scores on test rows, one file a kind of score; what they cover: python -m benchmarks.studies.intervals."""

from nearline.selection.intervals._interval import Interval
from nearline.selection.intervals.accuracy import Block, accuracy_interval
from nearline.selection.intervals.shares import share_interval, wilson

__all__ = ["Block", "Interval", "accuracy_interval", "share_interval", "wilson"]
