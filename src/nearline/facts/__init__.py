"""Facts of the field that anyone can reproduce with one call, each with numbers and a picture.

A fact is a frozen dataclass: ``print`` it for its sentence and table, ``plot()`` draws it. Where a risk is compared with
the best one the distribution is known, so that the Bayes risk is a number and not an estimate. ``FACTS`` has all of them
by name, as ``nearline fact NAME`` does on the command line.
"""

from collections.abc import Callable

from nearline.facts._fact import Fact, Table
from nearline.facts.bayes import BayesRisk, bayes_risk
from nearline.facts.choosing import ChoosingOnTest, choosing_on_test
from nearline.facts.dimension import Concentration, IrrelevantFeatures, concentration, irrelevant_features
from nearline.facts.generative import GenerativeOrDiscriminative, generative_or_discriminative
from nearline.facts.pixels import EqualPixels, equal_pixels
from nearline.facts.posterior import Posteriors, posteriors
from nearline.facts.risk import EmpiricalRisk, empirical_risk
from nearline.facts.scores import LossTable, loss_table, svm_or_softmax
from nearline.facts.search import SearchCost, search_cost
from nearline.facts.separable import Separable, separable
from nearline.facts.separators import ManySeparators, many_separators
from nearline.facts.steps import STEP_RULES, Step, Steps, perceptron_steps, sgd_steps
from nearline.facts.threshold import Threshold, threshold
from nearline.facts.votes import CoverHart, TrainingError, cover_hart, training_error, training_error_of

# Whatever is here is tested, and has a picture.
FACTS: dict[str, Callable[..., Fact]] = {
    "training-error": training_error,
    "cover-hart": cover_hart,
    "concentration": concentration,
    "irrelevant-features": irrelevant_features,
    "equal-pixels": equal_pixels,
    "search-cost": search_cost,
    "empirical-risk": empirical_risk,
    "bayes-risk": bayes_risk,
    "choosing-on-test": choosing_on_test,
    "perceptron-steps": perceptron_steps,
    "sgd-steps": sgd_steps,
    "many-separators": many_separators,
    "threshold": threshold,
    "posteriors": posteriors,
    "separable": separable,
    "generative-or-discriminative": generative_or_discriminative,
    "svm-or-softmax": svm_or_softmax,
}

__all__ = [
    "FACTS",
    "STEP_RULES",
    "BayesRisk",
    "ChoosingOnTest",
    "Concentration",
    "CoverHart",
    "EmpiricalRisk",
    "EqualPixels",
    "Fact",
    "GenerativeOrDiscriminative",
    "IrrelevantFeatures",
    "LossTable",
    "ManySeparators",
    "Posteriors",
    "SearchCost",
    "Separable",
    "Step",
    "Steps",
    "Table",
    "Threshold",
    "TrainingError",
    "bayes_risk",
    "choosing_on_test",
    "concentration",
    "cover_hart",
    "empirical_risk",
    "equal_pixels",
    "generative_or_discriminative",
    "irrelevant_features",
    "loss_table",
    "many_separators",
    "perceptron_steps",
    "posteriors",
    "search_cost",
    "separable",
    "sgd_steps",
    "svm_or_softmax",
    "threshold",
    "training_error",
    "training_error_of",
]
