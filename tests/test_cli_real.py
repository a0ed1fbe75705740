"""Each kind of real file through the commands, as a new user would: read, tried, predicted, explained, scored."""

import json
import re

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("polars")

from nearline.cli._run import run

FAST = ["--preset", "quick", "--include", "nearest centroid,naive Bayes", "--folds", "3", "-q"]
# file or folder, options, least accuracy on the test rows
FILES = [
    ("tabular_mixed/titanic3.csv", ["-t", "survived", "--drop", "boat,body"], 0.65),
    ("tabular_mixed/penguins.csv", ["-t", "species"], 0.9),
    ("tabular_mixed/agaricus-lepiota.data", ["-t", "edible"], 0.85),
    ("sms_spam/SMSSpamCollection", [], 0.9),
    ("libsvm_format/heart_scale", [], 0.7),
    ("promoters/promoters.data", ["-t", "first", "--columns", "column_3"], 0.5),
    ("orl_faces", ["--read", "size=16"], 0.7),
    ("emb_hymenoptera_effnetlite0/hymenoptera_effnetlite0.npz", [], 0.8),
]


def there(folder, name):
    path = folder / name
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return str(path)


@pytest.mark.parametrize(("name", "options", "least"), FILES, ids=[file[0] for file in FILES])
def test_tried_predicted_explained_and_scored(name, options, least, shared_data, tmp_path, capsys):
    data, out = there(shared_data, name), tmp_path / "out"
    assert run(["try", data, *options, *FAST, "--out", str(out)]) == 0, capsys.readouterr().err
    result = json.loads((out / "result.json").read_text())
    assert result["test"]["scores"]["accuracy"] >= least
    model = str(out / "model.nearline")
    labels = tmp_path / "labels.jsonl"
    assert run(["predict", model, data, "--explain", "--out", str(labels)]) == 0, capsys.readouterr().err
    lines = [json.loads(line) for line in labels.read_text().splitlines()]
    assert len(lines) == result["rows"]
    assert all(line["because"] for line in lines[:20])
    capsys.readouterr()
    assert run(["explain", model, data, "--row", "1"]) == 0, capsys.readouterr().err
    said = capsys.readouterr().out  # files of rows that have lines say which
    assert re.match(rf"row 1( \(line \d+\)|, [^:]+)?: {re.escape(str(lines[0]['label']))}", said)
    assert run(["evaluate", model, data, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scores"]["accuracy"] >= least


def test_leak_columns_are_named_with_the_remedy(shared_data, tmp_path, capsys):
    data = there(shared_data, "tabular_mixed/titanic3.csv")
    assert run(["try", data, "-t", "survived", *FAST, "--out", str(tmp_path / "out")]) == 0
    said = capsys.readouterr().out
    assert "warning: boat" in said
    assert "warning: body" in said
    assert "--drop boat,body" in said


def test_two_files_without_a_header(shared_data, tmp_path, capsys):
    """Adult: labels of the test file have a dot at the end."""
    train, test = (there(shared_data, f"tabular_mixed/adult.{part}") for part in ("data", "test"))
    short = tmp_path / "adult.data"
    with open(train) as file:
        short.write_text("".join(line for _, line in zip(range(2000), file)))
    out = tmp_path / "out"
    assert run(["try", str(short), "-t", "last", "--test", test, *FAST, "--out", str(out)]) == 0
    assert json.loads((out / "result.json").read_text())["test"]["rows"] == 16_281
    assert run(["evaluate", str(out / "model.nearline"), test, "--json"]) == 0


def test_lines_with_a_label_before_a_colon(shared_data, tmp_path):
    data = there(shared_data, "trec/train.txt")
    how = ["-t", "first", "--read", "delimiter=:", "--read", "format=lines of text"]
    out = tmp_path / "out"
    assert run(["try", data, *how, *FAST, "--include", "nearest centroid", "--out", str(out)]) == 0
    assert run(["evaluate", str(out / "model.nearline"), data, "--json"]) == 0


def test_json_lines_of_long_texts(shared_data, tmp_path, capsys):
    """Part of Newsgroups: a column of texts beside the labels."""
    import gzip

    source = there(shared_data, "newsgroups20/train.jsonl.gz")
    with gzip.open(source, "rt") as file:
        lines = file.readlines()
    part = tmp_path / "news.jsonl"
    part.write_text("".join(lines[i] for i in np.random.default_rng(0).permutation(len(lines))[:800]))
    out = tmp_path / "out"
    options = ["-t", "label", "--columns", "text", *FAST, "--include", "naive Bayes, multinomial"]
    assert run(["try", str(part), *options, "--out", str(out)]) == 0, capsys.readouterr().err
    capsys.readouterr()
    assert run(["explain", str(out / "model.nearline"), str(part), "--row", "1"]) == 0
    assert "score of " in capsys.readouterr().out
