"""How ``nearline try`` chooses and fits: options that say more than a word, as TryThemAll takes them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline.cli._errors import UsageError
from nearline.selection.input import BESIDE, beside_of
from nearline.selection.locked_test import Holdout
from nearline.selection.splits import Split


@dataclass(frozen=True)
class Settings:
    """Options as they were given."""

    choose: str = "best"
    calibrate: str = "needed"
    class_weight: str | None = None
    nested: bool = False
    refit: str = "train"
    reference: bool | None = None  # None: as the preset has it
    ensemble: bool | None = None

    def parameters(self, y: Any, test: Any, by: str, folds: Any, preset: str) -> dict[str, Any]:
        """Parameters of TryThemAll, for rows with labels y that are divided by something into folds."""
        return {
            "choose": self.choose,
            "calibrate": self.calibration,
            "class_weight": weights_in(self.class_weight, y),
            "split": Split(by, folds, nested=True) if self.nested else by,
            "folds": None if self.nested else folds,
            "test": test if test is None or self.refit == "train" else Holdout(test, refit=self.refit),
            "beside": self.beside(preset),
        }

    @property
    def calibration(self) -> str | None:
        """How probabilities are calibrated."""
        return None if self.calibrate == "none" else self.calibrate

    def beside(self, preset: str) -> Any:
        """What runs beside the families."""
        asked = {"reference": self.reference, "ensemble": self.ensemble}
        if all(one is None for one in asked.values()):
            return "auto"
        usual = beside_of("auto", preset)
        return [name for name in BESIDE if (name in usual if asked[name] is None else asked[name])]


def weights_in(text: str | None, y: Any) -> Any:
    """None, "balanced", or the weights of classes, as in "spam=5,ham=1"."""
    if text is None or text == "balanced":
        return text
    labels = {str(label): label for label in np.unique(np.asarray(y)).tolist()}
    found = {}
    for part in text.split(","):
        word, equals, number = part.rpartition("=")
        weight = _number(number)
        if not equals or weight is None:
            raise UsageError(
                f"--class-weight is 'balanced' or LABEL=WEIGHT with commas and weights >= 0, got {part!r}."
            )
        if word.strip() not in labels:
            shown = ", ".join(list(labels)[:10]) + (", ..." if len(labels) > 10 else "")
            raise UsageError(f"--class-weight: no class is called {word.strip()!r}; the classes are {shown}.")
        if labels[word.strip()] in found:
            raise UsageError(f"--class-weight names {word.strip()!r} more than once: give one weight.")
        found[labels[word.strip()]] = weight
    return found


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) and value >= 0 else None
