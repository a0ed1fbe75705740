"""WordVectors: texts as the mean of static word vectors, read from the files of an installed package."""

import json
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.kept import Flag, kept
from nearline.representations.features.extractor import FeatureExtractor, file_checksum, needed

MISSING = "Word vectors need wordllama: pip install 'nearline[words]'"
MOST_HEADER = 2**20  # bytes of the description of a safetensors file


@kept(normalize=Flag())
class WordVectors(FeatureExtractor):
    """A text as the mean of the vectors of its tokens, 256 numbers: static vectors and tokenizer of the package wordllama.

    Needs ``pip install 'nearline[words]'`` (about 20 MB with its tokenizer). The package's files are read as they are
    installed; its own loader, which may use the network, is not run. A text without tokens has zeros.

    Parameters
    ----------
    normalize : whether rows are brought to length 1, so that L2 neighbors are those of the cosine.
    cache : folder where features are kept, or None.
    progress : whether a line is printed for each batch.

    Examples
    --------
    >>> from nearline.representations.features import WordVectors
    >>> features = WordVectors()
    """

    takes = "texts"

    def __init__(self, *, normalize: bool = True, cache: str | None = None, progress: bool = False) -> None:
        self.normalize = normalize
        self.cache = cache
        self.progress = progress

    @property
    def called(self) -> str:
        return "word-vectors"

    def _checksum(self) -> str:
        return f"{_checksum()}-{bool(self.normalize)}"

    def _items(self, X: Any) -> Sequence[Any]:
        texts = [X] if isinstance(X, str) else list(X)
        wrong = next((i for i, text in enumerate(texts) if not isinstance(text, str)), None)
        if wrong is not None:
            raise ValueError(
                f"WordVectors takes strings, but item {wrong + 1} is a {type(texts[wrong]).__name__}."
            )
        return texts

    def _content(self, item: Any) -> bytes:
        return str(item).encode("utf-8", "surrogatepass")

    def _features(self, items: Any) -> Array:
        vectors, tokenizer = _vectors(), _tokenizer()
        rows = np.zeros((len(items), vectors.shape[1]), dtype=np.float32)
        clean = [item.encode("utf-8", "replace").decode() for item in items]
        for i, found in enumerate(tokenizer.encode_batch(clean, add_special_tokens=False)):
            if found.ids:
                numbers = np.clip(found.ids, 0, len(vectors) - 1)
                rows[i] = vectors[numbers].astype(np.float32).mean(axis=0)
        if self.normalize:
            lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
            rows /= np.where(lengths > 0, lengths, 1.0)
        return rows


def _file(folder: str, ending: str) -> Path:
    spec = find_spec("wordllama")  # found, not imported
    places = list(spec.submodule_search_locations or []) if spec is not None else []
    files = [file for place in places for file in sorted((Path(place) / folder).glob(f"*{ending}"))]
    if not files:
        raise ImportError(MISSING)
    return files[0]


@lru_cache(maxsize=1)
def _checksum() -> str:
    files = _file("weights", "_256.safetensors"), _file("tokenizers", ".json")
    return sha256("".join(file_checksum(file, str(file)) for file in files).encode()).hexdigest()


@lru_cache(maxsize=1)
def _vectors() -> Array:
    return read_safetensors(_file("weights", "_256.safetensors"))


@lru_cache(maxsize=1)
def _tokenizer() -> Any:
    tokenizer = needed("tokenizers", "words", "Word vectors").Tokenizer.from_file(
        str(_file("tokenizers", ".json"))
    )
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def read_safetensors(file: Path) -> Array:
    """The one matrix of a safetensors file: a length, a description in JSON, then the numbers."""
    content = file.read_bytes()
    size = int.from_bytes(content[:8], "little")
    if len(content) < 8 or size > min(MOST_HEADER, len(content) - 8):
        raise ValueError(f"{file} is no safetensors file: its description does not fit into it.")
    try:
        described = json.loads(content[8 : 8 + size])
        (about,) = (value for name, value in described.items() if name != "__metadata__")
        kind, shape = {"F16": np.float16, "F32": np.float32}[about["dtype"]], tuple(map(int, about["shape"]))
        begin, end = (8 + size + int(at) for at in about["data_offsets"])
        return np.frombuffer(content[begin:end], dtype=kind).reshape(shape)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{file} does not hold one matrix of float16 or float32 numbers: {error}") from error
