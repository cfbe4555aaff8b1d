"""Gives one vertex of a tree a wrong parent, with digests that hold: break-tree.py TREE

The digest of a dataset hashes the digests of the blocks of 16384 elements of each row.
"""

import sys

import h5py
import numpy
import xxhash

with h5py.File(sys.argv[1], "r+") as tree:
    parent, root = tree["parent"][...], int(tree["roots"][0])
    vertex = int(numpy.flatnonzero((parent[0] >= 0) & (parent[0] != root))[0])
    parent[0, vertex] = vertex
    tree["parent"][...] = parent
    blocks = xxhash.xxh3_128()
    for row in parent:
        for first in range(0, len(row), 16384):
            block = row[first : first + 16384].astype("<i8").tobytes()
            blocks.update(xxhash.xxh3_128_digest(block))
    digest = numpy.bytes_(f"xxh3-128:{blocks.hexdigest()}")
    tree["parent"].attrs.modify("digest", digest)
