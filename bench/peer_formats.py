"""Graphs in the formats of other programs, from the serialized lists that hopwave-export writes.

The lists (sg, wsg) hold each edge once in either direction, sorted, without loops and
duplicates, so that all programs search the same graph.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench_graphs import hopwave

CHUNK = 1 << 20  # numbers that are turned into text at once


@dataclass
class Lists:
    """CSR lists of out-edges."""

    directed: bool
    offsets: np.ndarray  # [vertices + 1] i64
    targets: np.ndarray  # [edges] i32
    weights: np.ndarray | None  # [edges] i32

    @property
    def vertices(self) -> int:
        return len(self.offsets) - 1

    @property
    def edges(self) -> int:
        return len(self.targets)

    def sources(self) -> np.ndarray:
        return np.repeat(np.arange(self.vertices, dtype=np.int64), np.diff(self.offsets))


def read_lists(path: Path, weighted: bool) -> Lists:
    """Reads GAP's serialized lists: a byte, two i64, offsets of i64, then i32 or pairs of i32."""
    with open(path, "rb") as file:
        directed = file.read(1) != b"\0"
        edges, vertices = np.fromfile(file, np.int64, 2)
        offsets = np.fromfile(file, np.int64, vertices + 1)
        # Of undirected graphs the header counts each edge once.
        stored = int(offsets[-1])
        assert stored in (edges, 2 * edges), f"{path}: {stored} entries, {edges} edges"
        if weighted:
            pairs = np.fromfile(file, np.int32, 2 * stored).reshape(-1, 2)
            return Lists(directed, offsets, pairs[:, 0].copy(), pairs[:, 1].copy())
        return Lists(directed, offsets, np.fromfile(file, np.int32, stored), None)


def write_numbers(file, rows: np.ndarray) -> None:
    """Writes rows of whole numbers as lines of text."""
    line = " ".join(["%d"] * rows.shape[1]) + "\n"
    for start in range(0, len(rows), CHUNK):
        part = rows[start : start + CHUNK]
        file.write(line * len(part) % tuple(part.ravel().tolist()))


def write_gbbs(lists: Lists, path: Path) -> None:
    """PASGAL's .bin, after GBBS: vertices, edges, bytes, offsets (u64), targets (u32)."""
    size = 3 * 8 + 8 * (lists.vertices + 1) + 4 * lists.edges
    with open(path, "wb") as file:
        np.array([lists.vertices, lists.edges, size], np.uint64).tofile(file)
        lists.offsets.astype(np.uint64).tofile(file)
        lists.targets.astype(np.uint32).tofile(file)


def write_pbbs(lists: Lists, path: Path) -> None:
    """PASGAL's .adj, after PBBS: a word and numbers, one a line."""
    with open(path, "w", encoding="ascii") as file:
        file.write(f"WeightedAdjacencyGraph\n{lists.vertices}\n{lists.edges}\n")
        for part in (lists.offsets[:-1], lists.targets, lists.weights):
            assert part is not None
            write_numbers(file, part.reshape(-1, 1))


def write_galois(lists: Lists, path: Path) -> None:
    """Galois' .gr, version 1: version, bytes of a weight, vertices, edges (u64), where each list
    ends (u64), targets (u32, an even number of them), weights (u32)."""
    assert lists.weights is not None
    with open(path, "wb") as file:
        np.array([1, 4, lists.vertices, lists.edges], np.uint64).tofile(file)
        lists.offsets[1:].astype(np.uint64).tofile(file)
        lists.targets.astype(np.uint32).tofile(file)
        np.zeros(lists.edges % 2, np.uint32).tofile(file)
        lists.weights.astype(np.uint32).tofile(file)


def write_gunrock(lists: Lists, path: Path) -> None:
    """Gunrock's .csr: rows, columns, entries, offsets, columns (i32), values (f32)."""
    weights = lists.weights if lists.weights is not None else np.ones(lists.edges)
    with open(path, "wb") as file:
        np.array([lists.vertices, lists.vertices, lists.edges], np.int32).tofile(file)
        lists.offsets.astype(np.int32).tofile(file)
        lists.targets.tofile(file)
        weights.astype(np.float32).tofile(file)


def compact_ids(lists: Lists) -> np.ndarray:
    """Numbers of the vertices that have edges, in their order, from 0; -1 of others."""
    linked = np.diff(lists.offsets) > 0
    linked[lists.targets] = True
    return np.where(linked, np.cumsum(linked) - 1, -1)


def write_matrix_market(lists: Lists, path: Path, compact: bool) -> None:
    """Matrix Market coordinates, of undirected graphs the lower triangle; compact: without the
    vertices that have no edge."""
    sources, targets = lists.sources(), lists.targets.astype(np.int64)
    kept = np.ones(len(targets), bool) if lists.directed else sources > targets
    columns = [sources, targets] + ([] if lists.weights is None else [lists.weights])
    rows = np.column_stack([column[kept] for column in columns]).astype(np.int64)
    vertices = lists.vertices
    if compact:
        ids = compact_ids(lists)
        rows[:, :2] = ids[rows[:, :2]]
        vertices = int(ids.max()) + 1
    rows[:, :2] += 1
    value = "pattern" if lists.weights is None else "integer"
    shape = "general" if lists.directed else "symmetric"
    with open(path, "w", encoding="ascii") as file:
        file.write(f"%%MatrixMarket matrix coordinate {value} {shape}\n")
        file.write(f"{vertices} {vertices} {len(rows)}\n")
        write_numbers(file, rows)


class Converter:
    """A graph in whichever formats are asked for, each made once."""

    def __init__(self, graph: Path, weighted: bool, folder: Path) -> None:
        self.graph, self.weighted, self.folder = graph, weighted, folder
        self._lists: Lists | None = None

    def serialized(self) -> Path:
        path = self.folder / ("graph.wsg" if self.weighted else "graph.sg")
        if not path.exists():
            hopwave("export", str(self.graph), f"--format={path.suffix[1:]}", "-o", str(path))
        return path

    def lists(self) -> Lists:
        if self._lists is None:
            self._lists = read_lists(self.serialized(), self.weighted)
        return self._lists

    def file(self, name: str) -> Path:
        """The graph as NAME: lists (sg or wsg), gbbs.bin, pbbs.adj, galois.gr, gunrock.csr,
        plain.mtx or compact.mtx."""
        if name == "lists":
            return self.serialized()
        path = self.folder / name
        if path.exists():
            return path
        lists = self.lists()
        part = path.with_suffix(".part")  # until it is whole
        if name.endswith(".mtx"):
            write_matrix_market(lists, part, name == "compact.mtx")
        else:
            write = {
                "gbbs.bin": write_gbbs,
                "pbbs.adj": write_pbbs,
                "galois.gr": write_galois,
                "gunrock.csr": write_gunrock,
            }
            write[name](lists, part)
        part.rename(path)
        return path
