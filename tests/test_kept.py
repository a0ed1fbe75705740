"""What files keep is declared beside each class: nothing is forgotten, and nothing that contradicts it is read."""

from dataclasses import fields

import numpy as np
import pytest
from benchmarks.attacks._forgery import Good, changed_arrays, changed_values, tried
from benchmarks.attacks._models import CODES, NAMES, TEXTS, X, example, examples
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import nearline
from nearline._records.kept import Numbers, Real, Sizes, Whole, check, declaration, kept
from nearline.files import ModelFileError, load, save
from nearline.files._registry import Model, Record, by_name
from nearline.kernels import Polynomial, Spectrum, Subsequence

KINDS = by_name()


# -- declarations ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if isinstance(kind, (Model, Record))])
def test_every_class_declares_what_files_keep_of_it(name):
    """A class that is new in the registry fails here until it has a declaration."""
    kind = KINDS[name]
    declared = set(declaration(kind.cls).specs)
    if isinstance(kind, Record):
        assert {field.name for field in fields(kind.cls)} <= declared
    else:
        assert set(kind.cls._get_param_names()) <= declared
        general = set(declaration(BaseEstimator).specs)
        assert (
            declared - general or name == "estimator.Documents"
        )  # which learns nothing and has no parameters


def test_an_attribute_that_was_forgotten_is_not_dropped_in_silence(tmp_path):
    model = nearline.GaussianNB().fit(X, CODES)
    model.extra_ = 1
    with pytest.raises(ModelFileError, match="GaussianNB has no attribute 'extra_' that a file keeps"):
        save(model, tmp_path / "model.nearline")
    assert not list(tmp_path.iterdir())


def test_letters_are_sizes():
    @kept(W=Numbers(("K", "D")), b=Numbers(("K",), above=0.0), classes_=Numbers(("C",)), n=Whole(1, "C"))
    class Small:
        pass

    good = {"W": np.ones((2, 3)), "b": np.ones(2), "classes_": np.arange(2.0), "n": 1}
    check(Small, good)
    for name, value, sentence in [
        ("b", np.ones(3), r"Small.b must be an array \(K,\) = \(2,\) of finite floats > 0, .* shape \(3,\)"),
        ("b", np.zeros(2), "from 0 to 0"),
        ("W", np.full((2, 3), np.nan), "with NaN"),
        ("W", np.ones((2, 3), dtype=int), "of type int64"),
        ("n", 2, "a whole number from 1 to 1, but it is 2"),
        ("n", True, "but it is True"),
        ("other", 1, "no attribute 'other'"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            check(Small, good | {name: value})


def test_numbers_that_are_none():
    sizes = Sizes()
    assert not Real().fits(True, sizes)
    assert not Real().fits(np.inf, sizes)
    assert not Real(above=0.0).fits(0.0, sizes)
    assert Real(wild=True).fits(np.nan, sizes)
    assert not Whole().fits(1.0, sizes)


# -- what a file may set --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (TfidfVectorizer(token_pattern="(a+)+$"), "token_pattern must be one of"),
        (CountVectorizer(analyzer="char", ngram_range=(1, 10**6)), "ngram_range must be"),
        (CountVectorizer(preprocessor=str.lower), "holds no code"),
        (CountVectorizer(encoding="rot13"), "encoding must be one of"),
    ],
    ids=["pattern", "runs", "function", "encoding"],
)
def test_texts_are_cut_in_known_ways_only(model, sentence, tmp_path):
    with pytest.raises(ModelFileError, match=sentence):
        save(
            make_pipeline(model, nearline.MultinomialNB()).fit(["aaa bbb", "ddd aaa"], [0, 1]),
            tmp_path / "model",
        )


@pytest.mark.parametrize("kernel", [Spectrum(10**9), Subsequence(1000, 1.0)], ids=str)
def test_kernels_that_would_take_for_ever_are_not_kept(kernel, tmp_path):
    model = nearline.KernelSVM("rbf").fit(X, CODES).set_params(kernel=kernel)
    with pytest.raises(ModelFileError, match="must be a whole number from 1 to"):
        save(model, tmp_path / "model.nearline")


def test_pipelines_are_chained(tmp_path):
    model = make_pipeline(StandardScaler(), nearline.GaussianNB()).fit(X, CODES)
    model.steps[0] = ("standardscaler", StandardScaler().fit(X[:, :2]))
    with pytest.raises(
        ModelFileError, match="StandardScaler gives 2 features, but GaussianNB takes 4 features"
    ):
        save(model, tmp_path / "model.nearline")


def test_output_as_frames_is_kept(tmp_path):
    model = (
        make_pipeline(StandardScaler(), nearline.GaussianNB()).set_output(transform="pandas").fit(X, CODES)
    )
    save(model, tmp_path / "model.nearline")
    assert load(tmp_path / "model.nearline").predict(X).tolist() == model.predict(X).tolist()


# -- scores that overflow -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [nearline.LogisticRegression(alpha=1e-9), nearline.GaussianNB(), nearline.KernelSVM(Polynomial(3))],
    ids=str,
)
def test_rows_whose_scores_overflow_get_a_sentence(model):
    model.fit(X, CODES)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="overflow"):
        model.predict(1.7e308 * np.array([[1.0, 1.0, 1.0, 1.0], [-1.0, 1.0, -1.0, 1.0]]))


# -- attacks, in short ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", examples())
@pytest.mark.filterwarnings("ignore")
def test_a_forged_file_is_refused_or_is_a_model(name, tmp_path):
    """A few of the changes that ``python -m benchmarks.attacks files`` makes to each model."""
    good = Good(*example(name))
    rng = np.random.default_rng(len(name))
    for changes, most in ((changed_arrays, 8), (changed_values, 8)):
        tries = list(changes(good))
        for i in rng.choice(len(tries), min(most, len(tries)), replace=False):
            outcome = tried(tries[i][0], tries[i][1](), good.rows, tmp_path / "forged")
            assert not outcome.failures


def test_the_unchanged_file_is_a_model(tmp_path):
    good = Good(nearline.LogisticRegression().fit(X, NAMES), X)
    assert (
        tried(
            "good", good.with_value(("object", 0), "estimator.LogisticRegression"), X, tmp_path / "f"
        ).survived
        == 1
    )
    assert len(TEXTS) == len(X)
