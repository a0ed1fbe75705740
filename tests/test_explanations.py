"""Every estimator explains itself: what it says adds up to its scores, and decides as it does."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression as Peer

import nearline
from nearline import ESTIMATORS, CalibratedClassifier, TryThemAll
from nearline._records.explanation import Contributions, Explanation
from nearline.explain import reasons
from nearline.explain.reasons import reasons_of
from nearline.kernels import Precomputed, Spectrum

X, y = load_iris(return_X_y=True)
X, y = X[::3], np.array(["a", "b", "c"])[y[::3]]
TWO = y != "c"
MADE = {
    "BernoulliNB": lambda cls: cls(binarize=3.0),
    "OneVsRest": lambda cls: cls(nearline.LogisticRegression()),
    "OneVsOne": lambda cls: cls(nearline.LinearSVM()),
}
FITTED = [name for name, cls in ESTIMATORS.items() if callable(getattr(cls, "predict", None))]


def fitted(name, rows=slice(None)):
    cls = ESTIMATORS[name]
    labels = y[rows] if "Regressor" not in name else np.arange(len(y))[rows].astype(float)
    return MADE.get(name, lambda cls: cls())(cls).fit(X[rows], labels)


@pytest.mark.parametrize("rows", [slice(None), TWO], ids=["three classes", "two classes"])
@pytest.mark.parametrize("name", FITTED)
def test_every_estimator_explains_its_predictions(name, rows):
    model = fitted(name, rows)
    explanation = model.explain(X[::5])
    assert isinstance(explanation, Explanation)
    assert len(explanation) == len(X[::5])
    assert list(explanation.predictions) == list(model.predict(X[::5]))
    assert any(explanation.rows(i) for i in range(len(explanation)))


@pytest.mark.parametrize("rows", [slice(None), TWO], ids=["three classes", "two classes"])
@pytest.mark.parametrize("name", FITTED)
def test_contributions_add_up_to_the_scores(name, rows):
    model = fitted(name, rows)
    explanation = model.explain(X[::5])
    if not isinstance(explanation, Contributions) or not hasattr(model, "decision_function"):
        return
    F = np.asarray(model.decision_function(X[::5]), dtype=float)
    F = np.column_stack([-F / 2, F / 2]) if F.ndim == 1 else F
    for i in range(len(explanation)):
        total = explanation.bias[i] + explanation.terms[i][1].sum(axis=1)
        own, other = np.searchsorted(
            explanation.classes, [explanation.predictions[i], explanation.runners_up[i]]
        )
        _, lead, bias = explanation.lead(i)
        assert lead.sum() + bias == pytest.approx(total[own] - total[other], abs=1e-9)
        if getattr(model, "pairs_", None) is None or len(explanation.classes) == 2:
            np.testing.assert_allclose(total - total.mean(), F[i] - F[i].mean(), rtol=1e-6, atol=1e-6)


def test_zero_terms_of_sparse_rows_are_left_out():
    from scipy.sparse import csr_matrix

    Z = np.where(X > 3, X, 0.0)
    for cls in (nearline.LogisticRegression, nearline.GaussianNB, nearline.NearestCentroid):
        model = cls().fit(Z, y)
        dense, sparse = model.explain(Z[:5]), model.explain(csr_matrix(Z[:5]))
        for i in range(5):
            np.testing.assert_allclose(
                dense.terms[i][1].sum(axis=1), sparse.terms[i][1].sum(axis=1), atol=1e-6
            )


def test_strings_and_gram_matrices_are_explained_by_training_items():
    words = ["aab", "abb", "aabb", "ccd", "cdd", "ccdd"]
    model = nearline.KernelSVM(kernel=Spectrum(2)).fit(words, [0, 0, 0, 1, 1, 1])
    explanation = model.explain(["aabbb"])
    assert explanation.of == "training rows"
    assert explanation.rows(0)[0]["index"] in (0, 1, 2)
    K = X @ X.T
    model = nearline.KernelLeastSquares(kernel=Precomputed()).fit(K, y)
    assert list(model.explain(K[:3]).predictions) == list(model.predict(K[:3]))


def test_calibrated_models_and_chains_pass_explanations_on():
    model = CalibratedClassifier(nearline.LinearSVM()).fit(X, y)
    assert model.explain(X[:2]).rows(0) == model.estimator_.explain(X[:2]).rows(0)
    assert not hasattr(CalibratedClassifier(Peer()), "explain")
    contest = TryThemAll("quick", include="logistic, L2", progress="silent").fit(X, y)
    assert contest.model_.explain(X[:2]).of == "features"


def test_an_explanation_that_nothing_renders_is_refused():
    class Odd(Explanation):
        def rows(self, i):
            return []

    with pytest.raises(TypeError, match="Nothing renders a Odd"):
        reasons_of(Odd(np.zeros(1)), None)


def test_problems_are_named():
    from sklearn.preprocessing import StandardScaler

    from nearline.selection.chain import Chain

    chain = Chain([("scaled", StandardScaler()), ("model", nearline.OneVsOne(nearline.LinearSVM()))]).fit(
        X, y
    )
    reason = reasons(chain, X[:1])[0]
    assert reason.label == y[0]
    assert {share.name for share in reason.shares} <= {f"two-class problem {p}" for p in (1, 2, 3)}


@pytest.mark.parametrize("name", FITTED)
def test_explanations_are_printed_in_lines(name):
    explanation = fitted(name).explain(X)
    said = str(explanation).splitlines()
    assert said[0].startswith(f"[0] {explanation.predictions[0]}")
    assert said[-1] == f"and {len(X) - 5} rows more"
    assert max(map(len, said)) < 120
    assert "array(" not in str(explanation)
    first = explanation.rows(0)
    if first:
        assert said[1].split() == list(first[0])
        assert said[2].split()[0] == str(first[0]["index"])


def test_the_heading_has_the_lead_of_the_label():
    model = nearline.LogisticRegression().fit(X, y)
    scores = np.sort(model.decision_function(X[:1]))[0]
    said = str(model.explain(X[:1])).splitlines()[0]
    lead = float(said.split(" by ")[1].split(":")[0])
    assert lead == pytest.approx(scores[-1] - scores[-2], rel=1e-3)
    assert said.endswith("features")
