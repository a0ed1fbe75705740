"""path, path_scores, sweep, cross_validate and evaluate on rows in blocks: the same folds and scores whatever the blocks."""

import warnings
from itertools import pairwise

import dask.array as da
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nearline import (
    LOSSES,
    ConvergenceWarning,
    GaussianNB,
    KNeighborsClassifier,
    LinearClassifier,
    LinearSVM,
    LogisticRegression,
    compare,
    cross_validate,
    evaluate,
    path,
    path_scores,
    repeated,
    sweep,
)
from nearline._arrays.blocks import Ask, Block, HeldBlocks, by_common_passes
from nearline._arrays.streamed import StreamedBlocks
from nearline._arrays.sums import Tree, tree
from nearline.cluster import streaming
from nearline.selection.hashed import Parts

N = 400
CUTS = (130, 250)


def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    return X, np.where(X[:, 0] - X[:, 1] + rng.normal(size=N) > 0, "yes", "no")


def cut(size):
    X, y = rows()
    return da.from_array(X, chunks=(size, 4)), da.from_array(y, chunks=size)


def pairs(random_state=0, n_folds=3):
    """The folds of rows in blocks, as they are given to rows in memory."""
    numbers = Parts(0.0, n_folds, random_state)(np.arange(N))
    return [(np.flatnonzero(numbers != fold), np.flatnonzero(numbers == fold)) for fold in range(n_folds)]


@pytest.mark.parametrize(("loss", "penalty"), [("logistic", "l2"), ("squared-hinge", "l1")])
def test_a_path(loss, penalty):
    X, y = rows()
    own = {"loss": loss, "regularizer": penalty, "n_alphas": 4, "tol": 1e-7}
    whole = list(path(X, y, **own))
    for size in CUTS:
        found = list(path(*cut(size), **own))
        for (alpha, a), (expected, b) in zip(found, whole, strict=True):
            assert alpha == pytest.approx(expected, rel=1e-12)
            assert a.gap <= 1e-7
            np.testing.assert_allclose(a.params.W, b.params.W, atol=1e-3)


def test_path_scores_are_those_of_the_same_folds_in_memory():
    X, y = rows()
    model = LogisticRegression(tol=1e-6)
    whole = path_scores(model, X, y, alphas=[1e-1, 1e-3], folds=pairs())
    for size in CUTS:
        found = path_scores(model, *cut(size), alphas=[1e-1, 1e-3], folds=3)
        np.testing.assert_allclose(found.scores, whole.scores, atol=1e-12)
        assert found.gaps.max() <= 1e-6
    assert path_scores(model, *cut(130), folds=3).scores.shape[1] == 3  # a grid of its own, which goes on


def test_sweeps_are_those_of_the_same_folds_in_memory():
    X, y = rows()
    grid = {"ks": [1, 5], "metrics": ["l2", "l1"], "weights": ["uniform", "distance"]}
    whole = sweep(X, y, folds=pairs(), **grid)
    for size in CUTS:
        found = sweep(*cut(size), folds=3, **grid)
        assert np.array_equal(found.scores, whole.scores)
        assert np.array_equal(found.boundary_ties, whole.boundary_ties)


@pytest.mark.parametrize(
    "model", [LogisticRegression(alpha=1e-2, tol=1e-8), GaussianNB(), KNeighborsClassifier(5)], ids=str
)
def test_cross_validation_is_that_of_the_same_folds_in_memory(model):
    X, y = rows()
    scoring = ["accuracy", "log-loss"]
    whole = cross_validate(model, X, y, folds=pairs(), scoring=scoring)
    found = [cross_validate(model, *cut(size), folds=3, scoring=scoring) for size in CUTS]
    for one in found:
        np.testing.assert_allclose(one.scores["accuracy"], whole.scores["accuracy"], atol=1e-12)
        np.testing.assert_allclose(one.scores["log-loss"], whole.scores["log-loss"], atol=1e-5)
        assert one.test_to_train == pytest.approx(whole.test_to_train)
    assert found[0].folds == found[1].folds


def test_models_are_compared_over_blocks():
    a, b = (repeated(model, *cut(130), repeats=2, folds=3) for model in (GaussianNB(), LinearSVM(alpha=0.1)))
    assert a.scores["accuracy"].shape == (6,)
    assert 0 <= compare(a, b).p_value <= 1


