"""Hopwave in Python: reads the files of Hopwave, and has the commands of hopwave-study.

    import hopwave

    trees = hopwave.open("trees.h5")
    trees.to_pandas()

What reads files is imported when it is first asked for, as it needs h5py, NumPy and xxhash.
"""

from typing import TYPE_CHECKING, Any

from .errors import (
    DamagedFileError,
    DigestError,
    EmptyFileError,
    FileError,
    HopwaveError,
    IncompleteFileError,
    MissingFileError,
    MissingPackageError,
    NewerVersionError,
    NotHDF5Error,
    NotHopwaveError,
    NotRegularFileError,
    NotStoredError,
    TruncatedFileError,
    UnreadableFileError,
    WrongKindError,
)

if TYPE_CHECKING:
    from .files.check import Check
    from .files.graph import Graph, GraphFile, Recipe
    from .files.kinds import AnyFile, open
    from .files.partition import Partition
    from .files.trees import Tree, Trees

__version__ = "0.1.0"
__all__ = [
    "AnyFile",
    "Check",
    "DamagedFileError",
    "DigestError",
    "EmptyFileError",
    "FileError",
    "Graph",
    "GraphFile",
    "HopwaveError",
    "IncompleteFileError",
    "MissingFileError",
    "MissingPackageError",
    "NewerVersionError",
    "NotHDF5Error",
    "NotHopwaveError",
    "NotRegularFileError",
    "NotStoredError",
    "Partition",
    "Recipe",
    "Tree",
    "Trees",
    "TruncatedFileError",
    "UnreadableFileError",
    "WrongKindError",
    "open",
]
READERS = {
    "AnyFile": "kinds",
    "Check": "check",
    "Graph": "graph",
    "GraphFile": "graph",
    "Partition": "partition",
    "Recipe": "graph",
    "Tree": "trees",
    "Trees": "trees",
    "open": "kinds",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in READERS:
        raise AttributeError(f"module 'hopwave' has no attribute '{name}'")
    return getattr(import_module(f".files.{READERS[name]}", __name__), name)
