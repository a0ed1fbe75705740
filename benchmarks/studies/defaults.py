"""Are the defaults good ones? Estimators as they are constructed, beside scikit-learn's as they are constructed.

    python -m benchmarks.studies.defaults [--repeats 2] [--tables iris wine] [--json FILE] [--markdown FILE]

Public tables of at most 1,500 rows, as they come and (dense ones) standardized; missing values become medians; both inside
the folds. Every pair of estimators meets on the same stratified folds: 5, drawn anew for each repeat from fixed seeds. The
difference of accuracies over the J = 5 x repeats fits is judged by the corrected resampled t-test (Nadeau and Bengio): with
mean m and variance v it has the 95% interval m -+ t_{J-1} sqrt((1/J + 1/4) v), as the test part is a quarter of the training
part.
"""

import argparse
import json
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.stats import t as student
from sklearn import linear_model, neighbors, svm
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import nearline
from benchmarks.studies.tables import Array, public_tables, table

FOLDS = 5
PAIRS: dict[str, tuple[Any, Any]] = {
    "LogisticRegression": (nearline.LogisticRegression(), linear_model.LogisticRegression()),
    "LinearSVM": (nearline.LinearSVM(), svm.LinearSVC()),
    "KNeighborsClassifier": (nearline.KNeighborsClassifier(), neighbors.KNeighborsClassifier()),
    "KernelSVM": (nearline.KernelSVM(), svm.SVC()),
    "LeastSquaresClassifier": (nearline.LeastSquaresClassifier(), linear_model.RidgeClassifier()),
}


@dataclass(frozen=True)
class Meeting:
    """What two estimators did on the folds of one table: accuracies (folds x repeats,) and seconds of all fits."""

    table: str
    rows: str  # "as they come" or "standardized"
    estimator: str
    ours: list[float]
    theirs: list[float]
    our_seconds: float
    their_seconds: float

    @property
    def difference(self) -> float:
        return float(np.mean(self.ours) - np.mean(self.theirs))

    @property
    def half_width(self) -> float:
        """Of the 95% interval of the difference."""
        return half_width(np.subtract(self.ours, self.theirs))

    @property
    def worse(self) -> bool:
        """Whether the whole interval is below 0."""
        return self.difference + self.half_width < 0


def half_width(differences: Array) -> float:
    """t_{J-1} sqrt((1/J + 1/(FOLDS - 1)) v) for J differences of variance v."""
    J = len(differences)
    scale = (1.0 / J + 1.0 / (FOLDS - 1)) * np.var(differences, ddof=1)
    return float(student.ppf(0.975, J - 1) * np.sqrt(scale))


def ways(X: Any) -> dict[str, Any]:
    """How rows come to the estimators: transformers by name."""
    if issparse(X):
        return {"as they come": FunctionTransformer()}
    filled = SimpleImputer(strategy="median")
    return {"as they come": filled, "standardized": make_pipeline(filled, StandardScaler())}


def meetings(name: str, repeats: int, pairs: dict[str, tuple[Any, Any]] = PAIRS) -> Iterator[Meeting]:
    """Every pair on a table."""
    X, y = table(name)
    for rows, way in ways(X).items():
        scores = {(who, side): [] for who in pairs for side in (0, 1)}
        seconds = dict.fromkeys(scores, 0.0)
        for repeat in range(repeats):
            folds = StratifiedKFold(FOLDS, shuffle=True, random_state=repeat)
            for train, test in folds.split(X, y):
                fitted = clone(way).fit(X[train])
                known, new = fitted.transform(X[train]), fitted.transform(X[test])
                for who, side in scores:
                    began = time.perf_counter()
                    model = clone(pairs[who][side]).fit(known, y[train])
                    seconds[who, side] += time.perf_counter() - began
                    scores[who, side].append(round(float(np.mean(model.predict(new) == y[test])), 6))
        for who in pairs:
            ours, theirs = ((scores[who, side], seconds[who, side]) for side in (0, 1))
            yield Meeting(name, rows, who, ours[0], theirs[0], round(ours[1], 3), round(theirs[1], 3))


def summary(found: Sequence[Meeting]) -> str:
    """One row for each estimator: means over tables, worst difference, how often it is worse beyond the interval."""
    lines = [
        "| estimator | tables | ours | scikit-learn | difference | largest loss | worse beyond the interval | seconds |"
    ]
    lines.append("|---|---|---|---|---|---|---|---|")
    for who in dict.fromkeys(one.estimator for one in found):
        own = [one for one in found if one.estimator == who]
        ours, theirs = (np.mean([np.mean(getattr(one, side)) for one in own]) for side in ("ours", "theirs"))
        last = min(own, key=lambda one: one.difference)
        worse = [f"{one.table} ({one.rows})" for one in own if one.worse]
        times = f"{sum(m.our_seconds for m in own):.1f} against {sum(m.their_seconds for m in own):.1f}"
        loss = f"{last.difference:+.4f} ± {last.half_width:.4f} on {last.table} ({last.rows})"
        lines.append(
            f"| `{who}()` | {len(own)} | {ours:.4f} | {theirs:.4f} | {ours - theirs:+.4f} | {loss} "
            f"| {', '.join(worse) or 'none'} | {times} |"
        )
    return "\n".join(lines)


def details(found: Sequence[Meeting]) -> str:
    """One row for each table: accuracy of ours and theirs, for every estimator."""
    names = list(dict.fromkeys(one.estimator for one in found))
    lines = [f"| table | rows | {' | '.join(names)} |", "|---" * (len(names) + 2) + "|"]
    for key in dict.fromkeys((one.table, one.rows) for one in found):
        cells = []
        for one in (m for m in found if (m.table, m.rows) == key):
            cells.append(
                f"{np.mean(one.ours):.3f} / {np.mean(one.theirs):.3f}{' worse' if one.worse else ''}"
            )
        lines.append(f"| {' | '.join([*key, *cells])} |")
    return "\n".join(lines)


def as_json(found: Sequence[Meeting]) -> str:
    """One meeting a line."""
    return "[\n" + ",\n".join(json.dumps(asdict(one)) for one in found) + "\n]\n"


def main(arguments: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser(
        prog="python -m benchmarks.studies.defaults",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    p.add_argument("--repeats", type=int, default=2, help="of the 5 folds (default 2)")
    p.add_argument("--tables", nargs="*", help="names (default: all that are found)")
    p.add_argument("--json", type=Path, default=Path("benchmarks/results/defaults.json"))
    p.add_argument("--markdown", type=Path, default=Path("benchmarks/results/defaults.md"))
    args = p.parse_args(arguments)
    warnings.simplefilter(
        "ignore"
    )  # scikit-learn's solvers that stop early on raw rows are part of its defaults
    found = []
    for name in args.tables or public_tables():
        new = list(meetings(name, args.repeats))
        print("\n".join(details(new).splitlines()[2 if found else 0 :]), flush=True)
        found += new
    text = f"{summary(found)}\n\nAccuracy, ours / scikit-learn's:\n\n{details(found)}\n"
    for path, content in ((args.json, as_json(found)), (args.markdown, text)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    print(summary(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
