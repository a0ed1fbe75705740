"""Gram matrices of string and tree kernels: time, and time per pair against length.

    python -m benchmarks.bench_strings [--quick]

The subsequence kernel is measured beside two implementations in Python: the dynamic program as Lodhi et al. write it,
cell by cell, and the same with NumPy, where sums over all shorter gaps are products with matrices of powers of the
decay. Both would take hours for all pairs: they are timed on some pairs drawn at random, and scaled to the number of
pairs (half of the matrix); their rows say so. All values are compared on these pairs.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np

import nearline
from benchmarks.data import data_folder
from nearline._parallel.tiles import single_threaded_blas
from nearline.data import read
from nearline.kernels.strings import Spectrum, Subsequence
from nearline.kernels.trees import PartialTree, SubsetTree, Subtree


def by_cells(s: str, t: str, length: int, decay: float) -> float:
    """Lodhi et al.'s recursion: two running sums over each level's table."""
    before = [[1.0] * (len(t) + 1) for _ in range(len(s) + 1)]
    for _ in range(length - 1):
        table = [[0.0] * (len(t) + 1) for _ in range(len(s) + 1)]
        for i in range(1, len(s) + 1):
            along = 0.0
            for j in range(1, len(t) + 1):
                along *= decay
                if s[i - 1] == t[j - 1]:
                    along += decay * decay * before[i - 1][j - 1]
                table[i][j] = decay * table[i - 1][j] + along
        before = table
    return sum(decay * decay * before[i][j] for i in range(len(s)) for j in range(len(t)) if s[i] == t[j])


def by_matrices(s: str, t: str, length: int, decay: float) -> float:
    """The same, a level at a time."""
    rows, columns = (np.frombuffer(x.encode("utf-32-le"), dtype=np.uint32) for x in (s, t))
    match = decay * decay * (rows[:, None] == columns)
    left, right = (
        np.tril(decay ** np.maximum(np.subtract.outer(np.arange(n), np.arange(n)) - 1.0, 0.0), -1)
        for n in match.shape
    )
    M = match
    for _ in range(length - 1):
        M = match * (left @ M @ right.T)
    return float(M.sum())


def seconds(work: Callable[[], object], repeats: int = 3) -> tuple[float, object]:
    best, result = np.inf, None
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


def collections(n: int) -> dict[str, list[str]]:
    """Real strings where they are found, else random ones."""
    folder, rng = data_folder(), np.random.default_rng(0)
    if folder is None:
        return {"random DNA": ["".join(rng.choice(list("ACGT"), 60)) for _ in range(n)]}
    dna = [line.rsplit(",", 1)[1].strip() for line in (folder / "splice" / "splice.csv").open()][1:]
    sms = [str(text) for text in read(next((folder / "sms_spam").glob("*SMS*"))).X]
    names = list(read(folder / "surnames").X)
    return {
        name: [strings[i] for i in rng.permutation(len(strings))[:n]]
        for name, strings in (("splice DNA", dna), ("SMS", sms), ("surnames", names))
    }


def subsequences(n: int, pairs: int, length: int = 3, decay: float = 0.5) -> None:
    print(f"\nSubsequence({length}, {decay}): Gram matrix of {n:,} strings")
    for name, strings in collections(n).items():
        ours, K = seconds(lambda strings=strings: Subsequence(length, decay)(strings))
        assert isinstance(K, np.ndarray)
        mean = np.mean([len(s) for s in strings])
        n_pairs = len(strings) * (len(strings) + 1) / 2
        print(
            f"{name:12s} mean length {mean:5.1f}  nearline {ours:8.3f} s, {ours / n_pairs * 1e6:8.3f} us a pair"
        )
        chosen = np.random.default_rng(1).integers(len(strings), size=(pairs, 2))
        for what, value in (("NumPy", by_matrices), ("Python, cells", by_cells)):
            own = [(strings[i], strings[j]) for i, j in chosen]
            start = time.perf_counter()
            with single_threaded_blas:  # for matrices this small threads cost more than they save
                found = [value(s, t, length, decay) for s, t in own]
            scaled = (time.perf_counter() - start) / pairs * n_pairs
            np.testing.assert_allclose(found, K[chosen[:, 0], chosen[:, 1]], rtol=1e-9, atol=1e-300)
            print(
                f"{'':12s} {what:14s} {scaled:10.0f} s (scaled from {pairs} pairs), {scaled / ours:8.0f} times"
            )


def lengths(most: int, length: int = 3) -> None:
    print(f"\nSubsequence({length}) against the length of the strings (4 letters, one thread)")
    rng = np.random.default_rng(0)
    with nearline.num_threads(1):
        for size in (8, 16, 32, 64, 128, 256, 512, 1024, 2048):
            if size > most:
                break
            n = int(np.clip(4e4 / size, 16, 1000))
            strings = ["".join(rng.choice(list("ACGT"), size)) for _ in range(n)]
            taken, _ = seconds(lambda strings=strings: Subsequence(length)(strings), 2)
            pair = taken / (n * (n + 1) / 2)
            print(f"{size:6d}  {pair * 1e6:10.2f} us a pair  {pair / size**2 * 1e9:6.3f} ns a cell")


def spectra(n: int) -> None:
    from sklearn.feature_extraction.text import CountVectorizer

    print(
        f"\nSpectrum(n): Gram matrix of {n:,} strings, beside CountVectorizer and a product of sparse matrices"
    )
    for name, strings in collections(n).items():
        for size in (3, 5):
            ours, K = seconds(lambda strings=strings, size=size: Spectrum(size)(strings))

            def sparse(strings: list[str] = strings, size: int = size) -> object:
                counter = CountVectorizer(analyzer="char", ngram_range=(size, size), lowercase=False)
                counter._white_spaces = type("Keep", (), {"sub": staticmethod(lambda _, text: text)})
                X = counter.fit_transform(strings).astype(float)
                return (X @ X.T).toarray()

            theirs, other = seconds(sparse)
            assert np.array_equal(np.asarray(K), np.asarray(other))
            print(
                f"{name:12s} n = {size}  nearline {ours:7.3f} s  SciPy {theirs:7.3f} s, {theirs / ours:5.1f} times"
            )


def trees(n: int) -> None:
    folder = data_folder()
    if folder is None:
        return
    start = time.perf_counter()
    X = SubsetTree().items(read(folder / "trec_trees" / "train_5500.coarse.klp.gz", columns=["grct"]).X[:n])
    print(f"\nTREC questions: {len(X):,} trees (GRCT), read in {time.perf_counter() - start:.2f} s")
    for kernel in (Subtree(), SubsetTree(0.4), PartialTree(0.4, 0.4)):
        taken, _ = seconds(lambda kernel=kernel: kernel.among(X), 2)
        print(f"{kernel!s:60s} {taken:7.2f} s, {taken / (len(X) * (len(X) + 1) / 2) * 1e9:6.0f} ns a pair")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few strings, to see that all runs")
    quick = parser.parse_args().quick
    print(f"{nearline.get_num_threads()} threads")
    n = 200 if quick else 2000
    subsequences(n, 10 if quick else 100)
    lengths(128 if quick else 2048)
    spectra(n)
    trees(500 if quick else 10_000)


if __name__ == "__main__":
    main()
