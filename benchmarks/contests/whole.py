"""The whole contest: TryThemAll beside GridSearchCV over the same candidates, and beside LazyPredict.

Families and representations are those of ``benchmarks.contest_data``, whatever is added to the contest later; nothing runs
beside it. Every family is a GridSearchCV(Pipeline(representation, scikit-learn's model), candidates, n_jobs=2) of its own, on
the same folds. Of small data all folds are run, so that winners can be compared; of others one fold of five, counted five
times. A family that has not ended after a cap is stopped and counted with the cap: then the ratio is a lower bound. Families
that scikit-learn has not are left out on both sides.
"""

import multiprocessing
import os
import time
import warnings
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Any

import numpy as np

from benchmarks.contest_data import DATA, FROZEN_FAMILIES, FROZEN_REPRESENTATIONS, lazy_sets
from benchmarks.harness import Contest, Entry, Heat, Outcome, Session
from benchmarks.homes import NEARLINE, PATIENCE, SKLEARN
from benchmarks.their_models import peer

WITHOUT_PEER = ("sparsemax", "SVM, Weston-Watkins", "kernel")  # kernels have contests of their own
WITH_PEER = tuple(name for name in FROZEN_FAMILIES if not any(name.startswith(part) for part in WITHOUT_PEER))
FOLDS = 5
WHOLE = ("breast-cancer", "digits")  # data of which the peer runs all folds too
CAP = 30.0  # seconds for a family of the peer
READY = "ready"


def fitted(data: str, rows: int | None) -> Any:
    from nearline import TryThemAll

    X, y = DATA[data](rows)
    features = FROZEN_REPRESENTATIONS[data]
    return TryThemAll(include=WITH_PEER, features=features, test=None, beside=None, progress="silent").fit(
        X, y
    )


def ours(data: str, rows: int | None) -> Outcome:
    DATA[data](rows)  # read before the clock runs
    began = time.perf_counter()
    contest = fitted(data, rows)
    seconds = time.perf_counter() - began
    best = contest.leaderboard_.mean(contest.best_)
    facts = {"candidates": len(contest.leaderboard_), "best mean": f"{best:.4f}"}
    return Outcome(seconds, {**facts, "best": f"{contest.best_.family} on {contest.best_.representation}"})


@lru_cache(maxsize=1)
def plan(data: str, rows: int | None) -> Any:
    """Our contest, for its candidates, representations and folds."""
    return fitted(data, rows)


def prepare(data: str, rows: int | None) -> None:
    plan(data, rows)


def theirs(data: str, rows: int | None, cap: float) -> Outcome:
    """Seconds of all families and folds; what was stopped counts with the cap."""
    contest, (X, y) = plan(data, rows), DATA[data](rows)
    units: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for entry in contest.leaderboard_:
        units.setdefault((entry.family, entry.representation), []).append(entry.parameters)
    folds = list(contest._folds)[: FOLDS if data in WHOLE else 1]
    total, best, stopped = 0.0, (0.0, "none"), 0
    for (family, name), parameters in units.items():
        work = family, contest._representations[name], parameters, X, y, folds
        seconds, score = capped(cap, *work)
        total, stopped = total + FOLDS / len(folds) * seconds, stopped + (score is None)
        best = max(best, (score or 0.0, f"{family} on {name}"))
    facts = {"candidates": sum(map(len, units.values())), "best mean": f"{best[0]:.4f}", "best": best[1]}
    return Outcome(total, {**facts, "families stopped": f"{stopped} of {len(units)}"})


