"""The journal of a contest: what finished is kept, and a contest that goes on has the bits of one that never stopped."""

import errno
import json
import os
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

from nearline import ParameterError, Split, TryThemAll
from nearline._atomic import lines as lines_module
from nearline._atomic.lines import DamagedLinesError, Lines
from nearline._atomic.whole import WriteError
from nearline.cli._run import run
from nearline.selection.families import FAMILIES, THOROUGH, Fold
from nearline.selection.journal import JournalError

X, Y = load_iris(return_X_y=True)
FEW = ("majority", "nearest centroid", "k-NN, L2", "logistic, L2")


def contest(path=None, **options):
    options = {"preset": "quick", "include": FEW, "progress": "silent", "folds": 3, "journal": path} | options
    return TryThemAll(**options)


def plain(fitted, *, timed=False):
    """All that the leaderboard says of every candidate, but for seconds, which no two runs share."""
    records = fitted.leaderboard_.records()
    return [{k: v for k, v in one.items() if timed or "seconds" not in k} for one in records]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A contest that was never interrupted, and its journal."""
    path = tmp_path_factory.mktemp("whole") / "journal"
    return contest(path).fit(X, Y), path.read_bytes()


def test_a_journal_changes_nothing(whole):
    assert plain(contest().fit(X, Y)) == plain(whole[0])


def test_what_is_known_is_not_fitted_again(whole, tmp_path, monkeypatch):
    path = tmp_path / "journal"
    path.write_bytes(whole[1])
    for family in {type(FAMILIES[name]) for name in FEW}:
        monkeypatch.setattr(family, "outcomes", None)
    again = contest(path).fit(X, Y)
    assert plain(again, timed=True) == plain(whole[0], timed=True)
    np.testing.assert_array_equal(again.predict(X), whole[0].predict(X))
    assert path.read_bytes() == whole[1]


def test_cut_anywhere_it_goes_on_to_the_same_bits(whole, tmp_path):
    path, data = tmp_path / "journal", whole[1]
    for cut in np.random.default_rng(0).integers(0, len(data), 12):
        path.write_bytes(data[:cut])
        assert plain(contest(path).fit(X, Y)) == plain(whole[0])
        assert sorted(_at(path.read_bytes())) == sorted(_at(data))


def _at(data):
    return [json.dumps(json.loads(line[9:]).get("at")) for line in data.splitlines()]


def test_a_larger_preset_goes_on(whole, tmp_path):
    path = tmp_path / "journal"
    path.write_bytes(whole[1])
    larger = contest(path, preset="default").fit(X, Y)
    assert plain(larger) == plain(contest(preset="default").fit(X, Y))
    assert path.read_bytes().startswith(whole[1])


def test_a_kill_loses_nothing_that_was_finished(whole, tmp_path):
    """SIGKILL in the middle of a family; the process that goes on runs only the rest."""
    path = tmp_path / "journal"
    code = f"""
import os, signal
from sklearn.datasets import load_iris
from nearline import TryThemAll
from nearline.selection.families.paths import Path
run, folds = Path.outcomes, []
def outcomes(self, fold, grid):
    folds.append(1)
    if len(folds) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return run(self, fold, grid)
Path.outcomes = outcomes
TryThemAll("quick", include={FEW!r}, progress="silent", folds=3, journal={str(path)!r}).fit(*load_iris(return_X_y=True))
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    kept = path.read_bytes()
    assert 0 < len(kept) < len(whole[1])
    assert plain(contest(path).fit(X, Y)) == plain(whole[0])
    assert path.read_bytes().startswith(kept)


def test_ctrl_c_then_fit_again(whole, tmp_path):
    path, own = tmp_path / "journal", Stopping(["now"])
    first = contest(path, own={"stopping": own}, include=[*FEW, "stopping"])
    assert first.fit(X, Y).interrupted_
    own.signals.clear()
    again = contest(path, own={"other": GaussianNB()}, include=[*FEW, "other"]).fit(X, Y)
    assert not again.interrupted_
    others = [one for one in plain(again) if one["family"] != "other"]
    for one in [*others, *(known := plain(whole[0]))]:
        one["rank"], one["not distinguishable from best"] = 0, None
    assert others == known


