"""Attacks on the readers of files: what expands, never ends, nests, lies about its size, or is no file at all.

Every file is made here and read in another interpreter, whose memory and time are limited; all parts of it are asked for, at
once and in batches. A reader may refuse it by a sentence or read it rightly; more memory, more time, or anything else than a
sentence is a failure. ``scale`` is 1 for the sizes that the names tell; tests use smaller ones.
"""

import bz2
import gzip
import json
import lzma
import os
import random
import resource
import socket
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.attacks import NOTHING, REFUSED, Attack, Outcome, failed, survey_apart, verdict

MEGA = 1 << 20
MEMORY = (
    4096 * MEGA
)  # addresses of the reading interpreter, its libraries and their threads' stacks among them
RESIDENT = 1536  # MB in use at most
SECONDS = 120  # of the processor
LATE = 900.0  # of the clock, on a machine that others use

Maker = Callable[[Path, float], Path]
FILES: dict[str, Maker] = {}
READABLE = {  # strange, but not wrong: these must be read
    "csv: UTF-16 without a mark",
    "csv: UTF-8 with a mark",
    "csv: bytes that are no UTF-8",
    "csv: a field of 1 MB in quotes",
    "json: one array on one line",
    "folder: a loop of links inside",
    "folder: pipes and broken images inside",
}


def hostile(name: str) -> Callable[[Maker], Maker]:
    def keep(make: Maker) -> Maker:
        FILES[name] = make
        return make

    return keep


def _written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def _rows(count: int = 50) -> bytes:
    return b"a,b,label\n" + b"".join(
        b"%d,%d.5,%s\n" % (i, i % 7, b"xy"[i % 2 : i % 2 + 1]) for i in range(count)
    )


# what expands


