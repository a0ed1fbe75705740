"""Two-class SVM problems over one kernel, solved until what is delivered has its certified gap."""

from collections.abc import Callable, Sequence

import numpy as np

from nearline.solvers.smo import Certificate, Problem, certificates

FIRST = 1e-3  # violation at which gaps are first looked at, that of LIBSVM
FINEST = 1e-12  # violation below which there are only roundings

Found = tuple[float, int]  # violation, steps
Solve = Callable[[list[Problem], float, int], list[Found]]  # some problems, to a violation, in so many steps


def solve_to_gap(
    problems: Sequence[Problem],
    solve: Solve,
    settle: Callable[[], None],
    refine: Callable[[], bool],
    *,
    tol: float,
    max_iter: int,
) -> tuple[list[Certificate], list[Found]]:
    """Lower the violation tenfold until P - D <= tol P in every problem, F computed anew in float64.

    ``settle`` computes F of all problems from their beta; ``refine`` goes from float32 to float64 entries of the Gram
    matrix and says whether that made a difference.
    """
    found: list[Found] = [(np.inf, 0)] * len(problems)
    pending, aim = list(range(len(problems))), FIRST
    while True:
        most = max_iter - max(found[p][1] for p in pending)
        for p, (violation, steps) in zip(
            pending, solve([problems[p] for p in pending], aim, most), strict=True
        ):
            found[p] = violation, found[p][1] + steps
        late = _late(problems, tol)
        settled = not set(late) & set(pending)
        if settled or not _goes_on(found, aim, max_iter):
            settle()
            late = _late(problems, tol)
            if not late or not _goes_on(found, aim, max_iter):
                return certificates(problems), found
            settled = refine()
        pending = late
        aim = aim if settled else 0.1 * aim


def _late(problems: Sequence[Problem], tol: float) -> list[int]:
    """The problems whose gap is too large."""
    return [p for p, proof in enumerate(certificates(problems)) if not proof.gap <= tol]


def _goes_on(found: list[Found], aim: float, max_iter: int) -> bool:
    return aim > FINEST and max(steps for _, steps in found) < max_iter
