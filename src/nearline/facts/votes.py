"""What 1-NN does on its own training rows, and as their number grows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline.facts._checks import check_noise, check_whole
from nearline.facts._classes import noisy_classes, vote_error
from nearline.facts._fact import Fact, Table
from nearline.neighbors.index import Index
from nearline.plots.style import axes


@dataclass(frozen=True)
class TrainingError(Fact):
    """Error of k-NN on its own training rows and on new ones, for each k."""

    says = "Training error cannot choose k: 1-NN makes none unless equal rows carry different labels."
    ks: Array
    training: Array
    test: Array
    conflicts: float  # share of rows that an equal row with another label contradicts

    def table(self) -> Table:
        return Table.of(
            "k|training error|error on new rows", zip(self.ks, self.training, self.test, strict=True)
        )

    def plot(self, ax: Any = None) -> Any:
        ax = axes(ax)
        ax.plot(self.ks, self.training, "o-", color="#0072B2", label="training rows")
        ax.plot(self.ks, self.test, "s--", color="#D55E00", label="new rows")
        ax.set(
            xlabel="k",
            ylabel="error rate",
            ylim=(-0.02, None),
            title="Training error cannot choose k: it is always best at 1",
        )
        ax.set_xscale("log")
        ax.legend(fontsize="small")
        return ax


def training_error(
    n: int = 1000,
    *,
    ks: tuple[int, ...] = (1, 3, 5, 9, 15, 25, 51, 101),
    noise: float = 0.2,
    random_state: int = 0,
) -> TrainingError:
    """1-NN makes no mistake on its training rows unless equal rows carry different labels; on new ones it does.

    Examples
    --------
    >>> from nearline.facts import training_error
    >>> fact = training_error(500)
    >>> float(fact.training[0]), bool(fact.test[0] > 0.2)
    (0.0, True)
    """
    check_whole(n, "n", 1)
    check_noise(noise)
    rng = np.random.default_rng(random_state)
    X, y, _ = noisy_classes(rng, n, noise)
    X_test, y_test, _ = noisy_classes(rng, n, noise)
    return training_error_of(X, y, X_test, y_test, ks=ks)


def training_error_of(X: Any, y: Any, X_test: Any, y_test: Any, *, ks: tuple[int, ...]) -> TrainingError:
    """The same for given rows of two classes, 0 and 1."""
    X, y, index = np.asarray(X), np.asarray(y), Index(X)
    check_whole(ks, "ks", 1)
    for labels, rows, name in ((y, X, "y"), (np.asarray(y_test), X_test, "y_test")):
        if labels.shape != (len(rows),) or not np.isin(labels, (0, 1)).all():
            raise ValueError(f"{name} must have the label 0 or 1 for each of the {len(rows)} rows.")
    errors = {}
    for name, Q, labels in (("training", X, y), ("test", np.asarray(X_test), np.asarray(y_test))):
        found = index.search(Q, max(ks))
        errors[name] = np.array([vote_error(found.first(k), y, labels) for k in ks])
    same = Index(X).search(X, 1)  # at distance 0; ties are the other equal rows
    own = y[same.indices[:, 0]]
    owners = np.repeat(np.arange(len(X)), same.boundary.counts)
    mixed = np.zeros(len(X), dtype=bool)
    mixed[owners[y[same.boundary.values] != own[owners]]] = True
    return TrainingError(np.array(ks), errors["training"], errors["test"], float(mixed.mean()))


@dataclass(frozen=True)
class CoverHart(Fact):
    """Risk of 1-NN for growing n, between the Bayes risk R* and its bound 2 R* (1 - R*) for two classes."""

    says = "The risk of 1-NN falls to at most 2 R* (1 - R*), less than twice the Bayes risk R*, as rows grow."
    sizes: Array
    risks: Array  # mean over repetitions
    deviations: Array
    bayes: float

    def table(self) -> Table:
        limits = (self.limit, self.bayes)
        rows = ((n, risk, *limits) for n, risk in zip(self.sizes, self.risks, strict=True))
        return Table.of("n|risk of 1-NN|2 R* (1 - R*)|R*", rows)

    @property
    def limit(self) -> float:
        """Where 1-NN ends up here: E[2 eta (1 - eta)], which is the bound as the noise is the same everywhere."""
        return 2.0 * self.bayes * (1.0 - self.bayes)

    def plot(self, ax: Any = None) -> Any:
        ax = axes(ax)
        ax.errorbar(
            self.sizes, self.risks, yerr=self.deviations, capsize=3, color="#0072B2", marker="o", label="1-NN"
        )
        for value, label, style in (
            (2 * self.bayes, "2 R*", ":"),
            (self.limit, "2 R* (1 - R*)", "--"),
            (self.bayes, "R*, Bayes", "-"),
        ):
            ax.axhline(value, color="0.3", linestyle=style, label=f"{label} = {value:.3g}")
        ax.set(xlabel="n", ylabel="risk", ylim=(0, None), title="1-NN comes to within twice the Bayes risk")
        ax.set_xscale("log")
        ax.legend(fontsize="small")
        return ax


def cover_hart(
    sizes: tuple[int, ...] = (10, 30, 100, 300, 1000, 3000, 10000),
    *,
    noise: float = 0.15,
    repetitions: int = 10,
    n_test: int = 4000,
    random_state: int = 0,
) -> CoverHart:
    """The risk of 1-NN falls to 2 R* (1 - R*), below twice the Bayes risk R* (Cover and Hart, 1967).

    Rows are uniform in the square; either side of the diagonal is one class, and a share ``noise`` of labels is wrong, so
    that R* = noise. Given a new row and its neighbor's label, the risk is known, and needs no labels of new rows.

    Examples
    --------
    >>> from nearline.facts import cover_hart
    >>> fact = cover_hart((10, 1000), repetitions=4)
    >>> fact.bayes < fact.risks[-1] < 2 * fact.bayes
    np.True_
    """
    check_whole(sizes, "sizes", 1)
    check_whole(n_test, "n_test", 1)
    check_whole(repetitions, "repetitions", 2)  # of one there is no deviation
    check_noise(noise)
    rng = np.random.default_rng(random_state)
    risks = np.empty((len(sizes), repetitions))
    for i, n in enumerate(sizes):
        for r in range(repetitions):
            X, y, _ = noisy_classes(rng, n, noise)
            Q, _, likely = noisy_classes(rng, n_test, noise)
            guesses = y[Index(X).search(Q, 1).indices[:, 0]]
            risks[i, r] = np.where(guesses == likely, noise, 1.0 - noise).mean()
    return CoverHart(np.array(sizes), risks.mean(axis=1), risks.std(axis=1, ddof=1), noise)
