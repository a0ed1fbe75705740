"""Whether a logistic risk without a penalty has a finite minimizer at all. With a proof either way.

It has none where a direction v has y_i v.x_i >= 0 for all rows and > 0 for one (of more classes: v_y.x - v_c.x, for all
rows and other classes c): the risk falls along v for ever, and weights grow as the tolerance falls. The rows are then
separable or, with equality for some, quasi-separable.

That it has one is proven at a point with gradient g and Hessian H where nu M < 1, with nu^2 = g.H^-1 g and M the largest
length |H^-1/2 a| of a margin's row a: along v with v.H v = 1 the third derivative of the risk is at most M times the
second, so that its slope is at least -nu + (1 - exp(-M t)) / M, which is positive from some t on in every direction.
"""

import numpy as np

from nearline._arrays.design import Array
from nearline.losses import signs
from nearline.risk import Risk
from nearline.risk.params import Params
from nearline.risk.passes.curvature import row_blocks
from nearline.risk.passes.standard import standardized_rows
from nearline.solvers._certifier import Goal
from nearline.solvers.kesler import TOLERANCE, Kesler, search
from nearline.solvers.newton import Newton, NewtonState

LARGEST_HESSIAN = 1000  # unknowns for which the first proof is tried
MOST_WORK = 5e10  # multiplications for its Hessian
LARGEST_PROGRAM = 2_000_000  # numbers in the linear program that decides where it fails
REFINEMENTS = 6  # Newton steps towards the minimizer that the proof may take
RANK = 1e-11  # eigenvalues of the Hessian below this share of the largest count as 0


def has_minimizer(risk: Risk, params: Params) -> bool | None:
    """True or False, both proven; None where the proof would cost too much. ``params``: near the minimizer if any."""
    if risk.blocked:
        return None
    if _a_column_is_separated(risk, params):
        return False
    unknowns = risk.n_outputs * (risk.n_features + 1)
    if (
        unknowns <= LARGEST_HESSIAN
        and risk.n_rows * float(unknowns) ** 2 <= MOST_WORK
        and _attained(risk, params)
    ):
        return True
    used = np.flatnonzero(risk.weights > 0)
    X = risk.X[used].astype(np.float64)
    known = True
    for targets, n_classes in _problems(risk, risk.targets[used]):
        problem = Kesler.of(X, targets, n_classes, risk.bias)
        if len(problem.numbers()) * 2.0 * problem.Z.shape[1] > LARGEST_PROGRAM:
            known = False
        elif _recedes(problem):
            return False
    return True if known else None


def _a_column_is_separated(risk: Risk, params: Params) -> bool:
    """One-vs-rest: whether the scores of a class are on the right side for all rows, which ends the question."""
    if risk.loss.joint:
        return False
    margins = signs(risk.targets, risk.n_outputs) * risk.passes.scores(params)
    return bool((margins[risk.weights > 0].min(axis=0) > 0).any())


def _problems(risk: Risk, targets: Array) -> list[tuple[Array, int]]:
    """The separate problems: one of all classes if the loss is joint, else one a column."""
    if risk.loss.joint or risk.n_outputs == 1:
        return [(targets, risk.n_classes)]
    return [((targets == c).astype(np.int64), 2) for c in range(risk.n_outputs)]


def _recedes(problem: Kesler) -> bool:
    """Whether a direction has no margin below 0 and some above, proven by its residual."""
    w, chosen, multipliers = search(problem)
    if not w.any():
        return False
    w = problem.orthogonal(w, chosen[multipliers > 0.5])
    margins = problem.margins(w).ravel()[problem.numbers()]
    return bool(margins.min() >= -TOLERANCE and margins.max() > TOLERANCE)


def _attained(risk: Risk, params: Params) -> bool:
    """nu M < 1 at ``params`` or a few Newton steps from there."""
    newton = Newton()
    state = newton.start(risk, params, Goal(0.0))
    for _ in range(REFINEMENTS):
        product = _decrement_times_length(risk, newton, state)
        if product is not None and product < 0.9:  # the rest is for rounding
            return True
        newton.step(risk, state)
        if state.stuck:
            return False
    return False


def _decrement_times_length(risk: Risk, newton: Newton, state: NewtonState) -> float | None:
    """nu M in the space that the rows span; None if some row sticks out of where the Hessian is positive."""
    H = newton.hessian(risk, state)
    sizes, axes = np.linalg.eigh(H)
    kept = sizes > RANK * sizes[-1]
    roots = axes[:, kept] / np.sqrt(sizes[kept])
    nu = float(np.linalg.norm(roots.T @ state.coordinates.pull_back(state.point.gradient)))
    length = 0.0
    used = np.flatnonzero(risk.weights > 0)
    for block in row_blocks(len(used), len(H) * risk.n_outputs):
        rows = _rows(risk, state, used[block])
        if not _longest(rows, axes[:, ~kept], risk) <= 1e-7 * float(np.abs(rows).max(initial=0.0)):
            return None
        length = max(length, _longest(rows, roots, risk))
    return nu * length


def _rows(risk: Risk, state: NewtonState, numbers: Array) -> Array:
    """[(x - mean) / unit; 1 / unit of the bias], so that scores are linear in the state's coordinates."""
    coordinates = state.coordinates
    Z = standardized_rows(risk.X, numbers, coordinates.mean, coordinates.unit).astype(np.float64)
    return np.hstack([Z, np.full((len(Z), 1), float(risk.bias) / coordinates.unit_b)])


def _longest(rows: Array, directions: Array, risk: Risk) -> float:
    """Largest length of a margin's row in these directions: of e_c (x) z, or of differences of two such."""
    K, D = risk.n_outputs, risk.n_features
    weights = directions[: K * D].reshape(K, D, -1)
    parts = np.concatenate([weights, directions[K * D :, None, :]], axis=1)  # (K, D + 1, r)
    T = np.einsum("ij,cjr->icr", rows, parts, optimize=True)
    if risk.loss.joint:  # the difference of two classes is twice the distance from their mean at most
        T = 2.0 * (T - T.mean(axis=1, keepdims=True))
    return float(np.sqrt((T * T).sum(axis=2).max(initial=0.0)))
