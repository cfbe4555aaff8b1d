"""What the tables of tree files say, as pandas frames."""

from collections.abc import Mapping
from os import PathLike
from typing import Any

import h5py
import pandas

from ..files.convert import frame_of
from ..files.schema import attributes_of
from ..renamed import names_in
from .columns import COMMUNICATING, COMPUTING
from .hdf5 import member


def frame(dataset: h5py.Dataset) -> pandas.DataFrame:
    """A table of a file as a frame, its texts decoded, its columns under the names of today."""
    rows, names = dataset[...], names_in(dataset)
    return frame_of({names.get(name, name): rows[name] for name in rows.dtype.names})


def attributes(group: h5py.Group | h5py.Dataset) -> dict[str, Any]:
    """Attributes as plain Python values, under the names of today."""
    names = names_in(group)
    return {names.get(key, key): value for key, value in attributes_of(group).items()}


def steps(tree: h5py.File) -> pandas.DataFrame:
    """/run/steps of an open tree file, with the mean seconds over ranks of all
    computing and of all communicating phases of each step."""
    table = frame(member(tree, "run/steps"))
    table["computing"] = table[[f"{phase}_mean" for phase in COMPUTING]].sum(axis=1)
    table["communicating"] = table[[f"{phase}_mean" for phase in COMMUNICATING]].sum(axis=1)
    return table


def shares(layout: Mapping[str, Any]) -> dict[str, float]:
    """What shares of its edges the degree-separated layout of a tree file has in each
    subgraph, and of its vertices among the delegates; nothing of other layouts.

    layout  the attributes of /run, and "vertices"
    """
    if "delegates" not in layout:
        return {}
    edges, vertices = max(layout["stored_edges"], 1), max(layout["vertices"], 1)
    kinds = [kind for kind in ("nn", "nd", "dn", "dd") if f"{kind}_edges" in layout]
    parts = {f"{kind}_share": layout[f"{kind}_edges"] / edges for kind in kinds}
    return {**parts, "delegates_share": layout["delegates"] / vertices}


def early_share(table: pandas.DataFrame) -> float:
    """Of what was left to the second level bottom-up of searches, the share that the first one had
    discovered already."""
    early = late = 0
    for _, rows in table.groupby("search", sort=False):
        up = rows["direction"].eq("bottom-up").to_numpy()
        if up.any():
            first = int(up.argmax())
            early += int(rows["discovered_next"].iloc[first])
            late += int(rows["discovered"].iloc[first + 1]) if first + 1 < len(rows) else 0
    return early / (early + late) if early + late else float("nan")


def by_degree(table: pandas.DataFrame) -> pandas.DataFrame:
    """The rows of steps that --degree-profile adds, one for each class of degrees."""
    rows = table[table["routine"].str.startswith("degree ")]
    degree = rows["routine"].str.removeprefix("degree ").astype("int64")
    sums = rows.groupby(degree)[["frontier", "edges_examined"]].sum().sort_index()
    per_vertex = sums["edges_examined"] / sums["frontier"]
    return pandas.DataFrame(
        {
            "degree": sums.index,
            "vertices": sums["frontier"].to_numpy(),
            "edges_checked": sums["edges_examined"].to_numpy(),
            "checked_per_vertex": per_vertex.to_numpy(),
            "checked_of_degree": (per_vertex / sums.index).to_numpy(),
        }
    )


def verdict(path: str | PathLike[str]) -> tuple[str | PathLike[str], int, int, str]:
    """What a check file says of its trees, or a tree file of those checked on the spot."""
    with h5py.File(path) as file:
        about = attributes(file)
        if about["format"] == "hopwave-check":
            passed, violations = about["passed"], member(file, "rules")[...].sum()
        else:
            run = attributes(member(file, "run"))
            passed = run["failed"] == 0 and run["checked"] == run["NBFS"]
            violations = frame(member(file, "run/search"))["violations"].sum()
        return path, int(passed), violations, about["digest"]
