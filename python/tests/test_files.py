"""What files hold, against independent searches of SciPy and NetworkX, in all layouts."""

from pathlib import Path

import numpy as np
import pytest

import hopwave

pandas = pytest.importorskip("pandas")
networkx = pytest.importorskip("networkx")
csgraph = pytest.importorskip("scipy.sparse.csgraph")

# Of tests/pipeline/python.t: an undirected graph, and a directed one with whole weights.
NEW = ["undirected", "directed"]
LAYOUTS = ["1d", "2d", "ds"]


def levels_of(graph: hopwave.Graph, root: int) -> np.ndarray:
    """Levels of a search by NetworkX."""
    found = networkx.single_source_shortest_path_length(graph.to_networkx(labels=False), root)
    levels = np.full(graph.vertices, -1)
    levels[list(found)] = list(found.values())
    return levels


def check_tree(graph: hopwave.Graph, tree: hopwave.Tree) -> None:
    """Parents are neighbours one level up, and paths are as long as levels say."""
    levels, parents = tree.levels(), tree.parents()
    assert levels.tolist() == levels_of(graph, tree.root).tolist()
    reached = np.flatnonzero(tree.reached() & (np.arange(graph.vertices) != tree.root))
    matrix = graph.to_scipy()
    assert (matrix[parents[reached], reached] != 0).all()
    for vertex in reached[:20].tolist():
        path = tree.path_to(vertex)
        assert (path[0], path[-1], len(path)) == (tree.root, vertex, levels[vertex] + 1)
    beyond = np.flatnonzero(~tree.reached())
    assert not len(beyond) or not len(tree.path_to(int(beyond[0])))


@pytest.mark.parametrize("name", ["bfs", "sssp"])
def test_old_steps(old: Path, name: str) -> None:
    """Columns of version 1 have the names of today."""
    trees = hopwave.Trees.open(old / f"{name}.h5", verify=True)
    assert trees.version == 1
    assert {"discovered", "expansion_min", "expansion_max"} <= set(trees.steps().columns)
    assert not [column for column in trees.steps().columns if column.endswith(("_least", "_most"))]
    assert "roots_requested" in trees.parameters and "method_requested" in trees.run


def test_old_trees(old: Path) -> None:
    graph = hopwave.Graph.open(old / "graph.h5", verify=True)
    trees = hopwave.Trees.open(old / "bfs.h5")
    assert trees.graph_digest == graph.digest == graph.graph_digest
    for tree in trees:
        check_tree(graph, tree)


def test_old_distances(old: Path) -> None:
    check_distances(hopwave.Graph.open(old / "graph.h5"), hopwave.Trees.open(old / "sssp.h5"))


def check_distances(graph: hopwave.Graph, trees: hopwave.Trees) -> None:
    """Distances are those that SciPy finds."""
    for tree in trees:
        expected = csgraph.dijkstra(graph.to_scipy(), indices=tree.root)
        distances = np.where(tree.reached(), tree.distances(), np.inf)
        assert (distances == expected).all()
        assert tree.negative_cycle() is None


def test_old_partition(old: Path) -> None:
    check_partition(
        hopwave.Graph.open(old / "graph.h5"), hopwave.Partition.open(old / "partition.h5")
    )


def check_partition(graph: hopwave.Graph, partition: hopwave.Partition) -> None:
    """A partition has the graph's edges but for self-loops, each in one part."""
    partition.verify()
    matrix = graph.to_scipy()
    matrix.setdiag(0)
    matrix.eliminate_zeros()
    assert abs(matrix - partition.to_scipy()).max() == 0
    assert partition.edges == matrix.nnz == len(partition.to_pandas())
    assert partition.graph_digest == graph.digest
    assert set(partition.part_of().tolist()) == set(range(partition.parts))
    graph_of_x = graph.to_networkx()
    graph_of_x.remove_edges_from(list(networkx.selfloop_edges(graph_of_x)))
    other = partition.to_networkx(labels=graph)
    assert networkx.utils.graphs_equal(graph_of_x, other)


def test_old_check(old: Path) -> None:
    check = hopwave.Check.open(old / "check.h5", verify=True)
    table = check.to_pandas()
    assert check.passed and not check.violations().any()
    assert table["root"].tolist() == check.roots.tolist()
    assert "tree-edges" in table.columns
    assert check.tree_digest == hopwave.open(old / "bfs.h5").digest


def test_tables_of_trees(old: Path) -> None:
    trees = hopwave.Trees.open(old / "bfs.h5")
    table = trees.to_pandas()
    assert list(table.columns) == ["root", "vertex", "level", "parent"]
    assert len(table) == sum(int(tree.reached().sum()) for tree in trees)
    searches = trees.searches()
    assert searches["root"].tolist() == trees.roots.tolist() == [tree.root for tree in trees]
    assert set(trees.steps()["search"]) == set(range(len(trees)))
    assert trees.summary()["bfs_max_time"] == pytest.approx(searches["seconds"].max())


