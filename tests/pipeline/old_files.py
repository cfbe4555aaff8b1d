"""old_files.py [OLD.h5 NEW.h5]: /run/steps of a tree file of format version 1 must have the columns
of one of version 2, and equal values where no clock decides; without arguments, old CSV files of a
study are read under the names of today."""

import json
import sys
from pathlib import Path

import h5py
from hopwave.renamed import SCHEMAS, current, read_csv, renamed
from hopwave.study.trees import attributes, frame

# Of the steps of one search on the same parts these are the same in every run.
FIXED = ["search", "step", "direction", "routine", "bucket", "frontier", "discovered"]
FIXED += ["edges_examined", "bytes_sent", "messages_sent", "bytes_sent_max"]
# Attributes of /run that no program of version 1 wrote.
ADDED = {"as_published", "auto_choice", "auto_reason", "auto_advice", "kernel", "schedule"}
ADDED |= {"isolated_vertices"}
ADDED |= {"compiler", "cores", "gpus", "memory", "network", "processor", "sockets"}


def check_tree(old: str, new: str) -> None:
    with h5py.File(old) as a, h5py.File(new) as b:
        table = json.loads((SCHEMAS / "renamed.json").read_text())["2"]
        before, after = (f["run/steps"].dtype.names for f in (a, b))
        assert set(table["/run/steps"]) <= set(before), "a name that no file had"
        assert not set(table["/run/steps"]) & set(after), "a name that is not to be"
        steps = [frame(f["run/steps"]) for f in (a, b)]
        assert list(steps[0].columns) == list(after) == list(steps[1].columns)
        assert steps[0][FIXED].equals(steps[1][FIXED])
        assert (steps[0]["expansion_min"] <= steps[0]["expansion_max"]).all()
        searches = [frame(f["run/search"]) for f in (a, b)]
        assert list(searches[0].columns) == list(searches[1].columns)
        for group in ("/run", "/parameters"):
            # Later programs may leave attributes out.
            assert attributes(b[group]).keys() - ADDED <= attributes(a[group]).keys(), group


def check_csv() -> None:
    Path("results.csv").write_text("graph,bytes_between_nodes\ng,7\n")
    Path("files.csv").write_text("file,found\nt.h5,abc\n")
    assert read_csv("results.csv")["internode_bytes"].tolist() == [7]
    assert read_csv("files.csv")["results_digest"].tolist() == ["abc"]
    assert current("bytes_between_nodes", "results.csv") == "internode_bytes"
    assert current("graph", "results.csv") == "graph"
    assert renamed("/run/steps", 2) == {}


if len(sys.argv) > 1:
    check_tree(*sys.argv[1:])
else:
    check_csv()
