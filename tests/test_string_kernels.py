"""Kernels of strings against their definitions by enumeration; symmetry, threads, odd input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nearline
from conftest import interrupted
from nearline.kernels.algebra import Normalized
from nearline.kernels.psd import is_psd
from nearline.kernels.strings import Spectrum, Subsequence
from oracle import spectrum, subsequence

KERNELS = [
    Spectrum(1),
    Spectrum(3),
    Spectrum(3, up_to=True),
    Subsequence(),
    Subsequence(2, 0.9),
    Subsequence(8, 0.6),
]
SHORT = st.lists(st.text(alphabet="abß\U0001f600", max_size=8), min_size=1, max_size=6)
TOKENS = st.lists(st.lists(st.sampled_from(["to", "be", 7, None]), max_size=7), min_size=1, max_size=5)


def random_strings(n, length, alphabet="ACGT", seed=0):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(alphabet), size=rng.integers(0, length + 1))) for _ in range(n)]


@settings(max_examples=60)
@given(SHORT, st.integers(1, 9), st.sampled_from([0.1, 0.5, 0.75, 1.0]))
def test_subsequence_is_its_definition(strings, length, decay):
    expected = [[subsequence(s, t, length, decay) for t in strings] for s in strings]
    np.testing.assert_allclose(Subsequence(length, decay)(strings), expected, rtol=1e-12)


@settings(max_examples=60)
@given(SHORT, st.integers(1, 9))
def test_spectrum_is_its_definition(strings, n):
    expected = np.array([[spectrum(s, t, n) for t in strings] for s in strings])
    assert np.array_equal(Spectrum(n)(strings), expected)
    all_lengths = sum(Spectrum(m)(strings) for m in range(1, n + 1))
    assert np.array_equal(Spectrum(n, up_to=True)(strings), all_lengths)


@settings(max_examples=40)
@given(TOKENS, st.integers(1, 3))
def test_tokens_are_symbols(lists, length):
    expected = [[subsequence(s, t, length, 0.5) for t in lists] for s in lists]
    np.testing.assert_allclose(Subsequence(length, 0.5)(lists), expected, rtol=1e-12)
    counted = [[spectrum(s, t, length) for t in lists] for s in lists]
    assert np.array_equal(Spectrum(length)(lists), np.array(counted))


def test_the_worked_example():
    """Lodhi et al.: k_2(cat, car) = decay^4, normalized 1 / (2 + decay^2)."""
    for decay in (0.25, 0.5, 1.0):
        K = Subsequence(2, decay)(["cat", "car", "bat", "bar"])
        assert K[0, 1] == decay**4
        assert K[0, 0] == 2 * decay**4 + decay**6
        normalized = Normalized(Subsequence(2, decay))(["cat", "car"])
        np.testing.assert_allclose(normalized, [[1, 1 / (2 + decay**2)], [1 / (2 + decay**2), 1]])
        assert K[0, 3] == 0  # only "a" in common


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_way_to_a_value_has_the_same_bits(kernel):
    A = kernel.items([*random_strings(70, 25), "", "A", "ACGTACGTACGT"])
    B = kernel.items(random_strings(45, 30, seed=1))
    K, M = kernel.among(A), kernel.between(A, B)
    assert np.array_equal(K, K.T)
    assert np.array_equal(K, kernel.between(A, A))
    assert np.array_equal(K.diagonal(), kernel.diagonal(A))
    assert np.array_equal(M, kernel.between(B, A).T)
    assert np.array_equal(M, kernel.among(np.concatenate([A, B]))[: len(A), len(A) :])
    assert np.array_equal(M[3:5, 7:8], kernel.between(A[3:5], B[7:8]))
    order = np.random.default_rng(0).permutation(len(A))
    assert np.array_equal(kernel.among(A[order]), K[np.ix_(order, order)])


@pytest.mark.parametrize("kernel", KERNELS)
def test_threads_do_not_matter(kernel):
    strings = random_strings(150, 40, "abcdefgh")
    with nearline.num_threads(1):
        one = kernel(strings)
    with nearline.num_threads(5):
        assert np.array_equal(one, kernel(strings))


@pytest.mark.parametrize("kernel", KERNELS)
def test_grams_are_positive_semidefinite(kernel):
    assert is_psd(kernel(random_strings(60, 20, "abc")))


@pytest.mark.parametrize("kernel", KERNELS)
def test_nothing_in_common_is_zero(kernel):
    assert not kernel(["", "", "abc" * 9], ["xyz" * 9, ""]).any()
    assert kernel([]).shape == (0, 0)
    assert kernel([], ["a"]).shape == (0, 1)


def test_a_string_shorter_than_the_length_has_no_subsequence():
    assert not Subsequence(5)(["abcd", "abcd"]).any()
    assert Subsequence(4, 0.5)(["abcd"])[0, 0] == 0.5**8
    assert Spectrum(4)(["abcd"])[0, 0] == 1


def test_tokens_and_characters_agree():
    strings = random_strings(20, 15, "abcd")
    for kernel in KERNELS:
        np.testing.assert_allclose(kernel([list(s) for s in strings]), kernel(strings), rtol=1e-14)


def test_token_values_do_not_depend_on_the_collection():
    kernel = Subsequence(2, 0.7)
    lists = kernel.items([list(s) for s in random_strings(30, 12, "abcdefgh")])
    K = kernel.among(lists)
    for i, j in [(0, 1), (5, 9), (29, 2)]:
        assert kernel.among(lists[[i, j]])[0, 1] == K[i, j]


def test_long_strings_neither_overflow_nor_underflow():
    long = "ab" * 2500
    for decay in (0.01, 0.5, 1.0):
        k = Subsequence(3, decay)(["ba" + long, long])
        assert np.isfinite(k).all()
        assert (k > 0).all()
    with pytest.raises(ValueError, match="smaller decay or length"):
        Subsequence(200, 1.0)(["a" * 1000])
    far = "a" + "x" * 3000 + "b"
    assert Subsequence(2, 0.5)([far, far.replace("x", "y")])[0, 1] == 0.0  # 0.5^6004


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ("abc", "put it in a list"),
        ([1, 2], "item 1 is 1"),
        (["a", None], "item 2 is None"),
        (["a", float("nan")], "item 2 is nan"),
        (["a", ["b", "c"]], "mixed: item 1"),
        ([b"abc"], "item 1 is b'abc'"),
        ([[["a"], "b"]], "hashable"),
        (np.zeros((3, 2)), r"shape \(3, 2\)"),
        (5, "got int"),
    ],
)
def test_what_is_no_collection_of_strings(raw, message):
    with pytest.raises(ValueError, match=message):
        Subsequence().items(raw)


def test_every_kind_of_collection():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    words = ["abcab", "cabba"]
    for raw in (
        tuple(words),
        np.array(words),
        np.array(words, dtype=object)[:, None],
        pd.Series(words, index=[5, 3]),
        pl.Series(words),
    ):
        items = Subsequence().items(raw)
        assert items.tolist() == words
        assert items.dtype == object
    assert Subsequence().items(items).tolist() == words
    same_length = Subsequence().items([["a", "b"], ["c", "d"]])
    assert same_length.shape == (2,)
    assert Subsequence().items(same_length).tolist() == [("a", "b"), ("c", "d")]
    with pytest.raises(ValueError, match="same form"):
        Subsequence()(words, [["a", "b"]])


@pytest.mark.parametrize(
    "make",
    [
        lambda: Subsequence(0),
        lambda: Subsequence(2.5),
        lambda: Subsequence(True),
        lambda: Subsequence(3, 0.0),
        lambda: Subsequence(3, 1.5),
        lambda: Subsequence(3, float("nan")),
        lambda: Subsequence(500, 0.1),
        lambda: Spectrum(0),
    ],
)
def test_parameters_are_checked(make):
    with pytest.raises(ValueError, match=r"needs|too small"):
        make()


def test_ctrl_c_ends_it():
    strings = ["ab" * 8000] * 64  # about a minute of work
    with interrupted():
        Subsequence(3)(strings)


def test_dna_of_promoters_is_told_apart(shared_data):
    """1-NN in the kernel's distance, leave-one-out: far better than guessing (53 of 106)."""
    lines = (shared_data / "promoters" / "promoters.data").read_text().split()
    rows = [line.split(",") for line in "".join(f"\n{x}" if "," in x else x for x in lines).split()]
    y = np.array([row[0] for row in rows])
    K = Subsequence(3, 0.5)([row[2] for row in rows])
    K /= np.sqrt(np.outer(K.diagonal(), K.diagonal()))
    np.fill_diagonal(K, -1)
    assert np.mean(y[K.argmax(axis=1)] == y) > 0.7
