"""Kernels of trees against their definitions by enumeration, and against KeLP's values; brackets; odd input."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearline
import oracle
from conftest import interrupted
from nearline.data import read
from nearline.kernels.psd import is_psd
from nearline.kernels.trees import PartialTree, SubsetTree, Subtree, Tree

KERNELS = [
    Subtree(),
    Subtree(0.7, leaves=True),
    SubsetTree(),
    SubsetTree(1.0, leaves=True),
    PartialTree(),
    PartialTree(0.6, 0.5, terminal_factor=5),
]
LABELS = st.sampled_from("ABC")
NESTED = st.recursive(
    st.tuples(LABELS),
    lambda below: (
        st.tuples(LABELS, below) | st.tuples(LABELS, below, below) | st.tuples(LABELS, below, below, below)
    ),
    max_leaves=6,
)


def random_trees(n, seed=0, most=12):
    """Trees of 1 to `most` nodes: each new one is hung below one that is there."""
    rng = np.random.default_rng(seed)
    trees = []
    for _ in range(n):
        nodes = [[str(rng.choice(list("ABCD")))]]
        for _ in range(rng.integers(0, most)):
            nodes.append([str(rng.choice(list("ABCD")))])
            nodes[rng.integers(len(nodes) - 1)].append(nodes[-1])
        trees.append(Tree.of(nodes[0]))
    return trees


@settings(max_examples=60)
@given(st.lists(NESTED, min_size=1, max_size=4), st.sampled_from([0.3, 1.0]), st.booleans())
def test_values_are_their_definitions(trees, decay, leaves):
    for kernel, value in (
        (Subtree(decay, leaves), lambda s, t: oracle.complete_subtree(s, t, decay, leaves)),
        (SubsetTree(decay, leaves), lambda s, t: oracle.subset_tree(s, t, decay, leaves)),
        (PartialTree(decay, 0.5, 3.0), lambda s, t: oracle.partial_tree(s, t, decay, 0.5, 3.0)),
    ):
        expected = [[value(s, t) for t in trees] for s in trees]
        np.testing.assert_allclose(kernel(trees), expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_way_to_a_value_has_the_same_bits(kernel):
    A, B = kernel.items(random_trees(60)), kernel.items(random_trees(40, seed=1, most=20))
    K, M = kernel.among(A), kernel.between(A, B)
    assert np.array_equal(K, K.T)
    assert np.array_equal(K, kernel.between(A, A))
    assert np.array_equal(K.diagonal(), kernel.diagonal(A))
    assert np.array_equal(M, kernel.between(B, A).T)
    assert np.array_equal(M, kernel.among(np.concatenate([A, B]))[: len(A), len(A) :])
    assert np.array_equal(M[3:5, 7:8], kernel.between(A[3:5], B[7:8]))
    assert is_psd(K)


@pytest.mark.parametrize("kernel", KERNELS)
def test_threads_do_not_matter(kernel):
    trees = random_trees(150, most=30)
    with nearline.num_threads(1):
        one = kernel(trees)
    with nearline.num_threads(5):
        assert np.array_equal(one, kernel(trees))


@pytest.mark.parametrize("kernel", KERNELS)
def test_empty_collections(kernel):
    assert kernel([]).shape == (0, 0)
    assert kernel(["(a)"], []).shape == (1, 0)
    assert kernel.diagonal(kernel.items([])).shape == (0,)


def golden(shared_data, name):
    folder = shared_data / "trec_trees"
    return read(folder / "TREC_10.coarse.klp.gz"), np.loadtxt(folder / "kernel_scores" / f"{name}_scores.txt")


@pytest.mark.parametrize(
    ("kernel", "name"),
    [(SubsetTree(0.4, leaves=True), "sstk"), (PartialTree(0.4, 0.4, terminal_factor=5), "ptk")],
)
def test_golden_values_of_kelp(kernel, name, shared_data):
    table, scores = golden(shared_data, name)
    assert table.description.details["tree"] == "grct"
    assert dict(table.description.classes)["HUM"] == 65
    K = kernel(table.X)
    lengths = np.sqrt(K.diagonal())
    np.testing.assert_allclose(K.diagonal(1) / (lengths[1:] * lengths[:-1]), scores, atol=1e-6)


def test_the_fragments_of_a_noun_phrase():
    """Collins and Duffy's example: (NP (D the) (N apple)) has 6 fragments."""
    assert SubsetTree(1.0)(["(NP (D the) (N apple))"])[0, 0] == 6
    assert SubsetTree(0.5)(["(NP (D the) (N apple))"])[0, 0] == pytest.approx(2 * 0.5 + 0.5 * 1.5**2)
    assert Subtree(0.5)(["(NP (D the) (N apple))"])[0, 0] == pytest.approx(2 * 0.5 + 0.5**3)


