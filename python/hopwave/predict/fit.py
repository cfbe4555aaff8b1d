"""What a search costs on a machine, fixed by measured searches on one and on two GPUs alone.

Of each machine bench/machines.json has mean times of searches on one GPU by scale (one_gpu), and on
two by transport (two_gpus), both from the same roots. A search of 2**scale vertices on P GPUs takes

    steps x step + undivided + divided / P, and its messages on the links.

step       is what a small graph takes, on one GPU and on several: launches, barriers, handshakes
undivided  is what each GPU does whatever their number: it clears, copies and reads whole bitmaps
           or masks, and fills its shared memory
divided    is done for vertices and edges, of which each GPU has its part; all times of one scale
           are of one graph, so that what is looked up in the bitmap of all vertices, and how fast,
           is the same on one GPU and on four

Times on one and two GPUs at one scale fix the last two; undivided work is a line by the vertices
that a search has to do with, through all scales that have both times.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from .beyond import Beyond
from .rmat import searched
from .schedule import Costs, Shape, schedule
from .simulate import makespan

Times = Mapping[int, float]  # seconds by scale
TURNS = 8
CLOSE = 1e-3  # of a measured time
PIECES = 4  # that kernels which store into peers' memory are cut into
LARGE = 24  # scales from here on have work next to their steps
# Over mpi ranks meet more than once in a step: counts, sizes, and the agreements of the exchanges.
ROUNDS = {"peer": 1, "mpi": 4}
COPY = 3.5e-6  # seconds of a host to start one, as of a kernel (measured back to back)
# The ranks of these send each other messages of MPI, whose network is another than that of copies.
MESSAGES = ("scan2d",)
SAME = ("fused",)  # of these all GPUs get the same, over a host: what is new in the bitmap
SEARCHED_BY_ALL = ("delegates",)  # each part searches among its edges, the more parts the more
# What these do on one GPU is another kernel, whose times say nothing about several GPUs.
ALONE_OTHERWISE = ("scan2d",)


@dataclass(frozen=True)
class Traced:
    """The step rows of a method on some GPUs, of a graph of 2**scale vertices."""

    shape: Shape
    scale: int


@dataclass(frozen=True)
class Fit:
    """Seconds of a search of one scale: of the barrier after each step of the traced search, of the
    work that GPUs share, and of what each does whatever their number."""

    step: float
    divided: float
    undivided: float


def levels(scale: int) -> float:
    """Levels of a breadth-first search on R-MAT of edge factor 16 (doc/scaling.md)."""
    return min(8.0, 5.4 + 0.18 * (scale - 14))


def line(points: Mapping[float, float]) -> tuple[float, float]:
    """Constant and slope of a line through points of which neither is below 0: by least squares,
    and with one of the two 0 where it would be negative."""
    x, y = np.array(list(points)), np.array(list(points.values()))
    if len(points) > 1:
        slope, constant = np.polyfit(x, y, 1)
        if slope >= 0 and constant >= 0:
            return float(constant), float(slope)
        if slope >= 0:
            return 0.0, max(0.0, float((x * y).sum() / (x * x).sum()))
    return max(0.0, float(y.mean())), 0.0


@dataclass(frozen=True)
class Model:
    """Seconds of searches of one method over one transport on a machine.

    single   seconds on one GPU by scale
    double   and on two
    traced   step rows of two GPUs
    network  of the GPUs, for SimGrid
    near     the model of the transport whose kernels store into peers' memory, or None. What GPUs
             share is the same work over other transports, but for the edges that these examine
             more; what takes longer is not shared
    beyond   how work grows beyond the largest graph searched on two GPUs, or None: as the vertices
             that are searched
    """

    method: str
    transport: str
    single: Times
    double: Times
    traced: Traced
    network: Path
    near: "Model | None" = None
    beyond: Beyond | None = None
    known: dict[str, tuple[float, ...]] = field(default_factory=dict, init=False)

    def costs(self, traced: Traced, scale: int, fit: Fit) -> Costs:
        """Costs of a search of 2**scale vertices with the steps of a traced one. An edge costs what
        it costs on two GPUs, and more GPUs examine more of them; but where these are what all
        search for, which is undivided."""
        edges = _edges(traced) * searched(traced.scale)
        two = edges
        if self.method not in SEARCHED_BY_ALL:
            two = _edges(self.traced) * searched(traced.scale)
        peer = self.transport == "peer"
        return Costs(
            edge=fit.divided / two,
            every=fit.undivided / edges,
            step=fit.step * levels(scale) / levels(traced.scale),
            pieces=PIECES if peer else 1,
            flags=peer,
            rounds=ROUNDS.get(self.transport, 1),
            staged=not peer and self.method not in MESSAGES,
            same=self.method in SAME,
            copy=0.0 if peer else COPY,
            volume=searched(scale) / searched(traced.scale),
        )

    def seconds(self, traced: Traced, scale: int, fit: Fit) -> float:
        """Mean of the searches that were traced, as if of a graph of 2**scale vertices."""
        phases = schedule(traced.shape, self.costs(traced, scale, fit))
        return makespan(phases, traced.shape.ranks, self.network) / traced.shape.searches

    def fit(self, scale: int) -> Fit:
        """What a search of 2**scale vertices costs."""
        step, undivided = self._step(), self._undivided(scale)
        if self.near:
            divided = self._shared_as_near(scale)
            if scale not in self.double:
                return Fit(step, divided, undivided)
            return self._solved(scale, lambda more: Fit(step, divided, more), self.double[scale])
        if scale in self.double:
            return self._solved(
                scale, lambda divided: Fit(step, divided, undivided), self.double[scale]
            )
        if scale in self.single and self.method not in ALONE_OTHERWISE:
            return Fit(step, max(0.0, self._alone(scale) - undivided), undivided)
        largest = max(self.double)
        grown = searched(scale) / searched(largest)
        if self.beyond:
            grown = self.beyond.growth(largest, scale)
        return Fit(step, self.fit(largest).divided * grown, undivided)

    def _shared_as_near(self, scale: int) -> float:
        """Shared work over this transport, by that over the one nearby."""
        if not self.near:
            return 0.0
        more = _edges(self.traced) / _edges(self.near.traced)
        return self.near.fit(scale).divided * max(1.0, more)

    def _solved(self, scale: int, made: Callable[[float], Fit], seconds: float) -> Fit:
        """The fit with which two GPUs take so long; secants, since times are nearly linear. What it
        is made of is not negative."""
        value, at = 0.0, self.seconds(self.traced, scale, made(0.0)) - seconds
        after = -at
        for _ in range(TURNS):
            after = max(after, 0.0)
            gap = self.seconds(self.traced, scale, made(after)) - seconds
            if abs(gap) <= CLOSE * seconds or gap == at:
                break
            value, at, after = after, gap, after - gap * (after - value) / (gap - at)
        return made(max(after, 0.0))

    def _step(self) -> float:
        """What is behind a step of the smallest graph on two GPUs."""
        if "step" not in self.known:
            small = min(self.double)
            found = self._solved(small, lambda step: Fit(step, 0.0, 0.0), self.double[small])
            self.known["step"] = (found.step,)
        return self.known["step"][0]

    def _alone(self, scale: int) -> float:
        """Work of a search on one GPU, next to its steps."""
        small = min(self.single)
        return self.single[scale] - self.single[small] * levels(scale) / levels(small)

    def _both(self) -> list[int]:
        """Scales whose times on one and two GPUs tell shared from undivided work."""
        if self.near:
            return [scale for scale in self.double if scale >= LARGE]
        if self.method in ALONE_OTHERWISE:
            return []
        return [scale for scale in self.double if scale in self.single and scale >= LARGE]

    def _undivided(self, scale: int) -> float:
        """Seconds that each GPU works whatever their number."""
        if "line" not in self.known:
            points, step = dict[float, float](), self._step()
            for both in self._both():
                points[searched(both)] = self._split(both, step).undivided
            self.known["line"] = line(points) if points else (0.0, 0.0)
        constant, slope = self.known["line"]
        return constant + slope * searched(scale)

    def _split(self, scale: int, step: float) -> Fit:
        """By the times on one and two GPUs; over another transport by that on two alone."""
        near = self.near
        alone = self._shared_as_near(scale) if near else max(0.0, self._alone(scale))

        def made(undivided: float) -> Fit:
            return Fit(step, alone if near else max(0.0, alone - undivided), undivided)

        found = self._solved(scale, made, self.double[scale])
        return found if near else made(min(found.undivided, alone))


def _edges(traced: Traced) -> float:
    """Examined by the searches that were traced, for each and for each vertex."""
    total = float(traced.shape.steps["edges_examined"].sum())
    return total / traced.shape.searches / searched(traced.scale)
