"""A target that is a quantity is refused with the choices; bins make classes of it, with stated edges."""

import numpy as np
import pytest

from nearline import TryThemAll
from nearline._arrays.targets import quantity_in
from nearline.cli._reading import Reading
from nearline.data import DataError, read


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (np.arange(100) / 10, 100),
        (np.arange(100), 100),
        (np.arange(400) % 100, 100),  # 4 rows each
        (np.arange(500) % 100, None),  # 5 rows each: may be codes
        (np.arange(500) % 100 + 1, None),
        (np.random.default_rng(0).integers(0, 100, 3000), None),  # as many of each as chance has it
        (np.arange(500) % 100 + 20, 100),  # codes begin at 0 or 1
        (np.delete(np.arange(1000) % 100, np.s_[7::100]), 99),  # and have no gap
        (np.random.default_rng(0).normal(40, 12, 5000).clip(1, 70).astype(int), 70),  # ages
        (
            np.random.default_rng(0).normal(40, 6, 5000).clip(20, 60).astype(int),
            None,
        ),  # at most 50: may be codes
        (np.arange(330) % 33 * 7, None),
        (np.arange(40) % 20 / 2, None),  # few values
        (np.arange(100.0) % 20, None),
        (np.arange(100).astype(str), None),
        (np.empty(0), None),
    ],
)
def test_quantities(y, expected):
    assert quantity_in(y) == expected


def written(tmp_path, name="file.csv", shift=0.0):
    rows = "".join(f"{i % 7},{i % 3},{i + 0.5 + shift}\n" for i in range(100))
    (tmp_path / name).write_text("a,b,price\n" + rows)
    return tmp_path / name


def test_refused_with_the_choices(tmp_path):
    with pytest.raises(
        DataError, match=r"price has 100 different numbers.*--bins 4.*--classes.*one of: a, b"
    ):
        Reading.of("price").labeled(written(tmp_path))
    assert len(Reading.of("price", classes=True).labeled(written(tmp_path)).description.classes) == 100
    with pytest.raises(ValueError, match=r"a continuous quantity, not classes.*np\.digitize"):
        TryThemAll("quick").fit(np.ones((100, 2)), np.arange(100) / 10)
    assert len(read(written(tmp_path), "price").y) == 100  # for a regressor


def test_bins(tmp_path):
    table = Reading.of("price", bins=4).labeled(written(tmp_path))
    assert dict(table.description.classes) == {
        "1: below 25.25": 25,
        "2: 25.25 to 50": 25,
        "3: 50 to 74.75": 25,
        "4: 74.75 and above": 25,
    }
    assert "edges 25.25, 50, 74.75 (quantiles of all labels of the file" in str(table)
    new = read(written(tmp_path, "new.csv", 50), "price", like=table)  # the edges of the first file
    assert new.description.classes["4: 74.75 and above"] == 75
    own = Reading.of("price", options=["bins=10|90"]).labeled(tmp_path / "file.csv")
    assert list(own.description.classes) == ["1: below 10", "2: 10 to 90", "3: 90 and above"]


@pytest.mark.parametrize(
    ("target", "bins", "message"),
    [("kind", 3, "labels of .* are none"), ("price", 1, "at least 2"), ("price", [3, 1], "that grow")],
)
def test_bins_refused(target, bins, message, tmp_path):
    (tmp_path / "file.csv").write_text("price,kind\n1.5,a\n2.5,b\n3.5,a\n")
    with pytest.raises(DataError, match=message):
        read(tmp_path / "file.csv", target, bins=bins)
