"""Delimited files however they are written: what is found out about them, and what they hold."""

import csv
import io

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nearline.data import DataError, Schema, batches, read

HEADER = ["size", "color", "kind"]
ROWS = [["1.5", "red", "a"], ["2", "blue", "b"], ["2.5", "red", "b"], ["4", "blue", "a"]]
EXPECTED = ([1.5, 2.0, 2.5, 4.0], ["red", "blue", "red", "blue"], ["a", "b", "b", "a"])


def written(delimiter=",", header=True, end="\n", quoted=False):
    stream = io.StringIO()
    quoting = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerows([HEADER, *ROWS] if header else ROWS)
    return stream.getvalue()


def parts(file, **options):
    """The same columns, read a row at a time."""
    found = list(batches(file, 1, **options))
    return pl.concat([part.X for part in found]), np.concatenate([part.y for part in found])


@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " "])
def test_dialects(delimiter, header, end, quoted, tmp_path):
    file = tmp_path / "file.csv"
    file.write_bytes(written(delimiter, header, end, quoted).encode())
    table = read(file, "kind" if header else "last")
    names = ["size", "color"] if header else ["column_1", "column_2"]
    assert table.X.columns == names
    assert (table.X[names[0]].to_list(), table.X[names[1]].to_list(), table.y.tolist()) == EXPECTED
    known = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "spaces"}
    assert table.description.details["delimiter"] == known[delimiter]
    assert table.description.details["header"] == ("yes" if header else "no")
    X, y = parts(file, target="kind" if header else "last", like=Schema(table.schema.columns))
    assert X.rows() == table.X.rows()
    assert y.tolist() == table.y.tolist()


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1"]
)
def test_encodings(encoding, tmp_path):
    file = tmp_path / "file.csv"
    file.write_bytes("größe,farbe,art\n1,weiß,a\n2,grün,b\n3,weiß,a\n".encode(encoding))
    table = read(file, "art")
    assert table.X.columns == ["größe", "farbe"]
    assert table.X["farbe"].to_list() == ["weiß", "grün", "weiß"]
    assert table.description.details["encoding"] == encoding
    assert [part.X.rows() for part in batches(file, 2, target="art")] == [
        [(1, "weiß"), (2, "grün")],
        [(3, "weiß")],
    ]


def test_encoding_given(tmp_path):
    file = tmp_path / "file.csv"
    file.write_bytes("price,y\n1€-,a\n2€-,b\n".encode("cp1252"))
    assert read(file, "y").X["price"].to_list() == ["1€-", "2€-"]
    assert read(file, "y", encoding="iso8859-7").X["price"][0].startswith("1")
    with pytest.raises(DataError, match=r"is not in utf-8: byte 9 is 0x80"):
        read(file, "y", encoding="utf-8")
    with pytest.raises(DataError, match="no encoding 'utf-9'"):
        read(file, "y", encoding="utf-9")
    # beyond the sample that batches look at
    file.write_bytes(b"x,y\n" + b"1,a\n" * 70_000 + "1,ä\n".encode("latin-1"))
    with pytest.raises(DataError, match="pass encoding='latin-1'"):
        list(batches(file))
    assert sum(map(len, batches(file, encoding="latin-1"))) == 70_001
    assert read(file, "y").description.classes == {"a": 70_000, "ä": 1}


def frame_of(text, tmp_path, target=None, **options):
    (tmp_path / "file.csv").write_text(text)
    return read(tmp_path / "file.csv", target, **options)


def test_missing_markers(tmp_path):
    markers = ["", "?", "NA", "N/A", "nan", "null", "-"]
    text = "n,s,m,y\n" + "".join(f"{m},{m},{m},u\n{i},v{i},{i},w\n" for i, m in enumerate(markers))
    table = frame_of(text.replace(",0,w", ",x,w"), tmp_path, "y")
    found = {column.name: (column.type, column.missing) for column in table.description.columns}
    # a dash is missing among numbers, and a value among strings
    assert found == {"n": ("integer", 7), "s": ("string", 6), "m": ("string", 6)}
    assert "'?' 3" in str(table)
    table = frame_of("a,y\n-9,u\n1,v\n?,u\n", tmp_path, "y", missing=["-9"])
    assert table.X["a"].to_list() == [None, "1", "?"]


