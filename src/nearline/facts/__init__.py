"""Facts about nearest neighbors and risk that anyone can reproduce with one call, each with a picture.

A fact is a frozen dataclass of numbers with ``plot(ax=None)``. Distributions are known, so that the Bayes risk is a
number and not an estimate.
"""

from nearline.facts.dimension import Concentration, IrrelevantFeatures, concentration, irrelevant_features
from nearline.facts.pixels import EqualPixels, equal_pixels
from nearline.facts.risk import EmpiricalRisk, empirical_risk
from nearline.facts.votes import CoverHart, TrainingError, cover_hart, training_error, training_error_of

# Whatever is here is tested, and has a picture.
FACTS = {
    "training-error": training_error,
    "cover-hart": cover_hart,
    "concentration": concentration,
    "irrelevant-features": irrelevant_features,
    "equal-pixels": equal_pixels,
    "empirical-risk": empirical_risk,
}

__all__ = [
    "FACTS",
    "Concentration",
    "CoverHart",
    "EmpiricalRisk",
    "EqualPixels",
    "IrrelevantFeatures",
    "TrainingError",
    "concentration",
    "cover_hart",
    "empirical_risk",
    "equal_pixels",
    "irrelevant_features",
    "training_error",
    "training_error_of",
]
