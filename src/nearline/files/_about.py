"""What a model file says about its model."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from nearline.representations.bases import SplineCode
from nearline.representations.codes import CategoryCode, DateCode, NumberCode, TextCode
from nearline.representations.raw import AsGiven
from nearline.representations.shares import SharesCode
from nearline.representations.tables import TableEncoder
from nearline.representations.text_tables import TextTableEncoder
from nearline.representations.texts import Documents
from nearline.selection.calibration import CalibratedClassifier
from nearline.selection.ensemble import Ensemble

JSON = (str, int, float, bool, list)  # labels of other types, such as bytes, are written as text
CODES = {
    NumberCode: "number",
    SplineCode: "number",
    DateCode: "date",
    CategoryCode: "category",
    SharesCode: "category",
    TextCode: "text",
}


@dataclass(frozen=True)
class About:
    """What is known about a model without building it; from :func:`nearline.files.inspect`."""

    kind: str  # its steps: "AsNumbers > StandardScaler > LogisticRegression"
    classes: list[Any] | None  # labels; None where it is no classifier
    n_features: int | None  # columns that it takes; None for texts
    features: dict[str, str]  # type of each column by name; empty where columns have no names
    versions: dict[str, str]  # of nearline, scikit-learn, numpy, by which it was written
    facts: dict[str, Any]  # what was given to save
    format: int  # version of the file format
    size: int  # of the file, in bytes
    checksum: str  # SHA-256 of the header, in which is that of the arrays


def described(model: Any) -> str:
    """The steps of a model by the names of their classes."""
    if isinstance(model, Pipeline):
        return " > ".join(described(step) for _, step in model.steps)
    if isinstance(model, str):  # pipelines may have a step "passthrough"
        return model
    if isinstance(model, Ensemble):
        return f"Ensemble({', '.join(described(one) for one in model.estimators)})"
    name, inner = type(model).__name__, vars(model).get("estimator")
    return name if inner is None else f"{name}({described(inner)})"


def _first(model: Any) -> Any:
    """The step that takes the rows."""
    if isinstance(model, CalibratedClassifier):
        return _first(model.estimator_)
    if isinstance(model, Ensemble):
        return _first(model.models_[0])
    if isinstance(model, Pipeline) and model.steps:
        rest = [step for _, step in model.steps if not isinstance(step, AsGiven)]
        return _first((rest or [model.steps[0][1]])[0])
    return model


def facts_of(model: Any) -> dict[str, Any]:
    """Entries of the header of a fitted model."""
    classes, names = getattr(model, "classes_", None), getattr(model, "feature_names_in_", None)
    first = _first(model)
    features = {} if names is None else dict.fromkeys(map(str, names), _number_type(first))
    if isinstance(first, TableEncoder):
        codes = first.encoding_.codes
        features = {name: CODES[type(codes[name])] if name in codes else "missing" for name in first.columns_}
    if isinstance(first, TextTableEncoder):
        codes = {} if first.encoding_ is None else first.encoding_.codes
        known = dict.fromkeys(first.texts, "text") | {name: CODES[type(code)] for name, code in codes.items()}
        features = {name: known.get(name, "missing") for name in first.columns_}
    if isinstance(first, Documents):
        features = {"text": "text"}
    n = getattr(first, "n_features_in_", None)
    return {
        "kind": described(model),
        "classes": None
        if classes is None
        else [one if isinstance(one, JSON) else str(one) for one in np.asarray(classes).tolist()],
        "n_features": None if n is None else int(n),
        "features": features,
    }


def _number_type(step: Any) -> str:
    """That of the numbers which a step makes of them, where it says."""
    return str(getattr(step, "dtype_", "number"))
