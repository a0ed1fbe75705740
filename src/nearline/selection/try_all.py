"""TryThemAll: every family on the user's data, chosen on folds, tested once (SPEC H5)."""

import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing, check_consistent_length
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from nearline.arrays import Array
from nearline.estimators._base import encoded
from nearline.representations import representations
from nearline.selection.answers import answers_of
from nearline.selection.calibration import CalibratedClassifier
from nearline.selection.checks import Finding, check
from nearline.selection.contest import Contest, Rows, Rules, fitting_weights
from nearline.selection.families import families
from nearline.selection.input import checked_rows
from nearline.selection.leaderboard import Entry, Leaderboard
from nearline.selection.opened import LockedRows, TestResult, intervals_of
from nearline.selection.progress import as_progress
from nearline.selection.scoring import as_scorers
from nearline.selection.splits import as_split


class LeakageWarning(UserWarning):
    """The data may tell the answer in a way that new data will not."""


class Chain(Pipeline):
    """A representation and a model, which gets the sample weights."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit both on rows and labels."""
        extra = {} if sample_weight is None else {"model__sample_weight": sample_weight}
        return super().fit(X, y, **extra)


def _has(method: str) -> Any:
    return available_if(lambda self: callable(getattr(self.model_, method, None)))


class TryThemAll(ClassifierMixin, BaseEstimator):
    """Try every model family, metric, k, loss, penalty and strength on your data, and say honestly how good the best is.

    The test rows are split off first and locked; candidates are compared on folds of the rest, with everything that is
    fitted (scaling, words, categories) fitted inside each fold; the winner is fitted on the training part and scored on
    the test rows by :meth:`open_test`.

    Parameters
    ----------
    preset : "quick", "default" or "thorough": how many families, representations and parameters.
    include, exclude : names of families, or parts of names ("k-NN", "logistic").
    own : {name: estimator}, classifiers of your own that join the contest.
    scoring : what decides: "accuracy", "balanced-accuracy", "auc", "log-loss", "brier", a name or scorer of scikit-learn;
        of several the first decides.
    folds : a number, a scikit-learn splitter, or a list of pairs of row numbers.
    test : share of the rows that is locked away, a pair (X_test, y_test) of your own, or None.
    split : "auto" (by group where groups are given, else stratified), "stratified", "group", or "time".
    choose : "best" mean, or "one-se", the simplest model of the best one's path within one standard error.
    calibrate : None, "temperature" or "sigmoid": probabilities calibrated on rows that the model has not seen.
    class_weight : None, "balanced" or {label: weight}, for fitting; scores stay unweighted by it.
    refit : "train" keeps the model that was tested; "all" fits it anew on all rows once the test is open.
    nested : whether the whole procedure is cross-validated too (``nested_``).
    time_limit : seconds after which no further candidate starts; decides how many finish, never their scores.
    progress : "auto", "bar", "lines" or "silent".
    seed : decides folds and test rows.

    Attributes
    ----------
    leaderboard_ : :class:`Leaderboard` with all candidates; ``print`` it, or ``to_pandas()``.
    best_, chosen_ : the entry with the best mean, and the one that was fitted.
    model_ : the fitted model, a scikit-learn pipeline.
    findings_ : what the checks for leaks found.
    nested_ : scores of the whole procedure on outer folds, if asked for.
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
        seed: int = 0,
    ) -> None:
        self.preset = preset
        self.include = include
        self.exclude = exclude
        self.own = own
        self.scoring = scoring
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
        self.seed = seed

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        return tags

    # -- fitting ----------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Lock the test rows, hold the contest on the others, fit the winner."""
        self._check_parameters()
        if y is None:
            raise ValueError("TryThemAll requires y to be passed, but the target y is None.")
        X, y = checked_rows(self, X, y)
        self.classes_, codes = encoded(y)
        if len(self.classes_) < 2:
            raise ValueError(
                f"TryThemAll needs at least 2 classes, but y has 1 class: {self.classes_.tolist()[0]!r}."
            )
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, codes, dtype=np.float64, ensure_non_negative=True)
        if groups is not None:
            groups = np.asarray(groups)
            check_consistent_length(y, groups)
        split = as_split(self.split, groups, self.seed)
        self._lock(X, codes, groups, weights, split)
        self._scorers = as_scorers(self.scoring)
        train = self._train
        rows = self._rows(X, codes, groups, weights, split, train)
        self._folds = rows.folds
        self._keep_findings(X, y, groups, rows, split.kind)
        self._run(rows)
        self.model_ = self._fitted(rows.X, rows.codes, rows.weights)
        self._test_result: TestResult | None = None
        self.openings_ = 0
        if self.nested:
            self.nested_ = self._nest(rows, y[train], None if groups is None else groups[train])
        return self

    def _fitted(self, X: Any, codes: Array, weights: Array | None) -> Any:
        """The chosen candidate on these rows."""
        weights = fitting_weights(codes, self.classes_, weights, self.class_weight)
        return self.estimator(self.chosen_).fit(X, self.classes_[codes], weights)

    def estimator(self, entry: Entry) -> Any:
        """A candidate of the leaderboard as an unfitted scikit-learn estimator that takes the data as they are."""
        family = {family.name: family for family in self._families()}[entry.family]
        steps = [
            ("representation", self._ways[entry.representation].transformer()),
            ("model", family.estimator(entry.parameters)),
        ]
        chain = Chain(steps)
        return (
            chain
            if self.calibrate is None
            else CalibratedClassifier(chain, method=self.calibrate, seed=self.seed)
        )

    def _check_parameters(self) -> None:
        choices = {"choose": ("best", "one-se"), "refit": ("train", "all")}
        for name, allowed in choices.items():
            if getattr(self, name) not in allowed:
                raise ValueError(
                    f"{name} must be {' or '.join(map(repr, allowed))}, got {getattr(self, name)!r}."
                )
        if self.calibrate not in (None, "temperature", "sigmoid"):
            raise ValueError(f"calibrate must be None, 'temperature' or 'sigmoid', got {self.calibrate!r}.")
        if self.time_limit is not None and not self.time_limit > 0:
            raise ValueError(f"time_limit must be a number of seconds > 0, got {self.time_limit!r}.")

    def _lock(self, X: Any, codes: Array, groups: Any, weights: Any, split: Any) -> None:
        """Divide the rows, before anything else looks at them."""
        n = len(codes)
        self._all = (X, codes, weights)
        self._train, self._test_rows, self._X_test = np.arange(n), None, None
        self.test_rows_: Array | None = None
        if self.test is None:
            return
        if isinstance(self.test, (tuple, list)):
            X_test, y_test = checked_rows(self, self.test[0], self.test[1], reset=False)
            unknown = y_test[~np.isin(y_test, self.classes_)]
            if len(unknown):
                raise ValueError(
                    f"The test rows have a label that no training row has: {unknown.tolist()[0]!r}."
                )
            self._X_test = X_test
            codes_test = np.searchsorted(self.classes_, y_test)
            self._test_rows = LockedRows(codes_test, self.classes_, in_time=split.kind == "time")
            return
        self._train, test = split.holdout(codes, groups, self.test)
        self.test_rows_ = test
        self._X_test = _safe_indexing(X, test)
        self._test_rows = LockedRows(
            codes[test],
            self.classes_,
            None if weights is None else weights[test],
            groups[test] if split.kind == "group" else None,
            split.kind == "time",
        )

    def _rows(self, X: Any, codes: Array, groups: Any, weights: Any, split: Any, train: Array) -> Rows:
        part = X if len(train) == len(codes) else _safe_indexing(X, train)
        groups = None if groups is None else groups[train]
        folds = split.folds(codes[train], groups, self.folds)
        weights = None if weights is None else weights[train]
        return Rows(part, codes[train], self.classes_, weights, folds, split.kind == "stratified")

    def _keep_findings(self, X: Any, y: Array, groups: Any, rows: Rows, kind: str) -> None:
        brought = isinstance(self.test, (tuple, list))
        self.findings_: list[Finding] = check(
            rows.X,
            y[self._train],
            X_test=self._X_test,
            y_test=None if self._test_rows is None else self.classes_[self._test_rows.codes],
            groups=None if groups is None else groups[self._train],
            folds=rows.folds,
            split=kind,
            n_folds=len(rows.folds),
            own_test=brought,
        )
        for finding in self.findings_:
            if finding.severity == "warning":
                warnings.warn(
                    f"{finding.subject}: {finding.message} {finding.remedy}", LeakageWarning, stacklevel=3
                )

    def _families(self) -> list[Any]:
        return families(self.preset, self.include, self.exclude, self.own)

    def _run(self, rows: Rows) -> None:
        rules = Rules(
            self._scorers,
            self.preset,
            as_progress(self.progress),
            self.class_weight,
            self.time_limit,
        )
        ways = representations(rows.X, self.preset)
        self._ways = {way.name: way for way in ways}
        contest = Contest(rows, self._families(), ways, rules)
        self.leaderboard_: Leaderboard = contest.run()
        self.interrupted_ = contest.interrupted
        if not len(self.leaderboard_):
            if contest.interrupted:
                raise KeyboardInterrupt
            reasons = "; ".join(f"{one.family}: {one.reason}" for one in self.leaderboard_.skipped)
            raise ValueError(f"No family could be tried on these data. {reasons}")
        self.best_ = self.leaderboard_.best
        self.chosen_ = (
            self.best_ if self.choose == "best" else self.leaderboard_.one_standard_error(self.best_)
        )

    def _nest(self, rows: Rows, y: Array, groups: Any) -> dict[str, Array]:
        """Scores of the whole procedure, each outer fold choosing for itself."""
        scores: dict[str, list[float]] = {scorer.name: [] for scorer in self._scorers}
        for train, test in rows.folds:
            inner = clone(self).set_params(test=None, nested=False, progress="silent")
            if not isinstance(self.folds, (int, np.integer)):
                inner.set_params(folds=len(rows.folds))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LeakageWarning)  # said already
                inner.fit(
                    _safe_indexing(rows.X, train),
                    y[train],
                    None if groups is None else groups[train],
                    None if rows.weights is None else rows.weights[train],
                )
            answers = answers_of(inner.model_, _safe_indexing(rows.X, test), self.classes_)
            weights = None if rows.weights is None else rows.weights[test]
            for scorer in self._scorers:
                scores[scorer.name].append(scorer(answers, rows.codes[test], self.classes_, weights))
        return {name: np.array(values) for name, values in scores.items()}

    # -- the test ---------------------------------------------------------------------------------------------

    def open_test(self) -> TestResult:
        """Score the chosen model on the locked rows. It is counted how often that is done."""
        check_is_fitted(self, "model_")
        rows = self._test_rows
        if rows is None:
            raise ValueError("There are no test rows: test=None switched the split off.")
        self.openings_ += 1
        if self._test_result is None:
            answers = answers_of(self.model_, self._X_test, self.classes_)
            most = np.bincount(self._all[1][self._train]).argmax()
            scores = {s.name: s(answers, rows.codes, self.classes_, rows.weights) for s in self._scorers}
            self._test_result = TestResult(
                str(self.chosen_),
                len(rows.codes),
                len(self._train),
                scores,
                intervals_of(answers, rows, self._scorers, self.seed),
                {s.name: self.leaderboard_.mean(self.chosen_, s.name) for s in self._scorers},
                float(np.mean(rows.codes == most)),
                self.classes_,
                rows.codes,
                answers,
            )
            if self.refit == "all":
                self.model_ = self._fitted(*self._all)
        return replace(self._test_result, openings=self.openings_, refitted=self.refit == "all")

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

    @_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Array:
        """Scores of the chosen model."""
        check_is_fitted(self, "model_")
        return np.asarray(self.model_.decision_function(checked_rows(self, X, reset=False)[0]))
