"""Transfer of anything that neighbors carry: captions, masks, records."""

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from nearline._arrays.design import Array, admitted, is_sparse
from nearline._arrays.validation import validate_data
from nearline._records.kept import Anything, Instance, OrNone, kept, require
from nearline._records.refused import ParameterError
from nearline.estimators.neighbors_base import ROWS, NeighborsModel
from nearline.neighbors.caption_pools import CaptionPool
from nearline.neighbors.captions import CaptionSimilarity
from nearline.neighbors.consensus import Consensus
from nearline.neighbors.explanation import Votes
from nearline.neighbors.lists import Ragged


def _of_its_payload(model: "NeighborsTransfer") -> None:
    payload = model.payload_
    indexed = isinstance(payload, (list, tuple)) or is_sparse(payload) or np.ndim(payload) > 0
    require(indexed and not isinstance(payload, (str, dict)), "The payload of neighbors is no sequence")
    require(_num_samples(payload) == model.n_samples_fit_, "There is not one payload for each row")
    if model.consensus is not None:
        parts = [list(one) if isinstance(one, (list, tuple, np.ndarray)) else [one] for one in payload]
        texts = all(isinstance(text, str) for part in parts for text in part)
        require(texts, "A consensus is of captions, but the payload has other things than strings")


@kept(consensus=OrNone(Instance(Consensus)), payload_=Anything(), links=_of_its_payload)
class NeighborsTransfer(NeighborsModel):
    """Gives back what the nearest training rows carry, of any kind: captions, masks, records, vectors.

    ``transfer`` gives the payloads of all k neighbors, in the order of (distance, index); ``predict`` one for each query:
    that of the nearest row, or with ``consensus`` the one on which neighbors agree best (see :class:`Consensus`).

    Exactly k rows are neighbors: where several are at the k-th distance, those that come first in X. Payloads cannot be
    shared as votes are, so that here the order of the rows matters where rows tie.

    Parameters
    ----------
    n_neighbors : k.
    metric, algorithm : as for :class:`KNeighborsClassifier`.
    consensus : None, or a :class:`Consensus`. The payload of a row is then a caption (or whatever its similarity takes),
        or a list of several; all those of the k neighbors are candidates.

    Attributes
    ----------
    index_ : the :class:`nearline.Index` that is searched.
    payload_ : what the rows carry, as it was given.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import Consensus, NeighborsTransfer
    >>> X = np.array([[0.0], [1.0], [1.1], [1.2]])
    >>> captions = ["a red car", "a dog on grass", "the dog on grass", "a dog on green grass"]
    >>> NeighborsTransfer(2).fit(X, captions).transfer([[0.2]])
    [['a red car', 'a dog on grass']]
    >>> NeighborsTransfer(4, consensus=Consensus()).fit(X, captions).predict([[0.2]])
    ['a dog on grass']
    """

    def __init__(
        self, n_neighbors: int = 1, *, metric: Any = "l2", algorithm: Any = "auto", consensus: Any = None
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.algorithm = algorithm
        self.consensus = consensus

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def fit(self, X: Any, y: Any) -> "NeighborsTransfer":
        """Keep the rows X (n, D) and what they carry: a sequence, array, sparse matrix or table of n things."""
        if y is None:
            raise ValueError(
                "NeighborsTransfer requires y to be passed, but the target y is None: give one payload for each row."
            )
        if self.consensus is not None and not isinstance(self.consensus, Consensus):
            raise ParameterError(
                "consensus", self.consensus, "None or a Consensus", "give Consensus() for captions"
            )
        rows = validate_data(self, X, **ROWS)
        admitted(y, "y")  # refused if damaged, else kept as it is
        if _num_samples(y) != rows.shape[0]:
            raise ValueError(
                f"X has {rows.shape[0]} rows, but there are payloads for {_num_samples(y)}: give one for each row."
            )
        self._fit_index(self._own(rows, X), None)
        self.payload_ = y.copy() if hasattr(y, "copy") else y  # what happens to y later changes no answers
        return self

    def transfer(self, X: Any) -> list[Any]:
        """For each query the payloads of its k nearest rows, nearest first (tables and arrays: their rows)."""
        indices = self.kneighbors(self._seen(X), return_distance=False)
        return [self._payloads(row) for row in indices]

    def predict(self, X: Any) -> Any:
        """One payload for each query: a list, or rows of an array or table where payloads were given as such."""
        indices = self.kneighbors(self._seen(X), return_distance=False)
        if self.consensus is None:
            return self._payloads(indices[:, 0])
        if isinstance(self.consensus.similarity, CaptionSimilarity):
            return self._agreed_together(indices, self.consensus.similarity)
        return [self._agreed(row) for row in indices]

    def explain(self, X: Any) -> Votes:
        """The k nearest rows behind each payload, with their payloads; each has one vote."""
        distances, indices = self.kneighbors(self._seen(X))
        m, k = indices.shape
        starts, predictions, labels = (
            np.arange(0, (m + 1) * k, k),
            np.empty(m, object),
            np.empty(m * k, object),
        )
        for i, payload in enumerate(self.predict(X)):
            predictions[i] = payload
        for i, payload in enumerate(self._payloads(indices.ravel())):
            labels[i] = payload
        near, far, votes, agreed = (
            Ragged(starts, values) for values in (indices.ravel(), distances.ravel(), np.ones(m * k), labels)
        )
        return Votes(predictions, near, far, votes, agreed, np.zeros(m, bool), np.zeros(m, bool))

    def _seen(self, X: Any) -> Any:
        if X is None:
            raise ValueError("X is None: give the rows to predict.")
        return X

    def _payloads(self, indices: Array) -> Any:
        if isinstance(self.payload_, (list, tuple)):
            return [self.payload_[i] for i in indices]
        return _safe_indexing(self.payload_, indices)

    def _agreed_together(self, indices: Array, similarity: CaptionSimilarity) -> list[str]:
        """The captions that neighbors agree on, of all queries in one pass."""
        pool = CaptionPool.of(self._payloads(np.arange(self.n_samples_fit_)), similarity)
        best = pool.agreed(pool.candidates(indices), similarity, self.consensus.subset)
        if (best < 0).any():
            raise _no_caption(indices.shape[1])
        return [pool.texts[place] for place in best.tolist()]

    def _agreed(self, indices: Array) -> Any:
        candidates: list[Any] = []
        for payload in self._payloads(indices):
            candidates += list(payload) if isinstance(payload, (list, tuple, np.ndarray)) else [payload]
        if not candidates:
            raise _no_caption(len(indices))
        return candidates[self.consensus.rank(candidates)[0]]


def _no_caption(k: int) -> ValueError:
    return ValueError(f"None of the {k} neighbors of a query has a caption: take a larger n_neighbors.")
