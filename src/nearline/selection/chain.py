"""Chain: a representation and the model behind it."""

from typing import Any, Self

from sklearn.pipeline import Pipeline


class Chain(Pipeline):
    """A representation and a model, which gets the sample weights."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit both on rows and labels."""
        extra = {} if sample_weight is None else {"model__sample_weight": sample_weight}
        return super().fit(X, y, **extra)
