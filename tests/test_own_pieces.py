"""A loss or penalty of one's own is used as it is or refused with a sentence, never replaced by a cousin."""

import ast
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

import nearline
from nearline import SOLVERS, ElasticNet, LinearClassifier, Risk, evaluate, minimize, path, sgd_step
from nearline.losses import Hinge, Logistic, MarginLoss, Softmax, Squared, SquaredHinge, WestonWatkins
from nearline.regularizers import L1, L2, Elastic, Regularizer
from nearline.risk.params import Params

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 5))
y = (X @ rng.normal(size=5) + 0.5 * rng.normal(size=60) > 0).astype(int)


@dataclass(frozen=True)
class WideHinge(Hinge):
    name: ClassVar[str] = "hinge"  # the name decides nothing

    def phi(self, z):
        return np.maximum(0.0, 3.0 - z)

    def dphi(self, z):
        return -(z < 3).astype(float)


@dataclass(frozen=True)
class WideSquaredHinge(SquaredHinge):
    def phi(self, z):
        return np.maximum(0.0, 3.0 - z) ** 2

    def dphi(self, z):
        return -2.0 * np.maximum(0.0, 3.0 - z)


@dataclass(frozen=True)
class SteepLogistic(Logistic):
    def phi(self, z):
        return np.logaddexp(0.0, -4.0 * z)

    def dphi(self, z):
        return -4.0 / (1.0 + np.exp(4.0 * z))


@dataclass(frozen=True)
class HalfSquared(Squared):
    def codes(self, targets, n_outputs):
        return 0.5 * super().codes(targets, n_outputs)


@dataclass(frozen=True)
class SteepSoftmax(Softmax):
    def value_and_gradient(self, scores, targets):
        value, gradient = Softmax().value_and_gradient(3.0 * scores, targets)
        return value, 3.0 * gradient


@dataclass(frozen=True)
class WideWestonWatkins(WestonWatkins):
    margin: ClassVar[float] = 3.0


OWN_LOSSES = [
    WideHinge(),
    WideSquaredHinge(),
    SteepLogistic(),
    HalfSquared(),
    SteepSoftmax(),
    WideWestonWatkins(),
]


@dataclass(frozen=True)
class GroupValue(Regularizer):
    """(|w_1..2| ^ 2 + 9 |w_3..5|^2) / 2, known by its value alone."""

    name: ClassVar[str] = "group"
    strengths: ClassVar[np.ndarray] = np.array([1.0, 1.0, 9.0, 9.0, 9.0])

    def value(self, W):
        return 0.5 * float((self.strengths * W**2).sum())


@dataclass(frozen=True)
class GroupGradient(GroupValue):
    def gradient(self, W):
        return self.strengths * W


@dataclass(frozen=True)
class GroupCurvature(GroupGradient):
    def curvature_product(self, W, V):
        return self.strengths * V

    def conjugate(self, V):
        return 0.5 * float((V**2 / self.strengths).sum())


@dataclass(frozen=True)
class GroupProx(GroupValue):
    def prox(self, W, step):
        return W / (1.0 + step * self.strengths)


@dataclass(frozen=True)
class TwoGroups(Regularizer):
    """|w_1..2|_2 + |w_3..5|_2, by its prox."""

    name: ClassVar[str] = "group-l1"

    def value(self, W):
        return float(np.linalg.norm(W[:, :2]) + np.linalg.norm(W[:, 2:]))

    def prox(self, W, step):
        parts = [
            part * max(0.0, 1.0 - step / max(np.linalg.norm(part), 1e-300)) for part in (W[:, :2], W[:, 2:])
        ]
        return np.hstack(parts)


@dataclass(frozen=True)
class DoubledL2(L2):
    """An L2 with another value: nothing else of it may be inherited."""

    def value(self, W):
        return 10.0 * super().value(W)


