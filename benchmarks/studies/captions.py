"""Titles of AG News from neighbors of the description: a random neighbor's, the nearest one's, and the consensus.

python -m benchmarks.studies.captions [--k 10] [--train 6600]
"""

import argparse
import csv

from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from benchmarks.data import data_folder
from nearline import caption_test
from nearline.neighbors.captions import CAPTION_SIMILARITIES


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--train", type=int, default=6600, help="rows to learn from; the others are tested")
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
    print("| similarity | random neighbor | nearest | consensus | more than the nearest |")
    print("|---|---|---|---|---|")
    for name in CAPTION_SIMILARITIES:
        found = caption_test(X, titles[:n], Q, titles[n:], k=given.k, similarity=name)
        means = [f"{one.mean:.4f} ({one.interval.bounds()})" for one in found.scores]
        last = found.scores[-1]
        assert last.lead_interval is not None
        print(f"| {name} | {' | '.join(means)} | {last.lead:+.4f} ({last.lead_interval.bounds()}) |")


if __name__ == "__main__":
    main()
