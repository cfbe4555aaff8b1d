"""What the ranks of a search compute and send, phase by phase, from the step rows of a tree file.

A tree file has of each step the work and bytes of all ranks together and of the rank with most.
A schedule gives the rank that was slowest the largest share and all others the same of the rest, so
that it is as uneven as the search was.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .. import errors
from ..files.trees import Trees

Numbers = NDArray[np.float64]
COUNTER = 8  # bytes of a message of a barrier
# Routines for frontiers of up to so many vertices and edges, however large the graph is: of fused,
# and, at the end of a name, of scan2d and delegates.
BOUNDED = ("push block", "push all")
SMALL = "small"
PIECE = 4 << 20  # bytes of a message over a host of which the next is copied meanwhile


@dataclass
class Phase:
    """What the ranks do between two points at which each waits for its own messages.

    seconds   work of each rank
    messages  bytes, by sender and receiver
    pieces    the work is cut into so many, and a share of each message leaves after each: messages
              and work overlap where there is more than one
    """

    seconds: Sequence[float]
    messages: dict[tuple[int, int], int] = field(default_factory=dict)
    pieces: int = 1


@dataclass
class Costs:
    """What a search costs next to its messages on the links.

    edge     seconds of work for an edge examined; None: as long as the steps of the file took
    every    seconds of work of each rank for an edge that any of them examines: what ranks do not
             share
    step     seconds that each rank spends on the barrier of a step: launches, copies, handshakes
    pieces   as in Phase: more than one where kernels store into other GPUs' memory
    flags    a barrier is one stage in which each rank signals all others, not log2(ranks) stages
    rounds   barriers of a step
    staged   messages go through memory of the host: a rank copies a piece to it, and others copy
             from it while the next is copied
    same     what the others get is the same for all, and is copied to the host once
    copy     seconds of a rank to start a copy to or from the host
    volume   how many times as large the graph is as that of the step rows: there is so much more
             to send, but in steps of a bounded frontier, and what the slowest rank has above the
             mean is less by the square root, as vertices fall to ranks at random
    """

    edge: float | None = None
    every: float = 0.0
    step: float = 0.0
    pieces: int = 1
    flags: bool = False
    rounds: int = 1
    staged: bool = False
    same: bool = False
    copy: float = 0.0
    volume: float = 1.0


@dataclass
class Shape:
    """Of the searches in a tree file: ranks, the grid's rows and columns, and step rows."""

    ranks: int
    rows: int
    columns: int
    steps: NDArray[np.void]
    searches: int

    def groups(self, rank: int) -> tuple[list[int], list[int]]:
        """Other ranks of the column and of the row of a rank's part: parts are numbered by rows."""
        row, column = divmod(rank, self.columns)
        down = [r * self.columns + column for r in range(self.rows) if r != row]
        across = [row * self.columns + c for c in range(self.columns) if c != column]
        return down, across


def shape_of(tree: Trees) -> Shape:
    """The shape of the searches of a tree file. FileError where it has no step rows."""
    if "steps" not in tree.tables or not len(tree.table("steps")):
        raise errors.NotStoredError(tree.path, "has no steps: it was written with --no-steps")
    steps, run = tree.table("steps"), tree.run
    ranks = int(run.get("parts", 0))
    if ranks < 1:
        raise errors.DamagedFileError(tree.path, "does not say how many parts were searched")
    rows, columns = int(run.get("rows", 1)), int(run.get("columns", ranks))
    if rows * columns != ranks:
        rows, columns = 1, ranks
    needed = {"search", "edges_examined", "edges_examined_max", "bytes_sent", "bytes_sent_max"}
    missing = sorted(needed - set(steps.dtype.names or ()))
    if missing:
        raise errors.NotStoredError(tree.path, f"/run/steps has no column {missing[0]}")
    return Shape(ranks, rows, columns, steps, len(np.unique(steps["search"])))


def shares(total: float, most: float, slowest: int, ranks: int, volume: float = 1.0) -> Numbers:
    """What each rank has of a total, of which the slowest has the most; volume: as of Costs."""
    mean = total / ranks
    most = min(mean + (max(most, mean) - mean) / math.sqrt(volume), total)
    shared = np.full(ranks, (total - most) / max(1, ranks - 1))
    shared[slowest] = most
    return shared


def _phase_seconds(step: np.void, name: str, ranks: int) -> Numbers:
    if f"{name}_mean" not in (step.dtype.names or ()):
        return np.zeros(ranks)
    slowest = _slowest(step, name, ranks)
    return shares(step[f"{name}_mean"] * ranks, step[f"{name}_max"], slowest, ranks)


