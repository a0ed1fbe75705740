"""Probes of embeddings and exemplars: the k-NN probe, the linear probe over 45 strengths, one SVM for each exemplar."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.harness import Contest, Entry, Heat, Outcome, Session, Verdict
from benchmarks.homes import NEARLINE, SKLEARN, TORCH

KS, T, CLASSES = (10, 20, 100, 200), 0.07, 100
STRENGTHS = tuple((10.0 ** np.linspace(-6, 5, 45)).tolist())
BLOCK = 1000  # queries of the peer at a time


@dataclass(frozen=True)
class Made:
    """Made embeddings: unit rows around class centers; ``decay`` of the deviations of directions, 0 is isotropic."""

    n: int
    m: int
    D: int
    decay: float
    classes: int = CLASSES

    def rows(self) -> tuple[Any, Any, Any, Any]:
        rng = np.random.default_rng(0)
        scale = np.arange(1, self.D + 1) ** -self.decay
        centers = rng.normal(size=(self.classes, self.D)) * scale
        y = rng.integers(self.classes, size=self.n + self.m)
        X = (0.7 * centers[y] + rng.normal(size=(self.n + self.m, self.D)) * scale).astype(np.float32)
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        return X[: self.n], y[: self.n], X[self.n :], y[self.n :]


# -- the k-NN probe ----------------------------------------------------------------------------------------------------


def our_votes(task: Made) -> Outcome:
    from nearline import probe

    rows = task.rows()
    began = time.perf_counter()
    found = probe(*rows, "dino")
    seconds = time.perf_counter() - began
    return Outcome(seconds, {"accuracies": [line.accuracy for line in found.lines]})


def numpy_votes(task: Made) -> Outcome:
    """The protocol in NumPy, blocks of queries: one product, the largest 200, softmax votes of each k."""
    X, y, Q, truth = task.rows()
    began = time.perf_counter()
    right = np.zeros(len(KS))
    for begin in range(0, len(Q), BLOCK):
        cosines = Q[begin : begin + BLOCK] @ X.T
        top = np.argpartition(-cosines, max(KS) - 1, axis=1)[:, : max(KS)]
        values = np.take_along_axis(cosines, top, axis=1)
        order = np.argsort(-values, axis=1)
        votes, labels = (
            np.exp(np.take_along_axis(values, order, axis=1) / T),
            y[np.take_along_axis(top, order, axis=1)],
        )
        for place, k in enumerate(KS):
            cells = (np.arange(len(labels))[:, None] * task.classes + labels[:, :k]).ravel()
            counts = np.bincount(cells, votes[:, :k].ravel(), minlength=len(labels) * task.classes)
            won = counts.reshape(len(labels), -1).argmax(axis=1)
            right[place] += (won == truth[begin : begin + BLOCK]).sum()
    return Outcome(time.perf_counter() - began, {"accuracies": (right / len(Q)).tolist()})


def torch_votes(task: Made) -> Outcome:
    """The protocol in torch, 100 queries at a time: the product, its largest 200, votes added by class."""
    import torch

    rows = task.rows()
    began = time.perf_counter()
    X, Q = (torch.nn.functional.normalize(torch.from_numpy(one), dim=1) for one in rows[::2])
    y, truth = (torch.from_numpy(one) for one in rows[1::2])
    right = np.zeros(len(KS))
    for some, known in zip(Q.split(100), truth.split(100)):
        values, places = (some @ X.T).topk(max(KS), dim=1)
        weights, labels = (values / T).exp(), y[places]
        for place, k in enumerate(KS):
            counts = torch.zeros(len(some), task.classes).scatter_add_(1, labels[:, :k], weights[:, :k])
            right[place] += int((counts.argmax(dim=1) == known).sum())
    return Outcome(time.perf_counter() - began, {"accuracies": (right / len(Q)).tolist()})


def votes(session: Session) -> Iterator[Heat]:
    absent = None if find_spec("torch") else "torch is not installed"
    n, m = (4000, 500) if session.options.quick else (50_000, 10_000)
    for decay, said in ((0.5, "decaying spectrum"), (0.0, "isotropic")):
        task = Made(n, m, 384, decay)
        yield Heat(
            f"k-NN probe (dino), {n:,} x 384, {m:,} queries, {CLASSES} classes, {said}",
            "accuracies at the four k are shown: they are to be alike",
            [
                Entry("nearline", partial(our_votes, task), _alike, NEARLINE, ours=True),
                Entry(
                    "NumPy, the same protocol",
                    partial(numpy_votes, task),
                    _alike,
                    NEARLINE,
                    note="BLAS of NumPy",
                ),
                Entry(
                    "torch, the same protocol",
                    None if absent else partial(torch_votes, task),
                    _alike,
                    TORCH,
                    absent=absent,
                ),
            ],
        )


def _alike(outcome: Outcome) -> Verdict:
    shown = " ".join(f"{one:.4f}" for one in outcome.facts["accuracies"])
    return Verdict(True, {"accuracy at k = 10, 20, 100, 200": shown})


# -- the linear probe --------------------------------------------------------------------------------------------------


def our_strengths(task: Made) -> Outcome:
    from nearline.probes.logistic import Fits

    X, y, _, _ = task.rows()
    began = time.perf_counter()
    fits = Fits(X, y)
    values = [fits.solution(C).value for C in STRENGTHS]
    return Outcome(time.perf_counter() - began, {"risks": values})


def sklearn_strengths(task: Made) -> Outcome:
    import warnings

    from sklearn.linear_model import LogisticRegression

    X, y, _, _ = task.rows()
    began = time.perf_counter()
    models = []
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # 1,000 iterations, as the protocol has it, are not enough for weak penalties
        for C in STRENGTHS:
            models.append(LogisticRegression(C=C, max_iter=1000).fit(X, y))
    seconds = time.perf_counter() - began
    return Outcome(seconds, {"risks": [_risk(model, X, y, C) for model, C in zip(models, STRENGTHS)]})


def _risk(model: Any, X: Any, y: Any, C: float) -> float:
    scores = X.astype(np.float64) @ model.coef_.T + model.intercept_
    top = scores.max(axis=1)
    loss = top + np.log(np.exp(scores - top[:, None]).sum(axis=1)) - scores[np.arange(len(y)), y]
    return float(loss.mean() + 0.5 * (model.coef_**2).sum() / (C * len(y)))


def strengths(session: Session) -> Iterator[Heat]:
    n, D, C = (600, 64, 10) if session.options.quick else (5_000, 256, 10)
    task = Made(n, 1, D, 0.5, C)
    yield Heat(
        f"linear probe, 45 strengths, {n:,} x {D}, {C} classes",
        "the mean risk over the strengths is shown: equal or lower is as good",
        [
            Entry("nearline, warm path", partial(our_strengths, task), _mean_risk, NEARLINE, ours=True),
            Entry("scikit-learn, a loop", partial(sklearn_strengths, task), _mean_risk, SKLEARN),
        ],
    )


def _mean_risk(outcome: Outcome) -> Verdict:
    return Verdict(True, {"mean risk": f"{np.mean(outcome.facts['risks']):.6f}"})


# -- exemplars ---------------------------------------------------------------------------------------------------------


def our_exemplars(task: Made, E: int) -> Outcome:
    from nearline import ExemplarSVM

    X, _, _, _ = task.rows()
    y = np.zeros(len(X), dtype=int)
    y[:E] = 1
    began = time.perf_counter()
    model = ExemplarSVM(calibration=None).fit(X, y, exemplars=np.arange(E))
    seconds = (time.perf_counter() - began) / E
    return Outcome(seconds, {"risk": float(model.risks_[:20].mean())})


def loop_exemplars(task: Made, E: int) -> Outcome:
    from sklearn.svm import LinearSVC

    X, _, _, _ = task.rows()
    negatives, risks, seconds = X[E:], [], 0.0
    for e in range(20):
        Z, y = np.vstack([X[e : e + 1], negatives]), np.zeros(1 + len(negatives), dtype=int)
        y[0], weights = 1, np.ones(len(y))
        weights[0] = 50.0
        began = time.perf_counter()
        model = LinearSVC(C=1.0, dual=False, intercept_scaling=10.0).fit(Z, y, sample_weight=weights)
        seconds += time.perf_counter() - began
        w, b = model.coef_[0], model.intercept_[0]
        slack = np.maximum(1 - np.where(y == 1, 1, -1) * (Z @ w + b), 0)
        risks.append((0.5 * w @ w + weights @ slack**2) / weights.sum())
    return Outcome(seconds / 20, {"risk": float(np.mean(risks))})


def exemplars(session: Session) -> Iterator[Heat]:
    n, E = (3000, 40) if session.options.quick else (50_000, 1000)
    task = Made(n + E, 1, 256, 0.5)
    yield Heat(
        f"exemplar SVMs, {E:,} exemplars x {n:,} negatives x 256: seconds for each exemplar",
        "mean risk of the first 20; LinearSVC is run for these only",
        [
            Entry("nearline, all exemplars", partial(our_exemplars, task, E), _risk_of, NEARLINE, ours=True),
            Entry("LinearSVC, 20 exemplars", partial(loop_exemplars, task, E), _risk_of, SKLEARN),
        ],
    )


def _risk_of(outcome: Outcome) -> Verdict:
    return Verdict(True, {"mean risk": f"{outcome.facts['risk']:.6e}"})


CONTESTS = (
    Contest(
        "probe-votes",
        "the k-NN probe",
        "3x torch and NumPy on a decaying spectrum, 1x on an isotropic one",
        votes,
    ),
    Contest("probe-strengths", "the linear probe over 45 strengths", "10x scikit-learn", strengths),
    Contest("exemplars", "one SVM for each exemplar", "20x LinearSVC", exemplars),
)
