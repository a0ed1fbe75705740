"""The contests, one family a module. ``CONTESTS`` lists them; what is listed can be run and is documented."""

from benchmarks.contests import (
    everyday,
    fused,
    graphs,
    kernels,
    l1,
    latency,
    least_squares,
    neighbors,
    online,
    small,
    softmax,
    startup,
    strings,
    svm,
    text,
    trees,
    tuning,
    whole,
)
from benchmarks.harness import Contest

CONTESTS: tuple[Contest, ...] = (
    *everyday.CONTESTS,
    *fused.CONTESTS,
    *softmax.CONTESTS,
    *text.CONTESTS,
    *l1.CONTESTS,
    *svm.CONTESTS,
    *tuning.CONTESTS,
    *least_squares.CONTESTS,
    *online.CONTESTS,
    *latency.CONTESTS,
    *startup.CONTESTS,
    *neighbors.CONTESTS,
    *trees.CONTESTS,
    *graphs.CONTESTS,
    *kernels.CONTESTS,
    *strings.CONTESTS,
    *small.CONTESTS,
    *whole.CONTESTS,
)
