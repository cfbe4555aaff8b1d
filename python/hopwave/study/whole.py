"""Files that are there once they are whole, as those of the programs are."""

import os
from contextlib import contextmanager


@contextmanager
def whole(path):
    """A name to write to, which becomes `path` unless something fails."""
    part = f"{path}.part"
    yield part
    os.replace(part, path)
