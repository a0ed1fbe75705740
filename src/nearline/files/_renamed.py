"""Names that files had before, and what they are called now."""

from collections.abc import Callable
from typing import Any

from nearline._records.kept import declaration
from nearline.losses import LOSSES

ATTRIBUTES = {"seed": "random_state", "bias": "fit_intercept"}
CLASSES = {
    "part.Expansion": "part.KernelScore",
    "metric.L1": "metric.Manhattan",
    "metric.L2": "metric.Euclidean",
    "metric.Precomputed": "metric.PrecomputedDistances",
    "part.Progress": "part.DescentProgress",
    "part.Temperature": "part.TemperatureScaling",
    "weights.Softmax": "weights.Temperature",
}


# What a class keeps now and had no attribute for before, from the rest of its state.
COMPLETED: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "KernelLogisticRegression": lambda state: {
        "loss_": LOSSES["logistic" if len(state["classes_"]) == 2 else "softmax"]
    },
    "CalibratedClassifier": lambda state: {"split": "auto"},
}


def class_now(name: Any, known: dict[str, Any]) -> Any:
    """The name of a class now, if files had another for it."""
    return CLASSES.get(name, name) if isinstance(name, str) and name not in known else name


def attributes_now(cls: type[Any], state: dict[str, Any]) -> dict[str, Any]:
    """A state whose names are those of the class: an old one is translated where the class has the new one only."""
    known = set(declaration(cls).specs)

    def now(name: str) -> str:
        new = ATTRIBUTES.get(name, name)
        return new if name not in known and new in known else name

    found = {now(name): value for name, value in state.items()}
    complete = COMPLETED.get(cls.__name__) if "classes_" in found else None
    lacking = {} if complete is None else complete(found)
    return found | {name: value for name, value in lacking.items() if name not in found}
