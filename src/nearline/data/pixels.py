"""Features of images of one size: pixels, color histograms, histograms of oriented gradients."""

from collections.abc import Callable

import numpy as np

from nearline._arrays.design import Array
from nearline.data.base import DataError

CELL = 8  # pixels a side
ORIENTATIONS = 9
BINS = 4  # of each color
BLOCK = 512  # images at a time


def image_features(images: Array, kind: str = "pixels") -> Array:
    """Rows of float32 features from images (n, height, width) or (n, height, width, channels) of bytes.

    "pixels" are the values divided by 255; "histogram" has the square root of the share of pixels of each color (4 shades
    a channel, in a quarter of the image each); "hog" has gradients by orientation in cells of 8 x 8 pixels, of unit length
    in each block of 2 x 2 cells; "hog+histogram" has both.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.data import image_features
    >>> images = np.zeros((2, 32, 32, 3), dtype=np.uint8)
    >>> [image_features(images, kind).shape[1] for kind in ("pixels", "histogram", "hog", "hog+histogram")]
    [3072, 256, 324, 580]
    """
    images = as_images(images)
    if min(images.shape[1:3]) < CELL and kind != "pixels":
        raise DataError(f"Images must be at least {CELL} pixels high and wide, got {images.shape[1:3]}.")
    make = known_kind(kind)
    parts = [make(images[i : i + BLOCK]) for i in range(0, len(images), BLOCK)] or [make(images)]
    return np.concatenate(parts)


def as_images(images: Array) -> Array:
    """Images as bytes (n, height, width, channels); all else is refused."""
    images = np.asarray(images)
    images = images[..., None] if images.ndim == 3 else images
    if images.ndim != 4 or images.shape[-1] not in (1, 3) or images.dtype != np.uint8:
        raise DataError(
            f"Images must be bytes of shape (n, height, width) or (n, height, width, 1 or 3), got {images.dtype} of "
            f"shape {images.shape}."
        )
    return images


def known_kind(kind: str) -> Callable[[Array], Array]:
    """The function that makes features of a kind."""
    if kind not in KINDS:
        raise DataError(
            f"There are no image features {kind!r}", f"choose among {', '.join(map(repr, KINDS))}"
        )
    return KINDS[kind]


def _pixels(images: Array) -> Array:
    return (images.reshape(len(images), -1) / np.float32(255)).astype(np.float32)


def _histogram(images: Array) -> Array:
    """Shares of colors in each quarter; the square root lets Euclidean distance compare histograms (Hellinger)."""
    n, height, width, channels = images.shape
    shades = BINS if channels == 3 else BINS * BINS
    codes = np.zeros(images.shape[:3], dtype=np.int64)
    for channel in range(channels):
        codes = codes * shades + images[..., channel].astype(np.int64) * shades // 256
    count = shades**channels
    rows = np.arange(n)[:, None, None] * count
    parts = []
    for top in (slice(0, height // 2), slice(height // 2, None)):
        for left in (slice(0, width // 2), slice(width // 2, None)):
            part = (codes[:, top, left] + rows).ravel()
            shares = np.bincount(part, minlength=n * count).reshape(n, count) / max(1, part.size // max(1, n))
            parts.append(np.sqrt(shares))
    return np.concatenate(parts, axis=1).astype(np.float32)


def _hog(images: Array) -> Array:
    """Histograms of oriented gradients; of several channels the one with the steepest gradient counts at each pixel."""
    n, height, width, _ = images.shape
    values = images.astype(np.float32) / 255
    down, right = np.zeros_like(values), np.zeros_like(values)
    down[:, 1:-1] = values[:, 2:] - values[:, :-2]
    right[:, :, 1:-1] = values[:, :, 2:] - values[:, :, :-2]
    steepest = np.argmax(down**2 + right**2, axis=-1)[..., None]
    down = np.take_along_axis(down, steepest, axis=-1)[..., 0]
    right = np.take_along_axis(right, steepest, axis=-1)[..., 0]
    length = np.hypot(down, right)
    place = np.mod(np.arctan2(down, right) / np.pi, 1) * ORIENTATIONS - 0.5
    low = np.floor(place).astype(np.int64)
    share = (place - low).astype(np.float32)
    high_cells, wide_cells = height // CELL, width // CELL
    cells = np.zeros((n, high_cells, wide_cells, ORIENTATIONS), dtype=np.float32)
    for orientation in range(ORIENTATIONS):
        # each gradient is shared by the two orientations next to it
        weight = np.where(low % ORIENTATIONS == orientation, 1 - share, 0)
        weight += np.where((low + 1) % ORIENTATIONS == orientation, share, 0)
        part = (weight * length)[:, : high_cells * CELL, : wide_cells * CELL]
        cells[..., orientation] = part.reshape(n, high_cells, CELL, wide_cells, CELL).sum(axis=(2, 4))
    if min(high_cells, wide_cells) < 2:
        blocks = cells
    else:
        blocks = np.concatenate(
            [cells[:, :-1, :-1], cells[:, :-1, 1:], cells[:, 1:, :-1], cells[:, 1:, 1:]], axis=-1
        )
    blocks = blocks / np.sqrt((blocks**2).sum(axis=-1, keepdims=True) + 1e-4)
    return blocks.reshape(n, -1).astype(np.float32)


def _both(images: Array) -> Array:
    return np.concatenate([_hog(images), _histogram(images)], axis=1)


KINDS: dict[str, Callable[[Array], Array]] = {
    "pixels": _pixels,
    "histogram": _histogram,
    "hog": _hog,
    "hog+histogram": _both,
}
