"""What a contest does by the model that it chose: labels, probabilities and scores of further rows."""

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from nearline._arrays.design import Array
from nearline._arrays.doors import door_of
from nearline.selection.input import checked_rows


def _has(method: str) -> Any:
    return available_if(lambda self: callable(getattr(self.model_, method, None)))


class PredictsByModel:
    """Of an estimator with a fitted ``model_``: the methods that the model has."""

    model_: Any

    def _of_model(self, method: str, X: Any) -> Array:
        check_is_fitted(self, "model_")
        door = door_of(X)
        if door is not None:
            of_blocks: Array = door.applied(getattr(self.model_, method), X)
            return of_blocks
        return np.asarray(getattr(self.model_, method)(checked_rows(self, X, reset=False)[0]))

    def predict(self, X: Any) -> Array:
        """Labels by the chosen model."""
        return self._of_model("predict", X)

    @_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Probabilities (n, C), if the chosen model gives any."""
        return self._of_model("predict_proba", X)

    @_has("predict_log_proba")  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the probabilities (n, C), if the chosen model gives any."""
        return self._of_model("predict_log_proba", X)

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Array:
        """Scores of the chosen model."""
        return self._of_model("decision_function", X)
