"""What a summary says of columns: those in doubt first, with a reason; none is hidden."""

import numpy as np
import polars as pl
import pytest

from nearline.data import read
from nearline.selection.checks import check

N = 60


def written(tmp_path, columns):
    path = tmp_path / "a.csv"
    pl.DataFrame(columns).write_csv(path)
    return path


@pytest.fixture
def odd(tmp_path):
    rng = np.random.default_rng(0)
    y = ["yes", "no"] * (N // 2)
    numbers = [f"{value:.3f}" for value in rng.normal(size=N)]
    return written(
        tmp_path,
        {f"plain{j}": rng.normal(size=N).round(3) for j in range(1, 31)}
        | {
            "words": [f"w{j}" for j in rng.integers(0, 5, N)],
            "one": ["same"] * N,
            "rare": [1.5, *[None] * (N - 1)],
            "when": [f"{1 + j % 9:02}/{1 + j % 7:02}/2020" for j in range(N)],
            "key": [f"k{j * 7919 % 997}" for j in range(N)],
            "number": list(range(1000, 1000 + N)),
            "outcome": ["paid" if label == "yes" else "left" for label in y],
            "price": [*numbers[:-1], "see below"],
            "y": y,
        },
    )


def test_columns_in_doubt_come_first_with_their_reason(odd):
    table = read(odd, "y")
    lines = [line.strip() for line in str(table).splitlines()[1:]]
    doubted = [line.split(":")[0] for line in lines if line.startswith("! ")]
    assert doubted == ["! price", "! outcome", "! key", "! number", "! when", "! rare", "! one"]
    assert [line.startswith("! ") for line in lines[:8]] == [True] * 7 + [False]
    said = dict(zip(doubted, lines))
    assert "numbers but for a few values" in said["! price"]
    assert "each value has one class" in said["! outcome"]
    assert "identifier" in said["! key"]
    assert "identifier" in said["! number"]
    assert "day and month" in said["! when"]
    assert "nearly all values are missing" in said["! rare"]
    assert "one value only" in said["! one"]
    assert "30 columns, number: plain1 ... plain30" in lines
    assert "1 column, string: words" in lines
    assert [column.name for column in table.description.columns][:2] == ["plain1", "plain2"]


def test_none_is_hidden_among_many(tmp_path):
    rng = np.random.default_rng(0)
    pixels = {f"pixel{j}": rng.integers(0, 9, N) for j in range(784)}
    pixels |= {f"pixel{j}": np.zeros(N, int) for j in [*range(20), 100, 783]}
    pixels["pixel300"] = np.arange(N)
    path = written(tmp_path, pixels | {"y": rng.integers(0, 2, N)})
    text = str(read(path, "y"))
    assert "! pixel300: integer" in text
    assert "! constant, 22 columns: pixel0 ... pixel19, pixel100, pixel783" in text
    assert "761 columns, integer: pixel20 ... pixel99, pixel101 ... pixel299, pixel301 ... pixel782" in text
    assert "more" not in text


def test_names_without_numbers_are_all_there(tmp_path):
    rng = np.random.default_rng(0)
    names = ["".join(rng.choice(list("abcdefghij"), 6)) for _ in range(40)]
    path = written(tmp_path, {name: rng.normal(size=N) for name in names} | {"y": [0, 1] * 30})
    text = str(read(path, "y"))
    assert f"40 columns, number: {', '.join(dict.fromkeys(names))}" in text


def test_good_columns_are_in_no_doubt(tmp_path):
    rng = np.random.default_rng(1)
    texts = [" ".join(rng.choice(["sun", "rain", "wind", "snow", "fog"], 7)) for _ in range(N)]
    columns = {
        "salary": rng.integers(10_000, 99_000_000, N),
        "review": texts,
        "gene": ["".join(rng.choice(list("acgt"), 57)) for _ in range(N)],
        "color": rng.choice(["red", "blue"], N),
        "size": rng.normal(size=N),
        "some": [None if j % 2 else 1.0 * j for j in range(N)],
        "y": rng.integers(0, 2, N),
    }
    table = read(written(tmp_path, columns), "y")
    assert not any(column.doubts for column in table.description.columns)


def test_findings_of_one_kind_have_the_surest_first():
    rng = np.random.default_rng(0)
    y = np.arange(1000) % 2
    weak = np.where(np.arange(1000) < 3, 1 - y, y)
    X = np.column_stack([weak, rng.normal(size=1000), y])
    found = [one.subject for one in check(X, y) if one.name == "column-determines-target"]
    assert found == ["column 3", "column 1"]