OWN_PENALTIES = [GroupValue(), GroupGradient(), GroupCurvature(), GroupProx(), TwoGroups(), DoubledL2()]


def least(risk):
    """The least value of a risk by derivative-free search over its definition, good to about 1e-6."""
    weights = risk.weights / risk.weights.sum()

    def value(flat):
        W, b = flat[: risk.n_outputs * 5].reshape(-1, 5), flat[risk.n_outputs * 5 :]
        losses = risk.loss.value(risk.X @ W.T + b, risk.targets)
        return float(weights @ losses) + risk.alpha * float(risk.regularizer.value(W))

    start = np.zeros(risk.n_outputs * 6)
    for method in ("Powell", "BFGS", "Powell"):
        start = scipy_minimize(value, start, method=method, options={"maxiter": 5000}).x
    return value(start)


@pytest.mark.filterwarnings("ignore::nearline.ConvergenceWarning")
@pytest.mark.parametrize("loss", OWN_LOSSES, ids=lambda loss: type(loss).__name__)
def test_a_loss_of_ones_own_is_minimized_or_refused(loss):
    risk = Risk(X, y, loss=loss, alpha=0.1)
    best, served = least(risk), 0
    for solver in SOLVERS.values():
        if solver.refuses(risk) is None and solver.name != "gradient-descent":
            found = minimize(risk, solver, tol=1e-6, max_iter=100 if solver.name == "sgd" else None)
            served += 1
            assert found.value <= best * (1.03 if solver.name == "sgd" else 1.0 + 1e-4), solver.name
            assert found.gap is None or found.value - found.gap * risk.null_value <= best * (1 + 1e-6), (
                solver.name
            )
    assert served
    assert minimize(risk, max_iter=100).value <= 1.03 * best
    assert loss.compiled is None


@pytest.mark.parametrize("regularizer", OWN_PENALTIES, ids=lambda r: type(r).__name__)
def test_a_penalty_of_ones_own_is_minimized_or_refused(regularizer):
    risk = Risk(X, y, loss="logistic", regularizer=regularizer, alpha=0.1)
    best, served = least(risk), []
    for solver in SOLVERS.values():
        reason = solver.refuses(risk)
        if reason is None:
            found = minimize(risk, solver, tol=3e-2 if solver.name == "sgd" else 1e-6)
            served.append(solver.name)
            assert found.converged, solver.name
            assert found.value == pytest.approx(best, rel=1e-2 if solver.name == "sgd" else 1e-4), solver.name
        else:
            assert regularizer.name in reason
    gradient = ["gradient-descent", "conjugate-gradient", "lbfgs", "sgd"]
    wanted = {
        "GroupValue": [],
        "GroupGradient": gradient,
        "GroupCurvature": ["gradient-descent", "newton", "irls", "newton-cg", *gradient[1:]],
        "GroupProx": ["sgd", "fista"],
        "TwoGroups": ["sgd", "fista"],
        "DoubledL2": [],
    }
    assert served == wanted[type(regularizer).__name__]


def test_a_conjugate_of_ones_own_certifies():
    risk = Risk(X, y, loss="logistic", regularizer=GroupCurvature(), alpha=0.1)
    assert minimize(risk, tol=1e-8).gap <= 1e-8
    assert minimize(Risk(X, y, regularizer=GroupGradient(), alpha=0.1)).gap is None


@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_what_no_solver_serves_is_refused(loss):
    with pytest.raises(ValueError, match=r"No solver serves.*'group'|define"):
        minimize(Risk(X, y, loss=loss, regularizer=GroupValue(), alpha=0.1))


