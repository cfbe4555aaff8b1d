"""How the work that GPUs share grows beyond the largest graph that was searched on two.

It grows as the vertices that a search has to do with, and by two things more. Bits of visited
vertices are looked up at random, which takes longer once the bitmap outgrows the second-level
cache. And searches from vertices of few edges take longer: their first level bottom-up comes
while few hubs are visited, so that lists are searched further, or is the second one after a large
level top-down.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import log
from statistics import linear_regression
from typing import Any

from .rmat import searched


@dataclass(frozen=True)
class Beyond:
    """What is known of a method on a machine.

    gather  seconds of a random access by the bytes that it goes to, as measured
    pull    seconds of an edge of the first bottom-up levels, by scale, on two GPUs
    few     by scale, the share of the roots that have few edges
    longer  the work of a search from one of these, over that of another
    """

    gather: Mapping[float, float]
    pull: Mapping[int, float]
    few: Mapping[int, float]
    longer: float

    @classmethod
    def of(cls, said: Mapping[str, Any]) -> "Beyond":
        """From a file of machines: MB, picoseconds. KeyError and ValueError as they come."""
        gather = {1e6 * float(mb): 1e-12 * float(ps) for mb, ps in said["gather_ps"].items()}
        pull = {int(scale): 1e-12 * float(ps) for scale, ps in said["pull_ps"].items()}
        few = {int(scale): float(share) for scale, share in said["few_edges"].items()}
        return cls(gather, pull, few, float(said["few_edges_longer"]))

    def access(self, size: float) -> float:
        """Seconds of a random access to so many bytes: between those measured, straight by the
        logarithms of both."""
        points = sorted(self.gather.items())
        if size <= points[0][0]:
            return points[0][1]
        for (small, quick), (large, slow) in pairwise(points):
            if size <= large or large == points[-1][0]:
                return float(quick * (slow / quick) ** (log(size / small) / log(large / small)))
        return points[-1][1]

    def edge(self, scale: int) -> float:
        """Seconds of an edge bottom-up: a line by those of an access to the bitmap."""
        accesses = [self.access(searched(known) / 8) for known in self.pull]
        slope, constant = linear_regression(accesses, list(self.pull.values()))
        return constant + slope * self.access(searched(scale) / 8)

    def roots(self, scale: int) -> float:
        """Work of a mean search, over that of one from a root of many edges."""
        return 1 + (self.longer - 1) * self.few[scale]

    def growth(self, known: int, scale: int) -> float:
        """Shared work of a scale over that of a known one."""
        grown = searched(scale) / searched(known) * self.edge(scale) / self.edge(known)
        if scale in self.few and known in self.few:
            grown *= self.roots(scale) / self.roots(known)
        return grown
