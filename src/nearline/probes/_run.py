"""probe: embeddings, a protocol, figures."""

from collections.abc import Iterator
from typing import Any

import numpy as np

import nearline
from nearline._records.words import many, worded
from nearline.probes._case import Case, as_case
from nearline.probes._part import TRAINING, Answer, Part
from nearline.probes.protocols import Protocol, as_protocol
from nearline.probes.result import Line, Probed
from nearline.selection.fingerprints import fingerprint
from nearline.selection.intervals import accuracy_interval


def probe(
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    protocol: Any = "honest",
    *,
    shots: Any = None,
    repeats: int | None = None,
    random_state: int = 0,
) -> Probed:
    """How much of the labels embeddings tell, by a published protocol: votes of neighbors, linear models, few rows a class.

    Parameters
    ----------
    X, y : training embeddings (n, D) and labels. An array that is mapped from disk stays there; float32 stays float32.
    X_test, y_test : the same for the test rows.
    protocol : a name of :data:`PROTOCOLS` ("dino", "dinov2", "clip", "lightly", "simsiam", "mteb", "big_vision", "honest"),
        "name/version", or a :class:`Protocol`.
    shots : training rows of each class to draw, one number or several; None: as the protocol has it; 0: all rows.
    repeats : draws for each number of shots; None: as the protocol has it.
    random_state : decides draws, held-out rows and folds.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from nearline import probe
    >>> X, y = load_digits(return_X_y=True)
    >>> found = probe(X[:1000], y[:1000], X[1000:], y[1000:], "dino")
    >>> [(line.setting, round(line.accuracy, 3)) for line in found.lines[:2]]
    [('k = 10, T = 0.07', 0.961), ('k = 20, T = 0.07', 0.956)]
    """
    chosen = as_protocol(protocol)
    counts = _shots(chosen, shots)
    draws = _repeats(chosen, repeats, counts)
    directions = any(part.by_direction for part in chosen.parts)
    case, notes = as_case(X, y, X_test, y_test, random_state, directions=directions)
    lines = []
    for count in counts:
        cases = [case] if count is None else [case.few(count, repeat) for repeat in range(draws)]
        notes += _few(case, count)
        for part in chosen.parts:
            notes += [note for note in part.notes(cases[0]) if note not in notes]
            lines += _lines(part, cases, count)
    return Probed(chosen, tuple(lines), _facts(case, counts, draws), tuple(notes))


def _lines(part: Part, cases: list[Case], shots: int | None) -> list[Line]:
    """A line for each setting; settings that each repeat chose for itself are one line."""
    by_case = [list(_scored(part, case)) for case in cases]
    lines = []
    for same in zip(*by_case, strict=True):
        answers = [answer for answer, _ in same]
        rights = [right for _, right in same]
        first = answers[0]
        settings = tuple(
            answer.setting for answer in (answers if first.chosen_on == TRAINING else answers[:1])
        )
        inside = tuple(answer.inside for answer in answers if answer.inside is not None)
        interval = accuracy_interval(rights[0]) if len(cases) == 1 else None
        accuracies = tuple(float(right.mean()) for right in rights)
        lines.append(
            Line(first.probe, shots, settings, accuracies, first.chosen_on, inside, interval, first.headline)
        )
    return lines


def _scored(part: Part, case: Case) -> Iterator[tuple[Answer, Any]]:
    for answer in part.answers(case):
        yield answer, answer.labels == case.truth


def _facts(case: Case, counts: list[int | None], draws: int) -> dict[str, Any]:
    return {
        "shots": counts,
        "repeats": draws,
        "random_state": case.random_state,
        "training_rows": len(case.X),
        "test_rows": len(case.Q),
        "features": case.X.shape[1],
        "classes": case.n_classes,
        "training_data": fingerprint(case.X, case.classes[case.codes]),
        "test_data": fingerprint(case.Q, case.truth),
        "nearline": nearline.__version__,
    }


def _few(case: Case, count: int | None) -> list[str]:
    if count is None:
        return []
    short = int((np.bincount(case.codes, minlength=case.n_classes) < count).sum())
    if not short:
        return []
    return [f"{many(short, 'class', 'classes')} with fewer than {count} training rows: all of them are taken"]


def _shots(protocol: Protocol, shots: Any) -> list[int | None]:
    if shots is None:
        return list(protocol.shots) or [None]
    counts = [shots] if np.ndim(shots) == 0 else list(shots)
    whole = all(
        isinstance(one, (int, np.integer)) and one >= 0 and not isinstance(one, bool) for one in counts
    )
    if not counts or not whole:
        raise ValueError(
            f"{worded('shots', '--shots')} must be whole numbers of training rows a class, or 0 for all rows, got {shots!r}."
        )
    return [int(one) or None for one in counts]


def _repeats(protocol: Protocol, repeats: int | None, counts: list[int | None]) -> int:
    if repeats is None:
        return protocol.repeats if any(counts) else 1
    if isinstance(repeats, bool) or not isinstance(repeats, (int, np.integer)) or repeats < 1:
        raise ValueError(f"{worded('repeats', '--repeats')} must be a whole number >= 1, got {repeats!r}.")
    if repeats > 1 and not any(counts):
        raise ValueError(
            f"{worded('repeats', '--repeats')} = {repeats} of all training rows would be the same each time: give "
            f"{worded('shots', '--shots')} too, or no repeats."
        )
    return int(repeats)
