"""Whether one set of timings differs from another by more than its noise.

A row is one search job of both studies: the same graph, partition, method and roots, timed
several times. Each time is taken over the typical time of its root, in both studies and all
repeats; the median over roots, which a few disturbed searches do not move, then stands for
a repeat. The mean over repeats is compared, and its standard error is bootstrapped over
repeats. As few repeats say little of their spread, a row's variance is moderated by that of
all rows (Smyth, Linear models and empirical Bayes methods for assessing differential
expression, 2004), and the interval is Student's.
"""

from dataclasses import dataclass
from math import exp, inf, log, sqrt

import numpy
from scipy import optimize, special, stats

MOST = 30  # degrees of freedom that all rows together lend to each, at most
RESAMPLES = 999


@dataclass
class Difference:
    """B over A: a ratio of times, the interval that it may lie in, and what it means."""

    ratio: float
    low: float
    high: float
    verdict: str


def paired(a, b):
    """For each repeat of A and of B the median over roots of log(time / typical time of
    that root); a and b are logarithms of seconds, [roots, repeats]."""
    typical = numpy.median(numpy.concatenate([a, b], axis=1), axis=1, keepdims=True)
    return numpy.median(a - typical, axis=0), numpy.median(b - typical, axis=0)


def spread(repeats):
    """Variance over repeats and its degrees of freedom."""
    count = len(repeats)
    return (repeats.var(ddof=1), count - 1) if count > 1 else (0.0, 0)


def moderation(pairs):
    """The variance that rows have in general, and the degrees of freedom that it is worth:
    the more alike the rows are, the more (Smyth, section 6.2); pairs are what paired()
    returns."""
    variances, degrees = [], []
    for pair in pairs:
        (a, of_a), (b, of_b) = map(spread, pair)
        variances.append((a * of_a + b * of_b) / max(of_a + of_b, 1))
        degrees.append(of_a + of_b)
    if max(degrees) == 0:
        return scatter(pairs)
    known = [(v, d) for v, d in zip(variances, degrees) if v > 0]
    if len(known) < 2:
        return 0.0, 0
    variance, half = numpy.array(known).T / [[1], [2]]
    logs = numpy.log(variance) - special.digamma(half) + numpy.log(half)
    excess = logs.var(ddof=1) - special.polygamma(1, half).mean()
    worth = MOST
    if excess > special.polygamma(1, MOST / 2):
        root = optimize.brentq(lambda x: special.polygamma(1, x) - excess, 1e-3, MOST)
        worth = 2 * root
    level = logs.mean() + special.digamma(worth / 2) - log(worth / 2)
    return float(numpy.exp(level)), worth


def scatter(pairs):
    """The same without repeats: rows must then differ from one another by noise alone."""
    ratios = [b.mean() - a.mean() for a, b in pairs]
    if len(ratios) < 2:
        return 0.0, 0
    deviation = stats.median_abs_deviation(ratios, scale="normal")
    return float(deviation**2 / 2), min(MOST, len(ratios) - 1)


def standard_error(a, b):
    """Of the difference of means, bootstrapped over repeats."""
    drawn = stats.bootstrap(
        (a, b),
        lambda of_a, of_b, axis: of_b.mean(axis) - of_a.mean(axis),
        n_resamples=RESAMPLES,
        method="percentile",
        rng=numpy.random.default_rng(1),
    )
    return float(drawn.standard_error)


def difference(a, b, prior, rows, margin):
    """Compares the repeats of A and B. With many rows each must be surer (Bonferroni), so
    that all hold together with 95%."""
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
    reach = stats.t.ppf(1 - 0.025 / rows, degrees + of_prior) * sqrt(variance)
    low, high = ratio - reach, ratio + reach
    least = log(1 + margin)
    verdict = "slower" if low > least else "faster" if high < -least else "noise"
    return Difference(exp(ratio), exp(low), exp(high), verdict)


def weight(difference):
    """How much a row should count among others: by the inverse of its variance."""
    if difference.low <= 0:
        return 1.0
    return 1 / max(log(difference.high / difference.low), 1e-6) ** 2
