"""What the files of a study say of themselves, and whether they follow from one another."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import h5py
import pandas

from ..study.configuration import CHECK, GRAPH, PARTITION, TREE, Study
from ..study.hdf5 import DAMAGE, has, member
from ..study.trees import attributes, frame, verdict
from .base import open_file
from .confined import ConfinedError, confined

KINDS = {f"hopwave-{kind}": kind for kind in ("graph", "partition", "tree", "check")}
RUN = ["program", "version", "started", "ended", "seconds", "hosts", "ranks"]
RUN += ["threads", "mpi", "hdf5", "cores_of_rank_0", "device", "command"]
RUN += ["processor", "sockets", "cores", "memory", "gpus", "network", "compiler"]
FOUND = ["root", "outcome", "reached", "edges"]
SEARCH = ["root", "seconds", "seconds_search_order", "edges", "teps"]


class UnreadableError(Exception):
    """One sentence on a file that is none of ours."""


def record(path: str | PathLike[str]) -> dict[str, Any]:
    """What one file is. Digests of the graph, the partition and the tree that it comes
    from stand under those names."""
    try:
        open_file(path).close()
        with h5py.File(path) as file:
            about, run = attributes(file), attributes(member(file, "run"))
            kind = KINDS[about["format"]]
            found = {
                "kind": kind,
                "digest": about.get("digest", ""),
                "graph": about.get("graph_digest", ""),
                "partition": run.get("partition_digest", ""),
                "tree": about.get("tree_digest", ""),
                "parents": "",
                "results_digest": "",
                **{key: run.get(key) for key in RUN},
            }
            if kind == "tree":
                if has(file, "parent"):
                    parent = member(file, "parent")
                    found["parents"] = attributes(parent).get("digest", "")
                table = frame(member(file, "run/search"))
                found["search_seconds"] = table["seconds"].mean()
                # What is known of searches whose trees are not kept.
                text = table[FOUND].to_csv(index=False)
                found["results_digest"] = hashlib.sha256(text.encode()).hexdigest()
        # Trees are checked on the spot, or else have a check file.
        if kind == "check" or (kind == "tree" and run.get("checked")):
            found["passed"] = verdict(path)[1]
    except DAMAGE as error:
        raise UnreadableError(f"{path}: no file of Hopwave ({error})") from None
    return found


def foreign_record(path: str | PathLike[str]) -> dict[str, Any]:
    """The same of a file that anybody may have made, read in a process of its own."""
    try:
        return dict(confined(record, Path(path)))
    except (ConfinedError, TypeError, ValueError) as error:
        raise UnreadableError(str(error)) from None


def inputs(study: Study) -> dict[str, list[str]]:
    """The files of a study, each with those that it was made from."""
    made: dict[str, list[str]] = {}
    checks, partitions = set(study.checks()), set(study.partition_files())
    for run in study.runs:
        graph, partition, tree, check = (
            study.files(template, [run])[0] for template in (GRAPH, PARTITION, TREE, CHECK)
        )
        made[graph] = []
        made[tree] = [graph]
        if partition in partitions:
            made[partition] = [graph]
            made[tree] = [partition, graph]
        if check in checks:
            made[check] = [tree, graph]
    return made


def records(
    folder: Path,
    made: Mapping[str, Iterable[str]],
    read: Callable[[Path], dict[str, Any]] = record,
) -> pandas.DataFrame:
    """A table of files below a folder, a row for each, as `read` reads them."""
    rows = []
    for path, before in made.items():
        rows.append({"file": path, "inputs": " ".join(before), **read(folder / path)})
    table = pandas.DataFrame(rows)
    order = {kind: number for number, kind in enumerate(KINDS.values())}
    return table.sort_values("kind", key=lambda kinds: kinds.map(order), kind="stable")


def search_columns(path: Path) -> dict[str, list[float]]:
    """The measurements of the searches in a tree file, by column."""
    open_file(path).close()
    with h5py.File(path) as file:
        table = frame(member(file, "run/search"))[SEARCH]
    return {column: table[column].tolist() for column in SEARCH}


def foreign_search_columns(path: Path) -> dict[str, list[float]]:
    """The same of a file that anybody may have made, read in a process of its own."""
    columns = confined(search_columns, path)
    if not all(isinstance(value, (int, float)) for column in SEARCH for value in columns[column]):
        raise ValueError("searches without numbers")
    return dict(columns)


def searches(
    folder: Path,
    trees: Iterable[str],
    read: Callable[[Path], dict[str, list[float]]] = search_columns,
) -> pandas.DataFrame:
    """The measurements of all searches in tree files, a row for each search."""
    tables = []
    for path in trees:
        try:
            table = pandas.DataFrame(read(folder / path))
        except (*DAMAGE, ConfinedError) as error:
            raise UnreadableError(f"{path}: no tree of Hopwave ({error})") from None
        table.insert(0, "file", path)
        tables.append(table)
    return pandas.concat(tables)


def breaks(table: pandas.DataFrame) -> list[str]:
    """Sentences on what does not follow: files made from other inputs than those that lie
    there, and checks that did not pass."""
    digest = dict(zip(table["file"], zip(table["kind"], table["digest"])))
    wrong = []
    for row in table.to_dict("records"):
        for before in row["inputs"].split():
            kind, value = digest.get(before, ("", ""))
            if kind and row[kind] and value and row[kind] != value:
                wrong.append(f"{row['file']}: made from another {kind} than {before}")
        if row.get("passed") == 0:
            wrong.append(f"{row['file']}: a check failed")
    return wrong
