"""What docs/extending/metric.md says of the list of metrics and of the sources is so; metrics of one's own are searched."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from nearline import Index, KNeighborsClassifier, Learned, _core
from nearline.neighbors.metric import Metric
from nearline.neighbors.metrics import ALIASES, METRIC_TYPES, METRICS, Euclidean, as_metric

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "extending" / "metric.md"


@dataclass(frozen=True)
class Steps(Metric):
    """sum_j floor |x_j - q_j|: with many ties."""

    name: ClassVar[str] = "steps"

    def distances(self, Q, X):
        return np.floor(np.abs(Q[:, None] - X)).sum(axis=2)


def blocks(kind):
    return re.findall(rf"```{kind}\n(.*?)```", PAGE.read_text(), re.S)


def test_the_page_shows_the_sources_and_counts_them():
    header = (ROOT / "src/core/neighbor_metrics.hpp").read_text()
    source = (ROOT / "src/nearline/neighbors/matches.py").read_text()
    (struct,) = blocks("cpp")
    own, *_, listed = blocks("python")
    assert struct in header
    assert listed in source
    own_class = own[own.index("@dataclass") :].strip().splitlines()
    count = [len([line for line in text if line.strip(" .")]) for text in (own_class, struct.splitlines())]
    python = [line for line in listed.splitlines() if line]
    imports = re.findall(r"^>>> .*import .*$", own, re.M)
    in_python, compiled = re.findall(r"^\| lines \| (.*?) \|$", PAGE.read_text(), re.M)
    assert in_python.startswith(f"{count[0]} for the class on this page, {len(imports)} for its imports")
    assert compiled == f"{count[1]} for the struct, 1 to list it; {len(python)} for the class in Python"


def test_every_metric_of_the_core_is_listed_once():
    listed = [
        kind.core for kind in METRIC_TYPES if kind.core is not None and kind is not Learned
    ]  # Mahalanobis, once learned
    assert sorted(one.name for one in listed) == sorted(one.name for one in _core.Metric)
    names = [kind.name for kind in METRIC_TYPES]
    assert len({*names, *ALIASES}) == len(names) + len(ALIASES)
    assert all(METRICS[ALIASES[alias]] is as_metric(alias) for alias in ALIASES)


@pytest.mark.parametrize("kind", METRIC_TYPES)
def test_what_serves_a_metric_is_declared_by_its_own_class(kind):
    assert "core" in vars(kind)
    assert "name" in vars(kind)
    derived = type("Derived", (kind,), {})
    example = next((one for one in METRICS.values() if type(one) is kind), None)
    if example is not None:
        with pytest.raises(ValueError, match="would be measured as that one"):
            as_metric(derived())


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
def test_a_metric_of_ones_own_is_searched(dtype):
    rng = np.random.default_rng(0)
    X, Q = ((10 * rng.random((n, 3))).astype(dtype) for n in (80, 9))
    found = Index(X, Steps()).search(Q, 4)
    real = np.float64 if dtype == np.uint8 else dtype
    D = Steps().distances(Q.astype(real), X.astype(real))
    order = np.lexsort((np.broadcast_to(np.arange(80), D.shape), D), axis=-1)[:, :4]
    np.testing.assert_array_equal(found.indices, order)
    np.testing.assert_array_equal(found.distances, np.take_along_axis(D, order, axis=1))
    model = KNeighborsClassifier(3, metric=Steps()).fit(X, np.arange(80) % 2)
    assert model.predict(Q).shape == (9,)


def test_a_metric_that_says_nothing_or_nonsense_is_refused():
    silent = type("Silent", (Metric,), {"name": "silent"})
    with pytest.raises(ValueError, match=r"give it distances\(self, Q, X\)"):
        Index(np.eye(3), silent())
    wrong = type("Wrong", (Metric,), {"name": "wrong", "core": "l2"})
    with pytest.raises(ValueError, match=r"take a member of nearline\._core\.Metric"):
        Index(np.eye(3), wrong())
    flat = type("Flat", (Metric,), {"name": "flat", "distances": lambda self, Q, X: np.zeros(len(X))})
    with pytest.raises(ValueError, match=r"gave distances of shape \(3,\) for 2 queries and 3 rows"):
        Index(np.eye(3), flat()).search(np.eye(3)[:2], 1)
    with pytest.raises(ValueError, match="There is no tree for metric 'steps', only for 'l1', 'l2'"):
        Index(np.eye(3), Steps(), algorithm="tree")
    with pytest.raises(ValueError, match="cannot be saved"):
        Index(np.eye(3), Steps()).save("nowhere.npz")


def test_the_core_measures_nothing_as_another_metric():
    none, X = np.empty((0, 0)), np.ones((2, 3))
    flags, numbers = np.empty(0, np.uint8), np.empty(0, np.int64)
    search = _core.Search(None, 2.0, none, X, none.astype(np.uint8), flags, numbers, 1, np.inf, 1)
    with pytest.raises(ValueError, match="without a metric takes distances only"):
        search.scan_all(X, np.empty(0), numbers)
    cosine = _core.Search(
        _core.Metric.cosine, 2.0, none, X, none.astype(np.uint8), flags, numbers, 1, np.inf, 1
    )
    with pytest.raises(ValueError, match="one number a row where the metric needs them"):
        cosine.scan_all(X, np.empty(0), numbers)
    with pytest.raises(TypeError):
        _core.pair_distances("l2", 2.0, none, X, X, numbers, numbers, np.empty(0))
    assert as_metric(Euclidean()) == METRICS["l2"]
