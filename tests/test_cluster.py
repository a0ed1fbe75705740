"""Estimators on Dask's arrays and frames: the models of the same rows in memory, whatever the blocks."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from dask.delayed import delayed
from distributed import Client, LocalCluster
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import nearline
from nearline import (
    BernoulliNB,
    GaussianNB,
    KernelSVM,
    KNeighborsClassifier,
    KNeighborsRegressor,
    LeastSquaresClassifier,
    LinearClassifier,
    LinearDiscriminantAnalysis,
    LinearSVM,
    LogisticRegression,
    MultinomialNB,
    NearestCentroid,
    NeighborsTransfer,
    Nystroem,
    RandomFourierFeatures,
    SparsemaxClassifier,
)
from nearline._arrays.sums import FAN
from nearline.cluster._crews import LocalCrew

N = 300
LABELS = np.array(["ant", "bee", "cat"])
CUTS = ((80, 0, 150, 70), (5,))


@pytest.fixture(scope="module")
def cluster():
    """Two workers in this process: they start in no time."""
    with (
        dask.config.set({"distributed.admin.log-format": "%(message)s"}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0", protocol="inproc://"
        ) as made,
    ):
        yield made


@pytest.fixture
def crew(request):
    """With a client of a cluster, and without."""
    if request.param == "no cluster":
        yield None
        return
    with Client(request.getfixturevalue("cluster")) as client:
        yield client


def rows(seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 5)) + np.array([0.0, 0.0, 0.0, 3.0, 0.0])
    y = LABELS[np.argmax(X[:, :3] + 0.8 * rng.normal(size=(N, 3)), axis=1)]
    return X.astype(dtype), y


def cut(X, y, chunks=CUTS):
    return da.from_array(X, chunks=chunks), da.from_array(y, chunks=(chunks[0],))


MODELS = [
    LogisticRegression(alpha=1e-2, tol=1e-9),
    LogisticRegression(alpha=1e-2, regularizer="l1", tol=1e-6),
    LogisticRegression(alpha=1e-2, class_weight="balanced", multiclass="one-vs-rest", tol=1e-9),
    LinearClassifier(loss="squared-hinge", alpha=1e-1, regularizer="elastic-net", tol=1e-6),
    LinearSVM(alpha=1e-2, tol=1e-9),
    LeastSquaresClassifier(),
    SparsemaxClassifier(alpha=1e-1, tol=1e-7),
    GaussianNB(),
    GaussianNB(shared_variance=True),
    BernoulliNB(),
    LinearDiscriminantAnalysis(),
    LinearDiscriminantAnalysis(shrinkage=0.3, priors="uniform"),
    NearestCentroid(),
    KNeighborsClassifier(7),
    KNeighborsClassifier(4, weights="distance", metric="l1", boundary="list", ties="prior"),
]


def crews():
    """Every model without a cluster; with one, those that differ in what they ask of it."""
    on_cluster = [
        MODELS[0],
        *(model for model in MODELS if isinstance(model, GaussianNB | KNeighborsClassifier)),
    ]
    return [("no cluster", model) for model in MODELS] + [("cluster", model) for model in on_cluster]


@pytest.mark.parametrize(("crew", "model"), crews(), ids=str, indirect=["crew"])
def test_the_model_is_that_of_the_rows_in_memory(crew, model):
    X, y = rows()
    blocked, whole = clone(model).fit(*cut(X, y)), clone(model).fit(X, y)
    assert np.array_equal(blocked.classes_, whole.classes_)
    for name in ("coef_", "intercept_", "theta_", "var_", "means_", "centroids_"):
        if hasattr(whole, name):
            np.testing.assert_allclose(getattr(blocked, name), getattr(whole, name), rtol=1e-3, atol=1e-4)
    predicted = blocked.predict(cut(X, y)[0])
    assert isinstance(predicted, da.Array)
    assert predicted.compute().tolist() == whole.predict(X).tolist() == blocked.predict(X).tolist()
    if hasattr(whole, "predict_proba"):
        ours = blocked.predict_proba(cut(X, y)[0])
        assert ours.shape == (N, 3)
        np.testing.assert_allclose(ours.compute(), whole.predict_proba(X), atol=1e-4)


@pytest.mark.parametrize("solver", ["lbfgs", "newton", "newton-cg", "fista"])
def test_one_block_gives_the_same_bits_and_so_does_any_crew(solver, cluster):
    X, y = rows()
    model = LogisticRegression(alpha=1e-2, solver=solver, tol=1e-6)
    whole = clone(model).fit(X, y)
    assert np.array_equal(clone(model).fit(*cut(X, y, ((N,), (5,)))).coef_, whole.coef_)
    here = clone(model).fit(*cut(X, y))
    with Client(cluster):
        there = clone(model).fit(*cut(X, y))
    assert np.array_equal(here.coef_, there.coef_)
    assert here.gap_ == there.gap_ <= 1e-6


def test_many_blocks_are_added_by_the_workers_as_they_are_here(cluster):
    X, y = rows()
    chunks = ((25,) * 12, (5,))
    assert len(chunks[0]) > FAN
    here = LeastSquaresClassifier().fit(*cut(X, y, chunks))
    with Client(cluster):
        there = LeastSquaresClassifier().fit(*cut(X, y, chunks))
    assert np.array_equal(here.coef_, there.coef_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sparse", [False, True])
def test_precision_and_storage(dtype, sparse):
    X, y = rows(dtype=dtype)
    X[np.abs(X) < 0.3] = 0.0
    X = np.abs(X)
    blocks = da.from_array(X, chunks=(100, 5))
    if sparse:
        blocks = blocks.map_blocks(sp.csr_matrix, meta=sp.csr_matrix((0, 0), dtype=dtype))
    for model in (LogisticRegression(alpha=1e-2), MultinomialNB(), GaussianNB(), NearestCentroid()):
        blocked = clone(model).fit(blocks, y)
        assert blocked.predict(blocks).compute().tolist() == clone(model).fit(X, y).predict(X).tolist()
        assert getattr(blocked, "coef_", X).dtype == dtype


def test_frames_have_names_unknown_sizes_and_labels_in_few_blocks():
    X, y = rows()
    order = np.argsort(y, kind="stable")  # each label is in few blocks
    table = pd.DataFrame(X[order], columns=list("abcde"))
    table["label"] = y[order]
    frame = dd.from_pandas(table, npartitions=4)
    frame = frame[frame["a"] < 1e9]
    model = LogisticRegression(alpha=1e-2).fit(frame[list("abcde")], frame["label"])
    whole = LogisticRegression(alpha=1e-2).fit(table[list("abcde")], table["label"])
    assert model.feature_names_in_.tolist() == list("abcde")
    answers = model.predict(frame[list("abcde")])
    assert answers.compute().tolist() == whole.predict(table[list("abcde")]).tolist()
    assert model.score(frame[list("abcde")], frame["label"]) == whole.score(
        table[list("abcde")], table["label"]
    )
    # arrays of unknown sizes, and labels in memory
    values = frame[list("abcde")].to_dask_array()
    again = LogisticRegression(alpha=1e-2).fit(values, y[order])
    assert np.array_equal(again.coef_, model.coef_)


def test_columns_that_are_cut_are_joined():
    X, y = rows()
    a = LogisticRegression().fit(da.from_array(X, chunks=(100, 2)), y)
    b = LogisticRegression().fit(da.from_array(X, chunks=(100, 5)), y)
    assert np.array_equal(a.coef_, b.coef_)


def test_weights():
    X, y = rows()
    weights = np.random.default_rng(3).integers(0, 3, N).astype(float)
    for model in (LogisticRegression(alpha=1e-2, tol=1e-9), GaussianNB(), KNeighborsClassifier(5)):
        blocked = clone(model).fit(*cut(X, y), da.from_array(weights, chunks=90))
        whole = clone(model).fit(X, y, weights)
        assert blocked.predict(X).tolist() == whole.predict(X).tolist()


def test_neighbors_are_those_of_all_rows_with_their_ties():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, size=(200, 3)).astype(float)  # many ties
    y = rng.integers(0, 3, 200)
    queries = rng.integers(0, 4, size=(40, 3)).astype(float)
    for chunks in ((200,), (3, 97, 100), (50,) * 4, (1,) * 10 + (190,)):
        blocked = KNeighborsClassifier(9).fit(*cut(X, y, (chunks, (3,))))
        whole = KNeighborsClassifier(9).fit(X, y)
        np.testing.assert_allclose(blocked.predict_proba(queries), whole.predict_proba(queries))
        for ours, theirs in zip(blocked.kneighbors(queries), whole.kneighbors(queries)):
            assert np.array_equal(ours, theirs)
        a, b = blocked.explain(queries), whole.explain(queries)
        assert a.rows(0) == b.rows(0)
    mean = KNeighborsRegressor(5).fit(da.from_array(X, chunks=(60, 3)), X[:, :2])
    np.testing.assert_allclose(
        mean.predict(queries), KNeighborsRegressor(5).fit(X, X[:, :2]).predict(queries)
    )


def test_support_and_margin_of_a_machine():
    X, y = rows()
    two = y != "cat"
    X, y = X[two], y[two]
    blocked = LinearSVM(alpha=1e-2, tol=1e-9).fit(da.from_array(X, chunks=(70, 5)), y)
    whole = LinearSVM(alpha=1e-2, tol=1e-9).fit(X, y)
    assert set(blocked.support_) ^ set(whole.support_) <= set(
        np.flatnonzero(np.abs(whole.decision_function(X)) > 0.99)
    )
    assert np.isclose(blocked.margin_, whole.margin_, rtol=1e-3)


@pytest.mark.parametrize(
    "features", [Nystroem(n_components=30), RandomFourierFeatures(n_components=100)], ids=str
)
def test_maps_before_a_linear_model(features):
    X, y = rows()
    model = make_pipeline(features, LogisticRegression(alpha=1e-3))
    blocked = clone(model).fit(*cut(X, y))
    other = clone(model).fit(*cut(X, y, ((150, 150), (5,))))
    np.testing.assert_allclose(blocked[-1].coef_, other[-1].coef_, atol=1e-6)
    assert (blocked.predict(cut(X, y)[0]).compute() == clone(model).fit(X, y).predict(X)).mean() > 0.95


def test_the_model_is_an_ordinary_one(tmp_path):
    X, y = rows()
    for model in (
        LogisticRegression(),
        GaussianNB(),
        LinearDiscriminantAnalysis(),
        LinearSVM(loss="hinge", alpha=1.0),
    ):
        blocked = model.fit(*cut(X, y))
        nearline.save(blocked, tmp_path / "model.nearline")
        loaded = nearline.load(tmp_path / "model.nearline")
        assert loaded.predict(X).tolist() == blocked.predict(X).tolist()
        assert loaded.explain(X[:1]).predictions[0] == blocked.predict(X[:1])[0]


BAD = {
    "NaN in a block": (lambda X, y: (np.where(X[200, 1] == X, np.nan, X), y), "Block 3 of X .* contains NaN"),
    "a missing label": (lambda X, y: (X, np.where(np.arange(N) == 90, None, y)), "Input y contains NaN"),
    "one class": (lambda X, y: (X, np.full(N, "ant")), "needs at least 2 classes"),
    "a quantity": (lambda X, y: (X, X[:, 0]), "Unknown label type: continuous"),
    "too few labels": (lambda X, y: (X, y[:-1]), "X has 300 rows but y 299"),
    "no rows": (lambda X, y: (X[:0], y[:0]), "there are no rows"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_blocks_are_refused_in_a_sentence(name):
    X, y = BAD[name][0](*rows())
    chunks = CUTS if len(X) else ((0,), (5,))
    with pytest.raises(ValueError, match=BAD[name][1]):
        LogisticRegression().fit(da.from_array(X, chunks=chunks), da.from_array(y, chunks=max(len(y), 1)))


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (KernelSVM(), "KernelSVM needs all rows at once, and X is in blocks"),
        (NeighborsTransfer(), "needs all rows at once"),
        (LinearSVM(hard_margin=True), "hard margin needs the rows at hand"),
        (LeastSquaresClassifier(alpha=[0.1, 1.0]), "leaving out one row at a time"),
        (LinearDiscriminantAnalysis(shrinkage="auto"), "shrinkage='auto' looks at the rows"),
        (NearestCentroid(metric="l1"), "needs medians"),
        (KNeighborsClassifier(metric="precomputed"), "is a table of distances"),
        (LogisticRegression(solver="row-space"), "needs the rows themselves"),
    ],
    ids=str,
)
def test_what_blocks_cannot_do_is_said(model, sentence):
    with pytest.raises(ValueError, match=sentence):
        model.fit(*cut(*rows()))


def test_blocks_of_different_kinds_are_refused():
    X, y = rows()
    parts = [
        da.from_array(X[:100], chunks=(100, 5)),
        da.from_array(X[100:], chunks=(200, 5)).map_blocks(sp.csr_matrix),
    ]
    with pytest.raises(
        ValueError, match=r"Block 2 of X \(counted from 1\) has 5 column\(s\) and is sparse, but block 1"
    ):
        LogisticRegression().fit(da.concatenate(parts), y)
    narrow = [da.from_array(X[:100], chunks=100), da.from_delayed(delayed(X[100:, :4]), (200, 5), float)]
    with pytest.raises(ValueError, match=r"Block 2 of X .* has 4 column.* block 1 has 5"):
        LogisticRegression().fit(da.concatenate(narrow), y)
    with pytest.raises(ValueError, match="rows by features"):
        LogisticRegression().fit(da.from_array(X[:, 0], chunks=100), y)


@pytest.mark.parametrize(
    "change",
    [
        lambda part: part[["b", "a", "c"]],
        lambda part: part.rename(columns={"c": "z"}),
        lambda part: part[["a"]],
    ],
)
def test_partitions_have_the_columns_of_the_frame(change):
    """Columns in another order would be taken for each other."""
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["a", "b", "c"])
    parts = [delayed(table[:30]), delayed(change(table[30:]))]
    frame = dd.from_delayed(parts, meta=table.iloc[:0], verify_meta=False)
    with pytest.raises(
        ValueError, match=r"Block 2 of X \(counted from 1\): Column . is .*: give all partitions the same"
    ):
        LogisticRegression().fit(frame, (table["a"] > 0).to_numpy())


@pytest.mark.parametrize(
    ("bad", "sentence"),
    [
        (lambda X, y: (X, np.c_[y, y]), "one label for each row"),
        (
            lambda X, y: (X, y, np.ones((300, 2))),
            "Block . of X .* sample_weight must be one number for each row",
        ),
        (lambda X, y: (X * 1j, y), "Block . of X .* Complex data"),
    ],
)
def test_what_no_block_may_hold_is_said_with_its_number(bad, sentence):
    given = [da.from_array(one, chunks=(100, *one.shape[1:])) for one in bad(*rows())]
    with pytest.raises(ValueError, match=sentence):
        LogisticRegression().fit(*given)


def test_dates_among_numbers_are_refused_with_their_block():
    table = pd.DataFrame({"a": [0.0, 1.0, 2.0], "t": pd.Timestamp("2020-01-01")})
    with pytest.raises(ValueError, match=r"Block 1 of X \(counted from 1\): .*DateTime64"):
        LogisticRegression().fit(dd.from_pandas(table, npartitions=1), [0, 1, 1])


def test_a_bag_is_no_rows():
    import dask.bag

    with pytest.raises(ValueError, match="Dask array or frame, got a Bag"):
        LogisticRegression().fit(dask.bag.from_sequence([1, 2]), [0, 1])


def test_a_fit_by_newton_takes_few_passes(monkeypatch):
    """One that counts, one that surveys, the start, one for each step, and the certificate."""
    asked, own = [], LocalCrew.answers
    monkeypatch.setattr(LocalCrew, "answers", lambda crew, questions: asked.append(1) or own(crew, questions))
    model = LogisticRegression(alpha=1e-2).fit(*cut(*rows()))
    assert model.solver_ == "newton"
    assert len(asked) <= 4 + model.n_iter_
