"""Scored: what one candidate did on the rows that one fold leaves out."""

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline.selection.families import Shared


@dataclass(frozen=True)
class Scored:
    """Scores, which rows were right, and what it took. As plain data it can be kept and read again, to the same bits."""

    scores: tuple[float, ...]  # by scorer
    right: Array  # bits: which rows
    fit_seconds: float
    predict_seconds: float
    size: int | None
    note: str = ""
    added: Array | None = None  # what rows add to the score that decides
    shared: tuple[Shared, ...] = ()  # work that other candidates need too
    ranking: Array | None = None  # of the rows, where a threshold is tuned
    ranked_by: str | None = None

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "scores": list(map(float, self.scores)),
            "right": _text(self.right),
            "seconds": [self.fit_seconds, self.predict_seconds],
            "size": self.size,
            "note": self.note,
            "added": None if self.added is None else _text(self.added),
            "shared": [[one.name, one.seconds, one.fitting] for one in self.shared],
            "ranking": None if self.ranking is None else _text(self.ranking),
            "ranked_by": self.ranked_by,
        }

    @classmethod
    def of(cls, plain: dict[str, Any]) -> "Scored":
        """What :meth:`plain` made; ValueError, TypeError or KeyError for anything else."""
        added, ranking = plain["added"], plain.get("ranking")
        _check(plain)
        return cls(
            tuple(plain["scores"]),
            _numbers(plain["right"], np.uint8),
            float(plain["seconds"][0]),
            float(plain["seconds"][1]),
            plain["size"],
            plain["note"],
            None if added is None else _numbers(added, np.float32),
            tuple(Shared(str(name), float(spent), bool(fitting)) for name, spent, fitting in plain["shared"]),
            None if ranking is None else _numbers(ranking, np.float64),
            plain.get("ranked_by"),
        )


def _check(plain: dict[str, Any]) -> None:
    """Refuse what JSON can hold and :meth:`Scored.plain` never writes."""
    numbers = [*plain["scores"], *plain["seconds"]]
    size = plain["size"]
    if not all(type(one) in (int, float) for one in numbers) or len(plain["seconds"]) != 2:
        raise ValueError("scores and seconds are numbers")
    if not (size is None or (type(size) is int and size >= 0)) or type(plain["note"]) is not str:
        raise ValueError("a size is a whole number, a note is a text")


def _text(values: Array) -> str:
    return base64.b64encode(values.tobytes()).decode()


def _numbers(text: str, kind: Any) -> Array:
    return np.frombuffer(base64.b64decode(text), kind)
