"""Softmax regression with L2 on Fashion-MNIST, weak and strong penalty, to three accuracies."""

from collections.abc import Iterator

from benchmarks.harness import Contest, Heat, Session
from benchmarks.ours import Nearline
from benchmarks.peers import Cyanure, ScikitLearn
from benchmarks.problems import Problem
from benchmarks.trials import suboptimality_heats

TARGETS = (1e-3, 1e-4, 1e-6)
PEERS = [
    ScikitLearn("lbfgs"),
    ScikitLearn("lbfgs", "float32"),
    ScikitLearn("newton-cg"),
    ScikitLearn("saga"),
    Cyanure("float64"),
    Cyanure("float32"),
]


def heats(session: Session) -> Iterator[Heat]:
    rows = session.options.rows(None)
    for C in (1.0, 0.01):
        problem = Problem("fashion", rows, "softmax", C, bias=True)
        title = f"softmax L2, C = {C:g}, {problem.n_rows} rows"
        ours = [Nearline("float32"), Nearline("float64")]
        yield from suboptimality_heats(title, problem, ours, PEERS, TARGETS, session)


CONTESTS = (
    Contest("softmax", "softmax regression, L2", "8x the best scikit-learn solver and 4x cyanure", heats),
)
