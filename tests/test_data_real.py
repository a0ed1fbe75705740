"""Real files with their traps: what they hold is what their descriptions say."""

import numpy as np
import pytest
from scipy.sparse import issparse

from nearline.data import DataError, batches, read
from nearline.representations import kind_of

# file, options, rows, columns or features, rows of each class (or their number), type of labels
FILES = [
    ("tabular_mixed/adult.data", {"target": "last"}, 32_561, 14, {"<=50K": 24_720, ">50K": 7_841}),
    ("tabular_mixed/adult.test", {"target": 15}, 16_281, 14, {"<=50K.": 12_435, ">50K.": 3_846}),
    ("tabular_mixed/titanic3.csv", {"target": "survived"}, 1_309, 13, {0: 809, 1: 500}),
    ("tabular_mixed/titanic_seaborn.csv", {"target": "survived"}, 891, 14, 2),
    ("tabular_mixed/penguins.csv", {"target": "species"}, 344, 7, 3),
    ("tabular_mixed/penguins_raw.csv", {"target": "Species"}, 344, 16, 3),
    ("tabular_mixed/agaricus-lepiota.data", {"target": "edible"}, 8_124, 22, {"e": 4_208, "p": 3_916}),
    ("tabular_mixed/horse-colic.csv", {"target": "last"}, 300, 27, 2),
    ("tabular_classic/mammography.csv", {"target": "last"}, 11_183, 6, {"'-1'": 10_923, "'1'": 260}),
    ("tabular_classic/wine.csv", {"target": "last"}, 178, 13, 3),
    ("tabular_classic/winequality-white.csv", {"target": "last"}, 4_898, 11, 7),
    ("tabular_classic/sonar.csv", {"target": "last"}, 208, 60, 2),
    ("ag_news_test/test.csv", {"target": "first"}, 7_600, 2, 4),
    ("promoters/promoters.data", {"target": "first"}, 106, 2, {"+": 53, "-": 53}),
    ("splice/splice.csv", {"target": "label"}, 3_190, 2, {"EI": 767, "IE": 768, "N": 1_655}),
    ("libsvm_format/heart_scale", {}, 270, 13, {-1: 150, 1: 120}),
    ("libsvm_format/a9a.gz", {}, 32_561, 123, {-1: 24_720, 1: 7_841}),
    ("sms_spam/SMSSpamCollection", {}, 5_574, None, {"ham": 4_827, "spam": 747}),
    ("surnames", {}, 20_050, None, 18),
    ("trec/train.txt", {"target": "first", "delimiter": ":", "format": "lines of text"}, 5_452, None, 6),
    ("trec/test.txt", {}, 500, None, 6),
    ("newsgroups20/test.jsonl.gz", {"target": "label", "columns": ["text"]}, 7_532, 1, 20),
    ("emb_text_wordllama/ag_news_test_wordllama256.npz", {}, 7_600, 256, 4),
    ("emb_text_wordllama/trec_wordllama256.npz", {"target": "coarse_test"}, 500, 256, 6),
    ("emb_hymenoptera_effnetlite0/hymenoptera_effnetlite0.npz", {}, 244, 1_280, 2),
    ("orl_faces", {}, 400, 32 * 32, 40),
]


def there(folder, name):
    """A file or folder of the real data, which may not be there."""
    path = folder / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return path


@pytest.mark.parametrize(("name", "options", "rows", "width", "classes"), FILES, ids=[f[0] for f in FILES])
def test_real_file(name, options, rows, width, classes, shared_data):
    table = read(there(shared_data, name), **options)
    assert len(table) == rows
    found = dict(table.description.classes)
    assert found == classes if isinstance(classes, dict) else len(found) == (classes or 0)
    assert kind_of(table.X) in ("table", "numbers", "sparse", "texts")
    if width is None:
        assert isinstance(table.X, list)
        assert all(isinstance(text, str) for text in table.X)
    else:
        assert table.X.shape == (rows, width)
    assert table.y is None or len(table.y) == rows
    assert len(str(table).splitlines()) < 30


def test_missing_cells(shared_data):
    """As many missing cells as the descriptions of the data count."""
    counts = {"penguins.csv": 19, "horse-colic.csv": 1_605, "agaricus-lepiota.data": 2_480}
    for name, count in counts.items():
        table = read(there(shared_data, f"tabular_mixed/{name}"), "first" if name[0] in "pa" else "last")
        assert sum(column.missing for column in table.description.columns) == count
    table = read(there(shared_data, "tabular_mixed/titanic3.csv"), "survived")
    missing = {column.name: column.missing for column in table.description.columns}
    assert (missing["age"], missing["fare"], missing["cabin"], missing["embarked"]) == (263, 1, 1_014, 2)


def test_adult_train_and_test(shared_data):
    train = read(there(shared_data, "tabular_mixed/adult.data"), "last")
    test = read(there(shared_data, "tabular_mixed/adult.test"), "last", like=train)
    assert set(test.y.tolist()) == {"<=50K", ">50K"}
    assert "a trailing dot" in str(test)
    assert test.X.columns == train.X.columns
    assert test.X.dtypes == train.X.dtypes
    parts = list(batches(shared_data / "tabular_mixed/adult.test", 5_000, like=train))
    assert [len(part) for part in parts] == [5_000, 5_000, 5_000, 1_281]
    assert all(part.y is None and part.X.dtypes == train.X.dtypes for part in parts)


def test_a9a_in_parts(shared_data):
    train = read(there(shared_data, "libsvm_format/a9a.gz"))
    whole = read(there(shared_data, "libsvm_format/a9a.t.gz"), like=train)
    assert issparse(whole.X)
    assert whole.X.shape == (16_281, 123)
    parts = list(batches(shared_data / "libsvm_format/a9a.t.gz", 6_000, like=train))
    assert sum(part.X.nnz for part in parts) == whole.X.nnz
    assert np.concatenate([part.y for part in parts]).tolist() == whole.y.tolist()


def test_vowpal_wabbit(shared_data):
    with pytest.raises(DataError, match="Vowpal Wabbit"):
        read(there(shared_data, "libsvm_format/rcv1_small.vw.gz"))


def test_photos(shared_data):
    table = read(there(shared_data, "trashnet_sample"), features="hog+histogram")
    assert table.X.shape == (240, 580)
    assert set(table.description.classes.values()) == {40}
    pixels = read(shared_data / "trashnet_sample")
    assert pixels.description.shape == (32, 32, 3)
    assert 0 <= pixels.X.min() < pixels.X.max() <= 1


def test_leaves_nothing_out(shared_data):
    """Strings with quotes, commas and line ends survive."""
    table = read(there(shared_data, "ag_news_test/test.csv"), "first")
    assert table.X["column_2"][0] == "Fears for T N pension after talks"
    assert table.X.null_count().row(0) == (0, 0)
