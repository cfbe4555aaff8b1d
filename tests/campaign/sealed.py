"""Files of all kinds to be damaged, and their digests made right again."""

import json
import re
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from common import TOP, World

KINDS = ("graph", "partition", "tree", "check")


def documented() -> dict[str, Any]:
    """The functions that doc/file-formats.md defines."""
    page = (TOP / "doc" / "file-formats.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(next(block for block in blocks if "def root_digest" in block), names)
    return names


DOCUMENTED = documented()
SCHEMAS = {kind: json.loads((TOP / "schemas" / f"{kind}.json").read_text()) for kind in KINDS}


def samples(world: World, scale: int = 6) -> dict[str, Path]:
    """A file of each kind, made once: the names of the samples and where they lie."""
    files = {name: world.folder / f"{name}.h5" for name in ("g", "w", "p", "d", "t", "s", "c")}
    options = ("-q", "--model", "rmat", "--scale", str(scale), "--edge-factor", "8")
    world.made("hopwave-generate", *options, "-o", files["g"])
    world.made("hopwave-generate", *options, "--weights", "integer:1:9", "-o", files["w"])
    world.made(
        "hopwave-partition", "-q", files["g"], "--layout", "2d", "--grid", "1x1", "-o", files["p"]
    )
    layout = ("--layout", "degree-separated", "--parts", "1", "--degree-threshold", "16")
    world.made("hopwave-partition", "-q", files["w"], *layout, "-o", files["d"])
    searches = ("--roots", "3", "--algorithm")
    world.made("hopwave-traverse", "-q", files["p"], *searches, "bfs", "-o", files["t"])
    world.made("hopwave-traverse", "-q", files["d"], *searches, "sssp", "-o", files["s"])
    world.made("hopwave-validate", "-q", files["t"], "--graph", files["g"], "-o", files["c"])
    return files


def datasets(file: h5py.File) -> list[h5py.Dataset]:
    found: list[h5py.Dataset] = []
    file.visititems(lambda _, item: found.append(item) if isinstance(item, h5py.Dataset) else None)
    return found


def set_text(item: Any, name: str, value: str) -> None:
    """Changes a text attribute in place, so that its type stays."""
    attribute = item.attrs.get_id(name)
    attribute.write(np.array(value.encode(), dtype=attribute.dtype))


def has_segments(file: h5py.File, dataset: h5py.Dataset) -> bool:
    """Whether the segments that a dataset states lie in it: others have no digest."""
    if "segments" not in dataset.attrs:
        return True
    starts = file[DOCUMENTED["text"](dataset.attrs["segments"])][()].astype("f8")
    return bool(starts[0] == 0 and starts[-1] <= dataset.size and (np.diff(starts) >= 0).all())


def seal(path: Path) -> None:
    """Makes all digests of a file right, as its writer would have."""
    with h5py.File(path, "r+") as file:
        for dataset in datasets(file):
            if has_segments(file, dataset):
                set_text(dataset, "digest", DOCUMENTED["dataset_digest"](file, dataset))
        kind = DOCUMENTED["text"](file.attrs["format"]).removeprefix("hopwave-")
        set_text(file, "digest", DOCUMENTED["root_digest"](file, SCHEMAS[kind]))
