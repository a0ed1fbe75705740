"""Gram matrices of string and tree kernels.

The subsequence kernel runs beside two implementations in Python: the dynamic program as Lodhi et al. write it, cell by cell,
and the same with NumPy, where sums over all shorter gaps are products with matrices of powers of the decay. Both would
take hours for all pairs: they are timed on some pairs drawn at random, and scaled to half of the matrix.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from benchmarks.data import data_folder
from benchmarks.harness import Contest, Entry, Heat, Outcome, Session, Verdict
from benchmarks.homes import NEARLINE, SKLEARN

LENGTH, DECAY = 3, 0.5
SIZES = (8, 16, 32, 64, 128, 256, 512, 1024, 2048)


@lru_cache(maxsize=4)
def strings(name: str, n: int) -> list[str]:
    """Real strings by name, or random ones."""
    rng, folder = np.random.default_rng(0), data_folder()
    if folder is None or name == "random DNA":
        return ["".join(rng.choice(list("ACGT"), 60)) for _ in range(n)]
    from nearline.data import read

    if name == "splice DNA":
        lines = (folder / "splice" / "splice.csv").read_text().splitlines()[1:]
        found = [line.rsplit(",", 1)[1].strip() for line in lines]
    else:
        place = next((folder / "sms_spam").glob("*SMS*")) if name == "SMS" else folder / "surnames"
        found = [str(text) for text in read(place).X]
    return [found[i] for i in rng.permutation(len(found))[:n]]


def collections() -> tuple[str, ...]:
    return ("random DNA",) if data_folder() is None else ("splice DNA", "SMS", "surnames")


def by_cells(s: str, t: str) -> float:
    """Lodhi et al.'s recursion: two running sums over each level's table."""
    before = [[1.0] * (len(t) + 1) for _ in range(len(s) + 1)]
    for _ in range(LENGTH - 1):
        table = [[0.0] * (len(t) + 1) for _ in range(len(s) + 1)]
        for i in range(1, len(s) + 1):
            along = 0.0
            for j in range(1, len(t) + 1):
                along *= DECAY
                if s[i - 1] == t[j - 1]:
                    along += DECAY * DECAY * before[i - 1][j - 1]
                table[i][j] = DECAY * table[i - 1][j] + along
        before = table
    return sum(DECAY * DECAY * before[i][j] for i in range(len(s)) for j in range(len(t)) if s[i] == t[j])


def by_matrices(s: str, t: str) -> float:
    """The same, a level at a time."""
    rows, columns = (np.frombuffer(x.encode("utf-32-le"), dtype=np.uint32) for x in (s, t))
    match = DECAY * DECAY * (rows[:, None] == columns)
    left, right = (
        np.tril(DECAY ** np.maximum(np.subtract.outer(np.arange(n), np.arange(n)) - 1.0, 0.0), -1)
        for n in match.shape
    )
    M = match
    for _ in range(LENGTH - 1):
        M = match * (left @ M @ right.T)
    return float(M.sum())


def drawn(n: int, pairs: int) -> np.ndarray:
    """Pairs of strings whose values are compared."""
    return np.random.default_rng(1).integers(n, size=(pairs, 2))


def ours(name: str, n: int, pairs: int) -> Outcome:
    from nearline.kernels import Subsequence

    own = strings(name, n)
    began = time.perf_counter()
    K = Subsequence(LENGTH, DECAY)(own)
    seconds = time.perf_counter() - began
    return Outcome(seconds, {"values": K[tuple(drawn(len(own), pairs).T)].tolist(), "n": len(own)})


def scaled(name: str, n: int, pairs: int, value: Callable[[str, str], float]) -> Outcome:
    from nearline._parallel.tiles import single_threaded_blas

    own = strings(name, n)
    chosen = drawn(len(own), pairs)
    with single_threaded_blas:  # for matrices this small threads cost more than they save
        began = time.perf_counter()
        values = [value(own[i], own[j]) for i, j in chosen]
        seconds = time.perf_counter() - began
    return Outcome(seconds / pairs * n_pairs(len(own)), {"values": values, "n": len(own)})


def n_pairs(n: int) -> float:
    return n * (n + 1) / 2


@dataclass(frozen=True)
class SameValues:
    """Judge: values of the kernel on the drawn pairs, to rounding."""

    values: list[float]

    def __call__(self, outcome: Outcome) -> Verdict:
        same = np.allclose(outcome.facts["values"], self.values, rtol=1e-9, atol=1e-300)
        pair = outcome.seconds / n_pairs(outcome.facts["n"])
        return Verdict(bool(same), {"us a pair": f"{pair * 1e6:.3g}"})


def subsequences(session: Session) -> Iterator[Heat]:
    n = session.options.rows(2000, 20) or 0
    pairs = session.options.rows(100, 3) or 0
    note = f"scaled from {pairs} pairs"
    for name in collections():
        own = strings(name, n)
        judge = SameValues([by_cells(own[i], own[j]) for i, j in drawn(len(own), pairs)])
        entries = [
            Entry("nearline Subsequence", partial(ours, name, n, pairs), judge, NEARLINE, ours=True),
            Entry("NumPy", partial(scaled, name, n, pairs, by_matrices), judge, SKLEARN, note=note),
            Entry("Python, cells", partial(scaled, name, n, pairs, by_cells), judge, SKLEARN, note=note),
        ]
        mean = np.mean([len(one) for one in own])
        title = f"subsequences of {LENGTH}, {len(own)} strings of mean length {mean:.0f} [{name}]"
        yield Heat(title, "the same values on the drawn pairs", entries)
    entries = [
        Entry(f"{size} symbols", partial(of_length, size), home=NEARLINE, ours=True)
        for size in (SIZES[:2] if session.options.quick else SIZES)
    ]
    yield Heat("subsequences, time a pair by the length of the strings, one thread", "none", entries)


def of_length(size: int) -> Outcome:
    import nearline
    from nearline.kernels import Subsequence

    rng, n = np.random.default_rng(0), int(np.clip(4e4 / size, 16, 1000))
    own = ["".join(rng.choice(list("ACGT"), size)) for _ in range(n)]
    with nearline.num_threads(1):
        began = time.perf_counter()
        Subsequence(LENGTH)(own)
        pair = (time.perf_counter() - began) / n_pairs(n)
    return Outcome(pair, {"ns a cell": f"{pair / size**2 * 1e9:.3f}"})


# -- spectra and trees ---------------------------------------------------------------------------------------------


def spectrum(name: str, n: int, size: int) -> Outcome:
    from nearline.kernels import Spectrum

    own = strings(name, n)
    began = time.perf_counter()
    K = Spectrum(size)(own)
    return Outcome(time.perf_counter() - began, {"sum of the matrix": f"{K.sum():.0f}"})


def counted(name: str, n: int, size: int) -> Outcome:
    from sklearn.feature_extraction.text import CountVectorizer

    own = strings(name, n)
    counter = CountVectorizer(analyzer="char", ngram_range=(size, size), lowercase=False)
    counter._white_spaces = type("Keep", (), {"sub": staticmethod(lambda _, text: text)})
    began = time.perf_counter()
    X = counter.fit_transform(own).astype(float)
    K = (X @ X.T).toarray()
    return Outcome(time.perf_counter() - began, {"sum of the matrix": f"{K.sum():.0f}"})


def spectra(session: Session) -> Iterator[Heat]:
    n = session.options.rows(2000, 20) or 0
    for name in collections():
        for size in (3, 5):
            entries = [
                Entry("nearline Spectrum", partial(spectrum, name, n, size), home=NEARLINE, ours=True),
                Entry("CountVectorizer and SciPy", partial(counted, name, n, size), home=SKLEARN),
            ]
            yield Heat(f"substrings of {size}, {n} strings [{name}]", "the same matrix", entries)


@lru_cache(maxsize=1)
def questions(n: int) -> Any:
    from nearline.data import read
    from nearline.kernels import SubsetTree

    folder = data_folder()
    if folder is None:
        raise RuntimeError("it needs the TREC questions: set NEARLINE_DATA to the folder that has them")
    file = folder / "trec_trees" / "train_5500.coarse.klp.gz"
    return SubsetTree().items(read(file, columns=["grct"]).X[:n])


def gram(n: int, name: str) -> Outcome:
    from nearline.kernels import KERNELS

    X = questions(n)
    began = time.perf_counter()
    KERNELS[name].among(X)
    seconds = time.perf_counter() - began
    return Outcome(seconds, {"ns a pair": f"{seconds / n_pairs(len(X)) * 1e9:.0f}"})


def trees(session: Session) -> Iterator[Heat]:
    n = session.options.rows(10_000, 30) or 0
    names = ("subtree", "subset-tree", "partial-tree")
    entries = [Entry(name, partial(gram, n, name), home=NEARLINE, ours=True) for name in names]
    yield Heat(f"tree kernels, {len(questions(n))} TREC questions (GRCT)", "none", entries)


CONTESTS = (
    Contest("strings", "subsequence kernel", "50x NumPy", subsequences),
    Contest("spectrum", "spectrum kernel", "as fast as SciPy", spectra),
    Contest("trees", "tree kernels", "none", trees),
)
