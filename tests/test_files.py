"""A model in a file is the same model to the last bit; a bad file gets a sentence, whoever made it, and runs nothing."""

import contextlib
import copy
import hashlib
import json
import os
import pickle
import struct
import tracemalloc
import zipfile
from functools import cache, lru_cache
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler
from sklearn.utils import get_tags

import nearline
from nearline import files
from nearline.files import ModelFileError, ModelFileWarning, _container, inspect, load, save
from nearline.files._decoding import Decoder
from nearline.files._encoding import Encoder
from nearline.files._registry import by_name
from nearline.losses.margin import SmoothedHinge
from nearline.neighbors.ballots import BOUNDARIES
from nearline.neighbors.vote import TIES
from nearline.neighbors.weights import WEIGHTS
from nearline.representations import REPRESENTATIONS
from nearline.selection.chain import Chain
from nearline.selection.families import FAMILIES, Fold

X, CODES = load_iris(return_X_y=True)
X, CODES = X[::3], CODES[::3]
LABELS = {
    "strings": np.array(["setosa", "versicolor", "Ä 日本"])[CODES],
    "objects": np.array(["setosa", "versicolor", "virginica"], dtype=object)[CODES],
    "ints": CODES * 7 - 3,
    "bools": CODES > 0,
}
METHODS = ("predict", "predict_proba", "decision_function", "transform", "transfer")
TEXTS = [f"word{i % 7} thing{c} und Straße {'x' * (i % 4)}" for i, c in enumerate(CODES)]
TABLE = pd.DataFrame(
    {
        "length": X[:, 0],
        "holes": np.where(np.arange(len(X)) % 5 == 0, np.nan, X[:, 1]),
        "wide": np.where(X[:, 2] > 3, "wide", "narrow"),
        "day": pd.date_range("2020-01-30", periods=len(X)),
        "note": [f"note {i} of {i * 7919 % 101}" for i in range(len(X))],
    }
)


def predictions(model, rows):
    """Everything that a model says about rows, down to the bits."""
    found = {}
    for name in METHODS:
        method = getattr(model, name, None)
        if method is not None:
            value = method(rows)
            value = value.toarray() if sparse.issparse(value) else np.asarray(value)
            found[name] = (
                value.dtype.str,
                value.shape,
                value.tobytes() if value.dtype != object else value.tolist(),
            )
    assert found
    return found


def same_after(model, rows, path):
    save(model, path)
    again = load(path)
    assert type(again) is type(model)
    assert predictions(again, rows) == predictions(model, rows)
    assert sorted(vars(again)) == sorted(vars(model))
    before = path.read_bytes()
    save(again, path)
    assert path.read_bytes() == before  # nothing is lost on the way
    return again


def estimator(name):
    made = nearline.ESTIMATORS[name]
    return made(nearline.LogisticRegression()) if name in ("OneVsRest", "OneVsOne") else made()


# -- what can be saved ----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::nearline.ConvergenceWarning")
@pytest.mark.parametrize(
    ("name", "kind", "labels"),
    [
        (name, kind, labels)
        for name in nearline.ESTIMATORS
        for kind, labels in [*product(["float64"], LABELS), ("float32", "ints"), ("sparse", "strings")]
        if kind != "sparse" or get_tags(estimator(name)).input_tags.sparse
    ],
)
def test_every_estimator_is_the_same_after_a_file(name, kind, labels, tmp_path):
    rows = sparse.csr_matrix(X * (X > 1)) if kind == "sparse" else X.astype(kind)
    y = X[:, 0] if name == "KNeighborsRegressor" else LABELS[labels]
    same_after(estimator(name).fit(rows, y), rows[::2], tmp_path / "model.nearline")


@cache
def rows_for(representation):
    if representation.startswith("table"):
        return TABLE
    if representation.endswith("trees"):
        return [f"(S (NP {'abc'[c]}) (VP {'de'[i % 2]}))" for i, c in enumerate(CODES)]
    kernel = REPRESENTATIONS[representation].gives == "gram"
    return TEXTS if kernel or representation.startswith(("word", "characters")) else X


@lru_cache
def fold_of(representation):
    rows = rows_for(representation)
    way = REPRESENTATIONS[representation].adapted(rows)
    numbers = way.transformer().fit_transform(rows, CODES)
    return Fold(numbers, CODES, None, numbers, np.arange(3), way.gives == "gram")


