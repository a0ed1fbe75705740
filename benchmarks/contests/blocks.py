"""Rows in blocks: fits on two workers beside the fit in memory, paths, searches, memory, growth, and bytes that travel."""

import os
import pickle
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.harness import Contest, Entry, Heat, Outcome, Session, Verdict
from benchmarks.homes import HERE, NEARLINE

ALPHA, TOL = 1e-4, 1e-4
BLOCK = 125_000  # rows


@dataclass(frozen=True)
class Made:
    """Rows of two classes, made block by block from their numbers, so that any machine can make any block."""

    n: int
    D: int
    block: int = BLOCK

    def rows(self, number: int) -> tuple[Any, Any]:
        rng = np.random.default_rng(number)
        size = min(self.block, self.n - number * self.block)
        X = rng.standard_normal((size, self.D), dtype=np.float32).astype(np.float64)
        weights = np.random.default_rng(-1 % 2**32).normal(size=self.D)
        return X, (X @ weights / np.sqrt(self.D) + rng.logistic(size=size) > 0).astype(np.int64)

    @property
    def numbers(self) -> range:
        return range(-(-self.n // self.block))

    def whole(self) -> tuple[Any, Any]:
        parts = [self.rows(number) for number in self.numbers]
        return np.concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts])

    def arrays(self) -> tuple[Any, Any]:
        """As Dask's arrays, made where they are asked for."""
        import dask.array as da
        from dask import delayed

        sizes = [min(self.block, self.n - number * self.block) for number in self.numbers]
        made = [delayed(self.rows, nout=2)(number) for number in self.numbers]
        X = [
            da.from_delayed(one[0], (size, self.D), np.float64) for one, size in zip(made, sizes, strict=True)
        ]
        y = [da.from_delayed(one[1], (size,), np.int64) for one, size in zip(made, sizes, strict=True)]
        return da.concatenate(X), da.concatenate(y)


@contextmanager
def workers(number: int) -> Iterator[Any]:
    """A client of so many processes here, one thread each."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=number, threads_per_worker=1, memory_limit=0, dashboard_address=":0", silence_logs=50
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


class Traffic:
    """Counts messages and bytes while it is entered: tasks as they are pickled, and their answers."""

    def __enter__(self) -> "Traffic":
        from nearline.cluster._crews import ClusterCrew

        self.passes = self.out = self.back = 0
        self._crew, self._own = ClusterCrew, ClusterCrew.answers

        def answers(crew: Any, questions: Any) -> Any:
            self.passes += 1
            self.out += sum(len(pickle.dumps(one.task)) * len(one.held) for one in questions)
            found = self._own(crew, questions)
            self.back += len(pickle.dumps(found))
            return found

        ClusterCrew.answers = answers  # type: ignore[method-assign]
        return self

    def __exit__(self, *error: object) -> None:
        self._crew.answers = self._own  # type: ignore[method-assign]


def _model(**changes: Any) -> Any:
    from nearline import LogisticRegression

    return LogisticRegression(alpha=ALPHA, tol=TOL, **changes)


def in_memory(task: Made) -> Outcome:
    X, y = task.whole()
    _model(solver="newton").fit(X[:1000], y[:1000])  # a process that has loaded what it needs
    began = time.perf_counter()
    model = _model(solver="newton").fit(X, y)
    return Outcome(time.perf_counter() - began, {"risk": model.solution_.value, "solver": model.solver_})


def on_workers(task: Made, number: int) -> Outcome:
    with workers(number) as client:
        X, y = client.persist(list(task.arrays()))
        client.gather([client.submit(int, 1)])
        _model().fit(*Made(4000, task.D, 2000).arrays())  # processes that have loaded what they need
        from distributed import wait

        wait([X, y])
        began = time.perf_counter()
        model = _model().fit(X, y)
        seconds = time.perf_counter() - began
        with Traffic() as traffic:
            _model().fit(X, y)
        peaks = client.run(_peak)
    return Outcome(
        seconds,
        {
            "risk": model.solution_.value,
            "solver": model.solver_,
            "passes": traffic.passes,
            "kB out a pass": round(traffic.out / traffic.passes / 1e3, 1),
            "kB back a pass": round(traffic.back / traffic.passes / 1e3, 1),
            "peak GB a worker": round(max(peaks.values()) / 1e9, 2),
        },
    )


def by_dask_ml(task: Made, solver: str) -> Outcome:
    """dask-ml's own solver on the same blocks: its objective is the sum of the losses, its penalty 1/C."""
    from dask_ml.linear_model import LogisticRegression
    from distributed import wait

    with workers(2) as client:
        X, y = client.persist(list(task.arrays()))
        wait([X, y])
        began = time.perf_counter()
        model = LogisticRegression(C=1.0 / (ALPHA * task.n), solver=solver, max_iter=100).fit(X, y)
        seconds = time.perf_counter() - began
    X_all, y_all = task.whole()
    scores = X_all @ np.ravel(model.coef_) + float(np.ravel(model.intercept_)[0])
    loss = np.logaddexp(0.0, -np.where(y_all == 1, scores, -scores)).mean()
    return Outcome(seconds, {"risk": float(loss + 0.5 * ALPHA * np.sum(np.square(model.coef_)))})


def _shown(outcome: Outcome) -> Verdict:
    return Verdict(
        True,
        {name: f"{value:.8f}" if name == "risk" else str(value) for name, value in outcome.facts.items()},
    )


