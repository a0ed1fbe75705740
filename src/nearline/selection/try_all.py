"""TryThemAll: every family on the user's data, chosen on folds, tested once."""

import warnings
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from nearline._arrays.doors import door_of
from nearline._parallel.stopping import Deadline, OutOfTime, heeding
from nearline._records.habits import TranslatesHabits
from nearline._records.parameters import HoldsParametrized
from nearline.estimators.base import encoded
from nearline.representations import Representation, representations
from nearline.representations.raw import AsTheyCame
from nearline.selection.account import Account
from nearline.selection.budget import GRACE, Budget
from nearline.selection.by_model import PredictsByModel
from nearline.selection.calibration import CalibratedClassifier
from nearline.selection.chain import Chain
from nearline.selection.checks import Finding
from nearline.selection.choice import check_any, chosen_of
from nearline.selection.contest import Contest
from nearline.selection.deciding import deciding_of
from nearline.selection.ensemble import Ensemble
from nearline.selection.families import families
from nearline.selection.final_fit import FinalFit
from nearline.selection.fold_data import TrainingRows
from nearline.selection.input import beside_of, check_options, labeled_rows
from nearline.selection.journal import journal_of
from nearline.selection.last_fit import Finish
from nearline.selection.leaderboard import Entry, Leaderboard
from nearline.selection.locked_test import Holdout, Winner, as_holdout, lock
from nearline.selection.nested import nested_scores
from nearline.selection.openings import check_record
from nearline.selection.outside import LEAST, outside_reference
from nearline.selection.parts import DividesRows
from nearline.selection.progress import as_progress
from nearline.selection.remarks import TRIVIAL, grid_ends, leaks, misled, no_better, warn_of
from nearline.selection.rows import LabeledRows
from nearline.selection.running import Rules
from nearline.selection.scoring import as_scorers, scorers_for
from nearline.selection.splits import as_split, division
from nearline.selection.test_result import TestResult
from nearline.selection.trivial import chosen_against_trivial

NAMES = "representation__asnumbers__columns"  # where a chain keeps the names of a table of numbers


class InterruptedFitWarning(UserWarning):
    """The contest was interrupted, and the chosen candidate was not fitted."""


