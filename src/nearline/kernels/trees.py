"""Kernels of trees: common complete subtrees, subset trees and partial trees."""

from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from nearline import _core
from nearline._arrays.design import Array
from nearline._records.kept import Flag, Real, kept
from nearline.kernels._items import FilledKernel, as_array, as_list, counted, ranks_of, starts_of
from nearline.kernels.tree import Tree

__all__ = ["PartialTree", "SubsetTree", "Subtree", "Tree", "TreeKernel"]


@dataclass(frozen=True)
class TreeKernel(FilledKernel):
    """A kernel that counts the common fragments of two trees, by weight. Fragments: what a subclass says."""

    takes: ClassVar[str] = "trees"
    remedy: ClassVar[str] = "take a smaller decay"

    def items(self, raw: Any) -> Array:
        """Trees from `Tree` objects, text in brackets, or nested tuples."""
        trees = []
        for i, item in enumerate(as_list(raw, "trees")):
            try:
                trees.append(Tree.parse(item) if isinstance(item, str) else Tree.of(item))
            except ValueError as error:
                raise ValueError(f"Item {i + 1}: {error}") from error
        return as_array(trees)


@kept(decay=Real(above=0.0, most=1.0), leaves=Flag())
@dataclass(frozen=True)
class Subtree(TreeKernel):
    """The subtree kernel of Vishwanathan and Smola (2002): k(s, t) = sum over u of decay^|u| count_s(u) count_t(u).

    u runs over complete subtrees, a node with all that hangs below it; |u| is the number of its nodes that are no leaves.

    Parameters
    ----------
    decay : weight of each node, 0 < decay <= 1.
    leaves : whether a leaf alone counts too, with weight decay.

    Examples
    --------
    >>> from nearline.kernels.trees import Subtree
    >>> Subtree()(["(S (NP Mary) (VP ran))", "(S (NP Mary) (VP sang))"])
    array([[3., 1.],
           [1., 3.]])
    """

    positive: ClassVar[bool] = True

    decay: float = 1.0
    leaves: bool = False

    def __post_init__(self) -> None:
        _positive("Subtree", "decay", self.decay)

    def _fill(self, items: Array, kind: str, out: Array) -> None:
        labels, arities, starts, _ = encoded(items)
        numbers, sizes = np.empty(len(labels), dtype=np.int32), np.empty(len(labels), dtype=np.int32)
        _core.complete_subtrees(labels, arities, starts, numbers, sizes)
        row = np.repeat(np.arange(len(items)), np.diff(starts))
        kept = slice(None) if self.leaves else sizes > 0
        # features are numbered by size, so that those of one weight are side by side
        distinct, first, feature = np.unique(numbers[kept], return_index=True, return_inverse=True)
        size = np.maximum(sizes[kept][first], 1)
        order = np.argsort(size, kind="stable")
        place = np.empty(len(distinct), dtype=np.int64)
        place[order] = np.arange(len(distinct))
        powers, groups = np.unique(size[order], return_inverse=True)
        weights = float(self.decay) ** powers if len(powers) else np.ones(1)
        table = counted(row[kept], place[feature], len(items))
        _core.count_products(*table, groups.astype(np.int32), weights, kind, out)


@kept(decay=Real(above=0.0, most=1.0), leaves=Flag())
@dataclass(frozen=True)
class SubsetTree(TreeKernel):
    """The subset-tree kernel of Collins and Duffy (2002), over fragments that keep productions whole.

    A fragment goes from a node to all of its children or to none of them. k(s, t) is the sum over all pairs of nodes of
    D(a, b), which is 0 if their productions (the label and those of the children) differ, else
    decay prod over children (1 + D(a_i, b_i)), where leaves are factors of 1: a common fragment of m productions weighs
    decay^m. Only pairs with the same production are visited (Moschitti 2006).

    Parameters
    ----------
    decay : weight of each production, 0 < decay <= 1; large trees need a small one, as the number of their fragments
        is exponential.
    leaves : whether each pair of equal leaves counts as well, with weight decay, as it does in KeLP. Collins and Duffy
        count no words alone.

    Examples
    --------
    The fragments of (NP (D a) (N cat)) are (D a), (N cat), and those from NP with or without each of these:

    >>> from nearline.kernels.trees import SubsetTree
    >>> SubsetTree(decay=1.0)(["(NP (D a) (N cat))"], ["(NP (D a) (N cat))", "(NP (D a) (N dog))"])
    array([[6., 3.]])
    """

    positive: ClassVar[bool] = True

    decay: float = 0.4
    leaves: bool = False

    def __post_init__(self) -> None:
        _positive("SubsetTree", "decay", self.decay)

    def _fill(self, items: Array, kind: str, out: Array) -> None:
        _core.subset_tree_kernel(*encoded(items), float(self.decay), bool(self.leaves), kind, out)


@kept(decay=Real(above=0.0), mu=Real(above=0.0), terminal_factor=Real())
@dataclass(frozen=True)
class PartialTree(TreeKernel):
    """The partial-tree kernel of Moschitti (2006), over fragments that may leave out any children.

    k(s, t) is the sum over all pairs of nodes of D(a, b), which is 0 if their labels differ, else

        mu (decay^2 + sum over I, J of decay^(gaps(I) + gaps(J)) prod D(a_I, b_J)),

    where I and J are equally many children of a and of b in their order, and gaps(I) is the number of children that
    are left out between the first and the last of I. Two leaves have D = terminal_factor mu decay^2.

    Parameters
    ----------
    decay : weight of each child left out, and of fragments (lambda in the paper), 0 < decay <= 1.
    mu : weight of each node, 0 < mu <= 1.
    terminal_factor : how much more a pair of equal leaves weighs, at least 1; in KeLP words are made to weigh 5.

    Examples
    --------
    >>> from nearline.kernels.trees import PartialTree
    >>> PartialTree(decay=1.0, mu=1.0)(["(NP (D a) (N cat))", "(NP (N cat))"])
    array([[15.,  6.],
           [ 6.,  6.]])
    """

    decay: float = 0.4
    mu: float = 0.4
    terminal_factor: float = 1.0

    def __post_init__(self) -> None:
        _positive("PartialTree", "decay", self.decay)
        _positive("PartialTree", "mu", self.mu)
        if not 1 <= self.terminal_factor < np.inf:
            raise ValueError(
                f"PartialTree needs terminal_factor >= 1, got {self.terminal_factor!r}: below, it is no kernel."
            )

    def _fill(self, items: Array, kind: str, out: Array) -> None:
        weights = float(self.decay), float(self.mu), float(self.terminal_factor)
        _core.partial_tree_kernel(*encoded(items), *weights, kind, out)


def _positive(kernel: str, name: str, value: Any) -> None:
    if not 0 < value <= 1:
        raise ValueError(f"{kernel} needs 0 < {name} <= 1, got {value!r}.")


def encoded(trees: Array) -> tuple[Array, Array, Array, Array]:
    """Labels as numbers, numbers of children, starts, and ranks by content; children before parents."""
    flat = [tree.flat for tree in trees]
    starts = starts_of([len(labels) for labels, _ in flat])
    number: dict[str, int] = {}
    row = [number.setdefault(label, len(number)) for label in chain.from_iterable(f[0] for f in flat)]
    arities = np.fromiter(chain.from_iterable(f[1] for f in flat), dtype=np.int32, count=int(starts[-1]))
    ranks = ranks_of(flat, lambda f: (len(f[0]), f))
    return np.array(row, dtype=np.int32), arities, starts, ranks
