"""k nearest neighbors: votes for classes, means of targets."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from nearline._arrays.design import Array
from nearline._arrays.doors import Door
from nearline._arrays.validation import validate_data
from nearline._records.kept import Flag, Instance, Labels, Named, Numbers, kept, require
from nearline.estimators.base import ScoresBlocks, by_blocks, encoded, fits_blocks
from nearline.estimators.blocked import labelled, seen_blocks
from nearline.estimators.neighbors_base import ROWS, NeighborsModel
from nearline.neighbors.ballots import Boundary, as_boundary
from nearline.neighbors.explanation import Voters, Votes
from nearline.neighbors.vote import Decision, Electorate, Ties, Vote, as_ties, voters
from nearline.neighbors.weights import VoteWeights, as_weights


def _of_its_classes(model: "KNeighborsClassifier") -> None:
    electorate = model._electorate
    fits = electorate.n_classes == len(model.classes_) and len(electorate.codes) == model.index_.n_rows
    own, theirs = model._multiplicities, electorate.multiplicities
    same = own is theirs or (own is not None and theirs is not None and np.array_equal(own, theirs))
    require(fits and same, "The votes of neighbors do not fit the classes")


@kept(
    weights=Named(as_weights, VoteWeights),
    boundary=Named(as_boundary, Boundary),
    ties=Named(as_ties, Ties),
    classes_=Labels(1),
    _electorate=Instance(Electorate),
    links=_of_its_classes,
)
class KNeighborsClassifier(ScoresBlocks, ClassifierMixin, NeighborsModel):
    """The class with most votes among the k nearest training rows.

    Class c has the votes sum over neighbors i of class c of s_i v(d_i), with sample weights s_i, which count how often a
    row is there (integer weights equal repeated rows), and vote weights v. Where m rows are strictly nearer than the k-th
    distance and t rows are at it, each of the t has (k - m) / t of its vote, so that the order of the rows of X does not
    matter. Neighbors are found exactly, by lower bounds of distances: see :class:`nearline.Index`.

    Parameters
    ----------
    n_neighbors : k.
    weights : "uniform", "distance" (1/d; if some are at distance 0, only these vote), ``Softmax(temperature)``, or a
        function of the distances (m, k), those of the k places (a row of sample weight 2 fills two of them).
    metric : name (see :data:`nearline.METRICS`; scikit-learn's names too), object (``Lq(3)``; ``Mahalanobis("within")``,
        which the training rows decide), a function of two rows, or "precomputed".
    algorithm : "auto", "exact", "tree" or an ``Approximate`` object.
    boundary : who votes where several rows tie at the k-th distance: "share" (above), "list" (exactly k rows, in order of
        index), "all" of them, or "drop" (none).
    ties : which class wins where several have most votes: that of the "nearest" neighbor, of the smallest total
        "distance", with the largest "prior", "reduce-k" until there is one, or the first in class "order"; what is still
        equal goes by class order. With boundary="list" and ties="order" decisions are scikit-learn's.

    Attributes
    ----------
    classes_ : (C,) labels.
    index_ : the :class:`nearline.Index` that is searched; ``index_.algorithm_`` says how.
    n_samples_fit_ : number of training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import KNeighborsClassifier
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), ["a", "a", "b", "b"]
    >>> model = KNeighborsClassifier(3).fit(X, y)
    >>> model.predict([[0.2], [2.9]]).tolist()
    ['a', 'b']
    >>> model.predict_proba([[1.0]]).round(2)  # at 1.0: itself, and two rows at distance 1
    array([[0.67, 0.33]])
    >>> model.explain([[0.2]]).rows(0)[0]
    {'index': 0, 'label': 'a', 'distance': 0.2, 'vote': 1.0}
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: Any = "uniform",
        metric: Any = "l2",
        algorithm: Any = "auto",
        boundary: Any = "share",
        ties: Any = "nearest",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.algorithm = algorithm
        self.boundary = boundary
        self.ties = ties

    def _fit_blocks(self, door: Door, X: Any, y: Any, sample_weight: Any = None) -> "KNeighborsClassifier":
        """Leave the rows where they are, and learn their labels."""
        blocks = labelled(self, door, X, y, sample_weight, dtypes=ROWS["dtype"])
        codes = self._fit_blocked_index(blocks)
        self._electorate = Electorate(codes, len(self.classes_), self._multiplicities)
        self._vote()
        return self

    @fits_blocks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "KNeighborsClassifier":
        """Keep a copy of the rows X (n, D) with their labels y (n,). Rows of weight 0 never vote."""
        rows, y, plain = self._rows_and_labels(X, y)
        self.classes_, codes = encoded(y, plain=plain)
        kept = self._fit_index(self._own(rows, X), sample_weight, codes)
        self._electorate = Electorate(codes[kept], len(self.classes_), self._multiplicities)
        self._vote()  # unknown rules are named now, not when the first row is to be predicted
        return self

    @by_blocks
    def predict(self, X: Any) -> Array:
        """Labels (m,)."""
        winners = self._decide(X).winners
        return np.asarray(self.classes_[winners])

    @by_blocks
    def predict_proba(self, X: Any) -> Array:
        """Shares of the vote (m, C)."""
        return self._decide(X).shares

    def explain(self, X: Any) -> Votes:
        """The neighbors behind each prediction, their votes, and which decisions had ties."""
        decisions: list[Any] = []
        parts: list[Voters] = []
        Q, vote = self._queries(X), self._vote()
        for numbers, found in voters(self.index_, Q, vote, self._multiplicities):
            decisions.append((numbers, vote.decide(found, self._electorate)))
            parts.append(Voters.of(vote.cast(found, self._multiplicities), numbers))
        decision = Decision.joined(decisions, Q.shape[0])
        cast = Voters.joined(parts)
        lists = cast.lists(Q.shape[0])
        return Votes(
            self.classes_[decision.winners],
            lists(self._numbers(cast.rows)),
            lists(cast.distances),
            lists(cast.votes),
            lists(self.classes_[self._electorate.codes[cast.rows]]),
            decision.boundary_ties,
            decision.vote_ties,
        )

    def _vote(self) -> Vote:
        return Vote.of(self.n_neighbors, self.weights, self.boundary, self.ties, self.index_.metric)

    def _decide(self, X: Any) -> Decision:
        Q, vote = self._queries(X), self._vote()
        return Decision.joined(
            [
                (numbers, vote.decide(found, self._electorate))
                for numbers, found in voters(self.index_, Q, vote, self._multiplicities)
            ],
            Q.shape[0],
        )


