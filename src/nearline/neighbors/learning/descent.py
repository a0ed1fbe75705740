"""Descent on an embedding loss: L-BFGS on samples of the rows, or Adam on small batches."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import minimize

from nearline._arrays.design import Array
from nearline._parallel.stopping import checkpoint
from nearline.losses.embedding import EmbeddingLoss
from nearline.neighbors.learning.batches import balanced, epoch
from nearline.neighbors.learning.maps import Map

SAMPLE = 2_500  # rows at a time of L-BFGS
ROUND = 10  # its iterations on the same rows
BATCH = 256  # rows at a time of Adam
STEP, FIRST, SECOND = 0.03, 0.9, 0.999  # Adam's
Enough = Callable[[float, Array], bool]  # of a value and parameters: whether to stop


@dataclass(frozen=True)
class Problem:
    """mean loss of the embedded rows + weight_decay |weights|^2, rows in float32."""

    X: Array
    codes: Array
    loss: EmbeddingLoss
    map: Map
    weight_decay: float

    def at(self, parameters: Array, rows: Array | slice, n_own: int) -> tuple[float, Array]:
        """Value and gradient for some rows; the first ``n_own`` parameters are the map's, the others the proxies."""
        X, codes = self.X[rows], self.codes[rows]
        own = parameters[:n_own].astype(np.float32)
        Z, held = self.map.forward(own, X)
        proxies = parameters[n_own:].astype(np.float32).reshape(-1, Z.shape[1])
        value, G, of_proxies = self.loss.at(Z, codes, proxies)
        gradient = np.concatenate([self.map.backward(own, X, G, held), of_proxies.ravel()]).astype(np.float64)
        if self.weight_decay:
            weights = self.map.weights(parameters)
            value += self.weight_decay * float(weights @ weights)
            self.map.weights(gradient)[:] += 2.0 * self.weight_decay * weights
        return value, gradient


def lbfgs(problem: Problem, start: Array, n_own: int, rng: np.random.Generator, enough: Enough) -> None:
    """Ten iterations, again and again, until ``enough`` says so; where rows are many, on another sample of them each time."""
    few = len(problem.codes) <= SAMPLE
    iterations = 0

    def after(intermediate_result: Any) -> None:
        nonlocal iterations
        iterations += 1
        if iterations % ROUND == 0 and enough(float(intermediate_result.fun), intermediate_result.x.copy()):
            raise StopIteration

    def at(x: Array, rows: Array | slice) -> tuple[float, Array]:
        checkpoint()
        return problem.at(x, rows, n_own)

    options: Any = {"maxiter": 10**6 if few else ROUND, "maxcor": 10, "ftol": 1e-7, "gtol": 1e-7}
    while True:
        rows: Any = slice(None) if few else balanced(problem.codes, SAMPLE, rng)
        found = minimize(at, start, (rows,), jac=True, method="L-BFGS-B", callback=after, options=options)
        start = found.x
        if iterations % ROUND != 0 or found.nit == 0:  # converged between two looks
            iterations = 0
            if enough(float(found.fun), start.copy()) or few:
                return
        elif few or found.status == 99:
            return


@dataclass
class Adam:
    """Adam's moments, kept between calls."""

    first: Array
    second: Array
    count: int = 0
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    @classmethod
    def of(cls, parameters: Array, rng: np.random.Generator) -> "Adam":
        return cls(np.zeros_like(parameters), np.zeros_like(parameters), 0, rng)

    def step(self, parameters: Array, gradient: Array, size: float) -> Array:
        self.count += 1
        self.first += (1.0 - FIRST) * (gradient - self.first)
        self.second += (1.0 - SECOND) * (gradient * gradient - self.second)
        first = self.first / (1.0 - FIRST**self.count)
        second = self.second / (1.0 - SECOND**self.count)
        return np.asarray(parameters - size * first / (np.sqrt(second) + 1e-12))

    def epoch(self, problem: Problem, parameters: Array, n_own: int) -> tuple[float, Array]:
        """Mean value over the batches of an epoch, and the parameters after it. Steps are relative to their size."""
        size = STEP * float(np.sqrt(np.mean(parameters[:n_own] ** 2)) or 1.0)
        values = []
        for rows in epoch(problem.codes, BATCH, self.rng):
            checkpoint()
            value, gradient = problem.at(parameters, rows, n_own)
            values.append(value)
            parameters = self.step(parameters, gradient, size)
        return float(np.mean(values)), parameters


def adam(problem: Problem, start: Array, n_own: int, rng: np.random.Generator, enough: Enough) -> None:
    """Epochs, at least ten batches at a time, until ``enough`` says so."""
    state = Adam.of(start, rng)
    epochs = max(1, -(-10 * BATCH // max(len(problem.codes), 1)))
    while True:
        for _ in range(epochs):
            value, start = state.epoch(problem, start, n_own)
        if enough(value, start):
            return
