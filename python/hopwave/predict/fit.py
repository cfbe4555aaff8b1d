"""What a search costs on a machine, fixed by measured searches on one and on two GPUs alone.

Of each machine bench/machines.json has mean times of searches on one GPU by scale (one_gpu), and on
two by transport (two_gpus). Work on one GPU is spread over the steps of a tree file by the edges
that they examine. What barriers take and what sending takes are solved from two measured times
on two GPUs: the simulation must give both.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from .schedule import Costs, Shape, schedule
from .simulate import makespan

Times = Mapping[int, float]  # seconds by scale
TURNS = 12
CLOSE = 2e-3  # of a measured time
PIECES = 4  # that kernels which store into peers' memory are cut into


@dataclass(frozen=True)
class Traced:
    """The step rows of a method on some GPUs, of a graph of 2**scale vertices."""

    shape: Shape
    scale: int


@dataclass(frozen=True)
class Fit:
    """Solved for two GPUs: the factor of work over one GPU, seconds of the barrier after each step
    of the traced search, and seconds of work for each byte sent."""

    factor: float
    step: float
    byte: float


def one_gpu(times: Times, vertices: float) -> float:
    """Seconds on one GPU: linear between measured searches, proportional beyond them."""
    points = sorted((2.0**scale, seconds) for scale, seconds in times.items())
    if vertices <= points[0][0]:
        return points[0][1]
    for (low, at_low), (high, at_high) in pairwise(points):
        if vertices <= high:
            return at_low + (at_high - at_low) * (vertices - low) / (high - low)
    return points[-1][1] * vertices / points[-1][0]


def levels(scale: int) -> float:
    """Levels of a breadth-first search on R-MAT of edge factor 16 (doc/scaling.md)."""
    return min(8.0, 5.4 + 0.18 * (scale - 14))


class Model:
    """Seconds of searches of one method over one transport on a machine.

    single   seconds on one GPU by scale
    network  of the GPUs, for SimGrid
    """

    def __init__(self, single: Times, transport: str, network: Path) -> None:
        self.single, self.transport, self.network = single, transport, network

    def costs(self, traced: Traced, scale: int, fit: Fit) -> Costs:
        """Costs of a search of 2**scale vertices with the steps of a traced one."""
        shape = traced.shape
        edges = float(shape.steps["edges_examined"].sum()) / shape.searches / shape.ranks
        seconds = one_gpu(self.single, 2.0**scale / shape.ranks)
        peer = self.transport == "peer"
        return Costs(
            edge=fit.factor * seconds / edges,
            step=fit.step * levels(scale) / levels(traced.scale),
            byte=fit.byte,
            pieces=PIECES if peer else 1,
            flags=peer,
            volume=2.0 ** (scale - traced.scale),
        )

    def seconds(self, traced: Traced, scale: int, fit: Fit) -> float:
        """Mean of the searches that were traced, as if of a graph of 2**scale vertices."""
        phases = schedule(traced.shape, self.costs(traced, scale, fit))
        return makespan(phases, traced.shape.ranks, self.network) / traced.shape.searches

    def fit(self, traced: Traced, measured: Times) -> Fit:
        """Solves barriers and bytes from the times of the smallest and largest graph on two GPUs;
        where the graph that is larger then takes too long without any, the factor of work instead.
        """
        small, large = min(measured), max(measured)

        def gap(fit: Fit, scale: int) -> float:
            return self.seconds(traced, scale, fit) - measured[scale]

        def gaps(fit: Fit) -> tuple[float, float]:
            return gap(fit, small), gap(fit, large)

        free = _solve(Fit(1.0, 1e-5, 0.0), ("step",), lambda fit: (gap(fit, small),))
        if gap(free, large) < 0:
            return _solve(replace(free, byte=1e-12), ("step", "byte"), gaps)
        return _solve(free, ("step", "factor"), gaps)


def _solve(begin: Fit, names: tuple[str, ...], gaps: Callable[[Fit], tuple[float, ...]]) -> Fit:
    """Newton's method with differences for derivatives; an unknown falls to a tenth at most in a
    turn, since none is negative."""
    fit = begin
    for _ in range(TURNS):
        now, values = np.array(gaps(fit)), np.array([getattr(fit, name) for name in names])
        slopes = np.empty((len(names), len(names)))
        for column, (name, value) in enumerate(zip(names, values, strict=True)):
            moved: dict[str, Any] = {name: 1.3 * value}
            slopes[:, column] = (np.array(gaps(replace(fit, **moved))) - now) / (0.3 * value)
        steps = np.linalg.lstsq(slopes, now)[0]
        ends = np.maximum(values - steps, 0.1 * values)
        fit = replace(fit, **{n: float(end) for n, end in zip(names, ends, strict=True)})
        if (np.abs(ends - values) <= CLOSE * values).all():
            break
    return fit
