"""OnnxFeatures: any network in an ONNX file, such as a ConvNet without its last layer."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.kept import Flag, OrNone, Real, Word, kept
from nearline.data.resampled import middle
from nearline.representations.features.extractor import FeatureExtractor, file_checksum, needed

CHANNELS = (1, 3)
SIDE, BEFORE = 7, 8  # of the shorter side of an image, the middle that is looked at


@kept(path=Word(), output=OrNone(Word()), shift=Real(), scale=Real(above=0.0), channels_first=OrNone(Flag()))
class OnnxFeatures(FeatureExtractor):
    """What a network in an ONNX file of yours says of each item, as a row; run by onnxruntime on the processor.

    Items x (n, ...) become float32, (x - shift) / scale, and are given to the network's one input; its output, flattened,
    is the row of features. Images of bytes (n, height, width, channels) are first brought to what the network takes, as far
    as it says: the middle square of its size, three channels from one, channels first. Needs ``pip install 'nearline[onnx]'``
    (about 80 MB). The file is read, not fetched.

    Parameters
    ----------
    path : of the ONNX file.
    output : name of an output; None: the first.
    shift, scale : how numbers are brought to what the network takes; bytes to [-1, 1] are 127.5 and 127.5.
    channels_first : whether images (n, height, width, channels) become (n, channels, height, width); None: as the network's
        input says.
    cache : folder where features are kept, or None.
    progress : whether a line is printed for each batch.

    Examples
    --------
    >>> from nearline.representations.features import OnnxFeatures
    >>> features = OnnxFeatures("convnet.onnx", shift=127.5, scale=127.5)
    """

    batch = 32
    slow = True

    def __init__(
        self,
        path: str,
        *,
        output: str | None = None,
        shift: float = 0.0,
        scale: float = 1.0,
        channels_first: bool | None = None,
        cache: str | None = None,
        progress: bool = False,
    ) -> None:
        self.path = path
        self.output = output
        self.shift = shift
        self.scale = scale
        self.channels_first = channels_first
        self.cache = cache
        self.progress = progress

    @property
    def called(self) -> str:
        return Path(self.path).name

    def _checksum(self) -> str:
        settings = f"{self.output}-{self.shift}-{self.scale}-{self.channels_first}"
        return f"{_checksum(*_state(self.path))}-{settings}"

    def _items(self, X: Any) -> Sequence[Any]:
        X = np.asarray(X)
        if X.dtype.kind not in "buif" or X.ndim < 2:
            raise ValueError(f"OnnxFeatures needs numbers (n, ...), got {X.dtype} of shape {X.shape}.")
        if self.channels_first and X.ndim != 4:
            raise ValueError(
                f"channels_first is for images (n, height, width, channels), got shape {X.shape}: leave it out."
            )
        if not self.scale > 0:
            raise ValueError(f"scale must be above 0, got {self.scale!r}.")
        return X

    def _features(self, items: Any) -> Array:
        session = _session(*_state(self.path))
        inputs = session.get_inputs()
        outputs = [one.name for one in session.get_outputs()]
        if len(inputs) != 1:
            names = ", ".join(repr(one.name) for one in inputs)
            raise ValueError(f"{self.path} must have one input, it has {len(inputs)}: {names}.")
        if self.output is not None and self.output not in outputs:
            raise ValueError(
                f"{self.path} has no output {self.output!r}, but {', '.join(map(repr, outputs))}."
            )
        items = _fitting(np.asarray(items), inputs[0].shape, self.channels_first)
        x = ((items.astype(np.float32) - np.float32(self.shift)) / np.float32(self.scale)).astype(np.float32)
        try:
            found = session.run([self.output or outputs[0]], {inputs[0].name: x})[0]
        except Exception as error:  # onnxruntime has errors of its own for shapes that do not fit
            raise ValueError(
                f"{self.path} takes {inputs[0].type} of shape {inputs[0].shape}, and refuses items of shape {x.shape[1:]}: "
                f"{str(error)[:200]}"
            ) from error
        return np.asarray(found, dtype=np.float32).reshape(len(x), -1)


def _fitting(items: Array, wanted: list[Any], channels_first: bool | None) -> Array:
    """Images as the input of a network says it takes them; all else as it is."""
    if items.ndim != 4 or len(wanted) != 4:
        return items
    first = wanted[1] in CHANNELS and wanted[3] not in CHANNELS if channels_first is None else channels_first
    channels, height, width = wanted[1:] if first else (wanted[3], *wanted[1:3])
    if items.dtype == np.uint8 and items.shape[-1] in CHANNELS:
        if isinstance(height, int) and height == width:
            items = middle(items, height, round(height * BEFORE / SIDE))
        if channels == 3 and items.shape[-1] == 1:
            items = np.repeat(items, 3, axis=-1)
    return np.ascontiguousarray(np.moveaxis(items, -1, 1)) if first else items


def _state(path: Any) -> tuple[str, int, int]:
    """Path, size and time of the last change: what is kept in memory is of the file as it is."""
    try:
        about = Path(path).stat()
    except OSError as error:
        raise ValueError(
            f"The ONNX file {path} cannot be read: {error}. Give the path of the file."
        ) from error
    return str(path), about.st_size, about.st_mtime_ns


@lru_cache(maxsize=8)
def _checksum(path: str, size: int, changed: int) -> str:
    return file_checksum(Path(path), f"The ONNX file {path}")


@lru_cache(maxsize=4)
def _session(path: str, size: int, changed: int) -> Any:
    runtime = needed("onnxruntime", "onnx", "Features by an ONNX file")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # the same bits on any machine load
    try:
        return runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise ValueError(
            f"{path} is not an ONNX network that onnxruntime can run: {str(error)[:200]}"
        ) from error