class Stopping(ClassifierMixin, BaseEstimator):
    """Presses Ctrl-C while there are signals."""

    def __init__(self, signals):
        self.signals = signals

    def fit(self, X, y):
        if self.signals:
            raise KeyboardInterrupt
        return self


class Counting(GaussianNB):
    """Counts its fits."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        Counting.fits += 1
        return super().fit(X, y, sample_weight)


def test_own_classifiers_are_known_by_class_and_parameters(tmp_path):
    path, counts = tmp_path / "journal", []
    for smoothing in (1e-9, 1e-9, 1e-2):
        Counting.fits = 0
        contest(path, own={"mine": Counting(var_smoothing=smoothing)}, include="mine").fit(X, Y)
        counts.append(Counting.fits)
    assert counts == [4, 1, 4]  # three folds and the last fit; the last fit alone


class Warning_(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        warnings.warn("half a warning", UserWarning, stacklevel=2)
        return super().fit(X, y, sample_weight)


def test_warnings_are_kept_with_the_candidates(tmp_path):
    options = {"own": {"loud": Warning_()}, "include": "loud", "journal": tmp_path / "journal"}
    with pytest.warns(UserWarning, match="half a warning"):  # of the last fit
        found = [contest(**options).fit(X, Y).leaderboard_[0].note for _ in range(2)]
    assert found == ["half a warning"] * 2


@pytest.mark.parametrize(
    ("options", "differs"),
    [
        ({"random_state": 1}, "the training rows or their labels, the folds differ"),
        ({"folds": 4}, "the folds differ"),
        ({"scoring": "log-loss"}, "the scores differ"),
        ({"class_weight": "balanced"}, "the class weights differ"),
    ],
)
def test_a_journal_of_another_contest_is_refused(options, differs, whole, tmp_path):
    path = tmp_path / "journal"
    path.write_bytes(whole[1])
    with pytest.raises(
        JournalError, match=rf"is the journal of another contest: {differs}\. Name another file"
    ):
        contest(path, **options).fit(X, Y)
    assert path.read_bytes() == whole[1]


def test_other_data_weights_and_versions_are_refused(whole, tmp_path, monkeypatch):
    path, other = tmp_path / "journal", X.copy()
    path.write_bytes(whole[1])
    other[whole[0]._train[0], 0] += 1e-9
    with pytest.raises(JournalError, match="the training rows or their labels differ"):
        contest(path).fit(other, Y)
    with pytest.raises(JournalError, match="the sample weights differ"):
        contest(path).fit(X, Y, sample_weight=np.ones(len(Y)))
    monkeypatch.setattr("nearline.__version__", "0.0.0")
    with pytest.raises(JournalError, match="the version of nearline differ"):
        contest(path).fit(X, Y)


def test_other_files_are_not_written_over(whole, tmp_path):
    for data in (b"a,b\n1,2\n", b"one line without an end", whole[1].replace(b"right", b"wrong", 1)):
        path = tmp_path / "file"
        path.write_bytes(data)
        with pytest.raises(JournalError, match=r"is no journal: line [12] is none that nearline wrote"):
            contest(path).fit(X, Y)
        assert path.read_bytes() == data
    with pytest.raises(JournalError, match="it is a folder"):
        contest(tmp_path).fit(X, Y)
    with pytest.raises(ParameterError, match="journal must be the path of a file, got 3"):
        contest(3).fit(X, Y)


def test_valid_lines_that_are_no_records_are_refused(whole, tmp_path):
    path = tmp_path / "journal"
    path.write_bytes(whole[1].splitlines(keepends=True)[0] + lines_module._framed({"at": []}))
    with pytest.raises(JournalError, match="is no journal that nearline wrote"):
        contest(path).fit(X, Y)


def test_a_full_disk_ends_the_journal_and_nothing_else(whole, tmp_path, monkeypatch):
    path, write, written = tmp_path / "journal", os.write, []

    def full(handle, data):
        written.append(len(data))
        if sum(written) > 3000:
            write(handle, bytes(data)[:20])
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(handle, data)

    monkeypatch.setattr(lines_module.os, "write", full)
    fitted = contest(path).fit(X, Y)
    assert plain(fitted) == plain(whole[0])
    (finding,) = [one for one in fitted.findings_ if one.name == "journal"]
    assert "cannot be written (No space left on device): free some space" in finding.message
    monkeypatch.undo()
    assert plain(contest(path).fit(X, Y)) == plain(whole[0])


def test_a_journal_with_nothing_in_it_is_removed(tmp_path):
    path = tmp_path / "journal"
    with pytest.raises(ValueError, match="No family could be tried"):
        contest(path, include="multinomial").fit(X - 100.0, Y)
    assert not path.exists()


def test_one_process_writes_at_a_time(tmp_path):
    first = Lines(tmp_path / "lines")
    first.add({"a": 1})
    with pytest.raises(WriteError, match="is being written by another process"):
        Lines(tmp_path / "lines")
    first.close()
    again = Lines(tmp_path / "lines")
    assert again.found == [{"a": 1}]
    again.close()


def test_a_damaged_line_in_the_middle_is_no_torn_one(tmp_path):
    path = tmp_path / "lines"
    path.write_bytes(b"".join(map(lines_module._framed, ({"a": 1}, {"a": 2}))).replace(b'"a":1', b'"a":3'))
    with pytest.raises(DamagedLinesError, match="line 1"):
        Lines(path)


def test_nested_folds_have_journals_of_their_own(tmp_path):
    path = tmp_path / "journal"
    options = {"folds": None, "split": Split(folds=2, nested=True), "include": "nearest centroid"}
    first, again = (contest(path, **options).fit(X, Y) for _ in range(2))
    assert sorted(one.name for one in tmp_path.iterdir()) == ["journal", "journal.fold-1", "journal.fold-2"]
    np.testing.assert_array_equal(first.nested_["accuracy"], again.nested_["accuracy"])


@pytest.mark.parametrize(
    "family", [one for one in [*FAMILIES.values(), *THOROUGH] if not one.warm], ids=lambda one: one.name
)
def test_candidates_of_a_family_that_is_not_warm_have_the_same_bits_in_any_company(family):
    """So that the journal may give some, and the others run alone."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 4)) if "numbers" in family.takes else np.eye(60) + 0.1
    codes = rng.integers(0, 3, 60)
    fold = Fold(rows, codes, None, rows[:20], np.arange(3), "numbers" not in family.takes, np.full(20, 1.1))
    if family.name in ("naive Bayes, multinomial",):
        fold = Fold(np.abs(rows), codes, None, np.abs(rows[:20]), np.arange(3))
    grid = family.grid(fold, "default")
    together = {one.number: one for one in family.outcomes(fold, grid)}
    for number in {0, len(grid) // 2, len(grid) - 1}:
        (alone,) = family.outcomes(fold, [grid[number]])
        np.testing.assert_array_equal(alone.predictions.labels, together[number].predictions.labels)
        if alone.predictions.scores is not None:
            np.testing.assert_array_equal(alone.predictions.scores, together[number].predictions.scores)
        if alone.predictions.probabilities() is not None:
            np.testing.assert_array_equal(
                alone.predictions.probabilities(), together[number].predictions.probabilities()
            )


# -- the command line ------------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = ["a,b,c,d,kind", *(",".join(map(str, row)) + f",k{label}" for row, label in zip(X, Y))]
    (tmp_path / "iris.csv").write_text("\n".join(lines) + "\n")
    return ["try", "iris.csv", "-t", "kind", "--preset", "quick", "--include", "k-NN,logistic", "-q"]


def test_try_keeps_its_journal_in_the_folder(table, tmp_path):
    assert run(table) == 0
    assert {one.name for one in tmp_path.iterdir()} == {"iris.csv", "nearline-out"}
    board = (tmp_path / "nearline-out" / "leaderboard.csv").read_bytes()
    assert run([*table, "--resume"]) == 0  # all is known: the same seconds too
    assert (tmp_path / "nearline-out" / "leaderboard.csv").read_bytes() == board


def test_journals_of_a_nested_contest_end_with_it(table, tmp_path):
    stale = tmp_path / "nearline-out.journal.fold-1"
    stale.write_text("of an earlier contest")
    assert run([*table, "--nested", "--force"]) == 0
    assert {one.name for one in tmp_path.iterdir()} == {"iris.csv", "nearline-out"}


def test_resume_after_an_end_that_was_not_wanted(table, tmp_path, capsys):
    assert run(table) == 0
    made, beside = tmp_path / "nearline-out", tmp_path / "nearline-out.journal"
    result = json.loads((made / "result.json").read_text())
    data = (made / "journal.jsonl").read_bytes()
    for one in made.iterdir():
        one.unlink()
    made.rmdir()
    beside.write_bytes(data[: len(data) // 2])
    assert run(table) == 1
    assert "is the journal of a contest that did not end: --resume goes on with it" in capsys.readouterr().err
    assert run([*table, "--resume"]) == 0
    again = json.loads((made / "result.json").read_text())
    assert again["cross_validation"] == result["cross_validation"]
    assert again["test"] == result["test"]
    assert not beside.exists()


def test_resume_is_refused_for_other_settings_and_begins_without_a_journal(table, tmp_path, capsys):
    assert run([*table, "--resume"]) == 0
    assert "there is no journal to resume from" in capsys.readouterr().err
    assert run([*table, "--resume", "--folds", "3"]) == 1
    assert "the folds differ. Give another --out" in capsys.readouterr().err


def test_without_a_place_for_the_journal_there_is_a_note(table, capsys, monkeypatch):
    def refused(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("nearline.cli._journal._prepare", refused)
    assert run(table) == 0
    assert "no journal is kept" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (("candidates", 0, "scores"), []),
        (("candidates", 0, "scores", 0), "0.9"),
        (("candidates", 0, "scores", 0), []),
        (("candidates", 0, "seconds"), []),
        (("candidates", 0, "size"), {}),
        (("candidates", 0, "note"), {"a": 1}),
        (("candidates", 0, "right"), ""),
        (("candidates", 0, "parameters"), 3),
        (("candidates", 0), None),
        (("said",), 0.5),
        (("at", 2), "7"),
        (("at",), []),
    ],
)
@pytest.mark.filterwarnings("ignore:column 4")  # a petal's width gives the class away
def test_lines_with_right_checksums_and_wrong_contents_are_refused(tmp_path, at, value):
    """Anybody can make a checksum: types and lengths are looked at, and the file can be used again afterwards."""
    path = tmp_path / "journal.jsonl"
    options = {
        "include": ["nearest centroid"],
        "folds": 2,
        "progress": "silent",
        "test": None,
        "journal": path,
    }
    TryThemAll("quick", **options).fit(X[::3], Y[::3])
    whole = path.read_bytes()
    lines = [lines_module._parsed(line + b"\n") for line in whole.splitlines()]
    place = lines[1]
    for key in at[:-1]:
        place = place[key]
    place[at[-1]] = value
    path.write_bytes(b"".join(map(lines_module._framed, lines)))
    with pytest.raises(ValueError, match="is no journal that nearline wrote"):
        TryThemAll("quick", **options).fit(X[::3], Y[::3])
    path.write_bytes(whole)
    TryThemAll("quick", **options).fit(X[::3], Y[::3])
