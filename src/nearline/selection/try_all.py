"""TryThemAll: every family on the user's data, chosen on folds, tested once."""

import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from nearline._arrays.design import Array
from nearline._arrays.validation import check_weights
from nearline._parallel.stopping import Deadline, OutOfTime, heeding
from nearline._records.habits import TranslatesHabits
from nearline._records.visible import visible
from nearline._records.words import worded
from nearline.estimators.base import encoded
from nearline.predictions import predictions_of
from nearline.representations import representations
from nearline.selection.budget import GRACE, Budget
from nearline.selection.calibration import CalibratedClassifier
from nearline.selection.chain import Chain
from nearline.selection.checks import Finding, check
from nearline.selection.contest import Contest, Rules
from nearline.selection.cross_fitting import cross_fitted, gives_probabilities
from nearline.selection.families import families
from nearline.selection.fold_data import TrainingRows, fitting_weights
from nearline.selection.folds import Folds, LeakageWarning
from nearline.selection.input import NUMERIC, check_classes, check_options, checked_rows
from nearline.selection.last_fit import Fitted, fit_after_interrupt, last_fit
from nearline.selection.leaderboard import Entry, Leaderboard, right_rows
from nearline.selection.locked_test import LockedRows, LockedTest, fingerprint, intervals_of
from nearline.selection.openings import check_record, model_key, record_opening
from nearline.selection.progress import as_progress
from nearline.selection.remarks import TRIVIAL, grid_ends, no_better
from nearline.selection.scoring import as_scorers, scorers_for
from nearline.selection.splits import as_split, checked_groups
from nearline.selection.trivial import (
    Against,
    FoldScores,
    Judged,
    against_on_folds,
    against_on_rows,
    trivial_answers,
    trivial_on_folds,
)

CALIBRATION_FOLDS = 5  # or as many as the rarest class has rows
NAMES = "representation__asnumbers__columns"  # where a chain keeps the names of a table of numbers


class InterruptedFitWarning(UserWarning):
    """The contest was interrupted, and the chosen candidate was not fitted."""


class TimeLimitError(ValueError):
    """The time limit passed before any candidate had finished."""


def _has(method: str) -> Any:
    return available_if(lambda self: callable(getattr(self.model_, method, None)))