def test_steps_of_sgd_take_a_penalty_by_its_prox_or_its_gradient():
    W, G = rng.normal(size=(1, 5)), -X[0]  # of the hinge inside its margin
    start = Params.of(0.01 * W, np.zeros(1))
    settings = {"loss": "hinge", "eta": 0.1, "alpha": 0.5, "bias": False}
    by_prox = sgd_step(start, X[0], 1, regularizer=GroupProx(), **settings)
    np.testing.assert_allclose(by_prox.W, (start.W - 0.1 * G) / (1 + 0.05 * GroupProx.strengths))
    by_slope = sgd_step(start, X[0], 1, regularizer=GroupGradient(), **settings)
    np.testing.assert_allclose(by_slope.W, start.W - 0.1 * (G + 0.5 * GroupProx.strengths * start.W))
    with pytest.raises(ValueError, match="'group' defines neither"):
        sgd_step(start, X[0], 1, regularizer=GroupValue(), **settings)
    with pytest.raises(ValueError, match="'group' defines neither"):
        LinearClassifier(regularizer=GroupValue()).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="l1_step='subgradient' is for an L1 penalty"):
        sgd_step(start, X[0], 1, regularizer=GroupProx(), l1_step="subgradient", **settings)
    assert LinearClassifier(regularizer=GroupProx()).partial_fit(X, y, classes=[0, 1]).score(X, y) > 0.7


def test_newton_minimizes_a_penalty_of_ones_own_about_far_means():
    """The Hessian is formed about the mean then, with the penalty's in the same coordinates."""
    risk = Risk(X + 1e4, y, regularizer=GroupCurvature(), alpha=0.1)
    found = minimize(risk, "newton", tol=1e-8)
    assert found.converged
    near = minimize(Risk(X, y, regularizer=GroupCurvature(), alpha=0.1), tol=1e-10)
    assert found.value == pytest.approx(near.value, rel=1e-7)


def test_a_path_without_a_largest_alpha_needs_a_grid():
    with pytest.raises(
        ValueError, match="'group' does not say at which alpha all weights are 0: give alphas="
    ):
        path(X, y, regularizer=GroupGradient())


@pytest.mark.parametrize(
    ("method", "formula", "sentence"),
    [
        ("prox", lambda self, W, step: W / (1.0 + 2.0 * step), "has a prox that does not minimize"),
        (
            "conjugate",
            lambda self, V: 0.1 * float((V**2).sum()),
            "conjugate that does not belong to its value",
        ),
        (
            "conjugate",
            lambda self, V: 0.0 if np.abs(V).max() <= 1 else np.inf,
            "infinite where into_domain leads",
        ),
        ("gradient", lambda self, W: 2.0 * W, "gradient that is not the derivative"),
    ],
)
def test_a_piece_that_contradicts_the_value_is_refused(method, formula, sentence):
    wrong = type("Wrong", (GroupCurvature,), {method: formula})()
    with pytest.raises(ValueError, match=sentence):
        Risk(X, y, regularizer=wrong, alpha=0.1)


def test_a_family_member_of_ones_own_is_served_by_all():
    @dataclass(frozen=True)
    class Strong(Elastic):
        name: ClassVar[str] = "strong"

        @property
        def l2(self):
            return 4.0

    own = minimize(Risk(X, y, regularizer=Strong(), alpha=0.1), tol=1e-10)
    assert own.value == pytest.approx(minimize(Risk(X, y, alpha=0.4), tol=1e-10).value, rel=1e-8)
    assert all(r.as_elastic(3) is r for r in (L1(), L2(), ElasticNet(0.3)))


def test_a_path_takes_a_penalty_of_ones_own():
    values = [solution.value for _, solution in path(X, y, regularizer=GroupGradient(), alphas=[1.0, 0.1])]
    assert values[0] == pytest.approx(least(Risk(X, y, regularizer=GroupGradient(), alpha=1.0)), rel=1e-4)


def test_estimators_do_not_swap_a_loss_for_its_namesake():
    three = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)
    model = LinearClassifier(loss=SteepLogistic(), alpha=0.1).fit(X, three)
    assert isinstance(model.loss_, SteepLogistic)
    two = LinearClassifier(loss=SteepSoftmax(), alpha=0.1).fit(X, y)
    assert isinstance(two.loss_, SteepSoftmax)


