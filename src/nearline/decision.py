"""The decision rule: scores -> labels."""

from typing import Any

import numpy as np

from nearline._arrays.design import Array


def decide(scores: Array, classes: Array) -> Array:
    """Labels of scores (n, K). One column: the second class where f >= 0; more: the largest score, ties to class order.

    >>> import numpy as np
    >>> decide(np.array([[-0.5], [0.0]]), np.array(["no", "yes"])).tolist()
    ['no', 'yes']
    """
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    winners: Any = (scores >= 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
    return np.asarray(classes[winners])
