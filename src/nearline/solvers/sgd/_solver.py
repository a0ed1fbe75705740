"""Stochastic gradient descent, a row or a mini-batch at a time."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from nearline._arrays.design import Array, Design, as_design, contiguous
from nearline._arrays.targets import checked_targets
from nearline._records.habits import named
from nearline._records.kept import Flag, OneOf, OrNone, Real, Whole, kept
from nearline._records.refused import ParameterError, UnknownNameError
from nearline.losses import LOSSES, Loss
from nearline.regularizers import REGULARIZERS, Regularizer
from nearline.risk import Risk
from nearline.risk.params import Params
from nearline.solvers._base import Solver
from nearline.solvers._certifier import Goal
from nearline.solvers._mean_gradient import with_mean_gradient
from nearline.solvers._state import State
from nearline.solvers.sgd._batch import Batch
from nearline.solvers.sgd._progress import DescentProgress, Duals
from nearline.solvers.sgd._pull import Pull, refusal
from nearline.solvers.sgd._steps import check_eta
from nearline.solvers.sgd._zeros import with_zeros

# eta_t from (eta, l2 = alpha times the strength of |W|^2 / 2, decay, t = number of steps taken before).
Schedule = Callable[[float, float, float, Array], Array]
SCHEDULES: dict[str, Schedule] = {
    "constant": lambda eta, l2, decay, t: np.full(len(t), eta),
    "decaying": lambda eta, l2, decay, t: eta / (1.0 + decay * t),
    "optimal": lambda eta, l2, decay, t: eta / np.maximum(1.0 + eta * l2 * t, np.sqrt(1.0 + decay * t)),
    "adaptive": lambda eta, l2, decay, t: np.full(len(t), eta),
}


@dataclass
class SGDState(State):
    """Progress over the rows of a risk, and what the adaptive schedule and the certificate need."""

    progress: DescentProgress = field(kw_only=True)
    rows: Batch = field(kw_only=True)
    random: np.random.Generator = field(kw_only=True)
    row_duals: Duals | None = field(kw_only=True)  # losses with kinks have no gradient to derive duals from
    largest_eta: float = field(kw_only=True)
    goal: Goal = field(kw_only=True)
    passes: int = 0
    last_move: Array | None = None
    turning: float = 0.0  # sum of inner products of successive moves, since eta was last lowered
    age: int = 0  # passes since then


@kept(
    schedule=OneOf(("auto", *SCHEDULES)),
    eta=OrNone(Real(above=0.0)),
    decay=OrNone(Real()),
    batch_size=Whole(1),
    averaged=Flag(),
    shuffle=Flag(),
    random_state=Whole(),
    look_every=OrNone(Whole(1)),
)
@dataclass(frozen=True)
class SGD(Solver):
    """Stochastic gradient descent. One iteration is one pass over the rows, in an order drawn anew each time.

    Step t, over a batch with mean gradient G (of the data loss, in W) and g (in b), see :func:`sgd_step`:

        W <- soft((1 - eta_t alpha l2) W - eta_t G, eta_t alpha l1),     b <- b - eta_t g

    (of a penalty of another kind: W <- prox(W - eta_t G, eta_t alpha R), or a step along its gradient)

    Parameters
    ----------
    schedule : how eta_t, the step size, goes down from ``eta``:

        - "constant": eta
        - "decaying": eta / (1 + decay t)
        - "optimal": eta / max(1 + eta alpha l2 t, sqrt(1 + decay t)); the first is 1 / (alpha l2 (t_0 + t)), which
          no schedule beats for long under an L2 penalty, the second does well before and without it
        - "adaptive": halved when passes turn back on themselves, that is when the moves of successive passes point
          against each other; never below eta / (number of passes)^(3/4). Each value starts at the last one's mean.
        - "auto": "adaptive" for smooth losses, "optimal" for those with kinks.
    eta : first step size. None: the largest that is safe, 1 / (steepness of the loss * max |x|^2 + alpha l2).
    decay : speed of the schedules that have it. None: 1 / (number of rows), or 1e-4 in :meth:`partial_fit`.
    batch_size : rows a step; their gradients are averaged.
    averaged : whether the answer is the mean of the iterates, later ones counting more in proportion to t, else the last
        iterate. With an L1 penalty weights of the mean are set to 0 where a proximal step on them alone ends at 0, if
        that does not raise the risk (:meth:`partial_fit`, which sees one batch: where the last iterate is 0).
    shuffle, random_state : the order of the rows. ``shuffle=False`` goes through them as they are.
    look_every : passes between looks at the risk, which cost about as much as a pass. The last pass always ends with
        one; in between, the recorded objective repeats. None: 1, or 8 where the numbers in X times the number of
        columns are more than 30,000.

    Features of very different scales make SGD slow (it stays plain, so that its steps are those of the textbook):
    scale them first, or take another solver, which does that inside.

    Examples
    --------
    >>> import numpy as np
    >>> from nearline import Risk, SGD, minimize
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [3.0, 1.0], [2.0, 3.0]])
    >>> risk = Risk(X, np.array([0, 0, 1, 1]), loss="logistic", alpha=0.1)
    >>> minimize(risk, SGD(batch_size=2), tol=1e-2).converged
    True
    """

    name: ClassVar[str] = "sgd"
    max_iter: int = 1000
    schedule: str = "auto"
    eta: float | None = None
    decay: float | None = None
    batch_size: int = 1
    averaged: bool = True
    shuffle: bool = True
    random_state: int = 0
    look_every: int | None = None

    def __post_init__(self) -> None:
        if self.schedule not in ("auto", *SCHEDULES):
            raise UnknownNameError("schedule", self.schedule, ("auto", *SCHEDULES))
        if self.eta is not None:
            check_eta(self.eta, 0.0)
        if self.decay is not None and not 0 <= self.decay < np.inf:
            raise ParameterError("decay", self.decay, "a finite number >= 0, or None")
        for name, value in (("batch_size", self.batch_size), ("look_every", self.look_every)):
            if value is not None and not (value >= 1 and value == int(value)):
                raise ParameterError(name, value, "a whole number >= 1")

    # -- a risk ----------------------------------------------------------------------------------------------

    def refuses(self, risk: Risk) -> str | None:
        if risk.loss.refusal is not None:
            return f"{risk.loss.refusal}."
        return None if risk.elastic else refusal(risk.regularizer)

    def start(self, risk: Risk, params: Params, goal: Goal) -> SGDState:
        visited = np.flatnonzero(risk.weights > 0)
        weights = risk.weights * (len(visited) / risk.total_weight)  # of mean 1 over the visited rows
        rows = Batch(
            risk.X,
            risk.targets,
            weights,
            risk.loss,
            Pull.of(risk.regularizer, risk.alpha, risk.n_outputs),
            risk.bias,
            visited,
            risk.passes.back_product,
        )
        duals = None if risk.loss.smooth else Duals.zeros(risk.n_rows, risk.n_outputs)
        progress = self.begin(params)
        progress.eta = self._first_eta(rows, params)
        return SGDState(
            risk.scored(params),
            None if duals is None else duals.mean,
            estimate=None if duals is None else np.inf,  # duals of 0 certify nothing
            progress=progress,
            rows=rows,
            random=np.random.default_rng(self.random_state),
            row_duals=duals,
            largest_eta=progress.eta,
            goal=goal,
        )

    def step(self, risk: Risk, state: State) -> State:
        assert isinstance(state, SGDState)
        schedule = self.schedule
        if schedule == "auto":
            schedule = "adaptive" if risk.loss.smooth else "optimal"
        rows, before = state.rows, state.progress.params.flat.copy()
        if self.shuffle:
            rows = replace(rows, order=state.random.permutation(rows.order))
        self._advance(state.progress, rows, state.row_duals, schedule, 1.0 / len(rows.order))
        state.passes += 1
        every = self.look_every or (1 if rows.n_numbers * risk.n_outputs <= 3e4 else 8)
        if state.passes % every == 0 or state.passes == self.max_iter:
            self._look(risk, state)
        else:
            state.estimate = np.inf  # the point has not changed, so neither has its certificate
        if schedule == "adaptive":
            self._adapt(state, state.progress.params.flat - before)
        return state

    def _look(self, risk: Risk, state: SGDState) -> None:
        """The risk at the answer, and duals for its certificate."""
        look = risk.at if risk.unpenalized else risk.scored  # a gradient costs another product with X
        state.duals = None if state.row_duals is None else state.row_duals.mean
        if state.rows.pull.kinks and self.averaged:
            state.point = with_zeros(risk, state.progress.mean, state.progress.params, state.duals)
        else:
            state.point = look(self.answer(state.progress, state.rows.pull))
        check_finite(state.point.value, state.progress, state.rows)
        state.estimate = None
        if state.duals is not None and risk.unpenalized:
            state.point = with_mean_gradient(risk, state.point, state.duals, state.goal.tol)

    def _adapt(self, state: SGDState, move: Array) -> None:
        """Halve eta if the passes since it was last lowered have, on the whole, turned back."""
        assert state.progress.eta is not None
        state.age += 1
        state.turning += 0.0 if state.last_move is None else float(move @ state.last_move)
        state.last_move = move
        if state.age < 3 or state.turning >= 0:
            return
        eta = max(0.5 * state.progress.eta, state.largest_eta / (1 + state.passes) ** 0.75)
        if eta < state.progress.eta:
            state.progress.eta = eta
            if self.averaged:
                state.progress.restart_at_mean()
        state.turning, state.last_move, state.age = 0.0, None, 0

    # -- batches, one after the other ------------------------------------------------------------------------

    def begin(self, params: Params, t: int = 0) -> DescentProgress:
        """Progress at ``params``; ``t`` is the number of steps that led there, for the schedule."""
        return DescentProgress(params.copy(), params.like(np.zeros_like(params.flat)), t=t, since=t)

    def answer(self, progress: DescentProgress, pull: Pull) -> Params:
        """The parameters to use: the mean of the iterates or the last one, as ``averaged`` says."""
        if not self.averaged:
            return progress.params.copy()
        mean = progress.mean
        if pull.kinks:
            mean.W[progress.params.W == 0] = 0.0
        return mean

    def partial_fit(
        self,
        progress: DescentProgress,
        X: Design,
        targets: Array,
        *,
        loss: Loss | str = "logistic",
        regularizer: Regularizer | str = "l2",
        alpha: float = 1e-4,
        weights: Array | None = None,
        bias: bool = True,
    ) -> Params:
        """One pass over new rows, in the order given; the schedule goes on where the last batch ended.

        ``progress`` (last iterate, steps taken, running mean) is changed in place; the parameters to use from here
        on are returned. Weights multiply the gradients of their rows as they are, as the rows to come are not known.
        Schedules that watch whole passes ("adaptive", "auto") act as "optimal". To fit batch by batch::

            progress = sgd.begin(Params.zeros(K, D))                # before the first batch, or at fitted Params
            params = sgd.partial_fit(progress, X, targets, loss=..., regularizer=..., alpha=..., weights=...)
        """
        loss = named(loss, LOSSES, Loss, "loss")
        regularizer = named(regularizer, REGULARIZERS, Regularizer, "regularizer")
        X, targets = as_design(X), checked_targets(targets, loss.label_count(progress.params.n_outputs))
        weights = np.ones(X.shape[0]) if weights is None else contiguous(weights, np.float64)
        pull = Pull.of(regularizer, alpha, progress.params.n_outputs)
        batch = Batch(X, targets, weights, loss, pull, bias, np.flatnonzero(weights > 0))
        eta = self._first_eta(batch, progress.params)
        progress.eta = eta if progress.eta is None else min(eta, progress.eta)
        schedule = "optimal" if self.schedule in ("auto", "adaptive") else self.schedule
        self._advance(progress, batch, None, schedule, 1e-4)
        return self.answer(progress, pull)

    def _first_eta(self, batch: Batch, params: Params) -> float:
        eta = batch.safe_eta(params.n_outputs) if self.eta is None else self.eta
        check_eta(eta, batch.pull.l2)
        return eta

    def _advance(
        self,
        progress: DescentProgress,
        batch: Batch,
        duals: Duals | None,
        schedule: str,
        default_decay: float,
    ) -> None:
        """All steps of one pass over the batch's rows."""
        assert progress.eta is not None
        t = progress.t + np.arange(-(-len(batch.order) // self.batch_size), dtype=np.float64)
        decay = default_decay * self.batch_size if self.decay is None else self.decay
        etas = SCHEDULES[schedule](progress.eta, batch.pull.l2, decay, t)
        shares = t - progress.since + 1.0 if self.averaged else np.empty(0)
        batch.run(progress, self.batch_size, etas, shares, duals)
        progress.t += len(t)
        progress.total_share += float(shares.sum())
        check_finite(progress.params.flat, progress, batch)


def check_finite(numbers: Any, progress: DescentProgress, batch: Batch) -> None:
    """Steps that are too large show in the parameters, and before that in the risk."""
    if not np.isfinite(numbers).all():
        raise ValueError(
            f"SGD diverged with eta = {progress.eta:g}: a step that is safe for these rows is "
            f"{batch.safe_eta(progress.params.n_outputs):g}. Give a smaller eta, or eta=None to have it chosen."
        )
