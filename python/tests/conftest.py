"""Files that the tests read.

Those of format version 1 lie in the source tree. HOPWAVE_TEST_FILES names a folder of files that
the programs have just made, as tests/pipeline/python.t does; what needs them is skipped without.
"""

import os
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
OLD = SOURCE / "tests" / "pipeline" / "version-1"


@pytest.fixture
def old() -> Path:
    """The folder of files of format version 1: graph, partition, bfs, sssp and check."""
    if not OLD.is_dir():
        pytest.skip(f"there is no {OLD}")
    return OLD


@pytest.fixture
def new() -> Path:
    """The folder of files of this version."""
    folder = os.environ.get("HOPWAVE_TEST_FILES")
    if not folder:
        pytest.skip("HOPWAVE_TEST_FILES names no folder of files")
    return Path(folder)
