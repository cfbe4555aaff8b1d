"""What the page of a study says, taken from its tables: plain values for the template."""

import base64
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..study import headline
from ..study.units import quantity, timed

if TYPE_CHECKING:
    import pandas

GIGA = 1e-9
CAPTIONS = {
    "teps": (
        "Traversed edges per second of {name}",
        "Harmonic mean over the roots. Points are medians over the repeats, bars reach from the "
        "least to the most; hollow points had more ranks than cores.",
    ),
    "scaling": (
        "Speed-up and efficiency of {name}",
        "Median TEPS over those on the fewest parts, on the largest graph of this name. Hatched, "
        "with hollow points: more ranks than cores, where times say little of the method.",
    ),
    "time": (
        "Where the time goes on {name}",
        "Mean time of a search by the clocks inside its steps: computing, communicating with the "
        "waiting inside it, and the rest. Stars: more ranks than cores.",
    ),
    "volume": (
        "Bytes sent on {name}",
        "By a rank in a search, and the most that the model of the layout's paper allows. Methods "
        "without a model have none.",
    ),
    "degrees": (
        "Degrees of {name}",
        "Vertices by degree; both ends of every tuple count, duplicates and self-loops too.",
    ),
    "steps": (
        "Step by step: {name}",
        "The first search on the largest graph with the most parts. Above: vertices of the "
        "frontier and edges examined; below: seconds, means over ranks. Shaded steps ran bottom-up "
        "or pulled.",
    ),
}
KINDS = ["teps", "figure", "scaling", "time", "volume", "steps", "degrees"]


@dataclass
class About:
    """What the page knows of a study beside its tables.

    title     of the configuration, any text
    plan      what was run, in pairs of a word and a text
    figures   figures of the configuration by name, each with "title" and perhaps "paper"
    commit    of the source, or ""
    report    whether Snakemake's report lies beside the page
    tables    whether results.csv and the others do; not where a check failed
    """

    title: str = "A study of graph searches"
    plan: list[tuple[str, str]] = field(default_factory=list)
    figures: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    commit: str = ""
    report: bool = False
    tables: bool = True


def known(value: Any) -> bool:
    """Whether a cell of a table holds something."""
    return value is not None and value == value and value != ""


def distinct(results: "pandas.DataFrame", column: str) -> list[Any]:
    """The different values of a column."""
    if column not in results:
        return []
    return [value for value in dict.fromkeys(results[column]) if known(value)]


def texts(results: "pandas.DataFrame", column: str) -> str:
    return "; ".join(str(value) for value in distinct(results, column))


def where(results: "pandas.DataFrame") -> list[tuple[str, str]]:
    """The machine, in pairs of a word and a text; what the files do not say is told as such."""
    hosts: dict[str, None] = {}
    for text in distinct(results, "hosts"):
        for part in str(text).split(","):
            hosts[part.rpartition("*")[0] or part] = None
    nodes = list(hosts)
    shown = ", ".join(nodes[:4]) + (f" and {len(nodes) - 4} more" if len(nodes) > 4 else "")
    numbers = {
        column: [f"{float(value):g}" for value in distinct(results, column)]
        for column in ("sockets", "cores")
    }
    memory = [quantity("bytes", float(value)) for value in distinct(results, "memory")]
    mpi = texts(results, "mpi").replace(" Version: ", " ")
    pairs = [
        ("nodes", f"{len(nodes)}: {shown}" if nodes else ""),
        ("processor", texts(results, "processor")),
        ("sockets", "; ".join(numbers["sockets"])),
        ("cores of a node", "; ".join(numbers["cores"])),
        ("memory of a node", "; ".join(memory)),
        ("GPUs", texts(results, "gpus") or "none seen"),
        ("network", texts(results, "network")),
        ("MPI", mpi),
        ("compiler", texts(results, "compiler")),
    ]
    return [(word, text or "not recorded") for word, text in pairs]


