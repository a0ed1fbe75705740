"""A file is the old one or the new one, whenever its writer dies; a set of files is one contest's or another's."""

import os
import shutil

import numpy as np
import pytest
from benchmarks.attacks._kills import (
    NEW_SET,
    OLD_SET,
    OWNED,
    WRITERS,
    files_in,
    hidden_in,
    kills_of_a_file,
    kills_of_a_set,
    refused_by_a_disk,
    write_set,
)

from nearline._atomic import whole, whole_set
from nearline._atomic.whole import WriteError, clear, scratch, written_whole
from nearline._atomic.whole_set import READY, is_empty, settled
from nearline.cli._sinks import sink

posix = pytest.mark.skipif(os.name != "posix", reason="processes of POSIX")


# -- deaths ---------------------------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("name", WRITERS)
def test_a_writer_that_dies_leaves_the_old_file_or_the_new_one(name, tmp_path):
    folder = tmp_path / "here"
    folder.mkdir()
    outcome = kills_of_a_file(name, folder)
    assert outcome.tries > 8
    assert not outcome.failures


@posix
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside other files"])
def test_two_contests_are_never_mixed(beside, tmp_path):
    outcome = kills_of_a_set(beside, tmp_path)
    assert outcome.tries > 20
    assert not outcome.failures


@posix
def test_where_folders_cannot_be_exchanged_sets_are_not_mixed_either(tmp_path, monkeypatch):
    monkeypatch.setattr(whole_set, "_exchange", lambda made, folder: False)
    outcome = kills_of_a_set(True, tmp_path)
    assert not outcome.failures


def test_what_living_processes_write_is_left_alone(tmp_path):
    with written_whole(tmp_path / "file") as file, scratch(tmp_path) as folder:
        file.write(b"half")
        (folder / "more").write_bytes(b"half")
        before = hidden_in(tmp_path)
        assert len(before) == 2
        clear(tmp_path)
        assert hidden_in(tmp_path) == before
    assert files_in(tmp_path) == {"file": b"half"}


def test_what_is_not_ours_is_left_alone(tmp_path):
    names = [".nearline-notes", "nearline-x.tmp", ".x.tmp", ".nearline.tmp"]
    for name in names:
        (tmp_path / name).write_text("mine")
    os.symlink(tmp_path / names[0], tmp_path / ".nearline-link.tmp")
    (tmp_path / ".nearline-dead.tmp").write_text("half")
    clear(tmp_path)
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted([*names, ".nearline-link.tmp"])


