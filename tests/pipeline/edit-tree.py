"""Edits a tree file as a test says and makes its digests right again, so that what
is wrong with the trees reaches the rules of validation. Follows the Python of
doc/file-formats.md, which it runs.

edit-tree.py TREE.h5 STATEMENT

STATEMENT sees the first tree as `level` and `parent`, arrays that may be changed,
its `root`, all `roots`, and the rows of /run/search as `search`; and vertices of it:
`leaf` (of a level of at least 2, no parent itself), `other` (another leaf of that
level), `inner` (a parent of a level of at least 1) and `lonely` (not reached). What
it leaves in `say` is printed.
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


with h5py.File(sys.argv[1], "r+", libver=("v110", "v110")) as file:
    names = {
        "level": file["level"][0],
        "parent": file["parent"][0],
        "roots": file["roots"][()],
        "search": file["run/search"][()],
        "np": np,
        "say": "",
    }
    names["root"] = int(names["roots"][0])
    names.update(pick(names["level"], names["parent"], names["root"]))
    exec(sys.argv[2], names)
    file["level"][0] = names["level"]
    file["parent"][0] = names["parent"]
    file["roots"][()] = names["roots"]
    file["run/search"][()] = names["search"]
    seal(file)
    print(names["say"])
