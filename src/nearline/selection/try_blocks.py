"""TryThemAll on rows in blocks: what it takes, and what it becomes."""

from operator import add
from typing import Any

import numpy as np

from nearline._arrays.doors import Door
from nearline.estimators.blocked import labelled
from nearline.selection.block_rows import ClassCounts, OfSample, OfTest, Rows, stacked
from nearline.selection.choice import check_any, chosen_of
from nearline.selection.hashed import Parts
from nearline.selection.input import check_options, labeled_rows
from nearline.selection.locked_test import Holdout, LockedTest, as_holdout
from nearline.selection.over_blocks import MOST_TEST, SAMPLE, BlockedContest, candidates, sample_rows
from nearline.selection.progress import as_progress
from nearline.selection.remarks import leaks, warn_of
from nearline.selection.scoring import as_scorers, scorers_for
from nearline.selection.splits import Division, Split, as_split


def fit_blocks(contest: Any, door: Door, X: Any, y: Any, groups: Any, sample_weight: Any) -> None:
    """The contest of ``TryThemAll`` over rows in blocks: see :mod:`nearline.selection.over_blocks`."""
    check_options(contest)
    split, holdout = as_split(contest.split, contest.folds), as_holdout(contest.test)
    _refuse(contest, split, holdout, groups)
    as_scorers(contest.scoring)
    contest.__dict__.pop("model_", None)
    blocks = labelled(contest, door, X, y, sample_weight, contest.class_weight, dtypes=None)
    share = 0.0 if holdout is None else min(float(holdout.rows), MOST_TEST / blocks.n_rows)
    parts = Parts(share, int(split.folds), contest.random_state)
    sample = Rows.of(blocks, OfSample(parts, SAMPLE / (blocks.n_rows * (1.0 - share))))
    test = None if holdout is None else Rows.of(blocks, OfTest(parts))
    _keep_rows(contest, sample, test, holdout, blocks.n_rows)
    rows = sample_rows(sample, parts, contest.classes_)
    contest._scorers, contest.positive_ = scorers_for(
        contest.scoring, contest.classes_, sample.codes, contest.pos_label
    )
    contest._folds = rows.folds
    part = contest._rows.some(contest._train)
    contest.findings_ = leaks(contest, rows, part, contest._locked, sample.numbers)
    contest._training_counts = blocks.total(ClassCounts(parts, len(contest.classes_)), add)
    warn_of(contest.findings_)
    _hold(contest, BlockedContest(
        blocks, sample, parts, contest.classes_, contest._scorers, as_progress(contest.progress)
    ), rows.X)  # fmt: skip


def _hold(contest: Any, trial: BlockedContest, X: Any) -> None:
    """The candidates on the folds, then the winner on the training part."""
    found = candidates(X, contest.preset)
    contest._representations = {one.name: one for one in found}
    families = {family.name: family for family in contest._families()}
    contest.leaderboard_ = trial.run(list(families.values()), found, contest.preset)
    contest.interrupted_ = False
    check_any(contest.leaderboard_, None)
    contest.best_, chosen = contest.leaderboard_.best, chosen_of(contest.leaderboard_, contest.choose)
    contest.chosen_ = chosen
    representation = contest._representations[chosen.representation]
    contest.model_, rows = trial.last_fit(families[chosen.family], representation, chosen.parameters)
    if rows is not None:  # it holds its rows, so that they are those to show
        test = None if contest._locked is None else trial.test_rows()
        _keep_rows(contest, rows, test, as_holdout(contest.test), trial.blocks.n_rows)


def _refuse(contest: Any, split: Split, holdout: Holdout | None, groups: Any) -> None:
    """What takes rows at hand."""
    share = holdout is None or (not holdout.own and 0 < float(holdout.rows) < 1)
    refused = {
        "groups": groups is not None,
        f"split={split.by!r}": split.by not in ("auto", "stratified"),
        f"folds={split.folds!r}": not isinstance(split.folds, (int, np.integer)),
        "test, unless it is a share of the rows or None": not share,
        "refit='all'": holdout is not None and holdout.refit == "all",
        "nested=True": split.nested,
        "time_limit": contest.time_limit is not None,
        "journal": contest.journal is not None,
        "features": contest.features is not None,
        f"beside={contest.beside!r}": contest.beside not in (None, "auto"),
        "costs": contest.costs is not None,
        f"threshold={contest.threshold!r}": contest.threshold not in (None, "auto"),
        f"calibrate={contest.calibrate!r}": contest.calibrate not in (None, "needed"),
    }
    for what, wanted in refused.items():
        if wanted:
            raise ValueError(
                f"TryThemAll over rows in blocks does not take {what}: rows are left out by their hashed numbers. Leave it "
                "out, or give X.compute(), if memory holds it."
            )


def _keep_rows(contest: Any, sample: Rows, test: Rows | None, holdout: Holdout | None, n_rows: int) -> None:
    """The sample and the test rows in place of all rows."""
    parts = [sample] if test is None else [sample, test]
    names = getattr(contest, "feature_names_in_", None)
    labels = contest.classes_[np.concatenate([part.codes for part in parts])]
    contest._rows = labeled_rows(contest, stacked([part.X for part in parts]), labels, None, None)
    if names is not None:
        contest.feature_names_in_ = names
    contest._division = Division("stratified", contest.random_state)
    contest._train, contest._locked = np.arange(len(sample.codes)), None
    contest._numbers = np.concatenate([part.numbers for part in parts])
    if test is None or holdout is None:
        return
    if not len(test.codes):
        raise ValueError(f"No row was drawn for the test: there are too few for test={contest.test!r}.")
    own = contest._rows.some(np.arange(len(sample.codes), len(labels)))
    before = vars(contest).get("_last_locked")
    locked = LockedTest(holdout, own, test.numbers, n_training=n_rows - len(test.codes))
    if before is not None and before.key == locked.key:
        locked.counted = before.counted
    contest._locked = contest._last_locked = locked
