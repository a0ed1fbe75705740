"""Long work ends when it is not wanted any more. Moments are counted in checkpoints: no test looks at a clock."""

import json
import signal
import subprocess
import sys
import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.exceptions import NotFittedError

from nearline import Index, TryThemAll, _core, check
from nearline._parallel import tiles
from nearline._parallel.stopping import Deadline, OutOfTime, Stop, Stopped, checkpoint, current, heeding
from nearline.cli import _signals
from nearline.kernels import RBF
from nearline.neighbors import exact
from nearline.selection import budget as budgets
from nearline.selection.families import FAMILIES, Fold
from nearline.selection.last_fit import last_fit
from nearline.selection.try_all import InterruptedFitWarning
from nearline.solvers import smo as smo_module
from nearline.solvers.smo import Problem, certificates, smo

LEFT = ("leaderboard.csv", "result.json", "journal.jsonl")  # by every contest


class Counted(Stop):
    """Raises at the so-manieth checkpoint; counts them."""

    def __init__(self, at=float("inf"), error=Stopped):
        super().__init__()
        self.at, self.error, self.count, self.lock = at, error, 0, threading.Lock()

    def check(self):
        with self.lock:
            self.count += 1
            late = self.count >= self.at
        if late:
            self.at = float("inf")  # who goes on after it is not stopped again
            raise self.error


def rows_of(n=240, d=5, classes=3):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=(d, classes)) + 0.5 * rng.normal(size=(n, classes))).argmax(axis=1)


def test_a_stop_ends_the_work_under_it_and_what_is_under_that():
    outer = Stop()
    with heeding(outer):
        inner = Stop()
        with heeding(inner):
            checkpoint()
            outer.request()
            with pytest.raises(Stopped):
                checkpoint()
        with heeding(None):
            checkpoint()
    assert current() is None
    checkpoint()


