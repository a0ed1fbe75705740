"""Evidence: what a model says of rows, in the form that calibrators take."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline.predictions import log_odds, log_probabilities_of

# -log of the rounding of 1: beyond it 1 - p is not told from 1, and a log-odds is more rounding than evidence.
MOST_LOG_ODDS = float(-np.log(np.finfo(np.float64).eps))


@dataclass(frozen=True)
class Evidence:
    """What a model says of rows, in the form that calibrators take."""

    scores: Array  # (n,) or (n, C): log-posteriors, or the scores of a model without probabilities
    probabilities: Array | None  # (n, C)

    @classmethod
    def of(cls, model: Any, X: Any) -> "Evidence":
        if callable(getattr(model, "predict_proba", None)):
            P = np.asarray(model.predict_proba(X))
            return cls(np.maximum(log_probabilities_of(model, X), -MOST_LOG_ODDS), P)
        if not callable(getattr(model, "decision_function", None)):
            raise ValueError(
                f"{type(model).__name__} has neither decision_function nor predict_proba, so that there is nothing to "
                "calibrate: give a classifier that has one of them."
            )
        scores = np.asarray(model.decision_function(X), dtype=np.float64)
        # Infinite scores are as good as very large ones, and have differences.
        return cls(np.clip(scores, -1e100, 1e100), None)

    @classmethod
    def joined(cls, parts: "list[Evidence]") -> "Evidence":
        probabilities = [part.probabilities for part in parts if part.probabilities is not None]
        return cls(
            np.concatenate([part.scores for part in parts]),
            np.concatenate(probabilities) if probabilities else None,
        )

    def some(self, rows: Array) -> "Evidence":
        return Evidence(self.scores[rows], None if self.probabilities is None else self.probabilities[rows])

    def seen_by(self, calibrator: Any) -> Array:
        """Log-odds of each class against the rest for calibrators that judge classes one by one, else the scores."""
        if self.probabilities is None or not calibrator.against_the_rest or self.scores.shape[1] == 2:
            return self.scores  # of two classes the difference is the log-odds
        return np.clip(log_odds(self.scores), -MOST_LOG_ODDS, MOST_LOG_ODDS)

    def calibrated(self, calibrator: Any) -> Array:
        """Class probabilities (n, C); the model's own without a calibrator."""
        if calibrator is None:
            assert self.probabilities is not None
            return self.probabilities
        probabilities: Array = calibrator.probabilities(self.seen_by(calibrator))
        return probabilities
