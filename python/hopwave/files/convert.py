"""Edges and tables as objects of SciPy, NetworkX and pandas, which are imported when needed."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import MissingPackageError

if TYPE_CHECKING:
    import networkx
    import pandas
    from scipy.sparse import csr_array


def need(package: str, extra: str) -> Any:
    """A package that only some conversions need."""
    try:
        return import_module(package)
    except ImportError:
        raise MissingPackageError(
            f"{package} is not installed: pip install 'hopwave[{extra}]'"
        ) from None


@dataclass(frozen=True)
class Edges:
    """Edges between vertices 0..vertices-1.

    weight    None where there are no weights
    directed  whether an edge leads from its source to its target only
    mirrored  whether undirected edges are listed in both directions
    """

    vertices: int
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    weight: NDArray[Any] | None
    directed: bool
    mirrored: bool

    def simple(self) -> "Edges":
        """The same in order, both directions of undirected edges, of parallel ones the lightest."""
        source, target, weight = self.source, self.target, self.weight
        if not (self.directed or self.mirrored):
            source, target = np.r_[source, target], np.r_[target, source]
            weight = None if weight is None else np.r_[weight, weight]
        order = np.lexsort((target, source) if weight is None else (weight, target, source))
        source, target = source[order], target[order]
        first = np.ones(len(order), bool)
        first[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
        if weight is not None:
            weight = weight[order][first]
        return Edges(self.vertices, source[first], target[first], weight, self.directed, True)


def frame_of(columns: Mapping[str, NDArray[Any]]) -> "pandas.DataFrame":
    """Columns as a frame, texts decoded."""
    frame: pandas.DataFrame = need("pandas", "pandas").DataFrame(
        {
            name: np.char.decode(column, "utf-8") if column.dtype.kind == "S" else column
            for name, column in columns.items()
        }
    )
    return frame


def edge_frame(edges: Edges, labels: NDArray[np.int64] | None) -> "pandas.DataFrame":
    """Edges as a frame with columns source, target and, where there are weights, weight."""
    columns: dict[str, NDArray[Any]] = {"source": edges.source, "target": edges.target}
    if labels is not None:
        columns = {name: labels[column] for name, column in columns.items()}
    if edges.weight is not None:
        columns["weight"] = edges.weight
    return frame_of(columns)


def sparse_matrix(edges: Edges) -> "csr_array[Any, tuple[int, int]]":
    """Edges as a matrix: entry (u, v) is the weight of the edge from u to v, or 1."""
    sparse = need("scipy.sparse", "scipy")
    simple, n = edges.simple(), edges.vertices
    data = np.ones(len(simple.source), np.int64) if simple.weight is None else simple.weight
    starts = np.r_[0, np.cumsum(np.bincount(simple.source, minlength=n))]
    matrix: csr_array[Any, tuple[int, int]] = sparse.csr_array(
        (data, simple.target, starts), shape=(n, n)
    )
    return matrix


def network(edges: Edges, labels: NDArray[np.int64] | None) -> "networkx.Graph[int]":
    """Edges as a graph of NetworkX, all vertices included; edges may have `weight`."""
    nx = need("networkx", "networkx")
    graph: networkx.Graph[int] = nx.DiGraph() if edges.directed else nx.Graph()
    names = np.arange(edges.vertices) if labels is None else labels
    graph.add_nodes_from(names.tolist())
    simple = edges.simple()
    once = simple.source <= simple.target if not edges.directed else slice(None)
    ends = [names[simple.source[once]].tolist(), names[simple.target[once]].tolist()]
    if simple.weight is None:
        graph.add_edges_from(zip(*ends))
    else:
        graph.add_weighted_edges_from(zip(*ends, simple.weight[once].tolist()))
    return graph
