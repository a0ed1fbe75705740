"""Solvers by name, and the choice among them."""

from typing import Any

from nearline._records.refused import ParameterError, UnknownNameError
from nearline.risk import Risk
from nearline.solvers._base import (
    Method,
    Solver,
    first_willing,
    refusal,
)
from nearline.solvers.block_newton import BlockNewton
from nearline.solvers.closed_form import ClosedForm
from nearline.solvers.coordinate_descent import CoordinateDescent
from nearline.solvers.dual import DualCoordinateDescent
from nearline.solvers.first_order import LBFGS, ConjugateGradient, GradientDescent
from nearline.solvers.fista import Fista
from nearline.solvers.interior_point import InteriorPoint
from nearline.solvers.linear_program import LinearProgram
from nearline.solvers.linear_smo import SMO
from nearline.solvers.newton import IRLS, Newton, NewtonCG
from nearline.solvers.perceptron import PerceptronRule
from nearline.solvers.preconditioned import MOST_SPARSE_FEATURES, PreconditionedLBFGS
from nearline.solvers.row_space import RowSpace
from nearline.solvers.sgd import SGD
from nearline.solvers.smoothing import Smoothing

SOLVERS: dict[str, Solver] = {
    solver.name: solver
    for solver in (
        ClosedForm(),
        GradientDescent(),
        Newton(),
        IRLS(),
        NewtonCG(),
        BlockNewton(),
        RowSpace(),
        ConjugateGradient(),
        LBFGS(),
        PreconditionedLBFGS(),
        SGD(),
        DualCoordinateDescent(),
        CoordinateDescent(),
        Fista(),
        Smoothing(),
        SMO(),
        LinearProgram(),
        InteriorPoint(),
    )
}

# Ways to learn that minimize no risk: reached by name, and refusing all losses but their own.
RULES: dict[str, Solver] = {rule.name: rule for rule in (PerceptronRule(),)}


WEAK = 2.0  # alpha times the rows' weight, up to which sweeps over the dual of a hinge crawl
LITTLE = 3e7  # multiplications for the Hessian's blocks, up to which Newton's steps are fastest
FEW_UNKNOWNS = 1000  # whose Hessian a block sends as soon as a few gradients
MORE = 5.0  # times as many where rows drop out (hinges): gradients there need many more steps
TALL = 3.0  # rows for each feature, up to which sweeps over the dual of such a loss are faster than gradients
FEW_STEPS = 8  # of such sweeps, after which another solver goes on


def preference(risk: Risk, relative_to: str = "risk") -> list[Solver]:
    """Solvers in order of measured speed for this kind of risk; the first that does not refuse is taken.

    ``relative_to`` is the scale of the gap, as :func:`minimize` takes it.
    """
    if risk.blocked:
        return [SOLVERS[name] for name in _by_sums(risk)]
    # Rows as of words have no axes that stand out. There the sweeps over the dual are fastest, but for losses without
    # end (logistic) beside a bias: no row is ever done, and they must close in on it step by step.
    wide, special = risk.sparse and risk.n_features > MOST_SPARSE_FEATURES, risk.loss.own
    sweeps = wide and (not risk.bias or not special.endless)
    ends = not (special.endless or risk.loss.joint)
    newton = ["block-newton"] * (_block_work(risk) <= LITTLE * (MORE if ends else 1.0))
    sweeps = sweeps or (ends and not risk.sparse and risk.n_rows <= TALL * risk.n_features)
    smooth = (
        *(["closed-form"] * special.least_squares),
        *newton,
        "row-space",
        *(["dual-coordinate-descent"] * sweeps),
        "preconditioned-lbfgs",
        "lbfgs",
    )
    kinks = ("dual-coordinate-descent", "coordinate-descent", "fista", "smoothing", "linear-program", "sgd")
    inside = SOLVERS["interior-point"]
    if special.slack is None or wide or relative_to == "null" or inside.refuses(risk) is not None:
        return [SOLVERS[name] for name in smooth + kinks]
    # Sweeps are fastest under a large alpha, or to a coarse gap; as alpha falls they crawl, where linear systems cost
    # what they always do.
    crawls = risk.l2 * risk.total_weight <= WEAK or risk.n_rows < risk.n_features
    return [inside if crawls else DualCoordinateDescent(max_iter=FEW_STEPS), inside]


def _by_sums(risk: Risk) -> tuple[str, ...]:
    """Solvers of rows in blocks. A pass costs a message to each block, so that Newton's few steps are fastest."""
    size = risk.n_outputs * (risk.n_features + 1)
    few = ("newton", "newton-cg") if size <= FEW_UNKNOWNS else ("lbfgs", "newton-cg")
    return (*few, "lbfgs", "fista", "smoothing")


def _block_work(risk: Risk) -> float:
    """Multiplications of a step of 'block-newton'."""
    size = risk.n_features + 1.0
    return risk.n_outputs * size * size * (risk.n_rows + size)


def others(risk: Risk, tried: Solver) -> list[Solver]:
    """Who goes on where the first choice ends early, in the order in which they are asked.

    Sweeps over the dual end where features of very different scales, or few rows, meet a small alpha; gradients end in
    their rounding. What solves linear systems, or looks at pairs of rows, comes farther; and so does the same solver
    where float32 gives way to sums in float64.
    """
    # Sweeps and linear systems end for different reasons: each may go on where the other ended.
    first = DualCoordinateDescent() if type(tried) is InteriorPoint else InteriorPoint()
    rest = (SMO(), LinearProgram(), CoordinateDescent(), Smoothing(), Newton(), NewtonCG())
    able = (solver for solver in (first, *rest) if type(solver) is not type(tried) or risk.exact is not risk)
    return [solver for solver in able if refusal(risk, solver) is None]


def _unserved(risk: Risk) -> str:
    """Why no solver is willing: as a rule a penalty of one's own, which may have the name of a built-in one."""
    able = "give the penalty a gradient or a prox, which it does not inherit where it redefines its value"
    return f"No solver serves loss '{risk.loss.name}' with '{risk.regularizer.name}' ({risk.regularizer!r}): {able}."


def choose(risk: Risk, solver: Method[Any] | str, relative_to: str = "risk") -> Solver:
    """The solver for a risk; raises, with the reason and an alternative, if it cannot serve."""
    if solver == "auto":
        chosen = first_willing(risk, preference(risk, relative_to))
        if chosen is None:
            raise ValueError(risk.loss.refusal or _unserved(risk))
        return chosen
    if isinstance(solver, str):
        known = SOLVERS | RULES
        if solver not in known:
            raise UnknownNameError("solver", solver, ["auto", *known])
        solver = known[solver]
    if not isinstance(solver, Solver):
        raise ParameterError("solver", solver, "'auto', a name or a Solver object")
    reason = refusal(risk, solver)
    if reason is not None:
        raise ValueError(reason)
    return solver
