"""Rows and queries for the contests of nearest neighbors: real data where they are found, else generated."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from benchmarks.data import data_folder, load


@dataclass(frozen=True)
class Rows:
    """Rows to search, queries, and where they come from."""

    X: Any
    Q: Any
    source: str


@lru_cache(maxsize=2)
def rows(name: str, n: int | None = None, m: int | None = None) -> Rows:
    """A set by its name, cut to its first n rows and m queries."""
    made = _MAKERS[name]()
    return Rows(made.X[:n], made.Q[:m], made.source)


def fashion() -> Rows:
    """Pixels 0 .. 255 as float32."""
    split = load("fashion", None, "float32")
    X, Q = (np.ascontiguousarray(np.rint(part * 255), dtype=np.float32) for part in (split.X, split.X_test))
    return Rows(X, Q, f"{split.source}, pixels 0 to 255")


def fashion_scaled() -> Rows:
    """Pixels in [0, 1]: no whole numbers."""
    split = load("fashion", None, "float32")
    return Rows(split.X, split.X_test, f"{split.source}, pixels 0 to 1")


def cifar() -> Rows:
    """8,000 + 2,000 images of 3,072 values."""
    folder = data_folder()
    if folder is None or not (folder / "cifar10").is_dir():
        return _low_rank(8_000, 2_000, 3072, 200, "GENERATED stand-in for CIFAR-10")
    from matplotlib.image import imread

    pixels = imread(folder / "cifar10" / "data_batch_1.png")[..., :3]
    X = np.rint(pixels.reshape(10_000, -1) * 255).astype(np.float32)
    return Rows(X[:8000], X[8000:], "CIFAR-10 (first batch), pixels 0 to 255")


def embeddings() -> Rows:
    """Text embeddings of 256 values, of length 1."""
    folder = data_folder()
    if folder is None or not (folder / "emb_text_wordllama").is_dir():
        return _low_rank(5_600, 2_000, 256, 64, "GENERATED stand-in for embeddings")
    X = np.load(folder / "emb_text_wordllama" / "ag_news_test_wordllama256.npz")["X"].astype(np.float32)
    return Rows(np.ascontiguousarray(X[:5600]), np.ascontiguousarray(X[5600:]), "AG News, 256-d embeddings")


def photos() -> Rows:
    """Network features of 1,280 values: generated at the size that matters, the real set has 244 rows."""
    return _low_rank(20_000, 2_000, 1280, 100, "generated 1,280-d embeddings of rank 100 and noise")


def noise() -> Rows:
    """Isotropic Gaussian noise: nothing to hold on to."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((62_000, 256), dtype=np.float32)
    return Rows(X[:60_000], X[60_000:], "isotropic Gaussian noise, 256-d")


def covertype() -> Rows:
    """54 columns: ten numbers of different units and 44 indicators."""
    folder = data_folder()
    if folder is None or not (folder / "covertype").is_dir():
        return _low_rank(500_000, 2_000, 54, 10, "GENERATED stand-in for Covertype")
    d = np.load(folder / "covertype" / "covtype.npz")
    X = np.hstack([d["num"], np.eye(4)[d["wilderness"]], np.eye(40)[d["soil"]]]).astype(np.float32)
    X = np.ascontiguousarray(X[np.random.default_rng(0).permutation(len(X))])
    return Rows(X[2000:502_000], X[:2000], "Covertype")


def news() -> Rows:
    split = load("news20", None, "float64")
    return Rows(split.X, split.X_test, split.source)


def _low_rank(n: int, m: int, D: int, rank: int, source: str) -> Rows:
    rng = np.random.default_rng(0)
    latent = rng.standard_normal((n + m, rank)) / np.sqrt(np.arange(1, rank + 1))
    X = latent.astype(np.float32) @ rng.standard_normal((rank, D), dtype=np.float32)
    X += 0.1 * rng.standard_normal(X.shape, dtype=np.float32)
    return Rows(X[:n], X[n:], source)


_MAKERS = {
    "fashion": fashion,
    "fashion-scaled": fashion_scaled,
    "cifar": cifar,
    "embeddings": embeddings,
    "photos": photos,
    "noise": noise,
    "covertype": covertype,
    "news": news,
}

__all__ = ["Rows", "rows"]
