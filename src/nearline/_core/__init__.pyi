"""The compiled core (written by tools/make_core_stub.py)."""

from enum import Enum
from typing import Any, TypeAlias

from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]

builds: tuple[str, ...]
isa: str

def default_threads() -> int:
    """Number of threads that the environment asks for, else the cores this process may use."""

class Metric(Enum):
    l1 = 0
    l2 = 1
    squared_l2 = 2
    l_infinity = 3
    lq = 4
    cosine = 5
    inner_product = 6
    hamming = 7
    jaccard = 8
    mahalanobis = 9

class Norm(Enum):
    squares = 0
    magnitudes = 1
    largest = 2
    rounded = 3

class Search:
    def __init__(
        self,
        metric: Metric | None,
        exponent: float,
        map: Array,
        q: Array,
        bytes: Array,
        whole: Array,
        groups: Array,
        k: int,
        radius: float,
        most_ties: int,
    ) -> None: ...
    def scan(
        self,
        X: Array,
        sizes: Array,
        groups: Array,
        blocks: Array,
        *,
        norm: Norm,
        r: int,
        r2: int,
        chunk: int,
        panels: Array,
        starts: Array,
        low: Array,
        high: Array,
        squares: Array,
        errors: Array,
        more: Array,
        more_errors: Array,
        order: Array,
        v: Array,
        q_squares: Array,
        q_errors: Array,
        q_more: Array,
        q_more_errors: Array,
        bases: Array,
        scale: float,
        relative: float,
    ) -> None: ...
    def scan_all(self, X: Array, sizes: Array, groups: Array) -> None: ...
    def scan_sparse(
        self,
        starts: Array,
        features: Array,
        values: Array,
        column_starts: Array,
        column_rows: Array,
        column_values: Array,
        frequent: Array,
        common: Array,
        groups: Array,
        q_starts: Array,
        q_features: Array,
        q_values: Array,
        n_features: int,
    ) -> None: ...
    def scan_distances(self, D: Array, groups: Array, first: int) -> None: ...
    def finish(self, n_found: Array, n_ties: Array) -> None: ...
    def write(
        self, starts: Array, distances: Array, indices: Array, tie_starts: Array, ties: Array
    ) -> None: ...

def descend_sparse(
    values: Array,
    rows: Array,
    starts: Array,
    data: Array,
    indices: Array,
    indptr: Array,
    shift: Array,
    places: Array,
    entries: Array,
    set_starts: Array,
    columns: Array,
    gradient: Array,
    bias_gradient: Array,
    weights: Array,
    bias_step: Array,
    score_step: Array,
    curvature: Array,
    joint: bool,
    damping: float,
    l1: float,
    l2: float,
    bias: bool,
    tol: float,
    max_rounds: int,
) -> None:
    """Coordinate descent on a quadratic model, for X by columns (CSC) and by rows (CSR)."""

def descend_dense(
    X: Array,
    set_starts: Array,
    columns: Array,
    gradient: Array,
    bias_gradient: Array,
    weights: Array,
    bias_step: Array,
    score_step: Array,
    curvature: Array,
    joint: bool,
    damping: float,
    l1: float,
    l2: float,
    bias: bool,
    tol: float,
    max_rounds: int,
) -> None:
    """The same for dense columns, X (p, n), shifted already."""

def descend_gram(
    G: Array, gradient: Array, weights: Array, l1: float, l2: float, tol: float, max_rounds: int
) -> None:
    """Coordinate descent on the weights, given the model's matrix G."""

def set_thread_limit(n: int) -> None:
    """Largest number of threads any kernel may use."""

def thread_limit() -> int: ...
def instruction_sets() -> list[str]:
    """Instruction sets of builds that this machine can run, the widest first."""

def dense_scores(X: Array, W: Array, b: Array, scores: Array) -> None:
    """scores := X W^T + b."""

def dense_back_product(X: Array, G: Array, G_W: Array) -> None:
    """G_W := G^T X."""

def dense_moments(X: Array, weights: Array, mean: Array, square: Array) -> None:
    """Weighted mean of each feature and sum_i s_i (x_i - mean)^2."""

def add_weighted_grams(X: Array, h: Array, out: Array) -> None:
    """out[m] += [X, 1]^T diag(h[:, m]) [X, 1]."""

def linear_scores(X: Array, W: Array, b: Array) -> Array:
    """X W^T + b for X (n, D) or one row (D,), W (K, D), b (K,), all of one float type; a few rows cost microseconds."""

def dense_gradient(
    X: Array,
    W: Array,
    b: Array,
    targets: Array,
    weights: Array,
    loss: str,
    scores: Array,
    G_W: Array,
    G_b: Array,
) -> float:
    """One pass: scores, the sum of losses (returned) and its gradients in W and b."""

def dense_gradient_at(
    X: Array, scores: Array, targets: Array, weights: Array, loss: str, G_W: Array, G_b: Array
) -> float:
    """The sum of losses (returned) and its gradients where the scores are known."""

