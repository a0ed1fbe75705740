"""Penalties R(W): value, gradient, prox, conjugate. ``REGULARIZERS`` lists them."""

from nearline.regularizers._base import Regularizer
from nearline.regularizers._check import check_pieces
from nearline.regularizers.elastic import L1, L2, Elastic, ElasticNet, Zero
from nearline.regularizers.group import GroupL1

REGULARIZERS: dict[str, Regularizer] = {r.name: r for r in (Zero(), L2(), L1(), ElasticNet(), GroupL1())}


def check_penalty(penalty: Regularizer, shape: tuple[int, int]) -> None:
    """Refuse a penalty of one's own whose pieces contradict each other; the listed ones, and their family, are tested."""
    listed = any(type(penalty) is type(known) for known in REGULARIZERS.values())
    if shape[1] and not listed and penalty.as_elastic(shape[0]) is None:
        check_pieces(penalty, shape)


__all__ = [
    "L1",
    "L2",
    "REGULARIZERS",
    "Elastic",
    "ElasticNet",
    "GroupL1",
    "Regularizer",
    "Zero",
    "check_penalty",
]
