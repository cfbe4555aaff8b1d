"""Copies of HDF5 files for archives: the same content, and so the same digests, in fewer bytes.

Large datasets are chunked, shuffled and deflated, which every HDF5 library reads; all else is
copied as it is. Of a generated graph the copy may be the recipe, whose edges readers make again.
"""

from __future__ import annotations

import errno
import os
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy

SMALL = 1 << 12  # bytes of a dataset that is not worth compressing
CHUNK = 1 << 20  # bytes of a chunk, at most
SLAB = 1 << 24  # bytes that are held at a time
LEVEL = 6  # of deflate
NARROWED = ("parent",)
WIDTHS = ("int8", "int16", "int32")


@dataclass(frozen=True)
class Copy:
    """A file to be copied."""

    source: Path
    target: Path
    recipe: bool  # without the edges of a generated graph
    narrow: bool  # parents in the narrowest integers that hold them


def is_generated(file: Any) -> bool:
    """Whether a file is a graph whose edges follow from its parameters."""
    return (
        file.attrs.get("format") in (b"hopwave-graph", "hopwave-graph")
        and file.attrs.get("recipe") == 0
        and "parameters" in file
        and "model" in file["parameters"].attrs
        and "digest" in file.attrs
    )


def copy_attributes(source: Any, target: Any) -> None:
    """All attributes, of the same types, bit for bit."""
    for name in source.attrs:
        old = h5py.h5a.open(source.id, name.encode())
        kind, space = old.get_type(), old.get_space()
        new = h5py.h5a.create(target.id, name.encode(), kind, space)
        values = numpy.empty(old.shape, old.dtype)
        old.read(values, mtype=kind)
        new.write(values, mtype=kind)


def narrowest(data: Any) -> Any:
    """The type of the narrowest integers with signs that hold all values, else the dataset's."""
    most = least = 0
    step = max(1, SLAB // max(1, data.dtype.itemsize * int(numpy.prod(data.shape[1:]))))
    for start in range(0, data.shape[0], step):
        values = data[start : start + step]
        most, least = max(most, int(values.max())), min(least, int(values.min()))
    for width in WIDTHS:
        about = numpy.iinfo(width)
        fits = about.min <= least and most <= about.max
        if fits and about.bits // 8 < data.dtype.itemsize:
            return h5py.h5t.py_create(numpy.dtype(width).newbyteorder("<"))
    return data.id.get_type()


def chunk_of(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    """Rows for themselves, as they are read: alike rows of several files are alike bytes."""
    longest = max(1, CHUNK // size)
    return (1,) * (len(shape) - 1) + (min(shape[-1], longest),)


def copy_dataset(source: Any, parent: Any, name: str, narrow: bool) -> None:
    """A dataset, compressed if it is large."""
    if source.id.get_storage_size() < SMALL or source.size * source.dtype.itemsize < SMALL:
        source.file.copy(source, parent, name)
        return
    kind = narrowest(source) if narrow and source.dtype.kind == "i" else source.id.get_type()
    making = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    making.set_chunk(chunk_of(source.shape, kind.get_size()))
    making.set_shuffle()
    making.set_deflate(LEVEL)
    making.set_obj_track_times(False)
    space = h5py.h5s.create_simple(source.shape)
    made = h5py.h5d.create(parent.id, name.encode(), kind, space, making)
    target = h5py.Dataset(made)
    memory = source.id.get_type()
    rest = int(numpy.prod(source.shape[1:])) * source.dtype.itemsize
    step = max(1, SLAB // max(1, rest))
    for start in range(0, source.shape[0], step):
        count = min(step, source.shape[0] - start)
        values = numpy.empty((count, *source.shape[1:]), source.dtype)
        held = h5py.h5s.create_simple(values.shape)
        for dataset, move in ((source, "read"), (target, "write")):
            place = dataset.id.get_space()
            place.select_hyperslab((start, *(0 for _ in source.shape[1:])), values.shape)
            getattr(dataset.id, move)(held, place, values, mtype=memory)
    copy_attributes(source, target)


def copy_group(source: Any, target: Any, narrow: bool, left_out: tuple[str, ...]) -> None:
    """A group with all below it."""
    copy_attributes(source, target)
    for name in source:
        item = source[name]
        if name in left_out:
            continue
        if isinstance(item, h5py.Group):
            copy_group(item, target.create_group(name), narrow, ())
        else:
            copy_dataset(item, target, name, narrow and name in NARROWED)


def shrink(job: Copy) -> None:
    """Makes one copy. Raises OSError."""
    os.makedirs(job.target.parent, exist_ok=True)
    with h5py.File(job.source) as source, h5py.File(job.target, "w", libver="v110") as target:
        recipe = job.recipe and is_generated(source)
        copy_group(source, target, job.narrow, ("edges",) if recipe else ())
        if recipe:
            target.attrs.modify("recipe", numpy.array(1, source.attrs.get_id("recipe").dtype))


def shrink_all(jobs: list[Copy], workers: int) -> None:
    """Makes all copies, several at a time. Raises OSError."""
    if workers == 1 or len(jobs) < 2:
        for job in jobs:
            shrink(job)
        return
    try:
        with ProcessPoolExecutor(min(workers, len(jobs))) as pool:
            for _ in pool.map(shrink, jobs, chunksize=1):
                pass
    except BrokenProcessPool:
        raise OSError(errno.ENOMEM, "a process that compresses files was killed") from None
