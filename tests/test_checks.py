"""Leakage checks: each fires on data built to contain its leak, and none warns on named clean public sets."""

import datetime
import gzip
import json
import uuid

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.model_selection import GroupKFold, KFold

from nearline.selection.checks import CHECKS, check

pd = pytest.importorskip("pandas")
N = 240
RNG = np.random.default_rng(0)


def honest(n=N, d=5, n_classes=2, seed=0):
    """Overlapping classes: nothing to be found."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    return rng.normal(size=(n, d)) + 0.5 * y[:, None], y


def named(findings, name, severity=None):
    assert name in CHECKS
    return [f for f in findings if f.name == name and severity in (None, f.severity)]


def warned(findings):
    return [(f.name, f.subject) for f in findings if f.severity == "warning"]


def pandas_frame(X):
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])])


def polars_frame(X):
    return pytest.importorskip("polars").DataFrame(
        X, schema=[f"c{j}" for j in range(X.shape[1])], orient="row"
    )


def as_polars_frame(table):
    polars = pytest.importorskip("polars")
    cells = {name: [None if pd.isna(cell) else cell for cell in table[name]] for name in table}
    return polars.DataFrame(cells, infer_schema_length=None)


CONTAINERS = {
    "array": np.asarray,
    "float32": lambda X: X.astype(np.float32),
    "list": lambda X: X.tolist(),
    "csr matrix": csr_matrix,
    "csr array": csr_array,
    "pandas": pandas_frame,
    "polars": polars_frame,
}


@pytest.fixture(params=list(CONTAINERS))
def container(request):
    return CONTAINERS[request.param]


# Nothing to be found


def test_honest_rows_have_no_findings(container):
    X, y = honest()
    assert check(container(X), y) == []
    assert check(container(X[:180]), y[:180], X_test=container(X[180:]), y_test=y[180:]) == []


@pytest.mark.parametrize("load", [load_digits, load_wine, load_iris])
def test_bundled_sets_have_no_warnings(load, container):
    X, y = load(return_X_y=True)
    findings = check(container(X), y)
    assert warned(findings) == []
    assert named(findings, "column-determines-target") == []


def test_penguins_have_no_findings():
    files = pytest.importorskip("importlib.resources").files
    pytest.importorskip("palmerpenguins")
    with files("palmerpenguins").joinpath("data/penguins.csv").open() as file:
        table = pd.read_csv(file)
    rows, labels = table.drop(columns=["species", "year"]), table["species"]
    assert check(rows, labels) == []  # the file is sorted by species, which random folds need not fear
    order = np.random.default_rng(0).permutation(len(labels))
    assert check(rows.iloc[order], labels.iloc[order]) == []


@pytest.mark.parametrize("name", ["pima-indians-diabetes", "sonar", "ionosphere"])
def test_classic_tables_have_no_warnings(shared_data, name):
    table = pd.read_csv(shared_data / "tabular_classic" / f"{name}.csv", header=None)
    findings = check(table.iloc[:, :-1], table.iloc[:, -1])
    assert warned(findings) == []
    assert named(findings, "column-determines-target") == []


def test_adult_has_no_warnings(shared_data):
    read = {"header": None, "skipinitialspace": True}
    train = pd.read_csv(shared_data / "tabular_mixed" / "adult.data", **read)
    test = pd.read_csv(shared_data / "tabular_mixed" / "adult.test", **read)
    findings = check(
        train.iloc[:, :14],
        train[14],
        X_test=test.iloc[:, :14],
        y_test=test[14].str.rstrip("."),
    )
    assert warned(findings) == []
    assert {f.name for f in findings} <= {"rows-in-train-and-test", "test-rows-in-training"}


def test_newsgroups_have_no_warnings(shared_data):
    parts = []
    for part in ("train", "test"):
        with gzip.open(shared_data / "newsgroups20" / f"{part}.jsonl.gz", "rt", encoding="utf8") as file:
            lines = [json.loads(line) for line in file]
        parts.append(([line["text"] for line in lines], [line["label"] for line in lines]))
    (X, y), (X_test, y_test) = parts
    findings = check(X, y, X_test=X_test, y_test=y_test)
    assert warned(findings) == []


def test_wide_arrays():
    X, y = honest(10_000, 784, 10)
    X[:, 700] = y
    assert warned(check(X, y)) == [("column-determines-target", "column 701")]


# A column that tells the class


def test_a_copy_of_the_target_is_a_warning(container):
    X, y = honest(n_classes=3)
    X[:, 2] = 10.0 - 2.0 * y
    (found,) = check(container(X), y)
    assert (found.name, found.severity) == ("column-determines-target", "warning")
    assert found.subject in ("column 3", "c2")
    assert "100.0%" in found.message


LEAKS = {
    "noisy copy": lambda y: y + RNG.normal(scale=0.02, size=len(y)),
    "threshold": lambda y: np.where(y == 1, RNG.uniform(0.5, 1, len(y)), RNG.uniform(0, 0.5, len(y))),
    "words": lambda y: np.array(["closed won", "open"], dtype=object)[y],
    "booleans": lambda y: y == 1,
    "missing": lambda y: np.where(y == 1, RNG.normal(size=len(y)), np.nan),
    "missing words": lambda y: np.where(
        y == 1, RNG.permutation(len(y)).astype(str).astype(object) + " days", None
    ),
    "blanks": lambda y: np.where(y == 1, "a note of some kind", "").astype(object),
    "islands": lambda y: 2 * RNG.integers(0, 20, len(y)) + y,  # alternating values: no monotone relation
    "patients": lambda y: np.array([f"p {2 * RNG.integers(0, 20) + label}" for label in y], dtype=object),
}


@pytest.mark.parametrize("make", LEAKS.values(), ids=LEAKS)
@pytest.mark.parametrize("as_polars", [False, True], ids=["pandas", "polars"])
def test_leaky_columns_are_warnings(make, as_polars):
    X, y = honest(600)
    table = pandas_frame(X).assign(leak=make(y))
    if as_polars:
        table = as_polars_frame(table)
    assert ("column-determines-target", "leak") in warned(check(table, y))


def test_a_few_rows_that_have_a_value_give_the_class_away():
    """As Titanic's body: known for a tenth of the rows, all of one class."""
    X, y = honest(1000)
    X[:, 1] = np.nan
    some = np.flatnonzero(y == 1)[:60]
    X[some, 1] = RNG.normal(size=60)
    (found,) = check(X, y)
    assert (found.severity, found.subject) == ("warning", "column 2")
    assert "has a value, 100.0% of 60 rows" in found.message


