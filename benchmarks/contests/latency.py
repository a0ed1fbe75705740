"""Labels for a single row: what a service pays for each request."""

import time
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from benchmarks.harness import Contest, Heat, Outcome, Session, Verdict
from benchmarks.homes import NEARLINE, SKLEARN
from benchmarks.problems import Problem, job

CALLS = 2000


@lru_cache(maxsize=4)
def fitted(library: str, problem: Problem, dtype: str) -> Any:
    """A softmax model; how well it is fitted does not matter here."""
    split = problem.split(dtype)
    if library == "nearline":
        from nearline import LogisticRegression

        return LogisticRegression(alpha=0.1, tol=1e-2).fit(split.X, split.y)
    from sklearn.linear_model import LogisticRegression as Peer

    return Peer(C=1e-4, max_iter=20).fit(split.X, split.y)


def single_rows(problem: Problem, dtype: str, library: str, call: str) -> Outcome:
    """Mean seconds of a call over many rows, and whether it says what predict says of all rows at once."""
    model = fitted(library, problem, dtype)
    X = problem.split(dtype).X_test[:CALLS]
    predict = model.score_function_.label if call == "label" else lambda x: model.predict(x[None])[0]
    rows = list(X)
    began = time.perf_counter()
    labels = [predict(x) for x in rows]
    seconds = (time.perf_counter() - began) / len(rows)
    return Outcome(seconds, {"agree": float((model.predict(X) == labels).mean())})


def same_labels(outcome: Outcome) -> Verdict:
    share = outcome.facts["agree"]
    return Verdict(share == 1.0, {"labels as for all rows at once": f"{share:.4f}"})


def heats(session: Session) -> Iterator[Heat]:
    problem = Problem("fashion", 2000, "softmax", bias=True)
    contestants = [
        ("nearline score_function_.label(x)", "nearline", "label", NEARLINE),
        ("nearline predict", "nearline", "predict", NEARLINE),
        ("scikit-learn LogisticRegression.predict", "scikit-learn", "predict", SKLEARN),
    ]
    entries = []
    for name, library, call, home in contestants:
        own, settings = library == "nearline", {"library": library, "call": call}
        entries.append(job(name, single_rows, problem, "float32", same_labels, home, ours=own, **settings))
    yield Heat(
        f"one row of 784 features, 10 classes [{problem.split().source}]", "same labels as in bulk", entries
    )


CONTESTS = (Contest("latency", "one row at a time", "under 20 us a row", heats),)
