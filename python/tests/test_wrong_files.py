"""Files that are not what they should be: an exception of one sentence, and no waiting."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import hopwave
from hopwave.files.base import File

FLIPS = int(os.environ.get("HW_FLIPS", "60"))
KINDS = ["graph", "partition", "bfs", "sssp", "check"]


def refused(path: Path, kind: type[hopwave.FileError], words: str, verify: bool = False) -> None:
    """Opening the file raises just this class; its text is one sentence that names the file."""
    with pytest.raises(hopwave.FileError) as caught:
        hopwave.open(path, verify=verify)
    assert caught.type is kind
    text = str(caught.value)
    assert text.startswith(f"{path}: ") and "\n" not in text
    assert words in text


def edited(old: Path, folder: Path, edit: Callable[[h5py.File], object], kind: str = "bfs") -> Path:
    """A copy of a file after a change to it."""
    path = folder / f"{kind}.h5"
    shutil.copyfile(old / path.name, path)
    with h5py.File(path, "r+") as file:
        edit(file)
    return path


def test_no_file(tmp_path: Path) -> None:
    refused(tmp_path / "none.h5", hopwave.MissingFileError, "no such file")
    (tmp_path / "plain").write_text("text")
    refused(tmp_path / "plain" / "inside.h5", hopwave.MissingFileError, "no such file")


def test_dangling_link(tmp_path: Path) -> None:
    (tmp_path / "link.h5").symlink_to("nowhere.h5")
    refused(tmp_path / "link.h5", hopwave.MissingFileError, "no such file")


def test_impossible_name(tmp_path: Path) -> None:
    refused(tmp_path / "null\0byte.h5", hopwave.UnreadableFileError, "cannot be read")
    refused(tmp_path / ("long" * 100), hopwave.UnreadableFileError, "cannot be read")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(old: Path, tmp_path: Path) -> None:
    path = tmp_path / "graph.h5"
    shutil.copyfile(old / "graph.h5", path)
    path.chmod(0)
    refused(path, hopwave.UnreadableFileError, "Permission denied")


def test_folder(tmp_path: Path) -> None:
    refused(tmp_path, hopwave.NotRegularFileError, "a folder")


def test_pipe(tmp_path: Path) -> None:
    """Nobody writes to it: a reader that opened it would wait for ever."""
    os.mkfifo(tmp_path / "pipe.h5")
    refused(tmp_path / "pipe.h5", hopwave.NotRegularFileError, "a pipe")


def test_device() -> None:
    refused(Path("/dev/zero"), hopwave.NotRegularFileError, "a device")


def test_empty(tmp_path: Path) -> None:
    (tmp_path / "empty.h5").touch()
    refused(tmp_path / "empty.h5", hopwave.EmptyFileError, "is empty")


@pytest.mark.parametrize(
    "content", [b"1 2\n2 3\n", b"\x89HDF", b"\0" * 4096], ids=["text", "four bytes", "zeros"]
)
def test_not_hdf5(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "text.h5").write_bytes(content)
    refused(tmp_path / "text.h5", hopwave.NotHDF5Error, "not an HDF5 file")


def test_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "other.h5"
    with h5py.File(path, "w") as file:
        file["data"] = np.arange(5)
    refused(path, hopwave.NotHopwaveError, "not one of Hopwave")
    with h5py.File(path, "r+") as file:
        file.attrs["format"] = "keras"
    refused(path, hopwave.NotHopwaveError, "not one of Hopwave")


@pytest.mark.parametrize("kind", KINDS)
def test_truncated(old: Path, tmp_path: Path, kind: str) -> None:
    """Wherever it is cut, also within the signature's block and by a single byte."""
    whole = (old / f"{kind}.h5").read_bytes()
    path = tmp_path / "cut.h5"
    for length in [9, 95, 96, 97, 512, *range(1000, len(whole), 1000), len(whole) - 1]:
        path.write_bytes(whole[:length])
        refused(path, hopwave.TruncatedFileError, "cut short")


