"""FAMILIES: what a contest tries. A family is added in one place, by listing it here."""

from typing import Any

from nearline._records.refused import UnknownNameError
from nearline._records.words import worded
from nearline.estimators import (
    LeastSquaresClassifier,
    LinearSVM,
    LogisticRegression,
    SparsemaxClassifier,
)
from nearline.regularizers import ElasticNet
from nearline.representations import PRESETS
from nearline.selection.families._base import Family, Fold, Outcome, Shared, voters_of
from nearline.selection.families.alone import (
    Bernoulli,
    Centroid,
    Discriminant,
    Gaussian,
    Majority,
    Multinomial,
    PerceptronFamily,
    own_family,
)
from nearline.selection.families.exemplars import FewShot
from nearline.selection.families.kernel_neighbors import KernelNeighbors
from nearline.selection.families.kernels import KernelLogistic, KernelRidge, SupportVectors
from nearline.selection.families.learned_neighbors import LearnedNeighbors
from nearline.selection.families.low_rank import LowRank
from nearline.selection.families.neighbors import NearestNeighbors
from nearline.selection.families.paths import LeastSquaresPath, Path

# Besides numbers: linear models take splines and products; those that are quick and of the best take pairs of words.
CURVES = ("numbers", "values", "splines", "products")
CURVES_AND_PAIRS = (*CURVES, "n-grams")
VALUES = ("numbers", "values")
# Those that are quick on the thousands of columns that pixels are; the others see images by their features.
PIXELS = (*VALUES, "pixels")
# In order of what they cost: where time is short, the first come first.
FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Majority(),
        Centroid(takes=("numbers", "pixels")),
        Gaussian(),
        Multinomial(),
        Bernoulli(),
        Discriminant(),
        LeastSquaresPath("least squares", LeastSquaresClassifier(), effort=3.0, takes=(*CURVES, "pixels")),
        PerceptronFamily(),
        NearestNeighbors("k-NN, L2", "l2", takes=PIXELS),
        NearestNeighbors("k-NN, cosine", "cosine", takes=("numbers", "pixels")),
        NearestNeighbors("k-NN, L1", "l1", on_sparse=False),
        Path("logistic, L2", LogisticRegression(), takes=CURVES_AND_PAIRS),
        Path("SVM, squared hinge", LinearSVM(), takes=CURVES_AND_PAIRS),
        Path("SVM, hinge", LinearSVM(loss="hinge")),
        Path("sparsemax", SparsemaxClassifier()),
        Path("SVM, Crammer-Singer", LinearSVM(loss="crammer-singer"), several=True),
        Path("SVM, Weston-Watkins", LinearSVM(loss="weston-watkins"), several=True),
        Path("logistic, L1", LogisticRegression(regularizer="l1"), takes=CURVES),
        Path("logistic, elastic net", LogisticRegression(regularizer=ElasticNet(0.5))),
        KernelNeighbors(),
        SupportVectors("kernel SVM", most_rows=10_000, takes=("gram", *PIXELS)),
        KernelRidge("kernel least squares", most_rows=4_000),
        LowRank(),
    )
}
QUICK = (
    "majority",
    "nearest centroid",
    "naive Bayes, Gaussian",
    "naive Bayes, multinomial",
    "linear discriminant",
    "least squares",
    "k-NN, L2",
    "k-NN, cosine",
    "logistic, L2",
    "SVM, squared hinge",
)
THOROUGH = (
    KernelLogistic("kernel logistic", most_rows=4_000),
    Path("logistic, one-vs-rest", LogisticRegression(multiclass="one-vs-rest"), several=True),
    NearestNeighbors("k-NN, L-infinity", "l-infinity", on_sparse=False),
    FewShot(),
    LearnedNeighbors(),
)


def families(
    preset: str = "default", include: Any = None, exclude: Any = (), own: dict[str, Any] | None = None
) -> list[Family]:
    """Those of a preset, by name or part of a name ("k-NN", "logistic"), then the user's own estimators.

    Own ones join in any case, unless ``include`` names some of them: then these.
    """
    if preset not in PRESETS:
        raise UnknownNameError("preset", preset, PRESETS)
    listed = {**FAMILIES, **{family.name: family for family in THOROUGH}}
    taken = sorted(set(own or {}) & set(listed))
    if taken:
        raise ValueError(
            f"The name {taken[0]!r} is that of a family already: give the estimator another name."
        )
    chosen = [name for name in FAMILIES if preset != "quick" or name in QUICK]
    if preset == "thorough":
        chosen = list(listed)
    known: dict[str, Family] = {
        **listed,
        **{name: own_family(name, model) for name, model in (own or {}).items()},
    }
    chosen += list(own or {})
    if include is not None:
        wanted = _matching(include, chosen, list(known), "include")
        wanted |= set() if wanted & set(own or {}) else set(own or {})
        chosen = [name for name in known if name in wanted]
    unwanted = _matching(exclude or (), list(known), list(known), "exclude")
    return [known[name] for name in chosen if name not in unwanted]


def _matching(names: Any, preset: list[str], known: list[str], what: str) -> set[str]:
    """A whole name of any family, or part of names, of those in the preset first."""
    found: set[str] = set()
    for name in [names] if isinstance(names, str) else names:
        parts = [{one for one in some if str(name).lower() in one.lower()} for some in (preset, known)]
        matches = {name} if name in known else parts[0] or parts[1]
        if not matches:
            raise ValueError(
                f"{worded(what, f'--{what}')}: no family is called {name!r}. There are: {', '.join(map(repr, known))}."
            )
        found |= matches
    return found


__all__ = ["FAMILIES", "PRESETS", "Family", "Fold", "Outcome", "Shared", "families", "voters_of"]