def capped(cap: float, *work: Any) -> tuple[float, float | None]:
    """Seconds and best mean of a grid search in a process of its own; at most ``cap`` seconds."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=grid_search, args=(*work, there))
    process.start()
    there.close()
    try:
        if here.poll(PATIENCE) and here.recv() == READY and here.poll(cap):
            return here.recv()
    except EOFError:
        pass
    finally:
        try:
            os.killpg(process.pid, 9)
        except (ProcessLookupError, PermissionError):
            process.kill()
        process.join()
    return cap, None


def grid_search(
    family: str, way: Any, parameters: list[dict[str, Any]], X: Any, y: np.ndarray, folds: Any, pipe: Any
) -> None:
    """One family by GridSearchCV; sends that its workers are ready, then (seconds, best mean)."""
    from joblib import Parallel, delayed
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import Pipeline

    os.setsid()  # a group of its own, so that its workers end with it
    warnings.simplefilter("ignore")
    os.environ["PYTHONWARNINGS"] = "ignore"
    models = [peer(family, p, len(folds[0][0])) for p in parameters]
    # workers that run and have imported are not on the clock
    Parallel(n_jobs=2)(delayed(_ready)() for _ in range(8))
    pipe.send(READY)
    start = time.perf_counter()
    pipeline = Pipeline([("representation", way.transformer()), ("model", models[0])])
    search = GridSearchCV(pipeline, {"model": models}, cv=folds, n_jobs=2, refit=False).fit(X, y)
    pipe.send((time.perf_counter() - start, float(np.nanmax(search.cv_results_["mean_test_score"]))))


def _ready() -> None:
    import sklearn.linear_model
    import sklearn.pipeline  # noqa: F401

    import nearline.representations  # noqa: F401

    time.sleep(0.1)


def heats(session: Session, data: str) -> Iterator[Heat]:
    rows, cap = session.options.rows(None, 200), min(CAP, session.options.limit)
    how = "all folds" if data in WHOLE else f"one fold, times {FOLDS}"
    note = f"{how}; a family that takes longer than {cap:g} s is stopped: then it is a lower bound"
    task, ready = partial(theirs, data, rows, cap), partial(prepare, data, rows)
    key = f"whole contest {data} {rows} {cap}"
    entries = [
        Entry("nearline TryThemAll", partial(ours, data, rows), home=NEARLINE, ours=True),
        # Here, as other homes may have no processes of their own.
        Entry("GridSearchCV, n_jobs=2, each family", task, note=note, prepare=ready, key=key),
    ]
    yield Heat(f"all candidates x {FOLDS} folds: {DATA[data].__doc__}", "none; best means are shown", entries)


# -- LazyPredict ---------------------------------------------------------------------------------------------------


def lazy(name: str, library: str, rows: int | None) -> Outcome:
    """Seconds to choose a model, and its accuracy on rows that it has not seen."""
    X, X_test, y, y_test = lazy_sets(name, rows)
    began = time.perf_counter()
    model, chosen = (_lazy_predict if library == "lazypredict" else _nearline)(X, y)
    seconds = time.perf_counter() - began
    accuracy = float(np.mean(model.predict(X_test) == y_test))
    return Outcome(seconds, {"test accuracy": f"{accuracy:.4f}", "chosen": chosen})


def _nearline(X: Any, y: Any) -> tuple[Any, str]:
    from nearline import TryThemAll

    contest = TryThemAll(test=None, progress="silent").fit(X, y)
    return contest, str(contest.best_)


def _lazy_predict(X: Any, y: Any) -> tuple[Any, str]:
    """Each of scikit-learn's classifiers as it comes: fitted on 4/5, ranked on 1/5, the best fitted again on all."""
    from lazypredict.Supervised import LazyClassifier
    from sklearn.base import clone
    from sklearn.model_selection import train_test_split

    X_train, X_rank, y_train, y_rank = train_test_split(X, y, test_size=0.2, stratify=y, random_state=0)
    contest = LazyClassifier(verbose=0, ignore_warnings=True)
    ranked, _ = contest.fit(X_train, X_rank, y_train, y_rank)
    name = str(ranked["Accuracy"].idxmax())
    return clone(contest.models[name]).fit(X, y), name


def lazy_heats(session: Session) -> Iterator[Heat]:
    rows = session.options.rows(None, 120)
    for name in ("table", "breast cancer", "wine", "digits"):
        homes = {"nearline": NEARLINE, "lazypredict": SKLEARN}
        entries = [
            Entry(who, partial(lazy, name, who, rows), home=home, ours=who == "nearline")
            for who, home in homes.items()
        ]
        yield Heat(f"choose a model: {name}", "none; it fits each model once, without folds", entries)


GOALS = {
    "breast-cancer": "40x",
    "digits": "40x",
    "fashion": "20x",
    "adult": "20x",
    "newsgroups": "10x",
    "table": "20x",
}
CONTESTS = (
    *(
        Contest(
            f"try-{data}", f"the whole contest, {data}", f"{goal} GridSearchCV", partial(heats, data=data)
        )
        for data, goal in GOALS.items()
    ),
    Contest("lazy", "the whole contest beside LazyPredict", "a better model in its time", lazy_heats),
)
