"""Part: one kind of probe in a protocol, and what it answers."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from math import inf
from typing import Any, ClassVar

from nearline._arrays.design import Array
from nearline.probes._case import Case

DECLARED = "declared"  # the protocol fixes it, or every value is shown
TRAINING = "training rows"  # chosen on rows that were trained on, or held out of them


@dataclass(frozen=True)
class Answer:
    """What a probe says of the test rows at one setting."""

    probe: str
    setting: dict[str, Any]
    labels: Array  # (m,) class numbers
    chosen_on: str = DECLARED
    headline: bool = True  # whether tables show it; the others are in the records
    inside: float | None = (
        None  # accuracy on the training rows, or those held out of them, that it was chosen by
    )


@dataclass(frozen=True)
class Part(ABC):
    """A kind of probe. Its fields are all that its answers depend on beside the rows and the random state."""

    probe: ClassVar[str]
    by_direction: ClassVar[bool] = False  # whether rows of zeros cannot be probed

    @abstractmethod
    def answers(self, case: Case) -> Iterator[Answer]:
        """The test rows' labels at every setting that is shown."""

    def notes(self, case: Case) -> list[str]:
        """What is to be said about the case, beside the answers."""
        return []

    def record(self) -> dict[str, Any]:
        """Name and fields, for the hash and for JSON."""
        return {"probe": self.probe} | {
            field.name: plain(getattr(self, field.name)) for field in fields(self)
        }


def plain(value: Any) -> Any:
    """A value as JSON has it, which knows no infinite numbers."""
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    return "inf" if value == inf else value
