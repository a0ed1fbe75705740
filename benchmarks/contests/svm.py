"""Linear SVMs on dense images: squared hinge one-vs-rest, Crammer-Singer, Weston-Watkins."""

from collections.abc import Iterator

from benchmarks.fitters import fit_entry
from benchmarks.harness import Contest, Heat, Session
from benchmarks.ours import Nearline
from benchmarks.peers import Liblinear
from benchmarks.problems import Problem, Suboptimality
from benchmarks.trials import reference, suboptimality_heats

TARGETS = (1e-2, 1e-3, 1e-4)
OURS = [Nearline("float32"), Nearline("float64")]


def squared_hinge(session: Session) -> Iterator[Heat]:
    problem = Problem("fashion", session.options.rows(None), "squared-hinge")
    title = f"dense squared hinge, one-vs-rest, {problem.n_rows} rows"
    yield from suboptimality_heats(title, problem, OURS, [Liblinear(2)], TARGETS, session)


def crammer_singer(session: Session) -> Iterator[Heat]:
    problem = Problem("fashion", session.options.rows(10_000), "crammer-singer")
    title = f"dense Crammer-Singer, {problem.n_rows} rows"
    yield from suboptimality_heats(title, problem, OURS, [Liblinear(4)], TARGETS, session)


def weston_watkins(session: Session) -> Iterator[Heat]:
    """Both ours: each is judged on its own problem."""
    rows = session.options.rows(10_000)
    for target in TARGETS:
        entries = []
        for loss in ("weston-watkins", "crammer-singer"):
            problem = Problem("fashion", rows, loss)
            judge = Suboptimality(problem, reference(problem, session), target)
            own = Nearline("float32", label=f"nearline {loss}")
            entries.append(fit_entry(own, problem, target, judge, ours=loss == "weston-watkins"))
        title = f"Weston-Watkins against our own Crammer-Singer, {problem.n_rows} rows, suboptimality {target:.0e}"
        yield Heat(
            f"{title} [{problem.split().source}]",
            f"(P-P*)/P* <= {target:.0e}, each of its own problem",
            entries,
        )


CONTESTS = (
    Contest("dense-svm", "squared hinge, one-vs-rest, dense", "5x LIBLINEAR -s 2", squared_hinge),
    Contest("crammer-singer", "Crammer-Singer, dense", "10x LIBLINEAR -s 4", crammer_singer),
    Contest("weston-watkins", "Weston-Watkins, dense", "1x our own Crammer-Singer", weston_watkins),
)
