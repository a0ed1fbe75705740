"""Real short texts: the default contest with words and runs and without, and a table of two columns of texts beside one text.

    python -m benchmarks.studies.short_texts              # 1,500 training rows of each set, three families
    python -m benchmarks.studies.short_texts 1000 AG      # fewer, of the sets whose names have this

Test rows are those that are not trained on (of TREC its own test questions). One split, one seed: a check that nothing is
worse by much, not a comparison of methods.
"""

import csv
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.data import data_folder

FAMILIES = ["logistic, L2", "SVM, squared hinge", "naive Bayes, multinomial"]
MOST_TESTED = 4000
Rows = tuple[Any, np.ndarray, Any, np.ndarray]


def drawn(X: Any, y: np.ndarray, rows: int) -> Rows:
    """Training rows, and as test rows some of the others."""
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:rows], order[rows : rows + MOST_TESTED]
    return X.iloc[train], y[train], X.iloc[test], y[test]


def sets(rows: int) -> Iterator[tuple[str, Rows, list[str] | None]]:
    """Names, rows, and the representations of texts that are compared; None: all that suit."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("The data are not at hand: set NEARLINE_DATA.")
    both = [["words", "characters"], ["words", "characters", "words-and-runs"]]
    parts = []
    for name in ("train", "test"):
        lines = (folder / "trec" / f"{name}.txt").read_text("latin-1").splitlines()
        pairs = [line.partition(" ")[::2] for line in lines if line.strip()]
        parts.append((pd.Series([text for _, text in pairs]), np.array([one[:4] for one, _ in pairs])))
    X, y, *_ = drawn(*parts[0], rows)
    lines = (folder / "sms_spam" / "SMSSpamCollection").read_text("utf-8").splitlines()
    labels, texts = zip(*(line.split("\t", 1) for line in lines))
    messages = drawn(pd.Series(texts), np.array(labels), rows)
    for features in both:
        yield "TREC", (X, y, *parts[1]), features
        yield "SMS", messages, features
    with (folder / "ag_news_test" / "test.csv").open(encoding="utf-8", newline="") as file:
        news = pd.DataFrame(list(csv.reader(file)), columns=["class", "title", "description"])
    labels = news.pop("class").to_numpy()
    yield "AG News, one text", drawn(news["title"] + " " + news["description"], labels, rows), None
    yield "AG News, title and description", drawn(news, labels, rows), None
    yield "AG News, title", drawn(news["title"], labels, rows), None


def main() -> None:
    from nearline import TryThemAll

    warnings.simplefilter("ignore")
    rows, wanted = int((sys.argv[1:] or ["1500"])[0]), (sys.argv[2:] or [""])[0]
    for name, (X, y, X_test, y_test), features in sets(rows):
        if wanted not in name:
            continue
        start = time.perf_counter()
        contest = TryThemAll(
            include=FAMILIES, features=features, test=None, beside=None, progress="silent"
        ).fit(X, y)
        right = float(np.mean(contest.predict(X_test) == y_test))
        chosen = contest.chosen_
        tried = ", ".join(sorted({one.representation for one in contest.leaderboard_}))
        print(
            f"{name}: {len(y):,} rows, {tried}: {chosen.family} on {chosen.representation}, "
            f"{contest.leaderboard_.mean(chosen):.4f} over folds, {right:.4f} on {len(y_test):,} test rows, "
            f"{time.perf_counter() - start:.0f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
