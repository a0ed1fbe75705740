"""Pixels of an image say little about what it shows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline.facts._checks import check_image, check_whole
from nearline.facts._fact import Fact, Table
from nearline.facts._pictures import panels


@dataclass(frozen=True)
class EqualPixels(Fact):
    """An image and three versions of it, all at the same pixel L2 distance from it."""

    says = "Pixels say little about what an image shows: a box, a shift and a tint are equally far from it."
    images: dict[str, Array]  # float64 in [0, 255]
    distances: dict[str, float]

    def table(self) -> Table:
        return Table.of("image|L2 distance of its pixels", self.distances.items())

    def plot(self, ax: Any = None) -> Any:
        axes = panels(ax, len(self.images), (3.1 * len(self.images), 2.8))
        for one, (name, image) in zip(axes, self.images.items(), strict=True):
            one.imshow(image / 255.0)
            one.set_axis_off()
            one.set_title(f"{name}: L2 = {self.distances[name]:.0f}", fontsize="medium")
        return axes


def equal_pixels(image: Any = None, *, shift: int = 2) -> EqualPixels:
    """Boxed, shifted and tinted versions of an image at one pixel L2 distance: pixels cannot tell which is which.

    Shifting by some pixels sets the distance; the color of a box and the strength of a tint are then chosen by bisection
    so that theirs are equal to it (to 1e-9 of it). The image defaults to the flower that comes with scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.facts import equal_pixels
    >>> rng = np.random.default_rng(0)
    >>> fact = equal_pixels(rng.uniform(60, 190, size=(32, 32, 3)), shift=1)
    >>> sizes = [fact.distances[name] for name in ("boxed", "shifted", "tinted")]
    >>> bool(np.ptp(sizes) < 1e-6 * sizes[0])
    True
    """
    original = _sample_image() if image is None else np.asarray(image, dtype=np.float64)
    check_image(original)
    check_whole(shift, "shift", 1)
    shifted = np.roll(original, shift, axis=1)
    target = _pixel_distance(original, shifted)
    if target == 0.0:
        raise ValueError(
            f"The image is the same after a shift by {shift}: take another shift, or an image that shows something."
        )
    boxed = _at_distance(original, _box(original, target), target, "box")
    tinted = _at_distance(original, _tinted, target, "tint")
    images = {"original": original, "boxed": boxed, "shifted": shifted, "tinted": tinted}
    return EqualPixels(images, {name: _pixel_distance(original, other) for name, other in images.items()})


def _pixel_distance(a: Array, b: Array) -> float:
    return float(np.sqrt(np.square(a - b).sum()))


def _sample_image() -> Array:
    from sklearn.datasets import load_sample_image

    image = load_sample_image("flower.jpg")[60:380, 120:560].astype(np.float64)
    return image.reshape(160, 2, 220, 2, 3).mean(axis=(1, 3))


def _tinted(image: Array, strength: float) -> Array:
    """Less red, more blue."""
    return np.clip(image + 255.0 * strength * np.array([-1.0, -0.2, 1.0]), 0.0, 255.0)


def _box(image: Array, target: float) -> Callable[[Array, float], Array]:
    """Something that blackens the smallest box, in the middle of the image, that can reach the distance."""
    height, width = image.shape[:2]

    def box(share: float) -> tuple[slice, slice]:
        return tuple(
            slice(int(size * (1 - share) / 2), int(size * (1 + share) / 2)) for size in (height, width)
        )  # type: ignore[return-value]

    shares = np.linspace(0.05, 1.0, 200)
    share = next((s for s in shares if np.sqrt(np.square(image[box(s)]).sum()) >= target), 1.0)

    def boxed(image: Array, strength: float) -> Array:
        out = image.copy()
        out[box(share)] *= 1.0 - strength
        return out

    return boxed


def _at_distance(image: Array, change: Callable[[Array, float], Array], target: float, name: str) -> Array:
    """The image changed with the strength in [0, 1] that takes it as far as the target, by bisection."""
    if _pixel_distance(image, change(image, 1.0)) < target:
        raise ValueError(
            f"No {name} is as far from the image as its shift, {target:.3g}: take a smaller shift."
        )
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (
            (low, middle) if _pixel_distance(image, change(image, middle)) > target else (middle, high)
        )
    return change(image, high)
