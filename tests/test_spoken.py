"""Objects with parameters as one word: the same object wherever names are taken, and in model files."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from nearline import KernelSVM, KNeighborsClassifier, LogisticRegression, Lq, load, save, sweep
from nearline._records.spoken import spoken
from nearline.kernels import RBF, Polynomial, as_kernel
from nearline.losses.embedding import Circle, as_embedding_loss
from nearline.neighbors.metrics import Mahalanobis, as_metric
from nearline.regularizers import ElasticNet

X, Y = load_iris(return_X_y=True)


def test_words_are_the_objects_that_they_name():
    assert as_metric("lq:3") == Lq(3)
    assert as_metric("lq:2") == as_metric("l2")  # by its own name where it has one
    assert as_metric("lq:inf") == as_metric("l-infinity")
    assert as_metric("mahalanobis:within").matrix == Mahalanobis("within").matrix
    assert as_kernel("rbf:0.1") == RBF(0.1)
    assert as_kernel("polynomial:2:0.5") == Polynomial(2, 0.5)
    assert as_embedding_loss("circle:5:0.25") == Circle(5, 0.25)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (KNeighborsClassifier(3, metric="lq:3"), KNeighborsClassifier(3, metric=Lq(3))),
        (KernelSVM("rbf:0.2"), KernelSVM(RBF(0.2))),
        (
            LogisticRegression(regularizer="elastic-net:0.2", alpha=0.01),
            LogisticRegression(regularizer=ElasticNet(0.2), alpha=0.01),
        ),
    ],
)
def test_models_take_them_and_files_keep_them(said, meant, tmp_path):
    said, meant = said.fit(X, Y), meant.fit(X, Y)
    for answers in {"predict_proba", "decision_function"} & set(dir(meant)):
        np.testing.assert_array_equal(getattr(said, answers)(X), getattr(meant, answers)(X))
    save(said, tmp_path / "m.nearline")
    np.testing.assert_array_equal(load(tmp_path / "m.nearline").predict(X), meant.predict(X))


def test_sweeps_name_them():
    result = sweep(X, Y, [1, 5], ["l2", "lq:3"])
    assert {row["metric"] for row in result.rows()} == {"l2", "lq:3"}
    np.testing.assert_array_equal(result.scores[1], sweep(X, Y, [1, 5], [Lq(3)]).scores[0])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("lq:", "q >= 1, got ''"),
        ("lq:0.5", "q >= 1, got 0.5"),
        ("lq:2:3", "give its parameters in order"),
        ("l2:3", "give its parameters in order"),
        ("lp:3", "Unknown metric 'lp:3'"),
        ("lq", "'lq:3', an object such as Lq"),
    ],
)
def test_what_they_cannot_be_is_said(text, sentence):
    with pytest.raises(ValueError, match=sentence):
        as_metric(text)


def test_other_values_are_not_of_that_form():
    assert spoken(None, {"lq": Lq}) is None
    assert spoken(3, {"lq": Lq}) is None
    assert spoken("lq", {"lq": Lq}) is None
    assert spoken("mode:3", {"lq": Lq}) is None