class TryThemAll(TranslatesHabits, ClassifierMixin, BaseEstimator):
    """Try every model family, metric, k, loss, penalty and strength on your data, and say honestly how good the best is.

    The test rows are split off first and locked; candidates are compared on folds of the rest, with everything that is
    fitted (scaling, words, categories) fitted inside each fold; the winner is fitted on the training part and scored on
    the test rows by :meth:`open_test`.

    Parameters
    ----------
    preset : "quick", "default" or "thorough": how many families, representations and parameters.
    include, exclude : names of families or of own classifiers, or parts of names ("k-NN", "logistic").
    own : {name: estimator}, classifiers of your own that join the contest, whatever include says of families; if it names
        own ones, these alone.
    scoring : what decides: a name of :data:`SCORERS` ("accuracy", "auc", "f1", "log-loss", ...), a name or scorer of
        scikit-learn, or a function (estimator, X, y); of several the first decides.
    pos_label : the positive one of two classes, which precision, recall, F1 and average precision are about; None: 1 or
        True among {0, 1}, {-1, 1} and booleans, else the rarer class of the training part.
    folds : a number, a scikit-learn splitter, or a list of pairs of row numbers.
    test : share of the rows that is locked away, a pair (X_test, y_test) of your own, or None.
    split : "auto" (by group where groups are given, else stratified), "stratified", "group", or "time".
    choose : "best" mean, or "one-se", the simplest model of the best one's path within one standard error.
    calibrate : None, "auto", "temperature", "sigmoid" or "isotonic": probabilities calibrated on rows that the model has not
        seen, "auto" only where that lowers their log-loss (:class:`CalibratedClassifier`); "needed": only if the chosen
        model has no probabilities, by at most 5 further fits of it. Labels stay the chosen model's.
    class_weight : None, "balanced" or {label: weight}, for fitting; scores stay unweighted by it.
    refit : "train" keeps the model that was tested; "all" fits it anew on all rows once the test is open.
    nested : whether the whole procedure is cross-validated too (``nested_``).
    time_limit : seconds for the whole fit: checks, representations, candidates and the last fit; decides how many
        candidates finish, never their scores.
    progress : "auto", "bar", "lines" or "silent".
    random_state : decides folds and test rows.

    Attributes
    ----------
    leaderboard_ : :class:`Leaderboard` with all candidates; ``print`` it, or ``to_pandas()``.
    best_, chosen_ : the entry with the best mean, and the one that was fitted.
    model_ : the fitted model, a scikit-learn pipeline.
    findings_ : what the checks for leaks found, and what the contest itself gave cause to remark.
    nested_ : scores of the whole procedure on outer folds, if asked for.
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

    def __init__(
        self,
        preset: str = "default",
        *,
        include: Any = None,
        exclude: Any = (),
        own: Any = None,
        scoring: Any = "accuracy",
        pos_label: Any = None,
        folds: Any = 5,
        test: Any = 0.2,
        split: str = "auto",
        choose: str = "best",
        calibrate: str | None = None,
        class_weight: Any = None,
        refit: str = "train",
        nested: bool = False,
        time_limit: float | None = None,
        progress: Any = "auto",
        random_state: int = 0,
    ) -> None:
        self.preset = preset
        self.include = include
        self.exclude = exclude
        self.own = own
        self.scoring = scoring
        self.pos_label = pos_label
        self.folds = folds
        self.test = test
        self.split = split
        self.choose = choose
        self.calibrate = calibrate
        self.class_weight = class_weight
        self.refit = refit
        self.nested = nested
        self.time_limit = time_limit
        self.progress = progress
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
        check_options(self)
        budget = Budget(self.time_limit)
        self.__dict__.pop("model_", None)  # of an earlier fit: this one may be interrupted
        self._hurried = False  # whether the last fit must do without calibration
        if y is None:
            raise ValueError("TryThemAll requires y to be passed, but the target y is None.")
        X, y = checked_rows(self, X, y)
        check_classes(y)
        if len(encoded(y)[0]) < 2:
            raise ValueError(f"TryThemAll needs at least 2 classes, but y has 1 class: {y.tolist()[0]!r}.")
        weights = None
        if sample_weight is not None:
            weights = check_weights(sample_weight, y)
        groups = None if groups is None else checked_groups(groups, len(y))
        as_scorers(self.scoring)  # refused now rather than after a look at the data
        self._split = as_split(self.split, groups, self.random_state)
        self._lock(X, y, groups, weights)
        train = self._train
        self.classes_, codes = encoded(y[train])
        if len(self.classes_) < 2:
            raise ValueError(
                f"The training part has 1 class only, {self.classes_.tolist()[0]!r}: give more rows, or another split."
            )
        self._scorers, self.positive_ = scorers_for(self.scoring, self.classes_, codes, self.pos_label)
        part = X if len(train) == len(y) else _safe_indexing(X, train)
        groups = None if groups is None else groups[train]
        self._folds = self._split.folds(codes, groups, self.folds)
        # Rows left out several times, or folds in time that a splitter draws, are no independent rows.
        independent = self._split.kind == "stratified" and self._folds.numbers is not None
        weights = None if weights is None else weights[train]
        rows = TrainingRows(part, codes, self.classes_, weights, self._folds, independent)
        if self.calibrate not in (None, "needed"):
            self._calibration_folds(codes, groups)  # refused now rather than after the contest
        with heeding(budget.checking):
            self._keep_findings(rows, groups)
        contest = self._run(rows, budget)
        with suppress(OutOfTime), heeding(Deadline(GRACE) if self.interrupted_ else budget.result):
            self.findings_ += [*no_better(self._against_folds(rows), "folds"), *grid_ends(self.leaderboard_)]
        self._fit_last(lambda entry: self._fitted(entry, part, codes, weights, groups), contest, budget)
        if self.nested and not self.interrupted_:
            self.nested_ = self._nest(rows, groups)
        return self

    @property
    def has_model(self) -> bool:
        """Whether the chosen candidate was fitted: not if Ctrl-C came before, and the fit would have taken long."""
        return "model_" in vars(self)

    def estimator(self, entry: Entry) -> Any:
        """A candidate of the leaderboard as an unfitted scikit-learn estimator that takes the data as they are."""
        family = {family.name: family for family in self._families()}[entry.family]
        chain = Chain(self._representations[entry.representation].chained(family.estimator(entry.parameters)))
        names = getattr(self, "feature_names_in_", None)
        if names is not None and NAMES in chain.get_params():
            chain.set_params(**{NAMES: names.tolist()})
        return chain

    def _fitted(self, entry: Entry, X: Any, codes: Array, weights: Array | None, groups: Any) -> Any:
        """A candidate on these rows, calibrated if asked for."""
        weights = fitting_weights(codes, self.classes_, weights, self.class_weight)
        model = self.estimator(entry)
        if self.calibrate == "needed":  # not after Ctrl-C: further fits are not waited for
            if not (gives_probabilities(model) or self.interrupted_ or self._hurried):
                model = cross_fitted(model, codes, groups, self._split)
        elif self.calibrate is not None:
            folds = self._calibration_folds(codes, groups)
            model = CalibratedClassifier(
                model, method=self.calibrate, folds=folds, random_state=self.random_state
            )
        model = model.fit(X, self.classes_[codes], weights)
        if isinstance(model, CalibratedClassifier) and isinstance(model.folds, Folds):
            model.set_params(folds=len(model.folds))  # the pairs are of these rows, which the model outlives
        return model

    def _calibration_folds(self, codes: Array, groups: Any) -> Any:
        """Folds that every class is in, by group or in time where the contest's are."""
        n_folds = min(CALIBRATION_FOLDS, int(np.bincount(codes).min()))
        if n_folds < 2:
            rare = self.classes_[np.bincount(codes).argmin()]
            raise ValueError(
                f"calibrate={self.calibrate!r} needs at least 2 training rows of each class, {rare!r} has 1: give more of "
                "them, or calibrate=None."
            )
        if self._split.kind == "stratified":
            return n_folds
        return self._split.folds(codes, groups, n_folds, quietly=True)

    def _lock(self, X: Any, y: Array, groups: Any, weights: Any) -> None:
        """Divide the rows, before anything else looks at them."""
        self._all = (X, y, groups, weights)
        self._train, self._locked, self._X_test = np.arange(len(y)), None, None
        self.test_rows_: Array | None = None
        if self.test is None:
            return
        in_time = self._split.kind == "time"
        if isinstance(self.test, (tuple, list)):
            self._X_test, y_test = checked_rows(self, self.test[0], self.test[1], reset=False)
            unknown = y_test[~np.isin(y_test, y)]
            if len(unknown):
                raise ValueError(
                    f"The test rows have a label that no training row has: {unknown.tolist()[0]!r}."
                )
            self._locked = LockedRows(y_test, in_time=in_time)
        else:
            codes = encoded(y)[1]
            self._train, test = self._split.holdout(codes, groups, self.test)
            self.test_rows_, self._X_test = test, _safe_indexing(X, test)
            own = groups[test] if self._split.kind == "group" else None
            self._locked = LockedRows(y[test], None if weights is None else weights[test], own, in_time)
        key = fingerprint(self._X_test, self._locked.y)
        if key != getattr(self, "_key", None):  # another fit on the same test rows goes on counting
            self._key, self.openings_, self._tested = key, 0, 0
        self._locked_test: LockedTest | None = None

    def _keep_findings(self, rows: TrainingRows, groups: Any) -> None:
        y, names = self._all[1], None
        if self._kind in NUMERIC:  # a frame of numbers has become an array
            names = getattr(self, "feature_names_in_", None)
        self.findings_: list[Finding] = check(
            rows.X,
            y[self._train],
            X_test=self._X_test,
            y_test=None if self._locked is None else self._locked.y,
            groups=groups,
            folds=rows.folds,
            split=self._split.kind,
            n_folds=len(rows.folds),
            own_test=isinstance(self.test, (tuple, list)),
            rows=self._train,
            test_rows=self.test_rows_,
            names=None if names is None else [str(name) for name in names],
        )
        for finding in self.findings_:
            if finding.severity == "warning":
                said = visible(f"{finding.subject}: {finding.message} {finding.remedy}")
                warnings.warn(said, LeakageWarning, stacklevel=3)

    def _families(self) -> list[Any]:
        return families(self.preset, self.include, self.exclude, self.own)

    def _run(self, rows: TrainingRows, budget: Budget) -> Contest:
        progress = as_progress(self.progress)
        rules = Rules(
            self._scorers, self.preset, progress, self.class_weight, budget, last_fits=self._last_fits
        )
        found = representations(rows.X, self.preset)
        self._representations = {one.name: one for one in found}
        contest = Contest(rows, self._families(), found, rules)
        self.leaderboard_: Leaderboard = contest.run()
        self.interrupted_ = contest.interrupted
        if not len(self.leaderboard_):
            if contest.interrupted:
                raise KeyboardInterrupt
            if any(one.late for one in self.leaderboard_.skipped):
                quick = worded('preset="quick"', "--preset quick")
                raise TimeLimitError(
                    f"The time limit of {self.time_limit:g} s passed before any candidate had finished on all folds: "
                    f"give more time, fewer rows, or {quick}."
                )
            reasons = "; ".join(f"{one.family}: {one.reason}" for one in self.leaderboard_.skipped)
            raise ValueError(f"No family could be tried on these data. {reasons or 'None was chosen.'}")
        self.best_ = self.leaderboard_.best
        if np.isnan(self.leaderboard_.mean(self.best_)):
            raise ValueError(
                f"The score {self._scorers[0].name!r} is undefined for every candidate, on some fold at least: rare classes "
                "may be missing there, or no family gives probabilities. Choose another scoring, or fewer folds."
            )
        one_se = self.choose == "one-se"
        self.chosen_ = self.leaderboard_.one_standard_error(self.best_) if one_se else self.best_
        return contest

    def _last_fits(self, model: Any) -> int:
        """How often a chosen model is fitted in the end: calibration takes several fits."""
        once = self.calibrate is None or (self.calibrate == "needed" and gives_probabilities(model))
        return 1 if once else 1 + CALIBRATION_FOLDS

    def _fit_last(self, fit: Callable[[Entry], Any], contest: Contest, budget: Budget) -> None:
        try:
            if self.interrupted_:
                found = fit_after_interrupt(fit, self.chosen_)
            else:
                found = last_fit(fit, self.chosen_, self._in_place(contest, budget), budget)
        except KeyboardInterrupt:
            self.interrupted_, found = True, Fitted(self.chosen_)
        except OutOfTime:
            raise TimeLimitError(
                f"The time limit of {self.time_limit:g} s passed before {self.chosen_}, the only candidate, "
                "was fitted on all rows: give more time, or fewer rows."
            ) from None
        self.chosen_ = found.entry
        if found.finding is not None:
            self.findings_ = [found.finding, *self.findings_]
        if found.model is not None:
            self.model_ = found.model
            return
        said = (
            f"Interrupted: {self.chosen_} was not fitted. The leaderboard is kept, and "
            "contest.estimator(contest.chosen_).fit(X, y) fits it."
        )
        warnings.warn(said, InterruptedFitWarning, stacklevel=3)

    def _in_place(self, contest: Contest, budget: Budget) -> list[tuple[Entry, float]]:
        """Candidates with the seconds of their last fits, those that look at the rows if any does.

        Where the chosen one would be late, probabilities that it lacks are not waited for.
        """
        trivial = {family.name for family in self._families() if family.trivial}
        entries = [entry for entry in self.leaderboard_ if entry.family not in trivial] or [
            *self.leaderboard_
        ]
        fits = self._last_fits(self.estimator(self.chosen_))
        self._hurried = self.calibrate == "needed" and contest.to_fit[id(self.chosen_)] > budget.late_left
        if self._hurried and fits > 1:
            said = "the time limit left no time to calibrate its scores, so that it gives no probabilities."
            finding = Finding("time-limit", "note", str(self.chosen_), said, "Give more time.")
            self.findings_ = [finding, *self.findings_]
        once = fits if self._hurried else 1
        return [(entry, contest.to_fit[id(entry)] / once) for entry in entries]

    def _nest(self, rows: TrainingRows, groups: Any) -> dict[str, Array]:
        """Scores of the whole procedure, each outer fold choosing for itself; if interrupted, of the folds done."""
        scores: dict[str, list[float]] = {scorer.name: [] for scorer in self._scorers}
        for train, test in rows.folds:
            inner = clone(self).set_params(
                test=None, nested=False, progress="silent", pos_label=self.positive_
            )
            if not isinstance(self.folds, (int, np.integer)):
                inner.set_params(folds=len(rows.folds))
            own = None if groups is None else groups[train]
            weights = None if rows.weights is None else rows.weights[train]
            labels = self.classes_[rows.codes]
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", LeakageWarning)  # said already
                    inner.fit(_safe_indexing(rows.X, train), labels[train], own, weights)
            except KeyboardInterrupt:
                self.interrupted_ = True
            if self.interrupted_ or inner.interrupted_:
                self.interrupted_ = True
                break
            predictions = predictions_of(inner.model_, _safe_indexing(rows.X, test), self.classes_)
            weights = None if rows.weights is None else rows.weights[test]
            for scorer in self._scorers:
                scores[scorer.name].append(scorer(predictions, rows.codes[test], self.classes_, weights))
        return {name: np.array(values) for name, values in scores.items()}

    def _against_folds(self, rows: TrainingRows) -> Against:
        """The chosen candidate against answers without a look at the features, on the folds."""
        board, chosen, scorer = self.leaderboard_, self.chosen_, self._scorers[0]
        tests = [test for _, test in rows.folds]
        codes = np.concatenate([rows.codes[test] for test in tests])
        scores, right = trivial_on_folds(rows.folds, rows.codes, rows.weights, self.classes_, scorer)
        found = FoldScores(
            chosen.scores[scorer.name], scores, right_rows(chosen, list(map(len, tests))), right, codes
        )
        always = trivial_answers(rows.codes, rows.weights, len(self.classes_), 1)
        by_rows = board.n_rows is not None
        return against_on_folds(found, always, self.classes_, scorer, board.test_to_train, by_rows)

    # -- the test ---------------------------------------------------------------------------------------------

    def open_test(self, record: Any = None) -> LockedTest:
        """Score the chosen model on the locked rows. It is counted how often that is done.

        ``record`` names a JSON file that keeps the count with a fingerprint of the test rows, for other sessions too.
        """
        check_is_fitted(self, "model_")
        if self._locked is None:
            raise ValueError("There are no test rows: test=None switched the split off.")
        if record is not None:
            check_record(record)
        self.openings_ += 1
        if self._locked_test is None:
            self._tested += 1
            self._locked_test = self._open(self._locked)
            remarks = no_better(self._locked_test.against, "test rows")
            if remarks:  # what the test says takes the place of what the folds said
                self.findings_ = [one for one in self.findings_ if one.name != TRIVIAL] + remarks
            if self.refit == "all":
                X, y, groups, weights = self._all
                known = np.isin(y, self.classes_)  # a class that only test rows have is not learned
                rows = np.flatnonzero(known)
                codes = np.searchsorted(self.classes_, y[rows])
                weights = None if weights is None else weights[rows]
                groups = None if groups is None else groups[rows]
                self.model_ = self._fitted(self.chosen_, _safe_indexing(X, rows), codes, weights, groups)
        openings, models = self.openings_, self._tested
        if record is not None:
            kept = record_opening(
                record, self._key, model_key(self._locked_test.model, self._locked_test.predictions)
            )
            openings, models = max(openings, kept.openings), max(models, kept.models)
        return replace(self._locked_test, openings=openings, models=models)

    def _open(self, locked: LockedRows) -> LockedTest:
        classes = np.unique(np.concatenate([self.classes_, locked.y]))
        codes = np.searchsorted(classes, locked.y)
        predictions = predictions_of(self.model_, self._X_test, classes).settled()
        scorers = [scorer.of(classes, self.positive_) for scorer in self._scorers]
        scores = {s.name: s(predictions, codes, classes, locked.weights) for s in scorers}
        y, weights = self._all[1][self._train], self._all[3]
        weights = None if weights is None else weights[self._train]
        trivial = trivial_answers(np.searchsorted(classes, y), weights, len(classes), len(codes))
        intervals = intervals_of(predictions, codes, classes, locked, scorers)
        rows = Judged(codes, classes, locked.weights, locked.groups, locked.in_time)
        against = against_on_rows(
            predictions, trivial, rows, scorers[0], intervals[scorers[0].name], self.random_state
        )
        return LockedTest(
            str(self.chosen_),
            len(codes),
            len(self._train),
            scores,
            intervals,
            {s.name: self.leaderboard_.mean(self.chosen_, s.name) for s in self._scorers},
            float(np.average(trivial.labels == codes, weights=locked.weights)),
            against,
            classes,
            codes,
            predictions,
            refitted=self.refit == "all" and self.test_rows_ is not None,
            calibrated=self.calibration_ is not None,
            positive=self.positive_ if len(classes) == 2 else None,
            weights=locked.weights,
            titles={scorer.name: scorer.title for scorer in scorers},
            fold_titles={scorer.name: scorer.title for scorer in self._scorers},
        )

    @property
    def calibration_(self) -> str | None:
        """How the model's probabilities were calibrated: a method, "none" where its own are better; None if they were not."""
        model = vars(self).get("model_")
        return str(model.method_) if isinstance(model, CalibratedClassifier) else None

    @property
    def training_labels_(self) -> Array:
        """Labels of the training part."""
        return np.asarray(self._all[1][self._train])

    def training_part(
        self, most: int | None = None, *, places: Array | None = None
    ) -> tuple[Any, Array, Array]:
        """Rows, labels and row numbers of the training part: all, so many of them by chance, or those at some places."""
        check_is_fitted(self, "leaderboard_")
        X, y, numbers = self._all[0], self._all[1], self._train if places is None else self._train[places]
        if most is not None and len(numbers) > most:
            numbers = np.sort(np.random.default_rng(0).permutation(numbers)[:most])
        return (
            (X if numbers is self._train and len(numbers) == len(y) else _safe_indexing(X, numbers)),
            y[numbers],
            numbers,
        )

    def opened_part(self) -> tuple[Any, Array] | None:
        """Rows and labels of the test part once it is open; before, or without one, None."""
        if self._locked is None or self._locked_test is None:
            return None
        return self._X_test, self._locked.y

    @property
    def split_(self) -> str:
        """How folds and test rows were drawn: "stratified", "group" or "time"."""
        return str(self._split.kind)

    # -- using it ---------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> Array:
        """Labels by the chosen model."""
        check_is_fitted(self, "model_")
        return np.asarray(self.model_.predict(checked_rows(self, X, reset=False)[0]))

    @_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Probabilities (n, C), if the chosen model gives any."""
        check_is_fitted(self, "model_")
        return np.asarray(self.model_.predict_proba(checked_rows(self, X, reset=False)[0]))

    @_has("predict_log_proba")  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the probabilities (n, C), if the chosen model gives any."""
        check_is_fitted(self, "model_")
        return np.asarray(self.model_.predict_log_proba(checked_rows(self, X, reset=False)[0]))

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Array:
        """Scores of the chosen model."""
        check_is_fitted(self, "model_")
        return np.asarray(self.model_.decision_function(checked_rows(self, X, reset=False)[0]))
