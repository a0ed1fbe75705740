"""Pixels, gradients and a ConvNet; neighbors, lines and a learned distance: which pairs see what is on a photo?

python -m benchmarks.studies.photos features --cache FOLDER     (needs nearline[convnet]; computes what the network sees)
python -m benchmarks.studies.photos table --cache FOLDER --json FILE
python -m benchmarks.studies.photos changed --cache FOLDER --json FILE
python -m benchmarks.studies.photos picture --json FILE --out FILE.png

table: ten splits of each set, two thirds to train on. k-NN takes the best of 1, 3, 5 and 9 neighbors on 5 folds of the
training rows; the learned distance takes the same number; the linear model, logistic regression on columns of variance 1,
takes the best of four penalties on 3 folds. The interval is that of the mean accuracy by the corrected resampled t-test
(Nadeau and Bengio).

changed: each photo of trashnet in three disguises: boxed (a grey square in the middle), shifted and tinted, each at such a
strength that its pixels are as far from those of the photo as the boxed one's. Which features still find the photo, and say
which disguise is farthest from it?
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.data import data_folder, load
from nearline import KNeighborsClassifier, Learned, LogisticRegression, sweep
from nearline.data import read
from nearline.data.resampled import shrunk
from nearline.representations.features import ConvNet, ImageFeatures

TEST, SPLITS = 1.0 / 3.0, 10
KS, ALPHAS = [1, 3, 5, 9], [1.0, 0.1, 0.01, 0.001]
FEATURES = ("pixels", "hog", "convnet")
MODELS = ("k-NN", "linear", "learned")
Images = tuple[np.ndarray, np.ndarray]


def photos(name: str) -> Images:
    """Images of a folder, 256 pixels a side."""
    table = read(data_folder() / name, features="images", size=256)
    return table.X.reshape(len(table), *table.description.shape), np.asarray(table.y)


def fashion() -> Images:
    split = load("fashion", 60_000, "float32")
    chosen = np.random.default_rng(0).permutation(len(split.y))[:2000]
    X = split.X[chosen]
    return np.rint(X * (255 / X.max())).astype(np.uint8).reshape(-1, 28, 28), split.y[chosen]


SETS: dict[str, Callable[[], Images]] = {
    "trashnet": lambda: photos("trashnet_sample"),
    "ORL faces": lambda: photos("orl_faces"),
    "Fashion-MNIST": fashion,
}


def extractor(kind: str, cache: Path) -> Any:
    return ConvNet(cache=str(cache)) if kind == "convnet" else ImageFeatures(kind, size=32)


def features_of(images: np.ndarray, kind: str, cache: Path, name: str) -> np.ndarray:
    """Rows by a kind of features; those of the network as kept by the command ``features``."""
    kept = cache / f"{name}.npy"
    if kind == "convnet" and kept.exists():
        return np.load(kept)
    rows = extractor(kind, cache).fit_transform(images)
    if kind == "convnet":
        np.save(kept, rows)
    return rows


def bees() -> Images:
    """Ants and bees as the network sees them: the photos are not at hand."""
    held = np.load(data_folder() / "emb_hymenoptera_effnetlite0" / "hymenoptera_effnetlite0.npz")
    return np.vstack([held["X_train"], held["X_val"]]), np.concatenate([held["y_train"], held["y_val"]])


def accuracies(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(models, splits)."""
    found = []
    for train, test in StratifiedShuffleSplit(SPLITS, test_size=TEST, random_state=0).split(X, y):
        A, B, a, b = X[train], X[test], y[train], y[test]
        k = sweep(A, a, ks=KS, metrics=["l2"], weights=["uniform"], folds=5).best["n_neighbors"]
        linear = make_pipeline(StandardScaler(), LogisticRegression())
        models = [
            KNeighborsClassifier(k),
            GridSearchCV(linear, {"logisticregression__alpha": ALPHAS}, cv=3),
            KNeighborsClassifier(k, metric=Learned("nca")),
        ]
        found.append([model.fit(A, a).score(B, b) for model in models])
    return np.array(found).T


def half_width(scores: np.ndarray) -> float:
    """Of the 95% interval of the mean over splits, the variance enlarged for what splits share."""
    J = len(scores)
    return float(student.ppf(0.975, J - 1) * np.sqrt((1 / J + TEST / (1 - TEST)) * scores.var(ddof=1)))


def table(cache: Path, file: Path, only: list[str]) -> None:
    for name in only:
        kinds = ("convnet",) if name == "hymenoptera" else FEATURES
        images, y = bees() if name == "hymenoptera" else SETS[name]()
        for kind in kinds:
            X = images if name == "hymenoptera" else features_of(images, kind, cache, name)
            found = accuracies(np.ascontiguousarray(X, dtype=np.float32), y)
            _keep(file, f"{name}|{kind}", dict(zip(MODELS, found.tolist())))
            cells = [f"{one.mean():.3f} ± {half_width(one):.3f}" for one in found]
            print(f"| {name} | {kind} | {' | '.join(cells)} |", flush=True)


