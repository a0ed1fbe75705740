"""learn: from rows with classes to a map; when to stop, and whether it was worth it, is decided on rows held out."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nearline._arrays.design import Array
from nearline._parallel.tiles import single_threaded_blas
from nearline.losses.embedding import EmbeddingLoss
from nearline.neighbors.learning.batches import parts
from nearline.neighbors.learning.blends import SHARES, beside, blended, mean_square
from nearline.neighbors.learning.descent import Problem, adam, lbfgs
from nearline.neighbors.learning.held_out import is_better, wrong_votes
from nearline.neighbors.learning.maps import HiddenMap, LinearMap, Map
from nearline.neighbors.learning.starts import first_map, row_space

DIM = 32  # coordinates unless asked for others
TRIED = 1_500  # up to so many rows every start and decay is tried
FEW, FOLDS = 3_000, 4  # up to so many rows every row is held out once, in so many parts
SHARE, MOST_HELD = 5, 2_000  # beyond: a fifth of the rows, at most so many
DECAYS = (3e-4, 3e-3)  # weight decays that few rows decide between; more take the first
ROUNDS, PATIENCE = 8, 3  # looks at the held-out error; those without a better one until the end
Progress = Callable[[str, float, float], None]  # what was done, the objective, the held-out error (NaN: none)


@dataclass(frozen=True)
class Recipe:
    """What is learned, and how."""

    loss: EmbeddingLoss
    dim: int | None = None
    hidden: int = 0
    start: str = "auto"
    weight_decay: float | None = None  # None: as held-out rows say
    rounds: int | None = None  # None: as held-out rows say
    random_state: int = 0
    blends: bool = False  # whether the distance may be learned and plain by shares

    @property
    def decays(self) -> tuple[float, ...]:
        return DECAYS if self.weight_decay is None else (self.weight_decay,)


@dataclass(frozen=True)
class Learnt:
    """A map, and how it came about."""

    map: Map
    parameters: Array  # of the map, for rows less the mean, times the scale
    proxies: Array
    mean: Array
    scale: float
    start: str
    objective: Array  # after each round
    errors: Array  # share of held-out rows that are outvoted, at the start and after each round; empty: none held out
    plain_error: float  # the same in the given coordinates; NaN: none held out
    share: float  # of the learned distance, the rest being plain
    better: bool  # whether the learned distance is better than the plain one by more than chance

    def embed(self, X: Array) -> Array:
        """Rows X (n, D) as embedded rows (n, d)."""
        rows = ((X - self.mean) * self.scale).astype(X.dtype, copy=False)
        return self.map.forward(self.parameters.astype(X.dtype), rows)[0]


def learn(X: Array, codes: Array, recipe: Recipe, progress: Progress | None = None) -> Learnt:
    """The map that the recipe learns from rows X (n, D) of classes 0 .. C-1; the same on any number of threads."""
    with single_threaded_blas:
        return _Learning(X, codes, recipe, progress).run()


class _Learning:
    def __init__(self, X: Array, codes: Array, recipe: Recipe, progress: Progress | None) -> None:
        self.recipe, self.codes, self.progress = recipe, codes, progress
        self.mean = np.asarray(X.mean(axis=0, dtype=np.float64))
        squares = sum(float(np.square(X[i : i + 4096] - self.mean).sum()) for i in range(0, len(X), 4096))
        self.scale = 1.0 / (np.sqrt(squares / len(X)) or 1.0)
        self.X = np.empty(X.shape, dtype=np.float32)
        for i in range(0, len(X), 4096):  # no second copy in float64
            self.X[i : i + 4096] = (X[i : i + 4096] - self.mean) * self.scale
        D = X.shape[1]
        d = min(D, DIM) if recipe.dim is None else recipe.dim
        self.basis = None if recipe.hidden else row_space(self.X, d)
        if self.basis is not None:
            self.X, D = self.X @ self.basis.T, len(self.basis)
        self.map: Map = HiddenMap(d, D, recipe.hidden) if recipe.hidden else LinearMap(d, D)

    def run(self) -> Learnt:
        held = self._held()
        if not held:
            start = "lda" if self.recipe.start == "auto" else self.recipe.start
            rounds = ROUNDS if self.recipe.rounds is None else self.recipe.rounds
            trial = _Trial(start, self.recipe.decays[0])
            return self._delivered(trial, 1.0, self._curve(trial, None, rounds), [], np.empty(0))
        plain = np.concatenate([self._outvoted_plainly(part) for part in held])
        curves = {trial: [self._curve(trial, part, ROUNDS) for part in held] for trial in self._trials(held)}
        wrong = {
            (trial, share): _joined(of_parts, place)
            for trial, of_parts in curves.items()
            for place, share in enumerate(self._shares())
        }
        trial, share = min(wrong, key=lambda one: min(float(rounds.sum()) for rounds in wrong[one]))
        best = int(np.argmin([rounds.sum() for rounds in wrong[trial, share]]))
        curve = curves[trial][0] if len(held) == 1 else self._curve(trial, None, best)
        return self._delivered(trial, share, curve.cut(best), wrong[trial, share], plain)

    def _held(self) -> list[Array]:
        """Which rows (n,) are held out, in turn; none where the number of rounds is given or classes are too small."""
        n = len(self.codes)
        if self.recipe.rounds is not None or np.bincount(self.codes).max() < FOLDS:
            return []
        all_in_turn = n <= FEW and self.recipe.loss.smooth and not self.recipe.hidden
        share = FOLDS if all_in_turn else max(SHARE, -(-n // MOST_HELD))
        part = parts(self.codes, share, self._rng())
        return [part == i for i in range(FOLDS if all_in_turn else 1)]

    def _trials(self, held: list[Array]) -> list["_Trial"]:
        """Few rows: all are tried; more: the start whose neighbors are better before anything is learned."""
        decays = self.recipe.decays
        starts = ["pca", "lda"] if self.recipe.start == "auto" else [self.recipe.start]
        if len(self.codes) > TRIED:
            trials = [_Trial(start, decays[0]) for start in starts]
            if len(trials) == 1:
                return trials
            return [min(trials, key=lambda trial: float(self._curve(trial, held[0], 0).wrong[0][0].sum()))]
        first = [_Trial(start, decays[0]) for start in starts]
        return first + [_Trial(starts[0], decay) for decay in decays[1:]]  # strong decay forgets the start

    def _shares(self) -> tuple[float, ...]:
        return SHARES if self.recipe.blends and len(self.codes) <= FEW else SHARES[:1]

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(self.recipe.random_state)

    def _outvoted_plainly(self, held: Array) -> Array:
        return wrong_votes(self.X[~held], self.codes[~held], self.X[held], self.codes[held])

    def _curve(self, trial: "_Trial", held: Array | None, rounds: int) -> "_Curve":
        X, codes = (self.X, self.codes) if held is None else (self.X[~held], self.codes[~held])
        rng, recipe = self._rng(), self.recipe
        own = first_map(self.map, X, codes, trial.start, rng)
        Z = self.map.forward(own.astype(np.float32), X)[0]
        proxies = recipe.loss.proxies(Z, codes, int(self.codes.max()) + 1)
        problem = Problem(X, codes, recipe.loss, self.map, trial.decay)
        at = np.concatenate([own, proxies.ravel().astype(np.float64)])
        out = None if held is None else (self.X[held], self.codes[held])
        curve = _Curve(problem, len(own), at, out, self._shares(), rounds, self.progress)
        if rounds:
            descend = lbfgs if recipe.loss.smooth else adam
            descend(problem, at, len(own), rng, curve.enough)
        return curve

    def _delivered(
        self, trial: "_Trial", share: float, curve: "_Curve", wrong: list[Array], plain: Array
    ) -> Learnt:
        n_own, last = curve.n_own, curve.parameters[-1]
        errors = np.array([rounds.mean() for rounds in wrong])
        proxies, own, learned = last[n_own:].reshape(-1, self.map.d), last[:n_own], self.map
        if isinstance(learned, LinearMap):
            A = learned.matrix(own)
            A = blended(A, mean_square(self.X @ A.T.astype(np.float32)), share)
            A = A if self.basis is None else A @ self.basis  # for rows as they came
            own, learned = A.ravel(), LinearMap(*A.shape)
        better = not len(plain) or is_better(plain, wrong[int(errors.argmin())])
        plain_error = float(plain.mean()) if len(plain) else float("nan")
        return Learnt(
            *(learned, own, proxies, self.mean, self.scale, trial.start),
            *(np.array(curve.objective), errors, plain_error, share, better),
        )


@dataclass(frozen=True)
class _Trial:
    """What held-out rows decide between."""

    start: str
    decay: float


class _Curve:
    """Parameters and held-out votes after each round of one descent."""

    def __init__(
        self,
        problem: Problem,
        n_own: int,
        start: Array,
        held: tuple[Array, Array] | None,
        shares: tuple[float, ...],
        rounds: int,
        progress: Progress | None,
    ) -> None:
        self.problem, self.n_own, self.held = problem, n_own, held
        self.shares, self.rounds, self.progress = shares, rounds, progress
        self.objective: list[float] = []
        self.parameters: list[Array] = [start]
        self.wrong: list[Array] = [] if held is None else [self._outvoted(start)]

    def _outvoted(self, parameters: Array) -> Array:
        """(shares, held-out rows)."""
        assert self.held is not None
        own, problem, (rows, truth) = parameters[: self.n_own].astype(np.float32), self.problem, self.held
        Z, Q = (problem.loss.seen(problem.map.forward(own, X)[0]) for X in (problem.X, rows))
        size = mean_square(Z)
        return np.stack(
            [
                wrong_votes(
                    beside(Z, problem.X, size, share), problem.codes, beside(Q, rows, size, share), truth
                )
                for share in self.shares
            ]
        )

    def enough(self, value: float, parameters: Array) -> bool:
        """Whether to stop; keeps what it is told."""
        self.objective.append(value)
        self.parameters.append(parameters)
        if self.held is not None:
            self.wrong.append(self._outvoted(parameters))
        if self.progress is not None:
            self.progress(
                f"round {len(self.objective)}",
                value,
                float(self.wrong[-1].mean(axis=1).min()) if self.wrong else np.nan,
            )
        counts = [float(wrong.sum(axis=1).min()) for wrong in self.wrong]
        late = bool(counts) and len(counts) - 1 - int(np.argmin(counts)) >= PATIENCE
        return late or len(self.objective) >= self.rounds

    def cut(self, rounds: int) -> "_Curve":
        """The same up to a round."""
        self.objective, self.parameters = self.objective[:rounds], self.parameters[: rounds + 1]
        return self


def _joined(curves: list[_Curve], share: int) -> list[Array]:
    """Votes on held-out rows after each round, parts side by side; what ended early stays as it was."""
    longest = max(len(curve.wrong) for curve in curves)
    return [
        np.concatenate([c.wrong[min(r, len(c.wrong) - 1)][share] for c in curves]) for r in range(longest)
    ]
