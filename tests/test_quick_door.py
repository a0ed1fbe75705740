"""Plain arrays pass by a quick look; whatever comes, the answer is that of all checks."""

import warnings
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from nearline import GaussianNB, LogisticRegression
from nearline._arrays.validation import are_plain_labels, is_plain
from nearline.estimators import base

N = 24
RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(N, 3))
NAMED = pd.DataFrame(ROWS, columns=["a", "b", "c"])


class Rows(np.ndarray):
    pass


def spoiled(value):
    X = ROWS.copy()
    X[3, 1] = value
    return X


def misaligned(X):
    raw = np.zeros(X.nbytes + 1, dtype=np.uint8)
    view = raw[1:].view(X.dtype).reshape(X.shape)
    view[...] = X
    return view


DESIGNS = {
    "float64": ROWS,
    "float32": ROWS.astype(np.float32),
    "float16": ROWS.astype(np.float16),
    "long double": ROWS.astype(np.longdouble),
    "whole numbers": (10 * ROWS).astype(int),
    "complex": ROWS + 0j,
    "objects": ROWS.astype(object),
    "strings": ROWS.astype(str),
    "words": np.full((N, 3), "x"),
    "Fortran": np.asfortranarray(ROWS),
    "every other row": np.repeat(ROWS, 2, axis=0)[::2],
    "other bytes": ROWS.astype(">f8"),
    "misaligned": misaligned(ROWS),
    "read-only": np.frombuffer(ROWS.tobytes()).reshape(N, 3),
    "subclass": ROWS.view(Rows),
    "masked": np.ma.masked_greater(ROWS, 1.0),
    "list": ROWS.tolist(),
    "frame": NAMED,
    "sparse": csr_matrix(ROWS),
    "NaN": spoiled(np.nan),
    "infinity": spoiled(np.inf),
    "both infinities": np.where(ROWS > 0, np.inf, -np.inf),
    "sum overflows": np.where(ROWS > 0, 1e308, 1e307),
    "float32 sum overflows": np.where(ROWS > 0, 3e38, 1e37).astype(np.float32),
    "no rows": ROWS[:0],
    "no features": ROWS[:, :0],
    "one row": ROWS[:1],
    "other features": np.hstack([ROWS, ROWS]),
    "one dimension": ROWS[:, 0],
    "three dimensions": ROWS[:, :, None],
    "no dimension": np.array(1.0),
    "nothing": None,
    "text": "rows",
}
CODES = np.arange(N) % 3
LABELS = {
    "whole numbers": CODES,
    "small": CODES.astype(np.int8),
    "unsigned": CODES.astype(np.uint64),
    "negative": 5 - 7 * CODES,
    "truth": CODES > 0,
    "strings": np.array(["b", "a", "ü"])[CODES],
    "objects": np.array(["b", "a", "ü"], dtype=object)[CODES],
    "bytes": np.array([b"b", b"a"])[CODES % 2],
    "mixed": np.array(["a", 1] * (N // 2), dtype=object),
    "floats": CODES.astype(float),
    "fractions": CODES + 0.5,
    "NaN": np.where(CODES > 0, np.nan, 1.0),
    "dates": CODES.astype("datetime64[s]"),
    "complex": CODES + 0j,
    "other bytes": CODES.astype(">i8"),
    "every other": np.repeat(CODES, 2)[::2],
    "list": CODES.tolist(),
    "series": pd.Series(CODES),
    "subclass": CODES.view(Rows),
    "column": CODES[:, None],
    "two columns": np.stack([CODES, CODES], axis=1),
    "all different": np.arange(N),
    "half different": np.arange(N) // 2,
    "more than half": np.minimum(np.arange(N), 12),
    "one class": np.zeros(N, dtype=int),
    "too few": CODES[:-1],
    "none": CODES[:0],
    "nothing": None,
}


def outcome(do):
    """What a call gives: its result or its error, and its warnings."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            found = do()
        except Exception as error:
            found = type(error), str(error)
    return found, [(one.category, str(one.message)) for one in heard]


def checked(X, y, weights, class_weight, names):
    """All that validation gives and remembers."""
    model = GaussianNB()
    if names:
        model.feature_names_in_ = np.array(["a", "b", "c"], dtype=object)
    rows, targets, weights = model._validate_fit(X, y, weights, class_weight)
    rows = rows.toarray() if not isinstance(rows, np.ndarray) else rows
    kept = {name: np.asarray(value).tolist() for name, value in vars(model).items() if name.endswith("_")}
    arrays = [(a.dtype, a.shape, a.flags.c_contiguous, a.tobytes()) for a in (rows, targets, weights)]
    return arrays, kept, model.classes_.dtype, rows is X


def slowly(do):
    with patch.object(base, "is_plain", return_value=False):
        return do()


@given(
    X=st.sampled_from(list(DESIGNS)),
    y=st.sampled_from(list(LABELS)),
    weights=st.sampled_from([None, np.arange(N) + 1.0, -np.ones(N), np.zeros(N)]),
    class_weight=st.sampled_from([None, "balanced"]),
    names=st.booleans(),
)
@example(X="float64", y="whole numbers", weights=None, class_weight=None, names=True)
@example(X="float32", y="strings", weights=None, class_weight=None, names=False)
@example(X="float64", y="more than half", weights=None, class_weight=None, names=False)
@example(X="float64", y="half different", weights=None, class_weight=None, names=False)
@example(X="float64", y="truth", weights=None, class_weight="balanced", names=False)
def test_both_doors_agree_on_fits(X, y, weights, class_weight, names):
    def do():
        return outcome(lambda: checked(DESIGNS[X], LABELS[y], weights, class_weight, names))

    assert do() == slowly(do)


@pytest.mark.parametrize(
    "fitted", [None, ROWS, ROWS[:, :2].copy(), NAMED], ids=["not", "yes", "else", "named"]
)
@pytest.mark.parametrize("X", DESIGNS)
def test_both_doors_agree_on_predictions(X, fitted):
    model = LogisticRegression()
    if fitted is not None:
        model.fit(fitted, CODES)

    def do():
        found, heard = outcome(lambda: model.decision_function(DESIGNS[X]))
        return found if isinstance(found, tuple) else found.tobytes(), heard

    assert do() == slowly(do)


def test_the_quick_door_is_taken():
    """Else all of the above would prove nothing."""
    quick = {name for name, X in DESIGNS.items() if is_plain(X)}
    assert quick == {"float64", "float32", "read-only", "one row", "other features"}
    labels = {name for name, y in LABELS.items() if are_plain_labels(y, N)}
    assert {"whole numbers", "small", "unsigned", "truth", "strings", "every other", "all different"} < labels
    assert not labels & {"objects", "floats", "bytes", "list", "subclass", "column", "too few", "dates"}
