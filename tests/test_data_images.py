"""Folders of images of any size and mode, and features of images."""

import numpy as np
import pytest
from PIL import Image

from nearline.data import DataError, image_features, read
from nearline.data.pixels import KINDS


def picture(mode, size=(50, 40)):
    """A ramp from dark to light, in some mode of Pillow."""
    ramp = np.tile(np.linspace(0, 255, size[0]).astype(np.uint8), (size[1], 1))
    if mode == "I;16":
        return Image.fromarray(ramp.astype(np.uint16) * 257)
    if mode in ("I", "F"):
        return Image.fromarray(ramp.astype(np.int32 if mode == "I" else np.float32))
    return Image.fromarray(ramp).convert("RGB").convert(mode)


def test_image_modes(tmp_path):
    kept = {
        "L": "png",
        "RGB": "jpg",
        "RGBA": "png",
        "P": "png",
        "LA": "png",
        "I;16": "png",
        "CMYK": "jpg",
        "1": "png",
    }
    kept |= {"I": "tiff", "F": "tiff"}
    for mode, ending in kept.items():
        (tmp_path / mode.replace(";", "")).mkdir()
        picture(mode).save(tmp_path / mode.replace(";", "") / f"a.{ending}")
        picture(mode, (64, 90)).save(tmp_path / mode.replace(";", "") / f"b.{ending}")
    (tmp_path / "L" / "broken.png").write_bytes(b"\x89PNG nothing")
    (tmp_path / "L" / "notes.txt").write_text("no image")
    table = read(tmp_path, size=16)
    assert table.X.shape == (2 * len(kept), 16 * 16 * 3)
    assert table.X.dtype == np.float32
    assert "left out, as no images: 2 files, 'L/broken.png', 'L/notes.txt'" in str(table)
    rows = dict(zip(table.y.tolist(), table.X))
    for mode in kept:
        if mode != "1":  # two shades only
            assert np.abs(rows[mode.replace(";", "")] - rows["L"]).mean() < 0.05, mode
    assert (read(tmp_path, size=16).X == table.X).all()
    assert read(tmp_path, features="hog").X.shape == (2 * len(kept), 324)
    with pytest.raises(DataError, match="no image features 'sift'"):
        read(tmp_path, features="sift")
    with pytest.raises(DataError, match="at least 8"):
        read(tmp_path, size=4)


def test_image_sorts(tmp_path):
    """Grey images have one channel, transparent pixels are white, and what is turned by its camera is turned back."""
    (tmp_path / "a").mkdir()
    picture("L").save(tmp_path / "a" / "1.pgm")
    assert read(tmp_path).description.shape == (32, 32, 1)
    Image.new("RGBA", (20, 20), (0, 0, 0, 0)).save(tmp_path / "a" / "1.pgm", format="png")
    assert (read(tmp_path).X == 1).all()
    turned = Image.Exif()
    turned[0x0112] = 3
    picture("RGB").save(tmp_path / "a" / "1.pgm", format="jpeg", exif=turned)
    row = read(tmp_path).X[0].reshape(32, -1)
    assert row[:, 0].mean() > row[:, -1].mean()
    (tmp_path / "a" / "1.pgm").write_bytes(b"")
    with pytest.raises(DataError, match="No file"):
        read(tmp_path)


def test_images_without_classes(tmp_path):
    """Images to be classified have as many channels as those that were learned from."""
    for name, modes in {
        "train": ("RGB", "L"),
        "grey": ("L", "L"),
        "new": ("L", "RGB"),
        "old": ("L", "L"),
    }.items():
        for i, mode in enumerate(modes):
            (tmp_path / name / ("" if name in ("new", "old") else f"{i}")).mkdir(parents=True, exist_ok=True)
            image = picture(mode)
            if mode == "RGB":
                image.paste((255, 0, 0), (0, 0, 20, 20))
            image.save(tmp_path / name / ("" if name in ("new", "old") else f"{i}") / f"{i}.png")
    train, grey = read(tmp_path / "train"), read(tmp_path / "grey")
    assert (train.X.shape[1], grey.X.shape[1], train.y.tolist()) == (3072, 1024, [0, 1])
    for like in (train, grey):
        for name in ("new", "old"):
            table = read(tmp_path / name, like=like)
            assert (table.X.shape[1], table.y) == (like.X.shape[1], None)
    assert read(tmp_path / "new", labels=["a", "b"]).y.tolist() == ["a", "b"]


@pytest.mark.parametrize("kind", KINDS)
def test_image_features(kind):
    images = np.random.default_rng(0).integers(0, 256, (700, 24, 16, 3), dtype=np.uint8)
    rows = image_features(images, kind)
    assert rows.dtype == np.float32
    assert np.isfinite(rows).all()
    assert np.allclose(
        image_features(images[600:601], kind), rows[600:601], atol=1e-6
    )  # blocks do not matter
    assert np.allclose(image_features(images[..., 0], kind), image_features(images[..., :1], kind))
    with pytest.raises(DataError, match="Images must be"):
        image_features(images.astype(float), kind)


def test_hog_sees_edges():
    """Upright edges and lying ones differ; light does not matter."""
    upright = np.zeros((1, 32, 32), dtype=np.uint8)
    upright[:, :, 14:] = 100
    lying = upright.transpose(0, 2, 1)
    a, b, brighter = (image_features(i, "hog")[0] for i in (upright, lying, upright * 2))
    assert a @ b < 0.6 * (a @ a)
    assert a @ brighter > 0.95 * np.linalg.norm(a) * np.linalg.norm(brighter)