def test_values_missing_at_random_are_no_leak():
    X, y = honest(1000)
    X[RNG.random(X.shape) < 0.2] = np.nan
    findings = check(X, y)
    assert warned(findings) == []
    assert named(findings, "column-determines-target") == []


def test_a_flag_of_one_class_among_many_is_a_warning():
    X, y = honest(1000, n_classes=8)
    X[:, 3] = y == 5
    for rows in (X, csr_matrix(X)):
        (found,) = check(rows, y)
        assert (found.severity, found.subject) == ("warning", "column 4")
        assert "class 5" in found.message


def test_a_rare_class_is_not_lost_in_the_sample():
    X, y = honest(40_000)
    y = (np.arange(40_000) % 800 == 0).astype(int)
    assert check(X, y) == []
    X[:, 0] = y + RNG.normal(scale=0.01, size=len(y))
    assert warned(check(X, y)) == [("column-determines-target", "column 1")]


def test_a_good_column_is_a_note_and_a_fair_one_nothing():
    X, y = honest(2000)
    for errors, severities in ((0.015, ["note"]), (0.1, [])):
        column = np.where(RNG.random(2000) < errors, 1 - y, y)
        X[:, 0] = column
        assert [f.severity for f in check(X, y)] == severities


def test_few_rows_do_not_suffice_for_a_warning():
    X, y = honest(30)
    X[:, 0] = y
    assert [f.severity for f in check(X, y)] == ["note"]


def test_wide_sparse_rows():
    rng = np.random.default_rng(1)
    y = np.arange(500) % 4
    X = (rng.random((500, 3000)) < 0.02).astype(float)
    assert warned(check(csr_matrix(X), y)) == []
    X[:, 2000] = y
    assert warned(check(csr_matrix(X), y)) == [("column-determines-target", "column 2001")]


