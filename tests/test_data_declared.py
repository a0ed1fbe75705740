"""Files that declare their columns: ARFF, KEEL and Orange are read as they say, not taken for CSV."""

import gzip

import pytest
from scipy.sparse import issparse

from nearline.data import DataError, batches, read, row_lines

ARFF = """% weather, with all kinds of columns
@RELATION 'the weather'

@attribute 'out look' {sunny, 'over cast', rainy}
@attribute temperature REAL
@attribute zone {1,2,3}
@attribute remark string
@attribute windy {TRUE,FALSE}
@ATTRIBUTE play {yes, no}

@DATA
sunny,85,1,'it\\'s hot, dry',FALSE,no
% in between
'over cast', 83.5 ,3,'a "b"',TRUE,yes
?,?,2,?,TRUE,yes
rainy,64,1,plain,?,no
"""


def test_arff(tmp_path):
    file = tmp_path / "weather.arff"
    file.write_text(ARFF)
    table = read(file)
    assert table.description.format == "ARFF"
    assert table.description.target == "play"
    assert table.y.tolist() == ["no", "yes", "yes", "no"]
    assert table.X.columns == ["out look", "temperature", "zone", "remark", "windy"]
    assert table.X["out look"].to_list() == ["sunny", "over cast", None, "rainy"]
    assert table.X["temperature"].to_list() == [85.0, 83.5, None, 64.0]
    assert table.X["zone"].to_list() == ["1", "3", "2", "1"]  # categories, though written in digits
    assert table.X["remark"].to_list()[:2] == ["it's hot, dry", 'a "b"']
    assert "the class is 'play'" in str(table)
    assert read(file, "windy").y.tolist() == ["FALSE", "TRUE", "TRUE"]
    packed = tmp_path / "weather.arff.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert read(packed).y.tolist() == table.y.tolist()
    renamed = tmp_path / "weather.data"
    renamed.write_bytes(file.read_bytes())
    assert read(renamed).description.format == "ARFF"
    assert read(file, like=table).y.tolist() == table.y.tolist()
    file.write_text(ARFF.replace(",yes\n", ",?\n").replace(",no\n", ",?\n"))
    new = read(file, like=table)
    assert new.y is None
    assert new.X.rows() == next(batches(file, like=table)).X.rows() == table.X.rows()


def test_sparse_arff(tmp_path):
    head = "@relation r\n@attribute a numeric\n@attribute color {red,'dark blue'}\n@attribute c integer\n"
    head += "@attribute class {n,y}\n@data\n"
    file = tmp_path / "sparse.arff"
    file.write_text(head + "{0 1.5, 3 y}\n{1 'dark blue', 2 ?}\n{}\n")
    table = read(file)
    assert table.X.rows() == [(1.5, "red", 0.0), (0.0, "dark blue", None), (0.0, "red", 0.0)]
    assert table.y.tolist() == ["y", "n", "n"]
    wide = "@relation r\n" + "".join(f"@attribute w{i} numeric\n" for i in range(300))
    (tmp_path / "wide.arff").write_text(
        wide + "@attribute topic {a,b}\n@data\n{0 2, 299 1, 300 b}\n{5 1}\n{7 3, 300 b}\n"
    )
    words = read(tmp_path / "wide.arff")
    assert issparse(words.X)
    assert words.X.shape == (3, 300)
    assert words.X[0].indices.tolist() == [0, 299]
    assert words.y.tolist() == ["b", "a", "b"]
    assert next(batches(tmp_path / "wide.arff", like=words)).y is None


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("@relation r\n@attribute a numeric\n", "no line @data"),
        ("@relation r\n@attribute a numeric\n@data\n", "no rows after @data"),
        ("@relation r\n@data\n1\n", "declares no columns"),
        ("@relation r\n@attribute a b numeric\n@data\n1\n", "Line 2 .*'b numeric'"),
        ("@relation r\n@attribute a\n@data\n1\n", "Line 2 .*name type"),
        ("@relation r\n@attribute a relational\n@data\n1\n", "relational"),
        ("@relation r\n@attribute a real\n@attribute a real\n@data\n1,2\n", "'a' more than once"),
        ("@relation r\n@attribute a real\n@attribute b real\n@data\n1,2\n1\n", "Line 6 .*1 values, and 2"),
        ("@relation r\n@attribute a real\n@attribute b string\n@data\n1,'x\n", "Line 5 .*quote"),
        ("@relation r\n@attribute a real\n@attribute b real\n@data\n{2 1}\n", "Line 5 .*from 0 to 1"),
        ("@relation r\n@attribute a real\n@attribute b real\n@data\n{0 1, 0 2}\n", "Line 5 .*different"),
    ],
)
def test_bad_arff(lines, message, tmp_path):
    (tmp_path / "file.arff").write_text(lines)
    with pytest.raises(DataError, match=message):
        read(tmp_path / "file.arff")


