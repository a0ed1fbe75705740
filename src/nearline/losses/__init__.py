"""Data losses, pointwise: value, gradient, curvature, conjugate, probabilities. ``LOSSES`` lists them."""

from nearline.losses._base import Loss, one_hot, signs
from nearline.losses._special import Slack, Special
from nearline.losses.margin import (
    BinarySparsemax,
    Hinge,
    Logistic,
    MarginLoss,
    PerceptronLoss,
    Squared,
    SquaredHinge,
    ZeroOne,
    sigmoid,
)
from nearline.losses.multiclass import Softmax, Sparsemax, softmax, sparsemax
from nearline.losses.multiclass_svm import CrammerSinger, MulticlassPerceptron, WestonWatkins

LOSSES: dict[str, Loss] = {
    loss.name: loss
    for loss in (
        ZeroOne(),
        Squared(),
        Logistic(),
        PerceptronLoss(),
        Hinge(),
        SquaredHinge(),
        BinarySparsemax(),
        MulticlassPerceptron(),
        WestonWatkins(),
        CrammerSinger(),
        Softmax(),
        Sparsemax(),
    )
}

# The joint loss of K score columns that a two-class loss becomes, where the literature has one. By the very class: a
# loss of one's own is nobody's cousin.
JOINT: dict[type[Loss], Loss] = {
    Squared: Squared(),
    Logistic: Softmax(),
    PerceptronLoss: MulticlassPerceptron(),
    Hinge: WestonWatkins(),
    BinarySparsemax: Sparsemax(),
}
# ... and back: the two-class loss of a joint one (softmax at alpha is logistic at alpha / 2).
BINARY: dict[type[Loss], Loss] = {
    Softmax: Logistic(),
    MulticlassPerceptron: PerceptronLoss(),
    WestonWatkins: Hinge(),
    CrammerSinger: Hinge(),
    Sparsemax: BinarySparsemax(),
}

__all__ = [
    "BINARY",
    "JOINT",
    "LOSSES",
    "BinarySparsemax",
    "CrammerSinger",
    "Hinge",
    "Logistic",
    "Loss",
    "MarginLoss",
    "MulticlassPerceptron",
    "PerceptronLoss",
    "Slack",
    "Softmax",
    "Sparsemax",
    "Special",
    "Squared",
    "SquaredHinge",
    "WestonWatkins",
    "ZeroOne",
    "one_hot",
    "sigmoid",
    "signs",
    "softmax",
    "sparsemax",
]
