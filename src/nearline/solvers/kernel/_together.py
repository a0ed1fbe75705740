"""Many two-class machines over one Gram matrix, solved at the same time: one-vs-one, one-vs-rest."""

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nearline._arrays.design import Array
from nearline.risk import KernelRisk
from nearline.risk.params import Params
from nearline.solvers._certifier import Goal
from nearline.solvers._solution import Solution
from nearline.solvers._state import Status
from nearline.solvers.kernel._smo import MOST_STEPS, KernelSMO, Rounds, two_class_problems


@dataclass(frozen=True)
class Together:
    """What the fits end with: one solution a risk, and all of them side by side."""

    solutions: list[Solution]
    coefficients: Array  # (n, risks), of all items of the shared Gram matrix
    biases: Array  # (risks,)
    violation: float  # of the optimality conditions, the largest
    n_iter: int  # steps in all


def two_class_risks(risk: KernelRisk, pairs: Array | None) -> list[KernelRisk]:
    """A risk for each pair of classes, at the same weight of each row's loss, or for each class against the rest.

    The second class of a pair, or the one that is not the rest, is +1. Rows come by class.
    """
    order = np.argsort(risk.targets, kind="stable")
    targets = risk.targets[order]
    if pairs is None:
        return [risk.part(order, (targets == c).astype(np.int32), risk.alpha) for c in range(risk.n_classes)]
    ends = np.searchsorted(targets, np.arange(risk.n_classes + 1))
    members = [order[start:end] for start, end in itertools.pairwise(ends)]
    masses = [float(risk.weights[rows].sum()) for rows in members]
    risks = []
    for i, j in pairs.tolist():
        rows = np.concatenate([members[i], members[j]])
        second = np.zeros(len(rows), dtype=np.int32)
        second[len(members[i]) :] = 1
        share = (masses[i] + masses[j]) / risk.total_weight
        risks.append(risk.part(rows, second, risk.alpha / share if share > 0 else risk.alpha))
    return risks


def minimize_together(
    risks: Sequence[KernelRisk], *, tol: float = 1e-4, max_iter: int = MOST_STEPS
) -> Together:
    """Minimize two-class risks with the hinge loss over one Gram matrix by SMO, each to P - D <= tol P.

    It is what :func:`nearline.minimize` does for each, but the matrix is computed once, and the core works on all of them
    at the same time. ``max_iter`` are steps of SMO in each.
    """
    began, gram = time.perf_counter(), risks[0].shared
    for risk in risks:
        reason = KernelSMO().refuses(risk)
        if reason is not None:
            raise ValueError(reason)
    problems = [one for risk in risks for one in two_class_problems(risk)]
    rounds = Rounds(gram, problems, _by_first_use(risks, gram.n))
    proofs = rounds.solve(Goal(tol), max_iter)
    seconds = time.perf_counter() - began
    solutions = []
    for risk, problem, proof, (_, steps) in zip(risks, problems, proofs, rounds.found.tolist(), strict=True):
        late = Status.MAX_ITER if steps >= max_iter else Status.PRECISION
        solutions.append(
            Solution(
                params=Params.of(problem.beta[None], np.array([proof.b])),
                value=risk.alpha * proof.primal,
                gap=proof.gap,
                gradient_test=None,
                n_iter=int(steps),
                seconds=seconds,
                status=Status.CONVERGED if proof.gap <= tol else late,
                trace=risk.alpha * np.array([proof.null, proof.primal]),
                solver=KernelSMO.name,
            )
        )
    biases = np.array([proof.b for proof in proofs])
    violation, n_iter = float(rounds.found[:, 0].max()), int(rounds.found[:, 1].sum())
    return Together(solutions, rounds.coefficients(), biases, violation, n_iter)


def _by_first_use(risks: Sequence[KernelRisk], n: int) -> Array:
    """All rows, in the order in which the risks have them: where these come by class, so do all."""
    unseen, parts = np.ones(n, dtype=bool), []
    for risk in risks:
        parts.append(risk.rows[unseen[risk.rows]])
        unseen[parts[-1]] = False
        if not unseen.any():
            break
    return np.concatenate([*parts, np.flatnonzero(unseen)])
