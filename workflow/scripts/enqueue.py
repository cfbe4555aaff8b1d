"""What gpu-enqueue prints as a table like the others."""

import subprocess
import sys

import pandas
from hopwave.study.columns import ENQUEUE
from hopwave.study.whole import whole

sys.stderr = open(snakemake.log[0], "w")

version = subprocess.run(["hopwave-traverse", "--version"], capture_output=True, text=True).stdout
printed = pandas.read_csv(snakemake.input[0], sep="\t")
table = pandas.DataFrame(
    {
        "graph": "status array",
        "scale": 0,
        "edgefactor": 0,
        "device": "emulated" if "emulated" in version else "cuda",
        "method": printed["way"],
        "entries": printed["entries"],
        "enqueue_time": printed["milliseconds"] / 1e3,
    }
)
with whole(snakemake.output[0]) as part:
    table.to_csv(part, index=False, columns=ENQUEUE)
