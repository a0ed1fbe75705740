"""The least squares probe: ridge regression on -1 and +1, all strengths from one decomposition."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nearline.probes._case import Case
from nearline.probes._part import Answer, Part
from nearline.solvers import RidgeFactorization

LEAST_DEVIATION = 1e-5  # added to the deviation of each feature


@dataclass(frozen=True)
class RidgeOnSigns(Part):
    """Least squares on targets +1 (the class) and -1 (the others), features standardized by the training rows.

        z = (x - mean) / (deviation + 1e-5)
        minimize over W, v:  sum_i |W z_i + bias_feature v - t_i|^2 + strength (|W|^2 + |v|^2)

    The bias is the weight v of one more feature that is always ``bias_feature``, so that it is penalized, though hardly. As
    the z add up to 0, it is b = mean(t) n / (n + strength / bias_feature^2), and W is the ridge of centered targets: one
    decomposition gives all strengths. The table shows the ``declared`` one, and the best of all as found on the test rows.
    """

    strengths: tuple[float, ...]
    declared: float
    bias_feature: float = 100.0
    probe: ClassVar[str] = "least squares"

    def answers(self, case: Case) -> Iterator[Answer]:
        X = case.X.astype(np.float64)
        mean, scale = X.mean(axis=0), X.std(axis=0) + LEAST_DEVIATION
        X -= mean
        X /= scale
        signs = np.where(case.codes[:, None] == np.arange(case.n_classes), 1.0, -1.0)
        factors, n = RidgeFactorization(X, signs), len(X)
        Z = (case.Q - mean) / scale
        for strength in self.strengths:
            bias = signs.mean(axis=0) * n / (n + strength / self.bias_feature**2)
            labels = (Z @ factors.weights(strength / n).T + bias).argmax(axis=1)
            yield Answer(
                self.probe,
                {"strength": strength},
                labels.astype(np.int64),
                headline=strength == self.declared,
            )