def when(results: "pandas.DataFrame", about: About) -> list[tuple[str, str]]:
    """Times, versions and seeds."""
    starts = sorted(str(value) for value in distinct(results, "started"))
    ends = sorted(str(value) for value in distinct(results, "ended"))
    span = f"{starts[0]} to {ends[-1]}" if starts and ends else "not recorded"
    return [
        ("searches ran", span.replace("T", " ").replace("Z", " UTC")),
        ("Hopwave", texts(results, "version") or "not recorded"),
        ("commit", about.commit or "not recorded"),
        *about.plan,
    ]


def valid(results: "pandas.DataFrame", gate: "pandas.DataFrame") -> tuple[int, int]:
    """Searches that are valid, and searches, of all runs that a check is there for."""
    import pandas

    counts = results["NBFS"] if "NBFS" in results else pandas.Series(dtype=float)
    number = pandas.to_numeric(counts, errors="coerce").fillna(0)
    if "searches" in gate:
        return int(gate["valid"].sum()), int(gate["searches"].sum())
    if len(gate) and not len(results):
        passed = pandas.to_numeric(gate["passed"], errors="coerce") == 1
        return int(passed.sum()), len(gate)
    total = int(number.sum()) if len(results) else 0
    if "passed" not in gate:
        return 0, total
    wrong = {tree_of(str(p)) for p, ok in zip(gate["file"], gate["passed"]) if float(ok) != 1}
    trees = results["tree"].astype(str) if "tree" in results else results["graph"].astype(str)
    return int(number[~trees.isin(wrong)].sum()), total


def tree_of(check: str) -> str:
    """The tree that a check file is of."""
    return check.replace("results/checks/", "results/trees/")


def teps_cell(row: Mapping[Any, Any]) -> str:
    """A median and its spread in GTEPS."""
    if not known(row["teps"]) or not row["teps"] > 0:
        return ""
    return f"{row['teps'] * GIGA:.4g}"


def spread_cell(row: Mapping[Any, Any]) -> str:
    if row["runs"] < 2 or not teps_cell(row):
        return ""
    return f"{row['least'] * GIGA:.3g} to {row['most'] * GIGA:.3g}"


def number_cell(value: Any) -> str:
    return f"{float(value):g}" if known(value) else ""


