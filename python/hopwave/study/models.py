"""Bytes that the papers' models allow, from the layout and the steps of the searches.

Grids (Parallel Distributed Breadth First Search on the Kepler Architecture, sections 3
and 5): vertices of one block travel to another rank as 32 bits each or as one bit for
each vertex of the block, whichever is less. Top-down, a frontier goes to the R - 1 other
ranks of the grid column, finds to the C - 1 others of the row, and no more are found than
edges examined. Bottom-up, which the paper has not, the frontier goes to the C - 1 others
of the row, and the vertices yet unvisited once around the column.

Delegates (Scalable Breadth-First Search on a GPU Cluster, section V): d/8 bytes in each
reduction of the delegate masks, which an all-reduce over p ranks turns into 2 (p-1)/p
times that from each; and 4 bytes for each edge between normal vertices, once a search.

Neither holds what is sent at the end to fetch parents that another rank knows.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


def shorter(vertices: "pandas.Series[Any]", blocks: int, block: int) -> "pandas.Series[Any]":
    """The bytes of that many vertices spread over blocks, as lists or bitmaps."""
    return (4 * vertices).clip(upper=blocks * ((block + 7) // 8))


def grid_bytes(rows: int, columns: int, block: int, steps: "pandas.DataFrame") -> float:
    ranks = rows * columns
    down = steps["direction"] != "bottom-up"
    up = ~down
    reached = steps.groupby("search")["discovered"].cumsum() + 1
    unvisited = ranks * block - reached + steps["discovered"]
    frontier = shorter(steps["frontier"], ranks, block)
    finds = shorter(steps["edges_examined"], ranks * (columns - 1), block)
    around = shorter(unvisited, ranks, block) * (rows if rows > 1 else 0)
    sent = down * ((rows - 1) * frontier + finds) + up * ((columns - 1) * frontier + around)
    return sent.sum()


def delegate_bytes(
    ranks: int, delegates: int, normal_edges: float, steps: "pandas.DataFrame"
) -> float:
    reductions = len(steps) * 2 * (ranks - 1) * delegates / 8
    return reductions + steps["search"].nunique() * 4 * normal_edges


def model_bytes(layout: Mapping[str, Any], steps: "pandas.DataFrame") -> float:
    """Bytes that all ranks together may send in the steps, those for parents left out.

    layout  the attributes of /run in a tree file, and "vertices"
    """
    ranks = layout["parts"]
    if ranks == 1:
        return 0
    if "delegates" in layout:
        normal_edges = layout.get("nn_edges", float("nan"))
        return delegate_bytes(ranks, layout["delegates"], normal_edges, steps)
    block = -(-layout["vertices"] // ranks)
    return grid_bytes(layout["rows"], layout["columns"], block, steps)


def lists_bytes(layout: Mapping[str, Any]) -> dict[str, float]:
    """Memory of the four subgraphs of the degree-separated layout by Table I of its paper, and
    what other representations of the same edges take; nothing of other layouts."""
    if "nn_edges" not in layout:
        return {}
    vertices, edges = layout["vertices"], layout["stored_edges"]
    copies = 8 * layout["delegates"] * layout["parts"]
    return {
        "lists_bytes": 8 * vertices + copies + 4 * edges + 4 * layout["nn_edges"],
        "edge_list_bytes": 16 * edges,
        "csr_bytes": 8 * vertices + 8 * edges,
    }
