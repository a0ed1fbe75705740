"""k-NN in a learned distance against plain k-NN: ten public sets, repeated splits, a paired interval each.

python -m benchmarks.studies.learned_metrics [--splits 10] [--rows 4000] [--only splice ionosphere] [--json FILE]

Columns of tables are brought to variance 1 by the training rows; embeddings and pixels are taken as they are. Each split
trains on two thirds. Both vote with k = 5. The interval is that of the mean difference over splits by the corrected
resampled t-test (Nadeau and Bengio), which allows for training rows that splits share.
"""

import argparse
import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from benchmarks.data import data_folder, load
from nearline import KNeighborsClassifier, Learned

Rows = tuple[np.ndarray, np.ndarray]
TEST = 1.0 / 3.0


def folder() -> Any:
    found = data_folder()
    if found is None:
        raise SystemExit("The study reads real data: set NEARLINE_DATA to their folder.")
    return found


def table(name: str) -> Rows:
    with (folder() / "tabular_classic" / name).open() as file:
        lines = [line for line in csv.reader(file) if line]
    return np.array([[float(cell) for cell in line[:-1]] for line in lines]), np.array(
        [line[-1] for line in lines]
    )


def splice() -> Rows:
    """Letters of DNA as four columns each."""
    with (folder() / "splice" / "splice.csv").open() as file:
        lines = list(csv.reader(file))[1:]
    texts = [line[-1].strip() for line in lines]
    return np.array([[float(a == b) for a in text for b in "ACGT"] for text in texts]), np.array(
        [l[0] for l in lines]
    )


def covertype() -> Rows:
    held = np.load(folder() / "covertype" / "covtype.npz")
    chosen = np.random.default_rng(0).permutation(len(held["y"]))[:4000]
    return held["num"][chosen].astype(float), held["y"][chosen]


def text(name: str, X: str, y: str) -> Rows:
    held = np.load(folder() / "emb_text_wordllama" / name, allow_pickle=False)
    return held[X].astype(float), held[y]


def fashion() -> Rows:
    split = load("fashion", 4000, "float32")
    return split.X, split.y


def xor() -> Rows:
    X = np.random.default_rng(0).uniform(-1, 1, (1000, 12))
    return X, X[:, 0] * X[:, 1] > 0


# whether columns are brought to variance 1, and how rows are had
SETS: dict[str, tuple[bool, Callable[[], Rows]]] = {
    "ionosphere": (True, lambda: table("ionosphere.csv")),
    "sonar": (True, lambda: table("sonar.csv")),
    "wine": (True, lambda: table("wine.csv")),
    "pima": (True, lambda: table("pima-indians-diabetes.csv")),
    "breast cancer": (True, lambda: load_breast_cancer(return_X_y=True)),
    "digits": (True, lambda: load_digits(return_X_y=True)),
    "splice": (False, splice),
    "covertype": (True, covertype),
    "TREC, text vectors": (False, lambda: text("trec_wordllama256.npz", "X_train", "coarse_train")),
    "Fashion-MNIST": (False, fashion),
    "XOR and ten of noise": (False, xor),
}


def differences(X: np.ndarray, y: np.ndarray, scaled: bool, splits: int) -> np.ndarray:
    """(splits, 2): accuracy of plain and of learned neighbors."""
    out = []
    for train, test in StratifiedShuffleSplit(splits, test_size=TEST, random_state=0).split(X, y):
        scaler = StandardScaler().fit(X[train]) if scaled else None
        A, B = (X[part] if scaler is None else scaler.transform(X[part]) for part in (train, test))
        models = KNeighborsClassifier(), KNeighborsClassifier(metric=Learned("nca"))
        out.append([model.fit(A, y[train]).score(B, y[test]) for model in models])
    return np.array(out)


def interval(d: np.ndarray) -> tuple[float, float]:
    """95% of the mean difference, the variance enlarged for what splits share."""
    n = len(d)
    width = student.ppf(0.975, n - 1) * np.sqrt((1.0 / n + TEST / (1.0 - TEST)) * d.var(ddof=1))
    return float(d.mean() - width), float(d.mean() + width)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--only", nargs="*", default=list(SETS))
    parser.add_argument("--json", type=Path, help="file of results, to which these are added by name")
    options = parser.parse_args()
    print("| set | rows x features | plain | learned | difference, 95% | |\n|---|---|---|---|---|---|")
    for name in options.only:
        scaled, make = SETS[name]
        X, y = make()
        chosen = np.random.default_rng(0).permutation(len(y))[: options.rows]
        X, y = X[chosen], y[chosen]
        found = differences(X, y, scaled, options.splits)
        low, high = interval(found[:, 1] - found[:, 0])
        verdict = "better" if low > 0 else "worse" if high < 0 else "as good"
        plain, learned = found.mean(axis=0)
        shape = f"{X.shape[0]:,} x {X.shape[1]}"
        print(
            f"| {name} | {shape} | {plain:.3f} | {learned:.3f} | {low:+.3f} to {high:+.3f} | {verdict} |",
            flush=True,
        )
        if options.json is not None:
            keep(options.json, name, list(X.shape), found)


def keep(file: Path, name: str, shape: list[int], found: np.ndarray) -> None:
    """Add the accuracies of a set to a file of results."""
    known = json.loads(file.read_text()) if file.exists() else {}
    known[name] = {"shape": shape, "plain": found[:, 0].tolist(), "learned": found[:, 1].tolist()}
    file.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
