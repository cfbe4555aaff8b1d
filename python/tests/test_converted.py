"""Files that other programs have written anew, in other byte orders and widths, are read."""

import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

import hopwave

CONVERT = Path(__file__).resolve().parents[2] / "tests" / "pipeline" / "convert.py"


@pytest.mark.parametrize("what", ["order", "width", "narrow", "copied"])
def test_converted(new: Path, tmp_path: Path, what: str) -> None:
    for file in sorted(new.glob("*.h5")):
        copy = tmp_path / file.name
        subprocess.run([sys.executable, str(CONVERT), str(file), str(copy), what], check=True)
        with hopwave.open(file) as before, hopwave.open(copy, verify=True) as after:
            assert after.attributes == before.attributes
            for path in before.datasets:
                expected, found = before.read(path), after.read(path)
                assert found.dtype == expected.dtype and np.array_equal(found, expected)
            for name in before.tables:
                assert after.table(name).dtype == before.table(name).dtype


def test_too_large(new: Path, tmp_path: Path) -> None:
    """A value that does not fit the type that a dataset has by its schema is damage."""
    copy = tmp_path / "wide.h5"
    source = new / "undirected-trees.h5"
    subprocess.run([sys.executable, str(CONVERT), str(source), str(copy), "width"], check=True)
    with h5py.File(copy, "r+") as file:
        file["level"][0, 0] = 2**40
    trees = hopwave.open(copy)
    with pytest.raises(hopwave.DamagedFileError, match="/level holds values that do not fit i32"):
        trees.verify()
