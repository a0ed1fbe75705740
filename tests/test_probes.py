"""Probes against slow code written from the papers; draws, hashes, and sentences for rows that cannot be probed."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

import oracle_probes as oracle
from nearline import PROTOCOLS, num_threads, probe
from nearline.probes.logistic import Fits, Fixed, Folds, HeldOut, Logistic, halved
from nearline.probes.neighbors import NeighborVotes
from nearline.probes.protocols import Protocol
from nearline.selection.splits import Division


def embeddings(n=260, m=60, d=6, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(n_classes, d))
    codes = np.arange(n + m) % n_classes
    rows = (rng.normal(size=(n + m, d)) + 0.8 * centers[codes]).astype(np.float32)
    return rows[:n], codes[:n], rows[n:], codes[n:]


def accuracies(result):
    return [line.accuracy for line in result.lines]


@pytest.mark.parametrize("name", ["dino", "lightly", "simsiam"])
def test_neighbor_protocols(name):
    """F4: the probe's vote."""
    X, y, Q, truth = embeddings()
    found = probe(X, y, Q, truth, name)
    part = PROTOCOLS[name].parts[0]
    expected = [
        np.mean(oracle.neighbor_labels(X, y, Q, k, T, 3) == truth) for k in part.ks for T in part.temperatures
    ]
    assert accuracies(found) == expected
    assert [line.settings[0]["k"] for line in found.lines] == list(part.ks)


def test_published_numbers_are_declared():
    votes = {name: (p.parts[0].ks, p.parts[0].temperatures) for name, p in PROTOCOLS.items() if name in
             ("dino", "dinov2", "lightly", "simsiam")}  # fmt: skip
    assert votes["dino"] == votes["dinov2"] == ((10, 20, 100, 200), (0.07,))
    assert votes["lightly"] == ((200,), (0.1,))
    assert votes["simsiam"] == ((200,), (0.07,))
    assert len(PROTOCOLS["dinov2"].parts[1].strengths) == 45
    assert len(PROTOCOLS["clip"].parts[0].strengths) == 97
    assert (PROTOCOLS["mteb"].shots, PROTOCOLS["mteb"].repeats) == ((8,), 10)
    for protocol in PROTOCOLS.values():
        assert protocol.misleads
        assert protocol.left_open or protocol.name == "honest"


def test_mteb():
    X, y, Q, truth = embeddings()
    expected = []
    for repeat in range(10):
        rows = oracle.drawn(y, 8, 5, repeat)
        expected.append(np.mean(oracle.logistic_labels(X[rows], y[rows], Q, 1.0) == truth))
    found = probe(X, y, Q, truth, "mteb", random_state=5).lines[0]
    np.testing.assert_allclose(
        found.accuracies, expected, atol=1.01 / len(Q)
    )  # a row may lie on the boundary
    assert found.deviation == pytest.approx(np.std(found.accuracies, ddof=1))


def test_big_vision():
    X, y, Q, truth = embeddings()
    found = probe(X, y, Q, truth, "big_vision", shots=[1, 10], repeats=2)
    part = PROTOCOLS["big_vision"].parts[0]
    lines = iter(found.lines)
    for shots in (1, 10):
        draws = [oracle.drawn(y, shots, 0, repeat) for repeat in range(2)]
        for strength in part.strengths:
            expected = [
                np.mean(oracle.ridge_labels(X[rows], y[rows], Q, strength, 3) == truth) for rows in draws
            ]
            assert next(lines).accuracies == tuple(expected)


@pytest.mark.parametrize("name", ["dinov2", "clip"])
def test_a_strength_chosen_on_rows_held_out(name):
    X, y, Q, truth = embeddings(n=130, d=4)
    part = PROTOCOLS[name].parts[-1]
    kept, out = Division("stratified", 0).holdout(y, None, part.choice.share)
    assert len(out) == round(part.choice.share * len(y))
    scores = [
        np.mean(oracle.logistic_labels(X[kept], y[kept], X[out], C) == y[out])
        for C in part.strengths[:: 1 if name == "dinov2" else 4]
    ]
    found = probe(X, y, Q, truth, name).lines[-1]
    (setting,) = found.settings
    assert found.inside[0] >= max(scores) - 1.01 / len(
        out
    )  # the peak of a unimodal curve, but for a row on the boundary
    assert found.accuracy == np.mean(oracle.logistic_labels(X, y, Q, setting["C"]) == truth)
    if name == "dinov2":
        assert setting["C"] == part.strengths[int(np.argmax(scores))]


def test_fits_are_those_made_alone():
    X, y, Q, _ = embeddings(d=12)
    fits = Fits(X, y)
    for C in (1e-2, 1.0, 1e2, 0.1):
        assert (fits.labels(C, Q) == oracle.logistic_labels(X, y, Q, C)).mean() > 0.98


@given(st.lists(st.integers(0, 9), min_size=17, max_size=97))
def test_halving_is_that_of_the_paper(scores):
    assert halved(lambda i: float(scores[i]), len(scores), 16)[0] == oracle.peak(scores, 16)


