"""NormFace and AM-Softmax: softmax of the cosines with a proxy for each class."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nearline._arrays.design import Array
from nearline._records.kept import Real, kept
from nearline.losses.embedding._base import ProxyLoss, check_finite, check_positive
from nearline.losses.embedding._geometry import through_unit_rows, unit_rows


def _at(Z: Array, targets: Array, W: Array, scale: float, margin: float) -> tuple[float, Array, Array]:
    """Mean cross-entropy of s (cos - m [own class]), with gradients."""
    if not len(Z):
        return 0.0, np.zeros_like(Z), np.zeros_like(W)
    U, lengths = unit_rows(Z)
    V, sizes = unit_rows(W)
    rows = np.arange(len(Z))
    logits = scale * (U @ V.T)
    logits[rows, targets] -= scale * margin
    logits -= logits.max(axis=1, keepdims=True)
    P = np.exp(logits)
    sums = P.sum(axis=1, keepdims=True)
    value = float((np.log(sums[:, 0]) - logits[rows, targets]).mean(dtype=np.float64))
    P /= sums
    P[rows, targets] -= 1.0
    P *= scale / len(Z)
    return value, through_unit_rows(P @ V, U, lengths), through_unit_rows(P.T @ U, V, sizes)


@kept(scale=Real(above=0.0))
@dataclass(frozen=True)
class NormFace(ProxyLoss):
    """Softmax on the sphere: mean_i -log(exp(s cos(z_i, w_y)) / sum_c exp(s cos(z_i, w_c))), w_c the proxy of class c.

    Cosines are at most 1, so that without the scale s not even a perfect embedding would have a small loss. It is
    ``NormalizedSoftmaxLoss`` of pytorch-metric-learning with temperature 1 / s. A row of zeros has the cosine 0 with all.

    Parameters
    ----------
    scale : s > 0.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.losses.embedding import NormFace
    >>> value, of_rows, of_proxies = NormFace(1.0).value_and_gradient([[2.0, 0.0]], [0], [[1.0, 0.0], [0.0, 1.0]])
    >>> round(value, 4)  # log(1 + exp(0 - 1))
    0.3133
    """

    name: ClassVar[str] = "normface"
    scale: float = 20.0

    def __post_init__(self) -> None:
        check_positive(scale=self.scale)

    @property
    def on_sphere(self) -> bool:
        return True

    def at(self, Z: Array, targets: Array, proxies: Array) -> tuple[float, Array, Array]:
        return _at(Z, targets, proxies, self.scale, 0.0)


@kept(scale=Real(above=0.0), margin=Real())
@dataclass(frozen=True)
class AMSoftmax(ProxyLoss):
    """NormFace with a margin: the cosine with the row's own proxy counts m less than it is.

        mean_i -log(exp(s (cos(z_i, w_y) - m)) / (exp(s (cos(z_i, w_y) - m)) + sum_{c != y} exp(s cos(z_i, w_c))))

    With m = 0 it is :class:`NormFace`. It is ``CosFaceLoss`` of pytorch-metric-learning.

    Parameters
    ----------
    scale : s > 0.
    margin : m, by how much cosines with the own proxy must exceed those with others.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.losses.embedding import AMSoftmax
    >>> loss = AMSoftmax(1.0, margin=1.0)
    >>> round(loss.value([[2.0, 0.0]], [0], [[1.0, 0.0], [0.0, 1.0]]), 4)  # log(1 + exp(0 - (1 - 1)))
    0.6931
    """

    name: ClassVar[str] = "am-softmax"
    scale: float = 30.0
    margin: float = 0.35

    def __post_init__(self) -> None:
        check_positive(scale=self.scale)
        check_finite(margin=self.margin)

    @property
    def on_sphere(self) -> bool:
        return True

    def at(self, Z: Array, targets: Array, proxies: Array) -> tuple[float, Array, Array]:
        return _at(Z, targets, proxies, self.scale, self.margin)
