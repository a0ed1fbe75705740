"""Numbers and dates in the usual notations: a whole column decides, and further files are read alike."""

from datetime import date, datetime

import pytest

from nearline._records.words import at_the_command_line
from nearline.data import batches, read


def column(values, tmp_path, **options):
    lines = "".join(f'"{value}",{"xy"[i % 2]}\n' for i, value in enumerate(values))
    (tmp_path / "file.csv").write_text("a,label\n" + lines)
    return read(tmp_path / "file.csv", "label", **options)


@pytest.mark.parametrize(
    ("values", "kind", "first"),
    [
        (["2012/01/01", "2013/12/31"], "date y-m-d", datetime(2012, 1, 1)),
        (["2012-1-1", "2013-12-31"], "date y-m-d", datetime(2012, 1, 1)),
        (["31.12.2023", "1.2.2024"], "date d/m/y", datetime(2023, 12, 31)),
        (["1.2.2024", "3.4.2024"], "date d/m/y", datetime(2024, 2, 1)),
        (["12/31/2023", "1/2/2024"], "date m/d/y", datetime(2023, 12, 31)),
        (["31/12/23", "1/2/69"], "date d/m/y", datetime(2023, 12, 31)),
        (["2012-01-01T10:00", "2012-01-01 11:30:05.25"], "date y-m-d", datetime(2012, 1, 1, 10)),
        (["2012-01-01T10:00+02:00", "2012-01-01T10:00Z"], "date y-m-d", datetime(2012, 1, 1, 8)),
        (["1/31/2020 1:05 PM", "2/1/2020 12:00 AM"], "date m/d/y", datetime(2020, 1, 31, 13, 5)),
        (["31 Dec 2023", "1 January 2024"], "date d mon y", datetime(2023, 12, 31)),
        (["1.234,56 €", "12,00 €"], "number 1.234,5", 1234.56),
        (["$1,234.50", "-$12.00"], "number 1,234.5", 1234.5),
        (["12 %", "3.5 %"], "number 1,234.5", 12.0),
        (["1 234,5", "12,25"], "number 1 234,5", 1234.5),
        (["1'234.5", "12"], "number 1'234.5", 1234.5),
    ],
)
def test_notations(values, kind, first, tmp_path):
    table = column(values * 3, tmp_path)
    assert table.schema.columns == {"a": kind}
    assert str(table.X["a"][0]) == str(first).removesuffix(" 00:00:00")
    assert table.X["a"].null_count() == 0
    assert f"a: {kind}" in str(table)


@pytest.mark.parametrize(
    "values",
    [
        ["00501", "10001"],  # codes
        ["12 %", "3 €"],  # two units
        ["1.5", "1,5"],  # two conventions
        ["31/12/2023", "12/31/2023"],  # two orders
        ["2023-02-30", "2023-01-01"],  # no such day
        ["1.2.3.4", "10.0.0.1"],
        ["2012/01/01", "soon"],
    ],
)
def test_other_strings_stay_strings(values, tmp_path):
    table = column(values * 3, tmp_path)
    assert table.schema.columns == {"a": "string"}
    assert table.X["a"].to_list() == values * 3


def test_an_order_that_nothing_tells_is_said(tmp_path):
    assert "no value tells day and month apart" in str(column(["1/2/2024", "3/4/2024"] * 3, tmp_path))
    assert "apart" not in str(column(["1/2/2024", "13/4/2024"] * 3, tmp_path))


def test_further_files_are_read_alike(tmp_path):
    dates = column(["13/2/2024", "3/4/2024"] * 3, tmp_path)
    new = column(["1/2/2024", "3/4/2024"], tmp_path, like=dates)
    assert new.X["a"].to_list() == [date(2024, 2, 1), date(2024, 4, 3)]
    assert next(batches(tmp_path / "file.csv", like=dates)).X.rows() == new.X.rows()
    money = column(["1.234,56 €", "2,50 €"] * 3, tmp_path)
    new = column(["1.234", "3", "soon"], tmp_path, like=money)
    assert new.X["a"].to_list() == [1234.0, 3.0, None]
    assert "not written as number 1.234,5" in str(new)


def test_codes_are_categories_to_models(tmp_path):
    from nearline.representations import TableEncoder

    table = column(["00501", "10001"] * 3, tmp_path)
    assert "leading zeros" in str(table)
    assert TableEncoder().fit(table.X).get_feature_names_out().tolist() == ["a_00501", "a_10001"]


def test_declared_categories_are_categories_to_models(tmp_path):
    from nearline.representations import TableEncoder

    (tmp_path / "a.arff").write_text(
        "@relation r\n@attribute zone {1,2,3}\n@attribute class {u,v}\n@data\n1,u\n2,v\n3,u\n2,u\n"
    )
    table = read(tmp_path / "a.arff")
    assert table.schema.columns == {"zone": "category"}
    assert TableEncoder().fit(table.X).get_feature_names_out().tolist() == ["zone_1", "zone_2", "zone_3"]


def test_a_spoiled_column_is_told(tmp_path):
    ages = [str(20 + i % 50) for i in range(304)]
    ages[15] = "c"
    rows = "".join(f"{age},{'xy'[i % 2]}\n" for i, age in enumerate(ages))
    (tmp_path / "ages.csv").write_text("age,label\n" + rows)
    table = read(tmp_path / "ages.csv", "label")
    assert "303 of 304 values of 'age' are numbers; line 17 says 'c'" in str(table)
    assert "missing=['c', '?', 'NA']" in str(table)
    with at_the_command_line():
        assert "--read 'missing=c|?|NA'" in str(read(tmp_path / "ages.csv", "label"))
    mended = read(tmp_path / "ages.csv", "label", missing=["c", "?", "NA"])
    assert mended.X["age"].null_count() == 1
    assert "303 of" not in str(mended)
    (tmp_path / "ages.csv").write_text("age,label\n" + "1,\n" + rows)  # a row without a label is left out
    assert "line 18 says 'c'" in str(read(tmp_path / "ages.csv", "label"))
