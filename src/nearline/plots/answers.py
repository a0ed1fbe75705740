"""What a classifier says at places of a picture: labels, what votes leave open, probabilities, scores."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.words import worded
from nearline.plots.samples import Units


@dataclass(frozen=True, eq=False)
class Answers:
    """A fitted classifier, or a function that predicts, asked in the units of a picture."""

    model: Any
    units: Units

    @property
    def title(self) -> str:
        return (
            repr(self.model) if hasattr(self.model, "predict") else getattr(self.model, "__name__", "regions")
        )

    @property
    def classes(self) -> Array:
        """The labels that it knows, in the order of its scores; none of a function."""
        return np.asarray(getattr(self.model, "classes_", ()))

    def labels(self, rows: Array) -> Array:
        """(m,) what it predicts."""
        predict = getattr(self.model, "predict", self.model)
        if not callable(predict):
            raise ValueError(
                f"Regions are those of a fitted classifier or of its predict, got {self.model!r}."
            )
        return np.asarray(predict(self.units.off(rows)))

    def unsettled(self, rows: Array) -> Array | None:
        """(m,) where several classes have the most votes, or none has one; None for who does not vote."""
        asked, model = self.units.off(rows), self.model
        if hasattr(model, "steps"):
            asked, model = model[:-1].transform(asked), model[-1]
        if hasattr(model, "ambiguous"):
            return np.asarray(model.ambiguous(asked), dtype=bool)
        if hasattr(model, "kneighbors") and hasattr(model, "explain"):
            return np.asarray(model.explain(asked).vote_ties, dtype=bool)
        return None

    def probabilities(self, rows: Array) -> Array:
        """(m, C)."""
        if not hasattr(self.model, "predict_proba"):
            raise ValueError(
                f"{self.model!r} gives no probabilities: leave "
                + worded(
                    "proba=True out, or wrap it in CalibratedClassifier.",
                    "--proba out, or take another --model.",
                )
            )
        return np.asarray(self.model.predict_proba(self.units.off(rows)))

    def scores(self, rows: Array, proba: bool) -> tuple[Array, str]:
        """(m,) of the second of two classes or (m, C), and what they are."""
        if not proba and hasattr(self.model, "decision_function"):
            return np.asarray(self.model.decision_function(self.units.off(rows))), "score f(x)"
        p = self.probabilities(rows)
        votes = hasattr(self.model, "kneighbors")
        return (p[:, 1] if p.shape[1] == 2 else p), "share of the vote" if votes else "probability"


def named(models: Any) -> dict[str, Any]:
    """Models by title, from a dictionary, a list or one alone."""
    if isinstance(models, dict):
        given = models
    else:
        several = list(models) if isinstance(models, (list, tuple)) else [models]
        given = {Answers(model, Units()).title: model for model in several}
    if not given:
        raise ValueError("There is no model to draw: give at least one.")
    return given
