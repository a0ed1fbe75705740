"""Ensembling: candidates of a contest averaged, with weights chosen greedily on rows that they had not seen.

The selection with replacement of Caruana, Niculescu-Mizil, Crew and Ksikes, "Ensemble selection from libraries of models"
(2004). The row of the leaderboard is scored by a selection inside the folds: weights are chosen on the other folds and judged
on this one, so that no row has a say in the weights by which it is judged. Candidates without probabilities take part with
their scores, which a temperature makes into probabilities; it is fitted to the rows by which the weights are chosen.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nearline._arrays.design import Array
from nearline._parallel.stopping import OutOfTime, checkpoint, heeding
from nearline._records.words import many
from nearline.predictions import Predictions
from nearline.representations.raw import AsTheyCame
from nearline.selection.cross_fitting import gives_probabilities
from nearline.selection.deciding import without_class_weight
from nearline.selection.ensemble import Ensemble
from nearline.selection.families import Family, Fold, Outcome
from nearline.selection.greedy import Choice, greedy, means, temperatures_of, tempered
from nearline.selection.leaderboard import Entry, Leaderboard, Member
from nearline.selection.measures import log_loss
from nearline.selection.scoring import of_labels
from nearline.selection.unit import Unit

if TYPE_CHECKING:
    from nearline.selection.contest import Contest

NAME = "ensemble"
EACH = 2  # candidates of a family on a representation that may be chosen from
MOST = 20  # candidates that may be chosen from
BLOCKS = 10  # of many folds: so many selections are made
JUDGED_CELLS = 100_000  # rows times classes on which weights are chosen, drawn if there are more
BYTES = 256e6  # of probabilities of rows left out: of a family on a representation, and of all that may be chosen from


@dataclass(frozen=True)
class Blend(Family):
    """The ensemble, as a leaderboard knows families."""

    def grid(self, fold: Fold, preset: str) -> list[dict[str, Any]]:
        return []

    def estimator(self, parameters: dict[str, Any]) -> Any:
        return Ensemble([], [], [])


def kept_of(unit: Unit, sign: float) -> list[int]:
    """The candidates of a unit that an ensemble may be chosen from, the best first."""
    means = {number: sign * float(unit.scores[0, number].mean()) for number in unit.finished()}
    known = [number for number, mean in means.items() if not np.isnan(mean)]
    return sorted(known, key=lambda number: -means[number])[:EACH]


def may_keep(unit: Unit, n_classes: int) -> bool:
    """Whether a unit's probabilities of rows left out fit into the budget and mean something."""
    rows = sum(len(test) for test in unit.tests)
    return not unit.family.trivial and 4.0 * len(unit.grid) * rows * n_classes <= BYTES


@dataclass(frozen=True)
class Pool:
    """Candidates that an ensemble may be chosen from, by what they said of rows left out."""

    units: list[tuple[Unit, int]]
    entries: list[Entry]
    folds: list[Array]  # (M, rows left out, C) of each fold
    scored: list[bool]  # those that have scores only
    lacking: list[
        str
    ]  # families with neither probabilities nor scores of each class, or without the score that decides


def ensembled(contest: "Contest", board: Leaderboard) -> Leaderboard:
    """The leaderboard with the ensemble as a further candidate, or with the reason why there is none."""
    try:
        with heeding(contest.rules.budget.candidates):
            found = _ensembled(contest, board)
    except OutOfTime:
        found = "the time limit left no time for it"
    except MemoryError:
        found = "memory does not suffice"
    if isinstance(found, str):
        return replace(board, together=f"no ensemble: {found}.")
    entry, lacking = found
    seconds = sum(contest.to_fit[id(one.entry)] for one in entry.members)
    contest.to_fit[id(entry)] = seconds
    return replace(board, entries=[*board.entries, entry], together=_said(entry, lacking))


