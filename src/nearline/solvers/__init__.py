"""Solvers by name, and the choice among them."""

from nearline.solvers._base import Method, Solver, certified, minimize, search_minimum
from nearline.solvers._certifier import Goal
from nearline.solvers._refusals import needs_gradient
from nearline.solvers._solution import ConvergenceWarning, Solution
from nearline.solvers._state import State, Status
from nearline.solvers.block_newton import BlockNewton
from nearline.solvers.choice import RULES, SOLVERS, choose, others, preference
from nearline.solvers.closed_form import ClosedForm, RidgeFactorization
from nearline.solvers.coordinate_descent import CoordinateDescent
from nearline.solvers.dual import DualCoordinateDescent
from nearline.solvers.first_order import LBFGS, ConjugateGradient, GradientDescent
from nearline.solvers.fista import Fista
from nearline.solvers.interior_point import InteriorPoint
from nearline.solvers.linear_program import LinearProgram
from nearline.solvers.linear_smo import SMO
from nearline.solvers.newton import IRLS, Newton, NewtonCG
from nearline.solvers.perceptron import PerceptronRule
from nearline.solvers.preconditioned import PreconditionedLBFGS
from nearline.solvers.row_space import RowSpace
from nearline.solvers.sgd import SGD
from nearline.solvers.smoothing import Smoothing
from nearline.solvers.step_size import DecayingStep

__all__ = [
    "IRLS",
    "LBFGS",
    "RULES",
    "SGD",
    "SMO",
    "SOLVERS",
    "BlockNewton",
    "ClosedForm",
    "ConjugateGradient",
    "ConvergenceWarning",
    "CoordinateDescent",
    "DecayingStep",
    "DualCoordinateDescent",
    "Fista",
    "Goal",
    "GradientDescent",
    "InteriorPoint",
    "LinearProgram",
    "Method",
    "Newton",
    "NewtonCG",
    "PerceptronRule",
    "PreconditionedLBFGS",
    "RidgeFactorization",
    "RowSpace",
    "Smoothing",
    "Solution",
    "Solver",
    "State",
    "Status",
    "certified",
    "choose",
    "minimize",
    "needs_gradient",
    "others",
    "preference",
    "search_minimum",
]
