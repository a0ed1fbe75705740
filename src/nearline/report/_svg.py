"""Charts as SVG inside the page: scales, axes and marks, colored by the page's own style."""

from dataclasses import dataclass, field
from math import floor, log10
from typing import Any

from nearline.report._html import Html, h

Pair = tuple[float, float]


@dataclass(frozen=True)
class Scale:
    """Values to places along an axis."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, value = (log10(v) if self.log else v for v in (self.low, self.high, value))
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    def ticks(self, most: int = 5) -> list[float]:
        """Round values between the ends."""
        if self.log:
            return self._powers(most)
        span = (self.high - self.low) or 1.0
        rough = span / most
        power = 10.0 ** floor(log10(rough))
        step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * 0.999)
        first = -floor(-self.low / step + 1e-9)
        n = floor(self.high / step + 1e-9) - first + 1
        return [round((first + i) * step, 12) for i in range(n)]

    def _powers(self, most: int) -> list[float]:
        ends = floor(log10(self.low)), floor(log10(self.high)) + 1
        for multiples in ((1, 2, 5), (1, 3), (1,)):
            found = [m * 10.0**e for e in range(*ends) for m in multiples]
            found.append(10.0 ** ends[1])
            found = [v for v in found if self.low * 0.999 <= v <= self.high * 1.001]
            if len(found) <= most + 1:
                return found
        return found[:: -(-len(found) // most)]


@dataclass
class Chart:
    """A frame with axes, onto which marks are put."""

    x: Pair
    y: Pair
    label: str  # what the chart says, for those who do not see it
    x_label: str = ""
    y_label: str = ""
    width: int = 400
    height: int = 250
    log_x: bool = False
    square: bool = False
    marks: list[Html] = field(default_factory=list)

    def __post_init__(self) -> None:
        left, right, top, bottom = 56, 12, 10, 40
        if self.square:
            self.height = self.width - left - right + top + bottom
        self.to_x = Scale(*self.x, left, self.width - right, self.log_x)
        self.to_y = Scale(*self.y, self.height - bottom, top)

    def add(self, name: str, *children: Any, **attributes: Any) -> None:
        """An element in the chart's own coordinates."""
        self.marks.append(h(name, *children, **attributes))

    def line(self, points: list[Pair], class_: str = "line", said: str | None = None) -> None:
        """A line through values."""
        d = "M" + "L".join(f"{self.to_x(x):.1f} {self.to_y(y):.1f}" for x, y in points)
        self.add("path", *([h("title", said)] if said else []), d=d, class_=class_)

    def dot(self, x: float, y: float, radius: float, class_: str, said: str | None = None) -> None:
        """A point at values."""
        inside = [h("title", said)] if said else []
        place = {"cx": f"{self.to_x(x):.1f}", "cy": f"{self.to_y(y):.1f}"}
        self.add("circle", *inside, **place, r=radius, class_=class_)

    def render(self, *, axes: bool = True) -> Html:
        """The whole, with axes behind the marks."""
        inside = [h("title", self.label), *(self._axes() if axes else []), *self.marks]
        box = f"0 0 {self.width} {self.height}"
        return h("svg", inside, viewBox=box, role="img", aria_label=self.label, class_="chart")

    def _axes(self) -> list[Html]:
        x0, x1, y0, y1 = self.to_x.start, self.to_x.end, self.to_y.start, self.to_y.end
        drawn = []
        for value in self.to_y.ticks(5):
            y = f"{self.to_y(value):.1f}"
            drawn.append(h("line", x1=x0, x2=x1, y1=y, y2=y, class_="grid"))
            place = {"x": x0 - 6, "y": f"{self.to_y(value) + 4:.1f}"}
            drawn.append(h("text", f"{value:g}", **place, text_anchor="end"))
        for value in self.to_x.ticks(5):
            x = f"{self.to_x(value):.1f}"
            drawn.append(h("line", x1=x, x2=x, y1=y0, y2=y0 + 4, class_="axis"))
            drawn.append(h("text", f"{value:g}", x=x, y=y0 + 17, text_anchor="middle"))
        drawn.append(h("line", x1=x0, x2=x1, y1=y0, y2=y0, class_="axis"))
        drawn.append(h("text", self.x_label, x=(x0 + x1) / 2, y=y0 + 34, text_anchor="middle", class_="name"))
        turned = f"translate(10 {(y0 + y1) / 2:.0f}) rotate(-90)"
        drawn.append(h("text", self.y_label, transform=turned, text_anchor="middle", class_="name"))
        return drawn


def padded(values: list[float], share: float = 0.06, *, within: Pair | None = None) -> Pair:
    """The ends of an axis: those of the values and a little more, not beyond what is possible."""
    low, high = min(values), max(values)
    pad = share * (high - low) or 0.02 * (abs(high) or 1.0)
    low, high = low - pad, high + pad
    return (low, high) if within is None else (max(low, within[0]), min(high, within[1]))
