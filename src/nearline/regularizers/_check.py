"""Whether the pieces of a penalty belong together: a wrong one would give a wrong minimum, or a false proof of it."""

from typing import TYPE_CHECKING

import numpy as np

from nearline._arrays.design import Array

if TYPE_CHECKING:
    from nearline.regularizers._base import Regularizer

FAR = 1e6  # a place where conjugates that are infinite somewhere are so, as a rule


def check_pieces(penalty: "Regularizer", shape: tuple[int, int]) -> None:
    """Gradient, prox and conjugate against the value, at one random place."""
    W, V = np.random.default_rng(0).normal(size=(2, *shape))
    slopes = [(W, slope) for slope in [penalty.gradient(W) if penalty.smooth else None] if slope is not None]
    if slopes:
        _check_gradient(penalty, W, V, slopes[0][1])
    for step in (0.5, np.linspace(0.5, 1.5, shape[1])) if penalty.by_feature else (0.5,):
        nearest = penalty.prox(W, step)
        if nearest is not None:
            _check_prox(penalty, W, V, nearest, step)
            if np.ndim(step) == 0:
                slopes.append(
                    (nearest, (W - nearest) / step)
                )  # a slope of R at the prox, wherever it has kinks
    _check_conjugate(penalty, slopes, V)


def _check_gradient(penalty: "Regularizer", W: Array, V: Array, gradient: Array) -> None:
    h = 1e-6
    slope = (penalty.value(W + h * V) - penalty.value(W - h * V)) / (2 * h)
    if not np.isclose(np.vdot(gradient, V), slope, rtol=1e-3, atol=1e-6):
        raise ValueError(
            f"Penalty {type(penalty).__name__} has a gradient that is not the derivative of its value: "
            "define value and gradient together."
        )


def _check_prox(penalty: "Regularizer", W: Array, V: Array, nearest: Array, step: float | Array) -> None:
    def weighed(P: Array) -> float:  # of a penalty that is a sum over features, each with its own step
        steps = np.broadcast_to(step, W.shape[1])
        if np.ndim(step) == 0:
            return float(0.5 * ((P - W) ** 2).sum() + steps[0] * penalty.value(P))
        alone = (penalty.value(np.where(np.arange(len(steps)) == j, P, 0.0)) for j in range(len(steps)))
        return float(0.5 * ((P - W) ** 2).sum() + sum(t * value for t, value in zip(steps, alone)))

    if np.ndim(step) and W.shape[1] > 50:  # as many values as features: tried on few
        return
    least, others = (
        weighed(nearest),
        (W, nearest + 1e-3 * V, nearest - 1e-3 * V, 0.9 * nearest, 1.1 * nearest),
    )
    if not all(least <= weighed(other) + 1e-9 * (1.0 + abs(least)) for other in others):
        raise ValueError(
            f"Penalty {type(penalty).__name__} has a prox that does not minimize |V - W|^2 / 2 + step R(V): define value "
            "and prox together (where by_feature, for one step a feature too)."
        )


def _check_conjugate(penalty: "Regularizer", slopes: list[tuple[Array, Array]], V: Array) -> None:
    """R(W) + R*(V) = V.W where V is a slope of R at W."""
    far = penalty.conjugate(FAR * penalty.into_domain(FAR * V) * V)
    if far is None:
        return
    sums = [(penalty.value(W), penalty.conjugate(G) or 0.0, float(np.vdot(G, W))) for W, G in slopes]
    # A slope of R lies on the boundary of the domain, where rounding decides: slightly inside will do.
    inside = [
        (value, penalty.conjugate((1 - 1e-9) * G) or 0.0, product)
        for (value, _, product), (_, G) in zip(sums, slopes)
    ]
    same = all(
        np.isclose(value + min(one, other), product, rtol=1e-6, atol=1e-6)
        for (value, one, product), (_, other, _) in zip(sums, inside)
    )
    if not (same and np.isfinite(far)):
        what = "does not belong to its value" if np.isfinite(far) else "is infinite where into_domain leads"
        raise ValueError(
            f"Penalty {type(penalty).__name__} has a conjugate that {what}: certificates would prove nothing. Define value, "
            "conjugate and into_domain together, or leave the conjugate out."
        )
