"""One row for each timed run: what it was, its Graph500 statistics, where its time went,
and the bytes it sent beside those of the papers' models."""

import sys

import h5py
import pandas
from models import model_bytes
from trees import attributes, frame, steps

sys.stderr = open(snakemake.log[0], "w")

NUMBERS = ["min", "firstquartile", "median", "thirdquartile", "max"]
GRAPH500 = [
    "SCALE",
    "edgefactor",
    "NBFS",
    "construction_time",
    *[f"bfs_{number}_time" for number in NUMBERS + ["mean", "stddev"]],
    *[f"bfs_{number}_nedge" for number in NUMBERS + ["mean", "stddev"]],
    *[f"bfs_{number}_TEPS" for number in NUMBERS],
    "bfs_harmonic_mean_TEPS",
    "bfs_harmonic_stddev_TEPS",
    "bfs_geometric_mean_TEPS",
    "bfs_arithmetic_mean_TEPS",
]


def row(run):
    """The row of one run; seconds and bytes are means over its searches."""
    with h5py.File(run["tree"]) as tree, h5py.File(run["partition"]) as partition:
        about, record, table = attributes(tree), attributes(tree["run"]), steps(tree)
        searches = table["search"].nunique() or 1
        parents = table["routine"].str.startswith("parents")
        share = 1 / (searches * run["parts"])
        return {
            **run,
            **{key: record.get(key) for key in GRAPH500},
            "resolved_method": record.get("method"),
            "threads": record.get("threads"),
            "peak_memory": record.get("peak_memory"),
            "search_order_time": frame(tree["run/search"])[
                "seconds_search_order"
            ].mean(),
            "computing_time": table["computing"].sum() / searches,
            "communicating_time": table["communicating"].sum() / searches,
            "search_bytes_per_rank": table["bytes_sent"][~parents].sum() * share,
            "model_bytes_per_rank": model_bytes(partition, table[~parents]) * share,
            "parents_bytes_per_rank": table["bytes_sent"][parents].sum() * share,
            "digest": about["digest"],
            "graph_digest": about["graph_digest"],
        }


pandas.DataFrame(map(row, snakemake.params.runs)).to_csv(
    snakemake.output[0], index=False
)
