"""Embedding losses: value and gradient on a batch of embedded rows. ``EMBEDDING_LOSSES`` lists them."""

from typing import Any, cast

from nearline._records.refused import UnknownNameError
from nearline._records.spoken import spoken
from nearline.losses.embedding._base import EmbeddingLoss, PairLoss, ProxyLoss
from nearline.losses.embedding.circle import Circle
from nearline.losses.embedding.lifted import LiftedStructured
from nearline.losses.embedding.nca import NCA
from nearline.losses.embedding.softmax import AMSoftmax, NormFace
from nearline.losses.embedding.triplet import Triplet

EMBEDDING_LOSSES: dict[str, EmbeddingLoss] = {
    loss.name: loss for loss in (NCA(), Triplet(), LiftedStructured(), Circle(), NormFace(), AMSoftmax())
}


def as_embedding_loss(loss: Any) -> EmbeddingLoss:
    """A loss by its name ("triplet:0.5" is Triplet(0.5)), or as an object."""
    if isinstance(loss, EmbeddingLoss):
        return loss
    if isinstance(loss, str) and loss in EMBEDDING_LOSSES:
        return EMBEDDING_LOSSES[loss]
    if (said := spoken(loss, {name: type(one) for name, one in EMBEDDING_LOSSES.items()})) is not None:
        return cast(EmbeddingLoss, said)
    raise UnknownNameError(
        "loss", loss, EMBEDDING_LOSSES, "or give an object, such as Triplet(margin=0.5)", "embedding loss"
    )


__all__ = [
    "EMBEDDING_LOSSES",
    "NCA",
    "AMSoftmax",
    "Circle",
    "EmbeddingLoss",
    "LiftedStructured",
    "NormFace",
    "PairLoss",
    "ProxyLoss",
    "Triplet",
    "as_embedding_loss",
]
