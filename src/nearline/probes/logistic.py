"""The linear probe: logistic regression over its strengths, along one warm path; how the strength is chosen."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline.decision import decide
from nearline.estimators import LogisticRegression
from nearline.probes._case import Case
from nearline.probes._part import DECLARED, TRAINING, Answer, Part
from nearline.risk import Risk
from nearline.scores import LinearScore
from nearline.selection.path_scores import path_scores
from nearline.selection.splits import Division
from nearline.solvers import Solution, minimize

TOL = 1e-6  # certified gap of a fit, relative to the null risk


@dataclass
class Fits:
    """Fits to the same rows at several strengths, each from the nearest one that has more penalty."""

    X: Array
    codes: Array
    found: dict[float, Solution] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.known = np.unique(self.codes)
        self.risk: Risk = LogisticRegression(alpha=1.0).risk(self.X, self.codes, None)

    def labels(self, C: float, Q: Array) -> Array:
        """Of the rows Q, by the model of strength C: alpha = 1 / (C n)."""
        params = self.solution(C).params
        score = LinearScore(params.W.astype(Q.dtype), params.b.astype(Q.dtype), self.known)
        return np.asarray(decide(score(Q), self.known))

    def solution(self, C: float) -> Solution:
        """The fit of strength C."""
        if C not in self.found:
            weaker = [other for other in self.found if other < C]
            start = self.found[max(weaker)].params if weaker else None
            risk = self.risk.with_alpha(1.0 / (C * len(self.X)))
            self.found[C] = minimize(risk, "auto", start, tol=TOL, relative_to="null")
        return self.found[C]


class Choice(ABC):
    """How one of several strengths is chosen."""

    @abstractmethod
    def __call__(self, strengths: tuple[float, ...], case: Case) -> tuple[float, float | None]:
        """The strength C, and the accuracy that it was chosen by."""


SINGLE = (
    "A class has a single training row, and a strength is chosen on rows left out: give at least 2 rows of each class, or a "
    "protocol that chooses nothing (mteb, big_vision, dino)."
)


@dataclass(frozen=True)
class Fixed(Choice):
    """The first strength, whatever the rows are."""

    def __call__(self, strengths: tuple[float, ...], case: Case) -> tuple[float, float | None]:
        return strengths[0], None


@dataclass(frozen=True)
class HeldOut(Choice):
    """Fitted without a share of the training rows, drawn by class, and scored on these.

    All strengths are tried, or with ``halving`` every 16th, then again and again those halfway to the neighbors of the best
    so far. Among equals the smallest C wins, the most penalty.
    """

    share: float
    halving: int = 1  # distance, in strengths, of the first ones tried

    def __call__(self, strengths: tuple[float, ...], case: Case) -> tuple[float, float | None]:
        if np.bincount(case.codes).max() < 2 or round(self.share * len(case.X)) < 1:
            raise ValueError(SINGLE)
        kept, out = Division("stratified", case.random_state).holdout(case.codes, None, self.share)
        fits, X_out, codes_out = Fits(case.X[kept], case.codes[kept]), case.X[out], case.codes[out]

        def score(place: int) -> float:
            return float(np.mean(fits.labels(strengths[place], X_out) == codes_out))

        best, right = halved(score, len(strengths), self.halving)
        return strengths[best], right


def halved(score: Callable[[int], float], n: int, step: int) -> tuple[int, float]:
    """The place among 0 .. n - 1 with the best score, the first among equals, looking ever closer around the best."""
    scores = {place: score(place) for place in range(0, n, step)}

    def best() -> int:
        return min(scores, key=lambda place: (-scores[place], place))

    while step > 1:
        step //= 2
        for place in sorted({best() - step, best() + step} & set(range(n)) - set(scores)):
            scores[place] = score(place)
    return best(), scores[best()]


@dataclass(frozen=True)
class Folds(Choice):
    """The best mean accuracy over folds of the training rows: at most so many, no more than the smallest class has rows.

    Folds are fitted with the alpha = 1 / (C n) of all n rows. Among equals the smallest C wins, the most penalty.
    """

    most: int

    def __call__(self, strengths: tuple[float, ...], case: Case) -> tuple[float, float | None]:
        n, fewest = len(case.X), int(np.bincount(case.codes).min())
        if fewest < 2:
            raise ValueError(SINGLE)
        model = LogisticRegression(tol=TOL)
        scores = path_scores(
            model, case.X, case.codes, [1.0 / (C * n) for C in strengths],
            folds=min(self.most, fewest), random_state=case.random_state,
        )  # fmt: skip
        return 1.0 / (float(scores.alphas[scores.best]) * n), float(scores.mean[scores.best])


@dataclass(frozen=True)
class Logistic(Part):
    """Logistic regression (softmax for more than two classes) with an L2 penalty, fitted to its minimum.

        minimize over W, b:  C sum_i log-loss(W x_i + b, y_i) + |W|^2 / 2        (alpha = 1 / (C n))

    The strength C is chosen by ``choice``; the model is then fitted to all training rows.
    """

    strengths: tuple[float, ...]
    choice: Choice
    probe: ClassVar[str] = "linear"

    def answers(self, case: Case) -> Iterator[Answer]:
        C, inside = self.choice(self.strengths, case)
        labels = Fits(case.X, case.codes).labels(C, case.Q)
        yield Answer(self.probe, {"C": C}, labels, DECLARED if inside is None else TRAINING, inside=inside)

    def record(self) -> dict[str, Any]:
        return super().record() | {"choice": repr(self.choice)}
