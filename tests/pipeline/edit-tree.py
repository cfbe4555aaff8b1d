"""Edits a tree file as a test says and makes its digests right again, so that what
is wrong with the trees reaches the rules of validation. Follows the Python of
doc/file-formats.md, which it runs.

edit-tree.py TREE.h5 STATEMENT

STATEMENT sees the first tree as `level` (or `distance`) and `parent`, arrays that may
be changed, its `root`, all `roots`, and the rows of /run/search as `search`; and
vertices of it: `leaf` (of a level of at least 2, no parent itself), `other` (another
leaf of that level; of shortest paths, of another parent), `inner` (a parent of a level
of at least 1) and `lonely` (not reached). Of shortest paths there are `outcome`, and if
a search ended with a negative cycle `offset`, `vertex` and `weight` too. What it leaves
in `say` is printed.
"""

import json
import os
import re
import sys

import h5py
import numpy as np

top = os.environ["top_srcdir"]
with open(os.path.join(top, "doc", "file-formats.md")) as page:
    code = re.findall(r"```python\n(.*?)```", page.read(), re.S)
documented = {}
exec(next(block for block in code if "def root_digest" in block), documented)


def set_text(obj, name, value):
    """Changes a text attribute in place: its type stays what the schema wants."""
    attribute = obj.attrs.get_id(name)
    attribute.write(np.array(value.encode(), dtype=attribute.dtype))


def seal(f):
    """Makes all digests right, as the file's writer would have."""
    datasets = []
    f.visititems(lambda _, obj: datasets.append(obj) if isinstance(obj, h5py.Dataset) else None)
    for data in datasets:
        set_text(data, "digest", documented["dataset_digest"](f, data))
    with open(os.path.join(top, "schemas", "tree.json")) as schema:
        set_text(f, "digest", documented["root_digest"](f, json.load(schema)))


def pick(level, parent, root):
    """Vertices of a tree that defects are put into."""
    parents = np.unique(parent[(parent >= 0) & (np.arange(len(parent)) != root)])
    leaves = np.setdiff1d(np.flatnonzero(level >= 2), parents)
    same = leaves[level[leaves] == level[leaves[-1]]]
    return {
        "leaf": int(same[-1]),
        "other": int(same[0]),
        "inner": int(np.intersect1d(np.flatnonzero(level >= 1), parents)[0]),
        "lonely": int(np.flatnonzero(level < 0)[0]),
    }


def pick_path(distance, parent, root):
    """The same in a tree of shortest paths; nothing where there is none."""
    reached = np.flatnonzero(parent >= 0)
    if len(reached) < 3:
        return {}
    parents = np.unique(parent[reached])
    leaves = np.setdiff1d(reached, parents)
    leaf = leaves[np.argmax(distance[leaves])]
    return {
        "leaf": int(leaf),
        "other": int(leaves[parent[leaves] != parent[leaf]][0]),
        "inner": int(np.setdiff1d(parents, [root])[0]),
        "lonely": int(np.flatnonzero(parent < 0)[0]),
    }


with h5py.File(sys.argv[1], "r+", libver=("v110", "v110")) as file:
    value = "distance" if "distance" in file else "level"
    first = {value: file[value], "parent": file["parent"]}
    whole = {"roots": file["roots"], "search": file["run/search"]}
    for name in ("outcome", "cycle/offset", "cycle/vertex", "cycle/weight"):
        if name in file:
            whole[name.split("/")[-1]] = file[name]
    names = {"np": np, "say": ""}
    names.update({name: data[0] for name, data in first.items()})
    names.update({name: data[()] for name, data in whole.items()})
    names["root"] = int(names["roots"][0])
    picker = pick if value == "level" else pick_path
    names.update(picker(names[value], names["parent"], names["root"]))
    exec(sys.argv[2], names)
    for name, data in first.items():
        data[0] = names[name]
    for name, data in whole.items():
        data[()] = names[name]
    seal(file)
    print(names["say"])