def test_honest_chooses_inside_the_training_rows():
    X, y, Q, truth = embeddings(n=90)
    part = NeighborVotes((1, 5, 20, 200), (0.05, np.inf), choose=True)
    found = probe(X, y, Q, truth, Protocol("own", 1, "here", (part,)))
    inside = {(k, T): oracle.left_out_accuracy(X, y, k, T, 3) for k in (1, 5, 20) for T in (0.05, np.inf)}
    k, T = max(inside, key=lambda one: (inside[one], one))
    (line,) = found.lines
    assert line.settings == ({"k": k, "T": T},)
    assert line.inside == (inside[k, T],)
    assert line.accuracy == np.mean(oracle.neighbor_labels(X, y, Q, k, T, 3) == truth)
    assert line.interval is not None
    assert "k = 200 left out" in found.notes[0]
    whole = probe(X, y, Q, truth, "honest")
    assert {line.chosen_on for line in whole.lines} == {"training rows"}
    assert whole.chosen is max(whole.lines, key=lambda line: line.inside[0])
    flipped = probe(X, y, Q, (truth + 1) % 3, "honest")
    assert [line.settings for line in flipped.lines] == [line.settings for line in whole.lines]


@pytest.mark.parametrize("seed", range(3))
def test_the_linear_part_of_honest(seed):
    """C by folds of the training rows, then one fit to all of them: as scikit-learn's fits have it."""
    from nearline.selection.folds import as_folds

    X, y, Q, truth = embeddings(n=120, seed=seed)
    part = PROTOCOLS["honest"].parts[1]
    strengths = part.strengths[4:-6:3]  # scikit-learn needs minutes for the weakest penalties
    own = Protocol("own", 1, "here", (Logistic(strengths, Folds(5)),))
    (line,) = probe(X, y, Q, truth, own).lines
    C, inside = oracle.best_strength(X, y, strengths, list(as_folds(5, y, random_state=0)))
    assert line.settings[0]["C"] == pytest.approx(C)
    assert line.inside[0] == pytest.approx(inside)
    assert line.accuracy == np.mean(oracle.logistic_labels(X, y, Q, C) == truth)
    assert line.chosen_on == "training rows"


def test_the_same_whatever_the_threads_and_the_order_of_features():
    X, y, Q, truth = embeddings()
    first = probe(X, y, Q, truth, "dinov2", shots=20, repeats=2)
    with num_threads(1):
        again = probe(X, y, Q, truth, "dinov2", shots=20, repeats=2)
    assert first.to_json() == again.to_json()


def test_the_hash_is_of_protocol_data_and_version():
    X, y, Q, truth = embeddings()
    own = Protocol("own", 1, "here", (NeighborVotes((3,), (0.1,)),))
    first = probe(X, y, Q, truth, own)
    changed = X.copy()
    changed[0, 0] += 1
    others = [
        probe(changed, y, Q, truth, own),
        probe(X, y, Q[1:], truth[1:], own),
        probe(X, (y + 1) % 3, Q, truth, own),
        probe(X, y, Q, truth, own, random_state=1),
        probe(X, y, Q, truth, Protocol("own", 2, "here", own.parts)),
        probe(X, y, Q, truth, Protocol("own", 1, "here", (NeighborVotes((3,), (0.2,)),))),
    ]
    assert len({first.hash, *(other.hash for other in others)}) == 7
    assert probe(X, y, Q, truth, own).hash == first.hash
    assert json.loads(first.to_json())["hash"] == first.hash


def test_labels_of_any_kind_and_types_of_rows():
    X, y, Q, truth = embeddings()
    names = np.array(["cat", "dog", "eel"])
    plain = accuracies(probe(X, y, Q, truth, "dino"))
    assert accuracies(probe(X, names[y], Q, names[truth], "dino")) == plain
    assert accuracies(probe(X.astype(np.float64), y, Q, truth, "dino")) == plain
    assert len(probe(X.astype(np.float16), y, Q.astype(np.float16), truth, "mteb").lines) == 1


def test_draws_are_nested_and_of_each_class():
    X, y, Q, truth = embeddings()
    few = Protocol("few", 1, "here", (Logistic((1.0,), Fixed()),), shots=(2, 5), repeats=3)
    result = probe(X, y, Q, truth, few)
    assert [(line.shots, len(line.accuracies)) for line in result.lines] == [(2, 3), (5, 3)]
    assert set(oracle.drawn(y, 2, 0, 1)) < set(oracle.drawn(y, 5, 0, 1))
    assert probe(X, y, Q, truth, few, shots=0).lines[0].shots is None
    notes = probe(X[:4], y[:4], Q, truth, few, shots=2, repeats=1).notes
    assert notes == ("2 classes with fewer than 2 training rows: all of them are taken",)


def test_rows_in_both_parts_are_counted():
    X, y, Q, truth = embeddings()
    Q[3], Q[7] = X[11], X[2]
    (note,) = probe(X, y, Q, truth, "dino").notes
    assert note.startswith("2 test rows of 60 are training rows too")


def nan_in(rows):
    rows = rows.copy()
    rows[4, 1] = np.nan
    return rows


