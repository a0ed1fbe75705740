"""Data losses, pointwise: value, gradient, curvature, conjugate, probabilities. ``LOSSES`` lists them."""

from nearline._arrays.design import Array
from nearline.losses._base import Loss, signs
from nearline.losses._check import check_pieces
from nearline.losses._special import Slack, Special
from nearline.losses.maps import one_hot, sigmoid, softmax, sparsemax
from nearline.losses.margin import (
    BinarySparsemax,
    Hinge,
    Logistic,
    MarginLoss,
    PerceptronLoss,
    SquaredHinge,
    ZeroOne,
)
from nearline.losses.multiclass import Softmax, Sparsemax
from nearline.losses.multiclass_svm import CrammerSinger, MulticlassPerceptron, WestonWatkins
from nearline.losses.squared import Squared

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


def check_loss(loss: Loss, targets: Array, n_outputs: int) -> None:
    """Refuse a loss of one's own whose pieces contradict each other on a few rows; the listed ones are tested."""
    if not any(type(loss) is type(known) for known in LOSSES.values()):
        check_pieces(loss, targets[:20], n_outputs)


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
    "check_loss",
    "one_hot",
    "sigmoid",
    "signs",
    "softmax",
    "sparsemax",
]
