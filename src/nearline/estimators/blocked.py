"""Estimators on rows in blocks: the same methods, which see from X that there are blocks."""

from dataclasses import dataclass
from typing import Any, final

import numpy as np

from nearline._arrays.blocks import Block, Blocks
from nearline._arrays.design import Array
from nearline._arrays.doors import Door, Task
from nearline.estimators.base import class_weights, encoded

FLOATS = (np.float64, np.float32)


class Found:
    """What is found in rows in blocks by those who fit no model: ``classes_``, and the columns."""

    classes_: Array

    def __init__(self, who: str) -> None:
        self.who = who


def _who(model: Any) -> str:
    return model.who if isinstance(model, Found) else type(model).__name__


def seen_blocks(
    model: Any,
    door: Door,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    dtypes: Any = FLOATS,
    ahead: tuple[Task, ...] = (),
) -> Blocks:
    """Checked rows in blocks, with labels as they came; the model remembers their columns, as scikit-learn does."""
    blocks = door.blocks(X, y, sample_weight, dtypes=dtypes, ahead=ahead)
    model.n_features_in_ = blocks.n_features
    model.__dict__.pop("feature_names_in_", None)
    names = door.column_names(X)
    if names is not None and all(isinstance(name, str) for name in names):
        model.feature_names_in_ = np.asarray(names, dtype=object)
    return blocks


def labelled(
    model: Any, door: Door, X: Any, y: Any, sample_weight: Any = None, class_weight: Any = None, **how: Any
) -> Blocks:
    """Rows in blocks with class numbers as targets (sets ``classes_``), and weights that count those of the classes."""
    if y is None:
        raise ValueError(f"{_who(model)} requires y to be passed, but the target y is None: give labels.")
    blocks = seen_blocks(model, door, X, y, sample_weight, ahead=(count_labels,), **how)
    counts, totals = find_classes(model, blocks)
    weights = _weights_of(class_weight, model.classes_, counts)
    ready = blocks.mapped(_Encoded(model.classes_, weights), same_X=True)
    weighty = np.count_nonzero(totals if weights is None else totals * weights)
    if weighty < 2:
        raise ValueError(
            f"{_who(model)} needs at least 2 classes with positive sample weight, got {weighty} class(es): give "
            "rows of another class a positive weight."
        )
    return ready


def find_classes(model: Any, blocks: Blocks) -> tuple[Array, Array]:
    """Sets ``classes_`` to the labels of all blocks; how many rows each has, and their weight."""
    found = blocks.each(count_labels)
    everything, n = np.concatenate([labels for labels, _, _ in found]), len(found)
    model.classes_ = encoded(np.repeat(everything, 2 + n))[
        0
    ]  # each occurs often, so that none looks like a quantity
    if len(model.classes_) < 2:
        raise ValueError(
            f"{_who(model)} needs at least 2 classes, but y has 1 class: {model.classes_.tolist()[0]!r}. "
            "Give rows of another class too."
        )
    counts, totals = np.zeros((2, len(model.classes_)))
    for labels, times, weights in found:
        places = np.searchsorted(model.classes_, labels)
        np.add.at(counts, places, times)
        np.add.at(totals, places, weights)
    return counts, totals


def count_labels(block: Block) -> tuple[Array, Array, Array]:
    """Labels of a block, how often they occur, and the weight of their rows."""
    if block.targets.ndim != 1:
        raise ValueError(f"y must be one label for each row, got blocks of shape {block.targets.shape}.")
    try:
        labels, codes, times = np.unique(block.targets, return_inverse=True, return_counts=True)
        return labels, times, np.bincount(codes, weights=block.weights, minlength=len(labels))
    except TypeError as error:  # numbers and strings have no common order
        kinds = sorted({type(label).__name__ for label in block.targets.tolist()})
        raise ValueError(f"y mixes labels of types {', '.join(kinds)}: give labels of one type.") from error


def _weights_of(class_weight: Any, classes: Array, counts: Array) -> Array | None:
    if class_weight is None:
        return None
    if isinstance(class_weight, str) and class_weight == "balanced":
        return np.asarray(counts.sum() / (len(classes) * counts))
    return class_weights(class_weight, classes, classes)


@final
@dataclass(frozen=True)
class _Encoded:
    """A block with class numbers in place of labels."""

    classes: Array
    weights: Array | None

    def __call__(self, block: Block) -> Block:
        targets = np.searchsorted(self.classes, block.targets).astype(np.int32)
        weights = block.weights if self.weights is None else block.weights * self.weights[targets]
        return Block(block.X, targets, weights, block.first)