@hostile("gz: 0.5 MB that unpack to 500 MB")
def _gzip_bomb(folder: Path, scale: float) -> Path:
    # members of all these formats may follow one another
    piece = gzip.compress(b"1,2,x\n" * (MEGA // 6))
    return _written(folder / "bomb.csv.gz", gzip.compress(_rows()) + piece * int(500 * scale))


@hostile("gz: one line of 1 GB")
def _gzip_line(folder: Path, scale: float) -> Path:
    return _written(folder / "line.csv.gz", gzip.compress(b"x" * MEGA) * int(1024 * scale))


@hostile("bz2: 1 GB of zeros")
def _bzip_bomb(folder: Path, scale: float) -> Path:
    piece = bz2.compress(b"0,0,x\n" * (4 * MEGA // 6))
    return _written(folder / "bomb.csv.bz2", bz2.compress(_rows()) + piece * int(256 * scale))


@hostile("xz: 1 GB of zeros")
def _xz_bomb(folder: Path, scale: float) -> Path:
    piece = lzma.compress(b"0,0,x\n" * (4 * MEGA // 6), preset=0)
    return _written(folder / "bomb.csv.xz", lzma.compress(_rows()) + piece * int(256 * scale))


@hostile("zip: 1 GB of zeros")
def _zip_bomb(folder: Path, scale: float) -> Path:
    with zipfile.ZipFile(folder / "bomb.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("bomb.csv", _rows() + b"0,0,x\n" * int(170 * MEGA * scale))
    return folder / "bomb.zip"


@hostile("gz: LIBSVM of 1 GB")
def _gzip_libsvm(folder: Path, scale: float) -> Path:
    return _written(folder / "bomb.svm.gz", gzip.compress(b"1 1:1 2:1\n" * (MEGA // 10)) * int(1024 * scale))


@hostile("npz: an array that expands a thousandfold")
def _npz_bomb(folder: Path, scale: float) -> Path:
    rows = int(128 * 1024 * scale)
    with zipfile.ZipFile(folder / "bomb.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, shape, kind in (("X", (rows, 1024), "<f8"), ("y", (rows,), "<i8")):
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                stream.write(_npy_header(shape, kind))
                piece = b"\0" * (8 * (shape[1] if len(shape) > 1 else 1))
                for _ in range(0, rows, 64):
                    stream.write(piece * 64)
    return folder / "bomb.npz"


def _npy_header(shape: tuple[int, ...], kind: str) -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape!r}, }}"
    text += " " * (63 - (10 + len(text)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


@hostile("npy: a header of a terabyte")
def _npy_lie(folder: Path, scale: float) -> Path:
    return _written(folder / "lie.npy", _npy_header((1 << 30, 128), "<f8") + b"\0" * 1024)


@hostile("npy: strings of a million characters")
def _npy_strings(folder: Path, scale: float) -> Path:
    return _written(folder / "wide.npy", _npy_header((1 << 20,), "<U1000000") + b"\0" * 1024)


@hostile("npz: a header of a terabyte")
def _npz_lie(folder: Path, scale: float) -> Path:
    with zipfile.ZipFile(folder / "lie.npz", "w") as archive:
        archive.writestr("X.npy", _npy_header((1 << 30, 128), "<f8") + b"\0" * 1024)
    return folder / "lie.npz"


@hostile("npz: sparse, with indices that lie")
def _npz_sparse(folder: Path, scale: float) -> Path:
    import numpy as np

    np.savez(
        folder / "sparse.npz",
        indices=np.array([10**9, -5], dtype=np.int32),
        indptr=np.array([0, 1, 2], dtype=np.int32),
        data=np.ones(2),
        shape=np.array([2, 10]),
        format=b"csr",
    )
    return folder / "sparse.npz"


@hostile("npy: an array of Python objects")
def _npy_objects(folder: Path, scale: float) -> Path:
    import numpy as np

    np.save(folder / "objects.npy", np.array([[{}, []]], dtype=object), allow_pickle=True)
    return folder / "objects.npy"


@hostile("npz: Python objects as labels")
def _npz_objects(folder: Path, scale: float) -> Path:
    import numpy as np

    np.savez(folder / "objects.npz", X=np.ones((2, 2)), y=np.array([{}, []], dtype=object))
    return folder / "objects.npz"


# lines, quotes and columns


@hostile("csv: a line of 100 MB")
def _long_line(folder: Path, scale: float) -> Path:
    return _written(folder / "line.csv", _rows() + b"1," * int(50 * MEGA * scale) + b"x\n")


@hostile("csv: one word of 100 MB")
def _long_word(folder: Path, scale: float) -> Path:
    return _written(folder / "word.csv", b"w" * int(100 * MEGA * scale))


@hostile("csv: a quote that stays open over 50 MB")
def _open_quote(folder: Path, scale: float) -> Path:
    rows = _rows() + _rows()[10:] * 400
    return _written(folder / "quote.csv", rows + b'1,"2,x\n' + b"1,2,x\n" * int(8 * MEGA * scale))


@hostile("csv: a quote that stays open from the first line")
def _open_at_once(folder: Path, scale: float) -> Path:
    return _written(folder / "quote.csv", b'a,"b,label\n' + b"1,2,x\n" * int(8 * MEGA * scale))


@hostile("csv: a field of 1 MB in quotes")
def _long_field(folder: Path, scale: float) -> Path:
    return _written(folder / "field.csv", b'text,label\n"' + b"word\n" * (MEGA // 5) + b'",x\nother,y\n')


@hostile("csv: a million columns")
def _many_columns(folder: Path, scale: float) -> Path:
    line = b",".join(b"%d" % i for i in range(int(1_000_000 * scale))) + b"\n"
    return _written(folder / "wide.csv", line * 3)


@hostile("csv: a million columns between spaces")
def _many_spaced(folder: Path, scale: float) -> Path:
    return _written(folder / "wide.csv", (b"1 " * int(1_000_000 * scale) + b"\n") * 3)


@hostile("csv: a million quotes in a line")
def _many_quotes(folder: Path, scale: float) -> Path:
    return _written(folder / "quotes.csv", _rows() + b'1,"' + b'""' * int(500_000 * scale) + b'",x\n')


@hostile("csv: NUL bytes")
def _nul(folder: Path, scale: float) -> Path:
    return _written(folder / "nul.csv", _rows() + b"\0" * 1000 + _rows())


@hostile("csv: NUL bytes after the sample")
def _late_nul(folder: Path, scale: float) -> Path:
    return _written(folder / "nul.csv", _rows(40_000) + b"1,\0,x\n" + _rows(10)[10:])


@hostile("csv: UTF-16 without a mark")
def _utf16(folder: Path, scale: float) -> Path:
    return _written(folder / "utf16.csv", _rows().decode().encode("utf-16-le"))


@hostile("csv: UTF-8 with a mark")
def _marked(folder: Path, scale: float) -> Path:
    return _written(folder / "bom.csv", b"\xef\xbb\xbf" + _rows())


@hostile("csv: bytes that are no UTF-8")
def _latin(folder: Path, scale: float) -> Path:
    return _written(folder / "latin.csv", _rows() + b"1,2,caf\xe9\n" * 3)


@hostile("csv: bytes that are no UTF-8 after the sample")
def _late_latin(folder: Path, scale: float) -> Path:
    return _written(folder / "latin.csv", _rows(40_000) + b"1,2,caf\xe9\xff\xfe\n" * 3)


@hostile("csv: random bytes")
def _noise(folder: Path, scale: float) -> Path:
    return _written(folder / "noise.csv", random.Random(0).randbytes(MEGA))


@hostile("csv: a number of 100,000 digits")
def _digits(folder: Path, scale: float) -> Path:
    return _written(folder / "digits.csv", _rows() + b"9" * 100_000 + b",1,x\n")


@hostile("csv: a label of 100,000 digits")
def _digit_label(folder: Path, scale: float) -> Path:
    return _written(folder / "digits.csv", b"a,label\n" + b"1,1\n2,2\n" * 20 + b"1," + b"9" * 100_000 + b"\n")


# nesting and numbers


@hostile("json: a number of 5,000 digits")
def _json_digits(folder: Path, scale: float) -> Path:
    return _written(folder / "digits.jsonl", b'{"a": 1, "y": 0}\n{"a": ' + b"9" * 5000 + b', "y": 1}\n')


@hostile("json: an array with a number of 5,000 digits")
def _json_array_digits(folder: Path, scale: float) -> Path:
    return _written(folder / "digits.json", b'[{"a": 1}, {"a": ' + b"9" * 5000 + b"}]")


@hostile("json: nested 100,000 deep in a value")
def _json_deep(folder: Path, scale: float) -> Path:
    return _written(folder / "deep.jsonl", b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b', "y": 1}\n' * 2)


@hostile("json: objects nested 100,000 deep")
def _json_deep_objects(folder: Path, scale: float) -> Path:
    deep = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    return _written(folder / "deep.jsonl", (deep + b"\n") * 2)


@hostile("json: an array nested 100,000 deep")
def _json_deep_array(folder: Path, scale: float) -> Path:
    return _written(folder / "deep.json", b"[" * 100_000 + b"]" * 100_000)


@hostile("json: every line with a key of its own")
def _json_keys(folder: Path, scale: float) -> Path:
    lines = (b'{"k%d": 1, "y": %d}\n' % (i, i % 2) for i in range(int(200_000 * scale)))
    return _written(folder / "keys.jsonl", b"".join(lines))


@hostile("json: surrogates without a partner")
def _json_surrogates(folder: Path, scale: float) -> Path:
    return _written(folder / "lone.jsonl", b'{"a": "\\ud800", "y": 0}\n{"a": "b\\udfff", "y": 1}\n')


@hostile("json: one array on one line")
def _json_array(folder: Path, scale: float) -> Path:
    rows = [{"a": i, "y": "xy"[i % 2]} for i in range(1000)]
    return _written(folder / "array.json", json.dumps(rows).encode())


@hostile("libsvm: an index of 10^12")
def _libsvm_index(folder: Path, scale: float) -> Path:
    return _written(folder / "index.svm", b"1 1:1 2:1\n0 1:1 1000000000000:1\n")


@hostile("libsvm: an index of 2 * 10^9")
def _libsvm_wide(folder: Path, scale: float) -> Path:
    return _written(folder / "index.svm", b"1 1:1 2:1\n0 1:1 2000000000:1\n")


@hostile("libsvm: an index of 100 digits")
def _libsvm_digits(folder: Path, scale: float) -> Path:
    return _written(folder / "index.svm", b"1 1:1 2:1\n0 1:1 " + b"9" * 100 + b":1\n")


@hostile("libsvm: a negative index")
def _libsvm_negative(folder: Path, scale: float) -> Path:
    return _written(folder / "index.svm", b"1 1:1 2:1\n0 -7:1 2:1\n")


@hostile("libsvm: a line of 100 MB")
def _libsvm_line(folder: Path, scale: float) -> Path:
    return _written(folder / "line.svm", b"1 " + b"1:1 " * int(25 * MEGA * scale))


@hostile("fasta: a sequence of 100 MB")
def _fasta(folder: Path, scale: float) -> Path:
    return _written(
        folder / "long.fasta", b">label=a\n" + b"ACGT" * int(25 * MEGA * scale) + b"\n>label=b\nACGT\n"
    )


@hostile("fasta: a million headers and no sequence")
def _fasta_empty(folder: Path, scale: float) -> Path:
    return _written(folder / "empty.fasta", b">label=a\n" * int(1_000_000 * scale))


@hostile("trees: nested 100,000 deep")
def _trees(folder: Path, scale: float) -> Path:
    deep = b"(S " * 100_000 + b"(N a)" + b")" * 100_000
    return _written(folder / "deep.trees", b"1\t" + deep + b"\n0\t(S (N a))\n")


@hostile("trees: brackets that never close")
def _open_trees(folder: Path, scale: float) -> Path:
    return _written(folder / "open.trees", b"1\t(S (N a)\n" * int(300_000 * scale))


@hostile("kelp: nested 100,000 deep")
def _kelp(folder: Path, scale: float) -> Path:
    deep = b"(S " * 100_000 + b"(N a)" + b")" * 100_000
    return _written(folder / "deep.klp", b"a |BT:t| " + deep + b" |ET|\nb |BT:t| (S (N a)) |ET|\n")


@hostile("arff: a million attributes")
def _arff_wide(folder: Path, scale: float) -> Path:
    names = b"".join(b"@attribute a%d numeric\n" % i for i in range(int(1_000_000 * scale)))
    return _written(folder / "wide.arff", b"@relation r\n" + names + b"@data\n{0 1}\n{1 1}\n")


@hostile("arff: sparse rows of 10^9 cells")
def _arff_sparse(folder: Path, scale: float) -> Path:
    names = b"".join(b"@attribute a%d {x,y}\n" % i for i in range(10_000))
    return _written(
        folder / "sparse.arff", b"@relation r\n" + names + b"@data\n" + b"{}\n" * int(100_000 * scale)
    )


@hostile("arff: an index of 10^12, a quote that stays open")
def _arff_index(folder: Path, scale: float) -> Path:
    return _written(
        folder / "i.arff", b"@relation r\n@attribute a numeric\n@data\n{1000000000000 1}\n{0 'x}\n"
    )


# folders, devices, links


@hostile("a pipe instead of a file")
def _pipe(folder: Path, scale: float) -> Path:
    os.mkfifo(folder / "pipe.csv")
    return folder / "pipe.csv"


@hostile("a device that never ends")
def _device(folder: Path, scale: float) -> Path:
    return Path("/dev/zero")


@hostile("a socket instead of a file")
def _socket(folder: Path, scale: float) -> Path:
    place = os.getcwd()
    os.chdir(folder)  # names of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as own:
            own.bind("s.csv")
    finally:
        os.chdir(place)
    return folder / "s.csv"


@hostile("a link to itself")
def _loop(folder: Path, scale: float) -> Path:
    (folder / "loop.csv").symlink_to(folder / "loop.csv")
    return folder / "loop.csv"


@hostile("folder: a loop of links inside")
def _folder_loop(folder: Path, scale: float) -> Path:
    for name in "ab":
        (folder / "texts" / name).mkdir(parents=True)
        for i in range(3):
            _written(folder / "texts" / name / f"{i}.txt", b"a text of " + name.encode())
        (folder / "texts" / name / "again").symlink_to(folder / "texts")
        (folder / "texts" / name / "self.txt").symlink_to(folder / "texts" / name / "self.txt")
    return folder / "texts"


@hostile("folder: 1,100,000 names")
def _names(folder: Path, scale: float) -> Path:
    (folder / "names").mkdir()
    for i in range(int(1_100_000 * scale)):
        os.close(os.open(folder / "names" / f"{i}.txt", os.O_CREAT | os.O_WRONLY))
    return folder / "names"


# images


def _png(width: int, height: int, data: bytes) -> bytes:
    def chunk(kind: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def _photos(folder: Path) -> Path:
    """A folder of two classes with a good image each."""
    for name in "ab":
        (folder / "photos" / name).mkdir(parents=True)
        _written(folder / "photos" / name / "good.png", _png(16, 16, zlib.compress(b"\0" + b"\x80" * 16) * 1))
        rows = b"".join(b"\0" + bytes(range(16)) for _ in range(16))
        _written(folder / "photos" / name / "good.png", _png(16, 16, zlib.compress(rows)))
    return folder / "photos"


@hostile("folder: pipes and broken images inside")
def _broken_images(folder: Path, scale: float) -> Path:
    photos = _photos(folder)
    good = (photos / "a" / "good.png").read_bytes()
    os.mkfifo(photos / "a" / "pipe.png")
    for i, start in enumerate(
        (good[:60], good[:20], b"", b"\xff\xd8\xff\xe0" + b"\0" * 50, b"GIF89a\xff\xff\xff\xff")
    ):
        _written(photos / "a" / f"broken{i}.png", start)
    return photos


@hostile("folder: an image of 10^9 pixels in 1 MB")
def _pixel_bomb(folder: Path, scale: float) -> Path:
    photos = _photos(folder)
    packer = zlib.compressobj()
    data = b"".join(packer.compress(b"\0" * 30_001) for _ in range(int(30_000 * scale))) + packer.flush()
    _written(photos / "a" / "bomb.png", _png(30_000, 30_000, data))
    return photos


@hostile("folder: an image of 85 million pixels")
def _large_pixels(folder: Path, scale: float) -> Path:
    photos = _photos(folder)
    packer = zlib.compressobj()
    data = b"".join(packer.compress(b"\0" * 9_201) for _ in range(9_200)) + packer.flush()
    _written(photos / "a" / "large.png", _png(9_200, 9_200, data))
    return photos


# damaged files of all kinds, byte by byte


def _seeds(folder: Path) -> list[Path]:
    """A small good file of each format that is more than lines."""
    import numpy as np
    import polars as pl
    from scipy.sparse import csr_matrix, save_npz

    frame = pl.DataFrame(
        {"a": range(60), "b": ["x", "y", None] * 20, "c": [1.5, None] * 30, "e": [[1.0, 2.0]] * 60}
    )
    frame.write_parquet(folder / "seed.parquet")
    frame.drop("e").write_parquet(folder / "plain.parquet", compression="snappy", use_pyarrow=False)
    frame.write_ndjson(folder / "seed.jsonl")
    np.save(folder / "seed.npy", np.arange(60.0).reshape(20, 3))
    np.savez_compressed(folder / "seed.npz", X=np.arange(60.0).reshape(20, 3), y=np.arange(20) % 2)
    save_npz(folder / "sparse.npz", csr_matrix(np.eye(6)))
    _written(folder / "seed.csv", _rows())
    _written(folder / "seed.svm", b"1 1:0.5 3:2\n0 2:1\n" * 10)
    _written(folder / "seed.csv.gz", gzip.compress(_rows()))
    return sorted(path for path in folder.iterdir() if path.is_file())


def damaged(seed: bytes, source: random.Random) -> bytes:
    """Some bytes changed, a piece cut out, doubled, or filled with the largest number."""
    data = bytearray(seed)
    for _ in range(source.choice((1, 1, 2, 5))):
        start = source.randrange(len(data))
        length = source.choice((1, 1, 4, 16, 200))
        kind = source.randrange(4)
        if kind == 0:
            data[start : start + length] = source.randbytes(length)
        elif kind == 1 and len(data) > length + 10:
            del data[start : start + length]
        elif kind == 2:
            data[start:start] = data[start : start + length]
        else:
            data[start : start + length] = b"\xff" * length
    return bytes(data)


def fuzzed(folder: str, tries: str) -> Outcome:
    """Damaged copies of each seed, all in this interpreter."""
    _limit(10 * SECONDS)
    place = Path(folder)
    found, source = NOTHING, random.Random(7)
    for seed in _seeds(place):
        content, strange = seed.read_bytes(), place / f"strange-{seed.name}"
        for number in range(int(tries)):
            strange.write_bytes(damaged(content, source))
            found += verdict(f"{seed.name} {number}", lambda strange=strange: _read(strange))
    return found


def _read(path: Path) -> None:
    """All rows at once and in parts, and what is said of them."""
    from nearline.data import DataError, batches, read

    try:
        for part in batches(path, 500_000):
            len(str(part))
    except DataError:
        pass  # the same, or that there are no parts, is said of the whole
    str(read(path))


def _limit(seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def _peak() -> int:
    """Megabytes that this process had in memory at most. What getrusage says includes the process that started it."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) // 1024


def tried(name: str, path: str) -> Outcome:
    """One hostile file in this interpreter."""
    _limit(SECONDS)
    outcome = verdict(name, lambda: _read(Path(path)))
    used = _peak()
    if used > RESIDENT:
        return failed(f"{name}: {used:,} MB were in use, and {RESIDENT:,} are the limit")
    if outcome == REFUSED and name in READABLE:
        return failed(f"{name}: refused, though it can be read")
    return outcome


def attacks() -> Iterator[Attack]:
    for name, make in FILES.items():

        def run(folder: Path, name: str = name, make: Maker = make) -> Outcome:
            return survey_apart(__name__, "tried", name, str(make(folder, 1.0)), seconds=LATE)

        yield Attack(f"readers: {name}", run)
    yield Attack(
        "readers: damaged bytes",
        lambda folder: survey_apart(__name__, "fuzzed", str(folder), "400", seconds=LATE),
    )
