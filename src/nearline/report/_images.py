"""Pictures inside the page: PNG files as data URIs, without any library."""

import base64
import struct
import zlib
from math import isqrt
from typing import Any

import numpy as np

from nearline._arrays.design import Array, is_sparse

FOR, AGAINST = (0, 114, 178), (213, 94, 0)  # colors that any eye tells apart
LEAST_SIDE = 6  # pixels: smaller squares are seldom images
LARGEST_SIDE = 48  # of a picture in the page
SMOOTH = 0.8  # of the difference between any two columns: neighbors in an image differ by less


def png(pixels: Array) -> bytes:
    """A PNG file of (height, width), (height, width, 3) or (height, width, 4) bytes.

    Examples
    --------
    >>> import numpy as np
    >>> png(np.zeros((2, 3), np.uint8))[:4]
    b'\\x89PNG'
    """
    kind = {1: 0, 3: 2, 4: 6}[1 if pixels.ndim == 2 else pixels.shape[2]]
    height, width = pixels.shape[:2]
    lines = pixels.reshape(height, -1)
    filtered = np.column_stack([np.zeros(height, np.uint8), lines]).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(filtered, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, content) for name, content in chunks)


def _chunk(name: bytes, content: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(name + content))
    return struct.pack(">I", len(content)) + name + content + check


def data_uri(pixels: Array) -> str:
    return "data:image/png;base64," + base64.b64encode(png(pixels)).decode()


def row_picture(row: Array, shape: tuple[int, int, int], span: tuple[float, float]) -> str:
    """A row of pixels as a picture; ``span``: the values of black and white."""
    low, high = span
    pixels = _thinned(np.asarray(row, dtype=np.float64).reshape(shape))
    scaled = np.clip((pixels - low) / max(high - low, 1e-12) * 255, 0, 255)
    bytes_ = np.round(np.nan_to_num(scaled)).astype(np.uint8)
    return data_uri(bytes_[..., 0] if shape[2] == 1 else bytes_)


def weight_picture(weights: Array, shape: tuple[int, int, int], limit: float) -> str:
    """Weights as a picture: blue speaks for the class, orange against it, what counts little is transparent."""
    w = _thinned(np.asarray(weights, dtype=np.float64).reshape(shape)).mean(axis=2) / (limit or 1.0)
    color = np.where((w > 0)[..., None], FOR, AGAINST)
    opacity = np.round(255 * np.clip(np.abs(w), 0, 1) ** 0.8)
    return data_uri(np.concatenate([color, opacity[..., None]], axis=2).astype(np.uint8))


def _thinned(image: Array) -> Array:
    """Every so manyeth pixel, so that large images do not fill the page."""
    step = -(-max(image.shape[:2]) // LARGEST_SIDE)
    return image[::step, ::step]


def picture_shape(X: Any, source: dict[str, Any]) -> tuple[int, int, int] | None:
    """(height, width, channels) if rows are images: as the source says, or a square whose neighbors are alike."""
    if is_sparse(X) or not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "biuf":
        return None
    given = source.get("shape")
    if given is not None and int(np.prod(given)) == X.shape[1] and len(given) in (2, 3):
        height, width, channels = (*map(int, given), 1)[:3]
        return (height, width, channels) if channels in (1, 3) else None
    side = isqrt(X.shape[1])
    if side < LEAST_SIDE or side**2 != X.shape[1]:
        return None
    return (side, side, 1) if _is_smooth(X[:: max(1, len(X) // 500)], side) else None


def _is_smooth(X: Array, side: int) -> bool:
    """Whether neighbors in the square differ less than columns far from each other do."""
    sample = X.astype(np.float64)
    if not np.isfinite(sample).all() or sample.min() < 0:
        return False
    square = sample.reshape(-1, side, side)
    beside = np.abs(np.diff(square, axis=2)).mean() + np.abs(np.diff(square, axis=1)).mean()
    shuffled = sample[:, np.random.default_rng(0).permutation(side**2)]
    apart = 2 * np.abs(np.diff(shuffled, axis=1)).mean()
    return bool(beside < SMOOTH * apart)
