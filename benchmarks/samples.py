"""Files of every kind that the command line reads, made in a folder; each maker returns the arguments that name its data.

All rows are drawn, so that anyone gets the same files; large enough that a whole contest takes minutes.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

SYLLABLES = [a + b for a in (*"bdfgklmnprstv", "st", "tr") for b in (*"aeiou", "an", "er")]


def vocabulary(size: int, rng: np.random.Generator) -> list[str]:
    """Words of one to four syllables."""
    return ["".join(rng.choice(SYLLABLES, n)) for n in rng.integers(1, 5, size)]


def prose(n: int, length: int, classes: int, seed: int = 0) -> tuple[list[str], list[str]]:
    """Texts of words that are as unevenly frequent as those of a language, and their labels."""
    rng = np.random.default_rng(seed)
    words = np.array(vocabulary(20_000, rng), dtype=object)
    numbers = np.minimum(rng.zipf(1.15, size=(n, length)), len(words)) - 1
    labels = rng.integers(0, classes, n)
    own = rng.random((n, length)) < 0.1  # words of the class
    numbers[own] = (labels[:, None] * 37 + numbers % 37)[own] + 100
    return [" ".join(words[row]) for row in numbers], [f"class{c}" for c in labels]


def _file(path: Path, lines: list[str]) -> str:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def table_with_texts(folder: Path) -> list[str]:
    """7,600 rows: a title, a description, a number, a category."""
    (titles, labels), (bodies, _) = prose(7600, 7, 4), prose(7600, 32, 4)
    lines = [f"{y},{t},{b},{i % 97},kind{i % 5}" for i, (y, t, b) in enumerate(zip(labels, titles, bodies))]
    return [_file(folder / "news.csv", ["topic,title,description,pages,kind", *lines]), "--target", "topic"]


def texts(folder: Path) -> list[str]:
    """5,000 lines, each a label and a text."""
    lines = [f"{y}\t{text}" for text, y in zip(*prose(5000, 18, 2))]
    return [_file(folder / "texts.txt", lines), "--read", "format=lines of text"]


def folder_of_texts(folder: Path) -> list[str]:
    """4,000 files of 150 words, in a folder for each class: sparse rows."""
    for i, (text, y) in enumerate(zip(*prose(4000, 150, 10))):
        place = folder / "texts" / y
        place.mkdir(parents=True, exist_ok=True)
        _file(place / f"{i}.txt", [text])
    return [str(folder / "texts")]


def names(folder: Path) -> list[str]:
    """20,000 names of one word, a file for each of 18 languages."""
    rng, home = np.random.default_rng(0), folder / "names"
    home.mkdir()
    for language in range(18):
        own = SYLLABLES[language::9]
        lines = ["".join(rng.choice(own, rng.integers(2, 5))).title() for _ in range(20_000 // 18)]
        _file(home / f"language{language}.txt", lines)
    return [str(home)]


def sequences(folder: Path) -> list[str]:
    """3,000 sequences of 60 letters, FASTA."""
    rng, lines = np.random.default_rng(0), []
    for i in range(3000):
        lines += [
            f">class{i % 3}|s{i}",
            "".join(rng.choice(list("ACGT"), 60, p=np.roll([0.4, 0.2, 0.2, 0.2], i % 3))),
        ]
    return [_file(folder / "sequences.fasta", lines), "--target", "first"]


def trees(folder: Path) -> list[str]:
    """5,000 trees in brackets of some 30 nodes."""
    rng = np.random.default_rng(0)
    words = vocabulary(3000, rng)

    def tree(depth: int, c: int) -> str:
        if depth == 0 or rng.random() < 0.15:
            return f"(W{rng.integers(0, 6)} {words[int(rng.zipf(1.3)) % 3000]})"
        return f"(N{(c + rng.integers(0, 4)) % 6} {tree(depth - 1, c)} {tree(depth - 1, c)})"

    return [_file(folder / "sentences.trees", [f"class{i % 6}\t{tree(4, i % 6)}" for i in range(5000)])]


def pictures(n: int, side: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Gray pictures: a pattern of the class, shifted, with noise."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, classes, n)
    patterns = rng.integers(0, 200, (classes, side, side))
    shifts = rng.integers(-2, 3, n)
    X = np.stack([np.roll(patterns[c], s, axis=1) for c, s in zip(y, shifts)])
    return np.clip(X + rng.normal(0, 60, X.shape), 0, 255).astype(np.uint8), y


def folder_of_images(folder: Path) -> list[str]:
    """2,000 PNG files of 64 x 64 pixels, in a folder for each class."""
    from PIL import Image

    for i, (picture, c) in enumerate(zip(*pictures(2000, 64, 6))):
        place = folder / "images" / f"class{c}"
        place.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(place / f"{i}.png")
    return [str(folder / "images")]


def array_of_images(folder: Path) -> list[str]:
    """20,000 pictures of 28 x 28 bytes."""
    X, y = pictures(20_000, 28, 10)
    np.savez(folder / "images.npz", X=X, y=y)
    return [str(folder / "images.npz")]


def libsvm(folder: Path) -> list[str]:
    """32,000 rows of 14 ones among 123 features."""
    rng, lines = np.random.default_rng(0), []
    for i in range(32_000):
        c = i % 2
        places = np.unique(np.minimum(rng.geometric(0.03 + 0.01 * c, 14), 123))
        lines.append(f"{2 * c - 1} " + " ".join(f"{j}:1" for j in places))
    return [_file(folder / "rows.libsvm", lines)]


def wide_numbers(folder: Path) -> list[str]:
    """3,000 rows of 5,000 numbers."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 5000)), rng.integers(0, 3, 3000)
    X[:, :20] += 0.4 * y[:, None]
    np.savez(folder / "wide.npz", X=X, y=y)
    return [str(folder / "wide.npz")]


def numbers(folder: Path, n: int = 1_000_000) -> list[str]:
    """1,000,000 rows of 18 numbers, float64."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 18))
    y = (X[:, :4].sum(axis=1) + rng.normal(size=n) > 0).astype(int)
    np.savez(folder / "numbers.npz", X=X, y=y)
    return [str(folder / "numbers.npz")]


def mixed(folder: Path, n: int = 1_000_000) -> list[str]:
    """1,000,000 rows of 12 numbers, some of them missing, 4 categories, a date and a whole number."""
    import polars as pl

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 12)).round(3)
    y = X[:, :3].sum(axis=1) + rng.normal(size=n) > 0
    X[rng.random(n) < 0.05, 5] = np.nan
    columns: dict[str, object] = {f"x{j}": pl.Series(X[:, j]).fill_nan(None) for j in range(12)}
    for j, size in enumerate((2, 5, 12, 40)):
        columns[f"kind{j}"] = np.array([f"value{i}" for i in range(size)])[rng.integers(0, size, n)]
    days = rng.integers(15_000, 20_000, n).astype("M8[D]")
    columns |= {"day": days, "age": rng.integers(18, 90, n), "y": np.where(y, "yes", "no")}
    pl.DataFrame(columns).write_csv(folder / "mixed.csv")
    return [str(folder / "mixed.csv"), "--target", "y"]


SAMPLES: dict[str, Callable[[Path], list[str]]] = {
    "table with texts": table_with_texts,
    "texts": texts,
    "folder of texts": folder_of_texts,
    "names": names,
    "sequences": sequences,
    "trees": trees,
    "folder of images": folder_of_images,
    "array of images": array_of_images,
    "LIBSVM": libsvm,
    "wide numbers": wide_numbers,
    "1,000,000 rows of numbers": numbers,
    "1,000,000 mixed rows": mixed,
}