def fits(session: Session) -> Iterator[Heat]:
    n = 100_000 if session.options.quick else 1_000_000
    task = Made(n, 50, n // 8)
    yield Heat(
        f"logistic regression, {n:,} x 50, gap 1e-4",
        "the risk is shown: equal or lower is as good",
        [
            Entry("nearline, blocks on two workers", partial(on_workers, task, 2), _shown, HERE, ours=True),
            Entry("nearline, in memory, two threads", partial(in_memory, task), _shown, NEARLINE),
        ],
    )


def beside_dask_ml(session: Session) -> Iterator[Heat]:
    n = 100_000 if session.options.quick else 1_000_000
    task = Made(n, 50, n // 8)
    there = find_spec("dask_ml") is not None
    absent = None if there else "dask-ml is not installed"
    yield Heat(
        f"logistic regression, {n:,} x 50 on two workers, beside dask-ml",
        "the risk is shown: equal or lower is as good",
        [
            Entry("nearline", partial(on_workers, task, 2), _shown, HERE, ours=True),
            *(
                Entry(
                    f"dask-ml, {solver}",
                    partial(by_dask_ml, task, solver) if there else None,
                    _shown,
                    HERE,
                    absent=absent,
                )
                for solver in ("newton", "lbfgs")
            ),
        ],
    )


def growth(session: Session) -> Iterator[Heat]:
    for n in (20_000, 40_000) if session.options.quick else (250_000, 500_000, 1_000_000):
        task = Made(n, 50, n // 8)
        yield Heat(
            f"logistic regression over blocks, {n:,} x 50",
            "the same risk",
            [
                Entry("two workers", partial(on_workers, task, 2), _shown, HERE, ours=True),
                Entry("one worker", partial(on_workers, task, 1), _shown, HERE),
            ],
        )


def path_on_workers(task: Made, alphas: tuple[float, ...]) -> Outcome:
    from distributed import wait

    from nearline import path

    with workers(2) as client:
        X, y = client.persist(list(task.arrays()))
        wait([X, y])
        _model().fit(*Made(4000, task.D, 2000).arrays())
        began = time.perf_counter()
        found = list(path(X, y, alphas=alphas, tol=TOL))
        seconds = time.perf_counter() - began
    return Outcome(seconds, {"largest gap": f"{max(one.gap or 0 for _, one in found):.1e}"})


def paths(session: Session) -> Iterator[Heat]:
    n = 100_000 if session.options.quick else 1_000_000
    task, ten = Made(n, 50, n // 8), tuple(np.geomspace(1e-1, ALPHA, 10).tolist())
    yield Heat(
        f"path of 10 alphas, 1e-1 to 1e-4, {n:,} x 50 on two workers",
        "all certified to 1e-4",
        [
            Entry("path of 10 alphas", partial(path_on_workers, task, ten), _shown, HERE, ours=True),
            Entry("one alpha, 1e-4", partial(path_on_workers, task, (ALPHA,)), _shown, HERE),
        ],
    )


def streamed(task: Made) -> Outcome:
    """One process that makes each block again for each pass."""
    from nearline.cluster import streaming

    _model().fit(*task.rows(0))  # a process that has loaded what it needs
    before = _peak()
    began = time.perf_counter()
    with streaming():
        model = _model().fit(*task.arrays())
    seconds = time.perf_counter() - began
    return Outcome(
        seconds,
        {
            "risk": model.solution_.value,
            "rows": f"{task.n:,}",
            "data GB": round(task.n * task.D * 8 / 1e9, 2),
            "peak MB": round(_peak() / 1e6),
            "peak MB before": round(before / 1e6),
        },
    )


def memory(session: Session) -> Iterator[Heat]:
    n = 200_000 if session.options.quick else 3_000_000
    yield Heat(
        f"logistic regression, {n:,} x 50 made in blocks of 50,000, one process",
        "peak memory below 0.5 GB",
        [Entry("nearline, streamed", partial(streamed, Made(n, 50, 50_000)), _shown, NEARLINE, ours=True)],
    )


def searched(task: Made, queries: int) -> Outcome:
    from distributed import wait

    from nearline import KNeighborsClassifier

    Q = Made(queries, task.D, queries).rows(0)[0] + 0.01
    with workers(2) as client:
        X, y = client.persist(list(task.arrays()))
        wait([X, y])
        model = KNeighborsClassifier(10).fit(X, y)
        began = time.perf_counter()
        labels = model.predict(Q)
        seconds = time.perf_counter() - began
        peaks = client.run(_peak)
    return Outcome(
        seconds,
        {
            "share of class 1": round(float(np.mean(labels)), 4),
            "peak GB a worker": round(max(peaks.values()) / 1e9, 2),
            "processors": os.cpu_count(),
        },
    )


def searches(session: Session) -> Iterator[Heat]:
    n, m = (50_000, 200) if session.options.quick else (5_000_000, 10_000)
    yield Heat(
        f"exact 10-NN of {m:,} queries in {n:,} x 64 rows without structure, on two workers",
        "exact by construction; indexes of the blocks are built with the first queries",
        [Entry("nearline", partial(searched, Made(n, 64, n // 10), m), _shown, HERE, ours=True)],
    )


CONTESTS = (
    Contest(
        "blocks",
        "fits over rows in blocks",
        "at most 2x the fit in memory, or 40 ms more a pass",
        fits,
    ),
    Contest("blocks-dask-ml", "fits over blocks beside dask-ml", "4x dask-ml's best solver", beside_dask_ml),
    Contest("blocks-growth", "growth of fits over blocks with rows and workers", "linear in rows", growth),
    Contest("blocks-path", "a path over blocks", "ten alphas at most 3x one", paths),
    Contest("blocks-memory", "rows larger than memory", "peak memory far below the data", memory),
    Contest("blocks-neighbors", "exact neighbors in blocks", "exact", searches),
)
