"""Adds rows about one graph to the tables of gpu-adaptive.

gpu_adaptive.py GRAPH TREES FOLDER: TREES holds a tree file for each run, FOLDER the tables.
"""

import sys
from pathlib import Path

import h5py
import numpy as np


def add(folder, table, rows):
    with open(folder / f"{table}.tsv", "a", encoding="utf-8") as file:
        for row in rows:
            file.write("\t".join(str(value) for value in row) + "\n")


def read(path):
    """The searches and the steps of a tree file."""
    with h5py.File(path) as file:
        return file["run/search"][:], file["run/steps"][:]


def speed(search):
    """Harmonic mean TEPS over the searches that have edges."""
    some = search[search["edges"] > 0]
    return len(some) / np.sum(some["seconds"] / some["edges"])


def early_share(steps):
    """Of the second level bottom-up, the share that was found with the first."""
    early = late = 0
    up = steps["direction"] == b"bottom-up"
    for search in np.unique(steps["search"]):
        at = np.flatnonzero((steps["search"] == search) & up)
        if len(at) == 0:
            continue
        after = at[0] + 1
        follows = after < len(steps) and steps["search"][after] == search
        early += steps["discovered_next"][at[0]]
        late += steps["discovered"][after] if follows else 0
    return early / (early + late) if early + late else 0.0


def techniques(graph, runs):
    base = np.median(runs["degree-classes"][0]["seconds"])
    for run, (search, _) in runs.items():
        median = np.median(search["seconds"])
        yield graph, run, f"{speed(search):.4g}", f"{median:.3e}", f"{base / median:.3f}"


def checks(graph, runs):
    sums = {}
    for run in ("+double-scan", "+async"):
        steps = runs[run][1]
        up = steps["direction"] == b"bottom-up"
        sums[run] = int(steps["edges_examined"][up].sum())
        reduction = 1 - sums[run] / max(sums["+double-scan"], 1)
        yield graph, run, sums[run], f"{early_share(steps):.4f}", f"{reduction:.4f}"


def directions(graph, runs):
    for run in ("degree-classes", "strided", "+double-scan", "+async"):
        search, steps = runs[run]
        down = steps["direction"] == b"top-down"
        up = steps["direction"] == b"bottom-up"
        both = steps["expansion_mean"] + steps["update_mean"]
        times = (
            both[down].sum(),
            both[up].sum(),
            steps["update_mean"][down | up].sum(),
        )
        yield graph, run, *(f"{time / len(search):.3e}" for time in times)


def degrees(graph, steps):
    rows = {}
    for step in steps[np.char.startswith(steps["routine"], b"degree ")]:
        row = rows.setdefault(int(step["routine"].split()[1]), [0, 0])
        row[0] += int(step["frontier"])
        row[1] += int(step["edges_examined"])
    for least, (vertices, checked) in sorted(rows.items()):
        yield graph, least, vertices, checked, f"{checked / vertices:.3f}"


def main(graph, trees, folder):
    in_order = sorted(trees.glob("*.h5"), key=lambda path: path.stat().st_mtime)
    runs = {path.stem: read(path) for path in in_order}
    profile = runs.pop("profile")[1]
    add(folder, "techniques", techniques(graph, runs))
    add(folder, "checks", checks(graph, runs))
    add(folder, "directions", directions(graph, runs))
    add(folder, "degrees", degrees(graph, profile))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
