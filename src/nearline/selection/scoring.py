"""Scoring: how good answers are. A score that is undefined is NaN, shown as "n/a", never 0."""

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer, get_scorer_names

from nearline._arrays.design import Array
from nearline._records.refused import ParameterError, UnknownNameError
from nearline._records.words import worded
from nearline.predictions import Foretold, Predictions, judgement
from nearline.selection import measures
from nearline.selection.costs import MeanCost
from nearline.selection.measures import TopK
from nearline.selection.positive import conventional, positive_class


@dataclass(frozen=True)
class Scorer:
    """A named score; ``sign`` is -1 where small is good."""

    name: str
    score: Callable[[Predictions, Array, Array, Array | None], float]  # (answers, codes, classes, weights)
    sign: int = 1
    directed: bool = False  # whether it is about the positive one of two classes
    several: str = ""  # what it is of more than two classes
    positive: Any = None  # the label of the positive class, once it is known
    about: str = ""  # the positive class or the kind of mean, once classes are known

    @property
    def title(self) -> str:
        """The name, and what must be said with it."""
        return f"{self.name} ({self.about})" if self.about else self.name

    def of(self, classes: Array, positive: Any) -> "Scorer":
        """The score for these classes."""
        if len(classes) > 2:
            return replace(self, about=self.several)
        return replace(self, positive=positive, about=f"positive: {positive}") if self.directed else self

    def __call__(
        self, predictions: Predictions, codes: Array, classes: Array, weights: Array | None = None
    ) -> float:
        """The score of the answers about rows of the given class numbers; NaN where it is undefined."""
        if not len(codes) or (weights is not None and not weights.sum() > 0):
            return float("nan")
        if self.directed and len(classes) == 2:  # from here on the positive class is 1
            if self.positive_code(classes) == 0:
                predictions, codes = predictions.turned(), 1 - codes
            classes = np.array([0, 1])
        return self.score(predictions, codes, classes, weights)

    def positive_code(self, classes: Array) -> int:
        """The number of the positive one of two classes."""
        if self.positive is not None:
            return classes.tolist().index(self.positive)
        if not conventional(classes):
            raise ValueError(
                f"{self.name!r} is about the positive class, and which of {classes.tolist()} that is was not said: "
                "give pos_label."
            )
        return 1


SCORERS: dict[str, Scorer] = {
    scorer.name: scorer
    for scorer in (
        Scorer("accuracy", measures.accuracy),
        Scorer("balanced-accuracy", measures.balanced_accuracy),
        Scorer("auc", measures.auc, several="one-vs-rest"),
        Scorer("average-precision", measures.average_precision, directed=True, several="macro"),
        Scorer("precision", measures.precision, directed=True, several="macro"),
        Scorer("recall", measures.recall, directed=True, several="macro"),
        Scorer("f1", measures.f1, directed=True, several="macro"),
        Scorer("mcc", measures.mcc),
        Scorer("top-2", TopK(2)),
        Scorer("top-3", TopK(3)),
        Scorer("top-5", TopK(5)),
        Scorer("log-loss", measures.log_loss, -1),
        Scorer("brier", measures.brier, -1),
    )
}
_SAME = {
    "balanced_accuracy": "balanced-accuracy",
    "roc_auc": "auc",
    "average_precision": "average-precision",
    "matthews_corrcoef": "mcc",
    "top_k_accuracy": "top-2",
    "top-k": "top-2",
}


_LABELS = ("accuracy", "balanced-accuracy", "precision", "recall", "f1", "mcc")


def of_labels(scorer: Scorer) -> bool:
    """Whether a score looks at nothing but labels, so that a threshold changes it and nothing else does."""
    if any(scorer.score is SCORERS[name].score for name in _LABELS):
        return True
    if isinstance(scorer.score, Foreign):
        return getattr(scorer.score.judge, "_response_method", None) == "predict"
    return isinstance(scorer.score, MeanCost)


def scorers_for(
    scoring: Any, classes: Array, codes: Array, pos_label: Any = None
) -> tuple[list[Scorer], Any]:
    """The scorers of a task, and the positive one of its two classes (None of more), chosen by the rows' class numbers."""
    positive = positive_class(classes, codes, pos_label)
    return [scorer.of(classes, positive) for scorer in as_scorers(scoring)], positive


def as_scorers(scoring: Any) -> list[Scorer]:
    """One scorer or several, the first of which decides: names of ours or scikit-learn's, scorers, or a dictionary."""
    if isinstance(scoring, dict):
        scorers = [_scorer(one, name) for name, one in scoring.items()]
    elif isinstance(scoring, (list, tuple)):
        scorers = [_scorer(one) for one in scoring]
    else:
        scorers = [_scorer(scoring)]
    names = [scorer.name for scorer in scorers]
    if not names or len(set(names)) < len(names):
        raise ValueError(
            f"{worded('scoring', '--scoring')} must name at least one score, each once, got {scoring!r}."
        )
    return scorers


def _scorer(scoring: Any, name: str | None = None) -> Scorer:
    if isinstance(scoring, Scorer):
        return scoring
    if isinstance(scoring, str):
        found = _named(_SAME.get(scoring, scoring))
        return found if name is None else replace(found, name=name)
    if callable(scoring):
        of_scikit_learn = isinstance(scoring, type(get_scorer("accuracy")))
        return Scorer(name or _name(scoring), Foreign(scoring, own=not of_scikit_learn))
    raise ParameterError("scoring", scoring, "a name or a function (estimator, X, y)")


def _named(name: str) -> Scorer:
    if name in SCORERS:
        return SCORERS[name]
    top = re.fullmatch(r"top-([1-9]\d*)", name)
    if top:
        if int(top[1]) == 1:
            raise ParameterError("scoring", name, "'accuracy', which is the same, or 'top-2' and so on")
        return Scorer(name, TopK(int(top[1])))
    if name in get_scorer_names():
        judge = get_scorer(name)
        return Scorer(name, Foreign(judge, own=False), directed=not _of_numbers(judge))
    own = worded(", or give a function (estimator, X, y)", "")
    also = f"or a name from sklearn.metrics.get_scorer_names(){own}"
    raise UnknownNameError("scoring", name, SCORERS, also)


def _of_numbers(judge: Any) -> bool:
    """Whether labels are numbers to a scorer of scikit-learn, as in regression, and must stay what they are."""
    return "_regression" in str(getattr(judge._score_func, "__module__", ""))


def _name(scoring: Any) -> str:
    """A function's own name, marked where it is the name of a score that it is not."""
    name = str(getattr(scoring, "__name__", scoring))
    return f"{name} (own)" if name in SCORERS else name


@dataclass(frozen=True)
class Foreign:
    """A scorer of scikit-learn, or a function (estimator, X, y) of the user's; larger is better.

    X holds the numbers of the rows, see :class:`nearline.predictions.Foretold`. Numbers and errors are the scorer's own;
    one of scikit-learn's is undefined where it asks for probabilities or scores that the model does not give, and where
    it refuses rows that lack a class.
    """

    judge: Any
    own: bool  # a function of the user's: all its errors are the user's to see

    def __call__(
        self, predictions: Predictions, codes: Array, classes: Array, weights: Array | None
    ) -> float:
        foretold = Foretold(predictions, classes)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the number says what it can
                score = judgement(self.judge, foretold, codes, weights)
        except (AttributeError, ValueError):
            undefined = foretold.refused or len(np.unique(codes)) < len(classes)
            if self.own or not undefined:
                raise
            return float("nan")
        return score if np.isfinite(score) else float("nan")
