"""What the model looks at: weights, words, templates of linear models; prototypes of the others."""

from typing import Any

import numpy as np

from nearline._arrays.design import Array, is_sparse
from nearline.report._images import weight_picture
from nearline.report._plain import rounded
from nearline.report._rows import Sight

MOST_CLASSES = 24  # that are shown
MOST_FEATURES, FEW_FEATURES = 8, 4  # of a class, for it and against it, of few classes and of many
FEW_CLASSES = 4
# what the columns of texts are, by representation
TOKENS = {
    "characters": "runs of characters",
    "words-and-runs": "words, pairs of words and runs of characters",
    **dict.fromkeys(("word-pairs", "word-pairs-present", "word-pairs-ratios"), "words and pairs of words"),
}
LEAST = 0.01  # of the largest effect: less is not worth a line


def look_facts(sight: Sight) -> dict[str, Any]:
    """Weights where scores are linear in what the model sees, else rows that stand for their classes."""
    if sight.effects is not None:
        return _weight_facts(sight, sight.effects)
    return _prototype_facts(sight, sight.votes)


def _weight_facts(sight: Sight, effects: Array) -> dict[str, Any]:
    labels = sight.steps[1].classes_.tolist()
    two = len(labels) == 2
    kind = "words" if sight.kind == "texts" else "weights"
    if sight.shape is not None and effects.shape[1] == int(np.prod(sight.shape)):
        kind = "templates"
    shown = [1] if two else range(min(len(labels), MOST_CLASSES))
    limit = float(np.abs(effects).max())
    most = FEW_FEATURES if kind == "weights" and len(labels) > FEW_CLASSES else MOST_FEATURES
    unit = "weight" if is_sparse(sight.numbers) else "weight times standard deviation of the column"
    return {
        "kind": kind,
        "two_classes": two,
        "against": labels[0] if two else None,
        "unit": unit,
        "tokens": TOKENS.get(sight.contest.chosen_.representation, "words"),
        "largest": limit,
        "n_features": effects.shape[1],
        "n_zero": int((np.abs(effects).max(axis=0) == 0).sum()),
        "n_classes": len(labels),
        "classes": [{"class": labels[c]} | _of_class(sight, effects[c], limit, kind, most) for c in shown],
    }


def _of_class(sight: Sight, effect: Array, limit: float, kind: str, most: int) -> dict[str, Any]:
    if kind == "templates":
        assert sight.shape is not None
        return {"picture": weight_picture(effect, sight.shape, limit)}
    order = np.argsort(-effect, kind="stable")

    def features(places: Array, sign: int) -> list[dict[str, Any]]:
        kept = [j for j in places.tolist() if sign * effect[j] > LEAST * limit]
        return [{"feature": str(sight.names[j]), "effect": rounded(effect[j])} for j in kept]

    return {"for": features(order[:most], 1), "against": features(order[::-1][:most], -1)}


def _prototype_facts(sight: Sight, neighbors: bool) -> dict[str, Any]:
    """Of each class the training row that is nearest to the mean of its class."""
    Z, labels = sight.numbers, sight.contest.classes_.tolist()
    X, _, numbers = sight.training
    classes = []
    for c in range(min(len(labels), MOST_CLASSES)):
        rows = np.flatnonzero(sight.codes == c)
        if not len(rows):
            continue
        place = int(rows[_nearest_to_mean(Z[rows])])
        named = {"class": labels[c], "rows": len(rows)} | sight.place(int(numbers[place]))
        classes.append(named | sight.shown(X, place))
    return {
        "kind": "prototypes",
        "by_neighbors": neighbors,
        "n_classes": len(labels),
        "classes": classes,
        "looked_at": len(sight.codes) if sight.sampled else None,
    }


def _nearest_to_mean(Z: Any) -> int:
    mean = np.asarray(Z.mean(axis=0), dtype=np.float64).ravel()
    if is_sparse(Z):
        squares = np.asarray(Z.multiply(Z).sum(axis=1)).ravel()
        return int(np.argmin(squares - 2 * (Z @ mean)))
    return int(np.argmin(((np.asarray(Z, dtype=np.float64) - mean) ** 2).sum(axis=1)))
