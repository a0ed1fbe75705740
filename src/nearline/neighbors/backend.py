"""Backend: something that finds neighbors among rows of one kind."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from nearline.neighbors.lists import Found
from nearline.neighbors.wanted import Wanted


class Backend(ABC):
    """What an index asks of what it searches with."""

    algorithm: ClassVar[str]
    takes_sparse: ClassVar[bool] = False  # whether queries may be sparse
    approximate: ClassVar[bool] = False  # whether it may miss neighbors

    @property
    def recall(self) -> float:
        """Share of the true neighbors that it finds, as measured on its own rows."""
        return 1.0

    @property
    def rebuilds(self) -> bool:
        """Whether each search makes again what does not fit into memory."""
        return False

    def expect(self, n_queries: int) -> None:  # noqa: B027 - most make all at once
        """So many queries are about to be asked for: what pays for them, and for those before, may be made now."""

    @abstractmethod
    def find(self, Q: Any, wanted: Wanted) -> Found:
        """The neighbors of queries."""
