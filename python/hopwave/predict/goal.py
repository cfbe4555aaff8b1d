"""Schedules as GOAL traces: the text format that LogGOPSim and ATLAHS simulate.

Torsten Hoefler, Timo Schneider, Andrew Lumsdaine: LogGOPSim - Simulating Large-Scale Applications
in the LogGOPS Model. LSAP 2010.
"""

from collections.abc import Iterator, Sequence

from .schedule import Phase


def _rank(phases: Sequence[Phase], rank: int) -> Iterator[str]:
    label, waits = 0, list[int]()

    def line(what: str, needs: Sequence[int]) -> list[str]:
        nonlocal label
        label += 1
        return [f"l{label}: {what}", *(f"l{label} requires l{need}" for need in needs)]

    for tag, phase in enumerate(phases):
        before, ends = waits, list[int]()
        sends = [(to, b) for (by, to), b in phase.messages.items() if by == rank]
        for by, size in ((by, b) for (by, to), b in phase.messages.items() if to == rank):
            for piece in cut(size, phase.pieces):
                yield from line(f"recv {piece}b from {by} tag {tag}", before)
                ends.append(label)
        last = before
        for piece in range(phase.pieces):
            yield from line(f"calc {nanoseconds(phase, rank)}", last)
            last = [label]
            for to, size in sends:
                yield from line(f"send {cut(size, phase.pieces)[piece]}b to {to} tag {tag}", last)
                ends.append(label)
        waits = [*ends, *last]


def nanoseconds(phase: Phase, rank: int) -> int:
    """The work of a piece of a phase."""
    return round(1e9 * phase.seconds[rank] / phase.pieces)


def cut(size: int, pieces: int) -> list[int]:
    """The pieces of a message: none is empty, since an empty one would be no message."""
    return [max(1, size * (p + 1) // pieces - size * p // pieces) for p in range(pieces)]


def lines(phases: Sequence[Phase], ranks: int) -> Iterator[str]:
    """The lines of the trace."""
    yield f"num_ranks {ranks}"
    for rank in range(ranks):
        yield ""
        yield f"rank {rank} {{"
        yield from _rank(phases, rank)
        yield "}"
