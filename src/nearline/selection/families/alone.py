"""Families whose candidates are fitted one by one: baselines, centers, densities, the perceptron, the user's own."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from nearline._arrays.design import is_sparse
from nearline.estimators import (
    BernoulliNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    MultinomialNB,
    NearestCentroid,
    Perceptron,
)
from nearline.representations.sparse import are_counts, is_thin
from nearline.selection.edges import Axis
from nearline.selection.families._base import Family, Fold
from nearline.selection.families._sizes import pickled_size

MOST_FEATURES = 4000  # of a covariance matrix that is factored in every fold


@dataclass(frozen=True)
class Majority(Family):
    """The class of most weight, always: without class weights the most frequent one, which every model must beat."""

    name: str = "majority"
    trivial: ClassVar[bool] = True

    def grid(self, fold: Fold, preset: str) -> list[dict[str, Any]]:
        return [{}]

    def estimator(self, parameters: dict[str, Any]) -> Any:
        return DummyClassifier(strategy="prior")


@dataclass(frozen=True)
class Centroid(Family):
    """The class with the nearest mean (L2) or median (L1)."""

    name: str = "nearest centroid"
    alone: ClassVar[bool] = True

    def grid(self, fold: Fold, preset: str) -> list[dict[str, Any]]:
        few = preset == "quick" or is_sparse(fold.X_train)
        return [{"metric": metric} for metric in (("l2",) if few else ("l2", "l1"))]

    def estimator(self, parameters: dict[str, Any]) -> Any:
        return NearestCentroid(**parameters)


@dataclass(frozen=True)
class Discriminant(Family):
    """Gaussian classes with one covariance, more or less shrunk."""

    name: str = "linear discriminant"
    alone: ClassVar[bool] = True
    path: ClassVar[str | None] = "shrinkage"

    def refuses(self, fold: Fold) -> str | None:
        if is_sparse(fold.X_train):
            return "its covariance matrix needs dense rows"
        if fold.shape[1] > MOST_FEATURES:
            return (
                f"its covariance matrix of {fold.shape[1]:,} features is too large (most: {MOST_FEATURES:,})"
            )
        return None

    def grid(self, fold: Fold, preset: str) -> list[dict[str, Any]]:
        amounts = {
            "quick": (0.001, 0.1),
            "default": (0.001, 0.1),
            "thorough": (0.0001, 0.001, 0.01, 0.1, 0.3, 0.6),
        }
        return [{"shrinkage": amount} for amount in amounts[preset]]

    def axes(self, fold: Fold, grid: list[dict[str, Any]]) -> tuple[Axis, ...]:
        return (Axis("shrinkage", "shrinkage", high=1.0),)

    def estimator(self, parameters: dict[str, Any]) -> Any:
        return LinearDiscriminantAnalysis(**parameters)

    def memory(self, fold: Fold, grid: list[dict[str, Any]]) -> int:
        return 2 * fold.data_bytes + 32 * fold.shape[1] ** 2

    def cost(self, fold: Fold, grid: list[dict[str, Any]]) -> float:
        n, D = fold.shape
        return 0.2 * len(grid) * (n + D) * D**2


@dataclass(frozen=True)
class Gaussian(Family):
    """Naive Bayes with a normal distribution for each feature."""

    name: str = "naive Bayes, Gaussian"
    alone: ClassVar[bool] = True
    path: ClassVar[str | None] = "smoothing"

    def refuses(self, fold: Fold) -> str | None:
        if not is_thin(fold.X_train):
            return None
        if are_counts(fold.X_train):
            return "word counts are not normal: see the multinomial one"
        return f"nearly all cells of these {fold.shape[1]:,} columns are 0, which is not normal: see the Bernoulli one"

    def grid(self, fold: Fold, preset: str) -> list[dict[str, Any]]:
        amounts = {
            "quick": (1e-9, 1e-2),
            "default": (1e-9, 1e-2, 0.3),
            "thorough": (1e-9, 1e-4, 1e-2, 0.1, 0.3, 1.0),
        }
        return [{"smoothing": amount} for amount in amounts[preset]]

    def axes(self, fold: Fold, grid: list[dict[str, Any]]) -> tuple[Axis, ...]:
        return (Axis("smoothing", "smoothing"),)

    def estimator(self, parameters: dict[str, Any]) -> Any:
        return GaussianNB(**parameters)


@dataclass(frozen=True)
class Multinomial(Family):
    """Naive Bayes of counts, or of other numbers that are not negative."""

    name: str = "naive Bayes, multinomial"
    takes: tuple[str, ...] = field(default=("numbers", "n-grams", "presence"), kw_only=True)
    alone: ClassVar[bool] = True
    path: ClassVar[str | None] = "smoothing"

    def refuses(self, fold: Fold) -> str | None:
        return "it takes counts, and there are negative numbers" if fold.smallest < 0 else None

    def grid(self, fold: Fold, preset: str) -> list[dict[str, Any]]:
        amounts = {
            "quick": (0.1, 1.0),
            "default": (0.01, 0.1, 1.0),
            "thorough": (0.001, 0.01, 0.03, 0.1, 0.3, 1.0),
        }
        return [{"smoothing": amount} for amount in amounts[preset]]

    def axes(self, fold: Fold, grid: list[dict[str, Any]]) -> tuple[Axis, ...]:
        return (Axis("smoothing", "smoothing"),)

    def estimator(self, parameters: dict[str, Any]) -> Any:
        return MultinomialNB(**parameters)


@dataclass(frozen=True)
class Bernoulli(Multinomial):
    """Naive Bayes of which features are there (x > 0)."""

    name: str = "naive Bayes, Bernoulli"
    takes: tuple[str, ...] = field(default=("numbers", "presence"), kw_only=True)

    def refuses(self, fold: Fold) -> str | None:
        return None

    def estimator(self, parameters: dict[str, Any]) -> Any:
        return BernoulliNB(**parameters)


@dataclass(frozen=True)
class PerceptronFamily(Family):
    """The mean of the weights that the perceptron rule goes through."""

    name: str = "perceptron"
    epochs: int = 30

    def grid(self, fold: Fold, preset: str) -> list[dict[str, Any]]:
        return [{"averaged": True}] if preset != "thorough" else [{"averaged": True}, {"averaged": False}]

    def estimator(self, parameters: dict[str, Any]) -> Any:
        return Perceptron(**parameters, max_iter=self.epochs, random_state=0)

    def cost(self, fold: Fold, grid: list[dict[str, Any]]) -> float:
        return 10.0 * super().cost(fold, grid)


@dataclass(frozen=True)
class Own(Family):
    """A classifier that the user brings along, as it is."""

    name: str
    model: Any
    threads: ClassVar[bool] = False
    by_number: ClassVar[bool] = False

    @property
    def identity(self) -> str:
        kind = type(self.model)
        parameters = sorted(clone(self.model).get_params().items())
        return f"{self.name}: {kind.__module__}.{kind.__qualname__}({parameters!r})"

    def refuses(self, fold: Fold) -> str | None:
        if fold.weights is not None and not has_fit_parameter(self.model, "sample_weight"):
            return "its fit takes no sample_weight"
        return None

    def grid(self, fold: Fold, preset: str) -> list[dict[str, Any]]:
        return [{}]

    def estimator(self, parameters: dict[str, Any]) -> Any:
        return clone(self.model)

    def size_of(self, model: Any) -> int | None:
        return pickled_size(model)

    def cost(self, fold: Fold, grid: list[dict[str, Any]]) -> float:
        return 100.0 * super().cost(fold, grid)


def own_family(name: str, model: Any) -> Own:
    """A pipeline makes features of the rows itself, and gets them as they came; other models get rows as numbers."""
    return Own(name, model, takes=("rows",) if isinstance(model, Pipeline) else ("numbers",))
