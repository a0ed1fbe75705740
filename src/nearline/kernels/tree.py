"""Tree: a label and children, read from brackets or nested tuples. Nothing here recurses, so depth is no limit."""

import re
from dataclasses import dataclass
from typing import Any, NoReturn

from nearline._arrays.once import once

TOKEN = re.compile(r"[()]|[^\s()]+")
ESCAPES = (("(", "-LRB-"), (")", "-RRB-"))


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """An ordered tree with labels; a node without children is a leaf, such as a word.

    ``Tree.parse`` reads brackets as in treebanks, where brackets within labels are written -LRB- and -RRB-;
    ``Tree.of`` takes nested tuples. Trees are equal if all labels and shapes are.

    Examples
    --------
    >>> from nearline.kernels.trees import Tree
    >>> tree = Tree.parse("(S (NP Mary) (VP (V ate) (NP (D an) (N apple))))")
    >>> tree.label, len(tree), tree.children[0] == Tree.of(("NP", "Mary"))
    ('S', 11, True)
    >>> str(tree.children[1])
    '(VP (V ate) (NP (D an) (N apple)))'
    """

    label: str
    children: "tuple[Tree, ...]" = ()

    def __post_init__(self) -> None:
        if not isinstance(self.label, str) or not self.label or re.search(r"\s", self.label):
            raise ValueError(
                f"The label of a tree is a string without blanks, at least one character, got {self.label!r}."
            )
        object.__setattr__(self, "label", _unescaped(self.label))
        object.__setattr__(self, "children", tuple(self.children))
        for child in self.children:
            if not isinstance(child, Tree):
                raise ValueError(f"The children of a tree are trees, got {child!r}: take Tree.of for tuples.")

    @classmethod
    def parse(cls, text: str) -> "Tree":
        """A tree from brackets: ``(label child ...)``, a child being a tree again or a word.

        Brackets around the whole without a label, as some treebanks have them, are taken off.
        """
        if not isinstance(text, str):
            raise ValueError(f"Tree.parse takes text with brackets, got {type(text).__name__} {text!r}.")
        stack: list[tuple[str, list[Tree], int]] = []  # open nodes: label, children, position
        expects_label, done = False, None
        for token in TOKEN.finditer(text):
            word, at = token.group(), token.start()
            if done is not None:
                _wrong(text, at, f"there is {word!r} after the end of the tree")
            if word == "(":
                if expects_label and len(stack) > 1:
                    _wrong(text, at, "a bracket opens where a label should be")
                stack.append(("", [], at))
            elif not stack:
                _wrong(text, at, f"a tree begins with '(', but there is {word!r}")
            elif word == ")":
                done = _closed(text, stack, at)
            elif expects_label:
                stack[-1] = (word, [], stack[-1][2])
            else:
                stack[-1][1].append(_made(word, ()))
            expects_label = word == "("
        if stack:
            _wrong(text, stack[-1][2], "the bracket that opens there is never closed")
        if done is None:
            raise ValueError("An empty text is no tree: a tree is written (label child ...).")
        return done

    @classmethod
    def of(cls, nested: Any) -> "Tree":
        """A tree from nested tuples or lists (label, child, ...), where a string is a leaf; trees stay as they are."""
        results: list[Tree] = []
        todo: list[tuple[Any, bool]] = [(nested, False)]
        while todo:
            item, children_are_done = todo.pop()
            if children_are_done:
                count = len(item) - 1
                children = tuple(results[len(results) - count :])
                del results[len(results) - count :]
                results.append(cls(item[0], children))
            elif isinstance(item, Tree):
                results.append(item)
            elif isinstance(item, str):
                results.append(cls(item))
            elif isinstance(item, (tuple, list)) and item:
                todo.append((item, True))
                todo.extend((child, False) for child in reversed(item[1:]))
            else:
                raise ValueError(f"A tree is (label, child, ...) or a string for a leaf, got {item!r}.")
        return results[0]

    @once
    def flat(self) -> "tuple[tuple[str, ...], tuple[int, ...]]":
        """Labels and numbers of children of all nodes, children before parents."""
        labels, arities = [], []
        todo = [self]
        while todo:  # parents first, last child first: the reverse of what is wanted
            node = todo.pop()
            labels.append(node.label)
            arities.append(len(node.children))
            todo.extend(node.children)
        return tuple(reversed(labels)), tuple(reversed(arities))

    def __len__(self) -> int:
        """Number of nodes."""
        return len(self.flat[0])

    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and self.flat == other.flat

    def __hash__(self) -> int:
        return hash(self.flat)

    def __str__(self) -> str:
        parts: list[str] = []
        todo: list[Tree | str] = [self]
        while todo:
            node = todo.pop()
            if isinstance(node, str):
                parts.append(node)
                continue
            label = node.label
            for bracket, escape in ESCAPES:
                label = label.replace(bracket, escape)
            if node.children or node is self:
                parts.append(f" ({label}")
                todo.append(")")
                todo.extend(reversed(node.children))
            else:
                parts.append(f" {label}")
        return "".join(parts)[1:]

    def __repr__(self) -> str:
        return f"Tree.parse({str(self)!r})"

    def __reduce__(self) -> Any:
        return Tree.parse, (str(self),)


def _unescaped(label: str) -> str:
    for bracket, escape in ESCAPES:
        label = label.replace(escape, bracket)
    return label


def _made(label: str, children: tuple[Tree, ...]) -> Tree:
    """A tree from what is known to be right: the checks of the constructor would take most of the time."""
    tree = object.__new__(Tree)
    tree.__dict__["label"] = _unescaped(label) if "-" in label else label
    tree.__dict__["children"] = children
    return tree


def _closed(text: str, stack: "list[tuple[str, list[Tree], int]]", at: int) -> Tree | None:
    """Makes the innermost open node a tree: a child of the one around it, or the whole."""
    label, children, start = stack.pop()
    if label:
        tree = _made(label, tuple(children))
    elif not stack and len(children) == 1:
        tree = children[0]
    else:
        _wrong(text, start, "the bracket that opens there has no label")
    if stack:
        stack[-1][1].append(tree)
        return None
    return tree


def _wrong(text: str, at: int, what: str) -> NoReturn:
    around = text[max(0, at - 20) : at + 20]
    raise ValueError(f"This is no tree: at position {at} (near {around!r}) {what}.")
