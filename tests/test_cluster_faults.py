"""Faults: workers that die in the middle of a fit, fits that are broken off. Every result is the undisturbed one."""

import errno
import os
import signal
from threading import Timer

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

from nearline import ConvergenceWarning, GaussianNB, LogisticRegression, Risk, minimize, resumable
from nearline.cluster import streaming, write_predictions
from nearline.cluster._crews import ClusterCrew, ClusterError
from nearline.solvers import LBFGS


def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    return X, (X[:, 0] + rng.normal(size=400) > 0).astype(int)


def cut(X, y):
    return da.from_array(X, chunks=(70, 4)), da.from_array(y, chunks=70)


@pytest.fixture(scope="module")
def client():
    """Two workers, processes of their own, each with a nanny that starts another where it dies."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as cluster,
        Client(cluster) as made,
    ):
        yield made


class Killer:
    """Kills a worker right after so many messages of tasks have gone out."""

    def __init__(self, client, monkeypatch, after, victim):
        self.client, self.after, self.victim, self.sent = client, after, victim, 0
        own = ClusterCrew._sent

        def sent(crew, task, held):
            futures = own(crew, task, held)
            self.sent += 1
            if self.sent == self.after:
                pids = sorted(client.run(os.getpid, on_error="ignore").values())
                os.kill(pids[self.victim % len(pids)], signal.SIGKILL)
            return futures

        monkeypatch.setattr(ClusterCrew, "_sent", sent)


@pytest.mark.parametrize("seed", range(3))
def test_a_worker_that_dies_changes_nothing(client, monkeypatch, seed):
    X, y = rows()
    model = LogisticRegression(alpha=1e-3, tol=1e-8, solver=["newton", "lbfgs", "fista"][seed])
    undisturbed = model.fit(*cut(X, y)).coef_.copy()
    rng = np.random.default_rng(seed)
    killer = Killer(client, monkeypatch, after=int(rng.integers(2, 7)), victim=int(rng.integers(2)))
    again = model.fit(*cut(X, y))
    assert killer.sent > killer.after
    assert np.array_equal(again.coef_, undisturbed)
    assert again.gap_ <= 1e-8
    client.wait_for_workers(2, timeout=120)


def test_a_lost_scheduler_is_said():
    X, y = rows()
    cluster = LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs=50
    )
    client = Client(cluster)
    crew = ClusterCrew(client)
    held = crew.hold(list(cut(X, y)[0].to_delayed().ravel()))
    crew.ask(len, held)
    client.close()
    with pytest.raises(ClusterError, match=r"was lost.*start the cluster, connect a Client"):
        crew.ask(len, held)
    cluster.close()


def test_a_slow_worker_is_waited_for(client, monkeypatch):
    """One that is halted in the middle of a fit, and goes on later, changes no bit."""
    X, y = rows()
    model = LogisticRegression(alpha=1e-3, tol=1e-8, solver="newton")
    undisturbed = model.fit(*cut(X, y)).coef_.copy()
    own, halted = ClusterCrew._sent, []

    def sent(crew, task, held):
        futures = own(crew, task, held)
        if not halted:
            halted.append(sorted(client.run(os.getpid).values())[0])
            os.kill(halted[0], signal.SIGSTOP)
            Timer(1.0, os.kill, (halted[0], signal.SIGCONT)).start()
        return futures

    monkeypatch.setattr(ClusterCrew, "_sent", sent)
    assert np.array_equal(model.fit(*cut(X, y)).coef_, undisturbed)
    assert halted


def test_a_scheduler_that_starts_anew_has_lost_the_blocks(client):
    X, y = rows()
    crew = ClusterCrew(client)
    held = crew.hold(list(cut(X, y)[0].to_delayed().ravel()))
    crew.ask(len, held)
    client.restart(wait_for_workers=False)  # the fit below waits for the first that comes back
    with pytest.raises(ClusterError, match=r"was lost.*call it again"):
        crew.ask(len, held)
    assert LogisticRegression(alpha=1e-3).fit(*cut(X, y)).gap_ <= 1e-4  # the same call, again


def test_a_full_disk_is_said_and_leaves_nothing_half_written(tmp_path, monkeypatch):
    X, y = rows()
    model = GaussianNB().fit(X, y)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with streaming():  # in this process, whose disk is full
        files = write_predictions(model, cut(X, y)[0], tmp_path / "answers")
        for file in files[2:]:
            file.unlink()
        with monkeypatch.context() as broken:
            broken.setattr(os, "fsync", full)
            with pytest.raises(OSError, match=r"part-00002.*(disk is full|No space left)"):
                write_predictions(model, cut(X, y)[0], tmp_path / "answers")
        assert sorted((tmp_path / "answers").iterdir()) == files[:2]
        assert write_predictions(model, cut(X, y)[0], tmp_path / "answers") == files  # with room, it goes on
    assert all(file.exists() for file in files)


def test_a_fit_that_was_broken_off_goes_on(tmp_path):
    X, y = rows()

    class Off(Exception):
        pass

    def stop(n_iter, state):
        if n_iter == 4:
            raise Off

    def risk():
        return Risk(X, y, alpha=1e-4)

    whole = minimize(risk(), "gradient-descent", tol=1e-9)
    with resumable(tmp_path):
        with pytest.raises(Off):
            minimize(risk(), "gradient-descent", tol=1e-9, callback=stop)
        assert len(list(tmp_path.iterdir())) == 1
        values = []
        rest = minimize(
            risk(), "gradient-descent", tol=1e-9, callback=lambda n, state: values.append(state.point.value)
        )
        minimize(risk().with_alpha(1.0))  # another fit, which starts from nothing
    assert rest.gap <= 1e-9
    assert rest.trace[0] <= whole.trace[4]
    assert rest.n_iter < whole.n_iter
    assert not list(tmp_path.iterdir())


def test_a_damaged_file_is_as_none(tmp_path):
    X, y = rows()
    with resumable(tmp_path):
        with pytest.raises(ZeroDivisionError):
            minimize(Risk(X, y, alpha=1e-4), "lbfgs", callback=lambda n, state: 1 / 0)
        (kept,) = tmp_path.iterdir()
        kept.write_bytes(kept.read_bytes()[:30])
        assert (
            minimize(Risk(X, y, alpha=1e-4), "lbfgs").n_iter
            == minimize(Risk(X, y, alpha=1e-4), "lbfgs").n_iter
        )


def test_estimators_on_blocks_go_on_too(client, tmp_path):
    X, y = rows()
    with resumable(tmp_path):
        with pytest.warns(ConvergenceWarning):
            LogisticRegression(alpha=1e-4, solver=LBFGS(max_iter=2)).fit(*cut(X, y))
        assert not list(tmp_path.iterdir())  # it ended, if early
        assert GaussianNB().fit(*cut(X, y)).score(*cut(X, y)) > 0.5
