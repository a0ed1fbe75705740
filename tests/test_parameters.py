"""Kernels, metrics, votes: parameters in grids, subclasses that are not their parents, rows that stay as they were."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

from nearline import (
    GaussianProcessClassifier,
    Index,
    KernelLeastSquares,
    KernelNeighborsClassifier,
    KernelSVM,
    KNeighborsClassifier,
    KNeighborsRegressor,
    Lq,
    Mahalanobis,
    NeighborsTransfer,
    Nystroem,
    Temperature,
    _core,
    capacity_curve,
    cross_validate,
    is_psd,
    kernel_scores,
)
from nearline.kernels import RBF, Centered, Linear, Normalized, Polynomial
from nearline.neighbors.ballots import InList
from nearline.neighbors.metrics import Cosine, Euclidean, Function
from nearline.neighbors.weights import Distance

X, y = load_iris(return_X_y=True)


@pytest.mark.parametrize("model", [KernelSVM(RBF(1.0)), KernelLeastSquares(RBF(1.0)), Nystroem(RBF(1.0))])
def test_parameters_of_kernels(model):
    assert model.get_params()["kernel__gamma"] == 1.0
    kernel = model.kernel
    assert model.set_params(kernel__gamma=2.5) is model
    assert model.kernel == RBF(2.5)
    assert kernel == RBF(1.0)  # the object is another one
    model.set_params(kernel=Polynomial(2), kernel__offset=3.0)
    assert model.kernel == Polynomial(2, 3.0)
    assert clone(model).kernel == model.kernel


def test_parameters_in_a_grid():
    model = make_pipeline(StandardScaler(), KernelSVM(RBF(1.0)))
    grid = {"kernelsvm__kernel__gamma": [1e-6, 0.5], "kernelsvm__alpha": [1e-3]}
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert search.best_params_["kernelsvm__kernel__gamma"] == 0.5
    assert search.best_estimator_[-1].kernel == RBF(0.5)
    assert model[-1].kernel == RBF(1.0)
    votes = KNeighborsClassifier(metric=Lq(3), weights=Temperature(1.0))
    search = GridSearchCV(votes, {"metric__q": [1.5, 4], "weights__temperature": [0.1, 10.0]}, cv=3)
    assert search.fit(X, y).best_params_.keys() == {"metric__q", "weights__temperature"}
    assert "Lq" in estimator_html_repr(votes)


def test_parameters_within_parameters():
    model = KernelSVM(Normalized(RBF(1.0) + 2.0 * Linear()))
    model.set_params(kernel__kernel__first__gamma=0.1, kernel__kernel__second__second__value=5.0)
    assert model.kernel == Normalized(RBF(0.1) + 5.0 * Linear())
    assert Centered(RBF(0.5)).get_params() == {"kernel": RBF(0.5), "kernel__gamma": 0.5}


def test_selection_takes_models_that_hold_objects():
    found = kernel_scores(KernelSVM(RBF(1.0)), X, y, [RBF(0.1), RBF(0.5)], [1e-2])
    assert found.best["kernel"] in (RBF(0.1), RBF(0.5))
    for model in (KNeighborsClassifier(metric=Lq(3)), KNeighborsClassifier(metric=Mahalanobis("within"))):
        curve = capacity_curve(model, X, y, values=[1, 5])
        assert curve.test.mean() > 0.9
        assert cross_validate(model, X, y).mean["accuracy"] > 0.9


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"kernel__sigma": 1.0}, "RBF has no parameter 'sigma': it has 'gamma'"),
        ({"kernel": "rbf", "kernel__gamma": 1.0}, "kernel='rbf' of KernelSVM has no parameters to set"),
        ({"kernel__gamma": -1.0}, "gamma must be a number > 0"),
        ({"kern": 1.0}, "kern"),
    ],
)
def test_what_cannot_be_set(values, message):
    with pytest.raises(ValueError, match=message):
        KernelSVM(RBF(1.0)).set_params(**values)


@dataclass(frozen=True)
class Doubled(Euclidean):
    """A subclass that would be measured as L2."""

    def similarities(self, distances):
        return -2.0 * distances


@dataclass(frozen=True)
class Halved(Lq):
    pass


@pytest.mark.parametrize("metric", [Doubled(), Halved(2)], ids=repr)
def test_a_metric_derived_from_another_is_not_measured_as_that(metric):
    with pytest.raises(ValueError, match=r"derived from the metric .* give a function of two rows"):
        Index(X, metric)
    with pytest.raises(ValueError, match="derived from"):
        KNeighborsClassifier(metric=metric).fit(X, y)


def test_a_metric_that_says_how_it_is_measured_is_taken():
    @dataclass(frozen=True)
    class Mine(Cosine):
        core: ClassVar[_core.Metric | None] = _core.Metric.cosine

    want = Index(X, "cosine").search(X[:5], 3)
    np.testing.assert_array_equal(Index(X, Mine()).search(X[:5], 3).distances, want.distances)
    assert Index(X, Function(lambda a, b: abs(a - b).sum())).search(X[:2], 1).distances.max() == 0


def test_votes_derived_from_others_see_every_place():
    """Votes that depend on the whole list are not taken for those of a single distance."""

    @dataclass(frozen=True)
    class ByRank(Distance):
        name: ClassVar[str] = "rank"

        def values(self, distances, metric):
            return np.broadcast_to(1.0 / np.arange(1, distances.shape[1] + 1), distances.shape).copy()

    line, labels = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 1, 0, 1]
    repeated = KNeighborsClassifier(3, weights=ByRank()).fit(line[[0, 1, 1, 2, 3]], [0, 1, 1, 0, 1])
    weighted = KNeighborsClassifier(3, weights=ByRank()).fit(line, labels, [1, 2, 1, 1])
    np.testing.assert_allclose(weighted.predict_proba([[-0.1]]), repeated.predict_proba([[-0.1]]))


def test_a_boundary_derived_from_the_list_is_asked():
    @dataclass(frozen=True)
    class Nobody(InList):
        name: ClassVar[str] = "nobody"

        def portions(self, k, nearer, tied):
            one = np.ones(len(nearer))
            return one, np.zeros(len(nearer)), one

    line = np.array([[0.0], [1.0], [-1.0], [5.0]])
    model = KNeighborsClassifier(2, boundary=Nobody()).fit(line, [0, 1, 2, 2])
    np.testing.assert_array_equal(model.predict_proba([[0.0]]), [[1.0, 0.0, 0.0]])


def test_a_kernel_derived_from_another_is_one_kernel():
    with pytest.raises(TypeError, match=r"own between, but inherits.*among, between and diagonal together"):

        class Half(RBF):
            def between(self, A, B):
                return 0.5 * super().between(A, B)

    @dataclass(frozen=True)
    class Doubled(RBF):
        def among(self, items):
            return 2.0 * super().among(items)

        def between(self, A, B):
            return 2.0 * super().between(A, B)

        def diagonal(self, items):
            return 2.0 * super().diagonal(items)

    plain, doubled = (kernel.squared_distances(X[:5], X) for kernel in (RBF(0.1), Doubled(0.1)))
    np.testing.assert_allclose(doubled, 2.0 * plain, atol=1e-12)
    light = Doubled(0.1).light(X)
    assert light is X


def test_a_model_derived_from_another_is_asked_itself():
    class Contrary(KNeighborsClassifier):
        def predict(self, X):
            return 2 - super().predict(X)

    curve = capacity_curve(Contrary(3), X, y, values=[1, 3], parameter="n_neighbors")
    assert curve.test.mean() < 0.5


@pytest.mark.parametrize("make", [np.array, csr_array, lambda A: np.asfortranarray(A)[:, ::-1]])
@pytest.mark.parametrize(
    "model",
    [
        KNeighborsClassifier(3),
        KNeighborsClassifier(3, metric="cosine"),
        KNeighborsRegressor(3),
        NeighborsTransfer(1),
        KernelNeighborsClassifier(3),
        GaussianProcessClassifier(max_iter=3),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_changed_after_fit_change_nothing(model, make, dtype):
    rows = make(X.astype(dtype))
    queries = rows[::7].copy()
    model = clone(model).fit(rows, y)
    before = np.asarray(model.predict(queries)).copy()
    values = rows if isinstance(rows, np.ndarray) else rows.data
    values[...] = 17.0
    np.testing.assert_array_equal(model.predict(queries), before)


def test_rows_of_a_frame_changed_after_fit():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = KNeighborsClassifier(3).fit(frame, y)
    want = KNeighborsClassifier(3).fit(X, y).predict_proba(X)
    frame.iloc[:, :] = 3.0
    np.testing.assert_array_equal(model.predict_proba(pd.DataFrame(X, columns=list("abcd"))), want)


def test_is_psd_knows_how_exact_a_matrix_is():
    rows = np.random.default_rng(0).normal(size=(150, 5))
    for kernel in (RBF(0.1), Linear(), Polynomial(3)):
        K = kernel(rows)
        assert is_psd(K)
        assert is_psd(K.astype(np.float32))
        assert is_psd(kernel(rows.astype(np.float32)))
    assert not is_psd(Linear()(rows).astype(np.float32), tol=1e-12)
    assert not is_psd(np.array([[1.0, 1.01], [1.01, 1.0]], dtype=np.float32))
    assert not is_psd(np.array([[1.0, 1.0 + 1e-6], [1.0 + 1e-6, 1.0]]))
    assert is_psd(np.array([[1.0, 1.0 + 1e-6], [1.0 + 1e-6, 1.0]], dtype=np.float32))
    assert is_psd(np.array([[2, 1], [1, 2]]))
