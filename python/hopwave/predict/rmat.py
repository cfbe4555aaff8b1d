"""How many vertices of an R-MAT graph a search has to do with: a falling share of all.

An end of an edge is drawn bit by bit, and each bit of its id is 0 with probability A + B = 0.76. So
of a vertex with k bits set the degree is a Poisson variable with mean 2 M 0.76^(S-k) 0.24^k, M
tuples having been drawn, and there are C(S, k) such vertices. Parallel edges and self-loops are
counted, of which vertices of few edges have hardly any.
"""

from functools import cache
from math import comb, exp

ZERO = 0.76  # of the Graph500's A, B, C, D = 0.57, 0.19, 0.19, 0.05
EDGE_FACTOR = 16


def mean_degree(scale: int, ones: int, edge_factor: int = EDGE_FACTOR) -> float:
    """Expected degree of a vertex whose id has so many bits that are 1."""
    return 2 * edge_factor * 2.0**scale * ZERO ** (scale - ones) * (1 - ZERO) ** ones


@cache
def searched(scale: int, edge_factor: int = EDGE_FACTOR) -> float:
    """Expected vertices of two edges or more: one of a single edge is left out until the end of a
    search, one without edges is in no list."""
    total = 0.0
    for ones in range(scale + 1):
        mean = mean_degree(scale, ones, edge_factor)
        total += comb(scale, ones) * (1 - exp(-mean) * (1 + mean))
    return total