def disguises(images: np.ndarray) -> dict[str, np.ndarray]:
    """Boxed, shifted and tinted photos, whose pixels are as far from those of the photo, as nearly as can be."""
    boxed = images.copy()
    side = images.shape[1]
    boxed[:, side * 3 // 8 : side * 5 // 8, side * 3 // 8 : side * 5 // 8] = 128
    shifted, tinted = np.empty_like(images), np.empty_like(images)
    for i, image in enumerate(images):
        wanted = _distances(image, boxed[i : i + 1])[0]
        shifts = np.stack([np.roll(image, s, axis=1) for s in range(1, side // 2, 2)])
        shifted[i] = shifts[np.abs(_distances(image, shifts) - wanted).argmin()]
        tints = np.stack([_tinted(image, amount) for amount in range(2, 160, 2)])
        tinted[i] = tints[np.abs(_distances(image, tints) - wanted).argmin()]
    return {"boxed": boxed, "shifted": shifted, "tinted": tinted}


def _tinted(image: np.ndarray, amount: int) -> np.ndarray:
    return np.clip(image.astype(int) + np.array([amount, 0, -amount]), 0, 255).astype(np.uint8)


def _distances(image: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Of a photo's pixels to those of others, at the size that pixels are looked at."""
    small = shrunk(np.concatenate([image[None], others]), 32).astype(np.float32)
    return np.sqrt(np.square(small[1:] - small[0]).sum(axis=(1, 2, 3)))


def changed(cache: Path, file: Path) -> None:
    """How far each disguise is, by features, in units of the distance to the nearest other photo; how many are found."""
    images = SETS["trashnet"]()[0][::4]
    seen = disguises(images)
    print("| features | disguise | distance | of them found |\n|---|---|---|---|")
    for kind in FEATURES:
        rows = extractor(kind, cache).fit(images)
        X = rows.transform(images)
        D = np.sqrt(np.square(X[:, None] - X[None]).sum(axis=2))
        np.fill_diagonal(D, np.inf)
        for name, others in seen.items():
            Q = rows.transform(others)
            to_all = np.sqrt(np.square(Q[:, None] - X[None]).sum(axis=2))
            far = np.diag(to_all) / D.min(axis=1)
            hit = float((to_all.argmin(axis=1) == np.arange(len(X))).mean())
            _keep(file, f"disguise|{kind}|{name}", {"distances": far.tolist(), "found": hit})
            print(f"| {kind} | {name} | {np.median(far):.2f} | {hit:.2f} |", flush=True)


def picture(file: Path, out: Path) -> None:
    """One panel a set: accuracies with intervals, by features and model."""
    import matplotlib.pyplot as plt

    known = json.loads(file.read_text())
    names = [*SETS, "hymenoptera"]
    figure, axes = plt.subplots(1, len(names), figsize=(12, 3.6), sharey=True, layout="constrained")
    markers, shades = "os^", ["#1b6ca8", "#c46a00", "#3a7d44"]
    for axis, name in zip(axes, names):
        kinds = [kind for kind in FEATURES if f"{name}|{kind}" in known]
        for m, model in enumerate(MODELS):
            scores = [np.array(known[f"{name}|{kind}"][model]) for kind in kinds]
            places = np.arange(len(kinds)) + 0.18 * (m - 1)
            axis.errorbar(
                places, [one.mean() for one in scores], [half_width(one) for one in scores],
                fmt=markers[m], color=shades[m], capsize=3, label=model if model != "learned" else "learned distance",
            )  # fmt: skip
        axis.set_xticks(range(len(kinds)), kinds)
        axis.set_xlim(-0.5, max(1, len(kinds)) - 0.5)
        axis.set_title(name)
        axis.grid(axis="y", alpha=0.3)
    axes[0].set_ylabel("accuracy, mean of ten splits")
    axes[-1].legend(loc="lower right")
    figure.savefig(out, dpi=110)


def _keep(file: Path, key: str, value: Any) -> None:
    known = json.loads(file.read_text()) if file.exists() else {}
    file.write_text(json.dumps({**known, key: value}, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("features", "table", "changed", "picture"))
    parser.add_argument("--cache", type=Path, default=Path("features"))
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/photos.json"))
    parser.add_argument("--out", type=Path, default=Path("docs/img/photos.png"))
    parser.add_argument("--only", nargs="*", default=[*SETS, "hymenoptera"])
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    if options.what == "features":
        for name in set(options.only) & set(SETS):
            print(name, features_of(SETS[name]()[0], "convnet", options.cache, name).shape, flush=True)
    elif options.what == "table":
        table(options.cache, options.json, options.only)
    elif options.what == "changed":
        changed(options.cache, options.json)
    else:
        picture(options.json, options.out)


if __name__ == "__main__":
    main()