def test_round_trips():
    for tree in random_trees(50, most=40):
        assert Tree.parse(str(tree)) == tree
        assert eval(repr(tree)) == tree
        assert copy.deepcopy(tree) == pickle.loads(pickle.dumps(tree)) == tree
        assert hash(Tree.parse(str(tree))) == hash(tree)
    assert Tree.parse("(S(NP(D a))(VP(x)))") == Tree.of(("S", ("NP", ("D", "a")), ("VP", "x")))
    assert str(Tree.parse(" ( S\n(NP  x ) y)\t")) == "(S (NP x) y)"
    assert str(Tree.parse("((S (NP x)))")) == "(S (NP x))"
    assert len(Tree.parse("(S (NP x) y)")) == 4
    assert Tree("a") == Tree.parse("(a)") != Tree("b")


def test_brackets_in_labels():
    tree = Tree.parse("(NP (-LRB- -LRB-) (N x-RRB-y))")
    assert [child.label for child in tree.children] == ["(", "N"]
    assert tree.children[1].children[0].label == "x)y"
    assert str(tree) == "(NP (-LRB- -LRB-) (N x-RRB-y))"
    assert Tree("(") == Tree("-LRB-")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty text"),
        ("  \n", "empty text"),
        ("(S (NP x)", "position 0 .*never closed"),
        ("(S (NP x", "position 3 .*never closed"),
        ("(S x))", r"position 5 .*'\)' after the end"),
        ("(S x) y", "position 6 .*'y' after the end"),
        ("x (S)", "position 0 .*begins with"),
        ("()", "position 0 .*no label"),
        ("(S ())", "position 3 .*no label"),
        ("(S ((A b)))", "position 4 .*where a label should be"),
        ("((A b) (C d))", "position 0 .*no label"),
        (5, "got int"),
    ],
)
def test_malformed_brackets(text, message):
    with pytest.raises(ValueError, match=message):
        Tree.parse(text)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("(S x)", "put it in a list"),
        (["(S x)", "(S"], "Item 2: .*never closed"),
        ([None], "Item 1: .*None"),
        ([1.5], "Item 1"),
        ([()], "Item 1"),
        ([("S", 3)], "Item 1: .*got 3"),
        ([("S", "a b")], "Item 1: .*without blanks"),
        (np.zeros((3, 2)), r"shape \(3, 2\)"),
    ],
)
def test_what_is_no_collection_of_trees(raw, message):
    with pytest.raises(ValueError, match=message):
        SubsetTree().items(raw)


@pytest.mark.parametrize(
    "make",
    [
        lambda: SubsetTree(0.0),
        lambda: SubsetTree(1.1),
        lambda: Subtree(float("nan")),
        lambda: PartialTree(mu=0),
        lambda: PartialTree(decay=2),
        lambda: PartialTree(terminal_factor=0.5),
        lambda: Tree("a", ("b",)),
        lambda: Tree(""),
    ],
)
def test_parameters_are_checked(make):
    with pytest.raises(ValueError, match=r"needs|children|label"):
        make()


def test_deep_and_wide_trees():
    depth = 10_000
    tree = Tree.parse("(A " * depth + "x" + ")" * depth)
    assert len(tree) == depth + 1
    assert Tree.parse(str(tree)) == tree
    assert pickle.loads(pickle.dumps(tree)) == tree
    nested = ("x",)
    for _ in range(depth):
        nested = ("A", nested)
    assert Tree.of(nested) == tree
    other = Tree.parse("(B " * depth + "x" + ")" * depth)
    assert Subtree()([tree, other]).tolist() == [[depth, 0], [0, depth]]
    for kernel in (
        SubsetTree(0.1),
        PartialTree(0.1, 0.1),
    ):  # pairs of long trees cost memory: take a short one
        assert np.isfinite(kernel([tree], ["(A x)"])).all()
    assert SubsetTree(0.1)([tree], ["(A x)"])[0, 0] == pytest.approx(0.1)
    wide = Tree("S", (Tree("a"),) * 2000)
    assert np.isfinite(PartialTree(0.1, 0.1)([wide])).all()
    with pytest.raises(ValueError, match="smaller decay"):
        SubsetTree(1.0)([Tree.of(("S", *[("A", "x")] * 1100))])