@pytest.mark.parametrize("kind", KINDS)
def test_any_byte(old: Path, tmp_path: Path, kind: str) -> None:
    """A byte that changed is found by `verify`, or stands where nothing is stored."""
    whole = bytearray((old / f"{kind}.h5").read_bytes())
    path = tmp_path / "flipped.h5"
    with hopwave.open(old / f"{kind}.h5") as sound:
        before = everything(sound)
    random = np.random.default_rng(1)
    found = 0
    for place in random.choice(len(whole), FLIPS, replace=False).tolist():
        whole[place] ^= 0xFF
        path.write_bytes(whole)
        whole[place] ^= 0xFF
        try:
            with hopwave.open(path, verify=True) as file:
                assert everything(file) == before, place
        except hopwave.FileError as error:
            found += 1
            assert "\n" not in str(error)
    assert found


def everything(file: File) -> dict[str, object]:
    """All that the reader can read."""
    datasets = [*file.datasets, *(f"/run/{name}" for name in file.tables)]
    found: dict[str, object] = {name: file.h5[name][()].tobytes() for name in datasets}
    return {**found, "root": file.attributes, "parameters": file.parameters, "run": file.run}


def test_newer_version(old: Path, tmp_path: Path) -> None:
    path = edited(old, tmp_path, lambda file: file.attrs.modify("format_version", 1000))
    refused(path, hopwave.NewerVersionError, "format version 1000")


def test_no_version(old: Path, tmp_path: Path) -> None:
    path = edited(old, tmp_path, lambda file: file.attrs.modify("format_version", 0))
    refused(path, hopwave.DamagedFileError, "no valid format version")


def test_incomplete(old: Path, tmp_path: Path) -> None:
    path = edited(old, tmp_path, lambda file: file.attrs.modify("complete", 0))
    refused(path, hopwave.IncompleteFileError, "did not finish")


def test_wrong_kind(old: Path) -> None:
    with pytest.raises(hopwave.WrongKindError, match="is a check file, not a tree file"):
        hopwave.Trees.open(old / "check.h5")
    with pytest.raises(hopwave.WrongKindError, match="is a tree file, not a graph file with edges"):
        hopwave.Graph.open(old / "bfs.h5")


def change_level(file: h5py.File) -> None:
    file["level"][0, 3] += 1


def test_digest_of_a_dataset(old: Path, tmp_path: Path) -> None:
    path = edited(old, tmp_path, change_level)
    hopwave.open(path).close()
    refused(path, hopwave.DigestError, "/level is not as it was written", verify=True)


def test_digest_of_a_table(old: Path, tmp_path: Path) -> None:
    def edit(file: h5py.File) -> None:
        rows = file["run/search"][()]
        rows["seconds"] /= 2
        file["run/search"][...] = rows

    path = edited(old, tmp_path, edit)
    refused(path, hopwave.DigestError, "/run/search is not as it was written", verify=True)


def test_digest_of_attributes(old: Path, tmp_path: Path) -> None:
    path = edited(old, tmp_path, lambda file: file.attrs.modify("directed", 1))
    hopwave.open(path).close()
    refused(path, hopwave.DigestError, "its attributes are not", verify=True)


def delete(name: str) -> Callable[[h5py.File], None]:
    def edit(file: h5py.File) -> None:
        del file[name]

    return edit


def replace(name: str, **options: object) -> Callable[[h5py.File], None]:
    """Makes a dataset anew, with the same attributes."""

    def edit(file: h5py.File) -> None:
        data, attributes = file[name][()], dict(file[name].attrs)
        del file[name]
        new = file.create_dataset(name, data=options.pop("data", data), **options)
        new.attrs.update(attributes)

    return edit


def other_file(file: h5py.File) -> None:
    del file["level"]
    file["level"] = h5py.ExternalLink("/etc/passwd", "/level")


def virtual(file: h5py.File) -> None:
    layout = h5py.VirtualLayout(file["level"].shape, file["level"].dtype)
    layout[:] = h5py.VirtualSource("other.h5", "level", layout.shape)
    attributes = dict(file["level"].attrs)
    del file["level"]
    file.create_virtual_dataset("level", layout).attrs.update(attributes)


