"""Named public tables of at most 1,500 rows: scikit-learn's bundled ones, and those of the data folder where it is there."""

import gzip
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import data_folder

Array = np.ndarray
Rows = tuple[Any, Array]  # X (n, D) dense or CSR, with NaN where a value is missing; y (n,)
MOST = 1500


def bundled(name: str) -> Rows:
    from sklearn import datasets

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return np.asarray(X, dtype=np.float64), y


def numbers(
    path: Path, separator: str = ",", header: Any = None, columns: Any = None, target: Any = -1
) -> Rows:
    """Columns of a text table that hold numbers; the target is a column's place or name."""
    import pandas as pd

    frame = pd.read_csv(path, sep=separator, header=header, na_values="?", skipinitialspace=True)
    y = frame.iloc[:, target] if isinstance(target, int) else frame[target]
    X = frame.drop(columns=y.name) if columns is None else frame[columns]
    X = X.replace({"male": 0.0, "female": 1.0})
    return X.to_numpy(dtype=np.float64), y.to_numpy().astype(str)


def one_hot(path: Path, target: str) -> Rows:
    import pandas as pd

    frame = pd.read_csv(path)
    return pd.get_dummies(frame.drop(columns=target)).to_numpy(dtype=np.float64), frame[target].to_numpy(str)


def letters(path: Path, skip: int, label: int, sequence: int) -> Rows:
    """DNA as one column for each place and letter."""
    lines = [line.split(",") for line in path.read_text().splitlines()[skip:] if line.strip()]
    bases = np.array([list(line[sequence].strip().upper()) for line in lines])
    X = np.concatenate([bases == base for base in "ACGT"], axis=1).astype(np.float64)
    return X, np.array([line[label].strip() for line in lines])


def libsvm(path: Path, dense: bool = True) -> Rows:
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(path))
    return (X.toarray() if dense else X), y


def vw(path: Path) -> Rows:
    from io import BytesIO

    from sklearn.datasets import load_svmlight_file

    with gzip.open(path) as file:
        return load_svmlight_file(BytesIO(file.read().replace(b" |f", b"")))


def arrays(path: Path, X: str, y: str) -> Rows:
    found = np.load(path)
    return found[X].astype(np.float64), found[y]


def covertype(path: Path) -> Rows:
    d = np.load(path)
    X = np.hstack([d["num"], np.eye(4)[d["wilderness"]], np.eye(40)[d["soil"]]])
    return X.astype(np.float64), d["y"]


def fashion(folder: Path) -> Rows:
    def read(name: str, skip: int) -> Array:
        with gzip.open(folder / name) as file:
            return np.frombuffer(file.read(), np.uint8)[skip:]

    X = read("t10k-images-idx3-ubyte.gz", 16).reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4))
    return X.reshape(len(X), -1) / 255.0, read("t10k-labels-idx1-ubyte.gz", 8)


def cifar(folder: Path) -> Rows:
    from PIL import Image

    image = np.asarray(Image.open(folder / "data_batch_1.png")).reshape(10_000, 8, 4, 8, 4, 3)
    X = image[:MOST].mean(axis=(2, 4)).reshape(MOST, -1) / 255.0
    return X, np.array(json.loads((folder / "train_labels_batch_1.json").read_text()))[:MOST]


def faces(folder: Path) -> Rows:
    from PIL import Image

    paths = sorted(folder.glob("s*/*.pgm"))
    X = np.array([np.asarray(Image.open(path)).reshape(28, 4, 23, 4).mean(axis=(1, 3)) for path in paths])
    return X.reshape(len(X), -1) / 255.0, np.array([path.parent.name for path in paths])


