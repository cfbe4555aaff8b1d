"""One row for each timed run: what it was, its Graph500 statistics, where its time went,
and the bytes it sent beside those of the papers' models."""

import sys

import h5py
import pandas
from hopwave.study.columns import COMMUNICATING, COMPUTING, DIGESTS, HOST, MACHINE
from hopwave.study.columns import PARTITION, RUN, SHARES, STATISTICS
from hopwave.study.hdf5 import member
from hopwave.study.machine import oversubscribed
from hopwave.study.models import lists_bytes, model_bytes
from hopwave.study.trees import attributes, early_share, frame, shares, steps
from hopwave.study.whole import whole

sys.stderr = open(snakemake.log[0], "w")


def of_steps(table, parts):
    """What the steps of a run say: seconds, edges and bytes are means over its searches."""
    searches = table["search"].nunique() or 1
    seconds = table["computing"] + table["communicating"]
    pulling = table["direction"].isin(["bottom-up", "pull"])
    pushing = table["direction"].isin(["top-down", "push"])
    parents = table["routine"].str.startswith("parents")
    sent = table["bytes_sent"] / (searches * parts)
    return {
        "computing_time": table["computing"].sum() / searches,
        "communicating_time": table["communicating"].sum() / searches,
        "top_down_time": seconds[pushing].sum() / searches,
        "bottom_up_time": seconds[pulling].sum() / searches,
        "top_down_edges": table["edges_examined"][pushing].sum() / searches,
        "bottom_up_edges": table["edges_examined"][pulling].sum() / searches,
        "queue_time": table["update_mean"][pushing | pulling].sum() / searches,
        "early_share": early_share(table),
        **{
            f"{phase}_time": table[f"{phase}_mean"].sum() / searches
            for phase in COMPUTING + COMMUNICATING
        },
        **{
            f"internode_{what}": table[f"internode_{what}"].sum() / searches
            for what in ("bytes", "messages")
        },
        "search_bytes_per_rank": sent[~parents].sum(),
        "parents_bytes_per_rank": sent[parents].sum(),
    }


def models(run, layout, table):
    """The bytes of the papers' models, which are of their own methods."""
    if layout.get("method") not in ("grid", "scan2d", "delegates"):
        return float("nan")
    parents = table["routine"].str.startswith("parents")
    searches = table["search"].nunique() or 1
    return model_bytes(layout, table[~parents]) / (searches * run["parts"])


def row(run):
    """The row of one run."""
    with h5py.File(run["tree"]) as tree:
        about, record, table = (
            attributes(tree),
            attributes(member(tree, "run")),
            steps(tree),
        )
        layout = {**record, "vertices": about["vertices"]}
        split = shares(layout)
        record["resolved_method"] = record.get("method")
        if "emulated" in str(record.get("version")) and record.get("device") == "cuda":
            record["device"] = "emulated"
        searches = frame(member(tree, "run/search"))
        levels = searches["levels"]
        return {
            **run,
            **{key: record.get(key) for key in PARTITION},
            **{key: split.get(key) for key in SHARES},
            **{key: record.get(key) for key in RUN},
            "scale": record.get("SCALE") if run["scale"] is None else run["scale"],
            **{key: record.get(f"{run['algorithm']}_{key}") for key in STATISTICS},
            **{key: record.get(key) for key in MACHINE},
            "search_order_time": searches["seconds_search_order"].mean(),
            "levels": levels[levels >= 0].mean(),  # shortest paths have none
            **of_steps(table, run["parts"]),
            "model_bytes_per_rank": models(run, layout, table),
            **lists_bytes(layout),
            **{key: record.get(key) for key in HOST},
            "oversubscribed": oversubscribed(record),
            **{key: about[key] for key in DIGESTS},
        }


table = pandas.DataFrame(map(row, snakemake.params.runs))
with whole(snakemake.output[0]) as part:
    table.to_csv(part, index=False)
