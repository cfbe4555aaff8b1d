"""Whether a table that hopwave-export wrote of a tree file is what plain h5py finds there.

table.py TABLE.tsv TREE.h5 [--graph GRAPH.h5] [--search N]
"""

import argparse

import h5py
import numpy

parser = argparse.ArgumentParser()
parser.add_argument("table")
parser.add_argument("tree")
parser.add_argument("--graph")
parser.add_argument("--search", type=int)
options = parser.parse_args()

with h5py.File(options.tree) as tree:
    what = "level" if "level" in tree else "distance"
    roots, values, parents = (tree[name][()] for name in ("roots", what, "parent"))
names = range(values.shape[1])
if options.graph:
    with h5py.File(options.graph) as graph:
        if "label" in graph.get("vertices", {}):
            names = graph["vertices/label"][()].tolist()
        else:
            first = graph["parameters"].attrs.get("first_label", 0)
            names = range(first, first + values.shape[1])

lines = [f"root\tvertex\t{what}\tparent"]
searches = range(len(values)) if options.search is None else [options.search]
for search in searches:
    for vertex, parent in enumerate(parents[search]):
        if parent >= 0:
            value = (
                numpy.format_float_positional(values[search, vertex], trim="-")
                if values.dtype.kind == "f"
                else values[search, vertex]
            )
            lines.append(f"{names[roots[search]]}\t{names[vertex]}\t{value}\t{names[parent]}")
with open(options.table) as table:
    found = table.read().splitlines()
assert found == lines, next((f, e) for f, e in zip(found + [""], lines + [""]) if f != e)