def zeros_in(rows):
    rows = rows.copy()
    rows[7] = 0
    return rows


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda X, y, Q, t: (X, y[:-1], Q, t), "260 training rows and 259 training labels: give one label"),
        (lambda X, y, Q, t: (X, y, Q, t.astype(str)), "No test label is a training label"),
        (
            lambda X, y, Q, t: (nan_in(X), y, Q, t),
            "training rows have NaN or infinite values, first in row 5",
        ),
        (lambda X, y, Q, t: (X, y, zeros_in(Q), t), "1 test row of zeros only .the first is row 8"),
        (lambda X, y, Q, t: (X[:, :3], y, Q, t), "Training rows have 3 features and test rows 6"),
        (lambda X, y, Q, t: (X, y * 0, Q, t * 0), "a probe needs at least 2 classes"),
        (lambda X, y, Q, t: (X[0], y, Q, t), r"must be an array \(rows, features\)"),
        (lambda X, y, Q, t: (X[:9], y[:9], Q, t), "The smallest k is 10, but there are only 9 rows"),
        (lambda X, y, Q, t: (X, np.where(y == 1, np.nan, y), Q, t), "training rows without a label"),
        (lambda X, y, Q, t: (X, y, Q, [None, *t[1:]]), "1 test row without a label"),
        (
            lambda X, y, Q, t: (X, np.array([np.nan, *map(str, y[1:])], dtype=object), Q, t),
            "1 training row without a label",
        ),
        (lambda X, y, Q, t: (X, y.astype(object) * 1j, Q, t), "training labels are of complex: give strings"),
        (lambda X, y, Q, t: (X, y.astype("S"), Q, t), "training labels are of bytes: give strings"),
        (lambda X, y, Q, t: (X, mixed(y), Q, t), "training labels are of int, str: give strings"),
        (lambda X, y, Q, t: (X, y, Q, mixed(t)), "test labels are of int, str: give strings"),
        (lambda X, y, Q, t: (X, y + 0.5, Q, t), "the number .*looks like a quantity"),
        (lambda X, y, Q, t: (X, y, Q, np.where(t == 1, np.inf, t)), "the number inf"),
        (lambda X, y, Q, t: (X, [[1], [1, 2]], Q, t), "training labels are lists of different lengths"),
        (lambda X, y, Q, t: ([[1.0], [1.0, 2.0]], y[:2], Q, t), "different numbers of features"),
        (lambda X, y, Q, t: (csr_array(X), y, Q, t), "training rows are a sparse matrix"),
        (lambda X, y, Q, t: (X * np.float32(1e30), y, Q, t), "whose squares overflow"),
    ],
)
def test_what_cannot_be_probed_gets_a_sentence(change, said):
    with pytest.raises(ValueError, match=said):
        probe(*change(*embeddings()), "dino")


def mixed(labels):
    return np.array(["a", *labels[1:].tolist()], dtype=object)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"random_state": -1}, "random_state must be a whole number from 0"),
        ({"random_state": 1.5, "protocol": "mteb"}, "random_state must be a whole number from 0"),
        ({"protocol": "dyno"}, "Did you mean 'dino'"),
        ({"protocol": "dino/7"}, "has version 1 here, not '7'"),
        ({"shots": -1}, "shots must be whole numbers"),
        ({"protocol": "dino", "repeats": 3}, "would be the same each time"),
        ({"protocol": "mteb", "repeats": 0}, "repeats must be a whole number >= 1"),
        ({"shots": 1}, "A class has a single training row"),
    ],
)
def test_what_cannot_be_asked_gets_a_sentence(options, said):
    with pytest.raises(ValueError, match=said):
        probe(*embeddings(), **options)


def test_a_strength_needs_rows_that_are_left_out():
    X, _, Q, _ = embeddings()
    for rows in (2, 20):
        with pytest.raises(ValueError, match="A class has a single training row"):
            probe(X[:rows], np.arange(rows), Q[:4], [0, 1, 0, 1], "clip")


def test_labels_that_training_lacks_are_wrong():
    X, y, Q, truth = embeddings()
    truth[:6] = 9
    found = probe(X, y, Q, truth, "dino")
    assert "6 test rows with labels that no training row has (9): counted as wrong" in found.notes
    assert max(accuracies(found)) <= 54 / 60


def test_held_out_shares_are_of_each_class():
    X, y, _, _ = embeddings()
    C, right = HeldOut(0.1)((0.1, 1.0), probe_case(X, y))
    assert C in (0.1, 1.0)
    assert 0 < right <= 1


def probe_case(X, y):
    from nearline.probes._case import Case

    return Case(X, y, X[:1], y[:1], np.unique(y))


def test_the_table_and_the_picture(rendered):
    pytest.importorskip("matplotlib").use("Agg")
    from nearline.plots import plot_probe

    X, y, Q, truth = embeddings()
    results = [probe(X, y, Q, truth, name) for name in ("dino", "mteb")]
    assert "best of 4 settings" in str(results[0])
    assert "found on the test rows" in str(results[0])
    assert "± " in str(results[1])
    assert "best of" not in str(results[1])
    ax = plot_probe(*results)
    assert len(ax.get_yticklabels()) == 5