def words(texts: list[str], y: Any, **options: Any) -> Rows:
    """Texts as tf-idf, of a random sample of them."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    kept = np.random.default_rng(0).permutation(len(texts))[:MOST]
    options = {"min_df": 2, "sublinear_tf": True, **options}
    return TfidfVectorizer(**options).fit_transform([texts[i] for i in kept]), np.asarray(y)[kept]


def newsgroups(path: Path) -> Rows:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    return words([record["text"] for record in records], [record["label"] for record in records])


def labeled_lines(path: Path, separator: str, encoding: str = "utf-8") -> Rows:
    lines = [line.split(separator, 1) for line in path.read_text(encoding).splitlines() if separator in line]
    return words([text for _, text in lines], [label for label, _ in lines])


def ag_news(path: Path) -> Rows:
    import pandas as pd

    frame = pd.read_csv(path, header=None)
    return words((frame[1] + " " + frame[2]).tolist(), frame[0].to_numpy())


def surnames(folder: Path) -> Rows:
    named = [
        (path.stem, name) for path in sorted(folder.glob("*.txt")) for name in path.read_text().split("\n")
    ]
    named = [(label, name) for label, name in named if name.strip()]
    return words(
        [name for _, name in named], [label for label, _ in named], analyzer="char_wb", ngram_range=(1, 3)
    )


def public_tables() -> dict[str, Callable[[], Rows]]:
    """Loaders by name; without the data folder only the bundled ones."""
    found: dict[str, Callable[[], Rows]] = {
        name: partial(bundled, name) for name in ("iris", "wine", "breast_cancer", "digits")
    }
    folder = data_folder()
    if folder is None:
        return found
    classic, mixed, sparse = (folder / name for name in ("tabular_classic", "tabular_mixed", "libsvm_format"))
    named = {"pima": "pima-indians-diabetes", "banknote": "banknote_authentication"}
    for name in (
        "pima",
        "sonar",
        "ionosphere",
        "banknote",
        "mammography",
        "winequality-red",
        "winequality-white",
    ):
        found[name] = partial(numbers, classic / f"{named.get(name, name)}.csv")
    fare = ["pclass", "sex", "age", "sibsp", "parch", "fare"]
    bill = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]
    embedded = folder / "emb_text_wordllama"
    bees = folder / "emb_hymenoptera_effnetlite0" / "hymenoptera_effnetlite0.npz"
    return found | {
        "adult, numbers": partial(numbers, mixed / "adult.data", columns=[0, 2, 4, 10, 11, 12]),
        "titanic": partial(numbers, mixed / "titanic3.csv", header=0, columns=fare, target="survived"),
        "penguins": partial(numbers, mixed / "penguins.csv", header=0, columns=bill, target="species"),
        "horse colic": partial(numbers, mixed / "horse-colic.csv"),
        "mushroom": partial(one_hot, mixed / "agaricus-lepiota.data", "edible"),
        "splice": partial(letters, folder / "splice" / "splice.csv", 1, 0, 2),
        "promoters": partial(letters, folder / "promoters" / "promoters.data", 0, 0, 2),
        "a1a": partial(libsvm, sparse / "a1a.gz"),
        "heart": partial(libsvm, sparse / "heart_scale"),
        "rcv1": partial(vw, sparse / "rcv1_small.vw.gz"),
        "covertype": partial(covertype, folder / "covertype" / "covtype.npz"),
        "fashion": partial(fashion, folder / "fashion_mnist"),
        "cifar10": partial(cifar, folder / "cifar10"),
        "faces": partial(faces, folder / "orl_faces"),
        "ag news, embedded": partial(arrays, embedded / "ag_news_test_wordllama256.npz", "X", "y"),
        "trec, embedded": partial(arrays, embedded / "trec_wordllama256.npz", "X_train", "coarse_train"),
        "ants and bees": partial(arrays, bees, "X_train", "y_train"),
        "newsgroups": partial(newsgroups, folder / "newsgroups20" / "train.jsonl.gz"),
        "ag news": partial(ag_news, folder / "ag_news_test" / "test.csv"),
        "sms spam": partial(labeled_lines, folder / "sms_spam" / "SMSSpamCollection", "\t"),
        "trec": partial(labeled_lines, folder / "trec" / "train.txt", ":", "latin-1"),
        "surnames": partial(surnames, folder / "surnames"),
    }  # fmt: skip


def table(name: str) -> Rows:
    """At most 1,500 rows, drawn once; classes of fewer than 10 of them are left out, for they would miss folds."""
    X, y = public_tables()[name]()
    kept = np.random.default_rng(0).permutation(len(y))[:MOST]
    classes, counts = np.unique(y[kept], return_counts=True)
    kept = kept[np.isin(y[kept], classes[counts >= 10])]
    return X[kept], np.unique(y[kept], return_inverse=True)[1]
