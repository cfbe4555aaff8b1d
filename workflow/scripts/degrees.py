"""The work bottom-up by degree, of the searches that were asked for it."""

import sys

import h5py
import pandas
from hopwave.study.columns import ABOUT, DEGREES
from hopwave.study.hdf5 import member
from hopwave.study.trees import attributes, by_degree, steps
from hopwave.study.whole import whole

sys.stderr = open(snakemake.log[0], "w")

tables = [pandas.DataFrame(columns=DEGREES)]
for run in snakemake.params.runs:
    with h5py.File(run["tree"]) as tree:
        about = attributes(member(tree, "run"))
        device = "emulated" if "emulated" in str(about["version"]) else about["device"]
        given = {key: run[key] for key in ABOUT}
        more = {"edgefactor": about.get("edgefactor"), "device": device}
        if given["scale"] is None:
            given["scale"] = about.get("SCALE")
        tables.append(by_degree(steps(tree)).assign(**given, **more))
table = pandas.concat([t for t in tables if len(t)] or tables)
with whole(snakemake.output[0]) as part:
    table.to_csv(part, index=False, columns=DEGREES)