def test_decimal_comma(tmp_path):
    for text in (
        "a;b;y\n1,5;x,1;u\n-2,25;x,2;v\n3;x,3;u\n",
        'a,b,y\n"1,5","x,1",u\n"-2,25","x,2",v\n3,"x,3",u\n',
    ):
        table = frame_of(text, tmp_path, "y")
        assert table.X.rows() == [(1.5, "x,1"), (-2.25, "x,2"), (3.0, "x,3")]
        assert table.description.details["decimals"] == "comma"
    assert frame_of("a;y\n1.5;u\n1,5;v\n", tmp_path, "y").X["a"].to_list() == ["1.5", "1,5"]


def test_thousands(tmp_path):
    for text in (
        'a,y\n"1,234.5",u\n"-1,000,000",v\n12,u\n?,v\n',
        "a;y\n1.234,5;u\n-1.000.000;v\n12,0;u\n?;v\n",
    ):
        table = frame_of(text, tmp_path, "y")
        assert table.X["a"].to_list() == [1234.5, -1e6, 12, None], text
        assert "'a' is read as numbers like 1" in str(table)
    assert frame_of('a,y\n"1,234",u\n"1,2,3",v\n', tmp_path, "y").X["a"].to_list() == ["1,234", "1,2,3"]


def test_quotes(tmp_path):
    table = frame_of('name, y\n"a, ""b""\nc", u\n "d", "v"\n5" pipe, u\n', tmp_path, "y")
    assert table.X["name"].to_list() == ['a, "b"\nc', "d", '5" pipe']
    assert table.y.tolist() == ["u", "v", "u"]
    assert next(batches(tmp_path / "file.csv", 1, columns=["name"])).X.rows() == [('a, "b"\nc',)]
    # a quote that is never closed is a character like any other
    table = frame_of("x\ty\n" + '"open\tu\nend\tv\n' * 3, tmp_path, "y")
    assert table.X["x"].to_list() == ['"open', "end"] * 3
    table = frame_of("a,b,y\n'p, q',1,u\n'r',2,v\n's, t, w',3,u\n", tmp_path, "y")
    assert table.X["a"].to_list() == ["p, q", "r", "s, t, w"]
    assert table.description.details["quotes"] == "'"


def test_comments_and_preamble(tmp_path):
    expected = [(1, "a"), (2, "b"), (3, "a")]
    body = "x,y\n1,a\n2,b\n3,a\n"
    for text in (
        "# made by hand\n" + body,
        "# one\n\n# two, with, commas\n" + body + "\n# end\n\n",
        "A title\nof two lines\n" + body,
        "sep=,\n" + body,
        "\n\n" + body + "\n\n",
        "#" + body,
    ):
        table = frame_of(text, tmp_path)
        assert (table.X.columns, table.X.rows()) == (["x", "y"], expected), text
        assert [part.X.rows()[0] for part in batches(tmp_path / "file.csv", 1)] == expected
    # as the file of the UCI repository begins
    table = frame_of(
        "|1x3 Cross validator\n" + "25, Private, <=50K.\n38, Public, >50K.\n" * 40, tmp_path, "last"
    )
    assert (len(table), table.X.columns) == (80, ["column_1", "column_2"])
    assert "skipped before the table: 1 line" in str(table)


