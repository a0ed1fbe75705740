"""Representations by kernels: strings and trees as their kernel values with the training rows, one Gram for all folds."""
# mypy: disallow-subclassing-any=False

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from nearline._arrays.design import Array
from nearline._records.kept import Instance, ListOf, Word, kept, require
from nearline.kernels import Kernel, Normalized, PartialTree, Spectrum, Subsequence, SubsetTree
from nearline.representations.base import Prepared, Representation
from nearline.representations.texts import Documents, documents

MOST_ROWS = 6000  # a Gram matrix of more takes long
MOST_WORK = 4e11  # products of lengths, summed over pairs


def _can_be_read(rows: "KernelRows") -> None:
    require(rows.kernel.takes in ("strings", "trees"), "The kernel of texts takes none")
    rows.kernel.items(rows.texts_)  # trees that cannot be read raise


@kept(kernel=Instance(Kernel), texts_=ListOf(Word()), links=_can_be_read)
class KernelRows(TransformerMixin, BaseEstimator):
    """Texts as their kernel values with those of the fit."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def fit(self, X: Any, y: Any = None) -> "KernelRows":
        """Keep the texts."""
        self.texts_ = documents(X)
        return self

    def transform(self, X: Any) -> Array:
        """k(x, x_i) (n, texts of the fit)."""
        new, kept = (self.kernel.items(texts) for texts in (documents(X), self.texts_))
        return np.asarray(self.kernel.between(new, kept), dtype=np.float32)

    def fit_transform(self, X: Any, y: Any = None, **_: Any) -> Array:
        """The Gram matrix of the texts."""
        return gram_of(self.kernel, self.fit(X).texts_)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The texts of the fit."""
        return np.array(self.texts_, dtype=object)


def gram_of(kernel: Kernel, texts: list[str]) -> Array:
    return np.asarray(kernel.among(kernel.items(texts)), dtype=np.float32)


@dataclass(frozen=True)
class Gram(Prepared):
    """The kernel's values among all rows. A kernel learns nothing from rows, so folds may share them."""

    K: Array

    @property
    def squares(self) -> Array:
        """k(x, x) of all rows."""
        return np.diagonal(self.K)

    def fold(self, train: Array, test: Array, codes: Array | None = None) -> tuple[Any, Any]:
        return self.K[np.ix_(train, train)], self.K[np.ix_(test, train)]


@dataclass(frozen=True)
class KernelValues(Representation):
    """k(x, x') with all training rows, for kernel machines; final models have the kernel itself."""

    gives: ClassVar[str] = "gram"
    kernel: ClassVar[Kernel]
    depth: ClassVar[float] = 1.0  # operations for each pair of symbols

    def transformer(self) -> Any:
        return KernelRows(self.kernel)

    def chained(self, model: Any) -> list[tuple[str, Any]]:
        return [("representation", Documents()), ("model", model.set_params(kernel=self.kernel))]

    def seconds(self, X: Any) -> float:
        return 1e-9 * self._work(documents(X))

    def _work(self, texts: list[str]) -> float:
        """Products of lengths, summed over pairs, times what each costs."""
        return 0.5 * self.depth * float(sum(map(len, texts))) ** 2

    def prepared(self, rows: Any) -> Prepared:
        texts = documents(rows)
        work = self._work(texts)
        if len(texts) > MOST_ROWS or work > MOST_WORK:
            raise ValueError(
                f"a Gram matrix of {len(texts):,} rows takes long (most: {MOST_ROWS:,}, less if they are long)"
            )
        return Gram(gram_of(self.kernel, texts))


@dataclass(frozen=True)
class Subsequences(KernelValues):
    """Common subsequences of three characters, gaps discounted."""

    name: ClassVar[str] = "subsequences"
    kernel: ClassVar[Kernel] = Normalized(Subsequence(3, 0.5))
    depth: ClassVar[float] = 3.0


@dataclass(frozen=True)
class LongSubsequences(KernelValues):
    """Common subsequences of five characters, gaps discounted less."""

    name: ClassVar[str] = "subsequences-5"
    kernel: ClassVar[Kernel] = Normalized(Subsequence(5, 0.7))
    depth: ClassVar[float] = 5.0


@dataclass(frozen=True)
class Spectra(KernelValues):
    """Common runs of up to four characters."""

    name: ClassVar[str] = "spectrum"
    kernel: ClassVar[Kernel] = Normalized(Spectrum(4, up_to=True))
    depth: ClassVar[float] = 0.1


@dataclass(frozen=True)
class SubsetTrees(KernelValues):
    """Common fragments of trees whose nodes have all their children or none."""

    name: ClassVar[str] = "subset-trees"
    kernel: ClassVar[Kernel] = Normalized(SubsetTree(0.4))
    depth: ClassVar[float] = 0.05


@dataclass(frozen=True)
class PartialTrees(KernelValues):
    """Common fragments of trees whose nodes have any of their children."""

    name: ClassVar[str] = "partial-trees"
    kernel: ClassVar[Kernel] = Normalized(PartialTree())
    depth: ClassVar[float] = 0.5
