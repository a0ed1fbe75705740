"""Costs: what each mistake costs, as a matrix of true classes by answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.refused import ParameterError
from nearline.predictions import Predictions

LARGEST = 1e100
SHAPE = "a matrix, a row for each true class and a column for each answer, or {(true, answered): cost}"


def cost_matrix(costs: Any, classes: Array) -> Array:
    """(C, C): what it costs to answer the class of a column for a row of the class of a row, in the order of the classes.

    Of a dictionary {(true, answered): cost}, pairs that it does not name cost 1, and right answers nothing.

    Examples
    --------
    >>> cost_matrix({("sick", "well"): 10}, np.array(["sick", "well"])).tolist()
    [[0.0, 10.0], [1.0, 0.0]]
    """
    labels = classes.tolist()
    if isinstance(costs, Mapping):
        matrix = _of_pairs(costs, labels)
    else:
        try:
            matrix = np.asarray(costs, dtype=np.float64)
        except (TypeError, ValueError):
            raise ParameterError("costs", costs, SHAPE) from None
    C = len(labels)
    if matrix.shape != (C, C):
        raise ParameterError(
            "costs",
            f"a matrix of shape {matrix.shape}",
            f"{C} x {C}: a row for each true class and a column for each answer, in the order {labels}",
        )
    if not (np.abs(matrix) <= LARGEST).all():  # beyond it, sums over rows and folds would overflow
        raise ParameterError("costs", costs, f"finite numbers of at most {LARGEST:g}")
    if (matrix >= np.diag(matrix)[:, None]).all() and (matrix > np.diag(matrix)[:, None]).any():
        return matrix
    raise ParameterError(
        "costs", matrix.tolist(), "larger for a mistake than for the right answer, which is on the diagonal"
    )


def _of_pairs(costs: Mapping[Any, Any], labels: list[Any]) -> Array:
    matrix = 1.0 - np.eye(len(labels))
    for pair, cost in costs.items():
        known = isinstance(pair, tuple) and len(pair) == 2 and all(one in labels for one in pair)
        if not known:
            raise ParameterError(
                "costs", pair, f"pairs (true, answered) of two of the classes {labels} as keys"
            )
        if isinstance(cost, bool) or not isinstance(cost, (int, float, np.number)):
            raise ParameterError("costs", cost, "a number for each pair")
        matrix[labels.index(pair[0]), labels.index(pair[1])] = cost
    return matrix


@dataclass(frozen=True)
class MeanCost:
    """The score "cost": what the answers cost, a row."""

    costs: tuple[tuple[float, ...], ...]

    @classmethod
    def of(cls, matrix: Array) -> "MeanCost":
        return cls(tuple(map(tuple, matrix.tolist())))

    def __call__(
        self, predictions: Predictions, codes: Array, classes: Array, weights: Array | None
    ) -> float:
        return float(np.average(self.of_rows(predictions, codes, len(classes)), weights=weights))

    def of_rows(self, predictions: Predictions, codes: Array, n_classes: int) -> Array:
        """What the answer to each row costs."""
        return np.asarray(self.costs)[codes, predictions.labels]

    def class_weights(self, classes: Array) -> dict[Any, float]:
        """What mistakes about rows of a class cost beyond the right answer, 1 in the mean over classes."""
        matrix = np.asarray(self.costs)
        extra = (matrix - np.diag(matrix)[:, None]).sum(axis=1)
        return dict(zip(classes.tolist(), (extra / extra.mean()).tolist(), strict=True))