def test_titanic_boat_and_body_are_warnings(shared_data):
    table = pd.read_csv(shared_data / "tabular_mixed" / "titanic3.csv")
    frames = [table]
    frames.append(table.astype(object).where(table.notna(), ""))  # as a reader without types gives it
    for frame in frames:
        findings = check(frame.drop(columns="survived"), table["survived"])
        leaks = named(findings, "column-determines-target", "warning")
        assert [f.subject for f in leaks] == ["boat", "body"]
        assert warned(findings) == [(f.name, f.subject) for f in leaks]


def test_titanic_alive_is_a_warning(shared_data):
    table = pd.read_csv(shared_data / "tabular_mixed" / "titanic_seaborn.csv")
    findings = check(table.drop(columns="survived"), table["survived"])
    assert [f.subject for f in named(findings, "column-determines-target", "warning")] == ["alive"]


def test_mushroom_odor_is_a_note(shared_data):
    table = pd.read_csv(shared_data / "tabular_mixed" / "agaricus-lepiota.data")
    findings = check(table.iloc[:, 1:], table.iloc[:, 0])
    assert [(f.severity, f.name, f.subject) for f in findings] == [
        ("note", "column-determines-target", "odor"),
        ("note", "empty-column", "veil-type"),  # all veils of this file are of one type
        ("note", "row-order", "order of the rows"),  # poisonous ones come late in the file
    ]


# Equal rows


def test_copied_rows_are_a_warning(container):
    X, y = honest()
    X, y = np.vstack([X, X[:20]]), np.append(y, y[:20])
    (found,) = check(container(X), y)
    assert (found.name, found.severity) == ("rows-in-train-and-test", "warning")
    assert "40 of 260 rows" in found.message


def test_the_whole_table_twice_is_a_warning(container):
    X, y = honest()
    assert warned(check(container(np.vstack([X, X])), np.append(y, y)))[0][0] == "rows-in-train-and-test"


def test_an_oversampled_class_is_a_warning():
    X, y = honest(600)
    rare = np.flatnonzero(y == 1)[:30]
    rows = np.concatenate([np.flatnonzero(y == 0), np.repeat(rare, 10)])
    assert [name for name, _ in warned(check(X[rows], y[rows]))] == ["rows-in-train-and-test"]


