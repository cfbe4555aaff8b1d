"""Holds the messages and bytes of a search on a grid against the papers' formulas.

nodes.py TREE.h5: prints what does not hold, if anything, and then fails.
"""

import sys

import h5py

with h5py.File(sys.argv[1]) as file:
    run = dict(file["run"].attrs)
    steps = file["run/steps"][:]
    vertices = int(file.attrs["vertices"])

rows, columns, together = (int(run[key]) for key in ("rows", "columns", "ranks_per_node"))
ranks = rows * columns
bitmap = (-(-vertices // ranks) + 7) // 8
lines = {
    "row": [[i + j * rows for j in range(columns)] for i in range(rows)],
    "column": [[i + j * rows for i in range(rows)] for j in range(columns)],
}


def between(kind, each):
    """The sum of each(rank, line) over the ranks and their lines of a kind."""
    return sum(each(rank, line) for line in lines[kind] for rank in line)


def copies(rank, line):
    """One copy of a set that the whole line needs to each other node."""
    return len({other // together for other in line} - {rank // together})


def apart(rank, line):
    """A set of its own for each rank of the line on another node."""
    return sum(other // together != rank // together for other in line)


def next_apart(rank, line):
    """A set for the next of the line, if that is on another node."""
    following = line[(line.index(rank) + 1) % len(line)]
    return following // together != rank // together


wrong = []
for step in steps:
    routine = step["routine"].decode()
    pull = routine.startswith("pull")
    if not pull and not routine.startswith("push"):
        continue
    shared, other = ("row", "column") if pull else ("column", "row")
    if pull:
        sent = ranks * (columns - 1) + (ranks * rows if rows > 1 else 0)
        crossing = rows * between(other, next_apart)
    else:
        sent = ranks * (rows - 1 + columns - 1)
        crossing = between(other, apart)
    crossing += between(shared, copies)
    counts = int(step["messages_sent"]), int(step["internode_messages"])
    if counts != (sent, crossing):
        wrong.append(f"{routine}: {counts} messages, the formulas say {sent, crossing}")
    bound = bitmap * crossing
    if run["exchange"] in ("auto", b"auto") and step["internode_bytes"] > bound:
        wrong.append(f"{routine}: {step['internode_bytes']} bytes, bitmaps are {bound}")
sys.exit("\n".join(wrong) or 0)