def test_searches_by_number_and_root(old: Path) -> None:
    trees = hopwave.Trees.open(old / "bfs.h5")
    assert trees[-1] == trees[len(trees) - 1] == trees.from_root(int(trees.roots[-1]))
    with pytest.raises(IndexError, match="none has the number 99"):
        trees[99]
    with pytest.raises(ValueError, match="no search began at vertex"):
        trees.from_root(-5)
    with pytest.raises(ValueError, match="there are vertices 0 to"):
        trees[0].path_to(10**6)
    with pytest.raises(hopwave.NotStoredError, match="has no /distance"):
        trees.distances()


def test_parallel_edges_and_loops(old: Path) -> None:
    """Of parallel edges the lightest counts; both directions are there."""
    graph = hopwave.Graph.open(old / "graph.h5")
    lightest: dict[tuple[int, int], int] = {}
    for source, target, weight in graph.to_pandas(labels=False).to_numpy().tolist():
        for pair in {(source, target), (target, source)}:
            lightest[pair] = min(weight, lightest.get(pair, weight))
    matrix = graph.to_scipy().tocoo()
    found = dict(zip(zip(*(ends.tolist() for ends in matrix.coords)), matrix.data.tolist()))
    assert found == lightest


def test_closed_by_with(old: Path) -> None:
    with hopwave.open(old / "graph.h5") as graph:
        assert graph.vertices == 16 and repr(graph).startswith("<Graph ")
    assert not graph.h5


@pytest.mark.parametrize("name", NEW)
def test_new_files(new: Path, name: str) -> None:
    graph = hopwave.Graph.open(new / f"{name}.h5", verify=True)
    assert graph.directed == (name == "directed")
    for layout in LAYOUTS:
        check_partition(graph, hopwave.Partition.open(new / f"{name}-{layout}.h5"))
    for tree in hopwave.Trees.open(new / f"{name}-trees.h5", verify=True):
        check_tree(graph, tree)
    check = hopwave.Check.open(new / f"{name}-check.h5", verify=True)
    assert check.passed and check.graph_digest == graph.digest


def test_new_distances(new: Path) -> None:
    trees = hopwave.Trees.open(new / "directed-paths.h5", verify=True)
    assert trees.algorithm == "sssp"
    assert list(trees.to_pandas().columns) == ["root", "vertex", "distance", "parent"]
    check_distances(hopwave.Graph.open(new / "directed.h5"), trees)


def test_negative_cycle(new: Path) -> None:
    trees = hopwave.Trees.open(new / "cycle-paths.h5", verify=True)
    cycle = trees[0].negative_cycle()
    assert cycle is not None and sorted(cycle.tolist()) == [1, 2, 3]
    assert not trees[0].reached().any()


def test_recipe(new: Path) -> None:
    recipe = hopwave.open(new / "recipe.h5", verify=True)
    assert isinstance(recipe, hopwave.Recipe) and not hasattr(recipe, "to_scipy")
    assert recipe.edges == 16 * recipe.vertices and recipe.labels()[-1] == recipe.vertices - 1
    assert recipe.parameters["scale"] == 9
    with pytest.raises(hopwave.WrongKindError, match="is a recipe"):
        hopwave.Graph.open(new / "recipe.h5")


@pytest.mark.parametrize(("store", "stored"), [("first", 1), ("none", 0)])
def test_trees_that_are_not_stored(new: Path, store: str, stored: int) -> None:
    trees = hopwave.Trees.open(new / f"{store}.h5", verify=True)
    assert trees.stored == stored and len(trees) == len(trees.searches()) == 3
    with pytest.raises(hopwave.NotStoredError, match=f"has the trees of {stored} searches only"):
        trees[2].parents()
    if stored:
        assert trees.to_pandas()["root"].unique().tolist() == [trees.roots[0]]
    else:
        with pytest.raises(hopwave.NotStoredError, match="has no trees"):
            trees.to_pandas()


def test_labels(new: Path) -> None:
    """An imported graph has the names of its file."""
    graph = hopwave.Graph.open(new / "labels.h5")
    names = {10, 20, 300, 4000, 50}
    assert set(graph.labels().tolist()) == set(graph.to_networkx().nodes) == names
    assert set(graph.to_pandas()["source"]) <= names
    assert set(graph.to_networkx(labels=False).nodes) == set(range(5))
    table = hopwave.Trees.open(new / "labels-trees.h5").to_pandas(labels=graph)
    assert set(table["vertex"]) <= names and set(table["root"]) <= names