def _slowest(step: np.void, name: str, ranks: int) -> int:
    column = f"{name}_slowest"
    slowest = int(step[column]) if column in (step.dtype.names or ()) else 0
    return slowest if 0 <= slowest < ranks else 0


def bounded(step: np.void) -> bool:
    """Whether a step's frontier is no larger in a larger graph."""
    if "routine" not in (step.dtype.names or ()):
        return False
    name = step["routine"]
    routine = name.decode() if isinstance(name, bytes) else str(name)
    return routine in BOUNDED or routine.endswith(SMALL)


def barrier(ranks: int, seconds: float, flags: bool) -> list[Phase]:
    """A barrier: each rank signals all others, or a dissemination in log2(ranks) stages."""
    work = [seconds] * ranks
    if ranks == 1:
        return [Phase(work)] if seconds else []
    if flags:
        pairs = {(a, b): COUNTER for a in range(ranks) for b in range(ranks) if a != b}
        return [Phase(work, pairs)]
    return [
        Phase(
            work if stage == 0 else [0.0] * ranks,
            {(r, (r + 2**stage) % ranks): COUNTER for r in range(ranks)},
        )
        for stage in range(math.ceil(math.log2(ranks)))
    ]


def _copies(step: np.void, ranks: int, same: bool) -> float:
    """Copies to and from the host that a rank makes in a step, by the messages that it sends."""
    if "messages_sent" not in (step.dtype.names or ()):
        return 0.0
    return float(step["messages_sent"]) / ranks * (1 if same else 2)


def _copied_out(ranks: int, messages: dict[tuple[int, int], int], costs: Costs) -> list[Phase]:
    """What a rank copies to the host before others can copy from it, as if for the next rank: a
    piece at most, since the rest is copied meanwhile."""
    if not costs.staged or not messages:
        return []
    most: dict[tuple[int, int], int] = {}
    for (by, _), size in messages.items():
        pair, before = (by, (by + 1) % ranks), most.get((by, (by + 1) % ranks), 0)
        most[pair] = min(PIECE, max(size, before) if costs.same else size + before)
    return [Phase([0.0] * ranks, most)]


def phases_of(shape: Shape, step: np.void, costs: Costs) -> list[Phase]:
    """A step: on a grid of several rows the frontier goes along columns; then work, while what is
    found goes along rows; the update; a barrier."""
    ranks = shape.ranks
    slowest = _slowest(step, "expansion", ranks)
    update = np.zeros(ranks)
    if costs.edge is None:
        work = _phase_seconds(step, "expansion", ranks)
        update = _phase_seconds(step, "update", ranks)
    else:
        edges = shares(
            step["edges_examined"], step["edges_examined_max"], slowest, ranks, costs.volume
        )
        work = costs.edge * edges + costs.every * float(step["edges_examined"])
        work += costs.copy * _copies(step, ranks, costs.same)
    sent = shares(step["bytes_sent"], step["bytes_sent_max"], slowest, ranks, costs.volume)
    sent *= 1.0 if bounded(step) else costs.volume
    down: dict[tuple[int, int], int] = {}
    across: dict[tuple[int, int], int] = {}
    for rank in range(ranks):
        groups = shape.groups(rank)
        each = sent[rank] / max(1, len(groups[0]) + len(groups[1]))
        if each < 1:
            continue
        for other in groups[0]:
            down[rank, other] = round(each)
        for other in groups[1]:
            across[rank, other] = round(each)
    out, into = (_copied_out(ranks, messages, costs) for messages in (down, across))
    phases = out
    if down:
        phases.append(Phase([0.0] * ranks, down))
    if into:
        phases += [Phase(work.tolist()), *into, Phase([0.0] * ranks, across)]
    else:
        phases.append(Phase(work.tolist(), across, costs.pieces if across else 1))
    if update.any():
        phases.append(Phase(update.tolist()))
    for number in range(costs.rounds):
        phases += barrier(ranks, 0.0 if number else costs.step, costs.flags)
    return phases


def schedule(shape: Shape, costs: Costs, search: int | None = None) -> list[Phase]:
    """All searches of a file one after another, or one of them."""
    steps = shape.steps
    if search is not None:
        steps = steps[steps["search"] == search]
        if not len(steps):
            raise ValueError(f"there are searches 0 to {shape.searches - 1}, and not {search}")
    if not all(
        np.isfinite(steps[name]).all()
        for name in steps.dtype.names or ()
        if steps.dtype[name].kind == "f"
    ):
        raise ValueError("a time among the step rows is no number")
    phases: list[Phase] = []
    for step in steps:
        phases += phases_of(shape, step, costs)
    return phases