def dense_hessian_product(
    X: Array,
    W: Array,
    b: Array,
    scores: Array,
    targets: Array,
    weights: Array,
    loss: str,
    H_W: Array,
    H_b: Array,
) -> None:
    """Curvature of the summed loss at the scores times the direction (W, b): one pass."""

def value_and_slope(
    scores: Array, direction: Array | None, step: float, targets: Array, weights: Array, loss: str
) -> tuple[float, float]:
    """sum_i s_i loss(f_i + step v_i, y_i) and its derivative in step (0 without a direction v)."""

def smallest_margin(scores: Array, targets: Array, weights: Array, loss: str) -> float:
    """min over rows of positive weight of y f, or of f_y less the largest other score."""

def bias_sums(
    scores: Array,
    b: Array,
    targets: Array,
    weights: Array,
    loss: str,
    gradient: Array,
    curvature: Array | None,
) -> float:
    """Sum of losses at scores + b; fills its gradient (K,) and curvature (K, K) in b."""

def row_curvature(scores: Array, targets: Array, weights: Array, loss: str, out: Array) -> None:
    """Second derivatives of separate columns; q with H = diag(q sum(q)) - q q^T for joint losses."""

def csc_of_csr(data: Array, indices: Array, indptr: Array, values: Array, rows: Array, starts: Array) -> None:
    """The same matrix by columns, entries of a column in row order."""

def sparse_scores(data: Array, indices: Array, indptr: Array, W: Array, b: Array, scores: Array) -> None:
    """scores := X W^T + b."""

def sparse_scatter(data: Array, indices: Array, indptr: Array, G: Array, G_W: Array) -> None:
    """G_W := G^T X, without a copy by columns."""

def sparse_gradient(
    data: Array,
    indices: Array,
    indptr: Array,
    values: Array,
    rows: Array,
    starts: Array,
    W: Array,
    b: Array,
    targets: Array,
    weights: Array,
    loss: str,
    scores: Array,
    G_W: Array,
    G_b: Array,
) -> float:
    """Scores, the sum of losses (returned) and its gradients in W and b."""

def sparse_hessian_product(
    data: Array,
    indices: Array,
    indptr: Array,
    values: Array,
    rows: Array,
    starts: Array,
    W: Array,
    b: Array,
    scores: Array,
    targets: Array,
    weights: Array,
    loss: str,
    H_W: Array,
    H_b: Array,
) -> None:
    """Curvature of the summed loss at the scores times the direction (W, b)."""

def sparse_gradient_at(
    values: Array,
    rows: Array,
    starts: Array,
    scores: Array,
    targets: Array,
    weights: Array,
    loss: str,
    G_W: Array,
    G_b: Array,
) -> float:
    """The sum of losses (returned) and its gradients where the scores are known."""

def sparse_moments(
    values: Array, rows: Array, starts: Array, weights: Array, mean: Array, square: Array
) -> None:
    """Weighted mean of each feature and sum_i s_i (x_i - mean)^2."""

def newton_step(
    X: Array,
    mean: Array | None,
    targets: Array,
    weights: Array,
    loss: str,
    l2: float,
    noise: float,
    params: Array,
    scores: Array,
    gradient: Array,
    value: float,
    direction: Array,
    next: Array,
    next_scores: Array,
    next_gradient: Array,
) -> tuple[bool, float, float]:
    """A Newton step on mean loss + (l2/2) |W|^2 at full length: is it good, its mean loss, its penalty."""

def compressed_fault(indptr: Array, indices: Array, n_columns: int) -> tuple[str, int, int]:
    """The first fault of a CSR matrix: what ('' none, 'order' columns do not rise), where, and the number."""

def largest_square_norm(X: object) -> float:
    """max over the rows of |x|^2."""

def sgd(
    X: object,
    loss: str,
    labels: Array,
    distributions: Array,
    weights: Array,
    order: Array,
    batch_size: int,
    etas: Array,
    shares: Array,
    l1: float,
    l2: float,
    bias: bool,
    W: Array,
    b: Array,
    total_W: Array,
    total_b: Array,
    C: Array,
    duals: Array,
    dual_total: Array,
) -> None:
    """Steps of stochastic gradient descent over the rows in `order`; W, b, totals and duals are updated."""

def perceptron(
    X: object,
    rule: str,
    labels: Array,
    weights: Array,
    max_cycles: int,
    least_cycles: int,
    bias: bool,
    averaged: bool,
    shuffle: bool,
    seed: int,
    W: Array,
    b: Array,
    total_W: Array,
    total_b: Array,
    visits: Array,
    mistakes: Array,
    cycles: Array,
    clean: Array,
    margins: Array,
) -> None:
    """Cycles of the perceptron rule until one has no mistake; W, b, totals and counts are updated."""

def dense_squares(X: Array, out: Array) -> None:
    """out := squared length of each row."""

def sparse_squares(starts: Array, features: Array, values: Array, out: Array) -> None:
    """out := squared length of each row."""

