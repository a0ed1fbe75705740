"""FeatureExtractor: what extractors share: batches, a cache on disk, and a checksum of the model that made the features."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from nearline._arrays.design import Array
from nearline._atomic.whole import written_whole
from nearline._parallel.tiles import slices, steps
from nearline._records.kept import Flag, OrNone, Whole, Word, kept
from nearline.representations.features.remembered import remembered


@kept(
    cache=OrNone(Word()),
    progress=Flag(),
    checksum_=Word(),
    n_features_out_=Whole(1),
)
class FeatureExtractor(TransformerMixin, BaseEstimator, ABC):
    """Items to rows of float32 numbers, each item by itself, by a model that is given and stays as it is.

    ``fit`` notes the checksum of the model, nothing else. A model file keeps the checksum, not the model: whoever loads it
    needs the same one, and is told so if it is another. With ``cache``, a folder, features are kept by the content of the
    item and the checksum, and are computed once.
    """

    batch: int = 256  # items at a time
    takes: str = "rows"  # or "images", "texts"
    slow: bool = False  # whether rows are worth remembering: a contest asks for the same ones again
    cache: Any
    progress: bool

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.no_validation = True
        return tags

    @property
    @abstractmethod
    def called(self) -> str:
        """What its features are called in a contest."""

    @abstractmethod
    def _checksum(self) -> str:
        """What decides the features: of the model's file, or of the rule's name and settings."""

    @abstractmethod
    def _items(self, X: Any) -> Sequence[Any]:
        """What is given as a sequence of items, checked."""

    @abstractmethod
    def _features(self, items: Any) -> Array:
        """Features (n, d) of some items."""

    def _content(self, item: Any) -> bytes:
        """Bytes of an item, the same for equal items alone."""
        return f"{item.dtype} {item.shape}".encode() + np.ascontiguousarray(item).tobytes()

    def fit(self, X: Any, y: Any = None) -> Self:
        """Note the model's checksum and the number of features."""
        items = self._items(X)
        if not len(items):
            raise ValueError(
                f"{type(self).__name__} needs at least one item to see how many features there are."
            )
        self.checksum_ = self._checksum()
        self.n_features_out_ = int(self._of(items[:1]).shape[1])
        return self

    def transform(self, X: Any) -> Array:
        """Features (n, d), float32."""
        check_is_fitted(self)
        if self._checksum() != self.checksum_:
            raise ValueError(
                f"The model of {type(self).__name__} is not the one it was fitted with: its checksum is "
                f"{self._checksum()[:12]}..., that of the fit {self.checksum_[:12]}.... Give the same one, or fit again."
            )
        items = self._items(X)
        rows = np.empty((len(items), self.n_features_out_), dtype=np.float32)
        for part in steps(slices(len(items), self.batch)):
            found = self._of(items[part])
            if found.shape[1] != self.n_features_out_:
                raise ValueError(
                    f"{type(self).__name__} gave {self.n_features_out_} features in fit, and {found.shape[1]} now: give "
                    "items of the same size."
                )
            rows[part] = found
            if self.progress:
                print(f"features of {part.stop:,} of {len(items):,}", file=sys.stderr)
        if not np.isfinite(rows).all():
            bad = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
            raise ValueError(f"The features of item {bad + 1} are not finite: is it what the model takes?")
        return rows

    def _of(self, items: Any) -> Array:
        """What is known already from memory or the cache, the rest computed."""
        if self.cache is None and not self.slow:
            return np.asarray(self._features(items), dtype=np.float32)
        checksum = self._checksum()
        contents = [sha256(self._content(item)).hexdigest() for item in items]
        rows = [self._known(checksum, content) for content in contents]
        missing = [i for i, row in enumerate(rows) if row is None]
        if missing:
            chosen = items[missing] if isinstance(items, np.ndarray) else [items[i] for i in missing]
            for i, row in zip(missing, np.asarray(self._features(chosen), dtype=np.float32)):
                rows[i] = row
                self._keep(checksum, contents[i], row)
        return np.stack([row for row in rows if row is not None])

    def _known(self, checksum: str, content: str) -> Array | None:
        row = remembered.get(checksum, content) if self.slow else None
        return row if row is not None or self.cache is None else _read(self._file(checksum, content))

    def _keep(self, checksum: str, content: str, row: Array) -> None:
        if self.slow:
            remembered.keep(checksum, content, row)
        if self.cache is not None:
            file = self._file(checksum, content)
            file.parent.mkdir(parents=True, exist_ok=True)
            with written_whole(file) as out:
                np.save(out, row, allow_pickle=False)

    def _file(self, checksum: str, content: str) -> Path:
        folder = sha256(checksum.encode()).hexdigest()[:32]  # settings count as the file does
        return Path(self.cache) / folder / f"{content}.npy"

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """What it sees has no names of its own: what it is called, and a number, counted from 1."""
        check_is_fitted(self)
        return np.array([f"{self.called} {j + 1}" for j in range(self.n_features_out_)], dtype=object)


def _read(file: Path) -> Array | None:
    """A row of the cache; None if there is none, or a damaged one, which is then made again."""
    try:
        row = np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return row if row.ndim == 1 and row.dtype == np.float32 else None


def needed(name: str, extra: str, purpose: str) -> Any:
    """An optional package, or the command that installs it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f"{purpose} needs {name}: pip install 'nearline[{extra}]'") from error


def file_checksum(path: Path, what: str) -> str:
    """SHA-256 of a file."""
    try:
        with path.open("rb") as file:
            digest = sha256()
            while part := file.read(2**20):
                digest.update(part)
            return digest.hexdigest()
    except OSError as error:
        raise ValueError(f"{what} cannot be read: {error}. Give the path of the file.") from error
