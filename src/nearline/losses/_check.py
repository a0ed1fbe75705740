"""Whether the pieces of a loss belong together: a wrong one would give a wrong minimum, or a false proof of it."""

from typing import TYPE_CHECKING

import numpy as np

from nearline._arrays.design import Array

if TYPE_CHECKING:
    from nearline.losses._base import Loss


def check_pieces(loss: "Loss", targets: Array, n_outputs: int) -> None:
    """Value, slopes and conjugate against each other, at random scores of rows with these targets."""
    scores = np.random.default_rng(0).normal(scale=2.0, size=(len(targets), n_outputs))
    value, slopes = loss.value_and_gradient(scores, targets)
    if not (np.isfinite(value).all() and np.isfinite(slopes).all()):
        return  # a loss that is not made for any scores
    h = 1e-6
    changes = [
        loss.value(scores + h * e, targets) - loss.value(scores - h * e, targets) for e in np.eye(n_outputs)
    ]
    same = np.allclose(loss.value(scores, targets), value)
    if not (same and np.allclose(np.stack(changes, axis=1) / (2 * h), slopes, rtol=1e-3, atol=1e-4)):
        raise ValueError(
            f"Loss {type(loss).__name__} has slopes that are not its derivative: define dphi beside phi, "
            "value_and_gradient beside value."
        )
    products = (slopes * scores).sum(axis=1)
    # Slopes may lie on the boundary of the conjugate's domain, where rounding decides: slightly inside will do.
    conjugates = [loss.conjugate(t * slopes, targets) for t in (1.0, 1.0 - 1e-9)]
    known = [values for values in conjugates if values is not None]
    if known and not np.allclose(value + np.minimum(*known), products, rtol=1e-6, atol=1e-6):
        raise ValueError(
            f"Loss {type(loss).__name__} has a conjugate that does not belong to its value: certificates would prove "
            "nothing. Define value and conjugate together, or leave the conjugate out."
        )
