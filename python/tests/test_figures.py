"""Figures of the configuration: which of their points had more ranks than cores, and that their
plots and captions say so."""

import runpy
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas
import pytest

from hopwave.page.context import caption_of
from hopwave.study import figures

SCRIPT = Path(__file__).resolve().parents[2] / "workflow" / "scripts" / "plot_figure.py"
TIMES = ["mean_computation_time", "mean_communication_time"]
FIGURE: dict[str, Any] = {"name": "f", "title": "T", "x": "parts", "y": "mean_time", "by": "method"}
FIGURE |= {"logarithmic": False, "table": "results"}
NOTE = "hollow: ranks outnumber cores"


def results(crowded_parts: int = 8) -> pandas.DataFrame:
    """Two methods on 2, 4 and 8 parts, twice; one run of `grid` on that many had too few cores."""
    rows = []
    for method in ("grid", "auto"):
        for parts in (2, 4, 8):
            for repeat in (1, 2):
                crowded = method == "grid" and parts == crowded_parts and repeat == 2
                row: dict[str, Any] = {
                    "graph": "rmat",
                    "scale": 8,
                    "edgefactor": 16,
                    "parts": parts,
                }
                row |= {"layout": "2d", "method": method, "repeat": repeat, "scans": 7}
                row |= {
                    "mean_time": 1 / parts,
                    "oversubscribed": crowded,
                    TIMES[0]: 0.1,
                }
                row |= {
                    "harmonic_mean_TEPS": 1e6 * parts,
                    TIMES[1]: 0.2,
                    "bytes_sent": 40,
                }
                rows.append(row)
    return pandas.DataFrame(rows)


def marked(figure: dict[str, Any], runs: pandas.DataFrame) -> list[Any]:
    """The row and column of each number that is marked."""
    if isinstance(figure["y"], list):
        table = figures.breakdown(figure, runs)
    elif "contributions" in figure:
        table = figures.contributions(figure, runs)
    else:
        table = figures.values(figure, runs)["median"]
    marks = figures.crowded(figure, runs, table)
    assert marks.shape == table.shape
    stacked = marks.to_numpy()
    places = [(i, j) for i in range(len(marks)) for j in range(len(marks.columns))]
    return [(marks.index[i], marks.columns[j]) for i, j in places if stacked[i, j]]


def test_one_run_of_the_repeats_is_enough() -> None:
    assert marked(FIGURE, results()) == [(8, "grid")]
    assert marked(FIGURE, results(crowded_parts=0)) == []


def test_names_along_x() -> None:
    assert marked({**FIGURE, "x": "method", "by": "parts"}, results()) == [("grid", 8)]
    assert marked({**FIGURE, "x": "method"}, results()) == [("grid", "mean_time")]


def test_pieces_of_bars() -> None:
    figure = {**FIGURE, "y": TIMES}
    assert marked(figure, results()) == [((8, "grid"), time) for time in TIMES]
    assert marked({**figure, "by": "parts"}, results()) == [(8, time) for time in TIMES]


def test_what_is_over_another() -> None:
    assert marked({**FIGURE, "relative": "grid"}, results()) == [
        (8, "grid"),
        (8, "auto"),
    ]
    speedup = {**FIGURE, "y": "harmonic_mean_TEPS", "scaling": "speed-up"}
    every = [(parts, "grid") for parts in (2, 4, 8)]
    assert marked(speedup, results(crowded_parts=2)) == every


def test_counts_do_not_depend_on_cores() -> None:
    assert marked({**FIGURE, "y": "scans"}, results()) == []
    assert marked({**FIGURE, "y": "bytes_sent"}, results()) == []
    assert marked(FIGURE, results().drop(columns="oversubscribed")) == []


def test_the_caption_says_so() -> None:
    assert "Hollow: more ranks than cores" in caption_of(FIGURE)
    assert "Hollow: more ranks than cores" in caption_of({**FIGURE, "y": TIMES})
    assert "Hollow" not in caption_of({**FIGURE, "y": "scans"})


@pytest.mark.skipif(not SCRIPT.is_file(), reason="no source tree")
@pytest.mark.parametrize(
    "more",
    [{}, {"x": "method", "by": "parts"}, {"y": TIMES}, {"relative": "auto"}],
    ids=str,
)
@pytest.mark.parametrize("crowded_parts", [0, 8])
def test_the_plot_marks_them(tmp_path: Path, more: dict[str, Any], crowded_parts: int) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    results(crowded_parts).to_csv(tmp_path / "results.csv", index=False)
    job = SimpleNamespace(
        log=["/dev/null"],
        input=[str(tmp_path / "results.csv")],
        output=SimpleNamespace(plot=str(tmp_path / "f.svg"), table=str(tmp_path / "f.html")),
        params=SimpleNamespace(figure={**FIGURE, **more}),
    )
    errors = sys.stderr  # which the script sends to its log
    matplotlib.rcParams["svg.fonttype"] = "none"
    try:
        runpy.run_path(str(SCRIPT), init_globals={"snakemake": job})
    finally:
        sys.stderr = errors
    plot = (tmp_path / "f.svg").read_text(encoding="utf-8")
    assert (NOTE in plot) == bool(crowded_parts)
    assert ("fill: #ffffff; stroke: #" in plot) == bool(crowded_parts)
