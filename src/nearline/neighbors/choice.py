"""Which lower bounds serve some rows best: a cost model on a sample. It decides speed, never answers."""

from typing import TYPE_CHECKING

import numpy as np

from nearline import _core
from nearline._arrays.design import Array
from nearline._parallel.tiles import single_threaded_blas
from nearline.neighbors.bounds import (
    Bounds,
    FeatureBounds,
    GroupBounds,
    PlainBounds,
    PrincipalBounds,
    product_rounding,
)
from nearline.neighbors.directions import correlated_groups, principal_basis
from nearline.neighbors.embeddings import Embedding, square_lengths

if TYPE_CHECKING:
    from nearline.neighbors.metric import Metric

SAMPLE, PROBES = 1536, 48  # rows and pseudo-queries that stand for all
LONGEST = 128  # coordinates: more cost more to make than they save
FEWEST = 64  # rows below which no filter pays
FEW = 3072  # rows below which looking for principal coordinates costs more than they save
NARROW = 24  # coordinates that are all looked at
MOVED = 0.01  # how far products in float32 may move rows, in distances to a near one: beyond it they are of float64
FEW_QUERIES = 16  # up to which every row is measured: bounds cost as much to make as to measure some queries
LOOKING, LOOKING_EACH = (
    8e6,
    6e4,
)  # nanoseconds that a look for principal coordinates takes, and for each feature more
# Where all values are below these, squares or differences vanish in float32, and the filter excludes nothing.
VANISHING_SQUARES, VANISHING = 1e-17, 1e-35

# Measured costs, in nanoseconds: a coordinate of a panel, a survivor, a coordinate of the second bound, a feature of
# the distance. OPEN is the share of rows in chunks that their box does not exclude. Products of rounded coordinates
# make a coordinate cheaper, and what comes after it does not change. PANEL is more than what the
# products alone take (python -m benchmarks.studies.panel_costs, one thread of an EPYC: 0.0056 rounded and 0.0112 not with
# AVX-512, 0.0195 with AVX2), as it stands for the memory of all coordinates too, which the model does not count: with 0.0056
# the rows of Fashion-MNIST would be searched by all 784, and those filters do not fit into memory together.
PANEL, SURVIVOR, SECOND, FEATURE = 0.010 if _core.rounds() else 0.028, 4.0, 0.12, 0.3
OPEN = 0.4


def effort(n: int, D: int, n_queries: int) -> int:
    """What bounds may cost that so many queries will use: 0 nothing, 1 those of all coordinates, 2 a look for shorter ones.

    A look costs at most a tenth of the search by all coordinates that it may shorten.
    """
    if n_queries <= FEW_QUERIES:
        return 0
    search = n_queries * n * D * OPEN * PANEL
    pays = n >= FEW and D > NARROW and search >= 10.0 * (LOOKING + LOOKING_EACH * D)
    return 2 if pays else 1


def choose_bounds(X: Array, metric: "Metric", look: bool) -> Bounds | None:
    """Bounds for rows X (None: measure every row). ``look``: among short ones, on a sample; else all coordinates serve."""
    n, D = X.shape
    if n < FEWEST or D == 0:
        return None
    sample = X[:: max(n // SAMPLE, 1)][:SAMPLE].astype(np.float64)
    with single_threaded_blas:
        return metric.bounds(X, sample, look)


def by_groups(sample: Array, look: bool) -> Bounds:
    """Sums over groups of features: no larger than L1."""
    mean = sample.mean(axis=0)
    if sample.shape[1] <= 96 or not look:
        groups = np.arange(sample.shape[1])
        return GroupBounds(mean, groups, groups)
    return GroupBounds(mean, *correlated_groups(sample[:512] - mean, 64))


def by_features(sample: Array) -> Bounds:
    """The features that spread most: no larger than L-infinity."""
    order = np.argsort(-sample.var(axis=0), kind="stable")
    return FeatureBounds(order[:64], order[:256] if sample.shape[1] > 64 else order[:0])


def by_principal(X: Array, sample: Array, embedding: Embedding, look: bool) -> Bounds | None:
    """Principal coordinates of embedded rows, as many as cost least; or all coordinates."""
    D, cost, centered = embedding.width(X.shape[1]), embedding.cost(X.shape[1]), embedding.centers
    mean = sample.mean(axis=0) if centered else np.zeros(X.shape[1])
    plain = PlainBounds(mean, embedding)
    if D <= NARROW or len(X) < FEW or not look:
        return plain if D else None
    points, squares = embedding(sample.copy(), mean)
    longest = min(LONGEST, D - 1)
    basis = principal_basis(points if centered else points - points.mean(axis=0), longest)
    P = points @ basis
    probes = np.linspace(0, len(points) - 1, PROBES).astype(int)
    # The distance of the nearest other row in the sample stands for that of the k-th in all rows.
    D2 = squares[probes, None] + squares - 2.0 * points[probes] @ points.T
    D2[np.arange(PROBES), probes] = np.inf
    limit = np.partition(D2, 1, axis=1)[:, 1]
    shares = {}
    for r in (8, 16, 24, 32, 48, 64, 96, 128):
        if r <= longest:
            rho = np.sqrt(np.maximum(squares - square_lengths(P[:, :r]), 0.0))
            v = np.column_stack([P[:, :r], rho])
            lengths = square_lengths(v)
            bound = lengths[probes, None] + lengths - 2.0 * v[probes] @ v.T
            shares[r] = float((bound <= limit[:, None]).mean())
    best = min(
        (
            (
                OPEN * r * PANEL
                + shares[r] * (SURVIVOR + (s * SECOND if s else 0.0))
                + shares[s or r] * cost * FEATURE,
                r,
                s,
            )
            for r in shares
            for s in (0, *(s for s in shares if s > r))
        ),
    )
    if best[0] >= D * PANEL:
        return plain
    _, r, s = best
    basis = np.ascontiguousarray(basis[:, : s or r])
    single = basis.astype(np.float32)
    moved = product_rounding(single) * np.sqrt(np.median(squares))
    exact = moved > MOVED * np.sqrt(max(float(np.median(limit)), 0.0))
    return PrincipalBounds(mean, embedding, basis if exact else single, r)
