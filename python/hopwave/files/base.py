"""What files of all kinds share: how they are opened, their attributes, tables and digests."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import h5py
import numpy as np
from numpy.typing import NDArray

from .. import errors
from ..renamed import renamed
from ..study.hdf5 import DAMAGE
from . import schema as schemas
from .digest import dataset_digest, root_digest
from .schema import Value, attributes_of

if TYPE_CHECKING:
    import pandas

SIGNATURE = b"\x89HDF\r\n\x1a\n"


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turns what the HDF5 library and the schema say of damage into DamagedFileError."""
    try:
        yield
    except schemas.SchemaError as error:
        raise errors.DamagedFileError(path, str(error)) from None
    except DAMAGE as error:
        raise errors.DamagedFileError(path, f"is damaged ({error})") from error


def open_hdf5(path: Path) -> h5py.File:
    """Opens an HDF5 file, once it is sure to be a plain file that has its signature."""
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            kind = "a folder" if stat.S_ISDIR(about.st_mode) else "a pipe, a device or a socket"
            raise errors.NotRegularFileError(path, f"is {kind}, not a file")
        if about.st_size == 0:
            raise errors.EmptyFileError(path, "is empty")
        with path.open("rb") as file:
            if file.read(len(SIGNATURE)) != SIGNATURE:
                raise errors.NotHDF5Error(path, "is not an HDF5 file")
    except (FileNotFoundError, NotADirectoryError):
        raise errors.MissingFileError(path, "there is no such file") from None
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or error
        raise errors.UnreadableFileError(path, f"cannot be read ({said})") from None
    try:
        return h5py.File(path, "r")
    except OSError as error:
        if "truncated" in str(error) or about.st_size < 96:
            raise errors.TruncatedFileError(path, "is cut short: its end is missing") from None
        raise errors.DamagedFileError(path, f"is damaged ({error})") from None


