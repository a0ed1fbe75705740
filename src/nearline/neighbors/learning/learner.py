"""learn: from rows with classes to a map; when to stop, and whether it was worth it, is decided on rows held out."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nearline._arrays.design import Array
from nearline._parallel.tiles import single_threaded_blas
from nearline.losses.embedding import EmbeddingLoss
from nearline.neighbors.learning.batches import parts
from nearline.neighbors.learning.descent import Problem, adam, lbfgs
from nearline.neighbors.learning.held_out import is_better, wrong_votes
from nearline.neighbors.learning.maps import HiddenMap, LinearMap, Map
from nearline.neighbors.learning.starts import first_map, row_space

DIM = 32  # coordinates unless asked for others
FEW, FOLDS = 1_500, 4  # up to so many rows every row is held out once, in so many parts
SHARE, MOST_HELD = 5, 2_000  # beyond: a fifth of the rows, at most so many
ROUNDS, PATIENCE = 8, 3  # looks at the held-out error; those without a better one until the end
Progress = Callable[[str, float, float], None]  # what was done, the objective, the held-out error (NaN: none)


@dataclass(frozen=True)
class Recipe:
    """What is learned, and how."""

    loss: EmbeddingLoss
    dim: int | None = None
    hidden: int = 0
    start: str = "auto"
    weight_decay: float = 3e-4
    rounds: int | None = None  # None: as held-out rows say
    random_state: int = 0


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
            return self._delivered(
                start,
                self._curve(start, None, ROUNDS if self.recipe.rounds is None else self.recipe.rounds),
                [],
                np.empty(0),
            )
        plain = np.concatenate([self._outvoted_plainly(part) for part in held])
        curves = {start: [self._curve(start, part, ROUNDS) for part in held] for start in self._starts(held)}
        wrong = {start: _joined(of_parts) for start, of_parts in curves.items()}
        start = min(wrong, key=lambda one: min(int(rounds.sum()) for rounds in wrong[one]))
        best = int(np.argmin([rounds.sum() for rounds in wrong[start]]))
        curve = curves[start][0] if len(held) == 1 else self._curve(start, None, best)
        return self._delivered(start, curve.cut(best), wrong[start], plain)

    def _held(self) -> list[Array]:
        """Which rows (n,) are held out, in turn; none where the number of rounds is given or classes are too small."""
        n = len(self.codes)
        if self.recipe.rounds is not None or np.bincount(self.codes).max() < FOLDS:
            return []
        all_in_turn = n <= FEW and self.recipe.loss.smooth and not self.recipe.hidden
        share = FOLDS if all_in_turn else max(SHARE, -(-n // MOST_HELD))
        part = parts(self.codes, share, self._rng())
        return [part == i for i in range(FOLDS if all_in_turn else 1)]

    def _starts(self, held: list[Array]) -> list[str]:
        """Few rows: both are tried; many: the one whose neighbors are better before anything is learned."""
        if self.recipe.start != "auto":
            return [self.recipe.start]
        both = ["pca", "lda"]
        if len(held) > 1:
            return both
        return [min(both, key=lambda start: int(self._curve(start, held[0], 0).wrong[0].sum()))]

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(self.recipe.random_state)

    def _outvoted_plainly(self, held: Array) -> Array:
        return wrong_votes(self.X[~held], self.codes[~held], self.X[held], self.codes[held])

    def _curve(self, start: str, held: Array | None, rounds: int) -> "_Curve":
        X, codes = (self.X, self.codes) if held is None else (self.X[~held], self.codes[~held])
        rng, recipe = self._rng(), self.recipe
        own = first_map(self.map, X, codes, start, rng)
        Z = self.map.forward(own.astype(np.float32), X)[0]
        proxies = recipe.loss.proxies(Z, codes, int(self.codes.max()) + 1)
        problem = Problem(X, codes, recipe.loss, self.map, recipe.weight_decay)
        at = np.concatenate([own, proxies.ravel().astype(np.float64)])
        out = None if held is None else (self.X[held], self.codes[held])
        curve = _Curve(problem, len(own), at, out, rounds, self.progress)
        if rounds:
            descend = lbfgs if recipe.loss.smooth else adam
            descend(problem, at, len(own), rng, curve.enough)
        return curve

    def _delivered(self, start: str, curve: "_Curve", wrong: list[Array], plain: Array) -> Learnt:
        n_own, last = curve.n_own, curve.parameters[-1]
        errors = np.array([rounds.mean() for rounds in wrong])
        proxies, own, learned = last[n_own:].reshape(-1, self.map.d), last[:n_own], self.map
        if self.basis is not None and isinstance(learned, LinearMap):  # for rows as they came
            own = (learned.matrix(own) @ self.basis).ravel()
            learned = LinearMap(learned.d, self.basis.shape[1])
        better = not len(plain) or is_better(plain, wrong[int(errors.argmin())])
        plain_error = float(plain.mean()) if len(plain) else float("nan")
        return Learnt(
            *(learned, own, proxies, self.mean, self.scale, start),
            *(np.array(curve.objective), errors, plain_error, better),
        )


class _Curve:
    """Parameters and held-out votes after each round of one descent."""

    def __init__(
        self,
        problem: Problem,
        n_own: int,
        start: Array,
        held: tuple[Array, Array] | None,
        rounds: int,
        progress: Progress | None,
    ) -> None:
        self.problem, self.n_own, self.held, self.rounds, self.progress = (
            problem,
            n_own,
            held,
            rounds,
            progress,
        )
        self.objective: list[float] = []
        self.parameters: list[Array] = [start]
        self.wrong: list[Array] = [] if held is None else [self._outvoted(start)]

    def _outvoted(self, parameters: Array) -> Array:
        assert self.held is not None
        own, problem = parameters[: self.n_own].astype(np.float32), self.problem
        Z, Q = (problem.loss.seen(problem.map.forward(own, X)[0]) for X in (problem.X, self.held[0]))
        return wrong_votes(Z, problem.codes, Q, self.held[1])

    def enough(self, value: float, parameters: Array) -> bool:
        """Whether to stop; keeps what it is told."""
        self.objective.append(value)
        self.parameters.append(parameters)
        if self.held is not None:
            self.wrong.append(self._outvoted(parameters))
        if self.progress is not None:
            self.progress(
                f"round {len(self.objective)}", value, float(self.wrong[-1].mean()) if self.wrong else np.nan
            )
        counts = [int(wrong.sum()) for wrong in self.wrong]
        late = bool(counts) and len(counts) - 1 - int(np.argmin(counts)) >= PATIENCE
        return late or len(self.objective) >= self.rounds

    def cut(self, rounds: int) -> "_Curve":
        """The same up to a round."""
        self.objective, self.parameters = self.objective[:rounds], self.parameters[: rounds + 1]
        return self


def _joined(curves: list[_Curve]) -> list[Array]:
    """Which held-out rows are outvoted after each round, parts side by side; what ended early stays as it was."""
    longest = max(len(curve.wrong) for curve in curves)
    return [np.concatenate([c.wrong[min(r, len(c.wrong) - 1)] for c in curves]) for r in range(longest)]