@pytest.mark.filterwarnings("ignore::nearline.ConvergenceWarning")
@pytest.mark.parametrize(
    ("representation", "family"),
    [
        pytest.param(representation, family, id=f"{representation}-{family.name}")
        for representation, way in REPRESENTATIONS.items()
        for family in FAMILIES.values()
        if way.gives in family.takes
        and not family.refuses(fold_of(representation))  # few rows do not matter here
    ],
)
def test_every_family_on_every_representation(representation, family, tmp_path):
    rows, way = rows_for(representation), REPRESENTATIONS[representation]
    model = family.estimator(family.grid(fold_of(representation), "default")[0])
    chain = Chain(way.adapted(rows).chained(model)).fit(rows, LABELS["strings"])
    same_after(chain, rows, tmp_path / "model.nearline")


@pytest.mark.parametrize(
    "model",
    [
        nearline.LogisticRegression(
            regularizer=nearline.ElasticNet(0.25), solver="fista", class_weight="balanced"
        ),
        nearline.LogisticRegression(class_weight={0: 1.5, 1: np.float32(2.0)}, alpha=np.float64(0.01)),
        nearline.LinearClassifier(loss=SmoothedHinge(0.5), solver=nearline.SGD(random_state=3, max_iter=20)),
        nearline.KNeighborsClassifier(
            4, metric=nearline.Lq(3), weights=nearline.Temperature(0.1), ties="prior"
        ),
        nearline.KNeighborsClassifier(np.int64(3), metric=nearline.Mahalanobis.learn(X, CODES)),
        nearline.KNeighborsClassifier(3, algorithm="tree", boundary="list", weights="distance"),
        nearline.CalibratedClassifier(nearline.LinearSVM(), method="sigmoid"),
        nearline.CalibratedClassifier(nearline.GaussianNB(), method="isotonic", folds=3),
        nearline.CalibratedClassifier(make_pipeline(StandardScaler(), nearline.GaussianNB()), folds=3),
        nearline.OneVsOne(nearline.LinearSVM()),
        nearline.OneVsRest(nearline.KNeighborsClassifier()),
        make_pipeline(
            SimpleImputer(add_indicator=True), RobustScaler(), MinMaxScaler(), nearline.NearestCentroid()
        ),
        make_pipeline("passthrough", nearline.MultinomialNB(priors=[0.2, 0.3, 0.5])),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::nearline.ConvergenceWarning")
def test_parameters_that_are_objects(model, tmp_path):
    again = same_after(model.fit(X, CODES), X, tmp_path / "model.nearline")
    assert str(again.get_params()) == str(model.get_params())


@pytest.mark.parametrize("metric", [*nearline.METRICS, nearline.Mahalanobis(np.eye(4))], ids=str)
def test_every_metric(metric, tmp_path):
    rows = (X > 2.5).astype(float) if metric == "jaccard" else X @ X.T if metric == "precomputed" else X
    weights = np.arange(len(X)) % 3.0  # some rows have none
    model = nearline.KNeighborsClassifier(3, metric=metric).fit(rows, CODES, weights)
    same_after(model, rows, tmp_path / "model.nearline")


@pytest.mark.parametrize(
    "listed",
    [nearline.LOSSES, nearline.REGULARIZERS, nearline.METRICS, nearline.SOLVERS, WEIGHTS, BOUNDARIES, TIES],
    ids=["losses", "regularizers", "metrics", "solvers", "weights", "boundaries", "ties"],
)
def test_whatever_is_listed_can_be_in_a_file(listed):
    for thing in listed.values():
        encoder = Encoder()
        code = json.loads(json.dumps(encoder.encode(thing, "thing")))
        assert Decoder(encoder.arrays).decode(code) == thing


def test_missing_numbers_and_named_columns(tmp_path):
    frame = TABLE[["length", "holes"]]
    made = REPRESENTATIONS["standardized"].adapted(frame).transformer()
    model = Chain([("representation", made), ("model", nearline.LogisticRegression())]).fit(frame, CODES)
    again = same_after(model, frame, tmp_path / "model.nearline")
    assert again.feature_names_in_.tolist() == ["length", "holes"]
    assert inspect(tmp_path / "model.nearline").features == {"length": "float64", "holes": "float64"}
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame.rename(columns={"holes": "whole"}))


@pytest.mark.parametrize(
    "payload",
    [
        [f"caption {i}" for i in range(len(X))],
        tuple({"id": i, "tags": ["a", "b"] * (i % 3), "size": None} for i in range(len(X))),
        X.astype(np.float32).T.copy().T,
        sparse.csr_array(X),
        sparse.csc_matrix(X),
        [[f"one {i}", "lone \ud83d surrogate"] for i in range(len(X))],
    ],
    ids=lambda payload: type(payload).__name__,
)
def test_payloads(payload, tmp_path):
    model = nearline.NeighborsTransfer(2).fit(X, payload)
    save(model, tmp_path / "model.nearline")
    again = load(tmp_path / "model.nearline")
    assert type(again.payload_) is type(payload)
    a, b = (m.transfer(X[:5]) for m in (model, again))
    dense = [[part.toarray() if sparse.issparse(part) else part for part in found] for found in (a, b)]
    np.testing.assert_equal(*dense)


def test_consensus(tmp_path):
    captions = [f"a dog on grass {i % 4}" for i in range(len(X))]
    model = nearline.NeighborsTransfer(4, consensus=nearline.Consensus(subset=2)).fit(X, captions)
    same_after(model, X, tmp_path / "model.nearline")


@pytest.mark.parametrize("made", [nearline.LogisticRegression, nearline.Perceptron, nearline.GaussianNB])
def test_learning_goes_on_after_a_file(made, tmp_path):
    model = made().partial_fit(X[::2], CODES[::2], classes=[0, 1, 2])
    again = same_after(model, X, tmp_path / "model.nearline")
    assert predictions(again.partial_fit(X, CODES), X) == predictions(model.partial_fit(X, CODES), X)


def test_the_chosen_model_of_a_contest(tmp_path):
    contest = nearline.TryThemAll("quick", progress="silent", include=["k-NN", "logistic"]).fit(X, CODES)
    same_after(contest.model_, X, tmp_path / "model.nearline")
    with pytest.raises(ModelFileError, match=r"save its chosen model, contest\.model_, instead"):
        save(contest, tmp_path / "contest.nearline")


def test_order_and_sharing_of_arrays_are_kept(tmp_path):
    model = nearline.KNeighborsClassifier(3).fit(
        np.random.default_rng(0).random((1000, 20)), np.arange(1000) % 2
    )
    path = tmp_path / "model.nearline"
    save(model, path)
    assert path.stat().st_size < 1.1 * (1000 * 20 * 8 + 1000 * 8)  # the rows once
    again = load(path)
    assert again.index_.X is again._fit_X
    linear = nearline.GaussianNB().fit(X, CODES)
    linear.theta_ = np.asfortranarray(linear.theta_)
    save(linear, path)
    again = load(path)
    assert again.theta_.flags.f_contiguous
    assert not again.theta_.flags.c_contiguous
    assert again.theta_.flags.writeable


# -- what a file says -----------------------------------------------------------------------------------------


def test_facts_come_back_without_the_model(tmp_path, monkeypatch):
    path = tmp_path / "model.nearline"
    transformer = REPRESENTATIONS["table"].transformer()
    model = Chain([("representation", transformer), ("model", nearline.GaussianNB())]).fit(
        TABLE, LABELS["strings"]
    )
    facts = {
        "fingerprint": "sha256:12ab",
        "accuracy": np.float64(0.95),
        "folds": np.arange(3),
        "note": "Größe",
    }
    save(model, path, facts=facts)
    monkeypatch.setattr(files, "Decoder", None)  # nothing is built
    about = inspect(str(path))
    assert about.facts == {
        "fingerprint": "sha256:12ab",
        "accuracy": 0.95,
        "folds": [0, 1, 2],
        "note": "Größe",
    }
    assert about.kind == "TableEncoder > GaussianNB"
    assert about.classes == sorted(set(LABELS["strings"]))
    kinds = {"length": "number", "holes": "number", "wide": "category", "day": "date", "note": "text"}
    assert (about.features, about.n_features) == (kinds, 5)
    assert about.versions["nearline"] == nearline.__version__
    assert (about.format, about.size) == (1, path.stat().st_size)
    assert len(about.checksum) == 64


def test_kinds_of_models_in_words(tmp_path):
    path = tmp_path / "model.nearline"
    save(
        nearline.CalibratedClassifier(make_pipeline(StandardScaler(), nearline.GaussianNB())).fit(X, CODES),
        path,
    )
    assert inspect(path).kind == "CalibratedClassifier(StandardScaler > GaussianNB)"
    assert (inspect(path).classes, inspect(path).n_features) == ([0, 1, 2], 4)
    words = Chain([("words", REPRESENTATIONS["words"].transformer()), ("model", nearline.MultinomialNB())])
    save(words.fit(TEXTS, CODES), path)
    assert inspect(path).features == {"text": "text"}
    save(nearline.KNeighborsRegressor().fit(X, X[:, 0]), path)
    assert inspect(path).classes is None


@pytest.mark.parametrize("facts", [{"a": {1, 2}}, {"a": lambda: 0}, ["no", "names"], {(1, 2): 3}])
def test_facts_must_be_json(facts, tmp_path):
    with pytest.raises(ModelFileError, match="facts must be"):
        save(nearline.GaussianNB().fit(X, CODES), tmp_path / "model.nearline", facts=facts)
    assert not list(tmp_path.iterdir())


# -- what cannot be saved -------------------------------------------------------------------------------------


class Mine(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[0], len(X))


class MyKNN(nearline.KNeighborsClassifier):
    pass


def my_metric(a, b):
    return abs(a - b).sum()


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (Mine(), "The model is a .*Mine, which a model file cannot hold"),
        (MyKNN(), "The model is a .*MyKNN, which a model file cannot hold"),
        (make_pipeline(StandardScaler(), Mine()), r"Pipeline.steps\[1\]\[1\] is a .*Mine, which"),
        (nearline.OneVsRest(Mine()), "OneVsRest.estimator is a .*Mine"),
        (
            nearline.KNeighborsClassifier(metric=my_metric),
            "KNeighborsClassifier.metric is the function my_metric",
        ),
        (nearline.KNeighborsClassifier(weights=np.exp), "KNeighborsClassifier.weights is the function exp"),
        (make_pipeline(StandardScaler(), nearline.GaussianNB(), memory="cache"), "set memory=None"),
    ],
    ids=["own", "derived", "in a pipeline", "in a reduction", "metric", "weights", "memory"],
)
def test_what_cannot_be_saved_is_named(model, sentence, tmp_path, monkeypatch):
    if "memory" in sentence:
        model.steps[0][1].fit(X), model.steps[1][1].fit(X, CODES)
    elif not isinstance(model, nearline.OneVsRest):
        model.fit(X, CODES)
    else:
        model.estimators_ = []
    with pytest.raises(ModelFileError, match=sentence):
        save(model, tmp_path / "model.nearline")
    assert not list(tmp_path.iterdir())


