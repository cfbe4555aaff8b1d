"""The characteristics of an undirected edge list, one after another.

usage: characteristics.py VERTICES FILE
"""

import sys
from collections import Counter
from math import sqrt


def levels(lists: list[set[int]], root: int) -> dict[int, int]:
    found, frontier = {root: 0}, [root]
    while frontier:
        following = []
        for v in frontier:
            for u in lists[v] - found.keys():
                found[u] = found[v] + 1
                following.append(u)
        frontier = following
    return found


def farthest(found: dict[int, int]) -> int:
    return min(v for v, level in found.items() if level == max(found.values()))


def main() -> None:
    n = int(sys.argv[1])
    tuples = [tuple(map(int, line.split())) for line in open(sys.argv[2])]
    loops = sum(u == v for u, v in tuples)
    lists: list[set[int]] = [set() for _ in range(n)]
    for u, v in tuples:
        if u != v:
            lists[u].add(v)
            lists[v].add(u)
    degrees = [len(neighbors) for neighbors in lists]
    mean = sum(degrees) / n
    counts = Counter(degrees)
    components, seen = [], set()
    for v in range(n):
        if v not in seen:
            components.append(levels(lists, v))
            seen |= components[-1].keys()
    largest = max(components, key=len)
    bound = max(levels(lists, farthest(largest)).values())
    values = [n, len(tuples), 0, loops, len(tuples) - loops - sum(degrees) // 2]
    values += [
        f"{mean:.10g}",
        f"{sqrt(sum((d - mean) ** 2 for d in degrees) / n):.10g}",
    ]
    values += [min(counts, key=lambda d: (-counts[d], d)), max(degrees), counts[0]]
    print(*values, len(components), len(largest), bound)


main()
