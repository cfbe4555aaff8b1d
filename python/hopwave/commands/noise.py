"""Whether one set of timings differs from another by more than its noise.

A row is one search job of both studies: the same graph, partition, method and roots, timed
several times. Each time is taken over the typical time of its root, in both studies and all
repeats; the median over roots, which a few disturbed searches do not move, then stands for
a repeat. The mean over repeats is compared, and its standard error is bootstrapped over
repeats.

Few repeats say little of their spread, and what disturbs a machine may last longer than all
repeats of a row. So no row is held to be surer than rows on as many ranks are on average,
and the whole no surer than its rows: whatever slows all of them for a while, such as
somebody else's job, is no part of their differences.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, inf, log, sqrt

import numpy
from numpy.typing import NDArray
from scipy import stats

Numbers = NDArray[numpy.float64]
Pairs = Sequence[tuple[Numbers, Numbers]]
Level = tuple[float, float]  # a variance and its degrees of freedom

MOST = 30  # degrees of freedom that other rows lend to each, at most
RESAMPLES = 999
# A row says that two studies are alike where it would have shown a difference like this.
SEEN = 1.3


@dataclass
class Difference:
    """B over A: a ratio of times, the interval that it may lie in, and what it means:
    slower, faster, noise, unclear (too much noise to tell) or unknown (no repeats)."""

    ratio: float
    low: float
    high: float
    verdict: str


def paired(a: Numbers, b: Numbers) -> tuple[Numbers, Numbers]:
    """For each repeat of A and of B the median over roots of log(time / typical time of
    that root); a and b are logarithms of seconds, [roots, repeats]."""
    typical = numpy.median(numpy.concatenate([a, b], axis=1), axis=1, keepdims=True)
    return numpy.median(a - typical, axis=0), numpy.median(b - typical, axis=0)


def spread(repeats: Numbers) -> Level:
    """Variance over repeats and its degrees of freedom."""
    count = len(repeats)
    return (repeats.var(ddof=1), count - 1) if count > 1 else (0.0, 0)


def level(pairs: Pairs) -> Level:
    """The variance that rows have on average, and its degrees of freedom; pairs are what
    paired() returns."""
    found = numpy.array([spread(side) for pair in pairs for side in pair])
    total = found[:, 1].sum()
    if total == 0:
        return scatter(pairs)
    return float(found.prod(axis=1).sum() / total), min(MOST, total)


def scatter(pairs: Pairs) -> Level:
    """The same without repeats: rows must then differ from one another by noise alone."""
    ratios = [b.mean() - a.mean() for a, b in pairs]
    if len(ratios) < 2:
        return 0.0, 0
    deviation = stats.median_abs_deviation(ratios, scale="normal")
    return float(deviation**2 / 2), min(MOST, len(ratios) - 1)


def standard_error(a: Numbers, b: Numbers) -> float:
    """Of the difference of means, bootstrapped over repeats."""
    drawn = stats.bootstrap(
        (a, b),
        lambda of_a, of_b, axis: of_b.mean(axis) - of_a.mean(axis),
        n_resamples=RESAMPLES,
        method="percentile",
        rng=numpy.random.default_rng(1),
    )
    return float(drawn.standard_error)


def difference(
    a: Numbers,
    b: Numbers,
    prior: Level,
    rows: int,
    margin: float,
) -> Difference:
    """Compares the repeats of A and B; prior: the level() of such rows. With many rows each
    must be surer (Bonferroni), so that all hold together with 95%."""
    ratio = float(b.mean() - a.mean())
    lent, of_prior = prior
    own, degrees = 0.0, 0
    if min(len(a), len(b)) > 1:
        degrees = len(a) + len(b) - 2
        # The bootstrap divides by n where an estimate divides by n - 1.
        repeats = stats.hmean([len(a), len(b)])
        own = standard_error(a, b) ** 2 * repeats / (repeats - 1)
    if degrees + of_prior == 0:
        return Difference(exp(ratio), 0.0, inf, "unknown")
    general = lent * (1 / len(a) + 1 / len(b))
    variance = (own * degrees + general * of_prior) / (degrees + of_prior)
    variance = max(variance, general)
    reach = stats.t.ppf(1 - 0.025 / rows, degrees + of_prior) * sqrt(variance)
    low, high = ratio - reach, ratio + reach
    least, seen = log(1 + margin), max(log(SEEN), log(1 + margin))
    if low > least or high < -least:
        verdict = "slower" if low > 0 else "faster"
    else:
        verdict = "noise" if -seen < low and high < seen else "unclear"
    return Difference(exp(ratio), exp(low), exp(high), verdict)


def weight(difference: Difference) -> float:
    """How much a row should count among others: by the inverse of its variance."""
    if difference.low <= 0:
        return 1.0
    return 1 / max(log(difference.high / difference.low), 1e-6) ** 2
