"""Copies a file of Hopwave as other programs might write it: convert.py FROM TO order|width

order  all numbers big-endian, tables and attributes too
width  all numbers of datasets with 64 bits
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


def copy(source, target, what):
    """Copies groups, datasets and attributes."""

    def visit(name, item):
        if isinstance(item, h5py.Group):
            made = target.require_group(name)
        else:
            kind = element(item.dtype, what)
            made = target.create_dataset(name, data=item[...].astype(kind), dtype=kind)
        attributes(item, made)

    def attributes(item, made):
        for name, value in item.attrs.items():
            if isinstance(value, bytes):
                made.attrs[name] = numpy.bytes_(value)
            else:
                kind = numpy.asarray(value).dtype
                made.attrs.create(name, value, dtype=element(kind, "order"))

    attributes(source, target)
    source.visititems(visit)


with h5py.File(sys.argv[1]) as source, h5py.File(sys.argv[2], "w") as target:
    copy(source, target, sys.argv[3])
