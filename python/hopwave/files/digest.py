"""Digests of content: XXH3-128 over blocks, as doc/file-formats.md defines them."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import h5py
import numpy as np
import xxhash
from numpy.typing import NDArray

from .schema import Schema, Value, attributes_of, converted, type_name

BLOCK = 16384  # elements
BLOCKS_AT_ONCE = 64  # that are read together


def named(digest: bytes) -> str:
    """A digest as files state it."""
    return f"xxh3-128:{digest.hex()}"


def blocks(
    dataset: h5py.Dataset, dtype: np.dtype[Any], row: int | None, begin: int, end: int
) -> Iterable[bytes]:
    """The hashes of the blocks of one segment: of a row, or of a dataset of one dimension."""
    for start in range(begin, end, BLOCK * BLOCKS_AT_ONCE):
        stop = min(end, start + BLOCK * BLOCKS_AT_ONCE)
        piece = dataset[start:stop] if row is None else dataset[row, start:stop]
        piece = converted(piece, dtype, dataset.name)
        data = np.ascontiguousarray(piece).view(np.uint8).reshape(-1)
        step = BLOCK * dtype.itemsize
        for first in range(0, len(data), step):
            yield xxhash.xxh3_128_digest(data[first : first + step].data)


def dataset_digest(
    dataset: h5py.Dataset, dtype: np.dtype[Any], starts: NDArray[np.int64] | None
) -> str:
    """The digest of what a dataset holds now.

    dtype   the type whose bytes the digest is of
    starts  where its segments begin and the last one ends, if it has any
    """
    total = xxhash.xxh3_128()
    cuts = [0, dataset.shape[-1]] if starts is None else [int(start) for start in starts]
    rows = [None] if dataset.ndim == 1 else range(dataset.shape[0])
    for row in rows:
        for begin, end in pairwise(cuts):
            for block in blocks(dataset, dtype, row, begin, end):
                total.update(block)
    return named(total.digest())


def root_digest(
    schema: Schema,
    attributes: Mapping[str, Value],
    datasets: Mapping[str, h5py.Dataset],
    types: Mapping[str, np.dtype[Any]],
) -> str:
    """The digest of a file, by its attributes, and the types and stated digests of its datasets."""
    lines = [f"{attributes['format']} {schema['digest_version']}"]
    lines += [
        f"{name}={attributes[name]}"
        for name, rule in sorted(schema["attributes"].items())
        if rule.get("digest") and name in attributes
    ]
    for path, rule in sorted(schema["datasets"].items()):
        if rule.get("digest") and path in datasets:
            dataset = datasets[path]
            shape = "x".join(map(str, dataset.shape))
            stated = attributes_of(dataset)["digest"]
            lines.append(f"{path} {type_name(types[path])} {shape} {stated}")
    return named(xxhash.xxh3_128_digest("".join(f"{line}\n" for line in lines).encode()))
