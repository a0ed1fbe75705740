"""k-NN in a learned distance against plain k-NN: ten public sets, repeated splits, a paired interval each.

python -m benchmarks.studies.learned_metrics [--only splice ionosphere] [--json FILE]

Columns of tables are brought to variance 1 by the training rows; embeddings and pixels are taken as they are. Both vote with
k = 5. Of large sets (covertype, Fashion-MNIST) ten parts that share no row have 2,000 rows to train on and 5,000 to test, so
that the ten differences are independent and the interval is that of the paired t-test. Of the others at most 3,000 rows are
taken, and split by 10 folds, five times over up to 1,000 rows, else once; there the interval is that of the corrected
resampled t-test (Nadeau and Bengio; Bouckaert and Frank), which allows for training rows that splits share.
"""

import argparse
import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.preprocessing import StandardScaler

from benchmarks.data import data_folder, load
from nearline import KNeighborsClassifier, Learned

Rows = tuple[np.ndarray, np.ndarray]
FOLDS, REPEATS, SMALL = 10, 5, 1000
PARTS, TRAIN, TEST = 10, 2000, 5000  # of large sets


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


def covertype(rows: int = 4000) -> Rows:
    held = np.load(folder() / "covertype" / "covtype.npz")
    chosen = np.random.default_rng(0).permutation(len(held["y"]))[:rows]
    return held["num"][chosen].astype(float), held["y"][chosen]


def text(name: str, X: str, y: str) -> Rows:
    held = np.load(folder() / "emb_text_wordllama" / name, allow_pickle=False)
    return held[X].astype(float), held[y]


def fashion() -> Rows:
    split = load("fashion", 4000, "float32")
    return split.X, split.y


def all_fashion() -> Rows:
    split = load("fashion", 60_000, "float32")
    return np.vstack([split.X, split.X_test]), np.concatenate([split.y, split.y_test])


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
    "covertype": (True, lambda: covertype(PARTS * (TRAIN + TEST))),
    "TREC, text vectors": (False, lambda: text("trec_wordllama256.npz", "X_train", "coarse_train")),
    "Fashion-MNIST": (False, all_fashion),
    "XOR and ten of noise": (False, xor),
}


LARGE = ("covertype", "Fashion-MNIST")


def splits(y: np.ndarray, large: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    if not large:
        yield from RepeatedStratifiedKFold(
            n_splits=FOLDS, n_repeats=REPEATS if len(y) <= SMALL else 1, random_state=0
        ).split(y[:, None], y)
        return
    for part in np.random.default_rng(0).permutation(len(y))[: PARTS * (TRAIN + TEST)].reshape(PARTS, -1):
        yield part[:TRAIN], part[TRAIN:]


def differences(X: np.ndarray, y: np.ndarray, scaled: bool, large: bool) -> np.ndarray:
    """(splits, 2): accuracy of plain and of learned neighbors."""
    out = []
    for train, test in splits(y, large):
        scaler = StandardScaler().fit(X[train]) if scaled else None
        A, B = (X[part] if scaler is None else scaler.transform(X[part]) for part in (train, test))
        models = KNeighborsClassifier(), KNeighborsClassifier(metric=Learned("nca"))
        out.append([model.fit(A, y[train]).score(B, y[test]) for model in models])
    return np.array(out)


def interval(d: np.ndarray, large: bool) -> tuple[float, float]:
    """95% of the mean difference, the variance enlarged for rows that splits share."""
    n = len(d)
    shared = 0.0 if large else 1.0 / (FOLDS - 1)
    width = student.ppf(0.975, n - 1) * np.sqrt((1.0 / n + shared) * d.var(ddof=1))
    return float(d.mean() - width), float(d.mean() + width)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=3000, help="of sets that are not large")
    parser.add_argument("--only", nargs="*", default=list(SETS))
    parser.add_argument("--json", type=Path, help="file of results, to which these are added by name")
    options = parser.parse_args()
    print("| set | rows x features | plain | learned | difference, 95% | |\n|---|---|---|---|---|---|")
    for name in options.only:
        scaled, make = SETS[name]
        X, y = make()
        large = name in LARGE
        chosen = np.random.default_rng(0).permutation(len(y))[: None if large else options.rows]
        X, y = X[chosen], y[chosen]
        found = differences(X, y, scaled, large)
        low, high = interval(found[:, 1] - found[:, 0], large)
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
