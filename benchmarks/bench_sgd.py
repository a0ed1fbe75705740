"""SGD and the perceptron rule, seconds an epoch, against scikit-learn's SGDClassifier and Perceptron.

python benchmarks/bench_sgd.py [--data news20 pair fashion] [--losses hinge logistic perceptron] [--repeats 3]

Data: tf-idf of 20 Newsgroups (20 classes), two of its classes ("pair"), and Fashion-MNIST / 255. Both libraries fit a
fixed number of epochs, one-vs-rest, with two threads; runs are interleaved and the best of several counts. Test
accuracy stands beside the time. "loop only" is the epochs alone, without our objective after each epoch, the
certificate and the validation.
"""

import argparse
import time
import warnings

import numpy as np
from data import Split, load
from sklearn.linear_model import Perceptron as TheirPerceptron
from sklearn.linear_model import SGDClassifier

import nearline
from nearline.risk.params import Params

EPOCHS, ALPHA = 5, 1e-4
THEIR_LOSS = {"hinge": "hinge", "logistic": "log_loss"}


def rows(name: str, dtype: str) -> Split:
    """A data set by name; 'pair' is the two largest classes of 20 Newsgroups, which are the hardest alike."""
    if name != "pair":
        return load(name, None, dtype)
    split = load("news20", None, dtype)
    train, test = np.isin(split.y, (3, 4)), np.isin(split.y_test, (3, 4))
    return Split(split.X[train], split.y[train], split.X_test[test], split.y_test[test], split.source)


def ours(loss: str):
    if loss == "perceptron":
        return nearline.Perceptron("one-vs-rest", max_iter=EPOCHS, random_state=0, averaged=False)
    solver = nearline.SGD(max_iter=EPOCHS)
    return nearline.LinearClassifier(loss, alpha=ALPHA, multiclass="one-vs-rest", solver=solver, tol=1e-9)


def theirs(loss: str, averaged: bool):
    if loss == "perceptron":
        return TheirPerceptron(max_iter=EPOCHS, tol=None, n_jobs=2, random_state=0)
    return SGDClassifier(
        THEIR_LOSS[loss], alpha=ALPHA, max_iter=EPOCHS, tol=None, n_jobs=2, random_state=0, average=averaged
    )


def fit(model, split: Split) -> tuple[float, float]:
    began = time.perf_counter()
    model.fit(split.X, split.y)
    seconds = time.perf_counter() - began
    return seconds / EPOCHS, model.score(split.X_test, split.y_test)


def loop_only(loss: str, averaged: bool, split: Split) -> tuple[float, float]:
    """Epochs in the core and nothing else."""
    n_classes = int(split.y.max()) + 1 if len(np.unique(split.y)) > 2 else 2
    targets = split.y if n_classes > 2 else (split.y == split.y.max()).astype(np.int32)
    solver = nearline.SGD(averaged=averaged)
    progress = solver.begin(Params.zeros(n_classes if n_classes > 2 else 1, split.X.shape[1]))
    seconds = np.inf
    for _ in range(EPOCHS):
        began = time.perf_counter()
        solver.partial_fit(progress, split.X, targets, loss=loss, alpha=ALPHA)
        seconds = min(seconds, time.perf_counter() - began)
    return seconds, np.nan


def contest(name: str, loss: str, repeats: int) -> None:
    splits = {dtype: rows(name, dtype) for dtype in ("float64", "float32")}
    runs = {}
    for dtype, split in splits.items():
        runs[f"nearline {dtype}"] = lambda split=split: fit(ours(loss), split)
        if loss != "perceptron":
            runs[f"nearline {dtype}, loop only"] = lambda split=split: loop_only(loss, True, split)
            runs[f"nearline {dtype}, loop only, last iterate"] = lambda split=split: loop_only(
                loss, False, split
            )
        runs[f"scikit-learn {dtype}"] = lambda split=split: fit(theirs(loss, False), split)
        if loss != "perceptron":
            runs[f"scikit-learn {dtype}, averaged"] = lambda split=split: fit(theirs(loss, True), split)
    best = dict.fromkeys(runs, (np.inf, np.nan))
    for _ in range(repeats):
        for who, run in runs.items():
            best[who] = min(best[who], run())
    peer = min(seconds for who, (seconds, _) in best.items() if who.startswith("scikit-learn"))
    print(f"\n{name}, {loss}, {splits['float64'].X.shape}")
    for who, (seconds, accuracy) in best.items():
        print(
            f"  {who:42s} {1e3 * seconds:8.2f} ms an epoch  {peer / seconds:5.1f}x  accuracy {accuracy:.4f}",
            flush=True,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", nargs="+", default=["news20", "pair", "fashion"])
    parser.add_argument("--losses", nargs="+", default=["hinge", "logistic", "perceptron"])
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.data:
        for loss in options.losses:
            contest(name, loss, options.repeats)
