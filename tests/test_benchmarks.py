"""The benchmark harness itself, on tiny generated contests: no peers needed, nothing asserted about the clock."""

import json
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from benchmarks import __main__ as program  # noqa: E402
from benchmarks import report, results, their_models  # noqa: E402
from benchmarks.cache import Cache  # noqa: E402
from benchmarks.contests import CONTESTS, small, strings, trees, whole  # noqa: E402
from benchmarks.data import load  # noqa: E402
from benchmarks.fitters import Fitter  # noqa: E402
from benchmarks.harness import Contest, Entry, Heat, Options, Outcome, Session, Verdict, run_heat  # noqa: E402
from benchmarks.homes import HERE, SKLEARN, Home, Pool, TooSlow  # noqa: E402
from benchmarks.ours import Nearline  # noqa: E402
from benchmarks.peers import Liblinear, ScikitLearn, shrinking  # noqa: E402
from benchmarks.problems import LOSSES, Problem, Suboptimality  # noqa: E402
from benchmarks.trials import Trials, reference, suboptimality_heats  # noqa: E402

TINY = Problem("tiny", 120, "softmax", bias=True)


@dataclass(frozen=True)
class Descent(Fitter):
    """A peer without a library: plain gradient descent in NumPy, effort is the number of steps."""

    package: ClassVar[str] = "numpy"
    home: ClassVar[Home] = HERE
    effort_name: ClassVar[str] = "max_iter"
    integer_effort: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return "descent"

    @property
    def efforts(self) -> tuple[float, ...]:
        return (1.0, 10.0, 100.0, 1000.0)

    def prepare(self, problem: Problem) -> Any:
        split = problem.split()
        X = np.hstack([split.X, np.ones((len(split.X), 1))])
        return X, np.eye(problem.n_classes)[split.y], problem.alpha

    def fit(self, ready: Any, problem: Problem, effort: float) -> Any:
        X, Y, alpha = ready
        W = np.zeros((Y.shape[1], X.shape[1]))
        penalty = np.append(np.full(X.shape[1] - 1, alpha), 0.0)
        step = 1.0 / (0.5 * np.linalg.norm(X, 2) ** 2 / len(X) + alpha)
        for _ in range(int(effort)):
            P = np.exp(X @ W.T)
            P /= P.sum(axis=1, keepdims=True)
            W -= step * ((P - Y).T @ X / len(X) + penalty * W)
        return W

    def read(self, model: Any, problem: Problem) -> dict[str, Any]:
        return {"W": model[:, :-1], "b": model[:, -1]}


class ClosedPool(Pool):
    """Runs nothing: whatever is asked must come from the cache."""

    def call(self, home: Home, task: Any, limit: float) -> Any:
        raise AssertionError("the cache should have answered")


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    with Pool(apart=False) as pool:
        yield Session(Options(repeat=2), pool, Cache(tmp_path), lambda text: None)


def ended(seconds: float, error: float) -> Outcome:
    return Outcome(seconds, {"error": error})


def right(outcome: Outcome) -> Verdict:
    return Verdict(outcome.facts["error"] < 0.1, {"error": f"{outcome.facts['error']:.1f}"})


def fail() -> Outcome:
    raise ValueError("no such thing")


def test_a_faster_wrong_answer_is_not_counted(session: Session) -> None:
    entries = [
        Entry("ours", partial(ended, 2.0, 0.0), right, ours=True),
        Entry("slower", partial(ended, 6.0, 0.0), right),
        Entry("fast and wrong", partial(ended, 0.1, 1.0), right),
        Entry("broken", fail, right),
        Entry("missing", None, absent="it is not installed"),
        Entry("slow, known", fail, right, known=ended(50.0, 0.0)),
    ]
    rows = run_heat(Heat("tiny", "error < 0.1", entries), session)
    assert [row.ratio for row in rows] == [1.0, 3.0, None, None, None, 25.0]
    assert [row.runs for row in rows] == [2, 2, 2, 0, 0, 0]
    assert "no such thing" in rows[3].note
    done = report.Result("tiny", "error < 0.1", rows)
    best = done.best_peer()
    assert best is not None
    assert best.name == "slower"
    text = report.plain(done, "2x")
    assert text.count("not reached") == 3
    assert "it is not installed" in text
    assert "time from the cache" in text