def _ensembled(contest: "Contest", board: Leaderboard) -> tuple[Entry, list[str]] | str:
    pool = _pool(contest, board)
    if isinstance(pool, str):
        return pool
    choices = _choices_by_fold(contest, pool)
    every = _chosen(contest, pool, list(range(len(pool.folds))), None)
    members = [
        Member(entry, float(count / every.counts.sum()), temperature)
        for entry, count, temperature in zip(pool.entries, every.counts, every.temperatures, strict=True)
        if count
    ]
    if len(members) < 2:
        return f"{members[0].entry} alone is as good as any mean of several"
    size = sum(one.entry.size or 0 for one in members)
    if size > contest.rules.memory_left:
        return f"its models need {size / 1e9:.1f} GB of memory"
    return _entry(contest, pool, choices, members), pool.lacking


def _pool(contest: "Contest", board: Leaderboard) -> Pool | str:
    """The best of each family and the best of all, as many as the budget of memory allows."""
    rules, rows = contest.rules, contest.rows
    ranked = list[tuple[Unit, int, float]]()
    sign = rules.scorers[0].sign
    units = [unit for unit in contest.units if unit.finished() and may_keep(unit, len(rows.classes))]
    for unit in units:
        ranked += [(unit, n, sign * float(unit.scores[0, n].mean())) for n in kept_of(unit, sign)]
    ranked.sort(key=lambda one: -one[2])
    each = 4.0 * sum(len(test) for _, test in rows.folds) * len(rows.classes)
    taken = _best_of_families_first(ranked)[: min(MOST, int(BYTES // each))]
    if len(taken) < 2:
        return "fewer than two candidates with probabilities, or too many rows"
    folds = [
        _complete(contest, taken, f) for f in range(len(rows.folds))
    ]  # what a journal knew is computed again
    sound = np.logical_and.reduce([np.isfinite(said).all(axis=(1, 2)) for said in folds])
    if sound.sum() < 2:
        return "fewer than two candidates with finite probabilities or scores"
    kept = [one[:2] for one, good in zip(taken, sound, strict=True) if good]
    known = {(one.family, one.representation, repr(one.parameters)): one for one in board}
    entries = [known[u.family.name, u.representation.name, repr(u.grid[n])] for u, n in kept]
    scored = [_has_scores_only(unit) for unit, _ in kept]
    ranked_ones = {unit.family.name for unit, _, _ in ranked}
    unheard = {u.family.name for u, _, _ in taken} - {u.family.name for u, _ in kept}
    names = [unit.family.name for unit in units]
    lacking = [name for name in dict.fromkeys(names) if name not in ranked_ones or name in unheard]
    return Pool(kept, entries, [said[sound] for said in folds], scored, lacking)


def _has_scores_only(unit: Unit) -> bool:
    return not gives_probabilities(unit.family.estimator(without_class_weight(unit.grid[0])))


def _best_of_families_first(ranked: list[tuple[Unit, int, float]]) -> list[tuple[Unit, int, float]]:
    first: dict[str, tuple[Unit, int, float]] = {}
    for one in ranked:
        first.setdefault(one[0].family.name, one)
    taken = {(id(unit), number) for unit, number, _ in first.values()}
    return [*first.values(), *(one for one in ranked if (id(one[0]), one[1]) not in taken)]


def _complete(contest: "Contest", taken: list[tuple[Unit, int, float]], f: int) -> Array:
    """(M, rows, C) of a fold; where a journal knew a candidate it is run again, to the same bits."""
    found = []
    for unit, number, _ in taken:
        if number not in unit.opinions[f]:
            checkpoint()
            contest.runner.remember(unit, f, [n for u, n, _ in taken if u is unit])
        found.append(unit.opinions[f][number])
    return np.stack(found)


def _choices_by_fold(contest: "Contest", pool: Pool) -> list[Choice]:
    """Weights and temperatures for each fold, chosen on the others; of many folds, for a block of them at a time."""
    n_folds = len(pool.folds)
    block = np.arange(n_folds) if n_folds <= BLOCKS else np.arange(n_folds) % BLOCKS
    tests = [test for _, test in contest.rows.folds]
    found: dict[int, Choice] = {}
    for b in dict.fromkeys(block.tolist()):
        judged = np.concatenate([tests[f] for f in np.flatnonzero(block == b)])
        others = np.flatnonzero(block != b).tolist()
        found[b] = _chosen(contest, pool, others, judged)
    return [found[b] for b in block.tolist()]


def _chosen(contest: "Contest", pool: Pool, folds: list[int], without: Array | None) -> Choice:
    """How often each candidate is taken, by what they said of the rows of some folds."""
    rows, rules = contest.rows, contest.rules
    numbers = np.concatenate([rows.folds[f][1] for f in folds])
    said = np.concatenate([pool.folds[f] for f in folds], axis=1)
    use = np.arange(len(numbers)) if without is None else np.flatnonzero(~np.isin(numbers, without))
    most = max(1, JUDGED_CELLS // said.shape[2])
    if len(use) > most:
        use = np.sort(np.random.default_rng(0).permutation(use)[:most])
    if not len(use):  # each fold leaves out all rows: there is nothing to choose by
        return Choice(np.ones(len(said)), [1.0 if alone else None for alone in pool.scored])
    codes, weights = rows.codes[numbers[use]], None
    if rows.weights is not None and rows.weights[numbers[use]].sum() > 0:
        weights = rows.weights[numbers[use]]
    said = said[:, use]
    temperatures = temperatures_of(said, pool.scored, codes, weights)

    def loss(P: Array) -> float:
        return log_loss(means(P), codes, rows.classes, weights)

    scorer = rules.scorers[0]
    by_loss = rules.deciding.tune and of_labels(scorer)  # a threshold makes its labels afterwards

    def judge(P: Array) -> float:
        if by_loss:
            return -loss(P)
        score = scorer.sign * float(scorer(rules.deciding.decided(means(P)), codes, rows.classes, weights))
        return -np.inf if np.isnan(score) else score

    return Choice(greedy(tempered(said, temperatures), judge, loss), temperatures)


def _entry(contest: "Contest", pool: Pool, choices: list[Choice], members: list[Member]) -> Entry:
    """The ensemble as a candidate, scored as all others are."""
    rows, rules = contest.rows, contest.rules
    unit = Unit(Blend(NAME), AsTheyCame(), 0.0, 0.0, rules.scorers, [test for _, test in rows.folds])
    unit.grow([{"models": len(members)}])
    sizes = [one.entry.size for one in members]
    size = None if None in sizes else sum(one for one in sizes if one is not None)
    fitting = sum(one.entry.fit_seconds for one in members)
    predicting = sum(one.entry.predict_seconds for one in members)
    for f, (said, choice) in enumerate(zip(pool.folds, choices, strict=True)):
        together = means(choice.mean(said))
        unit.take(f, 0, contest.runner.scored(f, Outcome(0, together, fitting, predicting, size)))
    rules.deciding.settle(unit, 0, rows, rules.scorers)
    return replace(unit.entry(0), members=tuple(members))


def _said(entry: Entry, lacking: list[str]) -> str:
    parts = sorted(entry.members, key=lambda one: -one.weight)
    text = "; ".join(f"{one.weight:.2f} {one.entry} on {one.entry.representation}" for one in parts)
    scored = dict.fromkeys(one.entry.family for one in parts if one.temperature is not None)
    made = (
        f" Scores of {', '.join(scored)} were made into probabilities by a temperature, fitted to the same rows."
        if scored
        else ""
    )
    left = (
        f" Without probabilities or without the score that decides, and so left out: {', '.join(lacking)}."
        if lacking
        else ""
    )
    return (
        f"ensemble: the mean probabilities of {many(len(parts), 'candidate')}, {text}; each fold is judged with weights that "
        f"were chosen on the other folds.{made}{left}"
    )


def kept_opinion(predictions: Predictions) -> Array:
    """(n, C) in float32: probabilities, or scores for lack of them; NaN where a model has neither, or fails to give them."""
    try:
        said = predictions.probabilities()
    except OutOfTime:
        raise
    except Exception:  # a user's own estimator may raise anything; it is left out
        said = None
    else:
        said = predictions.scores if predictions.make_probabilities is None else said
    shape = len(predictions.labels), predictions.n_classes
    if said is not None and said.ndim == 1 and predictions.n_classes == 2:
        said = np.column_stack([np.zeros(len(said)), said])
    if said is None or said.shape != shape:
        return np.full(shape, np.nan, np.float32)
    with np.errstate(over="ignore"):  # what is infinite is left out
        return np.asarray(said, dtype=np.float32)