def rows(table: "pandas.DataFrame", wrong: set[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """The rows of the table of the page. wrong: (graph, layout, parts, method) with a run that is
    not valid."""
    factors = table.groupby(["graph", "scale"], dropna=False)["edgefactor"].nunique()
    more = factors.max() > 1 if len(factors) else False
    made = []
    for row in table.to_dict("records"):
        name = str(row["graph"])
        if more and known(row["edgefactor"]):
            name += f", edge factor {row['edgefactor']:g}"
        failed = (row["graph"], row["layout"], row["parts"], row["method"]) in wrong
        taken = str(row["taken"] or row["method"])
        made.append(
            {
                "graph": name,
                "scale": number_cell(row["scale"]),
                "algorithm": str(row["algorithm"]),
                "layout": str(row["layout"]),
                "parts": number_cell(row["parts"]),
                "shared": bool(row["shared_cores"]),
                "asked": str(row["method"]),
                "taken": taken,
                "teps": teps_cell(row),
                "spread": spread_cell(row),
                "ms": f"{row['seconds'] * 1e3:.4g}" if known(row["seconds"]) else "",
                "valid": "no" if failed else f"{int(row['searches'])}",
                "failed": failed,
            }
        )
    return made


def headlines(table: "pandas.DataFrame") -> list[dict[str, str]]:
    """The fastest of each graph and algorithm, of which the largest scale of a name stands out."""
    best = headline.fastest(table)
    several = best["algorithm"].nunique() > 1
    return [
        {
            "name": str(row["name"]),
            "algorithm": (
                {"bfs": "breadth-first search", "sssp": "shortest paths"}.get(
                    row["algorithm"], str(row["algorithm"])
                )
                if several
                else ""
            ),
            "speed": quantity("harmonic_mean_TEPS", row["teps"]),
            "how": f"{row['taken'] or row['method']} in {row['layout']} on {row['parts']} "
            f"part{'s' * (row['parts'] != 1)}",
            "time": quantity("mean_time", row["seconds"]) if known(row["seconds"]) else "",
            "shared": "ranks outnumber cores" if row["shared_cores"] else "",
        }
        for row in best.to_dict("records")
    ]


def scaling(table: "pandas.DataFrame") -> list[dict[str, Any]]:
    """Speed-up and efficiency of all that ran on several numbers of parts."""
    made = []
    keys = [key for key in table.columns if key in [*headline.KEYS] and key != "parts"]
    timed = table[table["teps"] > 0]
    for _, group in timed.groupby(keys, sort=False, dropna=False):
        group = group.drop_duplicates("parts").sort_values("parts")
        if len(group) < 2:
            continue
        first = group.iloc[0]
        line = {key: str(first[key]) for key in ("graph", "layout", "method")}
        points = [point(row, first) for row in group.to_dict("records")[1:]]
        scale = number_cell(first["scale"])
        made.append({**line, "scale": scale, "first": int(first["parts"]), "points": points})
    return made


def point(row: Mapping[Any, Any], first: Any) -> dict[str, Any]:
    """Speed-up and efficiency of a configuration over that on the fewest parts."""
    gain = row["teps"] / first["teps"]
    return {
        "parts": int(row["parts"]),
        "gain": f"{gain:.2f}",
        "efficiency": f"{gain * first['parts'] / row['parts']:.0%}",
        "shared": bool(row["shared_cores"]),
    }


def plots(paths: Iterable[Path], about: About) -> list[dict[str, str]]:
    """The plots with their captions, those of speed first. paths: of SVGs that have a PDF and a PNG
    beside them."""
    made = []
    for path in paths:
        kind, _, name = path.stem.partition("-")
        title, caption = CAPTIONS.get(kind, ("{name}", ""))
        figure = about.figures.get(name) if kind == "figure" else None
        table = path.parent.parent / "tables" / f"{path.stem}.html"
        made.append(
            {
                "id": path.stem,
                "kind": kind,
                "title": str(figure["title"]) if figure else title.format(name=name),
                "caption": caption_of(figure) if figure else caption,
                "data": base64.b64encode(path.read_bytes()).decode("ascii"),
                "table": f"tables/{table.name}" if table.is_file() else "",
            }
        )
    order = {kind: number for number, kind in enumerate(KINDS)}
    return sorted(made, key=lambda plot: order.get(plot["kind"], len(order)))


def caption_of(figure: Mapping[str, Any]) -> str:
    """What a figure of the configuration shows, and what its paper says."""
    y, x, by = (figure.get(key, "") for key in ("y", "x", "by"))
    if isinstance(y, list):
        words = f"{', '.join(map(str, y))} one upon another, by {x}; medians over the repeats."
    else:
        words = f"{y} against {x}, for each {by}: the median over the repeats, from least to most."
    if any(timed(str(column)) for column in (y if isinstance(y, list) else [y])):
        words += " Hollow: more ranks than cores, where times say little of the method."
    paper = figure.get("paper")
    says = paper.get("caption") if isinstance(paper, Mapping) else paper
    return words.replace("_", " ") + (f" The paper: {says}" if says else "")


def claims(path: Path | None) -> list[dict[str, Any]]:
    """The verdicts on papers' claims, of claims.json; none without the file."""
    if path is None or not path.is_file():
        return []
    try:
        told = [dict(claim) for claim in json.loads(path.read_text(encoding="utf-8"))["claims"]]
    except (ValueError, KeyError, TypeError):
        return []
    keys = ("name", "figure", "says", "claim", "verdict", "why", "paper", "here", "ratio", "source")
    return [{key: shown(claim.get(key)) for key in keys} for claim in told]


def shown(value: Any) -> str:
    """A value of JSON as a text; nothing for null."""
    if isinstance(value, float):
        return f"{value:.4g}" if math.isfinite(value) else ""
    if isinstance(value, list | tuple):
        return ", ".join(map(shown, value))
    return "" if value is None else str(value)
