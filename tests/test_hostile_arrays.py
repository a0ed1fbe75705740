"""Arrays and sparse matrices whose numbers lead out of their memory are refused; odd ones mean what they say."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.attacks import NOTHING, _doors, _matrices, _threads, core

from nearline import ESTIMATORS, Index, LogisticRegression, Risk, minimize
from nearline._arrays.design import is_sparse
from nearline._arrays.sparse import MOST, sound
from nearline._parallel.tiles import map_tiles
from nearline.data import read

DAMAGED = list(_matrices.damaged())
FEW = [DAMAGED[i] for i in range(0, len(DAMAGED), 29)]
ODD = list(_matrices.odd())


def none_failed(outcome):
    assert outcome.failures == ()
    assert outcome.tries > 0


def test_every_damage_to_every_format_is_refused():
    assert len(DAMAGED) > 290
    none_failed(sum((core.refusal(name, sound, X) for name, X in DAMAGED), NOTHING))


@pytest.mark.parametrize(("name", "X"), ODD, ids=[name for name, _ in ODD])
def test_odd_matrices_mean_the_same(name, X):
    found = sound(X)
    np.testing.assert_array_equal(found.toarray(), _matrices.clean().toarray())
    assert found.format == "csr"
    assert found.has_canonical_format
    assert isinstance(found, sp.sparray) == isinstance(X, sp.sparray)
    assert found.indices.flags.aligned
    assert found.data.flags.aligned


def test_a_sound_matrix_is_not_copied():
    X = _matrices.clean()
    assert sound(X) is X


def test_entries_that_no_row_has_are_left_out():
    X = sp.csr_array(np.eye(6))
    X.data, X.indices = np.append(X.data, 7.0), np.append(X.indices, np.int32(10**9))
    assert sound(X).indices.max() == 5
    neighbors = Index(X, "l2").search(sp.csr_array(np.eye(6)[:2]), 1)
    assert neighbors.distances.ravel().tolist() == [0.0, 0.0]


def test_subclasses_of_sparse_matrices_are_sparse():
    class Own(sp.csr_matrix):
        pass

    X = Own(_matrices.clean())
    assert is_sparse(X)
    y = _matrices.labels()
    same = LogisticRegression().fit(X, y).coef_ == LogisticRegression().fit(_matrices.clean(), y).coef_
    assert same.all()


def test_more_rows_or_columns_than_can_be_counted_are_refused():
    with pytest.raises(ValueError, match="at most 2,147,483,647 rows and columns"):
        sound(sp.csr_matrix((3, MOST + 1)))
    assert sound(sp.csr_matrix((3, MOST))).shape == (3, MOST)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_refuses_damage(name):
    calls = {door: call for door, call in _doors.estimators() if door.split(".")[0] == name}
    assert len(calls) == 2
    tries = (core.refusal(f"{door}: {how}", call, X) for door, call in calls.items() for how, X in FEW)
    none_failed(sum(tries, NOTHING))


@pytest.mark.parametrize("group", ["functions", "newer", "others"])
def test_other_doors_refuse_damage(group):
    calls = dict(getattr(_doors, group)())
    tries = (core.refusal(f"{door}: {how}", call, X) for door, call in calls.items() for how, X in FEW)
    none_failed(sum(tries, NOTHING))


@pytest.mark.parametrize(
    "name", ["MultinomialNB", "BernoulliNB", "GaussianNB", "NearestCentroid", "Perceptron"]
)
def test_entries_given_twice_are_added_before_anything_else(name):
    none_failed(core.of_odd_ones("estimators", f"{name}.fit"))


def test_crafted_files_are_refused(tmp_path):
    none_failed(core.crafted_files(str(tmp_path)))


@pytest.mark.parametrize("format", ["csr", "csc", "bsr", "coo", "dia"])
def test_sparse_files_of_every_format_are_read(format, tmp_path):
    sp.save_npz(tmp_path / "rows.npz", _matrices.clean(getattr(sp, f"{format}_matrix")))
    np.testing.assert_array_equal(read(tmp_path / "rows.npz").X.toarray(), _matrices.clean().toarray())


def test_misaligned_arrays_are_copied_not_misread():
    X, y = _matrices.misaligned(_matrices.clean().toarray()), _matrices.labels()
    weights = _matrices.misaligned(np.ones(len(y)))
    assert not X.flags.aligned
    model = LogisticRegression().fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(model.coef_, LogisticRegression().fit(X.copy(), y).coef_)
    risk = Risk(X, y, weights=weights)
    np.testing.assert_array_equal(minimize(risk).params.flat, minimize(Risk(X.copy(), y)).params.flat)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits threads")
def test_refused_threads_change_no_bit():
    none_failed(_threads.with_few_threads((1,)))


def test_tasks_on_python_threads_report_the_first_error():
    def task(i):
        if i == 3:
            raise KeyError(i)
        return i

    with pytest.raises(KeyError):
        map_tiles(task, range(50), work=np.inf, most=4)
    assert map_tiles(lambda i: i * i, range(50), work=np.inf, most=4) == [i * i for i in range(50)]
