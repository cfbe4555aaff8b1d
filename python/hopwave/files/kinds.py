"""Opening a file of any kind."""

import os
from pathlib import Path

from .. import errors
from .base import open_hdf5, reading
from .check import Check
from .graph import Graph, Recipe
from .partition import Partition
from .schema import KINDS, Value, attributes_of, schema_of
from .trees import Trees

AnyFile = Graph | Recipe | Partition | Trees | Check


def open(path: str | os.PathLike[str], *, verify: bool = False) -> AnyFile:
    """Opens a file of Hopwave, whatever its kind.

    path    the file
    verify  whether to compute all digests, which reads the whole file

    Returns a Graph, Recipe, Partition, Trees or Check. Raises a FileError of one sentence: each
    kind of wrong file has a class of its own (hopwave.errors).
    """
    path = Path(path)
    h5 = open_hdf5(path)
    try:
        with reading(path):
            attributes = attributes_of(h5)
        file = class_of(path, attributes)(path, h5, attributes)
        if verify:
            file.verify()
    except BaseException:
        h5.close()
        raise
    return file


def class_of(path: Path, attributes: dict[str, Value]) -> type[AnyFile]:
    """The class of a file's kind, once it is known to be whole and of a known version."""
    kind = str(attributes.get("format", "")).removeprefix("hopwave-")
    if kind not in KINDS or attributes["format"] == kind:
        raise errors.NotHopwaveError(path, "is an HDF5 file, but not one of Hopwave")
    version, newest = attributes.get("format_version"), schema_of(kind)["version"]
    if not isinstance(version, int) or version < 1:
        raise errors.DamagedFileError(path, "has no valid format version")
    if version > newest:
        raise errors.NewerVersionError(
            path, f"is of format version {version}, and this package knows those up to {newest}"
        )
    if attributes.get("complete") != 1:
        raise errors.IncompleteFileError(path, "is not complete: its writer did not finish")
    if kind == "graph":
        return Recipe if attributes.get("recipe") == 1 else Graph
    classes: dict[str, type[AnyFile]] = {"partition": Partition, "tree": Trees, "check": Check}
    return classes[kind]
