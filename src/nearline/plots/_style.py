"""What all pictures share."""

from typing import Any

# Okabe-Ito: distinguishable with any color vision.
COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442"]
DASHES = ["-", "--", "-.", ":"]


def pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Pictures need matplotlib: pip install 'nearline[plots]'") from error
    return plt


def axes(ax: Any) -> Any:
    return pyplot().subplots(figsize=(6.4, 4.2), layout="constrained")[1] if ax is None else ax


def style(i: int) -> dict[str, Any]:
    return {"color": COLORS[i % len(COLORS)], "linestyle": DASHES[i // len(COLORS) % len(DASHES)]}
