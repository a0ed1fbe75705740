"""The table of files that were understood: each line comes from reading, and what is not there is said."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks.studies import files_understood as study  # noqa: E402


def test_a_line_says_what_was_read(tmp_path):
    (tmp_path / "a.csv").write_text(
        "id,size,one,y\n" + "".join(f"k{j},{j % 7}.5,x,{j % 2}\n" for j in range(30))
    )
    found = study.understood(tmp_path, study.Source("a.csv", "y"))
    said = "an identifier: id; constant: one"
    assert found == (
        "CSV, delimiter comma, header yes, encoding utf-8",
        "30",
        "y: 2 classes",
        "2 string, 1 number",
        said,
    )
    (tmp_path / "b.bin").write_bytes(bytes(range(9)) * 50)
    assert study.understood(tmp_path, study.Source("b.bin"))[-1].startswith("refused: b.bin is not text")
    assert study.understood(tmp_path, study.Source("c.csv"))[-1] == "passed over: it is not there"
    assert study.cell("a|b") == "a\\|b"


def test_without_the_data_folder_the_table_says_so(monkeypatch, tmp_path):
    monkeypatch.setenv("NEARLINE_DATA", str(tmp_path / "none"))
    monkeypatch.setattr(study, "SKLEARN", study.SKLEARN[:1])
    monkeypatch.setattr(study, "SCIPY", ())
    lines = list(study.rows())
    assert "the folder is not there" in lines[0][-1]
    assert lines[1][0] == "scikit-learn: data/iris.csv"
    assert lines[1][2] == "150"


def test_the_page_has_at_least_25_files_and_names_its_command():
    text = study.PAGE.read_text(encoding="utf-8")
    assert study.COMMAND in text
    lines = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]
    read = [line for line in lines if line[1] != "-"]
    assert len(read) >= 25
    assert len({line[1].split(",")[0] for line in read}) >= 8
