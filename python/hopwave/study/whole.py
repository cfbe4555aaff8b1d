"""Files that are there once they are whole, as those of the programs are."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[str]:
    """A name to write to, which becomes `path` unless something fails."""
    part = f"{path}.part"
    yield part
    os.replace(part, path)
