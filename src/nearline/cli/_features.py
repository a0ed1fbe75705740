"""--features: how images are read for them, and what of them a model remembers."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from nearline.cli._errors import UsageError, as_usage
from nearline.cli._reading import Reading, names
from nearline.data import Table
from nearline.data.images import BYTES, ImageFolder
from nearline.data.pixels import KINDS
from nearline.representations.features import FeatureExtractor, ImageFeatures
from nearline.representations.features.choice import (
    MADE,
    extractor_named,
    have_usual_features,
    is_network,
)
from nearline.representations.features.choice import SIDE as SMALLEST

SIDE = 32  # pixels a side that images are brought to for features that are not a network's
LARGE = 256  # the same for networks


def as_features(request: Any) -> list[Any] | None:
    """What --features names: extractors, and names of other representations as they are; None: nothing is named."""
    if request.features is None:
        if request.feature_cache is not None:
            raise UsageError("--feature-cache keeps what --features names: give --features too.")
        return None
    asked = names(request.features) or []
    if not asked:
        raise UsageError("--features needs at least one name, such as pixels,hog.")
    if "features" in request.reading.options:
        raise UsageError(
            "--read features= reads one kind of features: leave it out, and name it in --features."
        )
    size = request.reading.options.get("size", SIDE)
    if size < 8:
        raise UsageError(f"--read size= must be at least 8 pixels, got {size}.")
    folder = None if request.feature_cache is None else str(request.feature_cache)
    told = sys.stderr.isatty() and not (request.quiet or request.json)
    with as_usage():
        return [_feature(name, size, folder, told) for name in asked]


def _feature(name: str, size: int, cache: str | None, told: bool) -> Any:
    """An extractor, or the name of another representation."""
    if name in KINDS:
        return ImageFeatures(name, size=size)
    if name in MADE or is_network(name):
        return extractor_named(name).set_params(cache=cache, progress=told)
    return name


def reading_for(request: Any, features: list[Any] | None) -> Reading:
    """Images are read as bytes, as large as the features need them."""
    reading: Reading = request.reading
    if features is None:
        size = reading.options.get("size", SIDE)
        usual = request.preset != "quick" and "features" not in reading.options and size >= SMALLEST
        if not (usual and ImageFolder().matches(request.data)):
            return reading
        return replace(reading, options={**reading.options, "features": BYTES, "size": size})
    large = any(isinstance(one, FeatureExtractor) and one.slow for one in features)
    size = LARGE if large else reading.options.get("size", SIDE)
    return replace(reading, options={**reading.options, "features": BYTES, "size": size})


def as_shaped(X: Any, table: Table, features: list[Any] | None, preset: str) -> Any:
    """Rows that are images in their shape, where features ask for it, or images have usual ones."""
    shape = table.description.shape
    asked = features is not None or have_usual_features(X, shape, preset)
    return X.reshape(len(X), *shape) if len(shape) > 1 and asked else X


def extractor_facts(contest: Any) -> dict[str, str] | None:
    """Which extractor the model sees rows by, with the checksum of its network; None: by none."""
    chain = getattr(contest.model_, "estimator_", contest.model_)
    steps = [step for _, step in getattr(chain[0], "steps", [])]
    for step in steps:
        if isinstance(step, FeatureExtractor):
            file = {} if getattr(step, "path", None) is None else {"file": Path(step.path).name}
            return {"name": step.called, "class": type(step).__name__, "checksum": step.checksum_, **file}
    return None


def by_features(contest: Any, trivial: set[str]) -> list[str]:
    """The best candidate of each kind of features that looks at the rows, a line each, the best first."""
    board = contest.leaderboard_
    found: dict[str, Any] = {}
    for entry in board:  # the best first
        if entry.family not in trivial:
            found.setdefault(entry.representation, entry)
    width = max(map(len, found), default=0)
    return [f"  {name:<{width}}  {board.mean(entry):.4f}  {entry.family}" for name, entry in found.items()]
