"""Deciding: how the candidates of a contest make labels of their evidence, and which class weights they may have."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.refused import ParameterError
from nearline._records.words import worded
from nearline.predictions import Predictions
from nearline.selection.comparison import added_by_rows
from nearline.selection.contributions import contributions_of
from nearline.selection.costs import MeanCost, cost_matrix
from nearline.selection.cross_fitting import gives_probabilities
from nearline.selection.decisions import LeastCost, Threshold, tuned_threshold
from nearline.selection.fold_data import TrainingRows
from nearline.selection.scoring import SCORERS, Scorer, of_labels
from nearline.selection.unit import Unit

# Scores to which classes matter beyond their number of rows: class weights are part of the grid.
WEIGHING = ("balanced-accuracy", "recall", "f1", "mcc")
COST = "cost"


@dataclass(frozen=True)
class Deciding:
    """What becomes of evidence. Nothing by default: labels are the models' own."""

    tune: bool = False  # a threshold for each candidate
    least: LeastCost | None = None
    weights: Any = None  # class weights to try beside none

    @property
    def identity(self) -> str:
        """By which a journal knows that candidates were judged alike."""
        costs = None if self.least is None else self.least.costs.tolist()
        return f"tune={self.tune}, costs={costs}, weights={self.weights}"

    def decided(self, predictions: Predictions) -> Predictions:
        """With labels of the least expected cost, where that decides."""
        return predictions if self.least is None else self.least.decided(predictions)

    def settle(self, unit: Unit, first: int, rows: TrainingRows, scorers: list[Scorer]) -> None:
        """Rules of the candidates from number first on that have finished, and with thresholds their scores.

        The rows of a fold are judged with the threshold that is best on the rows of the other folds, so that no row has a
        say in its own label; the model that is fitted in the end has the one that is best on all rows left out.
        """
        finished = [number for number in unit.finished() if number >= first]
        if self.least is not None:
            ruled = [
                n
                for n in finished
                if gives_probabilities(unit.family.estimator(without_class_weight(unit.grid[n])))
            ]
            unit.rules |= dict.fromkeys(ruled, self.least)
        for number in finished if self.tune else ():
            rankings = [fold.get(number) for fold in unit.rankings]
            if all(one is not None for one in rankings):
                _tune(unit, number, [one for one in rankings if one is not None], rows, scorers)
            for fold in unit.rankings:
                fold.pop(number, None)


def _tune(unit: Unit, number: int, rankings: list[Array], rows: TrainingRows, scorers: list[Scorer]) -> None:
    tests, weights = [test for _, test in rows.folds], rows.weights

    def best(folds: list[int]) -> float:
        own = np.concatenate([tests[f] for f in folds])
        ranking = np.concatenate([rankings[f] for f in folds])
        return tuned_threshold(
            ranking, rows.codes[own], rows.classes, scorers[0], None if weights is None else weights[own]
        )

    every = list(range(len(tests)))
    for f, test in enumerate(tests):
        labels = (rankings[f] >= best([g for g in every if g != f])).astype(np.intp)
        predictions = Predictions(labels, 2, rankings[f])
        own = None if weights is None else weights[test]
        for i, scorer in enumerate(scorers):
            if of_labels(scorer):
                unit.scores[i, number, f] = scorer(predictions, rows.codes[test], rows.classes, own)
        unit.correct[f][number] = np.packbits(labels == rows.codes[test])
        contributions = contributions_of(scorers[0])
        if number in unit.added[f] and contributions is not None:
            added = contributions(predictions, rows.codes[test], 2)
            if added is not None:
                unit.added[f][number] = added_by_rows(added, len(tests))
    by = unit.ranked_by.get(number, "the score")
    unit.rules[number] = Threshold(best(every), scorers[0].title, by)


def deciding_of(contest: Any, classes: Array, scorers: list[Scorer]) -> tuple[Deciding, list[Scorer]]:
    """What a contest's costs and threshold ask for, and its scores, the mean cost first where there are costs."""
    costs, threshold = contest.costs, contest.threshold
    matrix = None if costs is None else cost_matrix(costs, classes)
    if matrix is not None:
        scorers = [Scorer(COST, MeanCost.of(matrix), -1), *scorers]
    two = len(classes) == 2
    if threshold == "auto":
        threshold = None if matrix is None else "tune" if two else "costs"
    if threshold == "costs" and matrix is None:
        raise ParameterError(
            "threshold", "costs", f"'tune' or {_none()} where there are no costs", _give_costs()
        )
    if threshold == "tune":
        _check_tuning(scorers[0], classes)
    least = LeastCost(matrix) if threshold == "costs" and matrix is not None else None
    return Deciding(threshold == "tune", least, _weights(contest, classes, scorers[0])), scorers


def _none() -> str:
    return worded("None", "'none'")


def _balanced() -> str:
    return worded("scoring='balanced-accuracy'", "--scoring balanced-accuracy")


def _give_costs() -> str:
    return worded("give costs", "give --costs")


def _check_tuning(scorer: Scorer, classes: Array) -> None:
    if len(classes) != 2:
        raise ParameterError(
            "threshold",
            "tune",
            f"{_none()} or 'costs' for {len(classes)} classes: a threshold is between two",
            f"choose by {_balanced()}, which tries class weights, or {_give_costs()}",
        )
    if not of_labels(scorer):
        raise ParameterError(
            "threshold",
            "tune",
            f"{_none()} where {scorer.name!r} decides, which does not depend on a threshold",
            f"name a score of labels first, as {_balanced()}",
        )


def _weights(contest: Any, classes: Array, scorer: Scorer) -> Any:
    """Class weights that are worth a try, if the user gave none."""
    if contest.class_weight is not None:
        return None
    if isinstance(scorer.score, MeanCost):
        weights = scorer.score.class_weights(classes)
        return weights if len(set(weights.values())) > 1 else None
    return "balanced" if any(scorer.score is SCORERS[name].score for name in WEIGHING) else None


def with_class_weights(grid: list[dict[str, Any]], model: Any, weights: Any) -> list[dict[str, Any]]:
    """A grid, and the same with class weights, if the model has them."""
    if weights is None or not grid or "class_weight" not in model.get_params():
        return grid
    return [*grid, *({**one, "class_weight": weights} for one in grid)]


def without_class_weight(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters that a family knows."""
    return {name: value for name, value in parameters.items() if name != "class_weight"}
