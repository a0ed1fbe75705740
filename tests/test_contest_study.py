"""The study of contests: its splits, what it keeps, and what it says of results."""

import json
from math import sqrt

import numpy as np
import pandas as pd
import pytest
from benchmarks.studies.contest_study import GRID, OURS, TREES, difference, kept, run, splits, summary
from benchmarks.studies.contest_tables import RARE, Table, columns, study_tables
from benchmarks.studies.representations_study import summary as chosen
from scipy.stats import t


def rows():
    y = np.array(["a", "b"] * 150 + ["rare"] * (RARE - 1) + [None], dtype=object)
    return pd.DataFrame({"x": np.arange(len(y), dtype=float)}), y


TABLE = Table("made", "here", rows, generated=True)


class Always:
    def __init__(self, label):
        self.label = label

    def predict(self, X):
        return np.full(len(X), self.label)


def test_rare_classes_and_rows_without_a_label_are_left_out():
    X, y = TABLE.rows()
    assert (len(X), sorted(set(y))) == (300, ["a", "b"])
    assert len(TABLE.rows(most=40)[1]) <= 40
    np.testing.assert_array_equal(TABLE.rows()[0], X)


def test_splits_score_two_thousand_rows():
    found = list(splits(TABLE, 5000, None))
    assert sum(len(y) for *_, y in found) >= 2000
    assert len(list(splits(TABLE, 5000, 2))) == 2
    assert [seed for seed, *_ in found] == list(range(len(found)))


def test_a_second_run_goes_on_where_the_first_one_ended(tmp_path):
    out, fitted = tmp_path / "results.jsonl", []

    def fit(X, y):
        fitted.append(len(y))
        return Always("a")

    first = run([TABLE], {OURS: fit}, out, 5000, 2)
    assert len(fitted) == 2
    out.write_text(out.read_text() + '{"table": "ma')  # torn
    assert kept(out) == first
    out.write_text("".join(json.dumps(one) + "\n" for one in first))
    assert len(run([TABLE], {OURS: fit, GRID: fit}, out, 5000, 3)) == 6
    assert len(fitted) == 6


def test_losses_are_counted_outside_the_paired_interval():
    def result(table, who, seed, accuracy):
        return {"table": table, "who": who, "seed": seed, "accuracy": accuracy, "seconds": 1.0}

    clear = [
        result("clear", who, seed, accuracy + seed / 1000)
        for seed in range(5)
        for who, accuracy in {OURS: 0.8, GRID: 0.7, TREES: 0.9}.items()
    ]
    noisy = [
        result("noisy", who, seed, 0.8 + (who == TREES) * (0.03 + 0.3 * (-1) ** seed))
        for seed in range(5)
        for who in (OURS, GRID, TREES)
    ]
    said = summary(clear + noisy)
    assert "2 tables" in said
    assert (
        "contest beside boosted trees: 0 wins, 2 losses; by more than 2 points, outside the paired interval: 1 ['clear']"
        in said
    )
    assert "contest beside grid: 1 wins, 0 losses" in said
    assert "wins outside it 0, losses 1; more than 2 points behind on 100%" in said


def test_what_a_preset_would_choose_follows_from_its_pairs():
    def pair(family, mean, accuracy):
        return {"family": family, "mean": mean, "accuracy": accuracy, "seconds": 1.0}

    line = {"table": "made", "seed": 0}
    of = {
        "standardized": [pair("k-NN, L2", 0.8, 0.7), pair("kernel SVM", 0.85, 0.6)],
        "splines": [pair("logistic, L2", 0.9, 0.9)],
        GRID: [{"accuracy": 0.65}],
        TREES: [{"accuracy": 0.8}],
    }
    said = chosen([{**line, "what": what, "pairs": found} for what, found in of.items()]).splitlines()
    assert said[0].startswith("1 splits")
    quick, more = said[1], said[2]
    assert quick.split() == [
        "quick",
        "0.7000",
        "1",
        ":",
        "0,",
        "+0.0500",
        "0",
        ":",
        "1,",
        "-0.1000",
        "1",
        "s",
    ]
    assert "0.6000   0 : 1, -0.0500" in more
    assert any(one.startswith("and splines") and "0.9000   1 : 0" in one for one in said)


def test_the_interval_of_a_difference_by_hand():
    one, other = {0: 0.9, 1: 0.8, 2: 0.7}, {0: 0.7, 1: 0.7, 2: 0.7, 3: 0.1}
    mean, half = difference(one, other, 0.5)
    assert mean == pytest.approx(0.1)
    assert half == pytest.approx(t.ppf(0.975, 2) * sqrt((1 / 3 + 0.5) * 0.01))
    assert difference({0: 0.5}, {0: 0.4}, 0.5)[1] == np.inf


def test_tables_are_named_once_and_halves_are_fixed():
    tables = study_tables()
    names = [table.name for table in tables]
    assert len(set(names)) == len(names)
    assert {table.half for table in tables if table.seen} <= {"tuning"}
    halves = {name: Table(name, "", rows).half for name in ("vehicle", "spambase")}
    assert halves == {"vehicle": "judging", "spambase": "tuning"}


def test_declarations_of_files_are_left_out(tmp_path):
    path = tmp_path / "table.dat"
    path.write_text("@relation x\n@data\n1, red, yes\n?, blue, no\n% end\n")
    X, y = columns(path)
    assert X["x1"].tolist() == ["red", "blue"]
    assert np.isnan(X["x0"][1])
    assert y.tolist() == ["yes", "no"]
