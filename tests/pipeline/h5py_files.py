"""Checks files with the functions of doc/file-formats.md (formats.py) alone."""

import sys

sys.path.insert(0, ".")
from formats import *  # noqa: F403

KINDS = ("graph", "partition", "tree", "check")
SCHEMAS = {kind: json.load(open(f"schemas/{kind}.json")) for kind in KINDS}


def check_digests(name):
    with h5py.File(name) as f:
        wrong = []

        def see(path, thing):
            if isinstance(thing, h5py.Dataset):
                if text(thing.attrs["digest"]) != dataset_digest(f, thing):
                    wrong.append(path)

        f.visititems(see)
        assert not wrong, (name, wrong)
        schema = SCHEMAS[text(f.attrs["format"]).removeprefix("hopwave-")]
        assert text(f.attrs["digest"]) == root_digest(f, schema), name
        return text(f.attrs["digest"])


def as_set(pieces):
    return {pair for u, v in pieces for pair in zip(u.tolist(), v.tolist())}


def check_edges(kind, edges):
    """Each partition holds just the edges, without loops and repeats."""
    for layout, read in (("1d", grid_edges), ("2d", grid_edges), ("ds", separated_edges)):
        with h5py.File(f"{kind}-{layout}.h5") as f:
            pieces = list(read(f))
            assert sum(len(u) for u, _ in pieces) == f.attrs["edges"] == len(edges)
            assert as_set(pieces) == edges, (kind, layout)


def levels(n, edges, root):
    """A breadth-first search over a set of pairs."""
    after = [[] for _ in range(n)]
    for u, v in edges:
        after[u].append(v)
    level, front = np.full(n, -1), [root]
    level[root] = 0
    while front:
        found = {v for u in front for v in after[u] if level[v] < 0}
        level[list(found)] = level[front[0]] + 1
        front = list(found)
    return level


def main(kind):
    graph_digest = check_digests(f"{kind}.h5")
    with h5py.File(f"{kind}.h5") as f:
        n = int(f.attrs["vertices"])
        source, target = f["edges/source"][()].astype(int), f["edges/target"][()].astype(int)
        edges = {(u, v) for u, v in zip(source.tolist(), target.tolist()) if u != v}
        if not f.attrs["directed"]:
            edges |= {(v, u) for u, v in edges}
    for name in ("1d", "2d", "ds", "trees", "check"):
        check_digests(f"{kind}-{name}.h5")
        with h5py.File(f"{kind}-{name}.h5") as f:
            assert text(f.attrs["graph_digest"]) == graph_digest
    check_edges(kind, edges)
    with h5py.File(f"{kind}-trees.h5") as f:
        for row, root in enumerate(f["roots"][()]):
            level, parent = f["level"][row], f["parent"][row]
            assert (level == levels(n, edges, int(root))).all()
            reached = np.flatnonzero(level > 0)
            assert all((int(parent[v]), int(v)) in edges for v in reached)
            assert (level[parent[reached]] == level[reached] - 1).all() and parent[root] == root
        searches, steps = f["run/search"][()], f["run/steps"][()]
        assert (searches["root"] == f["roots"][()]).all() and set(steps["search"]) <= {0, 1, 2}
    with h5py.File(f"{kind}-check.h5") as f:
        assert f.attrs["passed"] == 1 and not f["rules"][()].any()


for kind in sys.argv[1:]:
    main(kind)
