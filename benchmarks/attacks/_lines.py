"""Tables of strange lines, quotes, columns and bytes."""

import random
from pathlib import Path

from benchmarks.attacks._hostile import MEGA, hostile, rows, written


@hostile("csv: a line of 100 MB")
def _long_line(folder: Path, scale: float) -> Path:
    return written(folder / "line.csv", rows() + b"1," * int(50 * MEGA * scale) + b"x\n")


@hostile("csv: one word of 100 MB")
def _long_word(folder: Path, scale: float) -> Path:
    return written(folder / "word.csv", b"w" * int(100 * MEGA * scale))


@hostile("csv: a quote that stays open over 50 MB")
def _open_quote(folder: Path, scale: float) -> Path:
    before = rows() + rows()[10:] * 400
    return written(folder / "quote.csv", before + b'1,"2,x\n' + b"1,2,x\n" * int(8 * MEGA * scale))


@hostile("csv: a quote that stays open from the first line")
def _open_at_once(folder: Path, scale: float) -> Path:
    return written(folder / "quote.csv", b'a,"b,label\n' + b"1,2,x\n" * int(8 * MEGA * scale))


@hostile("csv: a field of 1 MB in quotes")
def _long_field(folder: Path, scale: float) -> Path:
    return written(folder / "field.csv", b'text,label\n"' + b"word\n" * (MEGA // 5) + b'",x\nother,y\n')


@hostile("csv: a million columns")
def _many_columns(folder: Path, scale: float) -> Path:
    line = b",".join(b"%d" % i for i in range(int(1_000_000 * scale))) + b"\n"
    return written(folder / "wide.csv", line * 3)


@hostile("csv: a million columns between spaces")
def _many_spaced(folder: Path, scale: float) -> Path:
    return written(folder / "wide.csv", (b"1 " * int(1_000_000 * scale) + b"\n") * 3)


@hostile("csv: a million quotes in a line")
def _many_quotes(folder: Path, scale: float) -> Path:
    return written(folder / "quotes.csv", rows() + b'1,"' + b'""' * int(500_000 * scale) + b'",x\n')


@hostile("csv: NUL bytes")
def _nul(folder: Path, scale: float) -> Path:
    return written(folder / "nul.csv", rows() + b"\0" * 1000 + rows())


@hostile("csv: NUL bytes after the sample")
def _late_nul(folder: Path, scale: float) -> Path:
    return written(folder / "nul.csv", rows(40_000) + b"1,\0,x\n" + rows(10)[10:])


@hostile("csv: UTF-16 without a mark")
def _utf16(folder: Path, scale: float) -> Path:
    return written(folder / "utf16.csv", rows().decode().encode("utf-16-le"))


@hostile("csv: UTF-8 with a mark")
def _marked(folder: Path, scale: float) -> Path:
    return written(folder / "bom.csv", b"\xef\xbb\xbf" + rows())


@hostile("csv: bytes that are no UTF-8")
def _latin(folder: Path, scale: float) -> Path:
    return written(folder / "latin.csv", rows() + b"1,2,caf\xe9\n" * 3)


@hostile("csv: bytes that are no UTF-8 after the sample")
def _late_latin(folder: Path, scale: float) -> Path:
    return written(folder / "latin.csv", rows(40_000) + b"1,2,caf\xe9\xff\xfe\n" * 3)


@hostile("csv: random bytes")
def _noise(folder: Path, scale: float) -> Path:
    return written(folder / "noise.csv", random.Random(0).randbytes(MEGA))


@hostile("csv: a number of 100,000 digits")
def _digits(folder: Path, scale: float) -> Path:
    return written(folder / "digits.csv", rows() + b"9" * 100_000 + b",1,x\n")


@hostile("csv: a label of 100,000 digits")
def _digit_label(folder: Path, scale: float) -> Path:
    return written(folder / "digits.csv", b"a,label\n" + b"1,1\n2,2\n" * 20 + b"1," + b"9" * 100_000 + b"\n")
