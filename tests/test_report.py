"""The report says what the contest found, in one page that needs nothing else."""

import base64
import json
import struct
import zlib
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier

from nearline import TryThemAll
from nearline.report import facts_of, write_report
from nearline.report._images import picture_shape, png, weight_picture
from nearline.report._regions import directions
from nearline.selection.leaderboard import Leaderboard

X, Y = load_wine(return_X_y=True)
HOSTILE = ["<script>alert(1)</script>", "x" * 300, "\"'&\u202e عربي\x00\x1b \ud800", "</table><b>"]
VOID = {"img", "br", "link", "meta", "input", "hr"}


class Page(HTMLParser):
    """Elements, texts and tables of a page; refuses elements that are not closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.tables, self.texts = [], [], {}, []
        self.scripts = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.rows = []
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th") and "table" in self.open:
            self.rows[-1].append("")
        if tag == "script":
            self.scripts.append("")

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "table":
            self.tables[self.caption] = self.rows

    def handle_data(self, data):
        self.texts.append(data)
        if self.open[-1:] == ["caption"]:
            self.caption = data
        if self.open[-1:] == ["script"]:
            self.scripts[-1] += data
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data

    @property
    def text(self):
        return " ".join(self.texts)

    def attributes(self, name):
        return [attributes[name] for _, attributes in self.elements if name in attributes]


def contest_of(X, y, **options):
    settings = {"preset": "quick", "progress": "silent", "scoring": ["accuracy", "log-loss"]} | options
    return TryThemAll(**settings).fit(X, y)


def written(tmp_path, contest, opened=None, **options):
    file = tmp_path / "report.html"
    facts = write_report(file, contest, opened, **options)
    text = file.read_text(encoding="utf-8")
    return facts, Page(text), text


@pytest.fixture(scope="module")
def wine():
    contest = contest_of(X, Y)
    return contest, contest.open_test()


@pytest.fixture(scope="module")
def wine_page(wine, tmp_path_factory):
    source = {"data": "wine.csv", "target": "cultivar", "command": "nearline try wine.csv --target cultivar"}
    return written(tmp_path_factory.mktemp("wine"), *wine, source=source)


@pytest.fixture(scope="module")
def digits():
    pixels, y = load_digits(return_X_y=True)
    contest = contest_of(pixels[:700], y[:700], include=["logistic, L2", "k-NN, L2"])
    return contest, contest.open_test()


def test_the_json_of_the_page_is_its_facts(wine, wine_page):
    facts, page, _ = wine_page
    assert json.loads(page.scripts[0]) == facts
    assert facts == facts_of(
        *wine,
        source={k: facts["data"][k] for k in ("data", "target")} | {"command": facts["reproduce"]["command"]},
    )
    assert facts["reproduce"]["command"] in page.text
    json.dumps(facts, allow_nan=False)


def test_the_page_is_well_formed_and_accessible(wine_page):
    _, page, text = wine_page
    tags = [tag for tag, _ in page.elements]
    assert text.startswith("<!doctype html>")
    assert ("html", {"lang": "en"}) in page.elements
    assert tags.count("h1") == 1
    ids = page.attributes("id")
    assert len(ids) == len(set(ids))
    links = [href[1:] for href in page.attributes("href") if href.startswith("#")]
    assert len(links) >= 10
    assert set(links) <= set(ids)
    for tag, attributes in page.elements:
        if tag == "svg":
            assert attributes["role"] == "img"
            assert attributes["aria-label"]
        if tag == "img":
            assert attributes["alt"]
        if tag == "th":
            assert attributes["scope"] in ("row", "col")
        if tag == "section":
            assert attributes["aria-labelledby"] in ids
        if attributes.get("class") == "scroll":
            assert attributes["tabindex"] == "0"
            assert attributes["aria-label"]


def test_the_page_needs_nothing_else(wine_page):
    _, page, text = wine_page
    for reference in page.attributes("href") + page.attributes("src"):
        assert reference.startswith(("#", "data:"))
    style = text.partition("<style>")[2].partition("</style>")[0]
    for outside in ("url(", "@import", "http", "//"):
        assert outside not in style
    assert len(text) < 300_000
    policy = next(a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none';")


def test_numbers_of_the_leaderboard(wine, wine_page):
    contest, _ = wine
    facts, page, _ = wine_page
    board = contest.leaderboard_
    assert len(facts["leaderboard"]["candidates"]) == len(board)
    alike = {id(entry) for entry in board.equals_of_best()}
    for entry, one in zip(board, facts["leaderboard"]["candidates"]):
        assert one["family"] == entry.family
        said = one["scores"]["accuracy"]
        assert said["mean"] == board.mean(entry)
        assert said["deviation"] == pytest.approx(board.deviation(entry), rel=1e-5)
        assert said["error"] == pytest.approx(board.error(entry), rel=1e-5)
        assert one["not_distinguishable"] == (id(entry) in alike)
    best = board.best_of_families()
    rows = page.tables["Best of each family"][1:]
    assert len(rows) == len(best)
    for entry, row in zip(best, rows):
        assert row[0].startswith(entry.family)
        assert row[2] == f"{board.mean(entry):.4f}± {board.deviation(entry):.4f}"
    all_rows = page.tables["All candidates, best first"][1:]
    assert [row[4] for row in all_rows] == [f"{board.mean(entry):.4f}" for entry in board]
    log_loss = board.mean(board[0], "log-loss")
    assert all_rows[0][5] == ("n/a" if np.isnan(log_loss) else f"{log_loss:.4f}")


def test_curves_have_the_one_standard_error_choice(wine, wine_page):
    contest, _ = wine
    facts, page, _ = wine_page
    board = contest.leaderboard_
    best = {entry.family: entry for entry in board.best_of_families()}
    assert {"k-NN, L2", "logistic, L2"} <= {curve["family"] for curve in facts["curves"]}
    for curve in facts["curves"]:
        entry = best[curve["family"]]
        assert curve["best"] == entry.parameters[entry.path]
        assert curve["one_standard_error"] == board.one_standard_error(entry).parameters[entry.path]
        assert curve["mean"][curve["values"].index(curve["best"])] == board.mean(entry)
        assert curve["values"] == sorted(curve["values"])
        at = curve["values"].index(curve["best"])
        np.testing.assert_allclose(curve["deviation"][at], np.std(entry.scores["accuracy"], ddof=1))
        bars = curve["mean"][at], curve["deviation"][at]
        assert f": {bars[0]:.4f} ± {bars[1]:.4f}" in wine_page[2]  # what the bars of the picture say
    assert "bars of one standard deviation over folds" in wine_page[2]
    labels = [label for tag, a in page.elements if tag == "svg" for label in [a["aria-label"]]]
    assert any(label.startswith("accuracy of k-NN, L2 over k: best ") for label in labels)


def test_numbers_of_the_test(wine, wine_page):
    _, opened = wine
    facts, page, _ = wine_page
    test = facts["test"]
    interval = opened.intervals["accuracy"]
    assert test["scores"]["accuracy"]["score"] == opened.scores["accuracy"]
    assert (test["scores"]["accuracy"]["low"], test["scores"]["accuracy"]["high"]) == (
        interval.low,
        interval.high,
    )
    row = page.tables["Scores on the test rows"][1]
    assert row[:2] == ["accuracy", f"{opened.scores['accuracy']:.4f}"]
    assert row[2].startswith(f"{interval.low:.4f} to {interval.high:.4f}")
    assert test["confusion"] == opened.confusion.tolist()
    cells = page.tables["Confusion matrix: classes down, called across"]
    assert cells[0] == ["", "0", "1", "2"]
    shown = [[0 if cell == "·" else int(cell) for cell in row[1:]] for row in cells[1:]]
    assert shown == opened.confusion.tolist()
    for one, row in zip(opened.per_class(), page.tables["Precision, recall and F1 by class"][1:]):
        numbers = [f"{one[name]:.3f}" for name in ("precision", "recall", "f1")]
        assert row == [str(one["class"]), *numbers, str(one["rows"])]


def test_areas_are_those_of_the_scores():
    contest = contest_of(X, Y > 0, scoring=["auc", "accuracy"], include="logistic, L2")
    opened = contest.open_test()
    ranking = facts_of(contest, opened)["test"]["ranking"]
    assert [one["class"] for one in ranking["classes"]] == [True]
    assert ranking["mean_auc"] == pytest.approx(opened.scores["auc"])
    for curve in ("roc", "precision_recall"):
        xs, ys = ranking["classes"][0][curve]
        assert xs == sorted(xs)
        assert min(xs + ys) >= 0
        assert max(xs + ys) <= 1


def test_hostile_labels_are_only_text(tmp_path):
    labels = np.array(HOSTILE[:3])[Y]
    contest = contest_of(X, labels, own={"<i>own</i>": DecisionTreeClassifier(random_state=0)})
    source = {
        "data": "</title><script>",
        "description": "<img src=x onerror=alert(1)>",
        "command": "a && <b>",
    }
    facts, page, text = written(tmp_path, contest, contest.open_test(), title="<h1>&", source=source)
    assert [a.get("type") for tag, a in page.elements if tag == "script"] == ["application/json", None]
    assert not [a for _, a in page.elements if any(name.startswith("on") for name in a)]
    assert HOSTILE[0] in page.text
    assert source["description"] in page.text
    assert "<i>own</i>" in page.text
    assert "x" * 100 not in page.text.replace(page.scripts[0], "")  # cut in the middle, whole in the tooltip
    assert "x" * 300 in page.attributes("title")
    assert "\x00" not in text
    assert json.loads(page.scripts[0]) == facts
    assert facts["title"] == "<h1>&"


def test_many_classes_and_candidates_stay_small(tmp_path):
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(200), 6)
    rows = 3 * rng.normal(size=(200, 6))[codes] + rng.normal(size=(len(codes), 6))
    contest = contest_of(
        rows, np.array([f"{'class ' * 10}{c}" for c in codes]), include=["centroid", "k-NN, L2"], folds=2
    )
    board = contest.leaderboard_
    copies = range(1000 // len(board) + 1)
    many = [replace(entry, parameters=entry.parameters | {"copy": i}) for entry in board for i in copies]
    contest.leaderboard_ = Leaderboard(many, board.scorers, board.test_to_train, board.skipped, board.n_rows)
    facts, page, text = written(tmp_path, contest, contest.open_test())
    assert len(text.encode()) < 1_000_000
    assert len(facts["leaderboard"]["candidates"]) >= 1000
    assert f"{len(many) - 250:,} candidates after these" in page.text
    assert facts["test"]["confusion"] is None
    assert len(page.tables["Most frequent confusions"]) > 2
    assert len(page.tables["Precision, recall and F1 by class"]) == 201


def test_a_locked_test_stays_locked(tmp_path):
    contest = contest_of(X, Y, include="k-NN, L2")
    facts, page, _ = written(tmp_path, contest)
    assert facts["test"] is None
    assert facts["data"]["test_rows"] == len(contest.test_rows_)
    assert all(one["test"] is None for one in facts["data"]["classes"])
    assert contest.openings_ == 0
    assert contest.opened_part() is None
    assert "still locked" in page.text
    assert "no test rows have been opened" in page.text
    assert facts["regions"]["what"] == "training rows"


def test_what_does_not_apply_is_said(tmp_path):
    apart = (np.arange(len(Y)) % 4 == 0) & (Y < 2)
    contest = contest_of(X[~apart], Y[~apart], include="SVM", test=(X[apart], Y[apart]))
    facts, page, _ = written(tmp_path, contest, contest.open_test())
    assert "The model gives no probabilities" in page.text
    assert "1 class has no test row" in page.text
    assert "1 class without test rows has no curve" in page.text
    assert page.tables["Precision, recall and F1 by class"][3][2] == "n/a"
    assert facts["test"]["ranking"]["without"] == [2]
    alone = contest_of(X[:, :1], Y, include="majority", test=None)
    facts, page, _ = written(tmp_path, alone)
    assert "No family was tried at three or more values" in page.text
    assert "Regions need at least two columns" in page.text
    assert facts["looks_at"]["kind"] == "prototypes"


def test_findings_come_with_their_remedies(tmp_path):
    leak = np.column_stack([X, Y + 0.001 * np.random.default_rng(0).normal(size=len(Y))])
    with pytest.warns(UserWarning, match="column 14"):
        contest = contest_of(leak, Y, include="k-NN, L2")
    facts, page, _ = written(tmp_path, contest, contest.open_test())
    for finding in contest.findings_:
        assert finding.facts() in facts["findings"]
        assert finding.message in page.text
        assert finding.remedy in page.text
    assert "Do not trust these scores" in page.text


def test_weights_of_a_linear_model_are_named(wine):
    import pandas as pd

    names = [f"measure {j}" for j in range(X.shape[1])]
    contest = contest_of(pd.DataFrame(X, columns=names), Y, include="logistic, L2")
    looks = facts_of(contest)["looks_at"]
    assert looks["kind"] == "weights"
    W = contest.model_.named_steps["model"].coef_
    centered = W - W.mean(axis=0)  # columns are standardized: their deviation is 1
    for c, one in enumerate(looks["classes"]):
        best = int(centered[c].argmax())
        assert one["for"][0]["feature"] == names[best]
        assert one["for"][0]["effect"] == pytest.approx(centered[c, best], rel=1e-4)
        assert all(f["effect"] < 0 for f in one["against"])


def test_words_of_texts():
    texts = [f"{'sunny beach' if i % 2 else 'rainy street'} number{i}" for i in range(80)]
    contest = contest_of(texts, np.where(np.arange(80) % 2, "sun", "rain"), include="logistic, L2")
    opened = contest.open_test()
    facts = facts_of(contest, opened)
    looks = facts["looks_at"]
    assert looks["kind"] == "words"
    assert {f["feature"] for f in looks["classes"][0]["for"][:2]} == {"sunny", "beach"}
    assert {f["feature"] for f in looks["classes"][0]["against"][:2]} == {"rainy", "street"}
    assert facts["mistakes"]["said"] == f"None of the {opened.n_rows} test rows was called wrong."


def test_templates_of_images_and_neighbors_of_mistakes(digits, tmp_path):
    contest, opened = digits
    facts, page, _ = written(tmp_path, contest, opened)
    wrong = np.flatnonzero(opened.predictions.labels != opened.codes)
    mistakes = facts["mistakes"]
    assert mistakes["n_wrong"] == len(wrong)
    assert len(mistakes["rows"]) == min(6, len(wrong))
    sure = [one["sureness"] for one in mistakes["rows"]]
    assert sure == sorted(sure, reverse=True)
    pixels = load_digits().data[:700]
    for one in mistakes["rows"]:
        assert one["row"] - 1 in contest.test_rows_
        assert one["called"] == contest.predict(pixels[[one["row"] - 1]])[0]
        assert len(one["neighbors"]) == 3
        assert decoded(one["picture"]).shape == (8, 8)
        np.testing.assert_allclose(
            decoded(one["picture"]), pixels[one["row"] - 1].reshape(8, 8) / 16 * 255, atol=0.51
        )
        for near in one["neighbors"]:
            assert near["row"] - 1 not in contest.test_rows_
            assert near["class"] == load_digits().target[near["row"] - 1]
    logistic = contest_of(pixels, load_digits().target[:700], include="logistic, L2")
    looks = facts_of(logistic)["looks_at"]
    assert looks["kind"] == "templates"
    assert len(looks["classes"]) == 10
    assert len([a for tag, a in page.elements if tag == "img"]) >= 4 * len(mistakes["rows"])


def test_neighbors_are_those_of_the_model(wine):
    contest = contest_of(X[:, [0, 6]], Y, include="k-NN, L2")
    opened = contest.open_test()
    mistakes = facts_of(contest, opened)["mistakes"]
    assert mistakes["rows"], "the data have become too easy for this test"
    represent, model = (contest.model_.named_steps[name] for name in ("representation", "model"))
    train = np.setdiff1d(np.arange(len(Y)), contest.test_rows_)
    for one in mistakes["rows"]:
        distances, places = model.kneighbors(represent.transform(X[[one["row"] - 1]][:, [0, 6]]), 3)
        assert [near["row"] - 1 for near in one["neighbors"]] == train[places[0]].tolist()
        np.testing.assert_allclose([near["distance"] for near in one["neighbors"]], distances[0], rtol=1e-4)


def test_regions_of_two_columns_are_the_model_itself():
    contest = contest_of(X[:, [0, 6]], Y, include=["k-NN, L2"])
    opened = contest.open_test()
    regions = facts_of(contest, opened)["regions"]
    assert regions["share_of_variance"] == pytest.approx(1.0)
    low, high, side = np.array(regions["low"]), np.array(regions["high"]), regions["side"]
    points = np.array(regions["points"])
    places = ((points - low) / (high - low) * side).astype(int).clip(0, side - 1)
    cells = np.array(regions["cells"])
    called = cells[side - 1 - places[:, 1], places[:, 0]]
    told = np.where(regions["right"], np.array(regions["codes"]), -1)
    agree = (called == told)[np.array(regions["right"])]
    assert agree.mean() > 0.9  # not where a border passes through the cell


def test_discriminant_directions_tell_classes_apart():
    rng = np.random.default_rng(0)
    codes = np.arange(600) % 3
    rows = rng.normal(size=(600, 5)) * [1, 1, 20, 20, 20]
    rows[:, 0] += 8 * (codes == 1)
    rows[:, 1] += 8 * (codes == 2)
    _, A, names = directions(rows, codes)
    assert names == ["first discriminant direction", "second discriminant direction"]
    shares = np.abs(A) * rows.std(axis=0)[:, None]
    assert (shares[:2].sum(axis=0) > 0.8 * shares.sum(axis=0)).all()
    _, _, names = directions(rows, (codes == 1).astype(int))
    assert names == ["first discriminant direction", "leading principal direction of the rest"]


def decoded(uri):
    """The pixels of a PNG without filters."""
    data = base64.b64decode(uri.removeprefix("data:image/png;base64,"))
    width, height, _, kind = struct.unpack(">IIBB", data[16:26])
    size = struct.unpack(">I", data[33:37])[0]
    lines = np.frombuffer(zlib.decompress(data[41 : 41 + size]), np.uint8).reshape(height, -1)
    assert (lines[:, 0] == 0).all()
    channels = {0: 1, 2: 3, 6: 4}[kind]
    return lines[:, 1:].reshape((height, width, channels) if channels > 1 else (height, width))


def test_pictures_are_png_files():
    assert png(np.zeros((2, 3, 3), np.uint8)).startswith(b"\x89PNG\r\n\x1a\n")
    image = decoded(weight_picture(np.array([1.0, -1.0, 0.0, 0.5]), (2, 2, 1), 1.0))
    assert image[0, 0].tolist() == [0, 114, 178, 255]  # for: blue
    assert image[0, 1].tolist() == [213, 94, 0, 255]  # against: orange
    assert image[1, 0, 3] == 0
    assert 0 < image[1, 1, 3] < 255


def test_only_images_are_taken_for_images():
    rng = np.random.default_rng(0)
    assert picture_shape(load_digits().data, {}) == (8, 8, 1)
    assert picture_shape(rng.random((100, 64)), {}) is None
    assert picture_shape(X, {}) is None
    assert picture_shape(rng.random((5, 48)), {"shape": (4, 4, 3)}) == (4, 4, 3)


def test_an_unfitted_contest_is_refused(tmp_path):
    with pytest.raises(NotFittedError):
        write_report(tmp_path / "report.html", TryThemAll())
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("family", ["kernel SVM", "k-NN, kernel"])
@pytest.mark.parametrize("trees", [False, True])
def test_models_of_strings_and_trees(family, trees, tmp_path):
    """Prototypes and neighbors by the kernel; no plane to draw regions on."""
    rng = np.random.default_rng(0)
    letters = np.array([[a, b, c] for a in "abcd" for b in "efgh" for c in "ijkl"])[rng.permutation(64)]
    items = [f"(S (NP {a}) (VP (V {b}) (NP {c})))" if trees else f"{a}x{b}y{c}z" for a, b, c in letters]
    y = np.where(letters[:, 0] == "a", "yes", "no")
    contest = TryThemAll(include=[family], progress="silent").fit(items, y)
    facts = write_report(tmp_path / "report.html", contest, contest.open_test())
    assert (tmp_path / "report.html").stat().st_size < 1_000_000
    assert facts["looks_at"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_tables_of_numbers_and_dates(library, tmp_path):
    """Integers, dates, strings and fractions have no type in common; the page shows each as it is."""
    frames = pytest.importorskip(library)
    rng = np.random.default_rng(0)
    n = 60
    table = frames.DataFrame(
        {
            "count": np.arange(n) % 7,
            "day": np.datetime64("2012-01-01", "ns") + (np.arange(n) % 28).astype("timedelta64[D]"),
            "code": [f"{i % 5:03d}" for i in range(n)],
            "price": rng.normal(size=n),
        }
    )
    contest = TryThemAll("quick", include="logistic, L2", progress="silent").fit(table, rng.integers(0, 2, n))
    contest.open_test()
    facts = write_report(tmp_path / "report.html", contest, contest.open_test(), source={})
    assert "2012-01-" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert facts