class TryThemAll(
    TranslatesHabits, PredictsByModel, DividesRows, HoldsParametrized, ClassifierMixin, BaseEstimator
):
    """Try every model family, metric, k, loss, penalty and strength on your data, and say honestly how good the best is.

    The test rows are split off first and locked; candidates are compared on folds of the rest, with everything that is
    fitted (scaling, words, categories) fitted inside each fold; the winner is fitted on the training part and scored on
    the test rows by :meth:`open_test`.

    Parameters
    ----------
    preset : "quick", "default" or "thorough": how many families, representations and parameters.
    include, exclude : names of families or of own classifiers, or parts of names ("k-NN", "logistic").
    features : what rows are represented by, in place of the preset's choice (of images of bytes: HOG with color histograms
        beside pixels, but in "quick"): names with commas or in a list ("pixels",
        "histogram", "hog", "convnet" of images; "words", "word-vectors" of texts; "standardized" of numbers), paths of ONNX
        files, or extractors of :mod:`nearline.representations.features`.
    own : {name: estimator}, classifiers of your own that join the contest, whatever include says of families; if it names
        own ones, these alone. A pipeline gets the rows as they came, a frame with its columns; others get numbers.
    scoring : what decides: a name of :data:`SCORERS` ("accuracy", "auc", "f1", "log-loss", ...), a name or scorer of
        scikit-learn, or a function (estimator, X, y); of several the first decides.
    pos_label : the positive one of two classes, which precision, recall, F1 and average precision are about; None: 1 or
        True among {0, 1}, {-1, 1} and booleans, else the rarer class of the training part.
    folds : a number (5 if nothing else is said), "leave-one-out", a scikit-learn splitter, fold numbers, or a list of pairs
        of row numbers.
    split : "auto" (by group where groups are given, else stratified), "stratified", "group", "time", or all about the
        division of the rows, their folds included: :class:`Split`.
    test : share of the rows that is locked away, a pair (X_test, y_test) of your own, None, or all about the test:
        :class:`Holdout`.
    choose : "best" mean, or "one-se", the simplest model of the best one's path within one standard error.
    calibrate : None, "auto", "temperature", "sigmoid" or "isotonic": probabilities calibrated on rows that the model has not
        seen, "auto" only where that lowers their log-loss (:class:`CalibratedClassifier`); "needed": only if the chosen
        model has no probabilities, by at most 5 further fits of it. Labels stay the chosen model's.
    class_weight : None, "balanced" or {label: weight}, for fitting; scores stay unweighted by it. With None and a score to
        which rare classes matter ("balanced-accuracy", "f1", "recall", "mcc", costs), models that take class weights are
        tried with and without.
    costs : what mistakes cost: a matrix, a row for each true class and a column for each answer in the order of the sorted
        labels, or {(true, answered): cost}, where other mistakes cost 1. Then the mean cost decides, before ``scoring``.
    threshold : None: labels are the models' own. "tune": of two classes, each candidate gets the threshold that is best for
        the score that decides, found on the folds but the one it is judged on. "costs": the answer of the least expected
        cost, of models with probabilities. "auto": with costs "tune" for two classes, "costs" for more; else None.
    time_limit : seconds for the whole fit: checks, representations, candidates and the last fit; decides how many
        candidates finish, never their scores.
    beside : what there is beside the families: "reference" (boosted trees of scikit-learn on the same folds, never chosen: is
        another kind of model better?), "ensemble" (the candidates' mean probabilities, weighted, as a further candidate), or
        a list of both. "auto": the reference, unless the preset is "quick"; None: nothing.
    progress : "auto", "bar", "lines" or "silent".
    journal : a file that keeps what has finished. A fit that finds it there goes on with it, to the same bits; that of
        other rows, folds, weights, scores or another version is refused.
    random_state : decides folds and test rows.

    Attributes
    ----------
    leaderboard_ : :class:`Leaderboard` with all candidates; ``print`` it, or ``to_pandas()``.
    best_, chosen_ : the entry with the best mean, and the one that was fitted.
    model_ : the fitted model, a scikit-learn pipeline.
    findings_ : what the checks for leaks found, and what the contest itself gave cause to remark.
    nested_ : scores of the whole procedure on the folds, if the split is nested.
    positive_ : the positive one of two classes; None of more.
    row_shape_ : of one row of an array as it was given: (28, 28) of images, which become rows of 784 numbers.
    test_rows_ : numbers of the rows that were locked away (None for test rows of your own, or none).
    openings_ : how often the test was opened.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from nearline import TryThemAll
    >>> contest = TryThemAll(preset="quick").fit(*load_iris(return_X_y=True))
    >>> len(contest.leaderboard_) > 20, bool(contest.leaderboard_.mean(contest.best_) > 0.9)
    (True, True)
    >>> result = contest.open_test()
    >>> bool(0.8 < result.scores["accuracy"] <= 1), result.openings
    (True, 1)
    """

    interrupted_: bool
    chosen_: Entry
    renamed: ClassVar[dict[str, str]] = {
        "nested": "split=Split(nested=True)",
        "refit": "test=Holdout(0.2, refit='all')",
    }

    def __init__(
        self,
        preset: str = "default",
        *,
        include: Any = None,
        exclude: Any = (),
        features: Any = None,
        own: Any = None,
        scoring: Any = "accuracy",
        pos_label: Any = None,
        folds: Any = None,
        split: Any = "auto",
        test: Any = 0.2,
        choose: str = "best",
        calibrate: str | None = None,
        class_weight: Any = None,
        costs: Any = None,
        threshold: str | None = "auto",
        time_limit: float | None = None,
        beside: Any = "auto",
        progress: Any = "auto",
        journal: Any = None,
        random_state: int = 0,
    ) -> None:
        self.preset = preset
        self.include = include
        self.exclude = exclude
        self.features = features
        self.own = own
        self.scoring = scoring
        self.pos_label = pos_label
        self.folds = folds
        self.split = split
        self.test = test
        self.choose = choose
        self.calibrate = calibrate
        self.class_weight = class_weight
        self.costs = costs
        self.threshold = threshold
        self.time_limit = time_limit
        self.beside = beside
        self.progress = progress
        self.journal = journal
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags

    # -- fitting ----------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Lock the test rows, hold the contest on the others, fit the winner."""
        door = door_of(X)
        if door is not None:
            from nearline.selection.try_blocks import fit_blocks

            fit_blocks(self, door, X, y, groups, sample_weight)
            return self
        check_options(self)
        split, holdout = as_split(self.split, self.folds), as_holdout(self.test)
        budget, account = Budget(self.time_limit), Account()
        self.__dict__.pop("model_", None)  # of an earlier fit: this one may be interrupted
        as_scorers(self.scoring)  # refused now rather than after a look at the data
        self._rows, self._numbers = labeled_rows(self, X, y, groups, sample_weight), None
        self._training_counts = None
        self._division = division(split.by, self._rows.groups, self.random_state)
        self._lock(holdout)
        part = self._rows.some(self._train)
        rows = self._begin(part, split.folds)
        self._final = FinalFit(self.classes_, self.calibrate, self.class_weight, self._division)
        self._final.check(part)  # refused now rather than after the contest
        self._representations = {one.name: one for one in [*self._asked_for(rows.X), *self._as_given()]}
        with heeding(budget.checking), account.charge("checks"):
            self.findings_: list[Finding] = leaks(self, rows, part, self._locked, self._train)
        warn_of(self.findings_)
        deciding = self._deciding
        journal = journal_of(self.journal, rows, self._scorers, self.class_weight, deciding.identity)
        rules = Rules(
            self._scorers, self.preset, as_progress(self.progress), self.class_weight, budget, None, self._final.times,
            journal, account, deciding, "ensemble" in beside_of(self.beside, self.preset),
        )  # fmt: skip
        try:
            self._hold(rows, part, rules)
        finally:
            self.findings_ += journal.close()
        if split.nested and not self.interrupted_:
            with account.charge("nested cross-validation"):
                self.nested_, self.interrupted_ = nested_scores(
                    self, part, self._folds, split, self._scorers, self.positive_
                )
        account.close()
        return self

    def _hold(self, rows: TrainingRows, part: LabeledRows, rules: Rules) -> None:
        """The contest, its remarks, the last fit, and what it is held against."""
        contest, budget = self._run(rows, rules), rules.budget
        with suppress(OutOfTime), heeding(Deadline(GRACE) if self.interrupted_ else budget.result):
            against = chosen_against_trivial(self.leaderboard_, self.chosen_, rows, self._scorers[0])
            self.findings_ += [
                *no_better(against, "folds"),
                *misled(self.leaderboard_, self.chosen_, rows),
                *grid_ends(self.leaderboard_),
            ]
        with rules.account.charge("the last fit"):
            self._fit_last(part, contest)
        self._look_outside(contest)

    def _lock(self, holdout: Holdout | None) -> None:
        """Divide the rows, before anything else looks at them; another fit on the same test rows goes on counting."""
        before = vars(self).get("_last_locked")
        self._train, self._locked = lock(self, self._rows, holdout, self._division, before)
        self._last_locked = before if self._locked is None else self._locked

    def _begin(self, part: LabeledRows, folds: Any) -> TrainingRows:
        """The training part with its classes, the scores that decide on it, and its folds."""
        self.classes_, codes = encoded(part.y)
        if len(self.classes_) < 2:
            raise ValueError(
                f"The training part has 1 class only, {self.classes_.tolist()[0]!r}: give more rows, or another split."
            )
        scorers, self.positive_ = scorers_for(self.scoring, self.classes_, codes, self.pos_label)
        self._deciding, self._scorers = deciding_of(self, self.classes_, scorers)
        self._folds = self._division.folds(codes, part.groups, folds)
        # Rows left out several times, or folds in time that a splitter draws, are no independent rows.
        independent = self._division.kind == "stratified" and self._folds.numbers is not None
        return TrainingRows(part.X, codes, self.classes_, part.weights, self._folds, independent)

    @property
    def has_model(self) -> bool:
        """Whether the chosen candidate was fitted: not if Ctrl-C came before, and the fit would have taken long."""
        return "model_" in vars(self)

    def estimator(self, entry: Entry) -> Any:
        """A candidate of the leaderboard as an unfitted scikit-learn estimator that takes the data as they are."""
        if entry.members:
            models = [self.estimator(replace(one.entry, rule=None)) for one in entry.members]
            called = [f"{one.entry} on {one.entry.representation}" for one in entry.members]
            weights, temperatures = zip(
                *((one.weight, one.temperature) for one in entry.members), strict=True
            )
            together = Ensemble(models, [*weights], called, [*temperatures])
            return Chain(AsTheyCame().chained(together), rule=entry.rule)
        family = {family.name: family for family in self._families()}[entry.family]
        parameters = dict(entry.parameters)
        class_weight = parameters.pop("class_weight", None)
        model = family.estimator(parameters)
        if class_weight is not None:
            model.set_params(class_weight=class_weight)
        chain = Chain(self._representations[entry.representation].chained(model), rule=entry.rule)
        names = getattr(self, "feature_names_in_", None)
        if names is not None and NAMES in chain.get_params():
            chain.set_params(**{NAMES: names.tolist()})
        return chain

    def _families(self) -> list[Any]:
        return families(self.preset, self.include, self.exclude, self.own)

    def _asked_for(self, X: Any) -> list[Representation]:
        """The representations to try: those of the preset, or by the features that are named."""
        from nearline.representations.features.choice import chosen_features, usual_representations

        shape = getattr(self, "row_shape_", ())
        if self.features is None:
            return usual_representations(X, shape, self.preset) or representations(X, self.preset)
        return chosen_features(X, self.features, shape, self.preset)

    def _as_given(self) -> list[Representation]:
        """The rows as they came, where a pipeline of the user's takes them."""
        if not any("rows" in family.takes for family in self._families()):
            return []
        names = getattr(self, "feature_names_in_", None)
        return [AsTheyCame(None if names is None else tuple(map(str, names)))]

    def _run(self, rows: TrainingRows, rules: Rules) -> Contest:
        contest = Contest(rows, self._families(), list(self._representations.values()), rules)
        self.leaderboard_: Leaderboard = contest.run()
        self.interrupted_ = contest.interrupted
        if contest.interrupted and not len(self.leaderboard_):
            raise KeyboardInterrupt
        check_any(self.leaderboard_, self.time_limit)
        if rules.ensemble and not contest.interrupted:
            self.leaderboard_ = contest.joined(self.leaderboard_)
        self.best_, self.chosen_ = self.leaderboard_.best, chosen_of(self.leaderboard_, self.choose)
        return contest

    def _fit_last(self, part: LabeledRows, contest: Contest) -> None:
        """The chosen candidate on the training part, or the one that takes its place."""
        found = Finish(self.leaderboard_, contest, self._final, self.estimator, part).fit(self.chosen_)
        self._hurried, self.interrupted_ = found.hurried, self.interrupted_ or found.model is None
        self.chosen_, self.findings_ = found.entry, [*found.findings, *self.findings_]
        if found.model is not None:
            self.model_ = found.model
            return
        said = (
            f"Interrupted: {self.chosen_} was not fitted. The leaderboard is kept, and "
            "contest.estimator(contest.chosen_).fit(X, y) fits it."
        )
        warnings.warn(said, InterruptedFitWarning, stacklevel=4)

    def _look_outside(self, contest: Contest) -> None:
        """Whether another kind of model would be better than the chosen one; it takes no time from candidates."""
        if "reference" in beside_of(self.beside, self.preset) and not self.interrupted_:
            budget = contest.rules.budget
            most = min(max(LEAST, budget.candidates.spent), budget.late_left)
            with contest.rules.account.charge("outside reference"):
                found = outside_reference(contest, self.leaderboard_, self.chosen_, most)
            self.leaderboard_ = replace(self.leaderboard_, outside=found)

    # -- the test ---------------------------------------------------------------------------------------------

    def open_test(self, record: Any = None) -> TestResult:
        """Score the chosen model on the locked rows. It is counted how often that is done.

        ``record`` names a JSON file that keeps the count with a fingerprint of the test rows, for other sessions too.
        """
        check_is_fitted(self, "model_")
        locked = self._locked
        if locked is None:
            raise ValueError("There are no test rows: test=None switched the split off.")
        if record is not None:
            check_record(record)
        locked.count()
        if locked.result is None:
            remarks = no_better(locked.score(self._winner()).against, "test rows")
            if remarks:  # what the test says takes the place of what the folds said
                self.findings_ = [one for one in self.findings_ if one.name != TRIVIAL] + remarks
            if locked.plan.refit == "all":
                # A class that only test rows have is not learned.
                rows = self._rows.some(np.flatnonzero(np.isin(self._rows.y, self.classes_)))
                self.model_ = self._final.of(self.estimator(self.chosen_), rows, hurried=self._hurried)
        return locked.opened(record)

    def _winner(self) -> Winner:
        board, chosen, weights = self.leaderboard_, self.chosen_, self._rows.weights
        return Winner(
            str(chosen),
            self.model_,
            self.training_labels_,
            None if weights is None else weights[self._train],
            self.classes_,
            self._scorers,
            self.positive_,
            {scorer.name: board.mean(chosen, scorer.name) for scorer in self._scorers},
            self.calibration_ is not None,
            self.random_state,
            "" if chosen.rule is None else chosen.rule.said(self.classes_.tolist()),
        )

    @property
    def calibration_(self) -> str | None:
        """How the model's probabilities were calibrated: a method, "none" where its own are better; None if they were not."""
        model = vars(self).get("model_")
        return str(model.method_) if isinstance(model, CalibratedClassifier) else None