def test_trailing_delimiter(tmp_path):
    for text in ("a,b\n1,x,\n2,y,\n", "a,b,\n1,x,\n2,y,\n", "1,x,\n2,y,\n3,x,\n"):
        table = frame_of(text, tmp_path)
        assert table.X.shape[1] == 2, text
        assert table.X.to_series(1).to_list()[:2] == ["x", "y"]
    table = frame_of("a b\nr1 1 x\nr2 2 y\n", tmp_path)  # as R writes row names
    assert table.X.columns == ["row_name", "a", "b"]
    assert frame_of(",a,b\n0,1,x\n1,2,y\n", tmp_path).X.columns == ["column_1", "a", "b"]


def test_ragged(tmp_path):
    table = frame_of("a,b,y\n" + "1,2,u\n" * 20 + "3\n4,5,v,6,7\n8,9,v,\n", tmp_path, "y")
    assert table.X.rows()[20:] == [(4, 5), (8, 9)]
    assert table.description.unlabeled == 1
    assert "1 row with fewer than 3 fields (first: row 21)" in str(table)
    assert "1 row with more than 3 fields (first: row 22)" in str(table)


@pytest.mark.parametrize(
    ("text", "target", "message"),
    [
        ("a,b\n", None, "a header and no rows"),
        ("\n \n", None, "is empty"),
        ("a,a,b\n1,2,3\n4,5,6\n", None, "'a' stands more than once"),
        (
            "width,height,kind\n1,2,u\n",
            "knid",
            "no column 'knid'. Did you mean 'kind'.*'width', 'height', 'kind'",
        ),
        ("a,b\n1,2\n", 3, "no column 3"),
        ("a,b\n1,2\n", 0, "no column 0"),
        ("a\n1\n2\n", "a", "no column left"),
        ("a,y\n1,?\n2,\n", "y", "No row .* has a label"),
        (",".join(map(str, range(1_000_000))) + "\n", None, "1,000,000 columns"),
    ],
)
def test_sentences(text, target, message, tmp_path):
    with pytest.raises(DataError, match=message):
        frame_of(text, tmp_path, target, header=True if message.startswith("'a'") else None)


def test_bad_options(tmp_path):
    with pytest.raises(DataError, match="one character"):
        frame_of("a,b\n1,2\n", tmp_path, delimiter=",,")
    with pytest.raises(DataError, match=r"lacks 1 of the wanted columns: 'B'. Did you mean 'b'\?"):
        frame_of("a,b\n1,2\n", tmp_path, columns=["a", "B"])


def test_targets(tmp_path):
    text = "1,x,0\n2,y,1\n3,x,0\n"
    for target in ("last", 3, "3", -1, "-1", "column_3"):
        table = frame_of(text, tmp_path, target)
        assert (table.y.tolist(), table.description.target) == ([0, 1, 0], "column_3")
    assert frame_of(text, tmp_path, "first").y.tolist() == [1, 2, 3]
    assert frame_of("a,last\n1,2\n3,4\n", tmp_path, "first").y.tolist() == [1, 3]
    # a header of a table of strings is told by the name of the target
    assert frame_of("p,q\nx,y\nz,w\n", tmp_path, "q").y.tolist() == ["y", "w"]
    assert frame_of("p,q\nx,y\n", tmp_path, header=False).X.columns == ["column_1", "column_2"]
    assert frame_of("1,2\n3,4\n", tmp_path, header=True).X.columns == ["1", "2"]


def test_one_column(tmp_path):
    assert frame_of("1\n2\n3\n", tmp_path).X["column_1"].to_list() == [1, 2, 3]
    table = frame_of('text\n"hello, world"\n"one, two, three"\nplain\n', tmp_path)
    assert (
        table.X.to_series(0).to_list() == ["hello, world", "one, two, three", "plain"]
        or not table.description
    )
    assert frame_of("size\n1\n2\n", tmp_path).X["size"].to_list() == [1, 2]


def labels(values, tmp_path, **options):
    return frame_of("x,y\n" + "".join(f"1,{v}\n" for v in values), tmp_path, "y", **options)


