"""Forged model files: one part of a good file is changed, and the checksums are made to fit."""

import copy
import linecache
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.attacks import NOTHING, REFUSED, SURVIVED, Outcome, failed
from nearline.files import ModelFileError, _container, load, save

METHODS = ("predict", "predict_proba", "decision_function", "transform", "transfer", "explain", "votes")
ODD: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 2, 3, 7, 10**9, 10**18, -(10**18), 0.5, -0.5, 1e-320, 1e308, float("nan"), float("inf")),
    *("", "x", "auto", "l1", "(a+)+$", "../../etc/passwd", "\ud83d", [], [0], [[]], ["x"], {}),
    *({"array": 0}, {"array": 1}, {"tuple": []}, {"tuple": [1, 10**6]}, {"dict": [["x"], [1]]}, {"type": "float64"}),
    *({"function": "ngram_similarity"}, {"dtype": "<f4"}, {"objects": [[1], [None]]}, {"object": ["metric.Cosine", {}]}),
    *({"object": ["kernel.Constant", {"value": 1.0}]}, {"object": ["estimator.GaussianNB", {}]}),
)  # fmt: skip
SECONDS = 20  # a try that takes longer hangs


class Good:
    """The header and the arrays of a good file, and rows for the model."""

    def __init__(self, model: Any, rows: Any) -> None:
        self.rows = rows
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "good"
            save(model, path)
            with path.open("rb") as file:
                reader = _container.Reader(file, path)
                self.arrays = reader.arrays()
        self.header = {k: v for k, v in reader.header.items() if k not in ("arrays", "sha256")}

    def with_array(self, number: int, array: Any) -> bytes:
        arrays = list(self.arrays)
        arrays[number] = array
        return forged(self.header, arrays)

    def with_value(self, at: tuple[Any, ...], value: Any) -> bytes:
        header = copy.deepcopy(self.header)
        place: Any = header["model"]
        for key in at[:-1]:
            place = place[key]
        if value is LEFT_OUT:
            del place[at[-1]]
        else:
            place[at[-1]] = copy.deepcopy(value)
        return forged(header, self.arrays)


LEFT_OUT = object()


def forged(header: dict[str, Any], arrays: list[Any]) -> bytes:
    """A file with right checksums, whatever is in it."""
    return _container._start(header, arrays) + b"".join(map(bytes, _container._parts(arrays)))


def changed_arrays(good: Good) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Each array in every other shape, type and range that comes to mind."""
    for number, array in enumerate(good.arrays):
        for name, change in CHANGES.items():
            try:
                new = np.asarray(change(array))
            except (ValueError, TypeError, IndexError, OverflowError):
                continue
            if _container.TYPES.fullmatch(new.dtype.newbyteorder("<").str):
                yield f"array {number} {name}", lambda n=number, new=new: good.with_array(n, new)
        for other in range(len(good.arrays)):
            if other != number:
                yield (
                    f"array {number} is {other}",
                    lambda n=number, o=other: good.with_array(n, good.arrays[o]),
                )


def _with(value: Any) -> Callable[[Any], Any]:
    def change(array: Any) -> Any:
        new = array.copy()
        new.flat[new.size // 2] = value
        return new

    return change


CHANGES: dict[str, Callable[[Any], Any]] = {
    "without the last": lambda a: a[:-1],
    "with one more": lambda a: np.concatenate([a, a[-1:]]),
    "twice": lambda a: np.concatenate([a, a]),
    "empty": lambda a: a[:0],
    "flat": np.ravel,
    "in one more dimension": lambda a: a[None],
    "turned": lambda a: a.T.copy(),
    "without a column": lambda a: a[:, :-1].copy(),
    "with one more column": lambda a: np.concatenate([a, a[:, -1:]], axis=1),
    "a number": lambda a: a.flat[0],
    "as float32": lambda a: a.astype(np.float32),
    "as float16": lambda a: a.astype(np.float16),
    "as float64": lambda a: a.astype(np.float64),
    "as int32": lambda a: a.astype(np.int32),
    "as uint64": lambda a: a.astype(np.uint64),
    "as bytes": lambda a: a.astype(np.uint8),
    "as truth values": lambda a: a != 0,
    "as strings": lambda a: a.astype(str),
    "with NaN": _with(np.nan),
    "with infinity": _with(np.inf),
    "with minus infinity": _with(-np.inf),
    "with 1e308": _with(1e308),
    "with 1e38": _with(1e38),
    "with a large number": _with(2**31 - 1),
    "with -1": _with(-1),
    "with 10**9": _with(10**9),
    "all NaN": lambda a: np.full(a.shape, np.nan),
    "all 1e308": lambda a: np.full(a.shape, 1e308),
    "all 0": np.zeros_like,
    "negative": lambda a: -a,
    "backwards": lambda a: a[::-1].copy(),
    "shuffled": lambda a: np.random.default_rng(0).permutation(a),
    "all alike": lambda a: np.full_like(a, a.flat[0]),
    "times 1e300": lambda a: a * 1e300,
    "times 1e-300": lambda a: a * 1e-300,
}


def changed_values(good: Good) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Each value of the header left out, replaced by odd ones, and by those that stand elsewhere."""
    model = good.header["model"]
    spots = [at for at in places(model) if at]
    rng = np.random.default_rng(0)
    for at in spots:
        others = [looked_up(model, spots[i]) for i in rng.integers(0, len(spots), 12)]
        for value in (LEFT_OUT, *ODD, *others):
            said = "left out" if value is LEFT_OUT else f"= {str(value)[:60]}"
            yield (
                f"{'.'.join(map(str, at))} {said}",
                lambda at=at, value=value: good.with_value(at, value),
            )


