"""Coordinates in which features of any scale and offset look alike. The problem stays what it is.

A solver works on z, the risk on (W, b) = T(z) with

    W = V / unit,   b = c - W mean,   z = (V, c)

``mean`` is the features' mean (so that a change of W leaves the mean score alone) and ``unit`` the square root of a
diagonal estimate of the curvature. T is linear and invertible: value, penalty and minimizer are exactly those of the
risk; only the shape that the solver sees changes. X itself is never touched, so it works for sparse data too.
"""

import numpy as np

from nearline._arrays.design import Array
from nearline.risk import Risk
from nearline.risk.params import Params

WILD = 1e3  # ratio of the largest to the smallest unit from which features count as wildly different


class Coordinates:
    """The linear map z -> (W, b) and its adjoint."""

    def __init__(self, risk: Risk, *, plain_if_tame: bool = False) -> None:
        """With ``plain_if_tame`` units are 1 unless features differ wildly in scale: the penalty then stays round."""
        mean, deviation = risk.passes.column_moments
        # A column that varies by rounding alone is constant: its noise must not be blown up.
        deviation = np.where(deviation > 10 * np.finfo(risk.precision).eps * np.abs(mean), deviation, 0.0)
        variance = deviation**2 if risk.bias else deviation**2 + mean**2
        curvature = 0.25 * variance + risk.l2
        self.unit = np.sqrt(np.where(curvature > 0, curvature, 1.0))
        self.plain = plain_if_tame and bool((self.unit <= WILD * self.unit.min(initial=np.inf)).all())
        if self.plain:
            self.unit = np.ones_like(self.unit)
        self.mean = mean if risk.bias else np.zeros_like(mean)
        self.unit_b = 0.5

    def to_params(self, z: Params) -> Params:
        """(W, b) of z; also maps directions, as it is linear."""
        params = z.like(np.empty_like(z.flat))
        np.divide(z.W, self.unit, out=params.W)
        params.b[:] = z.b / self.unit_b - params.W @ self.mean
        return params

    def from_params(self, params: Params) -> Params:
        z = params.like(np.empty_like(params.flat))
        np.multiply(params.W, self.unit, out=z.W)
        z.b[:] = (params.b + params.W @ self.mean) * self.unit_b
        return z

    def pull_back(self, gradient: Params) -> Array:
        """Gradient with respect to z, flat."""
        g = gradient.like(np.empty_like(gradient.flat))
        g.W[...] = (gradient.W - np.outer(gradient.b, self.mean)) / self.unit
        g.b[:] = gradient.b / self.unit_b
        return g.flat

    def pull_back_matrix(self, H: Array, like: Params) -> Array:
        """T^T H T for a matrix over the flat parameters."""
        rows = np.stack([self.pull_back(like.like(row)) for row in H])
        return np.stack([self.pull_back(like.like(column)) for column in rows.T])
