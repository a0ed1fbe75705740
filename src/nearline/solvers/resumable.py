"""Long fits that go on where they ended: parameters are kept after each iteration, and taken up by the same call."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from hashlib import sha256
from pathlib import Path
from typing import Any, final

import numpy as np

from nearline._atomic.whole import written_whole
from nearline.risk import Risk
from nearline.risk.params import Params

FOLDER: ContextVar[Path | None] = ContextVar("folder of unfinished fits", default=None)


@contextmanager
def resumable(folder: Any) -> Iterator[None]:
    """Fits within a ``with`` block keep their parameters in a folder after each iteration; the same call goes on from there.

    A fit is known by its rows (their number, weight and moments), loss, penalty and alpha. What it kept goes away when it
    ends. A fit that goes on reaches the same certified gap; its last digits may be others, as solvers forget what they
    learned on the way.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from nearline import LogisticRegression, resumable
    >>> X, y = load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder, resumable(folder):
    ...     model = LogisticRegression().fit(X, y)
    """
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    token = FOLDER.set(place)
    try:
        yield
    finally:
        FOLDER.reset(token)


@final
class Unfinished:
    """The parameters that a fit has come to, in a file of its own."""

    def __init__(self, risk: Risk, folder: Path) -> None:
        self._like = risk.zeros()
        self.path = folder / f"fit-{_fingerprint(risk)}.npy"

    def params(self) -> Params | None:
        """What was kept; None if there is nothing, or nothing that fits."""
        try:
            flat = np.load(self.path, allow_pickle=False)
        except (OSError, ValueError, EOFError):
            return None
        fits = flat.shape == self._like.flat.shape and flat.dtype == np.float64 and np.isfinite(flat).all()
        return self._like.like(flat) if fits else None

    def keep(self, params: Params) -> None:
        """Write the parameters, whole or not at all."""
        with written_whole(self.path) as file:
            np.save(file, params.flat, allow_pickle=False)

    def watching(self, callback: Any) -> Any:
        """A callback that keeps the parameters of each iteration, then calls another."""

        def keep(n_iter: int, state: Any) -> None:
            self.keep(state.point.params)
            if callback is not None:
                callback(n_iter, state)

        return keep

    def done(self) -> None:
        """The fit has ended."""
        self.path.unlink(missing_ok=True)


def _fingerprint(risk: Risk) -> str:
    mean, deviation = risk.passes.column_moments
    said = (
        f"{risk.loss!r} {risk.regularizer!r} {risk.alpha!r} {risk.bias} {risk.n_rows} {risk.total_weight!r}"
    )
    return sha256(f"{said} {risk.null_value!r}".encode() + mean.tobytes() + deviation.tobytes()).hexdigest()[
        :24
    ]
