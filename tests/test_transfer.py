"""Neighbors hand over payloads of any kind; captions are ranked by consensus."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from nearline import Consensus, NeighborsTransfer
from nearline.neighbors.consensus import ngram_similarity

PAYLOADS = {
    "records": [{"name": "a"}, {"name": "b"}, {"name": "c"}],
    "masks": np.arange(12).reshape(3, 2, 2),
    "table": pd.DataFrame({"u": [1, 2, 3], "v": ["x", "y", "z"]}),
    "sparse": csr_matrix(np.eye(3)),
    "captions": ("one", "two", "three"),
}


@pytest.mark.parametrize("kind", list(PAYLOADS))
def test_any_payload_is_given_back(kind):
    """F7: as it came, in the order of the list."""
    payload = PAYLOADS[kind]
    model = NeighborsTransfer(2).fit([[0.0], [1.0], [3.0]], payload)
    predicted, all_ = model.predict([[2.9], [0.1]]), model.transfer([[2.9]])
    if kind == "records":
        assert predicted == [{"name": "c"}, {"name": "a"}]
        assert all_ == [[{"name": "c"}, {"name": "b"}]]
    elif kind == "masks":
        np.testing.assert_array_equal(predicted, payload[[2, 0]])
        np.testing.assert_array_equal(all_[0], payload[[2, 1]])
    elif kind == "table":
        pd.testing.assert_frame_equal(predicted, payload.iloc[[2, 0]])
    elif kind == "sparse":
        np.testing.assert_array_equal(predicted.toarray(), np.eye(3)[[2, 0]])
    else:
        assert predicted == ["three", "one"]


def test_consensus_prefers_what_neighbors_agree_on():
    """F7: several captions a row; outliers count for nothing where the subset is small."""
    X = [[0.0], [1.0], [2.0]]
    captions = [["a red car"], ["two dogs run", "two dogs run fast"], ["two dogs run on grass"]]
    model = NeighborsTransfer(3, consensus=Consensus()).fit(X, captions)
    assert model.predict([[-1.0]]) == ["two dogs run"]
    alone = NeighborsTransfer(1, consensus=Consensus()).fit(X, captions)
    assert alone.predict([[-1.0]]) == ["a red car"]
    with pytest.raises(ValueError, match="None of the 1 neighbors"):
        NeighborsTransfer(1, consensus=Consensus()).fit(X, [[], [], []]).predict([[0.0]])
    vectors = NeighborsTransfer(3, consensus=Consensus(lambda a, b: -abs(a - b))).fit(X, [1.0, 9.0, 10.0])
    assert vectors.predict([[0.0]]) == [9.0]


def test_agreement_is_the_mean_of_the_largest_similarities():
    """F7: the formula, by hand."""
    numbers = [0.0, 1.0, 5.0]
    similarity = lambda a, b: -abs(a - b)  # noqa: E731
    np.testing.assert_allclose(Consensus(similarity).agreement(numbers), [-3.0, -2.5, -4.5])
    np.testing.assert_allclose(Consensus(similarity, subset=1).agreement(numbers), [-1.0, -1.0, -4.0])
    assert Consensus(similarity, subset=1).rank(numbers) == [0, 1, 2]
    assert ngram_similarity("", "") == 1.0
    assert ngram_similarity("a", "") == 0.0
    assert ngram_similarity("A b c", "a B c") == pytest.approx(1.0)


def test_among_rows_that_tie_the_first_is_taken():
    for payload in (["a", "b"], ["b", "a"]):
        assert NeighborsTransfer(1).fit([[0.0], [0.0]], payload).predict([[0.0]]) == payload[:1]


@pytest.mark.parametrize("kind", ["masks", "records", "sparse", "table"])
def test_payloads_that_change_after_the_fit_change_no_answer(kind):
    payload = PAYLOADS[kind].copy()
    model = NeighborsTransfer(1).fit([[0.0], [1.0], [2.0]], payload)
    before = str(model.predict([[0.0]]))
    if kind == "sparse":
        payload.data[0] = 7.0
    elif kind == "table":
        payload.loc[0, "u"] = 7
    else:
        payload[0] = payload[1]
    assert str(model.predict([[0.0]])) == before
