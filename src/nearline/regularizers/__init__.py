"""Penalties R(W): value, gradient, prox, conjugate. ``REGULARIZERS`` lists them."""

from nearline.regularizers._base import Regularizer
from nearline.regularizers.elastic import L1, L2, Elastic, ElasticNet, Zero
from nearline.regularizers.group import GroupL1

REGULARIZERS: dict[str, Regularizer] = {r.name: r for r in (Zero(), L2(), L1(), ElasticNet(), GroupL1())}

__all__ = ["L1", "L2", "REGULARIZERS", "Elastic", "ElasticNet", "GroupL1", "Regularizer", "Zero"]
