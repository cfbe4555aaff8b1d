"""Whether searches of method delegates send what the model of its paper says (section V).

usage: delegates_model.py TREE PARTITION BYTES

A reduction over the nodes moves 2 (N - 1) masks of d/8 bytes, and takes place in each step in which
some delegate was found; an update has BYTES bytes (4 in the paper, which has no parents), and one
goes along each nn edge out of a reached vertex to another part, since nn is only visited forward.
Where nodes have one part, that is all that is sent; else it is what is sent between nodes. The
sums may differ by 5%: counts and flags of the steps are not in the model.
"""

import sys

import h5py
import numpy as np


def owners(partition: h5py.File, search_id: np.ndarray) -> np.ndarray:
    """The parts that own vertices."""
    nodes, devices = int(partition.attrs["nodes"]), int(partition.attrs["devices"])
    node = search_id % nodes
    return node * devices + search_id // nodes % devices


def crossing_sources(partition: h5py.File) -> np.ndarray:
    """The graph ids of the sources of nn edges that lead to another node."""
    devices = int(partition.attrs["devices"])
    nn, vertices = partition["nn"], partition["vertices"]
    sources = []
    for part in range(int(partition.attrs["parts"])):
        at = slice(*nn["offset_start"][part : part + 2])
        lengths = np.diff(nn["offset"][at])
        target = nn["target"][slice(*nn["index_start"][part : part + 2])].astype(np.int64)
        own = vertices["graph_id"][slice(*vertices["start"][part : part + 2])].astype(np.int64)
        source = np.repeat(np.arange(len(lengths)), lengths)
        leaves = owners(partition, target) // devices != part // devices
        sources.append(own[source[leaves]])
    return np.concatenate(sources)


def main(tree_name: str, partition_name: str, update_bytes: int) -> None:
    """Compares all searches of a tree file with the model."""
    with h5py.File(tree_name) as tree, h5py.File(partition_name) as partition:
        nodes, devices = int(partition.attrs["nodes"]), int(partition.attrs["devices"])
        delegates = partition["delegates/graph_id"][:]
        sources = crossing_sources(partition)
        column = "bytes_sent" if devices == 1 else "internode_bytes"
        steps = tree["run/steps"][:]
        steps = steps[steps["routine"] != b"parents"]
        for k, level in enumerate(tree["level"][:]):
            reductions = len(np.unique(level[delegates][level[delegates] > 0]))
            masks = reductions * 2 * (nodes - 1) * len(delegates) / 8
            updates = update_bytes * int((level[sources] >= 0).sum())
            sent = int(steps[column][steps["search"] == k].sum())
            print(f"search {k}: {reductions} reductions of {len(delegates)} delegates,", end=" ")
            print(f"{masks:.0f} + {updates} bytes; sent {sent}", end=" ")
            print(f"({sent / (masks + updates):.4f})")
            assert abs(sent - masks - updates) <= 0.05 * (masks + updates)
            assert reductions > 1 and updates > 0


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
