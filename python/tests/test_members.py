"""Members that a file has, and those that it has not."""

from pathlib import Path

import h5py
import pytest

from hopwave.commands import records
from hopwave.study.hdf5 import NotInsideError, has, member


def test_members(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "file.h5", "w") as file:
        file["run/search"] = [1, 2]
        assert has(file, "run/search")
        assert member(file, "run/search")[...].tolist() == [1, 2]
        for path in ("parent", "run/steps", "none/steps", "run/search/deeper"):
            assert not has(file, path)
            with pytest.raises(KeyError):
                member(file, path)


def test_damaged_member(tmp_path: Path) -> None:
    """A member whose header is damaged is not missing."""
    path = tmp_path / "file.h5"
    with h5py.File(path, "w") as file:
        file["parent"] = [1, 2]
        header = h5py.h5o.get_info(file["parent"].id).addr
    content = bytearray(path.read_bytes())
    content[header] ^= 0xFF
    path.write_bytes(content)
    with h5py.File(path) as file, pytest.raises(NotInsideError, match=r"^/parent: is damaged"):
        has(file, "parent")


def test_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no file of ours is said to be none; a mistake in the lookup is not."""
    path = tmp_path / "file.h5"
    with h5py.File(path, "w") as file:
        file["run/search"] = [1, 2]
    for read in (lambda: records.record(path), lambda: records.searches(tmp_path, [path.name])):
        with pytest.raises(records.UnreadableError):
            read()

    def mistaken(*_: object) -> None:
        raise AttributeError("a mistake of ours")

    monkeypatch.setattr(records, "attributes", mistaken)
    with pytest.raises(AttributeError):
        records.record(path)
    monkeypatch.setattr(records, "member", mistaken)
    with pytest.raises(AttributeError):
        records.searches(tmp_path, [path.name])
