"""What a study says at its end: the fastest of each graph and where to look, why it failed, or how
far it came."""

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ..study.units import quantity, unit_of
from .events import Run

if TYPE_CHECKING:
    import pandas

LAST_LINES = 8  # of a log
# What MPICH's launcher says around what a rank said.
LAUNCHER = ("=", "This typically refers to a problem", "Please see the FAQ page")
CAUSES = 3  # failed jobs that are told with their logs


def width(stream: TextIO) -> int:
    """Columns of a terminal; of what is none, enough."""
    return shutil.get_terminal_size().columns if stream.isatty() else 120


def spread(row: Any) -> str:
    """The least and the most TEPS of a configuration, in the unit of its median."""
    if row["runs"] < 2:
        return ""
    factor, _ = unit_of("harmonic_mean_TEPS", row["teps"])
    return f"{row['least'] * factor:.3g}-{row['most'] * factor:.3g}"


def cells(best: "pandas.DataFrame") -> list[list[str]]:
    """The closing table: a row of texts for each graph and algorithm."""
    return [
        [
            f"{row['name']}"
            + (f" ({row['algorithm']})" if best["algorithm"].nunique() > 1 else ""),
            f"{row['layout']}, {row['parts']} part{'s' * (row['parts'] != 1)}",
            row["taken"] or row["method"],
            quantity("harmonic_mean_TEPS", row["teps"]),
            spread(row),
            quantity("mean_time", row["seconds"]) if row["seconds"] == row["seconds"] else "",
            "ranks share cores" if row["shared_cores"] else "",
        ]
        for row in best.to_dict("records")
    ]


HEADS = ["graph", "fastest in", "by", "speed", "spread", "a search", ""]


def table(rows: list[list[str]], columns: int) -> list[str]:
    """Rows of texts as lines: side by side where the columns of a terminal are enough, or else
    indented below the first."""
    kept = [n for n in range(len(HEADS)) if any(row[n] for row in rows)]
    every = [[HEADS[n] for n in kept], *([row[n] for n in kept] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*every)]
    if sum(widths) + 2 * len(widths) <= columns:
        lines = ["  ".join(f"{text:{w}}" for text, w in zip(row, widths)) for row in every]
        return [line.rstrip() for line in lines]
    lines = []
    for row in every[1:]:
        lines.append(row[0])
        lines += [
            f"    {head}: {text}" for head, text in zip(every[0][1:], row[1:]) if text and head
        ]
    return lines


def results(folder: Path) -> list[str]:
    """The closing table of what lies in results/; nothing where no results are there."""
    from ..renamed import read_csv
    from ..study import headline

    path = folder / "results.csv"
    gate = folder / "gate.csv"
    if not path.is_file() or not gate.is_file():
        return []
    if os.stat(path).st_mtime < os.stat(gate).st_mtime:
        return []
    rows = headline.configurations(read_csv(path))
    best = headline.fastest(rows)
    searches = int(rows["searches"].sum())
    lines = [f"{searches} of {searches} searches are valid"]
    if len(best):
        lines += ["", *table(cells(best), width(sys.stdout))]
    return lines


def tail(folder: Path, log: str) -> list[str]:
    """The last lines of a log below a folder."""
    try:
        text = (folder / log).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    lines = [line for line in text.splitlines() if line.strip()]
    ours = [line for line in lines if not line.startswith(LAUNCHER)]
    return (ours or lines)[-LAST_LINES:]


def causes(run: Run, folder: Path) -> list[str]:
    """Why a run failed, the first cause last. folder: holds results/."""
    lines = []
    for text in run.errors:
        lines += text.strip().splitlines()
    shown = run.failed[:CAUSES]
    if len(run.failed) > len(shown):
        more = run.failed[CAUSES:]
        lines.append(
            f"{len(more)} other jobs failed: {', '.join(job['name'] for job in more[:20])}"
        )
    for job in reversed(shown):
        logs = [log for log in job["log"] if (folder / log).is_file()]
        lines.append(f"{job['name']} failed" + (f" ({logs[0]}):" if logs else ":"))
        told = [line for log in logs for line in tail(folder, log)]
        if job["said"] and job["said"] != "None":
            told = [*job["said"].strip().splitlines(), *told]
        if not told:
            told = ["it printed nothing; it may have been killed, for memory or by hand"]
        lines += [f"    {line}" for line in told]
    return lines


def interrupted(run: Run) -> str:
    """How far an interrupted run came, in one sentence."""
    if not run.total:
        return "interrupted: nothing was begun; the same command goes on"
    return f"interrupted: {run.done} of {run.total} done; the same command goes on"


def failed(run: Run) -> str:
    """How far a run that failed came, in one sentence."""
    count = len(run.failed)
    return (
        f"{count} of {run.total} jobs failed, {run.done} are done; when the cause is mended, "
        "the same command goes on"
    )