class File:
    """An open file of Hopwave; the kinds are subclasses. Closed by `close` or at the end of `with`.

    path        where it lies
    h5          the h5py.File, for whatever is not here
    attributes  the attributes of the root group: numbers and texts
    """

    kind: ClassVar[str]
    called: ClassVar[str]  # in messages

    def __init__(self, path: Path, h5: h5py.File, attributes: dict[str, Value]) -> None:
        self.path, self.h5, self.attributes = path, h5, attributes
        self.schema = schemas.schema_of(self.kind)
        with reading(path):
            schemas.check_attributes(self.schema, attributes)
            self._datasets = schemas.datasets_of(h5)
            self._types = schemas.check_datasets(self.schema, attributes, self._datasets)
            self._check_group("parameters")
            self._check_group("run")

    def _check_group(self, name: str) -> None:
        link = self.h5.get(name, getlink=True)
        if not isinstance(link, h5py.HardLink) or not isinstance(self.h5[name], h5py.Group):
            raise schemas.SchemaError(f"has no group /{name}")
        if name == "run":
            for table, item in schemas.children(self.h5[name], "/run"):
                if not isinstance(item, h5py.Dataset) or not item.dtype.names or item.ndim != 1:
                    raise schemas.SchemaError(f"/run/{table} is no table")

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, verify: bool = False) -> Self:
        """Opens a file of this kind. FileError if it is not one, or not as a file must be.

        verify  whether to compute all digests, which reads the whole file
        """
        from .kinds import open as open_any

        file = open_any(path, verify=verify)
        if not isinstance(file, cls):
            file.close()
            raise errors.WrongKindError(path, f"is {file.called}, not {cls.called}")
        return file

    def close(self) -> None:
        """Closes the file; arrays that were read stay."""
        self.h5.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {str(self.path)!r}>"

    @property
    def version(self) -> int:
        """The version of the file format that it was written in."""
        return self._int("format_version")

    @property
    def digest(self) -> str:
        """The digest of the content that the file states; empty for recipes without one."""
        return str(self.attributes.get("digest", ""))

    @property
    def graph_digest(self) -> str:
        """The digest of the graph that the file was made from; of a graph, its own."""
        return str(self.attributes.get("graph_digest", self.digest))

    @property
    def vertices(self) -> int:
        """How many vertices the graph has."""
        return self._int("vertices")

    @property
    def parameters(self) -> dict[str, Value]:
        """What decided the content, such as the seed."""
        return self._group("parameters")

    @property
    def run(self) -> dict[str, Value]:
        """What varies from run to run: times, hosts, versions, statistics."""
        return self._group("run")

    @property
    def tables(self) -> list[str]:
        """The tables of /run."""
        return sorted(self.h5["run"])

    def table(self, name: str) -> NDArray[np.void]:
        """A table of /run as a structured array, its columns under the names of today."""
        if name not in self.h5["run"]:
            raise errors.NotStoredError(self.path, f"has no table /run/{name}")
        with reading(self.path):
            stored = self.h5["run"][name]
            rows: NDArray[np.void] = stored[()].astype(schemas.little_endian(stored.dtype))
            names = renamed(f"/run/{name}", self.version)
            assert rows.dtype.names is not None
            rows.dtype.names = tuple(names.get(column, column) for column in rows.dtype.names)
        return rows

    def table_frame(self, name: str) -> "pandas.DataFrame":
        """A table of /run as a pandas frame."""
        from .convert import frame_of

        rows = self.table(name)
        return frame_of({column: rows[column] for column in rows.dtype.names or ()})

    def verify(self) -> None:
        """Computes all digests from the content. DigestError names what differs.

        What no digest covers, such as attributes of /run, is read: HDF5 checks its checksums.
        """
        _ = self.parameters, self.run
        tables = {f"/run/{name}": self.h5["run"][name] for name in self.tables}
        for path, dataset in {**self._datasets, **tables}.items():
            with reading(self.path):
                stated = attributes_of(dataset)["digest"]
                segments = attributes_of(dataset).get("segments")
                starts = None if segments is None else self.starts(str(segments), dataset.shape[0])
                dtype = self._types.get(path, schemas.little_endian(dataset.dtype))
                found = dataset_digest(dataset, dtype, starts)
            if found != stated:
                raise errors.DigestError(self.path, f"{path} is not as it was written")
        if schemas.holds(self.schema.get("declared", {"": []}), self.attributes):
            return
        with reading(self.path):
            found = root_digest(self.schema, self.attributes, self._datasets, self._types)
        if found != self.digest:
            raise errors.DigestError(self.path, "its attributes are not as they were written")

    def starts(self, path: str, length: int) -> NDArray[np.int64]:
        """Where the parts of a dataset of that length begin, and where the last one ends."""
        starts = self.read(path)
        if starts[0] != 0 or starts[-1] != length or (np.diff(starts) < 0).any():
            raise errors.DamagedFileError(self.path, f"{path} does not cut what it should")
        return starts

    def read(self, path: str, where: Any = ()) -> NDArray[Any]:
        """A dataset, or what a NumPy index selects of it. NotStoredError where it is missing."""
        if path not in self._datasets:
            raise errors.NotStoredError(self.path, f"has no {path}")
        with reading(self.path):
            data = np.asarray(self._datasets[path][where])
            data = schemas.converted(data, self._types[path], path)
        return data

    @property
    def datasets(self) -> list[str]:
        """The paths of all datasets outside /run."""
        return list(self._datasets)

    def has(self, path: str) -> bool:
        """Whether the file has a dataset."""
        return path in self._datasets

    def _int(self, name: str) -> int:
        return int(self.attributes[name])

    def _group(self, name: str) -> dict[str, Value]:
        names = renamed(f"/{name}", self.version)
        with reading(self.path):
            values = attributes_of(self.h5[name])
        return {names.get(key, key): value for key, value in values.items()}


class EdgesFile(File):
    """A file that holds edges, as they came or as lists."""

    @property
    def directed(self) -> bool:
        """Whether an edge leads from its source to its target only."""
        return self.attributes["directed"] == 1

    @property
    def weights(self) -> str:
        """The type of the weights, "f32" or "i32", or "none"."""
        return str(self.attributes["weights"])