def test_copied_rows_of_a_mixed_table_are_a_warning():
    """Some columns repeat much; that does not hide that the number that tells rows apart is copied as well."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({f"c{j}": rng.choice(["a", "b", "c"], 1000) for j in range(5)})
    table["weight"] = rng.normal(size=1000)
    y = rng.integers(0, 2, 1000)
    assert check(table, y) == []
    assert (
        warned(check(pd.concat([table, table[:50]]), np.append(y, y[:50])))[0][0] == "rows-in-train-and-test"
    )


@pytest.mark.parametrize("levels", [2, 5, 8])
def test_tables_of_few_values_repeat_by_nature(levels):
    rng = np.random.default_rng(0)
    X = rng.integers(0, levels, (1500, 4))
    y = (X[:, 0] + X[:, 1] > levels - 1).astype(int)  # twins always agree on their class
    found = named(check(X, y), "rows-in-train-and-test")
    assert [f.severity for f in found] == ["note"]
    one_hot = np.hstack([level == X for level in range(levels)]).astype(float)
    assert [f.severity for f in named(check(one_hot, y), "rows-in-train-and-test")] == ["note"]


def test_skewed_tables_repeat_where_they_are_dense():
    rng = np.random.default_rng(0)
    X = rng.geometric(0.4, (2000, 8))
    y = (X.sum(axis=1) > 20).astype(int)
    assert [f.severity for f in named(check(X, y), "rows-in-train-and-test")] == ["note"]


def test_twins_of_different_classes_are_a_note():
    X, y = honest()
    X, y = np.vstack([X, X[:50]]), np.append(y, 1 - y[:50])
    assert [f.severity for f in check(X, y)] == ["note"]


def test_one_column_of_repeated_numbers_is_no_warning():
    y = np.arange(300) % 2
    assert warned(check(RNG.integers(0, 40, (300, 1)), y)) == []


def test_equal_texts():
    texts = [f"message {i} about thing {i * 7 % 11}" for i in range(200)]
    y = ["spam", "ham"] * 100
    assert check(texts, y) == []
    for kind in (list, np.array, pd.Series, tuple):
        found = check(kind(texts + [f" {text}\n" for text in texts[:10]]), y + y[:10])
        assert [(f.name, f.severity) for f in found] == [("rows-in-train-and-test", "warning")]
    assert [f.severity for f in check([*texts, texts[0]], [*y, y[0]])] == ["note"]


def test_twins_within_a_fold_or_group_do_not_cross():
    X, y = honest()
    X, y = np.vstack([X, X[:20]]), np.append(y, y[:20])
    groups = np.append(np.arange(N), np.arange(20))
    by_group = list(GroupKFold(5).split(X, y, groups))
    assert check(X, y, folds=by_group) == []
    assert check(X, y, groups=groups, split="group") == []
    found = check(X, y, folds=list(KFold(5).split(X)))
    assert "tested while an equal row is trained on" in found[0].message


def test_test_rows_in_training(container):
    X, y = honest()
    X_test, y_test = np.vstack([X[:10], honest(50, seed=1)[0]]), np.append(y[:10], np.arange(50) % 2)
    for labels in (y_test, None):
        (found,) = check(container(X), y, X_test=container(X_test), y_test=labels)
        assert (found.name, found.severity) == ("test-rows-in-training", "warning")
        assert "10 of 60 test rows" in found.message
    (found,) = check(container(X), y, X_test=container(X_test), y_test=y_test, own_test=False)
    assert (found.name, found.severity) == ("rows-in-train-and-test", "warning")


def test_test_columns_in_another_order_and_type():
    X, y = honest()
    train = pandas_frame(X.round(2)).assign(k=np.arange(N) % 7, s=[f"{i % 50} x" for i in range(N)])
    test = train.iloc[:30, ::-1].astype({"k": float})
    assert [f.name for f in check(train, y, X_test=test, y_test=y[:30])] == ["test-rows-in-training"]
    assert check(train, y, X_test=test.iloc[:, 1:], y_test=y[:30]) == []  # other columns: nothing to compare


def test_test_texts_in_training():
    texts = [f"text number {i}" for i in range(100)]
    found = check(texts, [0, 1] * 50, X_test=[*texts[:5], "a new one"], y_test=[0, 1, 0, 1, 0, 1])
    assert [(f.name, f.severity) for f in found] == [("test-rows-in-training", "warning")]


# Identifiers and times

IDENTIFIERS = {
    "numbered": np.arange(N),
    "from 1000": 1000.0 + np.arange(N),
    "backwards": np.arange(N)[::-1],
    "shuffled": RNG.permutation(N),
    "sampled": RNG.permutation(2 * N)[:N],
    "ordered with gaps": np.cumsum(RNG.integers(1, 1000, N)),
    "with a gap": np.where(np.arange(N) == 7, np.nan, RNG.permutation(N)),
    "codes": np.array([f"K{i:05d}" for i in RNG.permutation(N)]),
    "digits": np.array([f"{i:05d}" for i in RNG.permutation(N)]),
    "uuid": np.array([str(uuid.UUID(int=int(i) * 2**90 + 17)) for i in RNG.permutation(N)]),
}


@pytest.mark.parametrize("column", IDENTIFIERS.values(), ids=IDENTIFIERS)
def test_identifiers_are_warnings(column):
    X, y = honest()
    table = pandas_frame(X).assign(key=column)
    assert warned(check(table, y)) == [("identifier", "key")]
    assert warned(check(as_polars_frame(table), y)) == [("identifier", "key")]


def test_numbered_rows_of_arrays():
    X, y = honest()
    X[:, 4] = np.arange(1, N + 1)
    for rows in (X, csr_matrix(X)):
        assert warned(check(rows, y)) == [("identifier", "column 5")]


def test_letters_only_are_a_note():
    X, y = honest()
    words = ["".join(RNG.choice(list("abcdefgh"), 9)) for _ in range(N)]
    found = check(pandas_frame(X).assign(word=words), y)
    assert [(f.name, f.severity) for f in found] == [("identifier", "note")]


NO_IDENTIFIERS = {
    "text": np.array([f"sample {i} of the lot" for i in range(N)]),
    "measured": RNG.normal(size=N),
    "counts": RNG.poisson(1000, N),
    "large integers": RNG.integers(0, 10**9, N),
    "numbers as text": np.array([f"{x:.6f}" for x in RNG.normal(size=N)]),
    "sequences": np.array(["".join(RNG.choice(list("acgt"), 60)) for _ in range(N)]),
    "repeated codes": np.array([f"K{i % 40}" for i in RNG.permutation(N)]),
    "mostly missing": np.where(np.arange(N) % 10 == 0, np.arange(N), np.nan),
}


@pytest.mark.parametrize("column", NO_IDENTIFIERS.values(), ids=NO_IDENTIFIERS)
def test_other_columns_are_no_identifiers(column):
    X, y = honest()
    assert check(pandas_frame(X).assign(key=column), y) == []


def test_a_tables_only_column_is_no_identifier():
    words = [f"w{i}" for i in range(N)]
    assert check(pd.DataFrame({"word": words}), np.arange(N) % 2) == []
    assert check(words, np.arange(N) % 2) == []


DAYS = [datetime.datetime(2024, 1, 1) + datetime.timedelta(days=int(i) % 90) for i in RNG.permutation(N)]
TIMES = {
    "datetime": DAYS,
    "date": [day.date() for day in DAYS],
    "zone": [day.replace(tzinfo=datetime.UTC) for day in DAYS],
    "iso date": [str(day.date()) for day in DAYS],
    "iso time": [day.isoformat() for day in DAYS],
    "missing": [None if i % 9 == 0 else str(day) for i, day in enumerate(DAYS)],
}


@pytest.mark.parametrize("column", TIMES.values(), ids=TIMES)
@pytest.mark.parametrize("as_polars", [False, True], ids=["pandas", "polars"])
def test_time_stamps_are_notes(column, as_polars):
    X, y = honest()
    table = pandas_frame(X).assign(when=column)
    if as_polars:
        polars = pytest.importorskip("polars")
        table = polars.DataFrame(X, orient="row").with_columns(polars.Series("when", column))
    (found,) = check(table, y)
    assert (found.name, found.severity, found.subject) == ("time-stamp", "note", "when")
    assert "2024-01-01" in found.message
    assert 'split="time"' in found.remedy
    assert named(check(table, y, split="time"), "time-stamp") == []


@pytest.mark.parametrize("as_text", [False, True])
def test_rows_that_are_not_in_order_of_time(as_text):
    X, y = honest()
    days = pd.Series(pd.date_range("2024-01-01", periods=N))
    days = days.astype(str) if as_text else days
    shuffled = days.sample(frac=1, random_state=0).to_numpy()
    table = pandas_frame(X).assign(when=shuffled)
    (found,) = check(table, y, split="time")
    assert (found.name, found.severity, found.subject) == ("time-order", "warning", "when")
    back = np.mean(pd.to_datetime(shuffled)[1:] < pd.to_datetime(shuffled)[:-1])
    assert f"{back:.0%} of them are earlier" in found.message
    assert check(pandas_frame(X).assign(when=np.repeat(days[: N // 2].to_numpy(), 2)), y, split="time") == []
    assert check(table.assign(sent=days.to_numpy()), y, split="time") == []  # in order of another time
    assert named(check(pandas_frame(X).assign(when=days[::-1].to_numpy()), y, split="time"), "time-order")


def test_no_time_stamps():
    X, y = honest()
    table = pandas_frame(X).assign(
        phone=[f"555-{i % 100:02d}-{i % 90} x" for i in range(N)],
        took=pd.to_timedelta(RNG.normal(100, 10, N), unit="s"),
    )
    assert check(table, y) == []


# Groups and classes


def test_groups_on_both_sides():
    X, y = honest()
    groups = np.array([f"patient {i // 4}" for i in range(N)])
    torn = check(X, y, groups=groups, folds=list(KFold(5, shuffle=True, random_state=0).split(X)))
    assert [(f.name, f.severity) for f in torn] == [("groups-split", "warning")]
    assert check(X, y, groups=groups, folds=list(GroupKFold(5).split(X, y, groups))) == []
    assert [f.name for f in check(X, y, groups=groups)] == ["groups-split"]  # rows are split one by one
    assert check(X, y, groups=groups, split="group") == []
    assert check(X, y, groups=np.arange(N)) == []  # every row is a group


def test_groups_in_training_and_test_part():
    X, y = honest()
    parts = {"X_test": X[200:], "y_test": y[200:], "split": "group"}
    (found,) = check(X[:200], y[:200], groups=np.arange(N) // 3, **parts)
    assert (found.name, found.severity) == ("groups-split", "warning")
    assert check(X[:200], y[:200], groups=np.arange(N) // 4, **parts) == []


def test_rows_without_a_group_are_on_their_own():
    X, y = honest()
    assert check(X, y, groups=[None] * N) == []
    assert check(X, y, groups=np.full(N, np.nan)) == []


def test_classes_that_training_does_not_see():
    X, y = honest()
    late = np.where(np.arange(N) >= N - 40, 2, y)
    (found,) = check(X[:200], late[:200], X_test=X[200:], y_test=late[200:], own_test=False, split="time")
    assert (found.name, found.subject) == ("unseen-class", "class 2")
    assert "40 of 40 test rows" in found.message
    folds = [(np.arange(120), np.arange(120, 210)), (np.arange(210), np.arange(210, N))]
    (found,) = check(X, late, folds=folds, split="time")
    assert "In 1 of 2 folds, 10 rows" in found.message
    folds = [(np.arange(0, N, 2), np.arange(1, N, 2)), (np.arange(1, N, 2), np.arange(0, N, 2))]
    (found,) = check(X, late, folds=folds)
    assert (found.name, found.severity) == ("row-order", "note")  # class 2 comes last


def test_rare_classes():
    X, y = honest()
    labels = np.array(["a", "b"], dtype=object)[y]
    labels[:3] = "c"
    (found,) = check(X, labels)
    assert (found.name, found.severity, found.subject) == ("rare-class", "warning", "class c")
    assert "at most 3 folds" in found.remedy
    assert check(X, labels, n_folds=3) == []
    (found,) = check(X, labels, folds=list(KFold(3).split(X)))  # enough of them, but all in one fold
    assert (found.name, found.subject) == ("unseen-class", "class c")
    assert check(X, labels, n_folds=len(X)) == []  # each row is a fold
    labels[3] = "d"
    assert check(X, labels)[0].subject == "classes c, d"


# Whatever comes


ODD = {
    "nothing": ([], []),
    "no rows": (np.empty((0, 3)), []),
    "no columns": (np.empty((40, 0)), np.arange(40) % 2),
    "one row": ([[1.0, 2.0]], [0]),
    "one column": (RNG.normal(size=(40, 1)), np.arange(40) % 2),
    "one dimension": (RNG.normal(size=40), np.arange(40) % 2),
    "three dimensions": (RNG.normal(size=(40, 3, 3)), np.arange(40) % 2),
    "constant": (np.ones((40, 3)), np.arange(40) % 2),
    "all missing": (np.full((40, 3), np.nan), np.arange(40) % 2),
    "infinite": (np.where(RNG.random((40, 3)) < 0.2, np.inf, -np.inf), np.arange(40) % 2),
    "huge": (RNG.normal(size=(40, 300)) * 1e300, np.arange(40) % 2),
    "one class": (RNG.normal(size=(40, 3)), np.zeros(40)),
    "missing labels": (RNG.normal(size=(40, 3)), [None, np.nan, *(["a", "b"] * 19)]),
    "no labels": (RNG.normal(size=(40, 3)), [None] * 40),
    "column of labels": (RNG.normal(size=(40, 3)), np.arange(40).reshape(-1, 1) % 2),
    "all classes differ": (RNG.normal(size=(40, 3)), np.arange(40)),
    "empty frame": (pd.DataFrame(), []),
    "frame of None": (
        pd.DataFrame({"a": [None] * 40, "b": [pd.NA] * 40, "c": [pd.NaT] * 40}),
        np.arange(40) % 2,
    ),
    "mixed": (pd.DataFrame({"a": [1, "b", None, 2.5, True, (1, 2), b"x", pd.NA] * 5}), np.arange(40) % 2),
    "lists": (pd.DataFrame({"a": [[1], [2, 3], {"b": 1}, None] * 10, "b": range(40)}), np.arange(40) % 2),
    "same names": (pd.DataFrame(RNG.normal(size=(40, 2)), columns=["a", "a"]), np.arange(40) % 2),
    "numbered names": (
        pd.DataFrame(RNG.normal(size=(40, 2))),
        pd.Series(np.arange(40) % 2, index=range(40, 80)),
    ),
    "nullable": (pd.DataFrame({"a": pd.array([1, None] * 20, dtype="Int64")}), np.arange(40) % 2),
    "categories": (pd.DataFrame({"a": pd.Categorical(["x", None, "y", "z"] * 10)}), np.arange(40) % 2),
    "ragged": ([[1, 2], [3]] * 20, np.arange(40) % 2),
    "empty sparse": (csr_matrix((40, 3)), np.arange(40) % 2),
    "texts with None": (["a b", None, "c", float("nan")] * 10, np.arange(40) % 2),
    "objects": (np.array([[1, "a"], [None, 2.0]] * 20, dtype=object), np.arange(40) % 2),
    "bytes": (np.array([[b"a", b"b"], [b"c", b"d"]] * 20), np.arange(40) % 2),
}


@pytest.mark.parametrize("case", ODD.values(), ids=ODD)
def test_odd_input_is_looked_at_without_a_crash(case):
    X, y = case
    for findings in (check(X, y), check(X, y, X_test=X, y_test=y, groups=np.arange(len(y)) // 2)):
        for found in findings:
            assert found.severity in ("warning", "note")


def test_polars_types():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {
            "a": [1, None] * 20,
            "b": polars.Series(["x", None, "y", "x"] * 10, dtype=polars.Categorical),
            "c": [[1], [2, 3], None, []] * 10,
            "d": [{"e": 1}, {"e": 2}] * 20,
            "f": [True, None, False, True] * 10,
            "g": [None] * 40,
        }
    )
    check(frame, polars.Series(["u", "v"] * 20), X_test=frame)


def test_lengths_that_do_not_fit_are_refused():
    X, y = honest()
    with pytest.raises(ValueError, match="y must have one entry for each of the 240 rows, got 239"):
        check(X, y[1:])
    with pytest.raises(ValueError, match="groups must have one entry"):
        check(X, y, groups=y[1:])
    with pytest.raises(ValueError, match="One label for each row"):
        check(X, X)


def test_every_check_is_named_and_speaks_in_sentences():
    X, y = honest()
    table = pandas_frame(X).assign(key=np.arange(N), when=DAYS, leak=y)
    labels = y.copy()
    labels[0] = 7
    twice = pd.concat([table.assign(key=0), table.assign(key=0)])
    findings = [
        *check(table, labels, groups=np.arange(N) // 2, X_test=table[:50], y_test=y[:50]),
        *check(twice, np.append(y, y)),
        *check(table.iloc[::-1], y[::-1], split="time"),
        *check(X, y, X_test=X[:5], y_test=[9] * 5),
        *check(X[np.argsort(y)], np.sort(y), split="time"),
        *check(X, X[:, 0] > X[:, 1]),
        *check(np.append(X, X[:20] + np.eye(5)[0], axis=0), np.append(y, y[:20])),
    ]
    assert {f.name for f in findings} == set(CHECKS)
    for found in findings:
        assert found.message.endswith(".")
        assert found.remedy.endswith(".")
        assert found.subject in str(found)
    assert [f.severity for f in check(table, labels)] == sorted(
        (f.severity for f in check(table, labels)), reverse=True
    )


def test_findings_do_not_depend_on_chance_and_input_is_left_alone():
    X, y = honest(9000)
    X[:, 0] = y + RNG.normal(scale=0.1, size=len(y))
    before = X.copy()
    assert check(X, y) == check(X, y)
    np.testing.assert_array_equal(X, before)
    rows = csr_matrix(([0.0, 1.0, 2.0], [1, 0, 0], [0, 2, 3]), shape=(2, 2))
    check(rows, [0, 1])
    assert rows.nnz == 3


def test_columns_that_tell_nothing_are_named():
    X, y = honest()
    table = pandas_frame(X).assign(same="x", none=None, nan=np.nan, half=[np.nan, 1.0] * (N // 2))
    found = [one for one in check(table, y) if one.name == "empty-column"]
    assert [(one.subject, one.severity, one.leave_out) for one in found] == [
        ("same", "note", True),
        ("none", "note", True),
        ("nan", "note", True),
    ]
    assert f"the same value in {N} training rows" in found[0].message
    assert "All values are missing" in found[1].message


def test_folds_that_cannot_score_a_rare_class_are_counted():
    X, y = honest()
    labels = y.copy()
    labels[0] = 7
    folds = [(np.arange(20, N), np.arange(20)), (np.arange(N - 20), np.arange(N - 20, N))]
    (found,) = [one for one in check(X, labels, folds=folds) if one.name == "rare-class"]
    assert "1 of 2 folds have no row of one of them to score" in found.message
