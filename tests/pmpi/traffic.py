"""Holds the bytes counted below MPI against an engine's traffic counters and the papers' models.

traffic.py TREE.h5 COUNTS [shared]: TREE.h5 as hopwave-traverse left it, COUNTS as
tests/pmpi/count.c wrote it. shared: the ranks share tables, so that MPI carries control alone, and
the counters say what ranks have appended to each other's lists, each vertex once a search at most.
Prints what is wrong, if anything, and then fails.
"""

import sys

import h5py

tree, counts = sys.argv[1:3]
shared = sys.argv[3:] == ["shared"]
with open(counts) as lines:
    counted = [int(line.split()[1]) for line in lines]
with h5py.File(tree) as file:
    run = dict(file["run"].attrs)
    steps = file["run/steps"][:]
    vertices = int(file.attrs["vertices"])
    searches = file["run/search"].shape[0]

ranks = len(counted)
rows, columns = int(run.get("rows", 1)), int(run.get("columns", 1))
block = -(-vertices // ranks)
bitmap = 8 * -(-block // 64)


def grid_model(step):
    """Lists or bitmaps of the smaller size, along columns and along rows.

    Finds of the fold are known only in sum, so that its lists are bounded by
    bitmaps; the engine's own test bounds each message.
    """
    gather, scatter = rows - 1, columns - 1
    if b"bottom" in step["direction"]:
        gather, scatter = scatter, gather
    expand = min(4 * int(step["frontier"]), ranks * bitmap) * gather
    return expand + ranks * bitmap * scatter


def delegates_model(step):
    """Two (p-1)/p masks of delegates a rank, and 4 bytes for each nn edge."""
    mask = 8 * -(-int(run["delegates"]) // 64) + 8 * ranks
    return 2 * mask * (ranks - 1) + 4 * int(step["edges_examined"])


separate = run["layout"] in ("degree-separated", b"degree-separated")
model = sum((delegates_model if separate else grid_model)(step) for step in steps)
# Parents come once, at the end: who knows it is asked (4 bytes), answers with a
# graph id (4, here all fit); counts and sums of each step are control.
parents = searches * vertices * 8
control = len(steps) * ranks * ranks * 64 + searches * ranks * ranks * 256

counters, wire = int(steps["bytes_sent"].sum()), sum(counted)
wrong = []
if shared:
    top_down = any(b"top" in step["direction"] for step in steps)
    if wire > control or not top_down <= counters <= searches * vertices * 4:
        wrong.append(
            f"counted {wire} bytes of control up to {control}, the counters say {counters}"
        )
elif not counters <= wire <= counters + control:
    wrong.append(f"counted {wire} bytes, the counters say {counters} (control up to {control})")
if wire > model + parents + control:
    wrong.append(f"counted {wire} bytes, the model allows {model} + {parents} + {control}")
print(f"# {ranks} ranks: counted {wire}, counters {counters}, model {model} + {parents}")
sys.exit("\n".join(wrong) or 0)
