"""Which features a contest is held on, where that is said: by name, as the file of a network, or as extractors."""

from dataclasses import replace
from typing import Any

import numpy as np

from nearline._records.refused import ParameterError, UnknownNameError
from nearline.data.pixels import KINDS
from nearline.representations import PRESETS, REPRESENTATIONS, Representation, tried_for
from nearline.representations.features.convnet import ConvNet
from nearline.representations.features.extracted import extracted
from nearline.representations.features.extractor import FeatureExtractor
from nearline.representations.features.images import ImageFeatures
from nearline.representations.features.onnx import OnnxFeatures
from nearline.representations.features.words import WordVectors

NETWORK = ".onnx"
MADE: dict[str, type[FeatureExtractor]] = {"convnet": ConvNet, "word-vectors": WordVectors}
NAMES = (*KINDS, *MADE)
OF_IMAGES = "hog+histogram"  # tried beside pixels by presets beyond "quick"
SIDE = 16  # pixels, of smaller images there is nothing but their pixels


def chosen_features(X: Any, features: Any, shape: tuple[int, ...], preset: str) -> list[Representation]:
    """The representations by what is asked for, in that order; ``shape`` is that of one row as it was given.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline.representations.features.choice import chosen_features
    >>> images = np.zeros((5, 16 * 16), dtype=np.uint8)
    >>> [one.name for one in chosen_features(images, ["pixels", "hog"], (16, 16), "default")]
    ['pixels', 'pixels, standardized', 'hog', 'hog, standardized']
    """
    given = features.split(",") if isinstance(features, str) else features
    asked = [one.strip() if isinstance(one, str) else one for one in given]
    if not asked:
        raise ParameterError("features", features, "names of features, at least one")
    n_scales, own = PRESETS.index(preset) + 1, [name for names in tried_for(X) for name in names]
    found: dict[str, Representation] = {}
    for one in asked:
        if isinstance(one, str) and one in own:
            found[one] = REPRESENTATIONS[one].adapted(X)
            continue
        extractor = one if isinstance(one, FeatureExtractor) else extractor_named(one, own)
        name = one if isinstance(one, str) else extractor.called
        if name in found:
            raise ParameterError("features", name, "different features", "name each once")
        found |= {made.name: made for made in extracted(name, extractor, X, shape, n_scales)}
    return list(found.values())


def usual_representations(X: Any, shape: tuple[int, ...], preset: str) -> list[Representation] | None:
    """Of images of bytes where nothing is said; None for all other rows. Few families look at pixels, which are many."""
    if not have_usual_features(X, shape, preset):
        return None
    (pixels,) = extracted("pixels", ImageFeatures("pixels"), X, shape, 1)
    return [*chosen_features(X, OF_IMAGES, shape, preset), replace(pixels, few=True)]


def have_usual_features(X: Any, shape: tuple[int, ...], preset: str) -> bool:
    """Whether rows are images of bytes that are seen by features, not by pixels alone, where nothing is said."""
    images = (len(shape) == 2 or (len(shape) == 3 and shape[2] in (1, 3))) and min(shape[:2]) >= SIDE
    return images and preset != "quick" and getattr(X, "dtype", None) == np.uint8


def extractor_named(name: Any, also: list[str] | None = None, **settings: Any) -> FeatureExtractor:
    """The extractor of a name; a network's file may be followed by ``:shift=NUMBER:scale=NUMBER``."""
    if not isinstance(name, str):
        raise ParameterError("features", name, "names of features or extractors")
    if name in KINDS:
        return ImageFeatures(name, **settings)
    if name in MADE:
        return MADE[name]()
    if is_network(name):
        return _network(name)
    raise UnknownNameError("features", name, (*NAMES, *(also or ())), also="or the path of an .onnx file")


def is_network(name: str) -> bool:
    """Whether a name is the path of an ONNX file, perhaps with settings."""
    return NETWORK in name


def _network(name: str) -> OnnxFeatures:
    path, ending, said = name.partition(NETWORK)
    settings: dict[str, Any] = {}
    for part in said.strip(":").split(":") if said else []:
        key, _, value = part.partition("=")
        try:
            settings[{"shift": "shift", "scale": "scale"}[key]] = float(value)
        except (KeyError, ValueError):
            raise ParameterError(
                "features",
                name,
                f"a file with at most two settings, as {path}{ending}:shift=127.5:scale=127.5",
            ) from None
    return OnnxFeatures(path + ending, **settings)