def test_least_effort_is_found_and_kept(session: Session) -> None:
    known = reference(TINY, session)
    assert known.gap is not None
    assert known.gap <= 1e-9
    trials = Trials(Descent(), TINY, known, session)
    effort = trials.least_effort(1e-2)
    assert effort is not None
    assert trials.reaches(effort, 1e-2)
    assert not trials.reaches(1.0, 1e-2)
    assert trials.least_effort(1e-12) is None
    assert "best" in trials.nearest_miss()
    closed = replace(session, pool=ClosedPool())
    assert reference(TINY, closed) == known
    assert Trials(Descent(), TINY, known, closed).least_effort(1e-2) == effort


def test_a_contest_from_data_to_tables(session: Session, tmp_path: Path) -> None:
    def heats(session: Session) -> Iterator[Heat]:
        targets = (1e-1, 1e-3)
        yield from suboptimality_heats("tiny", TINY, [Nearline("float64")], [Descent()], targets, session)

    contest = Contest("tiny", "a tiny contest", "1x", heats)
    keep = partial(results.keep, folder=tmp_path)
    (record,) = program.run([contest], session, "python -m benchmarks", keep=keep)
    assert len(record.heats) == 2
    for done, target in zip(record.heats, (1e-1, 1e-3)):
        ours = done.rows[0]
        assert ours.reached, report.plain(done, "1x")
        assert float(ours.quality["certified gap"]) <= target
    stored = json.loads((tmp_path / "tiny.json").read_text())
    assert stored["heats"][0]["rows"][0]["name"] == "nearline float64"
    assert stored["command"] == "python -m benchmarks tiny"
    assert results.kept(contest, tmp_path) == record
    other = Contest("other", "never held", "2x", heats)
    page = results.tables([contest, other], tmp_path)
    assert page.count("| contestant |") == 2
    assert "## tiny: a tiny contest" in page
    assert page.endswith("- `other`: never held (goal: 2x)\n")


def test_the_figures_of_small_cuts_are_not_kept() -> None:
    with pytest.raises(SystemExit, match="--keep and --quick exclude each other"):
        program.main(["--keep", "--quick", "import"])


def test_an_answer_below_the_reference_is_an_alarm(session: Session) -> None:
    good = reference(TINY, session)
    wrong = replace(good, value=good.value + 0.01, source="made up")
    ours = Nearline("float64")
    facts = ours.read(ours.fit(ours.prepare(TINY), TINY, 1e-6), TINY)
    assert Suboptimality(TINY, good, 1e-6)(Outcome(1.0, facts)).reached
    with pytest.raises(RuntimeError, match="below the reference"):
        Suboptimality(TINY, wrong, 1e-6)(Outcome(1.0, facts))


@pytest.mark.parametrize("regularizer", ["l1", "l2"])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_the_judge_agrees_with_the_risk(loss: str, regularizer: str) -> None:
    """The judge's own arithmetic and the library's are two writings of (R1)."""
    from nearline import Params

    problem = Problem("tiny", 60, loss, 0.5, regularizer, bias=True)
    risk = problem.risk()
    rng = np.random.default_rng(0)
    W, b = rng.standard_normal((risk.n_outputs, risk.n_features)), rng.standard_normal(risk.n_outputs)
    assert problem.objective(W, b) == pytest.approx(risk.value(Params.of(W, b)), rel=1e-12)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("peer", "effort", "loss", "bias"),
    [
        (ScikitLearn("lbfgs"), 1000.0, "softmax", True),
        (ScikitLearn("newton-cg"), 100.0, "softmax", True),
        (Liblinear(0), 1e-8, "logistic", False),
        (Liblinear(7), 1e-8, "logistic", False),
        (Liblinear(1), 1e-8, "squared-hinge", False),
        (Liblinear(2), 1e-8, "squared-hinge", False),
    ],
    ids=lambda value: value.name if isinstance(value, Fitter) else str(value),
)
def test_peers_minimize_the_same_risk(
    peer: Fitter, effort: float, loss: str, bias: bool, session: Session
) -> None:
    """Conversions of C, of labels and of weights are right: with enough effort all reach the same minimum."""
    if (absent := peer.absent()) is not None:
        pytest.skip(absent)
    problem = Problem("tiny", 100, loss, 0.5, bias=bias)
    facts = peer.read(peer.fit(peer.prepare(problem), problem, effort), problem)
    assert Suboptimality(problem, reference(problem, session), 1e-7)(Outcome(1.0, facts)).reached


