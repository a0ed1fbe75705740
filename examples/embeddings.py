"""Embeddings: k-NN and linear probes on 256 numbers per news text.   python -m examples.embeddings"""

from pathlib import Path
from typing import Any

import numpy as np

from examples._common import data_folder, show
from nearline import TryThemAll


def main(preset: str = "default", out: Path = Path("out/examples")) -> Any:
    with np.load(data_folder() / "emb_text_wordllama" / "ag_news_test_wordllama256.npz") as file:
        X, y = file["X"], file["y"]
    names = np.array(["world", "sports", "business", "science"])
    contest = TryThemAll(preset, include=["majority", "k-NN", "logistic, L2", "discriminant", "SVM, squared"])
    return show(contest.fit(X, names[y - 1]), out, "embeddings")


if __name__ == "__main__":
    main()
