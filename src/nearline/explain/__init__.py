"""Explanations in the words of the person who made the data: columns, words, pixels and training rows by name.

Estimators explain themselves (``explain(X)`` gives an ``Explanation``); here features get the names of columns back, and
explanations become reasons, sentences and JSON. Command line and report only print them.
"""

from nearline.explain.reasons import Reason, Share, reasons
from nearline.explain.words import facts, lines, sentence

__all__ = ["Reason", "Share", "facts", "lines", "reasons", "sentence"]
