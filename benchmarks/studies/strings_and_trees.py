"""Kernels of strings and trees at work: python -m benchmarks.studies.strings_and_trees [promoters] [surnames] [questions]."""

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline

from benchmarks.data import data_folder
from nearline import KernelSVM, LinearSVM, kernel_scores
from nearline.data import read
from nearline.kernels import Normalized, PartialTree, Spectrum, Subsequence, SubsetTree

CS = (0.3, 1.0, 3.0, 10.0, 100.0)


def tuned(kernels: list[Any], X: Any, y: Any, X_test: Any, y_test: Any, folds: int = 5) -> str:
    """The best kernel and alpha by folds, and its accuracy on the test."""
    alphas = [1.0 / (len(y) * c) for c in CS]
    start = time.perf_counter()
    found = kernel_scores(KernelSVM(), X, y, [Normalized(kernel) for kernel in kernels], alphas, folds=folds)
    chosen = time.perf_counter()
    model = KernelSVM(**found.best).fit(X, y)
    accuracy = float(np.mean(model.predict(X_test) == y_test))
    return (
        f"{found.best['kernel'].kernel!r}, C = {1 / (len(y) * found.best['alpha']):.2g}: folds {found.mean.max():.4f}, "
        f"test {accuracy:.4f} ({chosen - start:.1f} s to choose, {time.perf_counter() - chosen:.1f} s to fit and test, "
        f"{len(model.support_):,} support items)"
    )


def linear(X: Any, y: Any, X_test: Any, y_test: Any, **tokens: Any) -> str:
    """tf-idf and a linear machine, alpha by folds."""
    from sklearn.model_selection import GridSearchCV

    model = make_pipeline(TfidfVectorizer(sublinear_tf=True, **tokens), LinearSVM())
    search = GridSearchCV(model, {"linearsvm__alpha": [1e-5, 1e-4, 1e-3, 1e-2]}, cv=5).fit(X, y)
    return f"folds {search.best_score_:.4f}, test {float(np.mean(search.predict(X_test) == y_test)):.4f}"


def promoters(folder: Path) -> None:
    """106 pieces of DNA, promoters or not; nested folds, for there is no test set."""
    lines = (folder / "promoters" / "promoters.data").read_text().split("\n")
    parts = [line.split(",") for line in lines if line]
    X, y = np.array([part[2].strip() for part in parts], dtype=object), np.array([part[0] for part in parts])
    print("DNA promoters: 106 strings, ten outer folds")
    kernels = {
        "spectrum": [Spectrum(n) for n in (3, 4, 5)],
        "subsequences": [Subsequence(n, decay) for n in (3, 4, 5) for decay in (0.3, 0.5, 0.8)],
    }
    for name, tried in kernels.items():
        right = []
        for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(X, y):
            alphas = [1.0 / (len(train) * c) for c in CS]
            best = kernel_scores(KernelSVM(), X[train], y[train], [Normalized(k) for k in tried], alphas).best
            right += list(KernelSVM(**best).fit(X[train], y[train]).predict(X[test]) == y[test])
        print(f"  {name:14s} accuracy {np.mean(right):.4f}")
    right = []
    for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(X, y):
        pipeline = make_pipeline(TfidfVectorizer(analyzer="char", ngram_range=(1, 5)), LinearSVM())
        right += list(pipeline.fit(X[train], y[train]).predict(X[test]) == y[test])
    print(f"  tf-idf of characters, linear SVM: accuracy {np.mean(right):.4f}")


def surnames(folder: Path) -> None:
    """Surnames by nationality: 4,000 to fit, 2,000 to test."""
    names, labels = [], []
    for path in sorted((folder / "surnames").glob("*.txt")):
        lines = [
            line.strip().lower() for line in path.read_text(encoding="utf-8").split("\n") if line.strip()
        ]
        names += lines
        labels += [path.stem] * len(lines)
    rows = np.random.default_rng(0).permutation(len(names))[:6000]
    X, y = np.array(names, dtype=object)[rows], np.array(labels)[rows]
    few = np.isin(y, [label for label in np.unique(y) if (y[:4000] == label).sum() >= 5])
    train, test = few & (np.arange(6000) < 4000), few & (np.arange(6000) >= 4000)
    print(
        f"Surnames: {train.sum():,} to fit, {test.sum():,} to test, {len(np.unique(y[train]))} nationalities"
    )
    marked = np.array([f"^{name}$" for name in X], dtype=object)  # where a name begins and ends tells much
    data = marked[train], y[train], marked[test], y[test]
    print(f"  spectrum      {tuned([Spectrum(n, up_to=True) for n in (3, 4, 5)], *data)}")
    print(f"  subsequences  {tuned([Subsequence(n, d) for n in (2, 3, 4) for d in (0.3, 0.6)], *data)}")
    print(f"  tf-idf of characters, linear SVM: {linear(*data, analyzer='char', ngram_range=(1, 5))}")


def questions(folder: Path) -> None:
    """TREC question classification, six classes: 5,452 to fit, 500 to test."""
    files = [folder / "trec_trees" / name for name in ("train_5500.coarse.klp.gz", "TREC_10.coarse.klp.gz")]
    train, test = (read(file, columns=["grct"]) for file in files)
    X, X_test = (np.array(list(table.X), dtype=object) for table in (train, test))
    trees = X, train.y, X_test, test.y
    print(f"TREC questions: {len(X):,} to fit, {len(X_test):,} to test")
    print(f"  subset trees  {tuned([SubsetTree(0.4, leaves=True)], *trees, folds=3)}", flush=True)
    print(f"  partial trees {tuned([PartialTree(0.4, 0.4)], *trees, folds=3)}", flush=True)
    words = [words_of(part) for part in (trees[0], trees[2])]
    print(f"  tf-idf of words, linear SVM: {linear(words[0], trees[1], words[1], trees[3])}")


def words_of(trees: Any) -> list[str]:
    """The lexical nodes of grammatical-relation trees, word::tag."""
    import re

    return [" ".join(re.findall(r"LEX##([^\s():]+)::", str(tree))) for tree in trees]


def main() -> None:
    """Run the studies that are named, or all."""
    folder = data_folder()
    if folder is None:
        sys.exit("These studies need the real data sets: name their folder in NEARLINE_DATA.")
    for study in (promoters, surnames, questions):
        if len(sys.argv) == 1 or study.__name__ in sys.argv[1:]:
            study(folder)


if __name__ == "__main__":
    main()
