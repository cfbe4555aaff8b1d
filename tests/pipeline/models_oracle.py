"""Spatial graphs by doc/graphs.md alone, as edge lists to compare with.

usage: models_oracle.py MODEL KEY=VALUE...   prints "source target weight" lines
"""

import itertools
import math
import sys
from collections.abc import Callable, Iterator

from generate_oracle import M64, halves, philox, shortest, weight

Tuple = tuple[int, int, float | None]


def below(bits: int, bound: int) -> int:
    return bits * bound >> 64


def lattice(sizes: list[int], torus: bool) -> Iterator[Tuple]:
    stride = 1
    for size in sizes:
        last = size if torus and size > 2 else size - 1
        upper = math.prod(sizes) // stride // size
        for outer, place, inner in itertools.product(range(upper), range(last), range(stride)):
            line = outer * size * stride + inner
            yield line + place * stride, line + (place + 1) % size * stride, None
        stride *= size


def small_world(n: int, degree: int, probability: float, seed: int) -> Iterator[Tuple]:
    for e in range(n * degree // 2):
        u0, u1 = halves(philox(seed, 8, e))
        new = (u0 >> 11) < probability * 2**53
        step = 1 + below(u1, n - 1) if new else 1 + e // n
        yield e % n, (e % n + step) % n, None


def road(sizes: list[int], seed: int) -> Iterator[Tuple]:
    width, height = sizes

    def at(v: int) -> list[int]:
        u = halves(philox(seed, 10, v))
        return [1000 * p + below(u[d], 601) - 300 for d, p in enumerate((v % width, v // width))]

    def west(v: int) -> bool:
        if v < width or v % width == 0:
            return v < width
        return bool(philox(seed, 9, v)[0] & 1)

    def edge(v: int, toward_west: bool) -> Tuple:
        w = v - 1 if toward_west else v - width
        return v, w, math.isqrt(sum((a - b) ** 2 for a, b in zip(at(v), at(w))))

    for v in range(1, width * height):
        yield edge(v, west(v))
    groups = (width - 1) // 3
    for k in range(groups * (height - 1)):
        third = below(halves(philox(seed, 9, k, 1))[0], 3)
        v = (1 + k // groups) * width + 1 + 3 * (k % groups) + third
        yield edge(v, not west(v))


def within(side: list[float], r: float) -> float:
    if len(side) == 2:
        a, b = side
        return (math.pi * a * b * r**2 - 4 / 3 * (a + b) * r**3 + r**4 / 2) / (a * b) ** 2
    a, b, c = side
    faces = a * b + b * c + c * a
    return (
        4 / 3 * math.pi * a * b * c * r**3
        - math.pi / 2 * faces * r**4
        + 8 / 15 * (a + b + c) * r**5
        - r**6 / 6
    ) / (a * b * c) ** 2


def geometric(scale: int, dimensions: int, degree: float, seed: int) -> Iterator[Tuple]:
    """All pairs of points, by brute force."""
    points = 16
    while points < 512 and points < 4 * degree:
        points *= 2
    points = min(points, 2**scale)
    bits = scale - points.bit_length() + 1
    cells: list[int] = []
    for left in range(dimensions, 0, -1):
        cells.append(2 ** -(-bits // left))
        bits -= -(-bits // left)

    def expected(r: float) -> float:
        side = [float(c) for c in cells]
        return 2**scale * within(side, r) - within([1.0] * dimensions, r)

    radius = least(lambda r: expected(r / 2**20) >= degree)
    reach = radius**2 << 8

    def at(v: int) -> tuple[int, ...]:
        cell, words, place = v // points, philox(seed, 10, v), []
        for d in range(dimensions):
            place.append((cell % cells[d] << 24) + (words[d] >> 8))
            cell //= cells[d]
        return tuple(place)

    places = [at(v) for v in range(2**scale)]
    for p in range(2**scale):
        for q in range(p + 1, 2**scale):
            square = sum((a - b) ** 2 for a, b in zip(places[p], places[q]))
            if square <= reach:
                yield p, q, 1 + (math.isqrt(square) >> 14)


def least(enough: Callable[[int], bool]) -> int:
    """The least number of 2^20 that is enough."""
    low, high = 0, 2**20
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return high


def permuted(n: int, seed: int) -> Callable[[int], int]:
    bits = (n - 1).bit_length()
    draws = [halves(philox(seed, 2, i))[0] for i in range(5)]

    def label(x: int) -> int:
        while True:
            x = (x + draws[0]) & M64
            for m in draws[1:]:
                x = x * (m | 1) % 2**bits
                x ^= x >> max(1, -(-bits // 2))
            if x < n:
                return x

    return label


def main() -> None:
    model, given = sys.argv[1], dict(word.split("=") for word in sys.argv[2:])
    seed, kind = int(given.get("seed", 1)), given["weights"]
    sizes = [int(size) for size in given.get("sizes", "1").split("x")]
    n = int(given.get("vertices", math.prod(sizes)))
    edges: Iterator[Tuple]
    if model == "small-world":
        edges = small_world(n, int(given["degree"]), float(given["probability"]), seed)
    elif model == "geometric":
        scale, n = int(given["scale"]), 2 ** int(given["scale"])
        edges = geometric(scale, int(given["dimensions"]), float(given["degree"]), seed)
    elif model == "road":
        edges = road(sizes, seed)
    elif model == "star":
        edges = ((0, v, None) for v in range(1, n))
    else:
        edges = lattice([n] if model == "chain" else sizes, model == "torus")
    label = permuted(n, seed) if given.get("scramble", "1") == "1" else int
    for e, (source, target, length) in enumerate(edges):
        ends = label(source), label(target)
        value = weight(kind, seed, e, ends) if length is None or kind != "length" else length
        print(*ends, shortest(value))


if __name__ == "__main__":
    main()
