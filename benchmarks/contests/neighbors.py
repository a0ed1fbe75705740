"""Exact nearest neighbors: build and search, one query, growth with the rows, choosing k."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from benchmarks.harness import Contest, Entry, Heat, Outcome, Session, Verdict
from benchmarks.homes import FAISS, NEARLINE, SKLEARN, SKLEARNEX
from benchmarks.neighbor_data import rows

K = 10
CHECKED = 100  # queries that are compared with brute force
SKLEARN_NAMES = {"l2": "euclidean", "l1": "manhattan", "l-infinity": "chebyshev", "cosine": "cosine"}


@dataclass(frozen=True)
class Task:
    """A set cut to n rows and m queries, and a metric."""

    data: str
    metric: str
    n: int | None = None
    m: int | None = None

    def rows(self) -> tuple[Any, Any]:
        found = rows(self.data, self.n, self.m)
        return found.X, found.Q

    @property
    def title(self) -> str:
        found = rows(self.data, self.n, self.m)
        n, D = found.X.shape
        return f"{self.metric}, {n} rows x {D}, {found.Q.shape[0]} queries, k = {K} [{found.source}]"


# -- contestants: build and search; they give (distances, indices) ---------------------------------------------------


def nearline(task: Task, X: Any, Q: Any) -> Any:
    from nearline import Index

    found = Index(X, task.metric).search(Q, K)
    return found.distances, found.indices


def scikit_learn(task: Task, X: Any, Q: Any) -> Any:
    from sklearn.neighbors import NearestNeighbors

    model = NearestNeighbors(n_neighbors=K, algorithm="brute", metric=SKLEARN_NAMES[task.metric], n_jobs=2)
    return model.fit(X).kneighbors(Q)


def scikit_learn_tree(task: Task, X: Any, Q: Any) -> Any:
    from sklearn.neighbors import NearestNeighbors

    model = NearestNeighbors(n_neighbors=K, metric=SKLEARN_NAMES[task.metric], n_jobs=2)
    return model.fit(X).kneighbors(Q)


def intelex(task: Task, X: Any, Q: Any) -> Any:
    from sklearnex.neighbors import NearestNeighbors

    model = NearestNeighbors(n_neighbors=K, algorithm="brute", metric=SKLEARN_NAMES[task.metric])
    return model.fit(X).kneighbors(Q)


def faiss_flat(task: Task, X: Any, Q: Any) -> Any:
    import faiss

    faiss.omp_set_num_threads(2)
    kinds = {"l2": faiss.METRIC_L2, "l1": faiss.METRIC_L1, "l-infinity": faiss.METRIC_Linf}
    index = faiss.IndexFlat(X.shape[1], kinds[task.metric])
    index.add(X)
    distances, indices = index.search(Q, K)
    return (np.sqrt(np.maximum(distances, 0.0)) if task.metric == "l2" else distances), indices


def faiss_hnsw(task: Task, X: Any, Q: Any) -> Any:
    import faiss

    faiss.omp_set_num_threads(2)
    index = faiss.IndexHNSWFlat(X.shape[1], 16)
    index.hnsw.efConstruction = 100
    index.add(X)
    index.hnsw.efSearch = 64
    distances, indices = index.search(Q, K)
    return np.sqrt(np.maximum(distances, 0.0)), indices


def run(task: Task, work: Callable[..., Any]) -> Outcome:
    X, Q = task.rows()
    began = time.perf_counter()
    distances, indices = work(task, X, Q)
    seconds = time.perf_counter() - began
    facts = {"distances": distances[:CHECKED].tolist(), "indices": indices[:CHECKED].tolist()}
    return Outcome(seconds, facts)


def load(task: Task) -> None:
    task.rows()


@lru_cache(maxsize=4)
def brute_force(task: Task) -> tuple[np.ndarray, np.ndarray]:
    """Distances in float64 of the first queries, in plain NumPy."""
    X, Q = task.rows()
    Q = Q[:CHECKED]
    if hasattr(X, "toarray"):
        X, Q = X.toarray(), Q.toarray()
    D = np.empty((len(Q), len(X)))
    Q = Q.astype(np.float64)
    for begin in range(0, len(X), 4096):
        part = X[begin : begin + 4096].astype(np.float64)
        D[:, begin : begin + 4096] = _BRUTE[task.metric](part, Q)
    order = np.argsort(D, axis=1, kind="stable")[:, :K]
    return np.take_along_axis(D, order, 1), order


def _cosine(X: np.ndarray, Q: np.ndarray) -> np.ndarray:
    sizes = np.linalg.norm(Q, axis=1)[:, None] * np.linalg.norm(X, axis=1)
    return 1.0 - np.where(sizes > 0, Q @ X.T / np.where(sizes > 0, sizes, 1.0), 0.0)


_BRUTE: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "l2": lambda X, Q: np.array([np.sqrt(((X - q) ** 2).sum(axis=1)) for q in Q]),
    "l1": lambda X, Q: np.array([np.abs(X - q).sum(axis=1) for q in Q]),
    "l-infinity": lambda X, Q: np.array([np.abs(X - q).max(axis=1) for q in Q]),
    "cosine": _cosine,
}


@dataclass(frozen=True)
class SameNeighbors:
    """Judge: distances of brute force. ``least`` is the share of distances that must agree to 1e-6 (exact: all)."""

    task: Task
    least: float = 0.99

    def __call__(self, outcome: Outcome) -> Verdict:
        distances, indices = brute_force(self.task)
        size = np.maximum(distances, 1e-6 * distances.max())
        near = np.abs(np.array(outcome.facts["distances"]) - distances) <= 1e-3 * size
        close = float(near.mean())
        same = float((np.array(outcome.facts["indices"]) == indices).mean())
        quality = {"distances right": f"{close:.4f}", "same indices": f"{same:.4f}"}
        return Verdict(close >= self.least, quality)


def entry(name: str, task: Task, work: Callable[..., Any], home: Any, least: float = 0.99) -> Entry:
    judge = SameNeighbors(task, least)
    key = f"neighbors {work.__name__} {task}"
    return Entry(
        name, partial(run, task, work), judge, home, home == NEARLINE, prepare=partial(load, task), key=key
    )


def contest(
    tasks: list[tuple[Task, list[tuple[str, Callable[..., Any], Any]]]], session: Session
) -> Iterator[Heat]:
    for task, peers in tasks:
        if session.options.quick:
            task = Task(task.data, task.metric, 2000, 200)
        entries = [entry("nearline Index", task, nearline, NEARLINE, 1.0)]
        for name, work, home in peers:
            entries.append(entry(name, task, work, home, 0.9 if work is faiss_hnsw else 0.99))
        yield Heat(task.title, "distances of brute force; building is on the clock", entries)


FLAT = ("FAISS IndexFlat", faiss_flat, FAISS)
HNSW = ("FAISS HNSW (approximate)", faiss_hnsw, FAISS)
BRUTE = ("scikit-learn brute", scikit_learn, SKLEARN)
AUTO = ("scikit-learn auto", scikit_learn_tree, SKLEARN)
INTELEX = ("scikit-learn-intelex brute", intelex, SKLEARNEX)


def l2(session: Session) -> Iterator[Heat]:
    yield from contest(
        [
            (Task("fashion", "l2"), [FLAT, INTELEX, BRUTE, HNSW]),
            (Task("fashion-scaled", "l2"), [FLAT]),
            (Task("cifar", "l2"), [FLAT, BRUTE]),
            (Task("embeddings", "l2"), [FLAT, BRUTE]),
            (Task("photos", "l2"), [FLAT, BRUTE]),
            (Task("noise", "l2"), [FLAT, BRUTE]),
            (Task("covertype", "l2"), [FLAT, AUTO]),
        ],
        session,
    )


def l1(session: Session) -> Iterator[Heat]:
    yield from contest(
        [
            (Task("fashion", "l1", None, 1000), [INTELEX, FLAT, BRUTE]),
            (Task("fashion", "l1"), [INTELEX]),
            (Task("fashion-scaled", "l1", None, 1000), [INTELEX]),
        ],
        session,
    )


def linf(session: Session) -> Iterator[Heat]:
    yield from contest(
        [
            (Task("fashion", "l-infinity", None, 1000), [BRUTE]),
            (Task("fashion-scaled", "l-infinity", None, 1000), [BRUTE]),
        ],
        session,
    )


def text(session: Session) -> Iterator[Heat]:
    yield from contest([(Task("news", "cosine"), [BRUTE])], session)


def growth(session: Session) -> Iterator[Heat]:
    sizes = (10_000, 20_000, 40_000, 60_000)
    yield from contest([(Task("fashion", "l2", n, 2000), [FLAT]) for n in sizes], session)


# -- one query at a time -----------------------------------------------------------------------------------------


@lru_cache(maxsize=4)
def built(task: Task, library: str) -> Callable[[Any], Any]:
    X, _ = task.rows()
    if library == "nearline":
        from nearline import Index

        index = Index(X, task.metric)
        return lambda q: index.search(q, K).indices
    if library == "faiss":
        import faiss

        faiss.omp_set_num_threads(1)  # faster than two for a single query
        flat = faiss.IndexFlatL2(X.shape[1])
        flat.add(X)
        return lambda q: flat.search(q, K)[1]
    from sklearn.neighbors import NearestNeighbors

    model = NearestNeighbors(n_neighbors=K, algorithm="brute", n_jobs=2).fit(X)
    return lambda q: model.kneighbors(q, return_distance=False)


def single(task: Task, library: str) -> Outcome:
    search, (_, Q) = built(task, library), task.rows()
    queries = [np.ascontiguousarray(Q[i : i + 1]) for i in range(CHECKED)]
    search(queries[0])
    began = time.perf_counter()
    found = [search(q) for q in queries]
    seconds = (time.perf_counter() - began) / len(queries)
    _, order = brute_force(task)
    return Outcome(seconds, {"same indices": f"{np.mean(np.vstack(found) == order):.4f}"})


def one_query(session: Session) -> Iterator[Heat]:
    task = Task("fashion", "l2", session.options.rows(None), CHECKED)
    homes = {"nearline": NEARLINE, "faiss": FAISS, "scikit-learn": SKLEARN}
    entries = [
        Entry(
            name, partial(single, task, name), home=home, ours=name == "nearline", prepare=partial(load, task)
        )
        for name, home in homes.items()
    ]
    yield Heat(f"one query of {task.title}", "index built before", entries)


# -- choosing k --------------------------------------------------------------------------------------------------

KS = (1, 3, 5, 7, 9, 11, 15, 21, 31, 51)


def our_sweep(rows_: int) -> Outcome:
    from benchmarks.data import load as load_split
    from nearline import sweep

    split = load_split("fashion", rows_, "float32")
    began = time.perf_counter()
    result = sweep(split.X, split.y, KS, metrics=("l2", "l1"), weights=("uniform", "distance"), folds=5)
    seconds = time.perf_counter() - began
    best = max(result.rows(), key=lambda row: row["mean"])
    return Outcome(
        seconds, {"best": f"{best['metric']}, {best['weights']}, k = {best['k']}: {best['mean']:.4f}"}
    )


def grid_search(rows_: int, metric: str, ks: tuple[int, ...]) -> Outcome:
    """One metric and some k; what all would take is proportional, as every fit searches anew."""
    from sklearn.model_selection import GridSearchCV, StratifiedKFold
    from sklearn.neighbors import KNeighborsClassifier

    from benchmarks.data import load as load_split

    split = load_split("fashion", rows_, "float32")
    grid = {"n_neighbors": list(ks), "weights": ["uniform", "distance"], "metric": [metric]}
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    began = time.perf_counter()
    found = GridSearchCV(KNeighborsClassifier(), grid, cv=folds, refit=False, n_jobs=1).fit(split.X, split.y)
    seconds = (time.perf_counter() - began) * len(KS) / len(ks)
    best = (
        f"{found.best_params_['weights']}, k = {found.best_params_['n_neighbors']}: {found.best_score_:.4f}"
    )
    return Outcome(seconds, {"best": f"{metric}, {best}"})


def choosing_k(session: Session) -> Iterator[Heat]:
    n = session.options.rows(10_000) or 10_000
    entries = [
        Entry("nearline sweep, both metrics", partial(our_sweep, n), home=NEARLINE, ours=True),
        Entry("GridSearchCV, euclidean only", partial(grid_search, n, "euclidean", KS), home=SKLEARN),
        Entry(
            "GridSearchCV, manhattan only",
            partial(grid_search, n, "manhattan", KS[2:3]),
            home=SKLEARN,
            note="from one k, times ten",
        ),
    ]
    yield Heat(f"10 k x 2 metrics x 2 weightings x 5 folds, {n} rows [Fashion-MNIST]", "none", entries)


CONTESTS = (
    Contest("neighbors-l2", "nearest neighbors, L2", "4x FAISS IndexFlatL2, 8x scikit-learn brute", l2),
    Contest(
        "neighbors-l1", "nearest neighbors, L1", "8x scikit-learn-intelex, 25x FAISS, 80x scikit-learn", l1
    ),
    Contest("neighbors-linf", "nearest neighbors, L-infinity", "20x scikit-learn", linf),
    Contest("neighbors-text", "nearest neighbors of sparse text, cosine", "3x scikit-learn", text),
    Contest("neighbors-growth", "time over the number of rows", "none", growth),
    Contest("neighbors-one", "one query at a time", "under 1.5 ms", one_query),
    Contest("choose-k", "choosing k by cross-validation", "300x GridSearchCV", choosing_k),
)
