"""What the columns of results.csv mean: a table beside it, results/columns.csv."""

import csv
from collections.abc import Iterable
from io import StringIO

from ..study import columns
from ..study.units import BYTES, TEPS, TIME, kind_of

WORDS = {
    "graph": "name of the graph in the configuration",
    "scale": "base-two logarithm of the vertices; of imported graphs rounded up",
    "layout": "layout of the partition, with what differs from its defaults",
    "parts": "parts, each searched by one MPI rank",
    "algorithm": "bfs or sssp",
    "method": "method as the configuration names it, with what differs from its defaults",
    "repeat": "which repeat of the run, from 1",
    "tree": "the file with the searches",
    "degree_threshold": "vertices of higher degree are delegates",
    "delegates_share": "share of the vertices that are delegates",
    "SCALE": "as scale, of the file",
    "edgefactor": "edges of the input for each vertex",
    "NBFS": "searches of the run, each from another root",
    "construction_time": "making and distributing the partition",
    "scans_per_edge": "edges examined in a search, over the stored edges; mean",
    "harmonic_mean_TEPS": "traversed edges per second: harmonic mean over the roots (Graph500)",
    "harmonic_stddev_TEPS": "standard deviation of that mean, as Graph500 defines it",
    "geometric_mean_TEPS": "geometric mean over the roots",
    "arithmetic_mean_TEPS": "arithmetic mean over the roots",
    "search_order_harmonic_mean_TEPS": "harmonic mean with parents left in the ids of the search",
    "resolved_method": "method that was taken",
    "device": "cpu, cuda, or emulated, whose times say nothing",
    "transport": "how GPUs or ranks exchanged data",
    "threads": "threads of each rank",
    "peak_memory": "resident memory of the largest rank",
    "search_order_time": "mean of a search with parents left in the ids of the search",
    "levels": "mean levels of a search",
    "computing_time": "computing in a search, mean over ranks and searches",
    "communicating_time": "communicating, and waiting inside it, likewise",
    "top_down_time": "steps that ran top-down or pushed",
    "bottom_up_time": "steps that ran bottom-up or pulled",
    "top_down_edges": "edges examined in steps that ran top-down or pushed; mean of a search",
    "bottom_up_edges": "edges examined in steps that ran bottom-up or pulled; mean of a search",
    "queue_time": "making queues of the frontier",
    "early_share": "of the second level bottom-up, what the first discovered already",
    "search_bytes_per_rank": "sent by a rank in a search; mean",
    "model_bytes_per_rank": "the most that the model of the layout's paper allows",
    "parents_bytes_per_rank": "sent by a rank at the end of a search to fetch parents; mean",
    "internode_bytes": "sent between nodes in a search; mean",
    "internode_messages": "messages between nodes in a search; mean",
    "lists_bytes": "lists of the degree-separated layout",
    "edge_list_bytes": "the same edges as pairs of 64-bit ids",
    "csr_bytes": "the same edges as CSR with 64-bit columns",
    "version": "of Hopwave",
    "started": "when the program started (UTC)",
    "ended": "when it ended (UTC)",
    "hosts": "nodes in the order of the ranks, with their numbers of ranks",
    "ranks": "ranks of MPI",
    "cores_of_rank_0": "cores that rank 0 might run on",
    "cores": "cores of the node of rank 0",
    "processor": "its processor",
    "sockets": "its sockets",
    "memory": "its memory",
    "gpus": "its GPUs",
    "network": "its network",
    "mpi": "library of MPI",
    "hdf5": "library of HDF5",
    "compiler": "compiler of the programs",
    "oversubscribed": "whether a node had more ranks times threads than cores for them",
    "digest": "digest of roots and levels or distances",
    "graph_digest": "digest of the graph",
}
NUMBERS = {
    "min": "least",
    "firstquartile": "first quartile",
    "median": "median",
    "thirdquartile": "third quartile",
    "max": "most",
    "mean": "mean",
    "stddev": "standard deviation",
}
KINDS = {"time": "seconds of a search", "nedge": "edges of the component", "TEPS": "TEPS"}


def meaning(column: str) -> str:
    """A column in words."""
    if column in WORDS:
        return WORDS[column]
    number, _, kind = column.partition("_")
    if number in NUMBERS and kind in KINDS:
        return f"{KINDS[kind]}: {NUMBERS[number]} over the roots"
    if column.endswith("_share"):
        return f"share of the edges in the subgraph {column.removesuffix('_share')}"
    if column.endswith("_time"):
        phase = column.removesuffix("_time").replace("_", " ")
        return f"phase {phase} in a search, mean over ranks and searches"
    if column not in columns.COLUMNS:
        return f"option --{column} of hopwave-traverse, as the configuration sets it"
    return column.replace("_", " ")


def unit(column: str) -> str:
    """The unit in which a column stands in the file."""
    if column == "memory" or column == "peak_memory":
        return "bytes"
    kind = kind_of(column)
    for units, name in ((TIME, "s"), (BYTES, "bytes"), (TEPS, "edges/s")):
        if kind is units:
            return name
    return ""


def table(names: Iterable[str]) -> str:
    """The dictionary of these columns as CSV."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["column", "unit", "meaning"])
    writer.writerows([name, unit(name), meaning(name)] for name in names)
    return out.getvalue()
