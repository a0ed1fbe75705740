"""Checks of near-duplicates, of the order of rows and of pairs of columns: each finds its leak, and is quiet without it."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nearline.selection.checks import check

N = 300


def honest(seed=0, n=N, d=5):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 2)
    return rng.normal(size=(n, d)) + 0.5 * y[:, None], y


def named(name, *args, **options):
    return [one for one in check(*args, **options) if one.name == name]


def with_twins(change):
    X, y = honest()
    return np.vstack([X, change(X[:30].copy())]), np.append(y, y[:30])


def one_column(rows):
    rows[:, 2] += 1.5
    return rows


@pytest.mark.parametrize(
    "change", [one_column, lambda rows: rows * (1 + 1e-9)], ids=["one column", "rounding"]
)
@pytest.mark.parametrize("form", [np.asarray, lambda X: pd.DataFrame(X, columns=list("abcde"))])
def test_near_duplicates_are_found(change, form):
    X, y = with_twins(change)
    (found,) = named("near-duplicates", form(X), y)
    assert found.severity == "warning"
    assert set(found.rows.numbers) == {*range(30), *range(N, N + 30)}
    assert not named("near-duplicates", form(X), y, groups=np.append(np.arange(N), np.arange(30)))


def test_near_duplicates_by_comparing_all_pairs():
    X, y = with_twins(one_column)
    equal = (X[:, None] == X[None]).sum(axis=2)
    rows = np.flatnonzero((equal == X.shape[1] - 1).any(axis=1))
    assert list(named("near-duplicates", X, y)[0].rows.numbers) == rows.tolist()


def test_values_that_repeat_and_twins_of_other_classes_are_no_near_duplicates():
    rng = np.random.default_rng(0)
    coarse = rng.integers(0, 3, (N, 6)).astype(float)
    assert not named("near-duplicates", coarse, rng.integers(0, 2, N))
    X, y = with_twins(one_column)
    y[N:] = 1 - y[N:]
    assert not named("near-duplicates", X, y)


def test_rows_sorted_by_class_are_a_warning_where_they_are_divided_by_number():
    X, y = honest()
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    assert not named("row-order", X, y)
    rows = np.arange(len(y))
    runs, drawn = np.array_split(rows, 4), np.array_split(np.random.default_rng(0).permutation(rows), 4)
    for folds, alarmed in ((runs, True), (drawn, False), (rows[:, None], False)):
        pairs = [(np.setdiff1d(rows, test), test) for test in folds]
        assert bool(named("row-order", X, y, folds=pairs)) == alarmed
    (found,) = named("row-order", X, y, folds=[(np.setdiff1d(rows, test), test) for test in runs])
    assert (found.severity, "runs of rows" in found.message) == ("warning", True)
    (found,) = named("row-order", X, y, split="time")
    assert (found.severity, "sorted by class" in found.message) == ("warning", True)


def test_row_numbers_that_tell_the_class_and_columns_that_drift():
    X, y = honest()
    rng = np.random.default_rng(0)
    later = (np.linspace(0, 1, N) + rng.normal(size=N) * 0.3 > 0.5).astype(int)
    (found,) = named("row-order", X, later)
    assert "tell the class" in found.message
    X[:, 3] += np.linspace(0, 3, N)
    (found,) = named("row-order", X, y)
    assert found.columns.numbers == (3,)
    assert not named("row-order", X, y, split="time")
    assert not named("row-order", X, y, groups=np.arange(N) // 3)


def test_random_order_has_a_finding_as_seldom_as_stated():
    found = sum(bool(named("row-order", *honest(seed, 100, 3))) for seed in range(200))
    assert found <= 3  # expected 0.2; four or more would come once in 20,000 times


PAIRS = {
    "difference": lambda a, b: a - b > 0,
    "sum": lambda a, b: a + b > 0.2,
    "product": lambda a, b: a * b > 0,
}


@pytest.mark.parametrize("how", PAIRS)
def test_a_pair_that_is_the_label_is_found(how):
    X, _ = honest()
    y = PAIRS[how](X[:, 1], X[:, 4])
    (found,) = named("pair-determines-target", X, y)
    assert found.columns.numbers == (1, 4)
    assert how in found.message


def test_exclusive_or_and_ratio():
    rng = np.random.default_rng(0)
    X, y = honest()
    flag = rng.integers(0, 2, N)
    (found,) = named("pair-determines-target", np.column_stack([X, flag, flag ^ y]), y)
    assert found.columns.numbers == (5, 6)
    positive = rng.uniform(1, 2, (N, 2))
    y = positive[:, 0] / positive[:, 1] > 1.1
    (found,) = named("pair-determines-target", np.column_stack([X, positive]), y)
    assert "ratio" in found.message


def test_classes_well_apart_are_no_pair():
    X, y = honest()
    apart = X + np.where(y[:, None] == 1, 2.4, -2.4)  # the sum of two tells nearly all, with a margin
    assert not named("pair-determines-target", apart, y)
    assert not named("pair-determines-target", X, y)


@given(st.integers(2, 80), st.integers(0, 4), st.integers(1, 4), st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_any_table_is_looked_at(n, d, n_classes, seed):
    rng = np.random.default_rng(seed)
    X = rng.choice([0.0, 1.0, -2.5, np.nan, np.inf, 1e300], (n, d))
    found = check(X, rng.integers(0, n_classes, n))
    assert all(one.message.endswith(".") for one in found)
    assert check(X[:, ::-1], rng.integers(0, n_classes, n), split="time") is not None
