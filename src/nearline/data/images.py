"""Folders of images, a sub-folder a class: brought to one size, then pixels or features of them."""

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._records.words import many
from nearline.data._files import first_bytes
from nearline.data._labels import as_labels, listed
from nearline.data._rows import Rows
from nearline.data.base import DataError, Format, Request, Table, library
from nearline.data.pixels import image_features, known_kind
from nearline.data.texts import by_class, entries

ENDINGS = (".jpg", ".jpeg", ".png", ".gif", ".bmp", ".ppm", ".pgm", ".pbm", ".tif", ".tiff", ".webp")
BYTES = "images"  # as features: the images themselves, whose features are taken later
BEGINNINGS = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF87a", b"GIF89a", b"II*\x00", b"MM\x00*")


@dataclass(frozen=True)
class ImageFolder(Format):
    """A folder with a sub-folder a class, and images in these."""

    name = "folder of images"

    def matches(self, path: Path) -> bool:
        if not path.is_dir():
            return False
        files = [file for _, file in _files(path)]
        return 2 * sum(file.suffix.lower() in ENDINGS for file in files) > len(files)

    def read(self, path: Path, request: Request) -> Table:
        return _table(path, self.name, _files(path, strict=True), request)


@dataclass(frozen=True)
class ImageFile(Format):
    """One image: a row without a label."""

    name = "image"
    extensions = ENDINGS

    def matches(self, path: Path) -> bool:
        return first_bytes(path).startswith(BEGINNINGS)

    def read(self, path: Path, request: Request) -> Table:
        return _table(path, self.name, [(None, path)], request)


def _table(path: Path, format: str, files: list[tuple[str | None, Path]], request: Request) -> Table:
    """The images that can be read, each brought to one size; places say which of the files they are."""
    if request.size < 8:
        raise DataError(f"Images need a size of at least 8 pixels, got size={request.size}.")
    as_bytes = request.features == BYTES
    if not as_bytes:
        known_kind(request.features)
    squares = [square_of(file, request.size) for _, file in files]
    kept = [i for i, (image, _) in enumerate(squares) if image is not None]
    if not kept:
        raise DataError(f"No file in {path} or its folders can be read as an image." if path.is_dir()
                        else f"{path} cannot be read as an image: it is damaged, or of an unknown kind.")  # fmt: skip
    pixels = _channels(np.stack([image for image, _ in squares if image is not None]), request)
    skipped = [str(file.relative_to(path)) for i, (_, file) in enumerate(files) if squares[i][0] is None]
    notes = [f"left out, as no images: {many(len(skipped), 'file')}, {listed(skipped, 3)}"] if skipped else []
    X = pixels.reshape(len(pixels), -1) if as_bytes else image_features(pixels, request.features)
    labels = [files[i][0] for i in kept]
    rows = Rows(
        path,
        format,
        X,
        as_labels([name for name in labels if name is not None]) if labels[0] is not None else None,
        sure=True,
        shape=pixels.shape[1:] if as_bytes or request.features == "pixels" else X.shape[1:],
        details={
            "features": request.features,
            "originals": _span({squares[i][1] for i in kept}),
            "size": str(request.size),
        },
        notes=notes,
    )
    table = rows.table(request)
    return replace(table, places=np.array(kept)) if skipped and table.places is None else table


def _files(path: Path, *, strict: bool = False) -> list[tuple[str | None, Path]]:
    """The files with their classes; without sub-folders, as of images to be classified, there are none."""
    folders, own = entries(path)
    if not folders:
        return [(None, file) for file in own]
    classes = by_class(path) if strict else {folder.name: entries(folder)[1] for folder in folders}
    return [(name, file) for name, files in classes.items() for file in files]


def _channels(pixels: Array, request: Request) -> Array:
    """One channel where all images are grey, as they come with three equal ones; or as many as are wanted."""
    grey = bool((pixels == pixels[..., :1]).all())
    wanted = request.like.n_features
    if wanted is not None:
        kind = "pixels" if request.features == BYTES else request.features
        grey = image_features(pixels[:1, ..., :1], kind).shape[1] == wanted and (
            grey or image_features(pixels[:1], kind).shape[1] != wanted
        )
    luma = np.array([0.299, 0.587, 0.114])
    return np.round(pixels @ luma)[..., None].astype(np.uint8) if grey else pixels


def _span(sizes: set[tuple[int, int]]) -> str:
    """The sizes of the originals."""
    low, high = min(sizes), max(sizes)
    return f"{low[0]}x{low[1]}" if low == high else f"{low[0]}x{low[1]} to {high[0]}x{high[1]}"


def square_of(file: Path, side: int) -> tuple[Array | None, tuple[int, int]]:
    """The middle square of an image as (side, side, 3) bytes, and its size; None for what is no image."""
    images = library("PIL.Image", "images", "Reading images")
    operations = library("PIL.ImageOps", "images", "Reading images")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", images.DecompressionBombWarning)
            with images.open(file) as opened:
                size = opened.size
                opened.draft("RGB", (2 * side, 2 * side))  # lets JPEG be decoded at a fraction of its size
                image = _colored(operations.exif_transpose(opened), images)
                square = operations.fit(image, (side, side), images.Resampling.BOX)
                return np.asarray(square, dtype=np.uint8), size
    except Exception:  # whatever Pillow says of what is no image, or one that is made to fill a memory
        return None, (0, 0)


def _colored(image: Any, images: Any) -> Any:
    """Three channels of bytes; what is transparent becomes white, sixteen bits become eight."""
    if image.mode.startswith(("I", "F")):
        values = np.asarray(image, dtype=np.float64)
        top = (
            65535.0 if image.mode.startswith("I") and values.max(initial=0) > 255 else max(1.0, values.max())
        )
        scale = 255.0 if top > 255 or values.max(initial=0) <= 1 else top
        return images.fromarray((values / top * scale).clip(0, 255).astype(np.uint8)).convert("RGB")
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        image = image.convert("RGBA")
        white = images.new("RGBA", image.size, "white")
        return images.alpha_composite(white, image).convert("RGB")
    return image.convert("RGB")
