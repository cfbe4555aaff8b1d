"""The tables of an archive, which anybody may have written, read with every value checked."""

import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

NAME = re.compile(r"results(/[A-Za-z0-9][A-Za-z0-9_.,=+:-]*)+")
INPUTS = {"graph": 0, "partition": 1, "check": 2}  # a tree has one or two
TEXTS = ["digest", "graph", "partition", "tree", "parents", "results_digest"]
MACHINE = ["version", "hosts", "ranks", "threads", "device", "mpi", "started"]
FILES = [
    "file",
    "inputs",
    "kind",
    "kept",
    "seconds",
    "search_seconds",
    *TEXTS,
    *MACHINE,
]
COUNTS = ["ranks", "threads", "cores_of_rank_0"]


class TableError(ValueError):
    """One sentence on what is wrong in a table."""


def read(path: Path, needed: Iterable[str]) -> "pandas.DataFrame":
    """A table of texts, with the columns that are needed."""
    from ..renamed import read_csv

    table = read_csv(path, dtype=str, keep_default_na=False, na_filter=False)
    for column in needed:
        if column not in table.columns:
            raise TableError(f"{path.name} has no column {column}")
    return table


def number(path: Path, text: str, least: float = 0.0) -> float:
    """The finite number, not below the least, that a text is."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or value < least:
        raise TableError(f"{path.name} has {text!r} where a number belongs")
    return value


def files(path: Path) -> "pandas.DataFrame":
    """files.csv: a row for each file of a study, by name. `kept`, `passed` (NaN where there was no
    check) and counts are numbers, all else is text. Raises TableError, or the ValueError of pandas.
    """
    table = read(path, FILES)
    if "passed" not in table.columns:
        table["passed"] = ""
    twice = table["file"].duplicated()
    if twice.any():
        raise TableError(f"{path.name} has {table['file'][twice].iloc[0]!r} twice")
    for row in table.to_dict("records"):
        check(path, row)
    for column in [c for c in COUNTS if c in table.columns]:
        values = [int(number(path, text)) if text else "" for text in table[column]]
        table[column] = values
    table["kept"] = table["kept"].astype(int)
    table["passed"] = [float(text) if text else math.nan for text in table["passed"]]
    return table.set_index("file", drop=False)


def check(path: Path, row: Mapping[Any, str]) -> None:
    """Raises TableError for a row of files.csv that is none."""
    names = row["inputs"].split()
    for name in [row["file"], *names]:
        if not NAME.fullmatch(name):
            raise TableError(f"{path.name} names {name!r}, which lies outside")
    if row["kind"] not in ("tree", *INPUTS):
        raise TableError(f"{path.name} has a file of kind {row['kind']!r}")
    wanted = [INPUTS[row["kind"]]] if row["kind"] in INPUTS else [1, 2]
    if len(names) not in wanted:
        raise TableError(f"{path.name}: {row['file']} has {len(names)} inputs")
    if row["kept"] not in ("0", "1") or row["passed"] not in (
        "",
        "0",
        "1",
        "0.0",
        "1.0",
    ):
        raise TableError(
            f"{path.name}: {row['file']} is neither kept nor left out, or passed nothing"
        )
    number(path, row["seconds"])
    if row["kind"] == "tree":
        number(path, row["search_seconds"])


def searches(path: Path) -> "pandas.DataFrame":
    """searches.csv: a row for each search: its file, its root and its seconds."""
    table = read(path, ["file", "root", "seconds"])
    table["seconds"] = [number(path, text) for text in table["seconds"]]
    table["root"] = [int(number(path, text)) for text in table["root"]]
    return table
