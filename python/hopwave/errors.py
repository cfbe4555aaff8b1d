"""What can be wrong with a file: one class of exception each, whose text is one sentence."""

import os


class HopwaveError(Exception):
    """What this package raises."""


class FileError(HopwaveError):
    """Something is wrong with a file; `path` names it."""

    def __init__(self, path: str | os.PathLike[str], sentence: str) -> None:
        self.path = os.fspath(path)
        super().__init__(f"{self.path}: {sentence}")


class MissingFileError(FileError):
    """There is no file of this name."""


class UnreadableFileError(FileError):
    """The system does not let us read the file."""


class NotRegularFileError(FileError):
    """The name is that of a folder, a pipe, a device or a socket."""


class EmptyFileError(FileError):
    """The file has no bytes."""


class NotHDF5Error(FileError):
    """The file is not in the HDF5 format."""


class NotHopwaveError(FileError):
    """An HDF5 file that another program wrote."""


class WrongKindError(FileError):
    """A file of Hopwave, but not of the kind that was asked for."""


class NewerVersionError(FileError):
    """The file has a format version that this package does not know yet."""


class IncompleteFileError(FileError):
    """The program that wrote the file did not finish."""


class TruncatedFileError(FileError):
    """The end of the file is missing."""


class DamagedFileError(FileError):
    """The file does not hold what a file of its kind holds."""


class DigestError(FileError):
    """The content is not that of which the digest was stored."""


class NotStoredError(FileError):
    """The file is sound, but what was asked for is not in it."""


class MissingPackageError(HopwaveError, ImportError):
    """A conversion needs a package of Python that is not installed."""
