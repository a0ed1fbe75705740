"""What a type checker must see in the calls of users: each line marked as an error is one (mypy runs over this file)."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from nearline import KNeighborsClassifier, LogisticRegression, TryThemAll, sweep

    LogisticRegression(alpha=0.1, fit_intercept=False)
    LogisticRegression(nonsense=True)  # type: ignore[call-arg]
    KNeighborsClassifier(3, wrong=1)  # type: ignore[call-arg]
    TryThemAll("quick", random_state=1)
    TryThemAll("quick", seed=1)  # type: ignore[call-arg]
    sweep([[0.0]], [0], ks=[1], nothing=2)  # type: ignore[call-arg]