def test_homes_are_processes_that_can_be_ended() -> None:
    with Pool() as pool:
        assert pool.call(SKLEARN, partial(divmod, 7, 2), 600.0) == (3, 1)
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            pool.call(SKLEARN, partial(divmod, 7, 0), 600.0)
        with pytest.raises(TooSlow):
            pool.call(SKLEARN, partial(time.sleep, 600.0), 0.1)
        assert pool.call(SKLEARN, partial(divmod, 9, 2), 600.0) == (4, 1)


def test_contests_are_listed_and_chosen_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    names = [contest.name for contest in CONTESTS]
    assert len(set(names)) == len(names)
    assert [c.name for c in program.chosen(["text"])] == [n for n in names if n.startswith("text")]
    assert [c.name for c in program.chosen(["tree"])] == ["tree"]  # and not the kernels of trees
    assert len(program.chosen([])) == len(names)
    assert program.main(["--list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in names)
    with pytest.raises(SystemExit, match="choose among"):
        program.chosen(["nothing-like-it"])


def test_the_tables_are_made_of_the_data_files() -> None:
    assert results.TABLES.read_text() == results.tables(CONTESTS)
    names = {contest.name for contest in CONTESTS}
    assert {path.stem for path in results.FOLDER.glob("*.json")} - names <= {
        "defaults",
        "leak-checks",
        "photos",
        "learned-metrics",
    }  # of studies


def test_every_contest_that_the_page_names_is_there() -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text()
    named = re.findall(r"^\| [^|]+ \| `([^`]+)` \|", page, re.MULTILINE)
    assert len(named) > 20
    for name in named:
        assert program.chosen([name])


TINY_TASKS = {
    "subsequences": partial(strings.ours, "random DNA", 6, 3),
    "subsequences by cells": partial(strings.scaled, "random DNA", 6, 3, strings.by_cells),
    "subsequences by matrices": partial(strings.scaled, "random DNA", 6, 3, strings.by_matrices),
    "spectrum": partial(strings.spectrum, "random DNA", 6, 3),
    "spectrum by counts": partial(strings.counted, "random DNA", 6, 3),
    "tree or bounds": partial(trees.both, "clustered", "l3", 60, 20, 2),
    "search": partial(small.search, 30),
    "votes": partial(small.predict, 30, "temperature"),
    "file": partial(small.file, 5, "load"),
    "whole contest, plan": partial(whole.ours, "table", 60),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", TINY_TASKS)
def test_tasks_run_on_the_smallest_data(name: str) -> None:
    outcome = TINY_TASKS[name]()
    assert outcome.seconds > 0


def test_strings_have_the_same_values_by_all() -> None:
    ours, cells, matrices = (
        TINY_TASKS[name]() for name in ("subsequences", "subsequences by cells", "subsequences by matrices")
    )
    judge = strings.SameValues(cells.facts["values"])
    assert judge(ours).reached
    assert judge(matrices).reached
    assert TINY_TASKS["spectrum"]().facts == TINY_TASKS["spectrum by counts"]().facts


def test_every_family_with_a_peer_has_its_model() -> None:
    from nearline.selection.families import families

    names = {one.name for one in families("default", None, whole.WITHOUT_PEER)}
    assert names <= set(their_models.MODELS)
    model = their_models.peer("logistic, L2", {"alpha": 0.01}, 50)
    assert np.isclose(model.C, 2.0)


def test_generated_rows_are_the_same_every_time() -> None:
    first = load("tiny")
    load.cache_clear()
    second = load("tiny")
    np.testing.assert_array_equal(first.X, second.X)
    assert first.X.shape == (240, 12)
    assert set(first.y) == {0, 1, 2}


def test_efforts_go_from_cheap_to_dear() -> None:
    steps = shrinking(1.0, 1e-3)
    assert steps[0] == 1.0
    assert steps[-1] == pytest.approx(1e-3)
    assert all(a > b for a, b in pairwise(steps))
