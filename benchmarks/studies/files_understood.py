"""What is understood of real files: format, rows, target, columns by kind and remarks, as a table. Nothing is fitted.

    python -m benchmarks.studies.files_understood            # prints the table
    python -m benchmarks.studies.files_understood --write    # writes docs/files-understood.md

Files are those of the data folder (see ``benchmarks.data``) and those that scikit-learn and SciPy bring along.
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.data import ROOT, data_folder
from nearline.data import DataError, Description, read

PAGE = ROOT / "docs" / "files-understood.md"
COMMAND = "python -m benchmarks.studies.files_understood"
MOST_BYTES = 10_000_000  # larger files are passed over
MOST_LETTERS = 300  # of remarks


@dataclass(frozen=True)
class Source:
    """A file or folder of a collection, and what a person would say about it."""

    name: str
    target: str | int | None = None
    options: dict[str, Any] = field(default_factory=dict)


DATA = (
    Source("tabular_mixed/adult.data", "last"),
    Source("tabular_mixed/adult.test", "last"),
    Source("tabular_mixed/penguins.csv", "species"),
    Source("tabular_mixed/penguins_raw.csv", "Species"),
    Source("tabular_mixed/titanic3.csv", "survived"),
    Source("tabular_mixed/titanic_seaborn.csv", "survived"),
    Source("tabular_mixed/agaricus-lepiota.data", "first"),
    Source("tabular_mixed/horse-colic.csv", 24),
    Source("tabular_classic/pima-indians-diabetes.csv", "last"),
    Source("tabular_classic/sonar.csv", "last"),
    Source("tabular_classic/ionosphere.csv", "last"),
    Source("tabular_classic/banknote_authentication.csv", "last"),
    Source("tabular_classic/mammography.csv", "last"),
    Source("tabular_classic/wine.csv", "last"),
    Source("tabular_classic/winequality-red.csv", "last"),
    Source("tabular_classic/winequality-white.csv", "last"),
    Source("libsvm_format/heart_scale"),
    Source("libsvm_format/a1a.gz"),
    Source("libsvm_format/a9a.gz"),
    Source("libsvm_format/rcv1_small.vw.gz"),
    Source("ag_news_test/test.csv", "first"),
    Source("sms_spam/SMSSpamCollection"),
    Source("newsgroups20/test.jsonl.gz", "label"),
    Source("promoters/promoters.data", "first"),
    Source("splice/splice.csv", "label"),
    Source("trec/test.txt"),
    Source("trec_trees/TREC_10.coarse.klp.gz"),
    Source("sst/dev.txt"),
    Source("surnames"),
    Source("covertype/covtype.npz"),
    Source("emb_hymenoptera_effnetlite0/hymenoptera_effnetlite0.npz"),
    Source("emb_text_wordllama/trec_wordllama256.npz", "coarse_train"),
    Source("fashion_mnist/t10k-images-idx3-ubyte.gz"),
    Source("fashion_mnist/train-images-idx3-ubyte.gz"),
    Source("orl_faces"),
    Source("trashnet_sample"),
)
SKLEARN = (
    Source("data/iris.csv", "last"),
    Source("data/breast_cancer.csv", "last"),
    Source("data/wine_data.csv", "last"),
    Source("data/digits.csv.gz", "last"),
    Source("data/diabetes_data_raw.csv.gz"),
    Source("data/linnerud_exercise.csv"),
    Source("images"),
    Source("tests/data/svmlight_classification.txt"),
    Source("tests/data/openml/id_61/data-v1-dl-61.arff.gz"),
    Source("tests/data/openml/id_40945/data-v1-dl-16826755.arff.gz", "survived"),
)
SCIPY = tuple(
    Source(f"{name}.arff")
    for name in (
        "iris",
        "missing",
        "quoted_nominal",
        "quoted_nominal_spaces",
        "test2",
        "test5",
        "test10",
        "nodata",
    )
)


def collections() -> Iterator[tuple[str, Path | None, tuple[Source, ...]]]:
    """Name, folder (None: it is not there) and files of each collection."""
    import scipy
    import sklearn

    yield "data folder", data_folder(), DATA
    yield "scikit-learn", Path(sklearn.__file__).parent / "datasets", SKLEARN
    yield "SciPy", Path(scipy.__file__).parent / "io" / "arff" / "tests" / "data", SCIPY


def rows() -> Iterator[tuple[str, ...]]:
    """The cells of the table, file after file; what is not there is said."""
    for name, folder, sources in collections():
        if folder is None or not folder.is_dir():
            yield f"{name}: {len(sources)} files", "-", "-", "-", "-", "passed over: the folder is not there"
            continue
        for source in sources:
            yield f"{name}: {source.name}", *understood(folder, source)


def understood(folder: Path, source: Source) -> tuple[str, ...]:
    """Format, rows, target, columns and remarks of one file."""
    path = folder / source.name
    if not path.exists():
        return "-", "-", "-", "-", "passed over: it is not there"
    if path.is_file() and path.stat().st_size > MOST_BYTES:
        return "-", "-", "-", "-", f"passed over: {path.stat().st_size / 1e6:.0f} MB"
    try:
        found = read(path, source.target, **source.options).description
    except DataError as error:
        return "-", "-", "-", "-", cut(f"refused: {error}".replace(str(path), source.name))
    return how(found), f"{found.rows:,}", target_of(found), kinds_of(found), cut(remarks(found))


def how(found: Description) -> str:
    """The format with its details."""
    return ", ".join([found.format, *(f"{key} {value}" for key, value in found.details.items())])


def target_of(found: Description) -> str:
    if not found.classes:
        return "none"
    where = "" if found.target is None else f"{found.target}: "
    return f"{where}{len(found.classes):,} classes"


def kinds_of(found: Description) -> str:
    """How many columns there are of each kind."""
    if not found.columns:
        return " x ".join(f"{n:,}" for n in found.shape) + " numbers" if found.shape else "texts"
    return ", ".join(
        f"{count:,} {kind}" for kind, count in Counter(one.type for one in found.columns).items()
    )


def remarks(found: Description) -> str:
    """Doubts about columns, the strongest first, then the notes."""
    doubted: dict[Any, list[str]] = {}
    for column in found.columns:
        for doubt in column.doubts:
            doubted.setdefault(doubt, []).append(column.name)
    doubts = sorted(doubted.items(), key=lambda pair: -pair[0].weight)
    said = [f"{doubt.name}: {', '.join(names)}" for doubt, names in doubts]
    left_out = [f"{found.unlabeled:,} rows without a label left out"] if found.unlabeled else []
    return "; ".join([*said, *left_out, *found.notes])


def cut(text: str) -> str:
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 4].rstrip() + " ..."


def cell(text: str) -> str:
    """Text for a cell of a table in Markdown."""
    return re.sub(r"([|<>\\*_`])", r"\\\1", " ".join(text.split()))


def table() -> tuple[str, int]:
    """The table, and how many files were understood."""
    lines = ["| file | format | rows | target | columns | remarks |", "|---|---|---|---|---|---|"]
    count = 0
    for cells in rows():
        count += cells[1] != "-"
        lines.append(f"| {' | '.join(map(cell, cells))} |")
    return "\n".join(lines), count


HEAD = """# Files understood

Written by `{command} --write`: {count} real files and folders, read as
`nearline try` does, with what was understood of each. Nothing is fitted. Names before a colon are where a file comes from:
the folder of real data sets (`NEARLINE_DATA`), or what scikit-learn and SciPy bring along. Remarks have the columns that look
wrong, then the notes; files of more than {most:.0f} MB are passed over.
"""


def page() -> str:
    shown, count = table()
    return f"{HEAD.format(command=COMMAND, count=count, most=MOST_BYTES / 1e6)}\n{shown}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    if not parser.parse_args().write:
        print(page())
        return
    if data_folder() is None:
        raise SystemExit(
            "The folder of real data is not there: set NEARLINE_DATA to it. Nothing was written."
        )
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
