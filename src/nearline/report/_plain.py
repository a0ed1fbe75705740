"""Facts as JSON: numbers of Python, no NaN; the same values as text for people."""

import math
from typing import Any

import numpy as np

from nearline._arrays.design import Array


def plain(value: Any) -> Any:
    """What JSON can hold: NaN and infinities become None, what is no number, list or text becomes its text.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"mean": np.float32(0.5), "scores": np.array([1.0, np.nan]), 3: ("a", None)})
    {'mean': 0.5, 'scores': [1.0, None], '3': ['a', None]}
    """
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def rounded(values: Any, digits: int = 5) -> Any:
    """Numbers to so many significant digits: what is only drawn need not fill the file."""
    array = np.asarray(values, dtype=np.float64)
    return plain(_round(array, digits)) if array.ndim else plain(float(_round(array.reshape(1), digits)[0]))


def _round(array: Array, digits: int) -> Array:
    shown = [float(f"{value:.{digits}g}") for value in array.ravel().tolist()]
    return np.array(shown, dtype=np.float64).reshape(array.shape)


def number(value: Any, digits: int = 4) -> str:
    """A score with so many decimals; "n/a" where there is none."""
    return "n/a" if value is None else f"{value:.{digits}f}"


def brief(value: Any) -> str:
    """A parameter or cell: floats to four digits, the rest as it is."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else str(value)


def clipped(text: str, most: int = 60) -> str:
    """A long name with its middle left out."""
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[:half]}…{text[-half:]}"


def seconds(value: float) -> str:
    """0.3 ms, 12 ms, 1.24 s, 3.2 min."""
    if value < 0.01:
        return f"{1e3 * value:.2g} ms"
    if value < 1:
        return f"{1e3 * value:.0f} ms"
    return f"{value:.3g} s" if value < 120 else f"{value / 60:.1f} min"


def size(n: float | None) -> str:
    """Bytes with a unit, "unknown" for None."""
    if n is None:
        return "unknown"
    for unit in ("B", "kB", "MB"):
        if n < 1000:
            return f"{n:.3g} {unit}"
        n /= 1000
    return f"{n:.3g} GB"


def named(parameters: dict[str, Any]) -> str:
    """k = 5, weights = uniform: the parameter that grows along the path comes last in a grid, and first here."""
    listed = list(parameters.items())[::-1]
    return ", ".join(f"{LETTERS.get(name, name)} = {brief(value)}" for name, value in listed)


LETTERS = {"n_neighbors": "k"}  # what people call a parameter
