"""The manifest of graphs that can be fetched: config/graphs.yaml, checked against its schema.

A graph lies at graphs/NAME/FILE below the folder that holds results/, or below the folder that the
environment variable HOPWAVE_GRAPHS names, which studies may share.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml
from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError, best_match

from ..commands.base import LARGEST, open_file, plain_loader
from ..renamed import SCHEMAS

SCHEMA = json.loads((SCHEMAS / "graphs.schema.json").read_text())
SHIPPED = Path(__file__).resolve().parents[3] / "config" / "graphs.yaml"
FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,126}\Z")
LONGEST = 80  # letters of a value that a sentence shows


class ManifestError(Exception):
    """One sentence that begins with the manifest's file, and the line where there is one."""


@dataclass(frozen=True)
class Graph:
    """A graph of the manifest."""

    name: str
    url: str
    file: str
    title: str = ""
    sets: list[str] = field(default_factory=list)
    papers: list[str] = field(default_factory=list)
    bytes: int | None = None
    sha256: str | None = None
    megabytes: int | None = None
    vertices: int | None = None
    edges: int | None = None
    options: dict[str, Any] = field(default_factory=dict)  # of hopwave-import
    note: str = ""


def _matches(validator: Any, pattern: str, instance: Any, _: Any) -> Iterable[ValidationError]:
    """Patterns end where texts end, and not before a newline there."""
    if isinstance(instance, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), instance):
        yield ValidationError(f"does not match {pattern}")


_VALIDATOR: Any = validators.extend(Draft202012Validator, {"pattern": _matches})  # type: ignore[no-untyped-call]


def _line(node: Any, path: Iterable[str | int]) -> int:
    """The line of the value that a path leads to, or of the last one that is there."""
    for step in path:
        if isinstance(step, int) and isinstance(node, yaml.SequenceNode):
            node = node.value[step]
        elif isinstance(node, yaml.MappingNode):
            node = next((v for k, v in node.value if k.value == step), node)
    return int(node.start_mark.line) + 1


def _sentence(error: Any) -> str:
    """A violation of the schema in words."""
    path = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.absolute_path)
    value = json.dumps(error.instance, default=str)
    shown = value if len(value) <= LONGEST else f"{value[:LONGEST]}..."
    place = path.lstrip(".") or "the manifest"
    if error.validator == "required":
        missing = next(k for k in error.validator_value if k not in error.instance)
        return f"{place} needs the key '{missing}'"
    if error.validator == "additionalProperties":
        known = error.schema["properties"]
        unknown = next(k for k in error.instance if k not in known)
        return f"{place} has the unknown key '{unknown}'; known are {', '.join(known)}"
    if error.validator == "type":
        return f"{place} is {shown}, which is no {error.validator_value}"
    return f"{place} is {shown}, which it may not be"


def _graph(entry: dict[str, Any]) -> Graph:
    """An entry that fits the schema. Raises ValueError with a sentence."""
    name = unquote(urlsplit(entry["url"]).path.rpartition("/")[2])
    known = {k: v for k, v in entry.items() if k != "import"}
    known.setdefault("file", name)
    if not FILE.match(known["file"]):
        raise ValueError("its url does not end in a plain file name; give it with the key 'file'")
    options = entry.get("import", {})
    if options.get("undirected") and options.get("directed"):
        raise ValueError("import: undirected and directed exclude each other")
    return Graph(**known, options=options)


def default_path() -> Path:
    """The manifest that is read where none is named."""
    return Path(os.environ.get("HOPWAVE_MANIFEST") or SHIPPED)


def read(path: str | os.PathLike[str] | None = None) -> dict[str, Graph]:
    """The graphs of a manifest by their names. Raises ManifestError."""
    path = Path(path or default_path())
    try:
        with open_file(path, LARGEST) as file:
            text = file.read().decode("utf-8")
        loader = plain_loader()(text)
        node = loader.get_single_node()
        content = loader.construct_document(node) if node is not None else None
    except (OSError, UnicodeDecodeError) as error:
        raise ManifestError(f"{path}: {getattr(error, 'strerror', None) or 'not a text'}") from None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ManifestError(f"{path}:{line}: {error.problem}") from None
    except (yaml.YAMLError, AttributeError, TypeError, ValueError, RecursionError) as error:
        raise ManifestError(f"{path}: {' '.join(str(error).split())}") from None
    wrong: Any = best_match(_VALIDATOR(SCHEMA).iter_errors(content))
    if wrong:
        line = _line(node, wrong.absolute_path) if node is not None else 1
        raise ManifestError(f"{path}:{line}: {_sentence(wrong)}")
    graphs: dict[str, Graph] = {}
    entries: list[dict[str, Any]] = content["graphs"] if content else []
    for number, entry in enumerate(entries):
        line = _line(node, ["graphs", number])
        try:
            graph = _graph(entry)
        except ValueError as error:
            raise ManifestError(f"{path}:{line}: graphs[{number}]: {error}") from None
        if graph.name in graphs:
            raise ManifestError(f"{path}:{line}: graphs[{number}]: a second '{graph.name}'")
        graphs[graph.name] = graph
    return graphs


def place(graph: Graph, folder: str | os.PathLike[str]) -> Path:
    """Where the file of a graph lies, for a study in a folder."""
    shared = os.environ.get("HOPWAVE_GRAPHS")
    return (Path(shared) if shared else Path(folder) / "graphs") / graph.name / graph.file
