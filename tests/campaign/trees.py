"""Trees that are right or wrong, with digests that hold: validation against a search in Python."""

import random
import shutil
from collections import deque
from pathlib import Path

import h5py
import numpy as np
from common import World, WrongError, generator, judge, one_by_one
from sealed import seal

Edges = list[tuple[int, int]]
SAME_GRAPH = 8  # cases that follow each other


class Trees:
    """Trees of random graphs with some values changed, or parents exchanged for others that are
    as good: hopwave-validate says what a search in Python says."""

    name = "trees"

    def __init__(self, world: World) -> None:
        self.world = world
        self.made = -1

    def tries(self, numbers: range) -> list[tuple[int, str]]:
        return one_by_one(self.name, self.attempt, numbers)

    def attempt(self, draw: random.Random, number: int) -> None:
        graph, made = self.world.folder / "g.h5", self.world.folder / "made.h5"
        tree = self.world.folder / f"t-{number}.h5"
        if self.made != number // SAME_GRAPH:
            self.make(generator("graphs", number // SAME_GRAPH), graph, made)
            self.made = number // SAME_GRAPH
        shutil.copyfile(made, tree)
        with h5py.File(graph) as file:
            pairs = list(zip(file["edges/source"][()].tolist(), file["edges/target"][()].tolist()))
            vertices, directed = int(file.attrs["vertices"]), bool(file.attrs["directed"])
        if not directed:
            pairs += [(b, a) for a, b in pairs]
        right = self.edited(draw, tree, pairs, vertices)
        seal(tree)
        done = self.world.run("hopwave-validate", "-q", tree, "--graph", graph)
        status = judge(done, 0, 1, 3)
        if (status == 0) != right:
            raise WrongError(f"status {status} for trees that are {'right' if right else 'wrong'}")
        self.world.counts[["valid", "found wrong", "", "refused"][status]] += 1
        tree.unlink()

    def make(self, draw: random.Random, graph: Path, tree: Path) -> None:
        """A random graph and two searches on it."""
        given = self.world.folder / "e.el"
        given.write_text("".join(f"{a} {b}\n" for a, b in random_edges(draw)))
        direction = draw.choice(["--directed", "--undirected", "--undirected"])
        self.world.made("hopwave-import", "-q", given, direction, "--force", "-o", graph)
        layout = draw.choice([["1d"], ["degree-separated", "--degree-threshold", "4"]])
        options = ["--layout", layout[0], "--parts", "1", *layout[1:], "--roots", "2", "--force"]
        search = ["--algorithm", "bfs", "-o", tree]
        self.world.made("hopwave-traverse", "-q", graph, *options, *search)

    @staticmethod
    def edited(draw: random.Random, tree: Path, pairs: Edges, vertices: int) -> bool:
        """Changes a tree file; returns whether all trees in it are still right."""
        with h5py.File(tree, "r+") as file:
            level, parent = file["level"][()], file["parent"][()]
            roots = file["roots"][()].tolist()
            if draw.random() < 0.8:
                change(draw, level, parent, pairs)
            file["level"][...], file["parent"][...] = level, parent
        return all(
            is_right(level[i].tolist(), parent[i].tolist(), root, pairs, vertices)
            for i, root in enumerate(roots)
        )


def random_edges(draw: random.Random) -> Edges:
    """Edges of which one leads to another vertex, as roots have one."""
    edges: Edges = []
    while all(a == b for a, b in edges):
        vertices = draw.randrange(2, 25)
        edges = [
            (draw.randrange(vertices), draw.randrange(vertices))
            for _ in range(draw.randrange(vertices, 4 * vertices))
        ]
    return edges


def change(draw: random.Random, level: np.ndarray, parent: np.ndarray, pairs: Edges) -> None:
    """Changes a value or two of one tree, or exchanges a parent."""
    row, count = draw.randrange(len(level)), level.shape[1]
    v = draw.randrange(count)
    match draw.randrange(6):
        case 0:
            level[row, v] = draw.choice([-1, 0, 1, 2, 3, int(level[row, v]) + 1, 1 << 20])
        case 1:
            parent[row, v] = draw.choice([-1, v, draw.randrange(count), count, -2, 1 << 40])
        case 2:
            level[row, v], parent[row, v] = -1, -1
        case 3:
            other = draw.randrange(count)
            level[row, [v, other]] = level[row, [other, v]]
            parent[row, [v, other]] = parent[row, [other, v]]
        case 4:  # a whole tree one level deeper
            level[row][level[row] >= 0] += 1
        case _:  # another parent, as good
            good = [a for a, b in pairs if b == v and level[row, a] == level[row, v] - 1]
            if good and level[row, v] > 0:
                parent[row, v] = draw.choice(good)


def is_right(level: list[int], parent: list[int], root: int, pairs: Edges, vertices: int) -> bool:
    """Whether a row is a tree of shortest paths from the root."""
    after: dict[int, list[int]] = {}
    for a, b in pairs:
        after.setdefault(a, []).append(b)
    wanted, queue = [-1] * vertices, deque([root])
    wanted[root] = 0
    while queue:
        a = queue.popleft()
        for b in after.get(a, []):
            if wanted[b] < 0:
                wanted[b] = wanted[a] + 1
                queue.append(b)
    if level != wanted:
        return False
    known = set(pairs)
    for v, p in enumerate(parent):
        if wanted[v] < 0:
            good = p == -1
        elif v == root:
            good = p == root
        else:
            good = 0 <= p < vertices and (p, v) in known and wanted[p] == wanted[v] - 1
        if not good:
            return False
    return True
