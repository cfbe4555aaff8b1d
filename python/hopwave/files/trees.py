"""Tree files: levels or distances and parents of searches from several roots."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import errors
from .base import File
from .convert import frame_of, need
from .graph import GraphFile

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Tree:
    """The result of one search.

    search  its number in the file, from 0
    root    where it began
    """

    file: "Trees"
    search: int
    root: int

    def vertices(self) -> NDArray[np.int64] | None:
        """The vertex of each row, where the file lists those with edges; else None: all are there,
        and row v is vertex v."""
        return self.file.listed()

    def _row(self, path: str) -> NDArray[Any]:
        if self.search >= self.file.stored:
            raise errors.NotStoredError(
                self.file.path, f"has the trees of {self.file.stored} searches only"
            )
        return self.file.read(path, self.search)

    def levels(self) -> NDArray[np.int32]:
        """Of a breadth-first search: edges from the root to each vertex; -1 if not reached."""
        return self._row("/level")

    def distances(self) -> NDArray[Any]:
        """Of shortest paths: the distance of each vertex; inf, or -1 for whole weights, if not
        reached. With negative whole weights -1 may be a distance: `reached` tells."""
        return self._row("/distance")

    def parents(self) -> NDArray[np.int64]:
        """The parent of each vertex; the root is its own, and -1 stands where none is reached."""
        return self._row("/parent")

    def reached(self) -> NDArray[np.bool_]:
        """Whether each vertex is reached."""
        return self.parents() >= 0

    def path_to(self, vertex: int) -> NDArray[np.int64]:
        """The vertices from the root to a vertex; empty if it is not reached."""
        if not 0 <= vertex < self.file.vertices:
            raise ValueError(f"there are vertices 0 to {self.file.vertices - 1}, and not {vertex}")
        parents, listed, path = self.parents(), self.vertices(), [vertex]

        def parent_of(child: int) -> int:
            row = child if listed is None else int(np.searchsorted(listed, child))
            there = row < len(parents) and (listed is None or listed[row] == child)
            return int(parents[row]) if there else -1

        if parent_of(vertex) < 0:
            return np.empty(0, np.int64)
        while path[-1] != self.root:
            parent = parent_of(path[-1])
            if not 0 <= parent < self.file.vertices or len(path) == len(parents):
                raise errors.DamagedFileError(self.file.path, "parents do not lead to the root")
            path.append(parent)
        return np.array(path[::-1], np.int64)

    def negative_cycle(self) -> NDArray[np.int64] | None:
        """Of shortest paths: the vertices of the negative cycle that was reached, or None."""
        if not self.file.has("/outcome") or self.file.read("/outcome", self.search) == 0:
            return None
        if not self.file.has("/cycle/offset"):
            raise errors.NotStoredError(self.file.path, "does not have the negative cycle")
        begin, end = self.file.read("/cycle/offset", slice(self.search, self.search + 2))
        return self.file.read("/cycle/vertex", slice(int(begin), int(end)))


class Trees(File):
    """A tree file: a sequence of `Tree`, one for each search."""

    kind: ClassVar[str] = "tree"
    called: ClassVar[str] = "a tree file"

    @property
    def algorithm(self) -> str:
        """ "bfs" (breadth-first search) or "sssp" (shortest paths)."""
        return str(self.attributes["algorithm"])

    @property
    def directed(self) -> bool:
        """Whether the graph is."""
        return self.attributes["directed"] == 1

    @property
    def roots(self) -> NDArray[np.int64]:
        """The root of each search."""
        return self.read("/roots")

    @property
    def stored(self) -> int:
        """How many of the searches have their results in the file: the first ones."""
        return self._int("stored")

    def listed(self) -> NDArray[np.int64] | None:
        """The vertices of the rows of levels, distances and parents, rising, in a file that leaves
        out those without edges (`hopwave-traverse --compact`); else None: rows have all."""
        return self.read("/vertex") if self.has("/vertex") else None

    def __len__(self) -> int:
        return self._int("roots")

    def __getitem__(self, search: int) -> Tree:
        if not -len(self) <= search < len(self):
            raise IndexError(f"there are {len(self)} searches, and none has the number {search}")
        search %= len(self)
        return Tree(self, search, int(self.roots[search]))

    def __iter__(self) -> Iterator[Tree]:
        for search, root in enumerate(self.roots.tolist()):
            yield Tree(self, search, root)

    def from_root(self, root: int) -> Tree:
        """The first search from a root."""
        found = np.flatnonzero(self.roots == root)
        if not len(found):
            raise ValueError(f"{self.path}: no search began at vertex {root}")
        return self[int(found[0])]

    def levels(self, search: int = 0) -> NDArray[np.int32]:
        """Of a breadth-first search: edges from the root to each vertex; -1 if not reached."""
        return self[search].levels()

    def distances(self, search: int = 0) -> NDArray[Any]:
        """Of shortest paths: the distance of each vertex; inf or -1 if not reached."""
        return self[search].distances()

    def parents(self, search: int = 0) -> NDArray[np.int64]:
        """The parent of each vertex; the root is its own, and -1 stands where none is reached."""
        return self[search].parents()

    def to_pandas(self, *, labels: GraphFile | None = None) -> "pandas.DataFrame":
        """A row for each vertex that a search reached: root, vertex, level or distance, parent.

        labels  the graph, where vertices are to bear the names that it has for them
        """
        value = "level" if self.algorithm == "bfs" else "distance"
        if len(self) and not self.stored:
            raise errors.NotStoredError(self.path, "has no trees: it was written with --store none")
        listed = self.listed()
        columns: dict[str, list[NDArray[Any]]] = {"root": [], "vertex": [], value: [], "parent": []}
        for search in range(self.stored):
            tree, parents = self[search], self.parents(search)
            reached = np.flatnonzero(parents >= 0)
            columns["root"].append(np.full(len(reached), tree.root, np.int64))
            columns["vertex"].append(reached if listed is None else listed[reached])
            columns[value].append(
                (tree.levels() if value == "level" else tree.distances())[reached]
            )
            columns["parent"].append(parents[reached])
        joined = {
            name: np.concatenate(pieces or [np.empty(0, np.int64)])
            for name, pieces in columns.items()
        }
        if labels:
            names = labels.labels()
            for column in ("root", "vertex", "parent"):
                joined[column] = names[joined[column]]
        return frame_of(joined)

    def searches(self) -> "pandas.DataFrame":
        """A row for each search: root, seconds, edges, TEPS and more."""
        return self.table_frame("search")

    def steps(self) -> "pandas.DataFrame":
        """A row for each step of each search: frontier, edges, bytes, seconds of each phase."""
        return self.table_frame("steps")

    def summary(self) -> "pandas.Series[Any]":
        """The statistics over all searches, under the names of the Graph500 reference."""
        prefix = f"{self.algorithm}_"
        values = {key: value for key, value in self.run.items() if key.startswith(prefix)}
        series: pandas.Series[Any] = need("pandas", "pandas").Series(values, name=self.path.name)
        return series