def test_losses_are_evaluated_where_the_scores_are():
    X, y = rows()
    scores, targets = X[:, 0], (y == "yes").astype(int)
    weights = np.arange(N) % 3
    blocked = [da.from_array(part, chunks=90) for part in (scores, targets, weights)]
    assert evaluate("logistic", *blocked) == pytest.approx(evaluate("logistic", scores, targets, weights))
    wide = da.from_array(X[:, :3], chunks=(90, 3))
    assert evaluate("softmax", wide, da.from_array(targets, chunks=90)) == pytest.approx(
        evaluate("softmax", X[:, :3], targets)
    )


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda X, y: cross_validate(GaussianNB(), X, y, folds="leave-one-out"), "does not take folds="),
        (lambda X, y: cross_validate(GaussianNB(), X, y, split="time"), "does not take split="),
        (lambda X, y: path_scores(LogisticRegression(), X, y, groups=y), "does not take groups"),
        (lambda X, y: sweep(X, y, [1], transformer=GaussianNB()), "takes no transformer"),
        (lambda X, y: path(X, da.zeros(N, chunks=130)), "needs at least 2 classes"),
    ],
)
def test_what_blocks_cannot_do_is_said(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(*cut(130))


PROPER = ("logistic", "softmax", "squared", "squared-hinge", "sparsemax", "sparsemax-binary")
KINKED = ("hinge", "weston-watkins", "crammer-singer")
NOT_FOR_FITS = ("zero-one", "perceptron", "multiclass-perceptron")


@pytest.mark.parametrize("penalty", ["none", "l2", "l1", "elastic-net", "group-l1"])
@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_the_table_of_losses_penalties_and_solvers(loss, penalty):
    """As docs/cluster.md has it: who serves which pair over blocks, certified, or that it is refused with a sentence."""
    model = LinearClassifier(loss=loss, regularizer=penalty, alpha=1e-1, tol=1e-2)
    refused = loss in NOT_FOR_FITS or (loss in KINKED and penalty == "none")
    if refused:
        with pytest.raises(ValueError, match=r"\w+ \w+ \w+"):
            model.fit(*cut(130))
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # without a penalty nobody looks for a minimizer
        model.fit(*cut(130))
    smooth = penalty in ("none", "l2")
    assert model.solver_ == ("smoothing" if loss in KINKED else "newton" if smooth else "fista")
    assert penalty == "none" or model.gap_ <= 1e-2


def test_categories_that_some_blocks_lack_unequal_and_empty_blocks_and_float32():
    X, y = rows()
    X32 = X.astype(np.float32)
    uneven = da.from_array(X32, chunks=((1, 0, 299, 100), (4,)))
    model = LogisticRegression(alpha=1e-2).fit(uneven, y)
    assert model.coef_.dtype == np.float32
    unknown = uneven[da.from_array(np.ones(N, bool), chunks=((1, 0, 299, 100),))]  # sizes are not known
    assert np.isnan(unknown.shape[0])
    assert np.array_equal(LogisticRegression(alpha=1e-2).fit(unknown, y).coef_, model.coef_)
    found = cross_validate(GaussianNB(), unknown, y, folds=3)
    np.testing.assert_allclose(
        found.scores["accuracy"], cross_validate(GaussianNB(), uneven, y, folds=3).scores["accuracy"]
    )


# -- common passes -----------------------------------------------------------------------------------------------------


def counting(pieces):
    """Streamed blocks, and how often their pieces were read."""
    X, y = rows()
    read = []

    def source(number, part):
        def make():
            read.append(number)
            return Block(X[part], (y[part] == "yes").astype(np.int32), np.ones(len(X[part])), part.start)

        return make

    edges = np.linspace(0, N, pieces + 1).astype(int).tolist()
    parts = [slice(a, b) for a, b in pairwise(edges)]
    blocks = StreamedBlocks.of(
        [source(number, part) for number, part in enumerate(parts)], [len(X[part]) for part in parts]
    )
    return blocks, read


def first(block):
    return block.X.sum()


def test_one_pass_answers_all_who_wait():
    blocks, read = counting(4)
    before = len(read)
    found = by_common_passes([lambda: (sum(blocks.each(first)), sum(blocks.each(first))) for _ in range(5)])
    assert len(read) - before == 2 * 4  # two passes, not ten
    assert len(set(found)) == 1


def test_those_who_end_early_do_not_hold_up_the_others():
    blocks, _ = counting(3)
    works = [lambda times=times: [sum(blocks.each(first)) for _ in range(times)] for times in (0, 1, 3)]
    assert [len(found) for found in by_common_passes(works)] == [0, 1, 3]


def test_a_failure_is_told_to_whom_it_concerns():
    blocks, _ = counting(3)

    def fails():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        by_common_passes([fails, lambda: blocks.each(first)])
    with pytest.raises(TypeError):
        by_common_passes([lambda: blocks.each(lambda block: block.X + "a"), lambda: blocks.each(first)])


def test_streamed_blocks_are_the_held_ones():
    streamed, _ = counting(4)
    held = HeldBlocks([source() for source in streamed.sources])
    for task in (first, lambda block: block.numbers.sum()):
        assert streamed.each(task) == held.each(task)
        assert streamed.total(task, lambda a, b: a + b) == held.total(task, lambda a, b: a + b)
    doubled = [
        blocks.mapped(lambda block: block.with_weights(block.weights * 2)) for blocks in (streamed, held)
    ]
    assert [sum(one.each(lambda block: block.weights.sum())) for one in doubled] == [2 * N, 2 * N]
    assert streamed.answers([Ask(streamed, first), Ask(doubled[0], first)])[0] == held.each(first)


def test_folds_of_streamed_rows_read_them_once_for_all():
    """Within streaming, five folds cost the passes of one."""
    with streaming():
        found = cross_validate(LogisticRegression(alpha=1e-2), *cut(130), folds=3)
    np.testing.assert_allclose(
        found.scores["accuracy"],
        cross_validate(LogisticRegression(alpha=1e-2), *cut(130), folds=3).scores["accuracy"],
    )


@given(st.integers(1, 200))
def test_sums_that_come_one_by_one_are_added_as_all_at_once(n):
    def joined(a, b):
        return f"({a}+{b})"

    growing = Tree(joined)
    for number in range(n):
        growing.take(str(number))
    assert growing.whole() == tree([str(number) for number in range(n)], joined)