def test_a_value_without_its_own_slope_is_refused():
    class Lazy(Hinge):
        def phi(self, z):
            return np.maximum(0.0, 2.0 - z)

    class Lazier(Hinge):
        def value(self, scores, targets):
            return np.zeros(len(scores))

    class Shifted(Hinge):
        def phi(self, z):
            return 1.0 + super().phi(z)

    for wrong in (Lazy, Lazier):
        with pytest.raises(ValueError, match="define dphi beside phi"):
            Risk(X, y, loss=wrong())
    assert Risk(X, y, loss=Shifted()).at(Params.zeros(1, 5)).value == 2.0


def test_a_gradient_without_its_own_value_is_refused():
    class Tilted(L2):
        def gradient(self, W):
            return 3.0 * W

    class Sloping(Logistic):
        def dphi(self, z):
            return 2.0 * super().dphi(z)

    with pytest.raises(ValueError, match="Penalty Tilted has a gradient that is not"):
        Risk(X, y, regularizer=Tilted())
    with pytest.raises(ValueError, match="define dphi beside phi"):
        Risk(X, y, loss=Sloping())


def test_slopes_and_conjugates_of_another_value_are_refused():
    """A loss wholly of one's own too: its certificate would prove nothing."""

    class Twice(FlatAtZero):
        def dphi(self, z):
            return 2.0 * super().dphi(z)

    class Falsely(FlatAtZero):
        def phi_conjugate(self, a):
            return np.where((a >= -1) & (a <= 0), a, np.inf)

    with pytest.raises(ValueError, match="Loss Twice has slopes that are not its derivative"):
        Risk(X, y, loss=Twice())
    with pytest.raises(ValueError, match="Loss Falsely has a conjugate that does not belong to its value"):
        LinearClassifier(loss=Falsely()).fit(X, y)
    with pytest.raises(ValueError, match="Loss Twice has slopes"):
        evaluate(Twice(), X @ np.ones(5), y)


def test_a_subclass_that_redefines_nothing_keeps_all():
    """Another name is no other formula: curvature, conjugate and probabilities still hold."""

    class Renamed(Logistic):
        name = "renamed"

    class Weighed(L2):
        name = "weighed"

    methods = ("curvature", "conjugate", "balance", "probabilities", "d2phi", "phi_conjugate")
    assert all(getattr(Renamed, method) is getattr(Logistic, method) for method in methods)
    assert all(
        getattr(Weighed, method) is getattr(L2, method) for method in ("prox", "conjugate", "gradient")
    )


def test_what_was_derived_for_another_value_is_forgotten():
    wide = WideHinge()
    assert wide.conjugate(np.zeros((1, 1)), np.zeros(1)) is None
    assert wide.smoothed(1.0) is None
    assert wide.null_bias(np.ones(2), 1) is None
    assert SteepLogistic().probabilities(np.zeros((1, 1))) is None
    assert WideWestonWatkins().conjugate(np.array([[1.0, -1.0]]), np.array([1]))[0] == -3.0
    assert HalfSquared().conjugate(np.zeros((1, 1)), np.zeros(1)) is None


@dataclass(frozen=True)
class FlatAtZero(MarginLoss):
    """The smoothed hinge of the page on losses of one's own: no row has curvature at W = 0."""

    name: ClassVar[str] = "flat-at-zero"

    def phi(self, z):
        return np.clip(1.0 - z, 0.0, 1.0) ** 2 / 2 + np.maximum(0.0, -z)

    def dphi(self, z):
        return -np.clip(1.0 - z, 0.0, 1.0)

    def d2phi(self, z):
        return ((z > 0) & (z < 1)).astype(float)

    def phi_conjugate(self, a):
        return np.where((a >= -1) & (a <= 0), a + a * a / 2, np.inf)


