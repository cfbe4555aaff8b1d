"""What bench/classes says of results that are made up.

classes.py BENCH: BENCH is the folder of bench/classes.
"""

import importlib.util
import sys
from importlib.machinery import SourceFileLoader

sys.path.insert(0, sys.argv[1])
loader = SourceFileLoader("classes", f"{sys.argv[1]}/classes")
spec = importlib.util.spec_from_loader("classes", loader)
assert spec
classes = importlib.util.module_from_spec(spec)
sys.modules["classes"] = classes
loader.exec_module(classes)


def result(method: str, layout: str, seconds: float, chosen: str = "", message: str = ""):
    way = classes.Way(method, layout, ())
    runs = [[seconds] * 2, [seconds * 9] * 2, [seconds / 9] * 2]
    return classes.Result(way, chosen or method, runs=runs, edges=[100, 300], message=message)


def judged(*results) -> tuple[str, list[list[str]]]:
    table = classes.Table(classes.COLUMNS)
    return classes.judge("g", "bfs", list(results), table), table.rows


auto = result("auto", "1d", 2.0, "fused")
said, rows = judged(auto, result("fused", "1d", 2.0), result("merge", "1d", 1.0))
assert said == "g, bfs: auto took fused in 2.00 times the time of merge (1d)", said
assert rows[0][4:] == ["2000", "7.5e-08", "2.00", "took fused"], rows[0]
assert rows[2][-1] == "best", rows[2]
explained = classes.Result(
    auto.way, "fused", "hubs", "one GPU is faster", runs=auto.runs, edges=[100, 300]
)
assert judged(explained)[1][0][-1] == "took fused: hubs; one GPU is faster"
# Noise, and a run of the same method that came out faster, are no better choice.
assert judged(auto, result("merge", "1d", 1.95))[0] == ""
assert judged(auto, result("fused", "1d", 1.0))[0] == ""
assert "fused (2d)" in judged(auto, result("fused", "2d", 1.0))[0]
# What did not run is not the best.
said, rows = judged(auto, result("merge", "1d", 1.0, message="did not end within 1 s"))
assert said == "" and rows[1][-1] == "did not end within 1 s", rows[1]
assert "auto did not run" in judged(result("auto", "1d", 1.0, message="no memory"), auto)[0]

listing = {
    "methods": [
        {
            "name": name,
            "algorithm": "sssp",
            "device": "cpu",
            "layouts": layouts,
            "parts": parts,
            "one_row_only": False,
            "negative_weights": negative,
        }
        for name, layouts, parts, negative in (
            ("delta", ["1d", "2d"], "any", False),
            ("bellman", ["1d", "2d"], "any", True),
            ("serial", ["1d", "2d"], "one", False),
            ("delta", ["degree-separated"], "any", False),
            ("peers", ["1d"], "several", False),
        )
    ]
}


def ways(ranks: int, signed: bool = False, only: str = "") -> list[str]:
    found = classes.ways_of(listing, "sssp", "cpu", ranks, signed, only)
    return [f"{way.method} {' '.join(way.options)}" for way in found]


assert ways(1) == [
    "auto --layout=1d --parts=1",
    "delta --layout=1d --parts=1",
    "bellman --layout=1d --parts=1",
    "serial --layout=1d --parts=1",
    "delta --layout=degree-separated --parts=1",
], ways(1)
assert "delta --layout=2d --grid=2x3" in ways(6) and "peers --layout=1d --parts=6" in ways(6)
assert not any(way.startswith("serial") for way in ways(6))
assert ways(1, signed=True)[1:] == ["bellman --layout=1d --parts=1"]
assert ways(1, only="^serial$")[1:] == ["serial --layout=1d --parts=1"]
