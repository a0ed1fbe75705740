"""Files that nest, or have numbers and indices that nothing holds."""

import json
from pathlib import Path

from benchmarks.attacks._hostile import MEGA, hostile, written


@hostile("json: a number of 5,000 digits")
def _json_digits(folder: Path, scale: float) -> Path:
    return written(folder / "digits.jsonl", b'{"a": 1, "y": 0}\n{"a": ' + b"9" * 5000 + b', "y": 1}\n')


@hostile("json: an array with a number of 5,000 digits")
def _json_array_digits(folder: Path, scale: float) -> Path:
    return written(folder / "digits.json", b'[{"a": 1}, {"a": ' + b"9" * 5000 + b"}]")


@hostile("json: nested 100,000 deep in a value")
def _json_deep(folder: Path, scale: float) -> Path:
    return written(folder / "deep.jsonl", b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b', "y": 1}\n' * 2)


@hostile("json: objects nested 100,000 deep")
def _json_deep_objects(folder: Path, scale: float) -> Path:
    deep = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
    return written(folder / "deep.jsonl", (deep + b"\n") * 2)


@hostile("json: an array nested 100,000 deep")
def _json_deep_array(folder: Path, scale: float) -> Path:
    return written(folder / "deep.json", b"[" * 100_000 + b"]" * 100_000)


@hostile("json: every line with a key of its own")
def _json_keys(folder: Path, scale: float) -> Path:
    lines = (b'{"k%d": 1, "y": %d}\n' % (i, i % 2) for i in range(int(200_000 * scale)))
    return written(folder / "keys.jsonl", b"".join(lines))


@hostile("json: surrogates without a partner")
def _json_surrogates(folder: Path, scale: float) -> Path:
    return written(folder / "lone.jsonl", b'{"a": "\\ud800", "y": 0}\n{"a": "b\\udfff", "y": 1}\n')


@hostile("json: one array on one line")
def _json_array(folder: Path, scale: float) -> Path:
    rows = [{"a": i, "y": "xy"[i % 2]} for i in range(1000)]
    return written(folder / "array.json", json.dumps(rows).encode())


@hostile("libsvm: an index of 10^12")
def _libsvm_index(folder: Path, scale: float) -> Path:
    return written(folder / "index.svm", b"1 1:1 2:1\n0 1:1 1000000000000:1\n")


@hostile("libsvm: an index of 2 * 10^9")
def _libsvm_wide(folder: Path, scale: float) -> Path:
    return written(folder / "index.svm", b"1 1:1 2:1\n0 1:1 2000000000:1\n")


@hostile("libsvm: an index of 100 digits")
def _libsvm_digits(folder: Path, scale: float) -> Path:
    return written(folder / "index.svm", b"1 1:1 2:1\n0 1:1 " + b"9" * 100 + b":1\n")


@hostile("libsvm: a negative index")
def _libsvm_negative(folder: Path, scale: float) -> Path:
    return written(folder / "index.svm", b"1 1:1 2:1\n0 -7:1 2:1\n")


@hostile("libsvm: a line of 100 MB")
def _libsvm_line(folder: Path, scale: float) -> Path:
    return written(folder / "line.svm", b"1 " + b"1:1 " * int(25 * MEGA * scale))


@hostile("fasta: a sequence of 100 MB")
def _fasta(folder: Path, scale: float) -> Path:
    return written(
        folder / "long.fasta", b">label=a\n" + b"ACGT" * int(25 * MEGA * scale) + b"\n>label=b\nACGT\n"
    )


@hostile("fasta: a million headers and no sequence")
def _fasta_empty(folder: Path, scale: float) -> Path:
    return written(folder / "empty.fasta", b">label=a\n" * int(1_000_000 * scale))


@hostile("trees: nested 100,000 deep")
def _trees(folder: Path, scale: float) -> Path:
    deep = b"(S " * 100_000 + b"(N a)" + b")" * 100_000
    return written(folder / "deep.trees", b"1\t" + deep + b"\n0\t(S (N a))\n")


@hostile("trees: brackets that never close")
def _open_trees(folder: Path, scale: float) -> Path:
    return written(folder / "open.trees", b"1\t(S (N a)\n" * int(300_000 * scale))


@hostile("kelp: nested 100,000 deep")
def _kelp(folder: Path, scale: float) -> Path:
    deep = b"(S " * 100_000 + b"(N a)" + b")" * 100_000
    return written(folder / "deep.klp", b"a |BT:t| " + deep + b" |ET|\nb |BT:t| (S (N a)) |ET|\n")


@hostile("arff: a million attributes")
def _arff_wide(folder: Path, scale: float) -> Path:
    names = b"".join(b"@attribute a%d numeric\n" % i for i in range(int(1_000_000 * scale)))
    return written(folder / "wide.arff", b"@relation r\n" + names + b"@data\n{0 1}\n{1 1}\n")


@hostile("arff: sparse rows of 10^9 cells")
def _arff_sparse(folder: Path, scale: float) -> Path:
    names = b"".join(b"@attribute a%d {x,y}\n" % i for i in range(10_000))
    return written(
        folder / "sparse.arff", b"@relation r\n" + names + b"@data\n" + b"{}\n" * int(100_000 * scale)
    )


@hostile("arff: an index of 10^12, a quote that stays open")
def _arff_index(folder: Path, scale: float) -> Path:
    return written(
        folder / "i.arff", b"@relation r\n@attribute a numeric\n@data\n{1000000000000 1}\n{0 'x}\n"
    )
