"""What is done with a model file: predictions into files of any format, reasons, rows of any order."""

import csv
import json

import numpy as np
import pytest
from sklearn import metrics
from sklearn.datasets import load_digits, load_wine

pytest.importorskip("typer")
pl = pytest.importorskip("polars")

from nearline import load  # noqa: E402
from nearline.cli._run import run  # noqa: E402
from nearline.data import read  # noqa: E402
from nearline.explain import reasons  # noqa: E402

WINE = load_wine()


def written(path, X, y, names, order=None, extra=False):
    """A CSV with the columns in an order, and perhaps one more."""
    order = list(range(len(names))) if order is None else order
    with path.open("w") as file:
        writer = csv.writer(file)
        writer.writerow([*(names[j] for j in order), *(["more"] if extra else []), "kind"])
        for row, label in zip(X, y):
            writer.writerow([*(row[j] for j in order), *(["?"] if extra else []), label])
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Wines with a column of strings and a hole, and models of several families."""
    place = tmp_path_factory.mktemp("wine")
    X = [[*map(float, row), "dark" if row[9] > 5 else "light"] for row in WINE.data]
    X[3][0] = ""
    y = WINE.target_names[WINE.target]
    names = [*WINE.feature_names, "shade"]
    written(place / "wine.csv", X, y, names)
    written(place / "turned.csv", X, y, names, order=[*range(7, 14), *range(7)], extra=True)
    for name, family in FAMILIES.items():
        made = ["try", str(place / "wine.csv"), "-t", "kind", "--preset", "quick", "--include", family, "-q"]
        assert run([*made, "--test", "none", "--out", str(place / name)]) == 0
    return place


FAMILIES = {
    "logistic": "logistic, L2",
    "gauss": "naive Bayes, Gaussian",
    "centroid": "nearest centroid",
    "discriminant": "linear discriminant",
    "neighbors": "k-NN, L2",
    "majority": "majority",
    "kernel": "kernel SVM",
    "ridge": "kernel least squares",
}


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_every_format_of_output_has_the_same_rows(folder, ending, tmp_path):
    model, out = folder / "logistic" / "model.nearline", tmp_path / f"labels.{ending}"
    assert (
        run(["predict", str(model), str(folder / "wine.csv"), "--proba", "--explain", "--out", str(out)]) == 0
    )
    readers = {
        "csv": pl.read_csv,
        "tsv": lambda path: pl.read_csv(path, separator="\t"),
        "jsonl": pl.read_ndjson,
        "parquet": pl.read_parquet,
    }
    frame = readers[ending](out)
    table = read(folder / "wine.csv", "kind")
    fitted = load(model)
    assert frame["label"].to_list() == fitted.predict(table.X).tolist()
    chances = frame.select(f"probability of class_{c}" for c in range(3)).to_numpy()
    np.testing.assert_allclose(chances, fitted.predict_proba(table.X), atol=1e-6)
    assert frame.columns[-1] == "because"
    assert any("proline = 1065" in line for line in frame["because"].head(5))
    assert [file.name for file in tmp_path.iterdir()] == [out.name]


def test_nothing_is_written_where_reading_fails_half_way(folder, tmp_path):
    bad = tmp_path / "bad.jsonl"
    rows = read(folder / "wine.csv").X.rows(named=True)
    lines = [json.dumps(row) for row in rows] * 70  # more than one part
    bad.write_text("\n".join([*lines, "{broken"]) + "\n")
    for ending in ("csv", "jsonl", "parquet"):
        out = tmp_path / f"labels.{ending}"
        assert run(["predict", str(folder / "logistic" / "model.nearline"), str(bad), "--out", str(out)]) == 1
    assert [file.name for file in tmp_path.iterdir()] == ["bad.jsonl"]


@pytest.mark.parametrize("family", list(FAMILIES))
def test_columns_are_found_by_name(folder, family, tmp_path, capsys):
    model = str(folder / family / "model.nearline")
    labels = []
    for file in ("wine.csv", "turned.csv"):
        assert run(["predict", model, str(folder / file)]) == 0
        labels.append(capsys.readouterr().out)
    assert labels[0] == labels[1]
    frame = read(folder / "wine.csv").X.drop("kind", "proline")
    frame.write_csv(tmp_path / "less.csv")
    assert run(["predict", model, str(tmp_path / "less.csv")]) == 1
    assert "lacks 1 of the wanted columns: 'proline'" in capsys.readouterr().err


@pytest.mark.parametrize("family", ["kernel", "ridge"])
def test_training_rows_add_up_to_the_lead(folder, family):
    """Of kernel machines, whose scores are sums over training rows."""
    model = load(folder / family / "model.nearline")
    X = read(folder / "wine.csv", "kind").X
    chain = model.estimator_  # has scores only, so its probabilities are calibrated
    classes, machine = model.classes_.tolist(), chain.steps[-1][1]
    pairs = getattr(machine, "pairs_", None)
    Z = chain.steps[0][1].transform(X)
    scores = chain.decision_function(X) if pairs is None else machine.two_class_scores(Z)
    for reason, row in zip(reasons(model, X), scores, strict=True):
        own, other = classes.index(reason.label), classes.index(reason.other)
        lead = (
            sum(reason.margin(share, classes) for share in reason.shares)
            + reason.bias[own]
            - reason.bias[other]
        )
        if pairs is None:
            assert lead == pytest.approx(row[own] - row[other], abs=1e-4)
        else:
            problem = [sorted(pair) for pair in pairs.tolist()].index(sorted((own, other)))
            assert lead == pytest.approx(row[problem] * (1 if pairs[problem][1] == own else -1), abs=1e-4)
        assert reason.shares[0].name.startswith("like training row ")


@pytest.mark.parametrize("family", ["logistic", "gauss", "discriminant"])
def test_shares_add_up_to_the_scores(folder, family):
    model = load(folder / family / "model.nearline")
    X = read(folder / "wine.csv", "kind").X
    scores = model.decision_function(X)
    for reason, row in zip(reasons(model, X), scores, strict=True):
        total = reason.bias + sum(share.by_class for share in reason.shares)
        np.testing.assert_allclose(total - total.mean(), row - row.mean(), rtol=1e-3, atol=1e-3)
        assert {share.name for share in reason.shares} <= set(X.columns)


def test_explain_says_what_decided(folder, capsys):
    data = str(folder / "wine.csv")
    assert (
        run(["explain", str(folder / "logistic" / "model.nearline"), data, "--row", "4", "--row", "1"]) == 0
    )
    said = capsys.readouterr().out
    assert said.index("row 1 (line 2): class_0") < said.index("row 4 (line 5): class_0")
    assert "score of class_0 above that of class_" in said
    assert "proline = 1065" in said
    assert run(["explain", str(folder / "logistic" / "model.nearline"), data, "--json"]) == 0
    facts = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["row"] for one in facts] == [1, 2, 3, 4, 5]
    values = {share["name"]: share["value"] for share in facts[3]["shares"]}
    assert values["alcohol"] == "missing"
    assert values["shade"] == "dark"
    assert set(facts[0]["shares"][0]["by_class"]) == {"class_0", "class_1", "class_2"}
    assert run(["explain", str(folder / "majority" / "model.nearline"), data, "--row", "1"]) == 0
    assert "no parts that add up" in capsys.readouterr().out


def test_neighbors_are_shown_with_their_rows(folder, tmp_path, capsys):
    model = str(folder / "neighbors" / "model.nearline")
    assert run(["explain", model, str(folder / "wine.csv"), "--row", "2", "--json"]) == 0
    nearest = json.loads(capsys.readouterr().out)["neighbors"][0]
    assert nearest["row"] == 2  # the row itself, counted from 1
    assert nearest["distance"] == 0
    assert nearest["shown"].startswith("alcohol 13.2, malic_acid 1.78")
    moved = tmp_path / "moved.csv"
    (folder / "wine.csv").rename(moved)
    try:
        assert run(["explain", model, str(moved), "--row", "2"]) == 0
        said = capsys.readouterr()
        assert "training rows are not shown" in said.err
        assert run(["explain", model, str(moved), "--row", "2", "--training", str(moved)]) == 0
        assert "alcohol 13.2, malic_acid 1.78" in capsys.readouterr().out
        changed = tmp_path / "changed.csv"
        changed.write_text(moved.read_text().replace("13.2,", "13.3,", 1))
        assert run(["explain", model, str(moved), "--row", "2", "--training", str(changed)]) == 1
        assert "has changed since" in capsys.readouterr().err
    finally:
        moved.rename(folder / "wine.csv")


def test_words_explain_texts(tmp_path, capsys):
    lines = ["sport\tthe goal of the match", "art\tthe canvas of the museum"] * 20
    (tmp_path / "texts.txt").write_text("\n".join(lines) + "\n")
    for family in ("naive Bayes, multinomial", "naive Bayes, Bernoulli", "SVM, squared hinge"):
        out = tmp_path / family[:15]
        made = [
            "try",
            str(tmp_path / "texts.txt"),
            "--include",
            family,
            "-q",
            "--test",
            "none",
            "--out",
            str(out),
        ]
        assert run(made) == 0
        capsys.readouterr()
        assert run(["explain", str(out / "model.nearline"), str(tmp_path / "texts.txt"), "--row", "2"]) == 0
        said = capsys.readouterr().out
        assert said.startswith("row 2: art")
        assert "'canvas'" in said or "'museum'" in said or "'can" in said


def test_images_and_arrays_are_predicted_as_they_were_read(tmp_path, capsys):
    images = pytest.importorskip("PIL.Image")
    X, y = load_digits(n_class=3, return_X_y=True)
    for i in range(60):
        place = tmp_path / "photos" / f"digit {y[i]}"
        place.mkdir(parents=True, exist_ok=True)
        images.fromarray((X[i].reshape(8, 8) * 15).astype(np.uint8)).save(place / f"{i:03}.png")
    np.savez(tmp_path / "digits.npz", X=X[:60].reshape(-1, 8, 8), y=y[:60])
    options = ["--include", "nearest centroid", "--preset", "quick", "-q", "--test", "none"]
    how = ["--read", "features=hog", "--read", "size=16"]
    assert run(["try", str(tmp_path / "photos"), *how, *options, "--out", str(tmp_path / "a")]) == 0
    assert run(["try", str(tmp_path / "digits.npz"), *options, "--out", str(tmp_path / "b")]) == 0
    capsys.readouterr()
    assert run(["evaluate", str(tmp_path / "a" / "model.nearline"), str(tmp_path / "photos"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scores"]["accuracy"] > 0.8
    for model, data in (("a", "photos"), ("b", "digits.npz")):
        assert run(["predict", str(tmp_path / model / "model.nearline"), str(tmp_path / data)]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == 61
        assert lines[0] == ("file,label" if model == "a" else "label")
    assert run(["predict", str(tmp_path / "a" / "model.nearline"), str(tmp_path / "photos")]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("digit 0/000.png,digit")
    assert (
        run(["explain", str(tmp_path / "b" / "model.nearline"), str(tmp_path / "digits.npz"), "--row", "1"])
        == 0
    )
    assert "pixel " in capsys.readouterr().out


def test_labels_of_a_file_of_their_own(tmp_path, capsys):
    X, y = load_digits(n_class=2, return_X_y=True)
    np.save(tmp_path / "X.npy", X[:80])
    (tmp_path / "y.txt").write_text("\n".join(f"digit {label}" for label in y[:80]) + "\n")
    data, labels = str(tmp_path / "X.npy"), ["--labels", str(tmp_path / "y.txt")]
    options = ["--include", "nearest centroid", "--preset", "quick", "-q", "--out", str(tmp_path / "out")]
    assert run(["try", data, *labels, *options]) == 0
    capsys.readouterr()
    assert run(["evaluate", str(tmp_path / "out" / "model.nearline"), data, *labels]) == 0
    assert "no test" in capsys.readouterr().err  # these rows made the model


def test_inspect_is_short(folder, capsys):
    assert run(["inspect", str(folder / "neighbors" / "model.nearline")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) < 350
    assert any(line.startswith("kind: TableEncoder > KNeighborsClassifier") for line in lines)
    assert run(["inspect", str(folder / "neighbors" / "model.nearline"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["facts"]["target"] == "kind"


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("mixed", [False, True])
def test_a_contest_takes_the_columns_of_a_frame_by_name(library, mixed):
    """In any order, with others beside them; what is missing is named."""
    from nearline import TryThemAll

    pandas = pytest.importorskip("pandas")
    columns = {name: WINE.data[:, j].tolist() for j, name in enumerate(WINE.feature_names)}
    if mixed:
        columns["shade"] = ["dark" if value > 5 else "light" for value in WINE.data[:, 9]]
    frame = {"pandas": pandas.DataFrame, "polars": pl.DataFrame}[library]
    names = list(columns)
    contest = TryThemAll("quick", include="logistic, L2", progress="silent").fit(frame(columns), WINE.target)
    labels = contest.predict(frame(columns))
    turned = frame({"more": ["?"] * 178} | {name: columns[name] for name in names[::-1]})
    np.testing.assert_array_equal(contest.predict(turned), labels)
    np.testing.assert_array_equal(contest.predict_proba(turned), contest.predict_proba(frame(columns)))
    less = frame({"more": ["?"] * 178} | {name: columns[name] for name in names[2:]})
    with pytest.raises(ValueError, match=r"lacks 2 of the .* 'alcohol', 'malic_acid'. It has others: 'more'"):
        contest.predict(less)


SEQUENCES = "".join(
    f">s{i}|{'pos' if i % 2 else 'neg'}\n{'ACGT'[i % 2 :] * 4}{'AC' * (i % 5)}\n" for i in range(24)
)
TREES = "".join(
    f"{'yes' if i % 2 else 'no'}\t(S (NP {'dog' if i % 2 else 'cat'}) (VP w{i % 3}))\n" for i in range(24)
)


@pytest.mark.parametrize(
    ("name", "text", "how"),
    [
        ("a.fasta", SEQUENCES, ["-t", "last", "--preset", "quick"]),
        ("b.txt", TREES, ["--include", "k-NN, kernel"]),
    ],
    ids=["FASTA", "trees"],
)
def test_formats_that_are_read_at_once(name, text, how, tmp_path, capsys):
    import shlex

    (tmp_path / name).write_text(text)
    made = ["try", str(tmp_path / name), *how, "--folds", "2", "-q", "--out", str(tmp_path / "out")]
    assert run(made) == 0, capsys.readouterr().err
    lines = capsys.readouterr().out.splitlines()
    for line in lines[-2:]:
        command = shlex.split(line.partition(": nearline ")[2].replace("NEW_DATA", str(tmp_path / name)))
        assert run(command) == 0, capsys.readouterr().err
        said = capsys.readouterr().out.splitlines()
        assert len(said) == 25 if command[0] == "predict" else said[0].startswith("row 1: ")


def test_sequences_without_labels_are_predicted(tmp_path, capsys):
    (tmp_path / "a.fasta").write_text(SEQUENCES)
    (tmp_path / "new.fasta").write_text(">x\nACGTACGT\n>y\nCGTCGTCGT\n")
    made = ["try", str(tmp_path / "a.fasta"), "-t", "last", "--preset", "quick", "--folds", "2", "-q"]
    assert run([*made, "--out", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    assert run(["predict", str(tmp_path / "out" / "model.nearline"), str(tmp_path / "new.fasta")]) == 0
    assert capsys.readouterr().out == "label\nneg\npos\n"


def test_no_header_without_rows(folder, tmp_path, capsys):
    (tmp_path / "less.csv").write_text("alcohol\n1\n")
    assert run(["predict", str(folder / "logistic" / "model.nearline"), str(tmp_path / "less.csv")]) == 1
    assert capsys.readouterr().out == ""


def test_evaluate_says_whether_the_rows_were_seen(folder, tmp_path, capsys):
    model = str(folder / "gauss" / "model.nearline")
    lines = (folder / "wine.csv").read_text().splitlines()
    (tmp_path / "some.csv").write_text("\n".join(lines[:100]) + "\n")
    for data, seen in ((folder / "wine.csv", True), (tmp_path / "some.csv", False)):
        assert run(["evaluate", model, str(data), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["seen_in_training"] is seen


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda data: data[:-64], "its arrays should have"),
        (lambda data: data[:-65] + bytes([data[-65] ^ 1]) + data[-64:], "its arrays are damaged"),
        (lambda data: data[:100] + bytes([data[100] ^ 1]) + data[101:], "its header is damaged"),
    ],
    ids=["cut", "arrays", "header"],
)
def test_inspect_finds_damage(folder, damage, said, tmp_path, capsys):
    bad = tmp_path / "bad.nearline"
    bad.write_bytes(damage((folder / "logistic" / "model.nearline").read_bytes()))
    assert run(["inspect", str(bad)]) == 1
    told = capsys.readouterr()
    assert said in told.err
    assert told.out == ""


def test_rows_are_not_left_out_silently(tmp_path, capsys):
    (tmp_path / "a.fasta").write_text(SEQUENCES)
    (tmp_path / "half.fasta").write_text(">x|pos\nACGT\n>y|\nCGTCGT\n")
    made = ["try", str(tmp_path / "a.fasta"), "-t", "last", "--preset", "quick", "--folds", "2", "-q"]
    assert run([*made, "--out", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    assert run(["predict", str(tmp_path / "out" / "model.nearline"), str(tmp_path / "half.fasta")]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "1 row of" in said.err


def test_errors_speak_of_options(tmp_path, capsys):
    (tmp_path / "header.csv").write_text("a,b,kind\n")
    assert run(["try", str(tmp_path / "header.csv"), "-t", "kind", "--out", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "give --read header=no if its only line is a row" in said
    assert "=False" not in said


def test_evaluate_prints_scikit_learns_numbers(tmp_path, capsys):
    """Every score that is printed, from the labels and probabilities that ``predict`` writes."""
    rng = np.random.default_rng(0)
    ill = rng.random(200) < 0.3
    state = np.where(ill, "ill", "well")
    table = pl.DataFrame(rng.normal(size=(200, 3)) + ill[:, None], schema=list("abc"))
    table = table.with_columns(state=pl.Series(state))
    table[:120].write_csv(tmp_path / "train.csv")
    table[120:].write_csv(tmp_path / "new.csv")
    out, new = tmp_path / "out", str(tmp_path / "new.csv")
    made = [
        "try",
        str(tmp_path / "train.csv"),
        "--target",
        "state",
        "--scoring",
        "f1,auc",
        "--preset",
        "quick",
    ]
    assert run([*made, "--include", "logistic, L2", "--out", str(out)]) == 0
    assert "f1 (positive: ill)" in capsys.readouterr().out
    model = str(out / "model.nearline")
    assert run(["predict", model, new, "--proba", "--out", str(tmp_path / "said.csv")]) == 0
    said, truth = pl.read_csv(tmp_path / "said.csv"), state[120:]
    labels, p = said[:, 0].to_numpy(), said[:, 1:3].to_numpy()
    for options, positive, own in ([], "ill", p[:, 0]), (["--positive", "well"], "well", p[:, 1]):
        capsys.readouterr()
        assert run(["evaluate", model, new, "--json", *options]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["positive"] == positive
        expected = {
            "accuracy": metrics.accuracy_score(truth, labels),
            "balanced-accuracy": metrics.balanced_accuracy_score(truth, labels),
            "precision": metrics.precision_score(truth, labels, pos_label=positive),
            "recall": metrics.recall_score(truth, labels, pos_label=positive),
            "f1": metrics.f1_score(truth, labels, pos_label=positive),
            "mcc": metrics.matthews_corrcoef(truth, labels),
            "auc": metrics.roc_auc_score(truth == positive, own),
            "average-precision": metrics.average_precision_score(truth == positive, own),
            "log-loss": metrics.log_loss(truth, p),
            "brier": metrics.brier_score_loss(truth == positive, own),
        }
        assert found["scores"] == pytest.approx(expected, abs=1e-5)
    assert run(["evaluate", model, new, "--positive", "WELL"]) == 0
    assert "f1 (positive: well)" in capsys.readouterr().out
    assert run(["evaluate", model, new, "--positive", "sick"]) == 2
    assert (
        "--positive names one of two classes, got 'sick'; the classes are ill, well."
        in capsys.readouterr().err
    )


def test_the_probability_shown_is_that_of_the_label():
    """Votes between pairs of classes may choose another one than the most probable."""
    from types import SimpleNamespace

    from nearline.cli._explain import Explainer

    model = SimpleNamespace(predict_proba=lambda X: np.array([[0.3, 0.5, 0.2]]))
    explainer = SimpleNamespace(model=model, classes=["a", "b", "c"])
    assert Explainer.probability(explainer, np.zeros((1, 2)), SimpleNamespace(label="a")) == 0.3
