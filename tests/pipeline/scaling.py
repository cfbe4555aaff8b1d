"""Holds the volumes of bench/scaling-model against the bytes of a top-down search.

scaling.py MODEL TREE.h5: fails where they differ by a third or more.
"""

import importlib.machinery
import importlib.util
import sys

import h5py

loader = importlib.machinery.SourceFileLoader("model", sys.argv[1])
model = importlib.util.module_from_spec(importlib.util.spec_from_loader("model", loader))
sys.dont_write_bytecode = True
loader.exec_module(model)
with h5py.File(sys.argv[2]) as file:
    run = dict(file["run"].attrs)
    steps = file["run/steps"][:]
    searches, vertices = len(file["run/search"]), int(file.attrs["vertices"])
grid = int(run["rows"]), int(run["columns"])
form = run["exchange"] if isinstance(run["exchange"], str) else run["exchange"].decode()
ranks = grid[0] * grid[1]
counted = steps["bytes_sent"][steps["direction"] == b"top-down"].sum() / searches / ranks
said = sum(model.volumes(vertices / ranks, grid, form, model.profile_of(sys.argv[2])))
print(f"# counted {counted:.0f}, model {said:.0f}")
sys.exit(0 if 0.75 < said / counted < 1.34 else 1)