@pytest.mark.parametrize("system", ["without locks", "with locks that fail"])
def test_without_locks_age_tells(system, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(37, "No locks available")

    if system == "without locks":
        monkeypatch.setattr(whole, "fcntl", None)
    else:
        monkeypatch.setattr(whole.fcntl, "flock", fail)
    young, old = tmp_path / ".nearline-a.tmp", tmp_path / ".nearline-b.tmp"
    young.write_text("half")
    old.mkdir()
    os.utime(old, (0, 0))
    with written_whole(tmp_path / "file", "w") as file:
        file.write("all")
    with scratch(tmp_path):
        pass
    assert sorted(one.name for one in tmp_path.iterdir()) == [".nearline-a.tmp", "file"]


# -- sets -----------------------------------------------------------------------------------------------------


def test_a_set_goes_where_there_is_nothing(tmp_path):
    write_set(tmp_path / "out", OLD_SET)
    (tmp_path / "empty").mkdir(mode=0o750)
    write_set(tmp_path / "empty", NEW_SET)
    assert sorted(files_in(tmp_path / "out")) == sorted(OLD_SET)
    assert sorted(files_in(tmp_path / "empty")) == sorted(NEW_SET)
    assert (tmp_path / "empty").stat().st_mode & 0o777 == 0o750
    assert not hidden_in(tmp_path)


def test_a_set_that_fails_leaves_the_older_one(tmp_path):
    write_set(tmp_path / "out", OLD_SET)
    with pytest.raises(TypeError):
        write_set(tmp_path / "out", {"report.html": "new", "result.json": None})
    assert {name: text.decode() for name, text in files_in(tmp_path / "out").items()} == OLD_SET
    assert not hidden_in(tmp_path)


def test_the_current_folder_stays_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_set(tmp_path, OLD_SET)
    before = os.stat(tmp_path).st_ino
    write_set(tmp_path, NEW_SET)
    assert os.stat(".").st_ino == before
    assert sorted(os.listdir()) == sorted(NEW_SET)


def test_what_a_dead_process_left_is_no_obstacle(tmp_path):
    (tmp_path / ".nearline-dead.tmp").mkdir()
    assert is_empty(tmp_path)
    ready = tmp_path / READY
    ready.mkdir()
    (ready / ".names").write_text('["result.json", "../escape"]')
    (ready / "result.json").write_text("new")
    (tmp_path / "report.html").write_text("old")
    settled(tmp_path, OWNED)
    assert files_in(tmp_path) == {"result.json": b"new"}
    assert not hidden_in(tmp_path)


# -- links ----------------------------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("name", WRITERS)
def test_every_writer_follows_links(name, tmp_path):
    """What a link leads to is replaced, and the link stays; also a link that leads to nothing yet."""
    ending = ".csv" if name == "predictions" else ""
    target, link = tmp_path / f"target{ending}", tmp_path / f"file{ending}"
    link.symlink_to(target)
    for version in (1, 2):
        WRITERS[name](tmp_path / "file", version)
        assert link.is_symlink()
        assert target.is_file()
    assert not hidden_in(tmp_path)


@posix
def test_parquet_and_sets_follow_links(tmp_path):
    pytest.importorskip("polars")
    (tmp_path / "real").mkdir()
    os.symlink(tmp_path / "real", tmp_path / "folder")
    os.symlink(tmp_path / "real" / "a.parquet", tmp_path / "a.parquet")
    with sink(tmp_path / "a.parquet", ["label"], ["integer"]) as write:
        write([1])
    assert (tmp_path / "a.parquet").is_symlink()
    assert (tmp_path / "real" / "a.parquet").read_bytes()[:4] == b"PAR1"
    shutil.move(tmp_path / "real" / "a.parquet", tmp_path / "b.parquet")
    write_set(whole.place_of(tmp_path / "folder"), OLD_SET)
    write_set(whole.place_of(tmp_path / "folder"), NEW_SET)
    assert (tmp_path / "folder").is_symlink()
    assert sorted(files_in(tmp_path / "real")) == sorted(NEW_SET)


# -- disks that refuse ----------------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("name", WRITERS)
def test_a_disk_that_refuses_gets_a_sentence(name, tmp_path):
    assert not refused_by_a_disk(name, tmp_path).failures


def test_a_folder_that_may_not_be_written(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(whole.tempfile, "mkstemp", refuse)
    with pytest.raises(WriteError, match=r"file cannot be written \(Permission denied\): check your rights"):
        written_whole(tmp_path / "file").__enter__()
    assert not list(tmp_path.iterdir())


def test_errors_of_what_is_written_are_its_own(tmp_path):
    with pytest.raises(FileNotFoundError), written_whole(tmp_path / "file"):
        (tmp_path / "nowhere").read_bytes()
    with pytest.raises(WriteError, match="free some space"), written_whole(tmp_path / "file"):
        raise OSError(28, "No space left on device")
    assert not list(tmp_path.iterdir())


@posix
def test_folders_are_forced_to_the_disk_after_renaming(tmp_path, monkeypatch):
    calls = []
    synced, replace = whole.synced, os.replace
    monkeypatch.setattr(whole, "synced", lambda path: (calls.append(path), synced(path)))
    monkeypatch.setattr(os, "replace", lambda *paths: (calls.append("renamed"), replace(*paths)))
    with written_whole(tmp_path / "file") as file:
        np.save(file, np.ones(2))
    assert calls[1:] == ["renamed", tmp_path]
