"""Graph files: edges as they came, or a recipe for making them."""

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import errors
from . import convert
from .base import EdgesFile

if TYPE_CHECKING:
    import networkx
    import pandas
    from scipy.sparse import csr_array


class GraphFile(EdgesFile):
    """What both kinds of graph files have."""

    kind: ClassVar[str] = "graph"
    called: ClassVar[str] = "a graph file"

    @property
    def edges(self) -> int:
        """How many edges there are, as they come: parallel ones and self-loops are counted."""
        return self._int("edges")

    def labels(self) -> NDArray[np.int64]:
        """What the vertices 0, 1, ... were called where the graph came from."""
        if self.has("/vertices/label"):
            return self.read("/vertices/label")
        first = int(self.parameters.get("first_label", 0))
        return np.arange(first, first + self.vertices, dtype=np.int64)


class Recipe(GraphFile):
    """A graph file that says how the edges are made, but does not have them: `parameters` does."""

    called: ClassVar[str] = "a recipe, a graph file without edges"


class Graph(GraphFile):
    """A graph file with its edges."""

    called: ClassVar[str] = "a graph file with edges"

    @property
    def source(self) -> NDArray[np.int64]:
        """The source of each edge."""
        return self.read("/edges/source").astype(np.int64)

    @property
    def target(self) -> NDArray[np.int64]:
        """The target of each edge."""
        return self.read("/edges/target").astype(np.int64)

    @property
    def weight(self) -> NDArray[Any]:
        """The weight of each edge. NotStoredError where there are no weights."""
        return self.read("/edges/weight")

    def arrays(self) -> convert.Edges:
        """The edges as they came. DamagedFileError where one has no vertex."""
        weight = None if self.weights == "none" else self.weight
        source, target = self.source, self.target
        for ends in (source, target):
            if len(ends) and not (ends.min() >= 0 and ends.max() < self.vertices):
                raise errors.DamagedFileError(self.path, "an edge ends at no vertex")
        return convert.Edges(self.vertices, source, target, weight, self.directed, False)

    def to_pandas(self, *, labels: bool = True) -> "pandas.DataFrame":
        """The edges as they came: columns source, target and, where there are weights, weight.

        labels  whether vertices bear the names that they had where the graph came from
        """
        return convert.edge_frame(self.arrays(), self.labels() if labels else None)

    def to_scipy(self) -> "csr_array[Any, tuple[int, int]]":
        """The adjacency matrix: entry (u, v) is the weight of the edge from u to v, or 1.

        Undirected edges have both entries; of parallel edges the lightest counts. Rows are ids.
        """
        return convert.sparse_matrix(self.arrays())

    def to_networkx(self, *, labels: bool = True) -> "networkx.Graph[int]":
        """A networkx.Graph or DiGraph; of parallel edges the lightest counts.

        labels  whether vertices bear the names that they had where the graph came from
        """
        return convert.network(self.arrays(), self.labels() if labels else None)
