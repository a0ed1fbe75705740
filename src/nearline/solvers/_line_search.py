"""One line search for all: strong Wolfe conditions on cached scores."""

from nearline.risk import Line


def wolfe(line: Line, t: float = 1.0, *, decrease: float = 1e-4, slope_share: float = 0.9) -> float:
    """A step t > 0 with value <= value(0) + decrease t slope(0) and |slope(t)| <= slope_share |slope(0)|.

    Gives 0.0 if no step lowers the value (rounding). Brackets, then shrinks the bracket by safeguarded cubic steps.
    """
    value_0, slope_0 = line.point.value, line.slope()
    if not slope_0 < 0:
        return 0.0
    noise = line.risk.rounding(line.point)
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