def test_labels(tmp_path):
    assert labels(["1", "+1", "-1"], tmp_path).y.tolist() == [1, 1, -1]
    assert labels(["01", "02"], tmp_path).y.tolist() == ["01", "02"]
    assert labels(["1.0", "2.5"], tmp_path).y.tolist() == [1.0, 2.5]
    assert labels(["+", "-"], tmp_path).y.tolist() == ["+", "-"]
    assert labels(["None", "some"], tmp_path).y.tolist() == ["None", "some"]
    table = labels(["a", "?", "b", "", "NA"], tmp_path)
    assert (table.y.tolist(), table.description.unlabeled, len(table.X)) == (["a", "b"], 3, 2)
    assert "3 rows without a label left out" in str(table)


def test_label_spelling(tmp_path):
    assert "end with a dot" in str(labels(["<=50K.", ">50K."], tmp_path))
    assert "stand in apostrophes" in str(labels(["'1'", "'-1'"], tmp_path))
    assert "differ only in dots" in str(labels([">50K", ">50K.", "<=50K"], tmp_path))
    assert "look like a quantity" in str(labels([f"{i}.5" for i in range(60)], tmp_path))
    assert "may not be the column of labels" in str(labels([f"n{i}" for i in range(60)], tmp_path))


def test_known_classes(tmp_path):
    train = labels(["<=50K", ">50K"], tmp_path)
    test = labels([">50K.", "<=50K.", ">50K."], tmp_path, like=train)
    assert test.y.tolist() == [">50K", "<=50K", ">50K"]
    assert "'>50K.' is read as '>50K'" in str(test)
    assert labels([">50k"], tmp_path, like=train).y.tolist() == [">50K"]
    assert labels(["1.0", "2.0"], tmp_path, like=Schema(classes=(1, 2))).y.tolist() == [1, 2]
    assert labels(["1", "2"], tmp_path, like=Schema(classes=("1", "2", "x"))).y.tolist() == ["1", "2"]
    assert labels(["'1'", "1"], tmp_path, like=Schema(classes=(1, -1))).y.tolist() == [1, 1]
    with pytest.raises(DataError, match="none of the known classes: '40K'; known are '<=50K', '>50K'"):
        labels(["40K", ">50K"], tmp_path, like=train)


def test_like_another_table(tmp_path):
    train = frame_of("n,s,e,y\n1,5,,u\n2,x,,v\n", tmp_path, "y")
    assert dict(train.schema.columns) == {"n": "integer", "s": "string", "e": None}
    test = frame_of("y,s,n,e\nu,7,oops,1\nv,8,4,2\n", tmp_path, like=train)
    assert test.y is None
    assert test.X.rows() == [(None, "7", 1), (4, "8", 2)]
    assert "no numbers, and taken as missing: 1 value of 'n'" in str(test)
    # without names, the order of the columns counts
    train = frame_of("u,1,x\nv,2,z\nu,3,x\n", tmp_path, "first")
    assert frame_of("4,x\n5,z\n6,x\n", tmp_path, like=train).X.rows() == [(4, "x"), (5, "z"), (6, "x")]
    assert frame_of("u,4,x\nu,5,z\nv,4,x\n", tmp_path, like=train).X.rows() == [(4, "x"), (5, "z"), (4, "x")]


def test_part_without_labels(tmp_path):
    (tmp_path / "file.csv").write_text("a,y\n1,u\n2,?\n3,\n4,v\n")
    found = list(batches(tmp_path / "file.csv", 1, target="y"))
    assert [(part.X.rows(), part.y.tolist()) for part in found] == [([(1,)], ["u"]), ([(4,)], ["v"])]
    assert [part.X["a"].to_list() for part in batches(tmp_path / "file.csv", 1, columns=["a"])] == [
        [1],
        [2],
        [3],
        [4],
    ]


