#!/usr/bin/env python3
"""Draws doc/images/peers.svg of doc/benchmarks/peers-h200.csv, as studies draw their figures.

usage: draw-peers.py OUTPUT
"""

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import matplotlib

SOURCE = Path(__file__).resolve().parents[2]
FIGURE = {
    "name": "peers",
    "title": "Breadth-first search on one H200",
    "x": "graph",
    "y": "mean_time",
    "by": "method",
    "logarithmic": True,
    "table": "results",
}


def main() -> None:
    output = Path(sys.argv[1])
    sys.path.insert(0, str(SOURCE / "python"))
    matplotlib.rcParams["svg.fonttype"] = "none"
    job = SimpleNamespace(
        log=["/dev/null"],
        input=[str(SOURCE / "doc" / "benchmarks" / "peers-h200.csv")],
        output=SimpleNamespace(plot=str(output), table="/dev/null"),
        params=SimpleNamespace(figure=FIGURE),
    )
    runpy.run_path(
        str(SOURCE / "workflow" / "scripts" / "plot_figure.py"), init_globals={"snakemake": job}
    )
    for other in (output.with_suffix(".png"), output.with_suffix(".pdf")):
        if other != output:  # drawn beside an SVG
            other.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
