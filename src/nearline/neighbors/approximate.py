"""Approximate: search that may miss neighbors, with a target for how many it finds."""

from dataclasses import dataclass

from nearline._records.kept import Real, kept
from nearline._records.refused import ParameterError


@kept(recall=Real(0.0, 1.0))
@dataclass(frozen=True)
class Approximate:
    """Approximate search with a target for its recall: the mean share of the true k nearest rows that are found.

    The effort of the search is the smallest that reaches the target on a sample of rows, which are held out of the graph
    for that time and searched exactly too; the recall measured there is ``index.recall_of_own_rows_``. It holds for
    queries that come from where the rows came from. Others are harder to find neighbors for, and may be served far
    worse: ``index.measure_recall(queries)`` says how well. Where the target needs too much effort, a warning says so.

    Exact search is faster unless very many queries meet the same rows: for 10,000 queries to 60,000 images it takes 1.5
    seconds with its build, FAISS's graph 10.6 before any effort is chosen ([benchmarks](docs/benchmarks.md)).

    Distances are measured exactly and lists are ordered by (distance, index) as always; ``boundary`` has the ties among
    the rows that were looked at. It needs ``nearline[approximate]``.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.neighbors.approximate import Approximate
    >>> from nearline.neighbors.index import Index
    >>> X = np.random.default_rng(0).normal(size=(2000, 32))
    >>> index = Index(X, algorithm=Approximate(recall=0.9))  # doctest: +SKIP
    >>> index.recall_of_own_rows_ >= 0.9  # doctest: +SKIP
    True
    >>> index.measure_recall(5.0 + X[:200]) >= 0.9  # doctest: +SKIP
    False
    """

    recall: float = 0.95

    def __post_init__(self) -> None:
        if not (isinstance(self.recall, (int, float)) and 0.0 < self.recall < 1.0):
            raise ParameterError(
                "recall", self.recall, "above 0 and below 1", "for recall 1 take algorithm='exact'"
            )
