"""Files made to crash, hang or fill a memory are refused by a sentence, or read rightly: the small ones of the attacks."""

import random

import pytest
from benchmarks.attacks import NOTHING, REFUSED, SURVIVED, verdict
from benchmarks.attacks.readers import FILES, READABLE, _read, _seeds, damaged

from nearline.data import DataError, read

# large by nature: python -m benchmarks.attacks readers
LARGE = {
    *("bz2: 1 GB of zeros", "xz: 1 GB of zeros", "zip: 1 GB of zeros", "gz: LIBSVM of 1 GB"),
    *("npz: an array that expands a thousandfold", "libsvm: a line of 100 MB", "fasta: a sequence of 100 MB"),
    *("csv: a line of 100 MB", "csv: one word of 100 MB", "csv: a quote that stays open over 50 MB"),
    *("csv: a million columns", "csv: a million columns between spaces", "arff: a million attributes"),
    *("csv: a quote that stays open from the first line", "folder: an image of 10^9 pixels in 1 MB"),
    *("folder: an image of 85 million pixels", "folder: 1,100,000 names", "gz: 0.5 MB that unpack to 500 MB"),
    *("csv: NUL bytes after the sample", "csv: bytes that are no UTF-8 after the sample"),
    *("gz: one line of 1 GB", "arff: sparse rows of 10^9 cells", "idx: 1 GB of zeros in 1 MB"),
}
IDX = [name for name in FILES if name.startswith("idx: ")]


@pytest.mark.parametrize("name", sorted(set(FILES) - LARGE))
def test_hostile(name, tmp_path):
    path = FILES[name](tmp_path, 0.01)
    found = verdict(name, lambda: _read(path))
    assert found == SURVIVED if name in READABLE else found in (REFUSED, SURVIVED), found.failures


def test_no_idx_file_of_these_is_read(tmp_path):
    assert len(IDX) == 10
    for name in set(IDX) - LARGE:
        with pytest.raises(DataError):
            read(FILES[name](tmp_path, 0.01))


@pytest.mark.parametrize(
    ("name", "scale", "message"),
    [
        ("gz: 0.5 MB that unpack to 500 MB", 0.04, "unpacks to more than . MB"),
        ("zip: 1 GB of zeros", 0.002, "unpacks to more than . MB"),
        ("npz: an array that expands a thousandfold", 0.005, "more than 100 times its size"),
        ("csv: one word of 100 MB", 0.01, "Line 1 .*more than 100,000 characters"),
        ("csv: a line of 100 MB", 0.01, "Line 52 .*more than 100,000 characters"),
        ("libsvm: a line of 100 MB", 0.01, "Line 1 .*more than 100,000 characters"),
        ("csv: a quote that stays open over 50 MB", 0.001, "A quote opens in record 20,052"),
        ("csv: a million columns", 0.11, "110,000 columns"),
        ("csv: a million columns between spaces", 0.11, "columns, and tables go to"),
        ("folder: 1,100,000 names", 0.0001, "more than 100 names"),
        ("idx: 1 GB of zeros in 1 MB", 0.004, "unpacks to more than . MB"),
    ],
)
def test_bounds(name, scale, message, tmp_path, monkeypatch):
    monkeypatch.setattr("nearline.data._files.FREELY_UNPACKED", 1 << 20)
    monkeypatch.setattr("nearline.data._numpy.FREELY_UNPACKED", 1 << 20)
    if "columns" not in name:
        monkeypatch.setattr("nearline.data._text.MOST_LINE", 100_000)
    monkeypatch.setattr("nearline.data.texts.MOST_NAMES", 100)
    with pytest.raises(DataError, match=message):
        read(FILES[name](tmp_path, scale))


def test_damaged_bytes(tmp_path):
    found, source = NOTHING, random.Random(1)
    for seed in _seeds(tmp_path):
        strange = tmp_path / f"strange-{seed.name}"
        for number in range(12):
            strange.write_bytes(damaged(seed.read_bytes(), source))
            found += verdict(f"{seed.name} {number}", lambda strange=strange: _read(strange))
    assert not found.failures
    assert found.refused > 40