def test_ctrl_c_ends_it():
    tree = Tree.of(("S", *[("A", "x", "y")] * 4000))
    with interrupted():
        PartialTree(0.1, 0.1)([tree] * 40)


def test_treebank_roots_as_classes(shared_data):
    table = read(shared_data / "sst" / "dev.txt")
    assert (len(table), table.description.format) == (1101, "bracketed trees")
    assert dict(table.description.classes) == {0: 139, 1: 289, 2: 229, 3: 279, 4: 165}
    assert table.X[0].startswith("(X (X It) (X (X (X 's)")
    assert "replaced by X" in str(table)


def test_files_of_trees(tmp_path):
    file = tmp_path / "file"
    file.write_text("( (S\n   (NP x)\n   (VP y)))\n\n((S (NP z)))\n")
    table = read(file, format="bracketed trees")
    assert (table.X, table.y) == (["(S (NP x) (VP y))", "(S (NP z))"], None)
    file.write_text("yes\t(S (NP x))\nno\t(S(NP y))\n\t(S(NP z))\n")
    table = read(file)
    assert (table.X, table.y.tolist()) == (["(S (NP x))", "(S (NP y))"], ["yes", "no"])
    assert table.description.unlabeled == 1
    file.write_text("(S (NP x))\n(Q (NP y))\n")
    assert read(file).y is None
    table = read(file, "root")
    assert (table.X, table.y.tolist()) == (["(X (NP x))", "(X (NP y))"], ["S", "Q"])
    again = read(file, like=table)
    assert again.y.tolist() == ["S", "Q"]
    for text, message in (
        ("(S x)\n(S (x y)\n", "Line 2 .*never closed"),
        ("(S x)\n(S y))\n", "Line 2 .*after the end"),
    ):
        file.write_text(text)
        with pytest.raises(nearline.data.DataError, match=message):
            read(file, format="bracketed trees")
    file.write_text("(S x)\n(S y)\n")
    with pytest.raises(nearline.data.DataError, match="target='root'"):
        read(file, "class")


def test_files_of_kelp(tmp_path):
    file = tmp_path / "file.klp"
    file.write_text("A |BT:one| (S(x)) |ET| |BT:two| (T(y)) |ET|\nB |BT:one| (S(z)) |ET|\n")
    assert read(file).X == ["(S x)", "(S z)"]
    assert "'two'" in str(read(file))
    for columns, message in ((["two"], "Line 2 .*no tree 'two'"), (["one", "two"], "One tree")):
        with pytest.raises(nearline.data.DataError, match=message):
            read(file, columns=columns)


def test_files_of_sequences(tmp_path):
    file = tmp_path / "file.fasta"
    file.write_text(">a kind=x label=yes\nACGT\nAC GT\n\n; remark\n>b kind=y\nTT\n>c kind=x label=no\nGG\n")
    table = read(file)
    assert (table.X, table.y.tolist()) == (["ACGTACGT", "GG"], ["yes", "no"])
    assert read(file, "kind").y.tolist() == ["x", "y", "x"]
    file.write_text(">p|1\nAC\n>p|2\nAG\n>q|3\nAT\n>q|4\nAA\n")
    table = read(file)
    assert table.y.tolist() == ["p", "p", "q", "q"]
    assert "first bar" in str(table)
    assert read(file, "last").y.tolist() == [1, 2, 3, 4]
    assert read(file, -2).y.tolist() == table.y.tolist()
    file.write_text(">sp|P1|NAME\nAC\n>sp|P2|NAME\nAG\n")
    assert read(file).y is None
    for text, target, message in (
        ("ACGT\n>a\nACGT\n", None, "Line 1 .*begins with a header"),
        (">a\n>b\nACGT\n", None, "no sequence; the first is 'a'"),
        (">a kind=x\nAC\n", "kin", "Did you mean 'kind'"),
        (">a|b\nAC\n>c\nAC\n", "first", "'c' .*no part"),
        (";\n", None, "no headers"),
    ):
        file.write_text(text)
        with pytest.raises(nearline.data.DataError, match=message):
            read(file, target)