def dense_dual_sweeps(
    X: Array,
    loss: str,
    W: Array,
    *,
    targets: Array,
    weights: Array,
    squares: Array,
    duals: Array,
    b: Array,
    rests: Array,
    ages: Array,
    epochs: Array,
    stop_at: Array,
    excess: Array,
    step: float,
    bias_step: float,
    seed: int,
    block: int,
) -> None:
    """Sweeps of dual coordinate descent over dense rows; W is (K, D)."""

def sparse_dual_sweeps(
    starts: Array,
    features: Array,
    values: Array,
    loss: str,
    W: Array,
    *,
    targets: Array,
    weights: Array,
    squares: Array,
    duals: Array,
    b: Array,
    rests: Array,
    ages: Array,
    epochs: Array,
    stop_at: Array,
    excess: Array,
    step: float,
    bias_step: float,
    seed: int,
    block: int,
) -> None:
    """Sweeps over CSR rows; W is (K, D) for margin losses and (D, K) for joint ones."""

def pack_rows(
    indptr: Array,
    indices: Array,
    data: Array,
    order: Array,
    starts: Array,
    features: Array,
    values: Array,
    ranks: Array,
) -> None:
    """Copy CSR rows in an order of their own, features renumbered by how often they occur (ranks)."""

def needs_sizes(metric: Metric) -> bool:
    """Whether searches must be given the sizes of rows."""

def row_sizes(metric: Metric, X: Array, out: Array) -> None:
    """out := what the metric needs to know of each row alone."""

def panel_rows() -> int:
    """Rows in a panel of packed coordinates."""

def panel_words(norm: Norm, r: int) -> int:
    """Words of 32 bits that r coordinates take in a panel."""

def rounds() -> bool:
    """Whether there are products of rounded coordinates."""

def lanes() -> int:
    """Numbers of float32 in a vector of the machine."""

def pack_rows_of_filter(
    norm: Norm,
    v: Array,
    squares: Array,
    errors: Array,
    order: Array,
    r: int,
    chunk: int,
    panels: Array,
    starts: Array,
    low: Array,
    high: Array,
    chunk_squares: Array,
    chunk_errors: Array,
) -> None:
    """Pack v in the given order: panels, boxes and largest values of each chunk."""

def tree_order(v: Array, r: int, leaf: int, order: Array) -> None:
    """Order in which every `leaf` consecutive rows of v are near each other in the first r coordinates."""

def pair_distances(
    metric: Metric, exponent: float, map: Array, X: Array, Q: Array, rows: Array, queries: Array, out: Array
) -> None:
    """out[p] := the distance of X[rows[p]] and Q[queries[p]]."""

def sparse_pair_squares(
    starts: Array,
    features: Array,
    values: Array,
    q_starts: Array,
    q_features: Array,
    q_values: Array,
    n_features: int,
    rows: Array,
    queries: Array,
    out: Array,
) -> None:
    """out[p] := |x - q|^2 of CSR rows with sorted features."""

def cosine_grid(n_features: int) -> float:
    """Cosine distances are multiples of it."""

def subsequence_kernel(
    symbols: Array,
    starts: Array,
    ranks: Array,
    alphabet: int,
    length: int,
    decay: float,
    kind: str,
    out: Array,
) -> None:
    """Gap-weighted subsequence kernel of strings of symbols 0 .. alphabet - 1."""

def count_products(
    starts: Array, features: Array, counts: Array, groups: Array, weights: Array, kind: str, out: Array
) -> None:
    """Inner products of rows of counts, each group of features times its weight."""

def subset_tree_kernel(
    labels: Array,
    arities: Array,
    starts: Array,
    ranks: Array,
    decay: float,
    leaves: bool,
    kind: str,
    out: Array,
) -> None:
    """Subset-tree kernel of trees given as labels and numbers of children, children before parents."""

def partial_tree_kernel(
    labels: Array,
    arities: Array,
    starts: Array,
    ranks: Array,
    decay: float,
    mu: float,
    terminal: float,
    kind: str,
    out: Array,
) -> None:
    """Partial-tree kernel of trees given as labels and numbers of children, children before parents."""

def complete_subtrees(labels: Array, arities: Array, starts: Array, numbers: Array, sizes: Array) -> int:
    """Numbers each node by all that hangs below it; sizes counts the nodes there that are no leaves."""

def hinge_certificates(starts: Array, y: Array, C: Array, beta: Array, F: Array, results: Array) -> None:
    """Fills (b, primal, dual, primal of the best constant) of each two-class problem."""

def smo(
    K: Array,
    at: Array,
    starts: Array,
    y: Array,
    C: Array,
    beta: Array,
    F: Array,
    tol: float,
    max_iter: int,
    shrinking: bool,
    results: Array,
) -> None:
    """Solve two-class problems over rows of one Gram matrix; fills beta, F and (violation, steps)."""

def gaussian_between(K: Array, a: Array, b: Array, gamma: float) -> None:
    """Inner products -> exp(-gamma |a_i - b_j|^2) in place, given squared norms."""

def gaussian_among(K: Array, norms: Array, gamma: float) -> None:
    """The same for a Gram matrix whose products are on and below the diagonal; both halves are written."""
