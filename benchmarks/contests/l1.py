"""L1 logistic regression on sparse text, two classes, without bias."""

from collections.abc import Iterator

from benchmarks.harness import Contest, Heat, Session
from benchmarks.ours import Nearline
from benchmarks.peers import Celer, Cyanure, Liblinear, Skglm
from benchmarks.problems import Problem
from benchmarks.trials import suboptimality_heats

TARGETS = (1e-3, 1e-4, 1e-6)
PEERS = [Liblinear(6), Celer(), Skglm(), Cyanure("float64")]


def heats(session: Session) -> Iterator[Heat]:
    problem = Problem("reviews", session.options.rows(None), "logistic", regularizer="l1")
    title = f"IMDB-like, logistic L1, C = 1, {problem.n_rows} rows"
    ours = [Nearline("float64"), Nearline("float32")]
    yield from suboptimality_heats(title, problem, ours, PEERS, TARGETS, session)


CONTESTS = (
    Contest(
        "l1",
        "L1 logistic regression, sparse text",
        "1.5x the best of LIBLINEAR, celer, skglm, cyanure",
        heats,
    ),
)
