"""Images at another size: the middle of each, by a triangle filter that looks at all pixels it brings together."""

from functools import lru_cache

import numpy as np

from nearline._arrays.design import Array

BLOCK = 32  # images at a time: they are float32 on the way


def resampled(images: Array, height: int, width: int) -> Array:
    """Bytes (n, h, w, channels) as bytes (n, height, width, channels); the same array where nothing is to be done.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.data.resampled import resampled
    >>> resampled(np.full((1, 8, 6, 3), 7, dtype=np.uint8), 4, 3).tolist()[0][0]
    [[7, 7, 7], [7, 7, 7], [7, 7, 7]]
    """
    if images.shape[1:3] == (height, width):
        return images
    down, across = _weights(images.shape[1], height), _weights(images.shape[2], width)
    found = np.empty((len(images), height, width, images.shape[3]), dtype=np.uint8)
    for start in range(0, len(images), BLOCK):
        values = images[start : start + BLOCK].astype(np.float32)
        values = np.einsum("ih,nhwc->niwc", down, values, optimize=True)
        values = np.einsum("jw,niwc->nijc", across, values, optimize=True)
        found[start : start + BLOCK] = np.clip(np.rint(values), 0, 255)
    return found


def shrunk(images: Array, side: int) -> Array:
    """Images whose shorter side is longer than ``side`` brought to it, the longer one in proportion; others as they are."""
    height, width = images.shape[1:3]
    factor = side / min(height, width)
    if factor >= 1:
        return images
    return resampled(images, max(side, round(height * factor)), max(side, round(width * factor)))


def middle(images: Array, side: int, before: int) -> Array:
    """The middle square of ``side`` pixels, cut from a shorter side of ``before``; smaller images grow to ``side``."""
    height, width = images.shape[1:3]
    factor = (before if min(height, width) >= side else side) / min(height, width)
    found = resampled(images, max(side, round(height * factor)), max(side, round(width * factor)))
    top, left = (found.shape[1] - side) // 2, (found.shape[2] - side) // 2
    return found[:, top : top + side, left : left + side]


@lru_cache(maxsize=16)
def _weights(given: int, wanted: int) -> Array:
    """(wanted, given): what each pixel counts in a new one, 1 in all, less with its distance."""
    ratio = given / wanted
    centers = (np.arange(wanted) + 0.5) * ratio - 0.5
    distances = np.abs(np.arange(given)[None, :] - centers[:, None]) / max(ratio, 1.0)
    near = np.clip(1.0 - distances, 0.0, None)
    return (near / near.sum(axis=1, keepdims=True)).astype(np.float32)
