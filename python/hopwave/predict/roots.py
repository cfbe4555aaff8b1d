"""The roots that searches begin at, and how many edges these have, before there is a graph.

Roots are the vertices with edges whose keys are smallest, and keys depend on ids alone. Labels of
an R-MAT recipe are a bijection of ids (lib/graph/generate/rmat.h), so that from a label follows how
many bits the id has that are 1, and from these the mean of a Poisson variable, its degree
(hopwave.predict.rmat).

John Salmon, Mark Moraes, Ron Dror, David Shaw: Parallel Random Numbers: As Easy as 1, 2, 3.
SC 2011.
"""

from math import exp

import numpy as np
from numpy.typing import NDArray

from .rmat import EDGE_FACTOR, mean_degree

Words = NDArray[np.uint64]
LABEL, ROOT = 2, 7  # streams of lib/graph/generate/random.h
ROUNDS = 4  # of the hash of labels
CHUNK = 1 << 20
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)


def philox(seed: int, stream: int, index: Words) -> Words:
    """The first 64 bits of block `index` of a stream, of Philox4x32-10, for indices below 2^32."""
    zero = np.zeros_like(index)
    c0, c1, c2, c3 = index & LOW, zero, zero, zero + np.uint64(stream)
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        one, two = c0 * np.uint64(0xD2511F53), c2 * np.uint64(0xCD9E8D57)
        c0, c2 = (two >> HALF) ^ c1 ^ np.uint64(k0), (one >> HALF) ^ c3 ^ np.uint64(k1)
        c1, c3 = two & LOW, one & LOW
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c0 | c1 << HALF


def _id_of(label: int, scale: int, seed: int) -> int:
    """The id that has a label."""
    blocks = philox(seed, LABEL, np.arange(ROUNDS + 1, dtype=np.uint64))
    add, *multiply = (int(block) for block in blocks)
    size, half = 1 << scale, (scale + 1) // 2
    for factor in reversed(multiply):
        label ^= label >> half
        label = label * pow(factor | 1, -1, size) % size
    return (label - add) % size


def _smallest(scale: int, count: int, seed: int) -> list[int]:
    """The labels of the smallest keys, in their order."""
    keys, labels = np.zeros(0, np.uint64), np.zeros(0, np.uint64)
    for begin in range(0, 1 << scale, CHUNK):
        more = np.arange(begin, min(begin + CHUNK, 1 << scale), dtype=np.uint64)
        keys = np.concatenate([keys, philox(seed, ROOT, more)])
        labels = np.concatenate([labels, more])
        keep = np.argsort(keys, kind="stable")[:count]
        keys, labels = keys[keep], labels[keep]
    return [int(label) for label in labels]


def roots(
    scale: int, count: int, seed: int = 1, edge_factor: int = EDGE_FACTOR
) -> list[tuple[int, float, float]]:
    """Labels of the vertices that are drawn first on an R-MAT recipe of that scale, below 33, each
    with its expected degree and the probability that it has an edge, until these make `count`."""
    found: list[tuple[int, float, float]] = []
    expected = 0.0
    for label in _smallest(scale, 16 * count, seed):
        ones = _id_of(label, scale, seed).bit_count()
        mean = mean_degree(scale, ones, edge_factor)
        if expected >= count:
            break
        found.append((label, mean, 1 - exp(-mean)))
        expected += found[-1][2]
    return found
