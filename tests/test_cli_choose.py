"""``nearline sweep``, ``path`` and ``plot``: tables, marks, pictures in files."""

import json

import pytest
from sklearn.datasets import load_iris

pytest.importorskip("typer")
pytest.importorskip("polars")
matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from nearline import LogisticRegression, path_scores, sweep  # noqa: E402
from nearline.cli._run import run  # noqa: E402
from nearline.facts import FACTS, perceptron_steps  # noqa: E402
from nearline.plots import PICTURES  # noqa: E402


@pytest.fixture(scope="module")
def iris(tmp_path_factory):
    """The irises as a CSV."""
    file = tmp_path_factory.mktemp("iris") / "iris.csv"
    X, y = load_iris(return_X_y=True)
    rows = [f"{','.join(map(str, x))},{'abc'[label]}" for x, label in zip(X.tolist(), y)]
    file.write_text("\n".join(["a,b,c,d,kind", *rows]) + "\n")
    return str(file)


def test_sweep_gives_table_and_picture(iris, tmp_path, capsys):
    from sklearn.preprocessing import StandardScaler

    out = tmp_path / "k.svg"
    arguments = ["sweep", iris, "-t", "kind", "--ks", "1,5,25", "--metric", "l2,l1", "--out", str(out)]
    assert run([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    X, y = load_iris(return_X_y=True)
    weights = ["uniform", "distance"]
    truth = sweep(X, y, [1, 5, 25], ["l2", "l1"], weights, transformer=StandardScaler())
    assert found["best"] == truth.best
    assert found["one_standard_error"] == truth.one_standard_error
    assert [row["mean"] for row in found["rows"]] == [row["mean"] for row in truth.rows()]
    assert "<svg" in out.read_text()
    assert run(arguments) == 0
    said = capsys.readouterr().out
    assert f"best mean: k = {truth.best['n_neighbors']}" in said
    assert "150 rows, 4 columns" in said
    assert f"picture: {out}" in said


def test_every_command_leaves_one_out(iris, tmp_path, capsys):
    folds = ["-t", "kind", "--folds", "leave-one-out"]
    assert run(["sweep", iris, *folds, "--ks", "3", "--metric", "squared_l2"]) == 0
    assert run(["path", iris, *folds, "--alphas", "0.1", "--loss", "squared_error"]) == 0
    assert "over 150 folds" in capsys.readouterr().out
    family = ["--include", "nearest centroid", "--preset", "quick", "-q", "--out", str(tmp_path / "out")]
    assert run(["try", iris, *folds, *family, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["candidates"] > 0


@pytest.mark.parametrize("command", [["sweep", "--ks", "1,5"], ["path", "--alphas", "1,0.1"]])
def test_no_picture_is_written_that_was_not_asked_for(command, iris, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):  # nothing is in the way of the second
        assert run([command[0], iris, "-t", "kind", *command[1:]]) == 0
        assert "picture" not in capsys.readouterr().out
    assert not list(tmp_path.iterdir())
    for _ in range(2):  # a file that is named may be replaced
        assert run([command[0], iris, "-t", "kind", *command[1:], "--out", "mine.png"]) == 0
    assert [one.name for one in tmp_path.iterdir()] == ["mine.png"]


def test_path_gives_table_and_picture(iris, tmp_path, capsys):
    from sklearn.preprocessing import StandardScaler

    out = tmp_path / "alpha.png"
    arguments = ["path", iris, "-t", "kind", "--alphas", "1,0.01,0.0001", "--out", str(out)]
    assert run([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    X, y = load_iris(return_X_y=True)
    truth = path_scores(LogisticRegression(), X, y, [1, 0.01, 0.0001], transformer=StandardScaler())
    assert found["best"] == truth.alphas[truth.best]
    assert [row["mean"] for row in found["rows"]] == pytest.approx(truth.mean.tolist(), abs=0.01)
    assert run([*arguments, "--loss", "squared-hinge", "--regularizer", "l1"]) == 0
    said = capsys.readouterr().out
    assert "squared-hinge, l1; rows as standardized" in said
    assert "one standard error" in said


@pytest.mark.parametrize("command", ["sweep", "path"])
def test_the_best_mean_is_called_optimistic(command, iris, tmp_path, capsys):
    options = {"sweep": ["--ks", "25,50"], "path": ["--alphas", "1,0.1"]}[command]
    arguments = [command, iris, "-t", "kind", *options, "--out", str(tmp_path / "mean.svg")]
    assert run(arguments) == 0
    said = capsys.readouterr().out
    assert "The best mean is optimistic" in said
    assert f"tried ({options[0]} names others): values beyond may be better" in said
    assert run([*arguments, "--json"]) == 0
    assert "optimistic" in json.loads(capsys.readouterr().out)["note"]


def test_a_picture_that_was_not_named_is_not_replaced(iris, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["plot", "sigmoid"]) == 0
    assert (tmp_path / "sigmoid.png").stat().st_size > 5_000
    assert run(["plot", "sigmoid"]) == 1
    assert "is there already" in capsys.readouterr().err
    assert run(["plot", "sigmoid", "--force"]) == 0
    assert run(["plot", "sigmoid", "--out", "sigmoid.png"]) == 0


def test_list_names_every_picture(capsys):
    assert run(["plot", "--list"]) == 0
    said = capsys.readouterr().out
    assert all(f"\n{name} " in f"\n{said}" for name in PICTURES)
    assert max(map(len, said.splitlines())) <= 90


@pytest.mark.parametrize(
    "name", [name for name, one in PICTURES.items() if one.shipped and name != "templates"]
)
def test_every_picture_is_drawn_on_given_data(name, iris, tmp_path, capsys):
    out = tmp_path / "picture.png"
    assert run(["plot", name, iris, "-t", "kind", "--out", str(out)]) == 0, capsys.readouterr().err
    assert out.stat().st_size > 2_000


def test_facts_are_listed_printed_and_drawn(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["fact"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in listed] == list(FACTS)
    assert all(len(line.split()) > 5 and "`" not in line for line in listed)
    assert run(["fact", "perceptron_steps"]) == 0
    assert capsys.readouterr().out == f"{perceptron_steps()}\n\npicture: perceptron-steps.png\n"
    assert (tmp_path / "perceptron-steps.png").stat().st_size > 5000
    assert run(["fact", "perceptron-steps"]) != 0
    assert "is there already" in capsys.readouterr().err
    assert run(["fact", "threshold", "--json", "--out", "t.svg"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["fact"], found["picture"], len(found["rows"])) == ("threshold", "t.svg", 4)
    assert run(["fact", "treshold"]) != 0
    assert "Did you mean 'threshold'?" in capsys.readouterr().err
    assert run(["fact", "threshold", "--out", "t.txt"]) != 0
    assert "ends with none of .png" in capsys.readouterr().err
