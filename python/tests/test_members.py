"""Members that a file has, and those that it has not."""

from pathlib import Path

import h5py
import pytest

from hopwave.study.hdf5 import has, member


def test_members(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "file.h5", "w") as file:
        file["run/search"] = [1, 2]
        assert has(file, "run/search")
        assert member(file, "run/search")[...].tolist() == [1, 2]
        for path in ("parent", "run/steps", "none/steps", "run/search/deeper"):
            assert not has(file, path)
            with pytest.raises(KeyError):
                member(file, path)
