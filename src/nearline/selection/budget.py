"""Budget: what a time limit leaves to each part of a contest, from the first look at the data to the last fit."""

from nearline._parallel.stopping import Deadline

PATIENCE = 3.0  # seconds beyond the limit in which the last fit may end; a first result in half of them
CHECKING = 0.25  # share of the limit that checks may take
LOOKING = 0.5  # share of it when representations after the first must have been begun
GRACE = 0.7  # seconds that the last fit has after Ctrl-C


class Budget:
    """Seconds for a whole fit; None: as many as it takes."""

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.checking = Deadline(None if limit is None else CHECKING * limit)
        self.looking = Deadline(None if limit is None else LOOKING * limit)
        self.candidates = Deadline(limit)
        self.first = Deadline(None if limit is None else limit + PATIENCE / 2)
        self.result = Deadline(None if limit is None else limit + PATIENCE)

    @property
    def left(self) -> float:
        """Seconds that candidates still have."""
        limit = self.candidates.seconds
        return float("inf") if limit is None else limit - self.candidates.spent

    @property
    def late_left(self) -> float:
        """Seconds that a result still has."""
        limit = self.result.seconds
        return float("inf") if limit is None else limit - self.result.spent

    def reserve(self, seconds: float) -> None:
        """Keep time for the last fit: candidates end earlier."""
        if self.limit is not None:
            self.candidates.seconds = self.limit - seconds
