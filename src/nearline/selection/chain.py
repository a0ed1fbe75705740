"""Chain: a representation and the model behind it."""

from typing import Any, Self

from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if

from nearline._records.explanation import Explanation


class Chain(Pipeline):
    """A representation and a model, which gets the sample weights."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit both on rows and labels."""
        extra = {} if sample_weight is None else {"model__sample_weight": sample_weight}
        return super().fit(X, y, **extra)

    @available_if(lambda self: callable(getattr(self.steps[-1][1], "explain", None)))  # type: ignore[untyped-decorator]
    def explain(self, X: Any) -> Explanation:
        """The model's explanation of the rows as the representation shows them."""
        return self.steps[-1][1].explain(self[:-1].transform(X))
