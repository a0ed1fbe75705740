"""Folders, devices, links and images."""

import os
import socket
import struct
import zlib
from pathlib import Path

from benchmarks.attacks._hostile import hostile, written


@hostile("a pipe instead of a file")
def _pipe(folder: Path, scale: float) -> Path:
    os.mkfifo(folder / "pipe.csv")
    return folder / "pipe.csv"


@hostile("a device that never ends")
def _device(folder: Path, scale: float) -> Path:
    return Path("/dev/zero")


@hostile("a socket instead of a file")
def _socket(folder: Path, scale: float) -> Path:
    place = os.getcwd()
    os.chdir(folder)  # names of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as own:
            own.bind("s.csv")
    finally:
        os.chdir(place)
    return folder / "s.csv"


@hostile("a link to itself")
def _loop(folder: Path, scale: float) -> Path:
    (folder / "loop.csv").symlink_to(folder / "loop.csv")
    return folder / "loop.csv"


@hostile("folder: a loop of links inside")
def _folder_loop(folder: Path, scale: float) -> Path:
    for name in "ab":
        (folder / "texts" / name).mkdir(parents=True)
        for i in range(3):
            written(folder / "texts" / name / f"{i}.txt", b"a text of " + name.encode())
        (folder / "texts" / name / "again").symlink_to(folder / "texts")
        (folder / "texts" / name / "self.txt").symlink_to(folder / "texts" / name / "self.txt")
    return folder / "texts"


@hostile("folder: 1,100,000 names")
def _names(folder: Path, scale: float) -> Path:
    (folder / "names").mkdir()
    for i in range(int(1_100_000 * scale)):
        os.close(os.open(folder / "names" / f"{i}.txt", os.O_CREAT | os.O_WRONLY))
    return folder / "names"


# images


def _png(width: int, height: int, data: bytes) -> bytes:
    def chunk(kind: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        )

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def _photos(folder: Path) -> Path:
    """A folder of two classes with a good image each."""
    for name in "ab":
        (folder / "photos" / name).mkdir(parents=True)
        written(folder / "photos" / name / "good.png", _png(16, 16, zlib.compress(b"\0" + b"\x80" * 16) * 1))
        rows = b"".join(b"\0" + bytes(range(16)) for _ in range(16))
        written(folder / "photos" / name / "good.png", _png(16, 16, zlib.compress(rows)))
    return folder / "photos"


@hostile("folder: pipes and broken images inside")
def _broken_images(folder: Path, scale: float) -> Path:
    photos = _photos(folder)
    good = (photos / "a" / "good.png").read_bytes()
    os.mkfifo(photos / "a" / "pipe.png")
    for i, start in enumerate(
        (good[:60], good[:20], b"", b"\xff\xd8\xff\xe0" + b"\0" * 50, b"GIF89a\xff\xff\xff\xff")
    ):
        written(photos / "a" / f"broken{i}.png", start)
    return photos


@hostile("folder: an image of 10^9 pixels in 1 MB")
def _pixel_bomb(folder: Path, scale: float) -> Path:
    photos = _photos(folder)
    packer = zlib.compressobj()
    data = b"".join(packer.compress(b"\0" * 30_001) for _ in range(int(30_000 * scale))) + packer.flush()
    written(photos / "a" / "bomb.png", _png(30_000, 30_000, data))
    return photos


@hostile("folder: an image of 85 million pixels")
def _large_pixels(folder: Path, scale: float) -> Path:
    photos = _photos(folder)
    packer = zlib.compressobj()
    data = b"".join(packer.compress(b"\0" * 9_201) for _ in range(9_200)) + packer.flush()
    written(photos / "a" / "large.png", _png(9_200, 9_200, data))
    return photos
