"""Models in files without pickle: written whole or not at all, read without running anything that they say.

A file holds one JSON header and the arrays that it numbers (see ``_container``). The header names classes of a fixed
list (see ``_registry``) with their state; other names are refused. An index of neighbors is built again from its rows.
"""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from nearline._records.kept import is_complete
from nearline.files._about import About, facts_of
from nearline.files._container import VERSION, Reader, opened, write
from nearline.files._decoding import Decoder
from nearline.files._encoding import Encoder
from nearline.files._errors import ModelFileError, ModelFileWarning
from nearline.files._registry import Model, by_class

__all__ = ["About", "ModelFileError", "ModelFileWarning", "inspect", "load", "save"]

# What each entry of a header must be.
HEADER: dict[str, Any] = {
    "kind": str,
    "classes": list | None,
    "n_features": int | None,
    "features": dict,
    "versions": dict,
    "facts": dict,
    "model": dict,
}


def save(model: Any, path: Any, *, facts: dict[str, Any] | None = None) -> None:
    """Write a fitted model to a file (``*.nearline``), with facts about it: scores, a fingerprint of the data, any JSON.

    The file is replaced whole, by way of a temporary one beside it. Functions and estimators of your own are refused.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> from nearline import KNeighborsClassifier
    >>> from nearline.files import inspect, load, save
    >>> X, y = load_iris(return_X_y=True)
    >>> path = Path(tempfile.mkdtemp()) / "iris.nearline"
    >>> save(KNeighborsClassifier(3).fit(X, y), path, facts={"accuracy": 0.96})
    >>> load(path).predict(X[:2]).tolist()
    [0, 0]
    >>> inspect(path).kind, inspect(path).facts
    ('KNeighborsClassifier', {'accuracy': 0.96})
    """
    from nearline import __version__

    encoder, name = Encoder(), type(model).__name__
    if not isinstance(by_class().get(type(model)), Model):
        encoder.encode(model, "The model")  # says why, if it is nothing that a file can hold
        raise ModelFileError(f"The model is a {name}, but a model file holds a fitted estimator: give one.")
    try:
        check_is_fitted(model)
    except NotFittedError as error:
        raise ModelFileError(f"{name} is not fitted: call fit before save.") from error
    header = {
        "versions": {"nearline": __version__, "scikit-learn": sklearn.__version__, "numpy": np.__version__},
        "facts": {} if facts is None else _json(facts),
        **facts_of(model),
        "model": encoder.encode(model, name),
    }
    write(Path(path), header, encoder.arrays)


def load(path: Any) -> Any:
    """The model of a file that :func:`save` wrote; it predicts the same to the last bit.

    Nothing in the file is run, whoever wrote it: anything but an intact model is a :class:`ModelFileError`. A file of
    another scikit-learn (by its first two numbers) gives a :class:`ModelFileWarning` where the model has parts of it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from nearline import GaussianNB
    >>> from nearline.files import load, save
    >>> path = Path(tempfile.mkdtemp()) / "sizes.nearline"
    >>> save(GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], ["small", "small", "large", "large"]), path)
    >>> load(path).predict([[3.0]]).tolist()
    ['small']
    """
    with opened(Path(path)) as file:
        reader = Reader(file, Path(path))
        about, arrays = _about(reader, path), reader.arrays()
    decoder = Decoder(arrays)
    try:
        model = decoder.decode(reader.header["model"])
    except Exception as error:  # constructors given nonsense may raise anything, and nothing else runs here
        raise ModelFileError(
            f"{path} cannot be made a model again: {type(error).__name__}, {str(error)[:300]}. It was changed after it was "
            "saved, or written by another version of nearline: fit and save the model again."
        ) from error
    if not isinstance(by_class().get(type(model)), Model):
        raise ModelFileError(f"{path} holds a {type(model).__name__}, no model: save a fitted estimator.")
    if not is_complete(model):
        raise ModelFileError(f"{path} holds a {type(model).__name__} that is not fitted: save a fitted one.")
    written = about.versions.get("scikit-learn", "")
    foreign = written.split(".")[:2] != sklearn.__version__.split(".")[:2]
    if foreign and any(name.startswith("sklearn.") for name in decoder.used):
        warnings.warn(
            f"{path} was written with scikit-learn {written}, but {sklearn.__version__} is here: predictions may differ. "
            "Install that version, or fit and save the model again.",
            ModelFileWarning,
            stacklevel=2,
        )
    return model


def inspect(path: Any, *, whole: bool = False) -> About:
    """What a file says about its model: kind, classes, features, versions and facts. Only the header is read.

    With ``whole`` the arrays are read as well, and a file that is cut or damaged is a :class:`ModelFileError`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from nearline import NearestCentroid
    >>> from nearline.files import inspect, save
    >>> path = Path(tempfile.mkdtemp()) / "sizes.nearline"
    >>> save(NearestCentroid().fit([[1.0], [9.0]], ["small", "large"]), path, facts={"rows": 2})
    >>> about = inspect(path)
    >>> about.classes, about.n_features, about.facts
    (['large', 'small'], 1, {'rows': 2})
    """
    with opened(Path(path)) as file:
        reader = Reader(file, Path(path))
        about = _about(reader, path)
        if whole:
            reader.arrays()
        return about


def _about(reader: Reader, path: Any) -> About:
    header = reader.header
    wrong = [name for name, kind in HEADER.items() if not isinstance(header.get(name), kind)]
    if wrong or not set(map(type, header["versions"].values())) <= {str}:
        raise ModelFileError(
            f"{path} is no intact model file: its header lacks {', '.join(wrong) or 'versions'}. Save the model again."
        )
    return About(
        kind=header["kind"],
        classes=header.get("classes"),
        n_features=header.get("n_features"),
        features=header["features"],
        versions=header["versions"],
        facts=header["facts"],
        format=VERSION,
        size=reader.size,
        checksum=reader.checksum,
    )


def _json(facts: Any) -> dict[str, Any]:
    """Facts as JSON has them; numbers and arrays of NumPy become Python's."""
    try:
        found = json.loads(json.dumps(facts, default=_plain))
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(
            f"facts must be what JSON can hold (dictionaries, lists, strings, numbers): {error}."
        ) from error
    if type(found) is not dict:
        raise ModelFileError(
            f"facts must be a dictionary, got a {type(facts).__name__}: give {{name: value}}."
        )
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} is among them")
