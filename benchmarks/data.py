"""Rows for the contests: real data where they are found, else a generated stand-in that says so.

Real data are looked for in the folder that the environment variable NEARLINE_DATA names, then in ``../shared/data``
next to the repository. What is slow to make is kept in ``out/bench-cache``.
"""

import gzip
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / "out" / "bench-cache"
VERSION = 1  # part of the name of what is kept: raise it when a recipe below changes


@dataclass(frozen=True)
class Split:
    """Training and test rows; ``source`` says where they come from."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    source: str

    def cut(self, rows: int | None) -> "Split":
        """The first rows only (all sets are in random order)."""
        return (
            self
            if rows is None
            else Split(self.X[:rows], self.y[:rows], self.X_test, self.y_test, self.source)
        )


def data_folder() -> Path | None:
    """Where real data are, or None."""
    named = os.environ.get("NEARLINE_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    return folder if folder.is_dir() else None


@lru_cache(maxsize=4)
def load(name: str, rows: int | None = None, dtype: str = "float64") -> Split:
    """A data set by its name in ``SETS``, float32 or float64, cut to its first rows."""
    split = _load(name).cut(rows)
    X, X_test = split.X.astype(dtype, copy=False), split.X_test.astype(dtype, copy=False)
    return Split(X, split.y.astype(np.int32), X_test, split.y_test.astype(np.int32), split.source)


@lru_cache(maxsize=2)
def _load(name: str) -> Split:
    return SETS[name]()


# -- Fashion-MNIST ------------------------------------------------------------------------------------------------


def fashion() -> Split:
    """60,000 + 10,000 images of 28 x 28 pixels in [0, 1], 10 classes."""
    folder = data_folder()
    if folder is None or not (folder / "fashion_mnist").is_dir():
        return clouds(60_000, 10_000, 784, 10, "Fashion-MNIST")

    def read(name: str, skip: int) -> np.ndarray:
        with gzip.open(folder / "fashion_mnist" / name) as file:
            return np.frombuffer(file.read(), np.uint8)[skip:]

    X, X_test = (
        read(f"{part}-images-idx3-ubyte.gz", 16).reshape(-1, 784) / np.float32(255)
        for part in ("train", "t10k")
    )
    y, y_test = (read(f"{part}-labels-idx1-ubyte.gz", 8) for part in ("train", "t10k"))
    return Split(X, y, X_test, y_test, "Fashion-MNIST")


def clouds(rows: int, test_rows: int, n_features: int, n_classes: int, instead_of: str = "") -> Split:
    """Classes as overlapping clouds of a few latent directions, squeezed into [0, 1] like pixels."""
    rng = np.random.default_rng(0)
    rank = max(2, n_features // 20)
    directions = rng.standard_normal((rank, n_features)) / np.arange(1, rank + 1)[:, None] ** 0.5
    centers = 0.55 * rng.standard_normal((n_classes, rank))
    y = rng.integers(n_classes, size=rows + test_rows)
    latent = centers[y] + rng.standard_normal((len(y), rank))
    X = latent.astype(np.float32) @ directions.astype(np.float32)
    X += 0.3 * rng.standard_normal(X.shape, dtype=np.float32)
    X = np.clip(0.3 + 0.15 * X, 0.0, 1.0)
    source = f"GENERATED stand-in for {instead_of}" if instead_of else "generated clouds"
    return Split(X[:rows], y[:rows], X[rows:], y[rows:], source)


def tiny() -> Split:
    """A set for tests of the harness itself."""
    return clouds(240, 80, 12, 3)


# -- text ---------------------------------------------------------------------------------------------------------


def news20() -> Split:
    """20 Newsgroups, split by date, as tf-idf: 11,314 + 7,532 rows, 20 classes, words of at least two documents."""
    folder = data_folder()
    if folder is None or not (folder / "newsgroups20").is_dir():
        return kept("news20-generated", lambda: zipf_text(11_314, 7_532, 56_000, 130, 20, "20 Newsgroups"))
    return kept("news20", lambda: _news20(folder / "newsgroups20"))


def _news20(folder: Path) -> Split:
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts, labels = {}, {}
    for part in ("train", "test"):
        with gzip.open(folder / f"{part}.jsonl.gz", "rt", encoding="utf-8") as file:
            records = [json.loads(line) for line in file]
        texts[part], labels[part] = [r["text"] for r in records], np.array([r["label"] for r in records])
    names = np.unique(labels["train"])
    vectorizer = TfidfVectorizer(min_df=2, sublinear_tf=True, dtype=np.float64)
    X, X_test = vectorizer.fit_transform(texts["train"]), vectorizer.transform(texts["test"])
    # The file is sorted by label: a cut of its first rows would hold few classes.
    order = np.random.default_rng(0).permutation(X.shape[0])
    y, y_test = (np.searchsorted(names, labels[part]) for part in ("train", "test"))
    return Split(X[order], y[order], X_test, y_test, "20 Newsgroups, tf-idf")


def reviews() -> Split:
    """Generated text of the size of IMDB: 25,000 + 10,000 rows of about 130 words out of 100,000, two classes."""
    return kept("reviews", lambda: zipf_text(25_000, 10_000, 100_000, 130, 2))


def zipf_text(
    rows: int, test_rows: int, vocabulary: int, words: int, n_classes: int, instead_of: str = ""
) -> Split:
    """Documents of words drawn by Zipf's law, tf-idf, with labels of a sparse linear rule and noise."""
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfTransformer

    rng = np.random.default_rng(0)
    frequency = 1.0 / (np.arange(vocabulary) + 20.0)
    lengths = np.maximum(5, rng.lognormal(np.log(words), 0.5, size=rows + test_rows)).astype(int)
    drawn = np.searchsorted(np.cumsum(frequency / frequency.sum()), rng.random(lengths.sum()))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    counts = csr_matrix(
        (np.ones(len(drawn)), np.minimum(drawn, vocabulary - 1), starts), (len(lengths), vocabulary)
    )
    counts.sum_duplicates()
    X = TfidfTransformer(sublinear_tf=True).fit_transform(counts).tocsr()
    columns = 1 if n_classes == 2 else n_classes
    telling = rng.choice(
        vocabulary // 200, size=(columns, vocabulary // 500)
    )  # the frequent words carry the meaning
    rule = np.zeros((columns, vocabulary))
    np.put_along_axis(rule, telling, rng.standard_normal(telling.shape), axis=1)
    scores = np.asarray(X @ rule.T)
    scores += NOISE * scores.std() * rng.standard_normal(scores.shape)
    scores -= np.median(scores, axis=0)
    y = (scores[:, 0] > 0).astype(int) if n_classes == 2 else scores.argmax(axis=1)
    source = f"GENERATED stand-in for {instead_of}" if instead_of else "generated text of the size of IMDB"
    return Split(X[:rows], y[:rows], X[rows:], y[rows:], source)


NOISE = 0.1  # of the labels, in standard deviations of the rule's scores: leaves a test accuracy near 0.9


def kept(name: str, make: Callable[[], Split]) -> Split:
    """A sparse set from the cache folder, made and kept there the first time."""
    from scipy.sparse import load_npz, save_npz

    path = CACHE / f"{name}-v{VERSION}"
    if not (path / "labels.npz").exists():
        split = make()
        path.mkdir(parents=True, exist_ok=True)
        save_npz(path / "train.npz", split.X)
        save_npz(path / "test.npz", split.X_test)
        np.savez(path / "labels.npz", y=split.y, y_test=split.y_test, source=split.source)
    labels = np.load(path / "labels.npz")
    X, X_test = (load_npz(path / f"{part}.npz") for part in ("train", "test"))
    return Split(X, labels["y"], X_test, labels["y_test"], str(labels["source"]))


SETS: dict[str, Callable[[], Split]] = {
    "fashion": fashion,
    "news20": news20,
    "reviews": reviews,
    "tiny": tiny,
}
