"""The first 64 roots that the Graph500 reference (seeds 2 and 3) searches from.

graph500_roots.py GRAPH.h5 prints them: a graph made by `hopwave-generate --model graph500`. The
reference draws d0 and d1 from its generator, two numbers each, and takes
(d0 + d1) N mod N, passing over isolated vertices and repeats.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np

PRIME = 2**31 - 1
Matrix = list[list[int]]


def times(a: Matrix, b: Matrix) -> Matrix:
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, c)) % PRIME for c in columns] for row in a]


def skip(state: list[int], steps: int) -> list[int]:
    """Advances x[n] = 107374182 x[n-1] + 104480 x[n-5] by that many steps."""
    power = [[107374182, 0, 0, 0, 104480]] + [[int(j == i) for j in range(5)] for i in range(4)]
    column = [[x] for x in state]
    while steps:
        if steps & 1:
            column = times(power, column)
        power = times(power, power)
        steps >>= 1
    return [x[0] for x in column]


def doubles(state: list[int]) -> Iterator[float]:
    """The reference's numbers in [0, 1), from two outputs each."""
    while True:
        state = skip(state, 1)
        first = state[0]
        state = skip(state, 1)
        yield (first + state[0] / PRIME) / PRIME


def reference_roots(graph: Path, count: int) -> list[int]:
    """The first roots of the reference, fewer if fewer vertices have edges."""
    with h5py.File(graph) as file:
        source, target = file["edges/source"][:], file["edges/target"][:]
        vertices = int(file.attrs["vertices"])
    linked = np.zeros(vertices, bool)
    for ends in source, target:
        linked[ends[source != target]] = True
    roots: list[int] = []
    numbers = doubles(skip([3, 1, 4, 1, 1], 2 << 128))
    while len(roots) < min(count, linked.sum()):
        root = int((next(numbers) + next(numbers)) * vertices) % vertices
        if linked[root] and root not in roots:
            roots.append(root)
    return roots


if __name__ == "__main__":
    print("\n".join(map(str, reference_roots(Path(sys.argv[1]), 64))))
