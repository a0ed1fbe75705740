"""Titles of AG News from neighbors of the description: a random neighbor's, the nearest one's, and the consensus.

python -m benchmarks.studies.captions [--k 10] [--train 6600] [--coverage]

With --coverage, how often intervals contain the mean: the test items are the population (take --train 3600), of which 30,
100, 300 and 1,000 are drawn again and again.
"""

import argparse
import csv

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from benchmarks.data import data_folder
from nearline import caption_test
from nearline.neighbors.captions import CAPTION_SIMILARITIES
from nearline.selection.captions import CaptionTest, mean_interval

DRAWS, SIZES = 4000, (30, 100, 300, 1000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--train", type=int, default=6600, help="rows to learn from; the others are tested")
    parser.add_argument("--coverage", action="store_true", help="how often intervals contain the mean")
    given = parser.parse_args()
    folder = data_folder()
    if folder is None:
        raise SystemExit("The data sets are not here: set NEARLINE_DATA to their folder.")
    with (folder / "ag_news_test" / "test.csv").open(encoding="utf-8", newline="") as file:
        _, titles, descriptions = zip(*csv.reader(file))
    n = given.train
    words = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2).fit(descriptions[:n])
    reduced = TruncatedSVD(200, random_state=0)
    X = reduced.fit_transform(words.transform(descriptions[:n]))
    Q = reduced.transform(words.transform(descriptions[n:]))
    if given.coverage:
        print("| similarity | items | mean of the consensus | lead over the nearest |\n|---|---|---|---|")
    else:
        print("| similarity | random neighbor | nearest | consensus | more than the nearest |")
        print("|---|---|---|---|---|")
    for name in CAPTION_SIMILARITIES:
        found = caption_test(X, titles[:n], Q, titles[n:], k=given.k, similarity=name)
        if given.coverage:
            _print_coverage(name, found)
            continue
        means = [f"{one.mean:.4f} ({one.interval.bounds()})" for one in found.scores]
        last = found.scores[-1]
        assert last.lead_interval is not None
        print(f"| {name} | {' | '.join(means)} | {last.lead:+.4f} ({last.lead_interval.bounds()}) |")


def _print_coverage(name: str, found: CaptionTest) -> None:
    consensus, nearest = found.by_item["consensus"], found.by_item["the nearest"]
    for size in SIZES:
        given = ((consensus, True), (consensus - nearest, False))
        shares = [f"{_coverage(values, size, skewed):.3f}" for values, skewed in given]
        print(f"| {name} | {size:,} | {' | '.join(shares)} |", flush=True)


def _coverage(values: np.ndarray, size: int, skewed: bool) -> float:
    rng, truth = np.random.default_rng(size), float(values.mean())
    drawn = (mean_interval(rng.choice(values, size), skewed=skewed)[1] for _ in range(DRAWS))
    return float(np.mean([one.low <= truth <= one.high for one in drawn]))


if __name__ == "__main__":
    main()