def test_other_things_that_are_no_models(tmp_path):
    path = tmp_path / "model.nearline"
    with pytest.raises(ModelFileError, match="not fitted: call fit before save"):
        save(nearline.GaussianNB(), path)
    with pytest.raises(ModelFileError, match="holds a fitted estimator"):
        save([1, 2], path)
    itself = []
    itself.append(itself)
    payloads = {
        "contains itself": [itself] * len(X),
        "pandas": pd.DataFrame(X),
        "more than 64 bits": [2**64] * len(X),
        "array of type datetime64": np.zeros(len(X), dtype="M8[s]"),
        "key '\\(1, 2\\)' of type tuple": [{(1, 2): 3}] * len(X),
        "holds no code": [len] * len(X),
        "Get fewer|give fewer facts": [{"a": "b" * 10**6} for _ in X],
    }
    for sentence, payload in payloads.items():
        model = nearline.NeighborsTransfer().fit(X, payload)
        with pytest.raises(ModelFileError, match=sentence):
            save(model, path)
    assert not list(tmp_path.iterdir())


def test_graphs_cannot_be_saved(tmp_path):
    pytest.importorskip("faiss")
    rows = np.random.default_rng(0).normal(size=(300, 8))
    model = nearline.KNeighborsClassifier(3, algorithm=nearline.Approximate(0.5)).fit(
        rows, np.arange(300) % 2
    )
    with pytest.raises(ModelFileError, match=r"algorithm='exact', or keep the index alone by Index\.save"):
        save(model, tmp_path / "model.nearline")