def group_in_group(file: h5py.File) -> None:
    file["parameters/again"] = file["parameters"]


@pytest.mark.parametrize(
    "options",
    [
        {"chunks": (1, 4)},
        {"chunks": True, "compression": "gzip", "shuffle": True, "fletcher32": True},
    ],
)
def test_chunks(old: Path, tmp_path: Path, options: dict[str, Any]) -> None:
    """Files that other programs have packed are read as before."""
    path = edited(old, tmp_path, replace("level", **options))
    with hopwave.open(path, verify=True) as packed, hopwave.open(old / "bfs.h5") as plain:
        assert np.array_equal(packed.h5["level"][()], plain.h5["level"][()])


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (delete("level"), "has no /level"),
        (delete("run"), "has no group /run"),
        (delete("parameters"), "has no group /parameters"),
        (lambda file: file.create_dataset("more", data=[1]), "/more has no digest"),
        (virtual, "/level: its values lie in other files"),
        (replace("level", chunks=(1, 4), compression="lzf"), "/level: stored with a filter"),
        (replace("level", data=np.zeros((2, 16), "f8")), "/level is of another type than i32"),
        (replace("level", data=np.zeros((2, 15), "i4")), "/level is of shape (2, 15), not (2, 16)"),
        (replace("level", data=np.zeros(32, "i4")), "/level is of shape (32,), not (2, 16)"),
        (replace("level", data=["a", "b"]), "/level: holds values of no fixed size"),
        (other_file, "/level is a link"),
        (group_in_group, "/parameters/again does not belong here"),
        (lambda file: file.attrs.create("vertices", 2**62), "is of shape"),
        (lambda file: file.attrs.create("vertices", "many"), "'vertices' is of another type"),
        (lambda file: file.attrs.create("vertices", 0), "'vertices' is 0, which it may not be"),
        (lambda file: file.attrs.create("algorithm", "dfs"), "'algorithm' is 'dfs'"),
        (lambda file: file.attrs.create("more", 1), "'more' does not belong here"),
        (lambda file: file.attrs.create("directed", [0, 1]), "neither a number nor a text"),
        (lambda file: file.attrs.pop("roots"), "has no attribute 'roots'"),
        (lambda file: file.attrs.create("stored", 1), "is of shape"),
        (lambda file: file["run"].create_group("inner"), "/run/inner is no table"),
    ],
)
def test_content(
    old: Path, tmp_path: Path, edit: Callable[[h5py.File], object], words: str
) -> None:
    refused(edited(old, tmp_path, edit), hopwave.DamagedFileError, words)


def test_edges_of_no_vertex(old: Path, tmp_path: Path) -> None:
    def edit(file: h5py.File) -> None:
        file["edges/source"][0] = 2**31

    graph = hopwave.Graph.open(edited(old, tmp_path, edit, "graph"))
    with pytest.raises(hopwave.DamagedFileError, match="an edge ends at no vertex"):
        graph.to_pandas()


def test_parents_in_a_circle(old: Path, tmp_path: Path) -> None:
    def edit(file: h5py.File) -> None:
        parents = file["parent"][0]
        far = int(file["level"][0].argmax())
        file["parent"][0, int(parents[far])] = far

    trees = hopwave.Trees.open(edited(old, tmp_path, edit))
    far = int(trees.levels().argmax())
    with pytest.raises(hopwave.DamagedFileError, match="do not lead to the root"):
        trees[0].path_to(far)


def test_partition_that_does_not_cut(old: Path, tmp_path: Path) -> None:
    def edit(file: h5py.File) -> None:
        file["out/offset_start"][1] = 10**9

    partition = hopwave.Partition.open(edited(old, tmp_path, edit, "partition"))
    with pytest.raises(hopwave.DamagedFileError, match="does not cut"):
        partition.to_scipy()


def test_missing_package(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "networkx", None)
    graph = hopwave.Graph.open(old / "graph.h5")
    with pytest.raises(hopwave.MissingPackageError, match=r"pip install 'hopwave\[networkx\]'"):
        graph.to_networkx()
