"""Chain: a representation and the model behind it, and the decision rule if it is not the model's own."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if

from nearline._arrays.design import Array
from nearline._records.explanation import Contributions, Explanation
from nearline._records.kept import Instance, OrNone, kept, require
from nearline.predictions import predictions_of
from nearline.selection.decisions import LeastCost, Rule, Threshold


def _rule_for_its_classes(chain: "Chain") -> None:
    n_classes = len(chain.classes_) if chain.rule is not None else 0
    fits = n_classes == (len(chain.rule.costs) if isinstance(chain.rule, LeastCost) else 2)
    require(chain.rule is None or fits, "A decision rule is for other classes than the model's")


@kept(rule=OrNone(Instance((Threshold, LeastCost))), links=_rule_for_its_classes)
class Chain(Pipeline):
    """A representation and a model, which gets the sample weights; ``rule`` makes the labels in place of the model."""

    def __init__(
        self,
        steps: Any,
        *,
        transform_input: Any = None,
        memory: Any = None,
        verbose: bool = False,
        rule: Rule | None = None,
    ) -> None:
        super().__init__(steps, transform_input=transform_input, memory=memory, verbose=verbose)
        self.rule = rule

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit both on rows and labels."""
        extra = {} if sample_weight is None else {"model__sample_weight": sample_weight}
        return super().fit(X, y, **extra)

    def predict(self, X: Any, **params: Any) -> Array:
        """The model's labels, or those of the rule."""
        if self.rule is None:
            return np.asarray(super().predict(X, **params))
        return self._ruled(self[:-1].transform(X))

    def _ruled(self, features: Any) -> Array:
        """Labels by the rule, of rows as the representation shows them."""
        assert self.rule is not None
        predictions = predictions_of(self.steps[-1][1], features, self.classes_)
        return np.asarray(self.classes_[self.rule.decided(predictions).labels])

    @available_if(lambda self: callable(getattr(self.steps[-1][1], "explain", None)))  # type: ignore[untyped-decorator]
    def explain(self, X: Any) -> Explanation:
        """The model's explanation of the rows as the representation shows them, of the labels that they get."""
        features = self[:-1].transform(X)
        found: Explanation = self.steps[-1][1].explain(features)
        if self.rule is None:
            return found
        labels, own = self._ruled(features), found.predictions
        if isinstance(found, Contributions):
            found = replace(found, runners_up=np.where(labels == own, found.runners_up, own))
        return replace(found, predictions=labels)