# -- writing --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failed_save_leaves_the_old_file_and_nothing_else(failing, tmp_path, monkeypatch):
    path = tmp_path / "model.nearline"
    model = nearline.GaussianNB().fit(X, CODES)
    save(model, path)
    before = path.read_bytes()

    def fail(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(_container.os, failing, fail)
    with pytest.raises(KeyboardInterrupt):
        save(nearline.NearestCentroid().fit(X, CODES), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model.nearline"]


def test_where_no_file_can_be_written(tmp_path):
    model = nearline.GaussianNB().fit(X, CODES)
    with pytest.raises(ModelFileError, match="it is a folder"):
        save(model, tmp_path)
    with pytest.raises(ModelFileError, match="there is no folder"):
        save(model, tmp_path / "none" / "model.nearline")


def test_files_are_the_same_every_time_and_links_are_followed(tmp_path):
    paths = [tmp_path / "a", tmp_path / "b"]
    for path in paths:
        save(nearline.KNeighborsClassifier().fit(X, CODES), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    link = tmp_path / "link"
    link.symlink_to(paths[0])
    save(nearline.GaussianNB().fit(X, CODES), link)
    assert link.is_symlink()
    assert inspect(paths[0]).kind == "GaussianNB"


# -- bad files ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """The bytes of a small file."""
    path = tmp_path_factory.mktemp("good") / "model.nearline"
    save(nearline.KNeighborsClassifier(1).fit(X[::10], CODES[::10]), path)
    return path.read_bytes()


def refused(path, content, sentence=None):
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=sentence) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_cut_anywhere(good, tmp_path):
    for length in [*range(100), *range(100, len(good), 7), len(good) - 1]:
        refused(tmp_path / "cut", good[:length], "is no intact model file")
    refused(tmp_path / "longer", good + b"\0", "should have .* bytes, but")


def test_a_flipped_bit_anywhere(good, tmp_path):
    for place in range(len(good)):
        content = bytearray(good)
        content[place] ^= 1 << place % 8
        refused(tmp_path / "flipped", bytes(content))


def test_places_without_a_model_file(tmp_path):
    for path, sentence in {
        tmp_path: "is a folder",
        tmp_path / "none": "There is no file",
        Path("/dev/null"): "no file but a device",
        "with\0zero": "cannot be read",
        tmp_path / ("x" * 1000): "cannot be read",
    }.items():
        for read in (load, inspect):
            with pytest.raises(ModelFileError, match=sentence):
                read(path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="pipe"):
        load(tmp_path / "pipe")


class Trap:
    """A pickle that leaves a trace when it is opened."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


def test_other_files(tmp_path):
    trap = Trap(tmp_path / "sprung")
    for name, content, sentence in [
        ("empty", b"", "it is empty"),
        ("text", b"hello", "begins with b'hello'"),
        ("pickle", pickle.dumps(trap), "never opened here: a pickle can run any code"),
    ]:
        refused(tmp_path / name, content, sentence)
    np.save(tmp_path / "array.npy", np.array([trap], dtype=object), allow_pickle=True)
    refused(tmp_path / "array", (tmp_path / "array.npy").read_bytes(), "an array of NumPy")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("../../outside", "x")
        archive.writestr("/etc/outside", b"\0" * 10**6, compress_type=zipfile.ZIP_DEFLATED)
    refused(tmp_path / "zip", (tmp_path / "a.zip").read_bytes(), "It is a zip archive")
    assert not trap.path.exists()


def forged(header, arrays=()):
    """A file with right checksums, whatever is in it."""
    return _container._start(header, list(arrays)) + b"".join(map(bytes, _container._parts(list(arrays))))


def raw(text, rest=b"", version=1, length=None):
    """A file with a right checksum of its header, which is any bytes."""
    fields = struct.pack("<8sIQ", b"nearline", version, len(text) if length is None else length)
    return fields + hashlib.sha256(fields + text).digest() + text + rest


def test_versions(good, tmp_path):
    text = good[52:]
    refused(tmp_path / "new", raw(text, version=2), "has version 2 .* reads versions up to 1: upgrade it")
    refused(tmp_path / "huge", raw(text, version=2**32 - 1), "upgrade it")
    refused(
        tmp_path / "old",
        raw(text, version=0),
        "has version 0 .* reads versions from 1 on: fit the model again",
    )


EMPTY = {
    "kind": "x",
    "classes": None,
    "n_features": 1,
    "features": {},
    "versions": {},
    "facts": {},
    "model": {},
}


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        (["<f8", [10**15], "C"], "should have 8,000,000,000,000,000 bytes, but 0"),
        (["<f8", [2**40, 2**40, 2**40], "C"], "should have"),
        (["<U999999999", [1], "C"], "list of arrays"),
        (["<U99999999", [1], "C"], "should have 400,000,000 bytes"),
        (["<f8", [0, 2**60], "C"], "without elements"),
        (["<f8", [-1, -1], "C"], "shape"),
        (["<f8", [1.5], "C"], "shape"),
        (["<f8", [True], "C"], "shape"),
        (["<f8", [1] * 33, "C"], "shape"),
        (["|O", [1], "C"], "type"),
        (["|V8", [1], "C"], "type"),
        (["f8,O", [1], "C"], "type"),
        (["<f8", [0], "K"], "order"),
        (["<f8", [0]], "list of arrays"),
        (7, "list of arrays"),
        ({"a": 1}, "list of arrays"),
    ],
    ids=str,
)
def test_absurd_arrays(row, sentence, tmp_path):
    header = {**EMPTY, "arrays": [row], "sha256": hashlib.sha256().hexdigest()}
    refused(tmp_path / "absurd", raw(json.dumps(header).encode()), sentence)


def test_headers_that_are_no_headers(tmp_path):
    path = tmp_path / "bad"
    refused(path, raw(b"[" * 10**6), "no JSON")
    refused(path, raw(b'{"a":' * 10**5), "no JSON")
    refused(path, raw(b"\xff\xfe{}"), "no JSON")
    refused(path, raw(b"9" * 10**5), "no JSON")
    refused(path, raw(b"[]"), "no JSON object")
    refused(path, raw(b"{}"), "its header lacks kind")
    for bomb in (b"[]," * 10**6, b"{}," * 10**6, b"0," * 2 * 10**6):
        refused(path, raw(b'{"model":[' + bomb + b"0]}"), "more than 1,500,000 parts")
    refused(path, raw(b"{}", length=2**63), "its header should have")
    refused(path, raw(b" " * (17 * 2**20)), "its header should have")
    for name in ("kind", "classes", "n_features", "features", "versions", "facts", "model"):
        refused(path, raw(json.dumps({**EMPTY, name: 0.5}).encode()), f"lacks {name}")
    refused(path, raw(json.dumps({**EMPTY, "versions": {"scikit-learn": 1}}).encode()), "lacks versions")
    refused(path, raw(json.dumps({**EMPTY, "arrays": 3}).encode()), "list of arrays")
    refused(path, raw(json.dumps({**EMPTY, "arrays": []}).encode()), "checksum")


def nested(tag, levels):
    code = []
    for _ in range(levels):
        code = {tag: [code]} if tag else [code]
    return code


def knn(**changes):
    """A model of two rows, as its file has it."""
    index = {
        "X": {"array": 0},
        "metric": {"object": ["metric.L2", {}]},
        "algorithm": "auto",
        "memory": 10**6,
        **changes.pop("index", {}),
    }
    votes = {
        "codes": {"array": 1},
        "n_classes": 2,
        "multiplicities": None,
        "sizes": None,
        **changes.pop("votes", {}),
    }
    state = {
        "n_neighbors": 1,
        "metric": "l2",
        "classes_": {"objects": [[2], ["a", "b"]]},
        "n_features_in_": 1,
        "n_samples_fit_": 2,
        "_fit_X": {"array": 0},
        "_rows": None,
        "_multiplicities": None,
        "index_": {"object": ["part.Index", index]},
        "_electorate": {"object": ["part.Electorate", votes]},
        **changes,
    }
    return {"object": ["estimator.KNeighborsClassifier", state]}


TWO = (np.array([[0.0], [1.0]]), np.array([0, 1]))


def test_the_forger_can_write_good_files(tmp_path):
    path = tmp_path / "good"
    path.write_bytes(forged({**EMPTY, "model": knn()}, TWO))
    assert load(path).kneighbors([[0.2]])[1].tolist() == [[0]]


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ({"object": ["os.system", {}]}, "unknown class 'os.system'"),
        ({"object": ["builtins.eval", {"source": "1"}]}, "unknown class"),
        ({"object": ["sklearn.FunctionTransformer", {}]}, "unknown class"),
        ({"object": [["part.Index"], {}]}, "unknown class"),
        ({"object": ["estimator.GaussianNB"]}, "TypeError"),
        ({"object": ["estimator.GaussianNB", ["x"]]}, "AttributeError"),
        ({"object": ["estimator.GaussianNB", {"__class__": 1}]}, "has no attribute '__class__'"),
        ({"object": ["estimator.GaussianNB", {"__reduce__": 1}]}, "has no attribute"),
        (
            {"object": ["estimator.GaussianNB", {"predict": {"function": "ngram_similarity"}}]},
            "has no attribute",
        ),
        ({"object": ["estimator.GaussianNB", {"a b": 1}]}, "has no attribute"),
        ({"object": ["estimator.OneVsRest", {}]}, "TypeError"),
        ({"object": ["metric.Lq", {"q": 3.0}]}, "holds a Lq, no model"),
        ({"object": ["metric.Lq", {"q": 0.5}]}, "Lq needs q >= 1"),
        ({"object": ["metric.Lq", {"q": 3.0, "z": 1}]}, "Lq has no attribute 'z'"),
        ({"object": ["part.Status", {"name": "mro"}]}, "KeyError"),
        ({"pickle": "gASV"}, "unknown content"),
        ({"function": "eval"}, "KeyError"),
        ({"type": "object"}, "KeyError"),
        ({"dtype": "|O"}, "no type"),
        ({"dtype": "f8,O"}, "no type"),
        ({"array": 5}, "no array number 5"),
        ({"array": -1}, "no array number -1"),
        ({"array": True}, "no array number"),
        ({"tuple": 3}, "a list is missing"),
        ({"dict": [["a", "a"], [1, 2]]}, "a key twice"),
        ({"dict": [["a"], [1, 2]]}, "longer"),
        ({"dict": [[{"tuple": [1]}], [1]]}, "keys that are neither"),
        ({"set": [[]]}, "keys that are neither"),
        ({"strings": [1, 0]}, "wrong lengths of strings"),
        ({"objects": [[2**24, 2**24], [1]]}, "objects for another shape"),
        ({"sparse": ["csr_matrix", [2, 2**50], 0, 0, 0]}, "wrong sparse rows"),
        ({"a": 1, "b": 2}, "unknown content"),
        (nested("tuple", 100), "levels deep"),
        ({"tuple": nested(None, 100)}, "levels deep"),
        ({"tuple": [10**30]}, "unknown content"),
        ({"tuple": [{"numbers": 0}] * 5}, "array 0 is used too often"),
        ({"tuple": [knn(index={"memory": 10**6 + i}) for i in range(5)]}, "array 0 is used too often"),
        (knn(index={"memory": 0}), "memory must be a whole number from 1"),
        (knn(index={"algorithm": {"object": ["part.Approximate", {"recall": 0.5}]}}), "approximate index"),
        (knn(index={"algorithm": "exec"}), "algorithm must be .*, but it is 'exec'"),
        (knn(index={"metric": "no"}), "metric must be a Metric, but it is 'no'"),
        (knn(index={"X": {"array": 1}}), "X must be rows"),
        (knn(index={"X": {"objects": [[2], [1, 2]]}}), "X must be rows"),
        (knn(votes={"n_classes": 10**12}), "votes of neighbors do not fit"),
        (knn(votes={"codes": {"array": 0}}), "codes must be an array .n,. of whole numbers"),
        (knn(votes={"n_classes": 1}), "votes of neighbors do not fit"),
        (knn(classes_=["a"]), "classes_ must be an array"),
        (knn(classes_={"objects": [[1], ["a"]]}), "votes of neighbors do not fit"),
        (knn(classes_={"objects": [[2], ["b", "a"]]}), "different labels, in order"),
        (
            {"object": ["part.Params", {"flat": {"array": 1}, "n_outputs": 9, "n_features": 9}]},
            "flat must be .* float64",
        ),
        ({"object": ["sklearn.Pipeline", {"steps": [], "memory": "cache"}]}, "set memory=None"),
        ({"object": ["sklearn.TfidfVectorizer", {"input": "filename"}]}, "which opens files"),
        (
            {"object": ["sklearn.CountVectorizer", {"vocabulary_": {"dict": [["a"], [10**9]]}}]},
            "numbered from 0",
        ),
    ],
    ids=lambda value: str(value)[:60],
)
def test_hostile_structures(model, sentence, tmp_path):
    refused(tmp_path / "hostile", forged({**EMPTY, "model": model}, TWO), sentence)


@pytest.mark.parametrize(
    ("shape", "indices", "indptr"),
    [
        ([2, 3], [0, 5], [0, 1, 2]),
        ([2, 3], [0, -1], [0, 1, 2]),
        ([2, 3], [0, 1], [0, 1, 9]),
        ([2, 3], [0, 1], [0, 2, 1]),
        ([2, 3], [0, 1], [1, 1, 2]),
        ([2, 3], [0, 1], [0, -1, -2]),
        ([9, 3], [0, 1], [0, 1, 2]),
        ([2, 2**40], [0, 1], [0, 1, 2]),
        ([2, -3], [0, 1], [0, 1, 2]),
    ],
    ids=str,
)
def test_hostile_sparse_rows(shape, indices, indptr, tmp_path):
    arrays = [np.ones(2), np.array(indices), np.array(indptr)]
    for name in ("csr_matrix", "csc_array"):
        model = {"sparse": [name, shape if name[2] == "r" else shape[::-1], 0, 1, 2]}
        refused(tmp_path / "hostile", forged({**EMPTY, "model": model}, arrays), "cannot be made a model")


def test_wide_sparse_rows_that_cost_a_file_nothing(tmp_path):
    arrays = [np.ones(2), np.array([0, 1]), np.array([0, 1, 2])] * 40
    model = {"tuple": [{"sparse": ["csr_matrix", [2, 2**20], i, i + 1, i + 2]} for i in range(0, 120, 3)]}
    refused(tmp_path / "hostile", forged({**EMPTY, "model": model}, arrays), "too many columns")
    wide = sparse.csr_matrix((np.ones(50), np.arange(50), np.arange(51)), shape=(50, 2**26))
    model = nearline.NeighborsTransfer().fit(X, wide)
    with pytest.raises(ModelFileError, match="more than 33,554,432 columns together"):
        save(model, tmp_path / "model.nearline")


def test_truth_values_are_0_or_1(tmp_path):
    data = b"\xff" + bytes(63)
    header = {**EMPTY, "arrays": [["|b1", [3], "C"]], "sha256": hashlib.sha256(data).hexdigest()}
    refused(tmp_path / "bad", raw(json.dumps(header).encode(), data), "others than 0 and 1")


def test_little_memory_is_used_for_hostile_files(tmp_path):
    path = tmp_path / "large"
    path.write_bytes(raw(json.dumps({**EMPTY, "arrays": [["<f8", [10**11], "C"]]}).encode(), bytes(10**6)))
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match="should have"):
            load(path)
        assert tracemalloc.get_traced_memory()[1] < 10**7
    finally:
        tracemalloc.stop()


def places(code, at=()):
    """Where JSON has values."""
    yield at
    if isinstance(code, (dict, list)):
        for key, part in code.items() if isinstance(code, dict) else enumerate(code):
            yield from places(part, (*at, key))


def looked_up(code, at):
    for key in at:
        code = code[key]
    return code


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    """Headers and arrays of some models."""
    path, found = tmp_path_factory.mktemp("examples") / "model.nearline", []
    table = Chain(
        [("table", REPRESENTATIONS["table"].transformer()), ("model", nearline.LogisticRegression())]
    )
    words = Chain(
        [("words", REPRESENTATIONS["words"].transformer()), ("model", nearline.KNeighborsClassifier())]
    )
    mahalanobis = nearline.KNeighborsClassifier(metric=nearline.Mahalanobis(np.eye(4)))
    for model, rows in ((table, TABLE), (words, TEXTS), (nearline.LinearSVM(), X), (mahalanobis, X)):
        save(model.fit(rows, CODES), path)
        with path.open("rb") as file:
            reader = _container.Reader(file, path)
            found.append((reader.header, reader.arrays(), rows))
    return found


ODD = [None, True, -1, 0, 10**18, 1e308, "", "x", [], {}, {"array": 0}, {"tuple": []}]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_changed_headers_are_refused_or_are_models(data, examples, tmp_path):
    """Whatever is put in the place of something else: a sentence, or a model that can be asked without a crash."""
    header, arrays, rows = data.draw(st.sampled_from(examples))
    header = copy.deepcopy({k: v for k, v in header.items() if k not in ("arrays", "sha256")})
    original = copy.deepcopy(header["model"])
    spots = list(places(original))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.sampled_from(spots))
        part = looked_up(original, data.draw(st.sampled_from(spots)))
        drawn = data.draw(st.one_of(st.just(part), st.sampled_from(sorted(by_name())), st.sampled_from(ODD)))
        new = copy.deepcopy(drawn)  # later changes may be inside
        try:
            if at:
                looked_up(header["model"], at[:-1])[at[-1]] = new
            else:
                header["model"] = new
        except (KeyError, IndexError, TypeError):
            continue  # an earlier change took the place away
    path = tmp_path / "changed"
    path.write_bytes(forged(header, arrays))
    try:
        model = load(path)
    except ModelFileError:
        return
    with contextlib.suppress(Exception):  # any exception of a model of nonsense will do, but no crash
        model.predict(rows)


def test_another_scikit_learn_is_told(tmp_path, monkeypatch):
    path = tmp_path / "model.nearline"
    model = make_pipeline(StandardScaler(), nearline.GaussianNB()).fit(X, CODES)
    with monkeypatch.context() as patch:
        patch.setattr(files.sklearn, "__version__", "1.2.3")
        save(model, path)
        save(nearline.GaussianNB().fit(X, CODES), tmp_path / "own.nearline")
    with pytest.warns(ModelFileWarning, match=r"written with scikit-learn 1\.2\.3"):
        load(path)
    load(tmp_path / "own.nearline")  # no part of it is scikit-learn's
