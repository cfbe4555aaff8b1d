"""Partition files: a graph as lists of neighbours, spread over parts."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from . import convert
from .base import EdgesFile, reading
from .graph import GraphFile

if TYPE_CHECKING:
    import networkx
    import pandas
    from scipy.sparse import csr_array

Ids = NDArray[np.int64]
Weights = NDArray[Any] | None


class Partition(EdgesFile):
    """A partition file. Its edges are both directions of each undirected edge, without self-loops,
    of parallel edges the lightest. Vertices bear the ids of the graph here."""

    kind: ClassVar[str] = "partition"
    called: ClassVar[str] = "a partition file"

    @property
    def layout(self) -> str:
        """ "1d", "2d" or "degree-separated"."""
        return str(self.attributes["layout"])

    @property
    def parts(self) -> int:
        """How many parts there are."""
        return self._int("parts")

    @property
    def edges(self) -> int:
        """How many edges are stored in all parts together."""
        return self._int("edges")

    def part_of(self) -> Ids:
        """The part that owns each vertex of the graph."""
        owner = np.empty(self.vertices, np.int64)
        graph_id, start = self._owned()
        with reading(self.path):
            owner[graph_id] = np.repeat(np.arange(self.parts), np.diff(start))
        return owner

    def edges_of(self, part: int) -> tuple[Ids, Ids, Weights]:
        """Sources, targets and weights (None without any) of the edges that a part stores."""
        if not 0 <= part < self.parts:
            raise ValueError(f"there are parts 0 to {self.parts - 1}, and not {part}")
        pieces = self._separated if self.layout == "degree-separated" else self._grid
        graph_id, start = self._owned()
        with reading(self.path):
            found = list(pieces(part, graph_id, start))
        sources, targets, weights = zip(*found)
        weight = None if self.weights == "none" else np.concatenate(weights)
        return np.concatenate(sources), np.concatenate(targets), weight

    def arrays(self) -> convert.Edges:
        """The edges of all parts."""
        parts = [self.edges_of(part) for part in range(self.parts)]
        sources, targets, weights = zip(*parts)
        weight = None if self.weights == "none" else np.concatenate(weights)
        return convert.Edges(
            self.vertices,
            np.concatenate(sources),
            np.concatenate(targets),
            weight,
            self.directed,
            True,
        )

    def to_pandas(self, *, labels: GraphFile | None = None) -> "pandas.DataFrame":
        """The edges of all parts: columns source, target and, where there are weights, weight.

        labels  the graph, where vertices are to bear the names that it has for them
        """
        return convert.edge_frame(self.arrays(), labels.labels() if labels else None)

    def to_scipy(self) -> "csr_array[Any, tuple[int, int]]":
        """The adjacency matrix: entry (u, v) is the weight of the edge from u to v, or 1."""
        return convert.sparse_matrix(self.arrays())

    def to_networkx(self, *, labels: GraphFile | None = None) -> "networkx.Graph[int]":
        """A networkx.Graph or DiGraph, without self-loops.

        labels  the graph, where vertices are to bear the names that it has for them
        """
        return convert.network(self.arrays(), labels.labels() if labels else None)

    def _owned(self) -> tuple[Ids, Ids]:
        """The graph ids that parts own, part after part, and where each part begins."""
        graph_id = self.read("/vertices/graph_id").astype(np.int64)
        return graph_id, self.starts("/vertices/start", len(graph_id))

    def _cut(self, path: str, starts: str, part: int) -> NDArray[Any]:
        """What a part has of a dataset."""
        begin, end = self.starts(starts, self._datasets[path].shape[0])[part : part + 2]
        return self.read(path, slice(begin, end))

    def _matrix(self, name: str, part: int) -> tuple[Ids, Ids, Weights]:
        """The (list, entry, weight) triples of one matrix of a part."""
        offset = self._cut(f"/{name}/offset", f"/{name}/offset_start", part)
        entries = f"/{name}/target" if name == "nn" else f"/{name}/index"
        entry = self._cut(entries, f"/{name}/index_start", part).astype(np.int64)
        weight = None
        if self.weights != "none":
            weight = self._cut(f"/{name}/weight", f"/{name}/index_start", part)
        row = np.repeat(np.arange(len(offset) - 1), np.diff(offset))
        if len(row) != len(entry):
            raise ValueError(f"/{name}/offset does not cut its entries")
        return row, entry, weight

    def _grid(self, part: int, graph_id: Ids, start: Ids) -> Iterator[tuple[Ids, Ids, Weights]]:
        """Of a part of a 1d or 2d partition, its edges."""
        rows, block = self._int("rows"), self._int("block")
        i, j = part % rows, part // rows
        u, v, weight = self._matrix("out", part)
        source = graph_id[start[j * rows + u // block] + u % block]
        target = graph_id[start[v // block * rows + i] + v % block]
        yield source, target, weight

    def _separated(
        self, part: int, graph_id: Ids, start: Ids
    ) -> Iterator[tuple[Ids, Ids, Weights]]:
        """Of a part of a degree-separated partition, the edges of each matrix."""
        nodes, devices = self._int("nodes"), self._int("devices")
        delegate = self.read("/delegates/graph_id").astype(np.int64)

        def of_search_id(s: Ids) -> Ids:
            owner = s % nodes * devices + s // nodes % devices
            ids: Ids = graph_id[start[owner] + s // self.parts]
            return ids

        def of_slot(slot: Ids) -> Ids:
            ids: Ids = graph_id[start[part] + slot]
            return ids

        def of_delegate(number: Ids) -> Ids:
            ids: Ids = delegate[number]
            return ids

        ends: dict[str, tuple[Callable[[Ids], Ids], Callable[[Ids], Ids]]] = {
            "nn": (of_slot, of_search_id),
            "nd": (of_slot, of_delegate),
            "dn": (of_delegate, of_slot),
            "dd": (of_delegate, of_delegate),
        }
        for name, (source, target) in ends.items():
            u, v, weight = self._matrix(name, part)
            yield source(u), target(v), weight