@pytest.mark.parametrize("alpha", [1e-1, 1e-5])
@pytest.mark.parametrize("solver", ["auto", "newton", "irls", "newton-cg", "preconditioned-lbfgs"])
def test_a_start_without_curvature_does_not_overflow(alpha, solver):
    rows, labels = load_breast_cancer(return_X_y=True)
    risk = Risk(scale(rows), labels, loss=FlatAtZero(), alpha=alpha)
    reference = minimize(risk, "lbfgs", tol=1e-6)
    found = minimize(risk, solver, tol=1e-6)
    assert found.converged
    assert found.value == pytest.approx(reference.value, rel=1e-4)
    assert solver != "auto" or found.solver == "preconditioned-lbfgs"


@pytest.mark.parametrize("solver", ["newton", "preconditioned-lbfgs"])
def test_nor_without_a_penalty(solver):
    found = minimize(Risk(X, y, loss=FlatAtZero(), alpha=0.0), solver)
    assert found.converged


class TwiceLogistic:
    """A mixin: its formula comes before the one of the loss it is mixed with."""

    def phi(self, z):
        return 2.0 * np.logaddexp(0.0, -z)

    def dphi(self, z):
        return -2.0 / (1.0 + np.exp(z))


class TwiceSlopes:
    def value_and_gradient(self, scores, targets):
        value, gradient = Logistic().value_and_gradient(scores, targets)
        return 2.0 * value, 2.0 * gradient


class TwiceValue:
    def value(self, W):
        return float((W**2).sum())


class Plain(Logistic):
    pass


class Diamond(Plain, type("Right", (TwiceLogistic, Logistic), {})):
    """Plain, Right, the mixin, Logistic: in this order."""


@pytest.mark.parametrize("bases", [(TwiceLogistic, Logistic), (TwiceSlopes, Logistic), (Diamond,)])
def test_a_formula_from_a_mixin_inherits_nothing_derived_from_another(bases):
    loss = type("Twice", bases, {})()
    model = LinearClassifier(loss, alpha=0.2, tol=1e-8).fit(X, y)
    expected = LinearClassifier("logistic", alpha=0.1, tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-4)
    assert (model.gap_, hasattr(model, "predict_proba")) == (None, False)


def test_a_value_from_a_mixin_beside_anothers_slopes_is_refused():
    half = type("Half", (), {"phi": TwiceLogistic.phi})
    with pytest.raises(ValueError, match="slopes that are not its derivative"):
        LinearClassifier(type("Twice", (half, Logistic), {})()).fit(X, y)
    penalty = type("TwiceL2", (TwiceValue, L2), {})()
    with pytest.raises(ValueError, match=r"'l2' \(TwiceL2\(\)\): give the penalty a gradient or a prox"):
        LinearClassifier(regularizer=penalty).fit(X, y)
    with pytest.raises(ValueError, match=r"'l2' \(TwiceL2\(\)\): give the penalty a gradient or a prox"):
        LinearClassifier("hinge", regularizer=penalty).fit(X, y)
    assert not any(penalty.knows(method) for method in ("gradient", "conjugate", "prox"))


def test_nothing_is_decided_by_comparing_names():
    """No module of the mathematics compares the name of a loss, penalty or solver, or their names in the core."""
    root, found = Path(nearline.__file__).parent, []
    for package in ("losses", "regularizers", "passes", "risk", "solvers", "estimators", "selection"):
        for file in sorted((root / package).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Compare):
                    sides = [ast.unparse(side) for side in (node.left, *node.comparators)]
                    ends = (
                        "loss.name",
                        "regularizer.name",
                        "penalty.name",
                        "solver.name",
                        ".core",
                        ".compiled",
                    )
                    named = [side for side in sides if side.endswith(ends)]
                    found += [f"{file.name}: {ast.unparse(node)}"] if named and "None" not in sides else []
    assert not found
