"""Words beside runs of characters, against counts that are made text by text."""

import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearline import LogisticRegression, TryThemAll, cross_validate
from nearline.explain import reasons
from nearline.representations import REPRESENTATIONS
from nearline.representations.words_and_runs import WordsAndRunsRatios

TEXTS = st.text(alphabet="ab N't.é", max_size=12)


def tokens_of(text):
    words = re.findall(r"(?u)\b\w+\b", text.lower())
    return {*words, *(f"{a} {b}" for a, b in pairwise(words))}


def runs_of(text):
    """Runs of 2 to 6 characters of each word with a space before and behind; of shorter ones the whole."""
    found = set()
    for word in re.sub(r"\s\s+", " ", text.lower()).split():
        padded = f" {word} "
        for length in range(2, 7):
            found |= {padded[i : i + length] for i in range(len(padded) - length + 1)}
            if length >= len(padded):
                found.add(padded)
                break
    return found


def weights_of(sets, tokens, y):
    """The largest |log-count ratio| over classes, from counts one by one."""
    classes = sorted(set(y))
    if len(classes) < 2:
        return [1.0] * len(tokens)
    n = {(c, t): sum(t in has for has, label in zip(sets, y) if label == c) for c in classes for t in tokens}
    total = max(1.0, sum(n.values()))
    share = {c: np.clip(sum(n[c, t] for t in tokens) / total, 1e-12, 1 - 1e-12) for c in classes}

    def ratio(c, t):
        others = sum(n[d, t] for d in classes) - n[c, t]
        p = share[c]
        return np.log((n[c, t] + 2 * p) / p) - np.log((others + 2 * (1 - p)) / (1 - p))

    return [max(abs(ratio(c, t)) for c in classes) for t in tokens]


def slow(train, y, asked):
    """Both halves, each of length 1, and the names of their tokens."""
    halves, names = [], []
    for of in (tokens_of, runs_of):
        sets = [of(text) for text in train]
        tokens = sorted(set().union(*sets))
        weights = np.array(weights_of(sets, tokens, y))
        rows = np.array([[t in of(text) for t in tokens] for text in asked], dtype=float) * weights
        length = np.sqrt((rows**2).sum(axis=1, keepdims=True))
        halves.append(rows / np.where(length > 0, length, 1.0))
        names += tokens
    return np.hstack(halves), names


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(TEXTS, st.integers(0, 2)), min_size=1, max_size=7), st.lists(TEXTS, max_size=3))
def test_words_and_runs_equal_counts_text_by_text(pairs, asked):
    train, y = map(list, zip(*([("ab N't", 0), *pairs])))  # some text has tokens
    found = WordsAndRunsRatios().fit(train, y)
    expected, names = slow(train, y, [*train, *asked])
    assert found.get_feature_names_out().tolist() == names
    got = found.transform([*train, *asked])
    np.testing.assert_allclose(got.toarray(), expected, rtol=2e-5, atol=1e-6)
    np.testing.assert_array_equal(found.fit_transform(train, y).toarray(), got[: len(train)].toarray())


def test_empty_texts_and_unseen_words_are_zeros():
    found = WordsAndRunsRatios().fit(["good film", "bad film", ""], [1, 0, 1])
    rows = found.transform(["", "   ", "zzz", "good zzz"]).toarray()
    assert not rows[:3].any()
    names = found.get_feature_names_out()
    assert {"good", "oo", " good "} <= set(names[rows[3] > 0])
    np.testing.assert_allclose((rows[3] ** 2).sum(), 2.0, rtol=1e-5)  # each half has length 1


@pytest.mark.parametrize("min_words", [1, 2])
def test_rare_tokens_are_left_out(min_words):
    found = WordsAndRunsRatios(min_words, 2).fit(["so good", "so bad"], [1, 0])
    assert ("good" in found.words_.vocabulary_) == (min_words == 1)
    assert set(found.runs_.vocabulary_) == {" s", "so", "o ", " so", "so ", " so ", "d "}


def test_a_class_that_a_fold_lacks():
    texts = [f"{'good' if i % 2 else 'bad'} film {i}" for i in range(12)] + ["odd one"]
    codes = np.array([i % 2 for i in range(12)] + [2])
    prepared = REPRESENTATIONS["words-and-runs"].prepare(texts)
    train, test = np.arange(12), np.array([12])
    rows, left_out = prepared.fold(train, test, codes[train])
    fitted = REPRESENTATIONS["words-and-runs"].transformer().fit([texts[i] for i in train], codes[train])
    np.testing.assert_array_equal(rows.toarray(), fitted.transform([texts[i] for i in train]).toarray())
    np.testing.assert_array_equal(left_out.toarray(), fitted.transform(texts[12:]).toarray())
    alone = prepared.fold(train[::2], test, codes[train[::2]])[0]  # one class: all tokens weigh the same
    assert np.isfinite(alone.toarray()).all()


def test_labels_of_rows_left_out_do_not_matter():
    texts = [f"{word} {i}" for i, word in enumerate(["good", "bad", "odd"] * 10)]
    codes = np.random.default_rng(0).integers(0, 2, 30)
    prepared = REPRESENTATIONS["words-and-runs"].prepare(texts)
    train, test = np.arange(20), np.arange(20, 30)
    before = prepared.fold(train, test, codes[train])
    other = codes.copy()
    other[test] = 1 - other[test]
    after = prepared.fold(train, test, other[train])
    for a, b in zip(before, after):
        np.testing.assert_array_equal(a.toarray(), b.toarray())


def test_labels_of_chance_score_as_chance():
    from sklearn.pipeline import make_pipeline

    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice([f"w{j}" for j in range(200)], 6)) for _ in range(300)]
    model = make_pipeline(REPRESENTATIONS["words-and-runs"].transformer(), LogisticRegression(alpha=1e-2))
    found = cross_validate(model, texts, rng.integers(0, 2, 300)).mean["accuracy"]
    assert abs(found - 0.5) < 3 * np.sqrt(0.25 / 300)


@pytest.mark.parametrize("name", ["characters", "words-and-runs"])
def test_runs_are_explained_by_the_words_of_the_text_that_they_stand_in(name):
    texts = [f"{'I dont care' if i % 2 else 'we shall see'} {i}" for i in range(20)]
    contest = TryThemAll(
        "thorough", include="logistic, L2", features=[name], beside=None, folds=2, progress="silent"
    ).fit(texts, np.arange(20) % 2)
    assert contest.best_.representation == name
    for rows in (["Dont dont go", "isnt it"], pd.Series(["Dont dont go", "isnt it"], index=[7, 3])):
        first, second = reasons(contest.model_, rows)
        said = {share.name for share in (*first.shares, *second.shares)}
        assert {"'nt ' in dont", "'nt ' in isnt"} <= said
        assert ("'dont'" in said) == (name == "words-and-runs")
