"""One line search for all: strong Wolfe conditions on cached scores."""

import numpy as np

from nearline.risk import Line, Objective, Point


def wolfe(line: Line, t: float = 1.0, *, decrease: float = 1e-4, slope_share: float = 0.9) -> float:
    """A step t > 0 with value <= value(0) + decrease t slope(0) and |slope(t)| <= slope_share |slope(0)|.

    Gives 0.0 if no step lowers the value (rounding). Brackets, then shrinks the bracket by safeguarded cubic steps.
    """
    value_0, slope_0 = line.point.value, line.slope()
    if not slope_0 < 0:
        return 0.0
    noise = rounding(line.risk, line.point)
    low, value_low, slope_low = 0.0, value_0, slope_0
    high: float | None = None
    value_high = slope_high = 0.0
    best, best_value = 0.0, value_0
    for _ in range(40):
        value, slope = line.value_and_slope(t)
        if value < best_value:
            best, best_value = t, value
        if not value <= value_0 + decrease * t * slope_0 + noise or value > value_low + noise:
            high, value_high, slope_high = t, value, slope
        elif abs(slope) <= -slope_share * slope_0:
            return t
        elif slope >= 0:
            high, value_high, slope_high = t, value, slope
        else:
            low, value_low, slope_low = t, value, slope
        if high is None:
            t = min(4.0 * t, 1e10)
        else:
            t = _cubic(low, value_low, slope_low, high, value_high, slope_high)
            if abs(high - low) <= 1e-10 * max(high, 1e-300):
                break
    return best


def rounding(risk: Objective, point: Point) -> float:
    """What values near a point may be off by; below it they cannot tell better from worse, and slopes decide alone.

    There is the rounding of sums over n rows, that of losses near 0, which are differences of numbers of the size of the
    null risk, and that of scores W x + b where W x and b are both large.
    """
    of_sums, of_rows = (1e-14, 2e-15) if point.scores.dtype.itemsize == 8 else (3e-8, 1e-9)
    offset = float((np.abs(point.params.W) @ np.abs(risk.passes.column_moments[0])).max(initial=0.0))
    return of_sums * abs(point.value) + of_rows * risk.null_value + 0.1 * of_sums * offset


def _cubic(a: float, fa: float, da: float, b: float, fb: float, db: float) -> float:
    """Minimizer of the cubic through two values and slopes, kept away from the ends of the bracket."""
    width = b - a
    middle = a + 0.5 * width
    if not abs(fb) < 1e300:  # overflow at b: go back hard
        return a + 0.1 * width
    d1 = da + db - 3.0 * (fa - fb) / (a - b)
    square = d1 * d1 - da * db
    if square < 0:
        return middle
    d2 = square**0.5
    denominator = db - da + 2.0 * d2
    if denominator == 0:
        return middle
    t = b - width * (db + d2 - d1) / denominator
    return min(max(t, a + 0.1 * width), b - 0.1 * width)