def _of_its_targets(model: "KNeighborsRegressor") -> None:
    n, outputs = model._targets.shape
    fits = n == model.index_.n_rows and outputs >= 1 and (outputs == 1 or not model._flat)
    require(fits, "The targets of neighbors do not fit the rows")


@kept(
    weights=Named(as_weights, VoteWeights),
    boundary=Named(as_boundary, Boundary),
    _flat=Flag(),
    _targets=Numbers(("n", "O"), "float64"),
    links=_of_its_targets,
)
class KNeighborsRegressor(RegressorMixin, NeighborsModel):
    """The mean of the targets of the k nearest training rows, one or several targets a row.

        f(x) = sum_i s_i v(d_i) y_i / sum_i s_i v(d_i)

    over the k nearest rows i, with sample weights s_i as multiplicities and vote weights v; rows that tie at the k-th
    distance share, as in :class:`KNeighborsClassifier`. With 0/1 targets (label sets) f is the share of each label.

    Parameters
    ----------
    n_neighbors, weights, metric, algorithm, boundary : as for :class:`KNeighborsClassifier`.

    Attributes
    ----------
    index_ : the :class:`nearline.Index` that is searched.
    n_samples_fit_ : number of training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import KNeighborsRegressor
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.0, 10.0, 20.0, 30.0])
    >>> KNeighborsRegressor(2).fit(X, y).predict([[0.4], [2.0]]).tolist()  # at 2.0: 20 and half of 10 and 30
    [5.0, 20.0]
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: Any = "uniform",
        metric: Any = "l2",
        algorithm: Any = "auto",
        boundary: Any = "share",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.metric = metric
        self.algorithm = algorithm
        self.boundary = boundary

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _fit_blocks(self, door: Door, X: Any, y: Any, sample_weight: Any = None) -> "KNeighborsRegressor":
        """Leave the rows where they are, and learn their targets."""
        if y is None:
            raise ValueError("KNeighborsRegressor requires y to be passed, but the target y is None.")
        blocks = seen_blocks(self, door, X, y, sample_weight, dtypes=ROWS["dtype"])
        targets = np.asarray(self._fit_blocked_index(blocks), dtype=np.float64)
        self._flat, self._targets = targets.ndim == 1, targets.reshape(len(targets), -1)
        self._vote()
        return self

    @fits_blocks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "KNeighborsRegressor":
        """Keep a copy of the rows X (n, D) with their targets y, (n,) or (n, outputs). Rows of weight 0 never count."""
        rows, y = validate_data(self, X, y, multi_output=True, y_numeric=True, **ROWS)
        kept = self._fit_index(self._own(rows, X), sample_weight)
        y = np.asarray(y, dtype=np.float64)
        self._flat = y.ndim == 1
        self._targets = y.reshape(len(y), -1)[kept]
        self._vote()
        return self

    @by_blocks
    def predict(self, X: Any) -> Array:
        """Means of targets, of the shape that y had."""
        Q, vote = self._queries(X), self._vote()
        out = np.empty((Q.shape[0], self._targets.shape[1]))
        for numbers, found in voters(self.index_, Q, vote, self._multiplicities):
            out[numbers] = vote.cast(found, self._multiplicities).mean(self._targets)
        return out[:, 0] if self._flat else out

    def explain(self, X: Any) -> Votes:
        """The neighbors behind each prediction, with their targets and votes."""
        Q, vote = self._queries(X), self._vote()
        out, tied, parts = np.empty((Q.shape[0], self._targets.shape[1])), np.empty(Q.shape[0], bool), []
        for numbers, found in voters(self.index_, Q, vote, self._multiplicities):
            cast = vote.cast(found, self._multiplicities)
            out[numbers], tied[numbers] = cast.mean(self._targets), cast.tied
            parts.append(Voters.of(cast, numbers))
        flat = Voters.joined(parts)
        lists, targets = flat.lists(Q.shape[0]), self._targets[flat.rows]
        return Votes(
            out[:, 0] if self._flat else out,
            lists(self._numbers(flat.rows)),
            lists(flat.distances),
            lists(flat.votes),
            lists(targets[:, 0] if self._flat else targets),
            tied,
            np.zeros(Q.shape[0], dtype=bool),
        )

    def _vote(self) -> Vote:
        return Vote.of(self.n_neighbors, self.weights, self.boundary, "nearest", self.index_.metric)
