"""Arguments of facts: what is wrong with them is said before anything is computed."""

from typing import Any

import numpy as np

from nearline._arrays.design import Array


def check_whole(values: Any, name: str, least: int) -> None:
    """Several whole numbers, or one alone, none below ``least``."""
    several = np.atleast_1d(np.asarray(values))
    if several.ndim != 1 or not len(several):
        raise ValueError(f"{name} is empty or a table: give at least one whole number, got {values!r}.")
    if not np.issubdtype(several.dtype, np.integer) or several.min() < least:
        raise ValueError(f"{name} must be whole numbers >= {least}, got {values!r}.")


def check_noise(noise: Any) -> None:
    """A share of wrong labels of which the others are the majority."""
    if not isinstance(noise, (int, float, np.number)) or not 0.0 <= noise < 0.5:
        raise ValueError(f"noise is a share of wrong labels, at least 0 and below 0.5, got {noise!r}.")


def check_image(image: Any) -> None:
    """An image in color."""
    if image.ndim != 3 or image.shape[2] != 3 or image.size == 0:
        raise ValueError(
            f"image must be (height, width, 3), got shape {image.shape}: repeat a gray one, np.stack([image] * 3, axis=2)."
        )
    if not (np.isfinite(image).all() and image.min() >= 0 and image.max() <= 255):
        raise ValueError("image must have values from 0 to 255: scale it, and fill in what is NaN.")


def check_two_classes(X: Any, y: Any) -> tuple[Array, Array]:
    """Finite rows of two classes, as 0 and 1 in the order of their labels."""
    if y is None:
        raise ValueError("X came without y: give a label for each row.")
    rows, labels = np.asarray(X, dtype=np.float64), np.asarray(y)
    if rows.ndim != 2 or not rows.size or labels.shape != (len(rows),):
        raise ValueError(
            f"X must be rows by features with one label for each row, got shapes {rows.shape} and {labels.shape}."
        )
    if not np.isfinite(rows).all():
        raise ValueError("X has NaN or infinite values: drop those rows, or fill them.")
    classes, targets = np.unique(labels, return_inverse=True)
    if len(classes) != 2:
        raise ValueError(f"This fact is about two classes, y has {len(classes)}: give rows of two of them.")
    return rows, targets