def test_header_is_told(tmp_path):
    """Known columns tell whether there is a header, where the values alone do not."""
    train = frame_of("p,q,y\nx,y,1\nz,w,2\n", tmp_path, "y")
    assert frame_of("p,q\na,b\n", tmp_path, like=train).X.rows() == [("a", "b")]
    train = frame_of("1,x,a\n2,z,b\n", tmp_path, "last")
    assert frame_of("one,x\n3,z\n", tmp_path, like=train).X.rows() == [(None, "x"), (3, "z")]


def test_spaces_and_a_tab(tmp_path):
    """As the file of cars of the UCI repository: numbers between spaces, then a tab and a name."""
    rows = [
        '18.0   8   307.0\t"chevrolet chevelle"',
        '15.0   8   350.0\t"buick skylark 320"',
        '9.0   4   ?\t"ford"',
    ]
    table = frame_of("\n".join(rows * 4), tmp_path, 2)
    assert table.X.columns == ["column_1", "column_3", "column_4"]
    assert table.X.rows()[2] == (9.0, None, "ford")


def test_types_of_the_first_part(tmp_path):
    (tmp_path / "file.csv").write_text("a,b\n1,2\n2,x\nz,3\n")
    found = list(batches(tmp_path / "file.csv", 1, header=True))
    assert [part.X.rows()[0] for part in found] == [(1, 2), (2, None), (None, 3)]
    assert "no numbers" in str(found[2])


CELL = st.text(st.sampled_from("ab1.,;\"'\t |?-#é\n"), max_size=5)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(st.lists(CELL, min_size=2, max_size=4), min_size=1, max_size=6), st.sampled_from(",;\t"))
def test_random_tables(tmp_path, rows, delimiter):
    """Whatever is in the cells, a file is read, or refused in a sentence; in parts as at once."""
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter).writerows(rows)
    file = tmp_path / "file.csv"
    file.write_text(stream.getvalue(), newline="")
    for header in (None, False, True):
        try:
            table = read(file, header=header)
        except DataError:
            continue
        assert len(table) == len(table.X) >= 1
        assert str(table)
        found = list(batches(file, 2, header=header, like=Schema(table.schema.columns)))
        assert [row for part in found for row in part.X.rows()] == table.X.rows()


NAME = st.text(st.characters(categories=["L"]), min_size=1, max_size=4)
VALUE = st.one_of(st.integers(-(10**6), 10**6).map(str), st.floats(-1e6, 1e6).map(repr), st.just(""))


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.data(), st.sampled_from([",", ";", "\t", "|"]), st.booleans())
def test_random_numbers(tmp_path, data, delimiter, header):
    """Tables of numbers come back exactly."""
    width = data.draw(st.integers(2, 5))
    names = data.draw(st.lists(NAME, min_size=width, max_size=width, unique=True))
    cells = st.lists(VALUE, min_size=width - 1, max_size=width - 1)
    rows = [["1", *row] for row in data.draw(st.lists(cells, min_size=2, max_size=8))]
    file = tmp_path / "file.csv"
    file.write_text("".join(delimiter.join(row) + "\n" for row in ([names] if header else []) + rows))
    table = read(file, header=header, delimiter=delimiter)
    width = table.X.width  # a last column without values is that of a delimiter at the end of lines
    expected = [tuple(float(cell) if cell else None for cell in row[:width]) for row in rows]
    assert table.X.cast(pl.Float64).rows() == expected


def test_names_that_are_numbers_are_remarked(tmp_path):
    path = tmp_path / "a.csv"
    rows = "\n".join(f"{j / 7:.2f},{j / 3:.2f},{j / 9:.2f},{j % 2}" for j in range(30))
    for first, told in (("150,4,setosa,other", True), ("0,1,2,label", False), ("a,b,c,d", False)):
        path.write_text(f"{first}\n{rows}\n")
        table = read(path, -1, header=True)
        assert any("'150', '4'" in note for note in table.description.notes) is told
