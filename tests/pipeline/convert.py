"""Copies a file of Hopwave as other programs might write it: convert.py FROM TO order|width|narrow|copied

order  all numbers big-endian, tables and attributes too
width  all numbers of datasets with 64 bits
narrow whole numbers of datasets in the fewest bits that hold them
copied by H5Ocopy(), as h5copy does
"""

import sys

import h5py
import numpy


def element(old, what):
    """The type of a dataset or attribute in the copy."""
    if old.names:
        members = [(name, element(old[name], "order")) for name in old.names]
        return numpy.dtype(members) if what == "order" else old
    if what == "order":
        return old.newbyteorder(">")
    kinds = {"i": "i8", "u": "i8", "f": "f8"}
    return numpy.dtype(kinds.get(old.kind, old))


def fewest_bits(values):
    """The narrowest type that holds whole numbers: without signs where none is below zero."""
    if values.dtype.kind not in "iu" or not values.size:
        return values.dtype
    low, high = int(values.min()), int(values.max())
    names = ["u1", "u2", "u4", "i8"] if low >= 0 else ["i1", "i2", "i4", "i8"]
    return next(
        numpy.dtype(name)
        for name in names
        if numpy.iinfo(name).min <= low and high <= numpy.iinfo(name).max
    )


def copy(source, target, what):
    """Copies groups, datasets and attributes."""

    def visit(name, item):
        if isinstance(item, h5py.Group):
            made = target.require_group(name)
        else:
            values = item[...]
            kind = fewest_bits(values) if what == "narrow" else element(item.dtype, what)
            made = target.create_dataset(name, data=values.astype(kind), dtype=kind)
        attributes(item, made)

    def attributes(item, made):
        for name, value in item.attrs.items():
            if isinstance(value, bytes):
                made.attrs[name] = numpy.bytes_(value)
            else:
                kind = numpy.asarray(value).dtype
                made.attrs.create(name, value, dtype=element(kind, "order"))

    attributes(source, target)
    if what == "copied":
        for name in source:
            source.copy(name, target)
    else:
        source.visititems(visit)


with h5py.File(sys.argv[1]) as source, h5py.File(sys.argv[2], "w") as target:
    copy(source, target, sys.argv[3])
