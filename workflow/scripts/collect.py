"""One row for each timed run: what it was, its Graph500 statistics, where its time went,
and the bytes it sent beside those of the papers' models."""

import sys

import h5py
import pandas
from models import model_bytes
from trees import attributes, frame, steps

sys.stderr = open(snakemake.log[0], "w")

NUMBERS = ["min", "firstquartile", "median", "thirdquartile", "max"]
RUN = ["SCALE", "edgefactor", "NBFS", "construction_time", "scans_per_edge"]
# In the file their names begin with that of the algorithm.
STATISTICS = [
    *[f"{number}_time" for number in NUMBERS + ["mean", "stddev"]],
    *[f"{number}_nedge" for number in NUMBERS + ["mean", "stddev"]],
    *[f"{number}_TEPS" for number in NUMBERS],
    "harmonic_mean_TEPS",
    "harmonic_stddev_TEPS",
    "geometric_mean_TEPS",
    "arithmetic_mean_TEPS",
]


def row(run):
    """The row of one run; seconds and bytes are means over its searches."""
    with h5py.File(run["tree"]) as tree, h5py.File(run["partition"]) as partition:
        about, record, table = attributes(tree), attributes(tree["run"]), steps(tree)
        searches = table["search"].nunique() or 1
        parents = table["routine"].str.startswith("parents")
        share = 1 / (searches * run["parts"])
        # The papers' models are of breadth-first search.
        model = float("nan")
        if run["algorithm"] == "bfs":
            model = model_bytes(partition, table[~parents])
        return {
            **run,
            **{key: record.get(key) for key in RUN},
            "scale": record.get("SCALE") if run["scale"] is None else run["scale"],
            **{key: record.get(f"{run['algorithm']}_{key}") for key in STATISTICS},
            "resolved_method": record.get("method"),
            "threads": record.get("threads"),
            "peak_memory": record.get("peak_memory"),
            "search_order_time": frame(tree["run/search"])[
                "seconds_search_order"
            ].mean(),
            "computing_time": table["computing"].sum() / searches,
            "communicating_time": table["communicating"].sum() / searches,
            "search_bytes_per_rank": table["bytes_sent"][~parents].sum() * share,
            "model_bytes_per_rank": model * share,
            "parents_bytes_per_rank": table["bytes_sent"][parents].sum() * share,
            "digest": about["digest"],
            "graph_digest": about["graph_digest"],
        }


pandas.DataFrame(map(row, snakemake.params.runs)).to_csv(
    snakemake.output[0], index=False
)