def test_a_deadline_comes_by_itself(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("nearline._parallel.stopping.monotonic", lambda: now[0])
    deadline, never = Deadline(5.0), Deadline(None)
    now[0] = 5.0
    deadline.check()
    now[0] = 5.1
    never.check()
    with pytest.raises(OutOfTime):
        deadline.check()


def test_threads_heed_what_the_call_heeds():
    before, done = _core.thread_limit(), []
    _core.set_thread_limit(2)
    try:
        with heeding(Counted(6, OutOfTime)), pytest.raises(OutOfTime):
            tiles.map_tiles(lambda item: done.extend(tiles.steps(range(100))), [0, 1], work=1e9)
    finally:
        _core.set_thread_limit(before)
    assert not done or len(done) < 200


@pytest.mark.parametrize("name", [name for name in FAMILIES if "numbers" in FAMILIES[name].takes])
def test_every_family_can_be_stopped(name):
    """A checkpoint a candidate at least, but for those that take one pass over the rows."""
    X, y = rows_of(4200 if "low-rank" in name else 240)
    X = np.abs(X) if "multinomial" in name else X
    family, m = FAMILIES[name], len(X) - 100
    fold = Fold(X[:m], y[:m], None, X[m:], np.arange(3))
    if family.refuses(fold) is not None:
        pytest.skip("not for these rows")
    grid = family.grid(fold, "quick")
    counted = Counted()
    with warnings.catch_warnings(), heeding(counted):
        warnings.simplefilter("ignore")
        whole = [outcome.predictions.labels for outcome in family.outcomes(fold, grid)]
    one_pass = name.startswith(("majority", "nearest", "naive", "linear disc", "perceptron", "kernel least"))
    assert counted.count >= (0 if one_pass else 1)
    if counted.count:
        with warnings.catch_warnings(), heeding(Counted(counted.count)):
            warnings.simplefilter("ignore")
            with pytest.raises(Stopped):
                list(family.outcomes(fold, grid))
    again = [outcome.predictions.labels for outcome in family.outcomes(fold, grid)]
    for one, other in zip(whole, again, strict=True):  # what was stopped leaves nothing behind
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("metric", ["l2", "l1", "cosine", "l-infinity"])
@pytest.mark.parametrize("kind", ["rows", "bytes", "sparse", "groups", "few"])
def test_searches_in_slices_are_the_same(metric, kind, monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 4, size=(100 if kind == "few" else 700, 30)).astype(float)
    X = X + 0.25 * (kind == "rows")
    rows = csr_matrix(X) if kind == "sparse" and metric == "cosine" else X
    groups = (np.arange(400) % 5, np.arange(len(X)) % 5) if kind == "groups" else None
    queries = rows[:400] if len(X) >= 400 else np.repeat(rows, 4, axis=0)

    def found():
        given = None if groups is None else groups
        return Index(rows, metric).search(queries, 7, groups=given)

    whole = found()
    monkeypatch.setattr(exact, "PAIRS", 1.0)
    before = _core.thread_limit()
    _core.set_thread_limit(1)
    try:
        counted = Counted()
        with heeding(counted):
            sliced = found()
    finally:
        _core.set_thread_limit(before)
    assert counted.count >= 6
    np.testing.assert_array_equal(sliced.distances, whole.distances)
    np.testing.assert_array_equal(sliced.indices, whole.indices)
    np.testing.assert_array_equal(sliced.boundary.starts, whole.boundary.starts)
    np.testing.assert_array_equal(sliced.boundary.values, whole.boundary.values)


def test_smo_in_slices_ends_at_the_same_tolerance(monkeypatch):
    X, y = rows_of(200, classes=2)
    K, signs = RBF(0.3)(X), 2.0 * y - 1.0
    steps = {}
    for work in (1e8, 0.0):
        monkeypatch.setattr(smo_module, "WORK", work)
        monkeypatch.setattr(smo_module, "FEWEST_STEPS", 20)
        problem, counted = Problem.new(np.arange(200), signs, np.full(200, 10.0)), Counted()
        with heeding(counted):
            ((violation, steps[work]),) = smo(K, [problem], tol=1e-3)
        assert violation <= 1e-3
        assert certificates([problem])[0].gap < 1e-2
        np.testing.assert_allclose(problem.F, K @ problem.beta - signs, atol=1e-9)
    assert counted.count > 3
    ((_, few),) = smo(K, [Problem.new(np.arange(200), signs, np.full(200, 10.0))], tol=1e-3, max_iter=30)
    assert few == 30


QUICK = ["majority", "nearest centroid", "k-NN, L2", "logistic, L2"]


def contest_of(**options):
    return TryThemAll(**{"preset": "quick", "include": QUICK, "progress": "silent", "folds": 3} | options)


@pytest.mark.parametrize("share", [0.1, 0.4, 0.7, 0.95])
def test_interrupted_at_any_moment_keeps_what_has_finished(share, monkeypatch):
    monkeypatch.setattr("nearline.selection.try_all.GRACE", 1e6)
    monkeypatch.setattr("nearline.selection.last_fit.GRACE", 1e6)
    X, y = rows_of()
    whole, counted = contest_of(), Counted()
    with heeding(counted):
        whole.fit(X, y)
    known = {(str(e), e.representation): e.scores["accuracy"] for e in whole.leaderboard_}
    short = contest_of()
    with warnings.catch_warnings(), heeding(Counted(int(share * counted.count), KeyboardInterrupt)):
        warnings.simplefilter("ignore", InterruptedFitWarning)
        try:
            short.fit(X, y)
        except KeyboardInterrupt:  # nothing had finished
            assert share < 0.3
            return
    assert short.interrupted_
    assert len(short.leaderboard_) > 0
    for entry in short.leaderboard_:
        np.testing.assert_array_equal(entry.scores["accuracy"], known[str(entry), entry.representation])


def test_what_would_take_long_is_not_fitted_after_ctrl_c(monkeypatch):
    monkeypatch.setattr("nearline.selection.last_fit.GRACE", -1.0)
    X, y = rows_of()
    contest = contest_of(include=["logistic, L2"]).fit(X, y)
    assert contest.has_model
    attempt = contest_module().Contest._go_on

    def interrupted(self, unit, *rest):
        attempt(self, unit, *rest)
        raise KeyboardInterrupt

    monkeypatch.setattr(contest_module().Contest, "_go_on", interrupted)
    with pytest.warns(InterruptedFitWarning, match="was not fitted. The leaderboard is kept"):
        contest.fit(X, y)
    assert contest.interrupted_
    assert not contest.has_model
    assert len(contest.leaderboard_) > 3
    with pytest.raises(NotFittedError):
        contest.predict(X)
    assert contest.estimator(contest.chosen_).fit(X, y).score(X, y) > 0.8


def contest_module():
    from nearline.selection import contest

    return contest


def test_a_winner_that_is_late_is_replaced_by_one_that_is_quick():
    X, y = rows_of()
    board = contest_of().fit(X, y).leaderboard_
    best, second, third = list(board)[:3]
    tried = []

    def fit(entry):
        tried.append(entry)
        if entry is best:
            raise OutOfTime
        return f"fitted {entry}"

    seconds = {id(best): 7.0, id(second): 6.0, id(third): 0.1}
    some = [(entry, seconds[id(entry)]) for entry in (best, second, third)]
    found = last_fit(fit, best, some, budgets.Budget(1.0))
    assert tried == [best, third]
    assert found.model == f"fitted {third}"
    assert f"{third} was fitted in its place" in found.findings[0].message
    hopeless = [(best, 70.0), *some[1:]]  # it is not even begun
    assert last_fit(fit, best, hopeless, budgets.Budget(1.0)).entry is third
    assert tried == [best, third, third]
    slow = last_fit(fit, best, some[:2], budgets.Budget(1.0))  # none is quick: the quickest
    assert slow.entry is second
    with pytest.raises(OutOfTime):
        last_fit(fit, best, some[:1], budgets.Budget(1.0))


def test_time_is_kept_for_the_last_fit():
    budget = budgets.Budget(100.0)
    budget.reserve(30.0)
    assert 60.0 < budget.left <= 70.0
    endless = budgets.Budget(None)
    endless.reserve(30.0)
    assert endless.left == np.inf


def test_a_limit_that_leaves_no_time_says_so(monkeypatch):
    monkeypatch.setattr(budgets, "PATIENCE", -1.0)
    with pytest.raises(
        ValueError, match=r"No candidate could be finished on all folds within the time limit of 1e-09 s"
    ):
        contest_of(time_limit=1e-9).fit(*rows_of())


def test_representations_that_are_late_are_skipped(monkeypatch):
    monkeypatch.setattr(budgets, "LOOKING", -1.0)
    monkeypatch.setattr(budgets, "CHECKING", -1.0)
    texts = [f"a text with number {i} and {'good' if i % 2 else 'bad'} words" for i in range(60)]
    contest = contest_of(include=["majority", "naive Bayes, multinomial"], time_limit=1e6)
    contest.set_params(preset="default").fit(texts, np.arange(60) % 2)
    late = [one for one in contest.leaderboard_.skipped if one.family == "all families"]
    assert [one.representation for one in late] == ["characters", "words-and-runs"]
    assert {one.reason for one in late} == {"the time limit had passed"}
    assert {entry.representation for entry in contest.leaderboard_} == {"words"}
    left = [one for one in contest.findings_ if one.name == "checks-left-out"]
    assert len(left) == 1


def test_a_further_representation_that_is_dear_is_not_begun(monkeypatch):
    from nearline.selection.fold_data import FoldData

    begun, made = [], FoldData._made
    monkeypatch.setattr(FoldData, "_made", lambda self, way: begun.append(way.name) or made(self, way))
    monkeypatch.setattr(FoldData, "seconds_to_make", lambda self, way, like=None: 50.0 if like else 0.0)
    frame = pd.DataFrame({"a": rows_of(60)[0][:, 0], "b": ["x", "y", "z"] * 20})
    contest = contest_of(
        include=["majority", "nearest centroid"], time_limit=100, preset="default", beside=None
    )
    contest.fit(frame, np.arange(60) % 2)
    (late,) = contest.leaderboard_.skipped
    assert (late.family, late.representation, late.late) == ("all families", "table-minmax", True)
    assert late.reason.startswith("its folds would take about 50 s, too much of the ")
    assert set(begun) == {"table"}


def test_what_the_time_left_cannot_finish_is_not_begun(monkeypatch):
    from nearline.selection.forecast import Forecast

    slow = {"k-NN, L2": 1e9}
    monkeypatch.setattr(Forecast, "expected", lambda self, unit: slow.get(unit.family.name, 0.0))
    contest = contest_of(time_limit=1e6).fit(*rows_of())
    (late,) = contest.leaderboard_.skipped
    assert (late.family, late.late) == ("k-NN, L2", True)
    assert "it would take about 1000000000 s" in late.reason
    assert {entry.family for entry in contest.leaderboard_} == set(QUICK) - set(slow)


def test_checks_that_are_late_are_named():
    X, y = rows_of()
    with heeding(Counted(4, OutOfTime)):
        found = check(X, y)
    assert [one.name for one in found] == ["checks-left-out"]
    assert "rare-class" in found[0].message


def test_the_first_signal_interrupts_and_the_second_ends():
    before = signal.getsignal(signal.SIGTERM)
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        with _signals.heeded() as heard:
            if signal.getsignal(number) is signal.SIG_IGN:
                continue
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(number)
            assert heard.exit_code(130) == code
            assert heard.exit_code(1) == 1
            with pytest.raises(SystemExit) as end:
                signal.raise_signal(signal.SIGTERM)
            assert end.value.code == 143
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_signal_in_code_of_a_string_keeps_the_exit_code(tmp_path):
    """As in imports, which run some: Python would end by SIGINT."""
    program = """if True:
        import signal, sys
        from nearline.cli import _signals
        with _signals.heeded() as heard:
            try:
                exec("signal.raise_signal(signal.SIGTERM)")
            except KeyboardInterrupt:
                sys.exit(heard.exit_code(130))
    """
    (tmp_path / "stopped.py").write_text(program)
    assert subprocess.run([sys.executable, "-m", "stopped"], cwd=tmp_path).returncode == 143


@pytest.mark.parametrize("at", [2, 3, 5])
def test_sigterm_keeps_what_ctrl_c_keeps(at, tmp_path, capsys, monkeypatch):
    from nearline.cli._run import run

    Contest, tried = contest_module().Contest, []
    attempt = Contest._attempt

    def stopped(self, unit, *rest):
        tried.append(unit)
        if len(tried) == at:
            signal.raise_signal(signal.SIGTERM)
        attempt(self, unit, *rest)

    monkeypatch.setattr(Contest, "_attempt", stopped)
    monkeypatch.setattr("nearline.cli._ending.MOMENT", 1e6)
    monkeypatch.setattr("nearline.selection.last_fit.GRACE", 1e6)
    out, data = tmp_path / "out", table_in(tmp_path)
    assert run(["try", data, "-t", "y", "--preset", "quick", "--folds", "3", "-q", "--out", str(out)]) == 143
    result = json.loads((out / "result.json").read_text())
    assert result["interrupted"]
    assert result["fitted"]
    assert result["candidates"] > 0
    assert result["left_out"] == []
    names = {*LEFT, "report.html", "model.nearline"}
    assert {path.name for path in out.iterdir()} == names
    assert "interrupted: what had finished is shown" in capsys.readouterr().out


def test_a_signal_that_leaves_no_time_for_the_last_fit_keeps_the_leaderboard(tmp_path, capsys, monkeypatch):
    from nearline.cli._run import run

    monkeypatch.setattr("nearline.selection.last_fit.GRACE", -1.0)
    monkeypatch.setattr(contest_module().Contest, "_go_on", lambda *_: signal.raise_signal(signal.SIGTERM))
    out = tmp_path / "out"
    fast = ["--preset", "quick", "--include", "logistic", "--folds", "3", "-q", "--out", str(out)]
    assert run(["try", table_in(tmp_path), "-t", "y", *fast]) == 143
    assert {path.name for path in out.iterdir()} == set(LEFT)
    assert json.loads((out / "result.json").read_text())["fitted"] is False
    assert "for a model try again with --include 'logistic, L2'" in capsys.readouterr().out


def table_in(folder):
    X, y = rows_of(120)
    lines = [",".join([*(f"{value:.4f}" for value in row), f"class{c}"]) for row, c in zip(X, y, strict=True)]
    path = folder / "rows.csv"
    path.write_text("a,b,c,d,e,y\n" + "\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize("moment", ["open_test", "write_report"])
def test_a_signal_after_the_contest_loses_nothing_but_the_rest(moment, tmp_path, monkeypatch):
    import nearline.report
    from nearline.cli._run import run

    def stopped(*_, **__):
        signal.raise_signal(signal.SIGTERM)

    place = {"open_test": TryThemAll, "write_report": nearline.report}[moment]
    monkeypatch.setattr(place, moment, stopped)
    monkeypatch.setattr("nearline.cli._ending.MOMENT", -1.0)
    out = tmp_path / "out"
    fast = ["--preset", "quick", "--include", "logistic", "--folds", "3", "-q", "--out", str(out)]
    assert run(["try", table_in(tmp_path), "-t", "y", *fast]) == 143
    assert {path.name for path in out.iterdir()} == {*LEFT, "model.nearline"}
    left_out = json.loads((out / "result.json").read_text())["left_out"]
    assert left_out == (["the test", "the report"] if moment == "open_test" else ["the report"])


def test_a_forecast_learns_from_what_units_took():
    """A machine eleven times slower than the model thinks, and one family four times slower still."""
    from types import SimpleNamespace

    from nearline.selection.forecast import FURTHER, Forecast

    now = [0.0]
    units = [SimpleNamespace(family=SimpleNamespace(name=f"f{i // 2}"), seconds=2.0) for i in range(8)]
    true = [44.0 if unit.family.name == "f1" else 11.0 for unit in units]
    forecast = Forecast(units, lambda: now[0])
    assert forecast.share() == 0.0  # nobody can know
    for i, unit in enumerate(units):
        forecast.begin()
        now[0] += true[i]
        forecast.done(unit)
        if i in (2, 3, 6):  # one of the slow family was met
            left = sum(true[i + 1 :]) + FURTHER * sum(true)
            assert 0.5 < forecast.left() / left < 2.0
            assert forecast.share() == now[0] / (now[0] + forecast.left())
    assert forecast.further(1.0) == 1.0


def test_a_forecast_counts_folds_by_themselves():
    """The first unit waits for folds; the others are not expected to take as long, but for the folds of another kind."""
    from types import SimpleNamespace

    from nearline.selection.forecast import FURTHER, Forecast

    now, folds = [0.0], SimpleNamespace(making=0.0, seconds_for=lambda ways: 7.0 if "b" in ways else 0.0)
    ways = ["a", "a", "a", "b"]
    units = [SimpleNamespace(family=SimpleNamespace(name=w), seconds=2.0, representation=w) for w in ways]
    forecast = Forecast(units, lambda: now[0], folds)
    forecast.begin()
    now[0], folds.making = 52.0, 50.0
    forecast.done(units[0])
    assert forecast.left() == pytest.approx(7.0 + 6.0 + FURTHER * 8.0)
    forecast.left_out(units[3])
    assert forecast.left() == pytest.approx(4.0 + FURTHER * 6.0)


def test_what_has_no_time_is_said_with_numbers_that_explain_it():
    from nearline.selection.usable import LATE, too_long

    assert too_long("it", 0.04, 0.02) == LATE
    assert (
        too_long("it", 0.4, 0.2)
        == "it would take about 0.4 s, more than the 0.2 s that the time limit leaves"
    )
    assert (
        too_long("it", 50, 80) == "it would take about 50 s, too much of the 80 s that the time limit leaves"
    )


def test_the_first_family_that_looks_at_the_rows_may_be_late(monkeypatch):
    """The answers without a look at them are no result of a contest."""
    monkeypatch.setattr(budgets, "PATIENCE", 1e6)
    contest = contest_of(include=["majority", "nearest centroid", "least squares"], time_limit=1e-9)
    contest.fit(*rows_of())
    assert {entry.family for entry in contest.leaderboard_} == {"majority", "nearest centroid"}


def test_a_last_fit_that_would_be_late_does_without_calibration_and_is_not_trivial(monkeypatch):
    from nearline.selection.contest import Contest

    monkeypatch.setattr(Contest, "seconds_to_fit", lambda self, unit, number: 600.0)
    monkeypatch.setattr(budgets, "PATIENCE", -600.0)
    contest = contest_of(include=["majority", "nearest centroid"], time_limit=1000, calibrate="needed")
    contest.fit(*rows_of())
    assert contest.chosen_.family == "nearest centroid"
    assert contest.calibration_ is None
    (said,) = [one for one in contest.findings_ if one.name == "time-limit"]
    assert "no time to calibrate" in said.message


def test_nothing_is_said_of_time_before_it_is_known(capsys, monkeypatch):
    monkeypatch.setattr("nearline.selection.progress.QUIET", 0.0)
    contest_of(progress="lines").fit(*rows_of())
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "1 of 4: majority on standardized"
    assert not any("left" in line for line in lines[:4])
    assert "\x1b" not in "".join(lines)


def test_the_bar_is_drawn_by_commands_that_the_terminal_gets(monkeypatch):
    import io

    from nearline.cli._shown import door
    from nearline.selection.progress import Bar

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr("sys.stderr", screen)
    with door():
        bar = Bar()
        bar.begin()
        bar.advance(0.0, "1 of 2: one\x1b[2J")
        bar.end()
    assert "\x1b[" in screen.getvalue()  # of the bar
    assert "\\x1b[2J" in screen.getvalue()  # of the name: written out
    assert "\\x1b[0m" not in screen.getvalue()
