"""Sparse text, L2: logistic, hinge, squared hinge (one-vs-rest) and Crammer-Singer against LIBLINEAR, without bias."""

from collections.abc import Iterator
from functools import partial

from benchmarks.harness import Contest, Heat, Session
from benchmarks.ours import Nearline
from benchmarks.peers import Liblinear
from benchmarks.problems import Problem
from benchmarks.trials import suboptimality_heats

# LIBLINEAR stops by default between 1e-2 and 1e-4, depending on the solver.
TARGETS = (1e-2, 1e-3, 1e-4, 1e-6)
NAMES = {"news20": "20 Newsgroups", "reviews": "IMDB-like"}


def heats(loss: str, kinds: tuple[int, ...], session: Session) -> Iterator[Heat]:
    for data, name in NAMES.items():
        if loss == "crammer-singer" and data == "reviews":
            continue  # two classes: the same as hinge, up to scale
        problem = Problem(data, session.options.rows(None), loss)
        title = f"{name}, {loss} L2, {problem.n_rows} rows, {problem.n_classes} classes"
        # LIBLINEAR computes in float64; ours is shown in both, the same-precision row first.
        ours = [Nearline("float64"), Nearline("float32")]
        yield from suboptimality_heats(
            title, problem, ours, [Liblinear(kind) for kind in kinds], TARGETS, session
        )


CONTESTS = tuple(
    Contest(f"text-{loss}", f"sparse text, {loss}, L2", "2x LIBLINEAR", partial(heats, loss, kinds))
    for loss, kinds in {
        "logistic": (0, 7),
        "hinge": (3,),
        "squared-hinge": (1, 2),
        "crammer-singer": (4,),
    }.items()
)
