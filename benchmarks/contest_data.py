"""Tables, texts and images as the whole contest takes them."""

import gzip
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.data import data_folder, load

Rows = tuple[Any, np.ndarray]
ADULT = ["age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation", "relationship", "race",
         "sex", "capital_gain", "capital_loss", "hours_per_week", "country", "income"]  # fmt: skip


def fashion(rows: int | None) -> Rows:
    """Fashion-MNIST, 10,000 images"""
    split = load("fashion", rows or 10_000, "float32")
    return split.X, split.y


def adult(rows: int | None) -> Rows:
    """Adult census, 32,561 rows of mixed types with missing values"""
    import pandas as pd

    file = next(_folder("tabular_mixed").rglob("adult.data*"))
    table = pd.read_csv(file, names=ADULT, na_values="?", skipinitialspace=True).iloc[:rows]
    return table.drop(columns="income"), table["income"].to_numpy(dtype=str)


def newsgroups(rows: int | None) -> Rows:
    """20 Newsgroups, 11,314 texts"""
    with gzip.open(_folder("newsgroups20") / "train.jsonl.gz", "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    texts, labels = [record["text"] for record in records], [record["label"] for record in records]
    order = np.random.default_rng(0).permutation(len(texts))[:rows]
    return [texts[i] for i in order], np.asarray(labels)[order]


def table(rows: int | None) -> Rows:
    """1,000 generated rows, 20 columns, 3 classes"""
    from sklearn.datasets import make_classification

    return make_classification(rows or 1000, 20, n_informative=8, n_classes=3, random_state=0)


def breast_cancer(rows: int | None) -> Rows:
    """Breast cancer, 455 of 569 rows, 30 columns"""
    from sklearn.datasets import load_breast_cancer

    return _first(*load_breast_cancer(return_X_y=True), rows or 455)


def digits(rows: int | None) -> Rows:
    """Handwritten digits, 1,438 of 1,797 rows, 64 columns"""
    from sklearn.datasets import load_digits

    return _first(*load_digits(return_X_y=True), rows or 1438)


def _first(X: np.ndarray, y: np.ndarray, n: int) -> Rows:
    """The first rows of a permutation: as many as a contest learns from that locks a fifth away."""
    kept = np.random.default_rng(0).permutation(len(y))[:n]
    return X[kept], y[kept]


DATA: dict[str, Callable[[int | None], Rows]] = {
    "breast-cancer": breast_cancer,
    "digits": digits,
    "fashion": fashion,
    "adult": adult,
    "newsgroups": newsgroups,
    "table": table,
}


# What the contests on them try, written down: families and representations that are added later do not move the goals.
FROZEN_FAMILIES = (
    "majority", "nearest centroid", "naive Bayes, Gaussian", "naive Bayes, multinomial", "naive Bayes, Bernoulli",
    "linear discriminant", "least squares", "perceptron", "k-NN, L2", "k-NN, cosine", "k-NN, L1", "logistic, L2",
    "SVM, squared hinge", "SVM, hinge", "SVM, Crammer-Singer", "logistic, L1", "logistic, elastic net", "sparsemax",
    "SVM, Weston-Watkins", "kernel k-NN", "kernel SVM", "kernel least squares", "kernel, low-rank least squares",
)  # fmt: skip
FROZEN_REPRESENTATIONS: dict[str, tuple[str, ...]] = {
    "breast-cancer": ("standardized", "as-is"),
    "digits": ("standardized", "as-is"),
    "table": ("standardized", "as-is"),
    "fashion": ("standardized", "as-is"),
    "adult": ("table", "table-minmax"),
    "newsgroups": ("words",),
}


def lazy_sets(name: str, rows: int | None) -> tuple[Any, Any, np.ndarray, np.ndarray]:
    """A small table by name: X, X_test as frames, y, y_test; a third of the rows are the test."""
    import pandas as pd
    from sklearn.datasets import load_breast_cancer, load_digits, load_wine
    from sklearn.model_selection import train_test_split

    if name == "table":
        X, y = table(1500)
    else:
        made = {"breast cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}
        X, y = made[name](return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))[:rows]
    frame = pd.DataFrame(X[order], columns=[f"x{j}" for j in range(X.shape[1])])
    X_train, X_test, y_train, y_test = train_test_split(
        frame, y[order], test_size=1 / 3, stratify=y[order], random_state=1
    )
    return X_train, X_test, y_train, y_test


def _folder(name: str) -> Any:
    folder = data_folder()
    if folder is None or not (folder / name).is_dir():
        raise RuntimeError(f"it needs the real data of {name}: set NEARLINE_DATA to the folder that has them")
    return folder / name
