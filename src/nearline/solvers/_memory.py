"""The memory of L-BFGS: pairs (change of z, change of gradient), and the inverse Hessian they stand for."""

from collections import deque
from collections.abc import Callable

import numpy as np

from nearline._arrays.design import Array
from nearline.solvers._groups import Groups, dots, ratio


class Memory:
    """The last pairs, each with its own inner products in every group of outputs."""

    def __init__(self, groups: Groups, size: int) -> None:
        self.groups = groups
        self.pairs: deque[tuple[Array, Array, Array]] = deque(maxlen=size)

    def __len__(self) -> int:
        return len(self.pairs)

    def clear(self) -> None:
        self.pairs.clear()

    def append(self, change: Array, turn: Array) -> None:
        """Keep a pair, in the groups in which it says that the risk is curved along the change."""
        s, y = self.groups.split(change), self.groups.split(turn)
        product = dots(s, y)
        curved = product > 1e-12 * np.sqrt(dots(s, s) * dots(y, y))
        if curved.any():
            self.pairs.append((s, y, np.where(curved, product, 0.0)))

    def descent(self, gradient: Array, inverse: Callable[[Array], Array] | None = None) -> Array:
        """-H gradient, H built from the pairs upon ``inverse`` (else a scaled identity): the two-loop recursion."""
        if self.groups.joint:
            return self._descent_of_one(gradient, inverse)
        q = self.groups.split(gradient).copy()
        coefficients = []
        for s, y, sy in reversed(self.pairs):
            a = ratio(dots(s, q), sy)
            q -= a * y
            coefficients.append(a)
        if inverse is not None:
            q = self.groups.split(inverse(self.groups.join(q))).copy()
        elif self.pairs:
            _, y, sy = self.pairs[-1]
            scale = ratio(sy, dots(y, y))
            q *= np.where(scale > 0, scale, 1.0)
        for (s, y, sy), a in zip(self.pairs, reversed(coefficients)):
            # A group without curvature along this pair has a = 0 and must not be moved by it.
            q += np.where(sy > 0, a - ratio(dots(y, q), sy), 0.0) * s
        return -self.groups.join(q)

    def _descent_of_one(self, gradient: Array, inverse: Callable[[Array], Array] | None) -> Array:
        """The same of a single group, whose inner products are numbers: on short vectors arrays of one cost the most."""
        q = gradient.copy()
        pairs = [(s[0], y[0], float(sy[0, 0])) for s, y, sy in self.pairs]
        coefficients = []
        for s, y, sy in reversed(pairs):
            a = float(s @ q) / sy
            q -= a * y
            coefficients.append(a)
        if inverse is not None:
            q = inverse(q).copy()
        elif pairs:
            _, y, sy = pairs[-1]
            q *= sy / float(y @ y)
        for (s, y, sy), a in zip(pairs, reversed(coefficients), strict=True):
            q += (a - float(y @ q) / sy) * s
        return -q