def places(code: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where JSON has values; of long lists only the beginning."""
    yield at
    if isinstance(code, (dict, list)):
        for key, part in code.items() if isinstance(code, dict) else list(enumerate(code))[:6]:
            yield from places(part, (*at, key))


def looked_up(code: Any, at: tuple[Any, ...]) -> Any:
    for key in at:
        code = code[key]
    return code


def tried(name: str, content: bytes, rows: Any, path: Path) -> Outcome:
    """A file that is refused by a sentence, or a model that answers rows as a model does."""
    path.write_bytes(content)
    try:
        with limited_time(), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            model = load(path)
            wrong = _ask(model, rows)
    except ModelFileError:
        return REFUSED
    except Exception as error:
        if is_sentence(error):
            return REFUSED
        where = traceback.extract_tb(error.__traceback__)[-1]
        return failed(
            f"{name}: {type(error).__name__}: {str(error)[:200]} ({Path(where.filename).name}:{where.lineno})"
        )
    return SURVIVED if wrong is None else failed(f"{name}: {wrong}")


def _ask(model: Any, rows: Any) -> str | None:
    """What is wrong with the answers of a model; None if nothing is."""
    n, classes = len(rows) if isinstance(rows, list) else rows.shape[0], getattr(model, "classes_", None)
    for method in METHODS:
        call = getattr(model, method, None)
        if call is None:
            continue
        found = call(rows)
        if method in ("explain", "transfer"):
            continue
        found = found.toarray() if sparse.issparse(found) else np.asarray(found)
        if len(found) != n:
            return f"{method} answers {len(found)} of {n} rows"
        if method == "predict" and classes is not None and not np.isin(found, classes).all():
            return "predict gives labels that are no classes"
        if getattr(model, "transfer", None) is None and found.dtype.kind == "f" and np.isnan(found).any():
            return f"{method} gives NaN"
        if method == "predict_proba" and not (
            found.shape == (n, len(classes))
            and (found >= 0).all()
            and np.allclose(found.sum(axis=1), 1, atol=1e-5)
        ):
            return "predict_proba gives no probabilities"
    return None


def is_sentence(error: Exception) -> bool:
    """Whether nearline or scikit-learn said it, by a raise of its own, in words; or rows failed scikit-learn's check."""
    frames = traceback.extract_tb(error.__traceback__)
    where = frames[-1]
    own = any(f"/{package}/" in where.filename for package in ("nearline", "sklearn"))
    line = linecache.getline(where.filename, where.lineno or 0).strip()
    said = isinstance(error, (ValueError, TypeError)) and len(str(error).split()) >= 4
    return said and ((own and line.startswith("raise")) or any(one.name == "check_array" for one in frames))


@contextmanager
def limited_time() -> Iterator[None]:
    def late(*_: Any) -> None:
        raise TimeoutError(f"no end after {SECONDS} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def attack(good: Good, tries: list[tuple[str, Callable[[], bytes]]], path: Path) -> Outcome:
    """The outcomes of forged files, added up."""
    return sum((tried(name, make(), good.rows, path) for name, make in tries), NOTHING)
