"""Pictures of how solvers go down: contours of the risk with their steps, and Newton's method in one dimension."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline.plots.style import COLORS, DASHES, MARKERS, pyplot
from nearline.risk import Objective, Risk
from nearline.risk.params import Params
from nearline.solvers import Method, Solution, minimize

MOST_ARROWS = 30  # steps of a solver that get an arrow
GRID = 60


@dataclass(frozen=True)
class Slice:
    """A plane, or a line, in the space of the parameters: origin + coordinates @ directions."""

    origin: Array
    directions: Array  # (1 or 2, P), orthonormal
    names: tuple[str, ...]
    exact: bool  # whether all parameters lie in it

    @classmethod
    def of(cls, risk: Objective, paths: list[Array]) -> "Slice":
        """The free parameters themselves if they are one or two; else the plane through start, end and steepest slope."""
        free = _free(risk)
        if len(free) <= 2:
            names = tuple(_names(risk)[j] for j in free)
            return cls(np.zeros(len(risk.zeros().flat)), np.eye(len(risk.zeros().flat))[free], names, True)
        start, end = paths[0][0], min((path[-1] for path in paths), key=lambda p: risk.value(_at(risk, p)))
        slope = -risk.at(_at(risk, start)).gradient.flat
        others = np.vstack([path - start for path in paths])
        axes = [
            end - start,
            slope,
            *others[np.argsort(-(others**2).sum(axis=1))[:5]],
            *np.eye(len(start))[free],
        ]
        names = ("from start to end", "across, towards the steepest slope")
        return cls(start, _orthonormal(axes), names, False)

    def down(self, points: Array) -> Array:
        return np.asarray((points - self.origin) @ self.directions.T)

    def up(self, places: Array) -> Array:
        return np.asarray(self.origin + places @ self.directions)


def _orthonormal(candidates: list[Array]) -> Array:
    """Two orthonormal directions of the first candidates that are not 0 or along each other."""
    found: list[Array] = []
    for vector in candidates:
        rest = vector - sum((float(vector @ one) * one for one in found), np.zeros_like(vector))
        size = float(np.linalg.norm(rest))
        if size > 1e-8 * max(float(np.linalg.norm(vector)), 1e-300):
            found.append(rest / size)
        if len(found) == 2:
            break
    return np.array(found)


def _at(risk: Objective, flat: Array) -> Params:
    return risk.zeros().like(np.array(flat, dtype=np.float64))


def _free(risk: Objective) -> Array:
    """Numbers of the parameters that a solver may change."""
    zeros = risk.zeros()
    return np.arange(zeros.W.size if not risk.bias else len(zeros.flat))


def _names(risk: Objective) -> list[str]:
    K, D = risk.n_outputs, risk.n_features
    if K == 1:
        return ([f"w{j + 1}" for j in range(D)] if D > 1 else ["w"]) + ["b"]
    return [f"w{c + 1}{j + 1}" for c in range(K) for j in range(D)] + [f"b{c + 1}" for c in range(K)]


def plot_descent(
    risk: Risk,
    solvers: Iterable[Method[Any] | str] | Mapping[str, Method[Any] | str] = ("gradient-descent", "newton"),
    *,
    start: Params | None = None,
    tol: float = 1e-6,
    max_iter: int = 200,
    axes: Any = None,
) -> Any:
    """Contours of a risk with the steps of several solvers, and beside them the risk above its least value.

    A risk of two free parameters is drawn as it is, one of a single parameter as a curve. Of more the picture is the plane
    through the start, the best end and the steepest slope at the start; iterates are projected onto it.

    Parameters
    ----------
    solvers : names or solvers, or {label: solver}. Of SGD each pass is a step; ``SGD(averaged=False)`` shows its last
        iterates, not their mean.
    start : where all of them start, 0 if None.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import SGD, Risk
    >>> from nearline.plots import plot_descent
    >>> X, y = np.array([[-1.0, 0.5], [0.3, -1.0], [1.0, 1.0], [2.0, -0.5]]), np.array([0, 0, 1, 1])
    >>> risk = Risk(X, y, loss="logistic", alpha=0.1, bias=False)
    >>> plane, beside = plot_descent(risk, ["gradient-descent", "newton", SGD(averaged=False)], max_iter=30)
    >>> plane.get_xlabel(), plane.get_ylabel()
    ('w1', 'w2')
    """
    found = _descents(risk, solvers, start, tol, max_iter)
    paths = [np.array([params.flat for params in one.iterates or ()]) for one in found.values()]
    if axes is None:
        axes = pyplot().subplots(1, 2, figsize=(10.4, 4.4), layout="constrained")[1]
    space = Slice.of(risk, paths)
    least = min(float(np.min(one.trace)) for one in found.values())
    if len(space.directions) == 1:
        _draw_curve(axes[0], risk, space, found, paths)
    else:
        _draw_plane(axes[0], risk, space, found, paths)
    _draw_excess(axes[1], found, least)
    return axes


def _descents(
    risk: Risk, solvers: Any, start: Params | None, tol: float, max_iter: int
) -> dict[str, Solution]:
    if isinstance(solvers, (str, Method)):
        solvers = [solvers]
    given = solvers.items() if isinstance(solvers, Mapping) else ((_label(one), one) for one in solvers)
    found: dict[str, Solution] = {}
    for label, solver in given:
        while label in found:
            label += "'"
        found[label] = minimize(risk, solver, start, tol=tol, max_iter=max_iter, keep="iterates")
    if not found:
        raise ValueError("solvers is empty: name at least one, such as 'gradient-descent'.")
    return found


def _label(solver: Method[Any] | str) -> str:
    return solver if isinstance(solver, str) else solver.name


def _look(i: int) -> dict[str, Any]:
    return {"color": COLORS[i % 8], "marker": MARKERS[i % 8], "linestyle": DASHES[i % 4]}


def _draw_plane(ax: Any, risk: Risk, space: Slice, found: dict[str, Solution], paths: list[Array]) -> None:
    places = [space.down(path) for path in paths]
    low, high = np.vstack(places).min(axis=0), np.vstack(places).max(axis=0)
    pad = 0.25 * max(float((high - low).max()), 1e-3)
    sides = [np.linspace(a - pad, b + pad, GRID) for a, b in zip(low, high, strict=True)]
    grids = np.meshgrid(*sides)
    flat = space.up(np.column_stack([one.ravel() for one in grids]))
    values = np.array([risk.value(_at(risk, point)) for point in flat]).reshape(grids[0].shape)
    values[~np.isfinite(values)] = np.nan
    least, most = float(np.nanmin(values)), float(np.nanmax(values))
    levels = least + (most - least) * np.linspace(0.03, 1.0, 14) ** 2  # closer where the valley is
    if most > least:
        lines = ax.contour(*grids, values, levels=levels, colors="0.75", linewidths=0.8)
        ax.clabel(lines, levels=levels[::3], fontsize="xx-small", fmt="%.3g")
    for i, (label, place) in enumerate(zip(found, places, strict=True)):
        moves = np.diff(place, axis=0)[:MOST_ARROWS]
        if len(moves):
            arrows = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "width": 0.004, "zorder": 3}
            ax.quiver(*place[: len(moves)].T, *moves.T, color=COLORS[i % 8], **arrows)
        ax.plot(*place.T, label=label, markersize=4, linewidth=0.8, zorder=4, **_look(i))
    ax.plot(*places[0][0], "o", color="black", markersize=9, fillstyle="none", label="start")
    ax.set(xlabel=space.names[0], ylabel=space.names[1])
    ax.set_title("Risk and steps" if space.exact else "Risk on a plane, steps projected onto it")
    ax.legend(fontsize="small")


def _draw_curve(ax: Any, risk: Risk, space: Slice, found: dict[str, Solution], paths: list[Array]) -> None:
    places = [space.down(path)[:, 0] for path in paths]
    low, high = min(one.min() for one in places), max(one.max() for one in places)
    pad = 0.4 * max(float(high - low), 1e-3)
    w = np.linspace(low - pad, high + pad, 300)
    ax.plot(w, [risk.value(_at(risk, point)) for point in space.up(w[:, None])], color="0.6")
    for i, ((label, solution), place) in enumerate(zip(found.items(), places, strict=True)):
        ax.plot(place, solution.trace, label=label, markersize=5, linewidth=0.9, **_look(i))
    ax.plot(
        places[0][0], next(iter(found.values())).trace[0], "o", color="black", markersize=10, fillstyle="none"
    )
    ax.set(xlabel=space.names[0], ylabel="risk", title="Risk and steps")
    ax.legend(fontsize="small")


def _draw_excess(ax: Any, found: dict[str, Solution], least: float) -> None:
    floor = 1e-16 * max(abs(least), 1.0)
    for i, (label, solution) in enumerate(found.items()):
        excess = np.maximum(solution.trace - least, floor)
        ax.plot(np.arange(len(excess)), excess, label=label, markersize=4, **_look(i))
    ax.set(xlabel="iteration", ylabel="risk - least found", yscale="log", title="Risk per iteration")
    if max(len(solution.trace) for solution in found.values()) > 30:
        ax.set_xscale("symlog", linthresh=10)
    else:
        ax.xaxis.get_major_locator().set_params(integer=True)
    ax.legend(fontsize="small")


def plot_newton(risk: Risk, *, start: float | None = None, steps: int = 3, axes: Any = None) -> Any:
    """Newton's method in one dimension: the quadratic model of the risk at each step, and the tangent of its slope.

    Each undamped step goes to where the model is least, which is where the tangent of the derivative is 0:
    w_new = w - R'(w) / R''(w).

    Parameters
    ----------
    risk : of one parameter: one feature, one score, no bias.
    start : where to start, 0 if None.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import Risk
    >>> from nearline.plots import plot_newton
    >>> risk = Risk(np.array([[-2.0], [-1.0], [0.5], [3.0]]), [0, 1, 0, 1], loss="logistic", alpha=0.1, bias=False)
    >>> model, slope = plot_newton(risk, start=-1.0)
    >>> slope.get_ylabel()
    "R'(w)"
    """
    if len(_free(risk)) != 1:
        raise ValueError(
            f"Newton's method is drawn for one parameter, the risk has {len(_free(risk))}: give one feature, two "
            "classes and bias=False, or take plot_descent."
        )
    if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or steps < 1:
        raise ValueError(f"steps must be a whole number >= 1, got {steps!r}.")
    path = _newton_path(risk, 0.0 if start is None else float(start), int(steps))
    if axes is None:
        axes = pyplot().subplots(1, 2, figsize=(10.0, 4.2), layout="constrained")[1]
    low, high = min(w for w, *_ in path), max(w for w, *_ in path)
    pad = 0.4 * max(high - low, 0.5)
    w = np.linspace(low - pad, high + pad, 300)
    curves = np.array([_derivatives(risk, one)[:2] for one in w])
    for ax, curve in zip(axes, curves.T, strict=True):
        ax.plot(w, curve, color="0.5", linewidth=2.0)
        span = float(np.ptp(curve)) or 1.0
        ax.set_ylim(float(curve.min()) - 0.15 * span, float(curve.max()) + 0.1 * span)
        ax.set_xlabel("w")
    for i, (at, value, slope, bend) in enumerate(path[:-1]):
        look = {"color": COLORS[i % 8], "linestyle": DASHES[(i + 1) % 4], "linewidth": 1.2}
        label = f"step {i + 1}: {at:.3g} → {path[i + 1][0]:.3g}"
        axes[0].plot(w, value + slope * (w - at) + 0.5 * bend * (w - at) ** 2, label=label, **look)
        axes[1].plot(w, slope + bend * (w - at), label=label, **look)
        for ax, height in zip(axes, (value, slope), strict=True):
            ax.plot(at, height, MARKERS[i % 8], color=COLORS[i % 8], markersize=7, zorder=4)
    axes[1].axhline(0.0, color="0.7", linewidth=0.8)
    axes[0].set(ylabel="R(w)", title="The risk and its quadratic models")
    axes[1].set(ylabel="R'(w)", title="Its derivative and the tangents")
    for ax in axes:
        ax.legend(fontsize="small")
    return axes


def _derivatives(risk: Risk, w: float) -> tuple[float, float, float]:
    """R, R' and R'' at w."""
    flat = risk.zeros().flat
    flat[0] = w
    point = risk.at(_at(risk, flat))
    return point.value, float(point.gradient.flat[0]), float(risk.hessian(point)[0, 0])


def _newton_path(risk: Risk, w: float, steps: int) -> list[tuple[float, float, float, float]]:
    """(w, R, R', R'') at each iterate, the start first."""
    path = [(w, *_derivatives(risk, w))]
    for _ in range(steps):
        at, _, slope, bend = path[-1]
        if not bend > 0:
            raise ValueError(
                f"The risk does not bend at w = {at:g}, so that Newton's step has no end: set alpha > 0."
            )
        w = at - slope / bend
        path.append((w, *_derivatives(risk, w)))
        if not np.isfinite(path[-1][1]):
            raise ValueError(
                f"Newton's steps go to w = {w:g}, where the risk overflows: start nearer to its minimum."
            )
    return path