def test_undeclared_values_are_told(tmp_path):
    (tmp_path / "a.arff").write_text(
        "@relation r\n@attribute c {x,y}\n@attribute class {0,1}\n@data\nx,0\nz,1\n"
    )
    assert "'c' has values that are not declared, and were kept: 'z'" in str(read(tmp_path / "a.arff"))
    (tmp_path / "b.arff").write_text(
        "@relation r\n@attribute c {' x','y '}\n@attribute class {0,1}\n@data\n' x',0\n'y ',1\n"
    )
    assert "not declared" not in str(read(tmp_path / "b.arff"))


def test_keel(tmp_path):
    (tmp_path / "iris.dat").write_text(
        "@relation iris\n@attribute SepalLength real [4.3, 7.9]\n@attribute Kind integer[0,1]\n"
        "@attribute Class {a, b}\n@attribute After {u, v}\n@inputs SepalLength, Kind\n@outputs Class\n"
        "@data\n5.1, 0, a, u\n4.9, 1, b, v\n<null>, 1, b, v\n"
    )
    table = read(tmp_path / "iris.dat")
    assert table.description.format == "KEEL"
    assert table.description.target == "Class"
    assert table.y.tolist() == ["a", "b", "b"]
    assert table.X["SepalLength"].to_list() == [5.1, 4.9, None]


ORANGE = "name\tsize\tcolor\tcode\tkind\ns\tc\tred green\td\td\nm\t\t\t\tclass\n"
ORANGE_ROWS = "ann\t1.5\tred\t1\tx\nbob\t?\tgreen\t2\ty\ncid\t3\t~\t1\tx\n"


def test_orange(tmp_path):
    (tmp_path / "three.tab").write_text(ORANGE + ORANGE_ROWS)
    (tmp_path / "one.tab").write_text("mS#name\tC#size\tD#color\tD#code\tcD#kind\n" + ORANGE_ROWS)
    (tmp_path / "one.csv").write_text(
        "mS#name,C#size,D#color,D#code,cD#kind\n" + ORANGE_ROWS.replace("\t", ",")
    )
    for name in ("three.tab", "one.tab", "one.csv"):
        table = read(tmp_path / name)
        assert table.description.format == "Orange", name
        assert table.y.tolist() == ["x", "y", "x"]
        assert table.X.rows() == [(1.5, "red", "1"), (None, "green", "2"), (3.0, None, "1")]
        assert "no features: 'name'" in str(table)
    assert read(tmp_path / "one.tab", columns=["name", "size"]).X.columns == ["name", "size"]


def test_tables_are_not_taken_for_declarations(tmp_path):
    (tmp_path / "plain.tab").write_text("a\tb\tc\n1\t2\tx\n3\t4\ty\n5\t6\tx\n")
    (tmp_path / "letters.tab").write_text("a\tb\tkind\nc\td\tx\nq\tz\tc\nc\td\ty\n")
    (tmp_path / "hash.csv").write_text("#id,b,c\n1,2,x\n3,4,y\n")
    for name in ("plain.tab", "letters.tab", "hash.csv"):
        assert read(tmp_path / name).description.format == "CSV", name


def test_blanks_around_declared_values_are_no_other_values(tmp_path):
    path = tmp_path / "k.dat"
    rows = "".join(f"{i}, {'pos' if i % 2 else 'neg'}\n" for i in range(6))
    path.write_text(
        "@relation k\n@attribute A integer [0,10]\n@attribute K {pos,neg}\n@data\n" + rows + "6, maybe\n"
    )
    said = [note for note in read(path).description.notes if "not declared" in note]
    assert said == ["'K' has values that are not declared, and were kept: 'maybe'"]


def test_rows_know_their_lines(tmp_path):
    """Findings and errors name the line of the file, below declarations, comments and blank lines."""
    arff = tmp_path / "rows.arff"
    arff.write_text(
        "% said\n@relation r\n@attribute a numeric\n@attribute c {x,y}\n@data\n1,x\n\n% more\n2,y\n"
    )
    assert list(row_lines(arff)) == [6, 9]
    tab = tmp_path / "rows.tab"
    tab.write_text('a\tb\tc\ncontinuous\t\tdiscrete\n\t\tclass\n1\t"2\n3"\tx\n\n4\t5\ty\n')
    assert list(row_lines(tab)) == [4, 7]
    spoiled = tmp_path / "spoiled.tab"
    spoiled.write_text(
        "a\tb\tc\ncontinuous\t\tdiscrete\n\t\tclass\n" + "1\t2\tx\n" * 60 + "1\tc\ty\n" + "1\t3\ty\n"
    )
    (note,) = [note for note in read(spoiled).description.notes if "are numbers" in note]
    assert "61 of 62 values of 'b' are numbers; line 64 says 'c'" in note
