"""Reasons as a sentence, as lines, as JSON."""

from collections.abc import Callable
from typing import Any

import numpy as np

from nearline._records.visible import visible
from nearline._records.words import many
from nearline.explain.reasons import Reason, Share

SHOWN = 10  # neighbors, columns or words
STRONGEST, NEAREST = 3, 5  # of them in a sentence


def sentence(reason: Reason, classes: list[Any], place: Callable[[int], int]) -> str:
    """A reason in a line. ``place``: what a training row is called."""
    if reason.said:
        return reason.said
    if reason.neighbors:
        near = reason.neighbors[:NEAREST]
        return "near " + ", ".join(f"row {place(one['index'])} ({one['label']})" for one in near)
    shares = reason.strongest(classes)[:STRONGEST]
    return "; ".join(f"{_named(s)} ({reason.margin(s, classes):+.2f})" for s in shares)


def lines(reason: Reason, classes: list[Any], neighbor: Callable[[int], tuple[str, str | None]]) -> list[str]:
    """A reason in lines. ``neighbor``: what a training row is called, and what it looks like if that is known."""
    if reason.said:
        return [f"  {reason.said}"]
    rule = [] if reason.rule is None else [f"  {visible(reason.rule)}"]
    return rule + (_neighbors(reason, neighbor) if reason.neighbors else _sums(reason, classes))


def _sums(reason: Reason, classes: list[Any]) -> list[str]:
    shares = reason.strongest(classes)
    lead = sum(reason.margin(share, classes) for share in shares)
    bias = 0.0 if reason.bias is None else reason.lead(reason.bias, classes)
    called = [visible(_named(share)) for share in shares[:SHOWN]]
    width = max(map(len, called), default=4)
    rows = [f"  {name:<{width}}  {reason.margin(s, classes):+.3f}" for name, s in zip(called, shares)]
    rest = sum(reason.margin(share, classes) for share in shares[SHOWN:])
    if len(shares) > SHOWN:
        rows.append(f"  {many(len(shares) - SHOWN, 'other'):<{width}}  {rest:+.3f}")
    rows.append(f"  {'bias':<{width}}  {bias:+.3f}")
    over = f"score of {visible(reason.label)} above that of {visible(reason.other)}"
    return [f"  {over}: {lead + bias:+.3f}, of which", *rows]


def _neighbors(reason: Reason, neighbor: Callable[[int], tuple[str, str | None]]) -> list[str]:
    found = [f"  {many(len(reason.neighbors), 'nearest training row')}:"]
    for one in reason.neighbors[:SHOWN]:
        name, look = neighbor(one["index"])
        found.append(
            f"  {name:>10}  {visible(one['label'])}  distance {one['distance']:.4g}  vote {one['vote']:.3g}"
        )
        found += [f"              {visible(look)}"] if look else []
    if len(reason.neighbors) > SHOWN:
        found.append(f"  and {len(reason.neighbors) - SHOWN:,} more")
    return found


def facts(
    reason: Reason, classes: list[Any], neighbor: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """A reason as JSON. ``neighbor``: what is known of a neighbor."""
    if reason.said:
        return {"said": reason.said}
    rule = {} if reason.rule is None else {"rule": reason.rule}
    if reason.neighbors:
        return rule | {"neighbors": [neighbor(one) for one in reason.neighbors]}
    names = list(map(str, classes))
    bias = [] if reason.bias is None else np.asarray(reason.bias).tolist()
    return rule | {
        "other": reason.other,
        "bias": dict(zip(names, bias)),
        "shares": [
            {"name": s.name, "value": s.value, "by_class": dict(zip(names, s.by_class.tolist()))}
            for s in reason.strongest(classes)
        ],
    }


def _named(share: Share) -> str:
    return share.name if share.value is None else f"{share.name} = {share.value}"
