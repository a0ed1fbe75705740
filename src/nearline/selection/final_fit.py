"""The fit of a chosen candidate on the whole training part: with class weights, and calibrated if asked for."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from nearline._arrays.design import Array
from nearline.selection.calibration import CalibratedClassifier
from nearline.selection.cross_fitting import cross_fitted, gives_probabilities
from nearline.selection.fold_data import fitting_weights
from nearline.selection.folds import Folds
from nearline.selection.rows import LabeledRows
from nearline.selection.splits import Division

CALIBRATION_FOLDS = 5  # or as many as the rarest class has rows
NEEDED = "needed"


@dataclass(frozen=True)
class FinalFit:
    """How a model is fitted in the end."""

    classes: Array
    calibrate: str | None
    class_weight: Any
    division: Division

    @property
    def only_if_needed(self) -> bool:
        """Whether only a model without probabilities is calibrated."""
        return self.calibrate == NEEDED

    def times(self, model: Any) -> int:
        """How often a model is fitted: calibration takes several fits."""
        once = self.calibrate is None or (self.calibrate == NEEDED and gives_probabilities(model))
        return 1 if once else 1 + CALIBRATION_FOLDS

    def check(self, rows: LabeledRows) -> None:
        """Refuse rows that cannot be calibrated on."""
        if self.calibrate not in (None, NEEDED):
            self._folds(self._codes(rows), rows.groups)

    def of(self, model: Any, rows: LabeledRows, *, hurried: bool = False) -> Any:
        """The model fitted on these rows; in a hurry, probabilities that it lacks are not waited for."""
        codes, random_state = self._codes(rows), self.division.random_state
        if self.calibrate == NEEDED:
            if not (gives_probabilities(model) or hurried):
                model = cross_fitted(model, codes, rows.groups, self.division)
        elif self.calibrate is not None:
            folds = self._folds(codes, rows.groups)
            model = CalibratedClassifier(model, method=self.calibrate, folds=folds, random_state=random_state)
        weights = fitting_weights(codes, self.classes, rows.weights, self.class_weight)
        model = model.fit(rows.X, self.classes[codes], weights)
        if isinstance(model, CalibratedClassifier) and isinstance(model.folds, Folds):
            model.set_params(folds=len(model.folds))  # the pairs are of these rows, which the model outlives
        return model

    def _codes(self, rows: LabeledRows) -> Array:
        return np.searchsorted(self.classes, rows.y)

    def _folds(self, codes: Array, groups: Any) -> Any:
        """Folds that every class is in, by group or in time where the contest's are."""
        n_folds = min(CALIBRATION_FOLDS, int(np.bincount(codes).min()))
        if n_folds < 2:
            rare = self.classes[np.bincount(codes).argmin()]
            raise ValueError(
                f"calibrate={self.calibrate!r} needs at least 2 training rows of each class, {rare!r} has 1: give more of "
                "them, or calibrate=None."
            )
        if self.division.kind == "stratified":
            return n_folds
        return self.division.folds(codes, groups, n_folds, quietly=True)
