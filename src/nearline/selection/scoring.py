"""Scoring: how good answers are. A score that is undefined is NaN, shown as "n/a", never 0 (SPEC H7)."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import get_scorer, get_scorer_names, roc_auc_score

from nearline.answers import Answers, judgement
from nearline.arrays import Array

SMALLEST = 1e-15  # a probability of 0 would make the log-loss infinite


@dataclass(frozen=True)
class Scorer:
    """A named score; ``sign`` is -1 where small is good."""

    name: str
    score: Callable[[Answers, Array, Array, Array | None], float]  # (answers, codes, classes, weights)
    sign: int = 1

    def __call__(self, answers: Answers, codes: Array, classes: Array, weights: Array | None = None) -> float:
        """The score of the answers about rows of the given class numbers; NaN where it is undefined."""
        if not len(codes) or (weights is not None and not weights.sum() > 0):
            return float("nan")
        return self.score(answers, codes, classes, weights)


def _accuracy(answers: Answers, codes: Array, classes: Array, weights: Array | None) -> float:
    return float(np.average(answers.labels == codes, weights=weights))


def _balanced_accuracy(answers: Answers, codes: Array, classes: Array, weights: Array | None) -> float:
    """Mean over the classes that are there of the share found."""
    size = np.bincount(codes, weights, minlength=len(classes))
    found = np.bincount(
        codes, (answers.labels == codes) * (1.0 if weights is None else weights), len(classes)
    )
    return float(np.mean(found[size > 0] / size[size > 0]))


def _log_loss(answers: Answers, codes: Array, classes: Array, weights: Array | None) -> float:
    probabilities = answers.probabilities()
    if probabilities is None:
        return float("nan")
    own = probabilities[np.arange(len(codes)), codes].astype(np.float64)
    return float(np.average(-np.log(np.clip(own, SMALLEST, 1.0)), weights=weights))


def _brier(answers: Answers, codes: Array, classes: Array, weights: Array | None) -> float:
    """Mean over rows of the squared distance between the probabilities and the class."""
    probabilities = answers.probabilities()
    if probabilities is None:
        return float("nan")
    wrong = probabilities.astype(np.float64)
    wrong[np.arange(len(codes)), codes] -= 1.0
    return float(np.average((wrong**2).sum(axis=1), weights=weights))


def _auc(answers: Answers, codes: Array, classes: Array, weights: Array | None) -> float:
    """Area under the ROC curve; of more than two classes the mean over classes of one against the rest."""
    ranking = answers.ranking()
    if weights is not None and ranking is not None:
        there = weights > 0
        ranking, codes, weights = ranking[there], codes[there], weights[there]
    if ranking is None or len(np.unique(codes)) < len(classes):
        return float("nan")
    if ranking.ndim == 1:
        return _area(codes == 1, ranking, weights)
    return float(np.mean([_area(codes == c, ranking[:, c], weights) for c in range(len(classes))]))


def _area(positive: Array, ranking: Array, weights: Array | None) -> float:
    """The chance that a positive row is ranked above a negative one, a tie counting half: from the ranks."""
    if weights is not None:
        return float(roc_auc_score(positive, ranking, sample_weight=weights))
    n, n_negative = int(positive.sum()), int((~positive).sum())
    return float((rankdata(ranking)[positive].sum() - n * (n + 1) / 2) / (n * n_negative))


SCORERS: dict[str, Scorer] = {
    scorer.name: scorer
    for scorer in (
        Scorer("accuracy", _accuracy),
        Scorer("balanced-accuracy", _balanced_accuracy),
        Scorer("auc", _auc),
        Scorer("log-loss", _log_loss, -1),
        Scorer("brier", _brier, -1),
    )
}
_SAME = {"balanced_accuracy": "balanced-accuracy", "roc_auc": "auc"}


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
        raise ValueError(f"scoring must name at least one score, each once, got {scoring!r}.")
    return scorers


def _scorer(scoring: Any, name: str | None = None) -> Scorer:
    if isinstance(scoring, Scorer):
        return scoring
    if isinstance(scoring, str):
        scoring = _SAME.get(scoring, scoring)
        if scoring in SCORERS:
            return SCORERS[scoring] if name is None else replace(SCORERS[scoring], name=name)
        if scoring not in get_scorer_names():
            raise ValueError(
                f"Unknown scoring {scoring!r}: choose among {', '.join(map(repr, SCORERS))}, a name from "
                "sklearn.metrics.get_scorer_names(), or give a function (estimator, X, y)."
            )
        return Scorer(name or scoring, Foreign(get_scorer(scoring), own=False))
    if callable(scoring):
        return Scorer(
            name or _name(scoring),
            Foreign(scoring, own=type(scoring).__module__.partition(".")[0] != "sklearn"),
        )
    raise ValueError(f"Unknown scoring {scoring!r}: give a name or a function (estimator, X, y).")


def _name(scoring: Any) -> str:
    """A function's own name, marked where it is the name of a score that it is not."""
    name = str(getattr(scoring, "__name__", scoring))
    return f"{name} (own)" if name in SCORERS else name


@dataclass(frozen=True)
class Foreign:
    """A scorer of scikit-learn, or a function (estimator, X, y) of the user's; larger is better.

    X holds the numbers of the rows, see :class:`nearline.answers.Foretold`.
    """

    judge: Any
    own: bool  # a function of the user's: its errors are the user's to see

    def __call__(self, answers: Answers, codes: Array, classes: Array, weights: Array | None) -> float:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what is undefined is NaN here
                score = judgement(self.judge, answers, classes, codes, weights)
        except (AttributeError, ValueError):
            if self.own:
                raise
            return float("nan")
        return score if np.isfinite(score) else float("nan")
