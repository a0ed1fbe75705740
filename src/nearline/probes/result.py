"""Probed: the figures of a probe with all that they depend on; as a table, as JSON."""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from nearline._records.words import many
from nearline.probes._part import TRAINING, plain
from nearline.probes.protocols import Protocol
from nearline.selection.cells import table
from nearline.selection.intervals import Interval

ON_TEST = "found on the test rows"


@dataclass(frozen=True)
class Line:
    """One setting of one probe: its share of test rows that are right, of every repeat."""

    probe: str
    shots: int | None  # training rows of each class; None: all
    settings: tuple[dict[str, Any], ...]  # one, or one for each repeat where it was chosen
    accuracies: tuple[float, ...]  # one for each repeat
    chosen_on: str
    inside: tuple[float, ...] = ()  # accuracies on training rows that the settings were chosen by
    interval: Interval | None = None  # where there is one repeat
    headline: bool = True  # whether tables show it

    @property
    def accuracy(self) -> float:
        """Mean over the repeats."""
        return float(np.mean(self.accuracies))

    @property
    def deviation(self) -> float | None:
        """Standard deviation over the repeats: how much the drawn training rows matter."""
        return float(np.std(self.accuracies, ddof=1)) if len(self.accuracies) > 1 else None

    @property
    def setting(self) -> str:
        """The setting in words; the range of settings that differ between repeats."""
        return ", ".join(_range(name, [one[name] for one in self.settings]) for name in self.settings[0])

    def record(self) -> dict[str, Any]:
        """As JSON has it."""
        interval = None if self.interval is None else asdict(self.interval)
        return {
            "probe": self.probe,
            "shots": self.shots,
            "settings": [{name: plain(value) for name, value in one.items()} for one in self.settings],
            "chosen_on": self.chosen_on,
            "accuracy": self.accuracy,
            "deviation": self.deviation,
            "accuracies": list(self.accuracies),
            "accuracy_inside_training": list(self.inside),
            "interval": interval,
        }


@dataclass(frozen=True)
class Probed:
    """What :func:`nearline.probe` found. ``print`` shows a table; ``to_json`` has everything."""

    protocol: Protocol
    lines: tuple[Line, ...]
    facts: dict[str, Any]  # sizes, random state, version, fingerprints of the data
    notes: tuple[str, ...] = ()

    @property
    def hash(self) -> str:
        """Of protocol, shots, repeats, random state, data and version of nearline: equal hashes, equal figures."""
        return hashlib.sha256(json.dumps(self._decided(), sort_keys=True).encode()).hexdigest()

    def _decided(self) -> dict[str, Any]:
        return {"protocol": self.protocol.record(), **self.facts}

    @property
    def best(self) -> Line:
        """The line with the largest accuracy. Where there are several it was found on the test rows, and is no estimate."""
        return max(self.lines, key=lambda line: line.accuracy)

    @property
    def chosen(self) -> Line | None:
        """The line that training rows alone chose; None where the protocol compares on the test rows only."""
        inside = [line for line in self.lines if line.chosen_on == TRAINING]
        return max(inside, key=lambda line: float(np.mean(line.inside))) if inside else None

    def records(self) -> list[dict[str, Any]]:
        """The lines, for a table."""
        return [line.record() for line in self.lines]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON has it."""
        protocol = self.protocol.record() | {
            "source": self.protocol.source,
            "left_open": list(self.protocol.left_open),
            "misleads": self.protocol.misleads,
            "published_figures_tuned_on_test": self.protocol.tuned_on_test,
        }
        chosen = None if self.chosen is None else self.lines.index(self.chosen)
        return {
            "hash": self.hash,
            "protocol": protocol,
            **self.facts,
            "lines": self.records(),
            "chosen": chosen,
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """Everything, as text."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    def __str__(self) -> str:
        f = self.facts
        head = (
            f"protocol {self.protocol.name}/{self.protocol.version} ({self.protocol.source})\n"
            f"{many(f['training_rows'], 'training row')}, {many(f['test_rows'], 'test row')}, "
            f"{many(f['features'], 'feature')}, {many(f['classes'], 'class', 'classes')}; hash {self.hash[:16]}\n"
        )
        cells = [_cells(line) for line in self.lines if line.headline]
        used = [j for j, column in enumerate(zip(*cells)) if any(column)]
        names = ["probe", "rows a class", "setting", "accuracy", "", "setting chosen on"]
        rows = [[names[j] for j in used], *([row[j] for j in used] for row in cells)]
        return "\n".join([head, *table(rows), *self._said()])

    def _said(self) -> list[str]:
        said = [""]
        for shots in dict.fromkeys(line.shots for line in self.lines):
            same = [line for line in self.lines if line.shots == shots and line.chosen_on != TRAINING]
            if len(same) > 1:
                best = max(same, key=lambda line: line.accuracy)
                rows = "" if shots is None else f" with {many(shots, 'row')} a class"
                said.append(
                    f"best of {len(same)} settings{rows}: {best.setting}, {best.accuracy:.4f}, {ON_TEST} and so no estimate"
                )
        if self.protocol.misleads:
            said.append(f"when it misleads: {self.protocol.misleads}")
        return [*said, *(f"note: {note}" for note in self.notes)]


def _cells(line: Line) -> list[str]:
    if line.deviation is not None:
        spread = f"± {line.deviation:.4f} over {many(len(line.accuracies), 'draw')}"
    else:
        spread = "" if line.interval is None else line.interval.bounds()
    shots = "" if line.shots is None else str(line.shots)
    chosen = line.chosen_on if line.chosen_on == TRAINING else ""
    return [line.probe, shots, line.setting, f"{line.accuracy:.4f}", spread, chosen]


def _range(name: str, values: list[Any]) -> str:
    low, high = min(values), max(values)
    return f"{name} = {low:.4g}" if low == high else f"{name} = {low:.4g} to {high:.4g}"
