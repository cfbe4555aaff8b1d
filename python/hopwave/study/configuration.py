"""What a study configuration means: the files to make and the options that make them.

The Snakefile and hopwave-study both read a configuration through `Study`; whatever is
wrong with it is a `StudyError` of one sentence that names the key.
"""

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterable, Iterator
from functools import partial
from math import isqrt
from os import PathLike
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError, best_match

from ..renamed import SCHEMAS, current
from . import manifest, methods, papers
from .columns import TABLES, WAYS

SCHEMA = json.loads((SCHEMAS / "study.schema.json").read_text())
GRAPH = "results/graphs/{graph}.h5"
PARTITION = "results/partitions/{graph}/{partition}.h5"
TREE = "results/trees/{graph}/{partition}/{search}-r{repeat}.h5"
CHECK = "results/checks/{graph}/{partition}/{search}-r{repeat}.h5"
LONGEST = 80  # letters of a value that a sentence shows
MOST_RUNS = 100_000  # searches of a study; Snakemake can do no more
# Defaults that hopwave-generate has for one model alone.
DEFAULTS: dict[tuple[Any, str], str] = {("road", "weights"): "length"}
EDGE_FACTOR = 16  # of the models that have one; files do not name it
TYPES = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "object": "a mapping of keys",
    "string": "a text",
}


Run = tuple[str, str, str, int]  # graph, partition, search, repeat
Entry = dict[str, Any]  # a mapping of the configuration, or of what it means


class StudyError(Exception):
    """One sentence for the user."""


def matches(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """As JSON Schema has it, `$` is the end of a text; in Python it is also what stands before a
    newline there."""
    ends = re.sub(r"(?<!\\)\$", r"\\Z", pattern)
    if validator.is_type(instance, "string") and not re.search(ends, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def whole(_: Any, instance: Any) -> bool:
    """Whether a value is a whole number; 2.0 is none, for options are written as given."""
    return isinstance(instance, int) and not isinstance(instance, bool)


extend: Any = validators.extend  # which jsonschema has no types for
VALIDATOR = extend(
    Draft202012Validator,
    {"pattern": matches},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("integer", whole),
)


def filling(validator_class: Any) -> Any:
    """Extends a validator class so that it also fills in the schema's defaults."""
    check = validator_class.VALIDATORS["properties"]

    def properties(
        validator: Any, properties: Entry, instance: Any, schema: Any
    ) -> Iterator[ValidationError]:
        if validator.is_type(instance, "object"):
            for key, subschema in properties.items():
                if isinstance(subschema, dict) and "default" in subschema:
                    default = json.loads(json.dumps(subschema["default"]))
                    instance.setdefault(key, default)
        yield from check(validator, properties, instance, schema)

    return extend(validator_class, {"properties": properties})


def key_of(error: ValidationError) -> str:
    """The configuration key that an error is about, such as graphs[0].scales."""
    path = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in error.absolute_path)
    return path.lstrip(".") or "the study"


def clipped(value: Any) -> str:
    """A value as JSON, as far as a sentence can hold it."""
    text = json.dumps(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def sentence(error: ValidationError) -> str:
    """A schema violation in words."""
    key, value = key_of(error), clipped(error.instance)
    limit: Any = error.validator_value
    schema: Any = error.schema
    instance: Any = error.instance
    match error.validator:
        case "required":
            missing = next(k for k in limit if k not in instance)
            return f"{key} needs the key '{missing}'"
        case "additionalProperties":
            known = schema["properties"]
            unknown = next(k for k in instance if k not in known)
            return f"{key} has the unknown key '{unknown}'; known are {', '.join(known)}"
        case "type":
            kinds = limit if isinstance(limit, list) else [limit]
            return f"{key} must be {' or '.join(TYPES[kind] for kind in kinds)}, not {value}"
        case "enum":
            return f"{key} is {value}, but must be one of {', '.join(limit)}"
        case "const":
            return f"{key} is {value}, but only {json.dumps(limit)} applies here"
        case "not":
            return f"{key} does not apply here"
        case "exclusiveMinimum":
            return f"{key} is {value}, but must be above {limit}"
        case "minimum" | "maximum":
            bound = "at least" if error.validator == "minimum" else "at most"
            return f"{key} is {value}, but must be {bound} {limit}"
        case "minItems" | "maxItems":
            return f"{key} has {len(instance)} entries, but must have {limit}"
        case "maxLength":
            return f"{key} is longer than {limit} characters"
        case "uniqueItems":
            return f"{key} holds an entry twice"
        case "pattern":
            return f"{key} is {value}, which does not match {limit}"
    return f"{key} is {value}, which it may not be"


def fill_models(config: Any) -> None:
    """Fills in what is a default of some models alone; of what is no configuration nothing."""
    graphs = config.get("graphs") if isinstance(config, dict) else None
    for entry in graphs if isinstance(graphs, list) else []:
        for (model, key), value in DEFAULTS.items():
            if isinstance(entry, dict) and entry.get("model") == model:
                entry.setdefault(key, value)


def filled(config: Any) -> Any:
    """A copy of a configuration with defaults, or StudyError."""
    config = json.loads(json.dumps(config))
    fill_models(config)
    validator = filling(VALIDATOR)(SCHEMA)
    # The first pass fills defaults in; the second sees what they imply.
    list(validator.iter_errors(config))
    error = best_match(VALIDATOR(SCHEMA).iter_errors(config))
    if error:
        raise StudyError(sentence(error))
    return config


def as_file(entry: Entry, graph: manifest.Graph) -> Entry:
    """An entry of `graphs` that names a graph of the manifest, as one that names its file."""
    options = dict(graph.options)
    if "undirected" in entry or "directed" in entry:
        options.pop("undirected", None)
        options.pop("directed", None)
    known = SCHEMA["$defs"]["file"]["properties"]
    defaults = {key: value["default"] for key, value in known.items() if "default" in value}
    own = {key: value for key, value in entry.items() if key != "fetch"}
    file = str(manifest.place(graph, ""))
    return {"name": graph.name.lower(), **defaults, **options, **own, "file": file}


def tag(kind: str, options: Entry, *skip: str) -> str:
    """What a file name says of the options that differ from their defaults."""
    known = SCHEMA["$defs"][kind]["properties"]
    words = []
    for key, value in options.items():
        if key in skip or value == DEFAULTS.get(
            (options.get("model"), key), known[key].get("default")
        ):
            continue
        if (key, value) == ("edge_factor", EDGE_FACTOR):
            continue
        word = key.replace("_", "")
        if isinstance(value, bool):
            words.append(f"-{word}" if value else f"-no-{word}")
        elif isinstance(value, str):
            words.append(f"-{word}-{value.replace(':', '_')}")
        elif isinstance(value, dict):
            words += [f"-{k}" if v is True else f"-{k}-{v}" for k, v in value.items()]
        elif isinstance(value, list):
            words.append(f"-{word}-{'_'.join(map(str, value))}")
        else:
            words.append(f"-{word}{value}")
    return "".join(words)


def squarest(parts: int) -> tuple[int, int]:
    """The most square grid of that many parts, never flatter than tall, so that it is
    not the 1d layout under another name."""
    columns = next(c for c in range(isqrt(parts), 0, -1) if parts % c == 0)
    return parts // columns, columns


def fits(method: Entry, partition: Entry) -> bool:
    """Whether a method works on partitions of such a layout and part count, and is for them."""
    works = partition["layout"] in methods.layouts(method) and (
        partition["parts"] == 1 or not methods.one_part(method)
    )
    return works and partition["label"] in method.get("layouts", [partition["label"]])


def label_of(graph: Entry) -> Any:
    """The name of an entry of `graphs`."""
    known: Any = graph.get("fetch", graph.get("model", ""))
    return graph.get("name", known.lower())


def layout_label(layout: Entry) -> str:
    """The name of an entry of `layouts`, which results call it by."""
    skip = ("layout", "graphs", "grids", "devices")
    return str(layout["layout"]) + tag("layout", layout, *skip)


def shown(label: str) -> str:
    """The name of a method in the results."""
    return label.replace("-device-cuda", "")


def meant(entry: Entry, graph: Entry) -> bool:
    """Whether a layout or a method is for a graph, as far as it names some."""
    return label_of(graph) in entry.get("graphs", [label_of(graph)])


def applies(method: Entry, graph: Entry) -> bool:
    """Whether a method works on a graph with such weights."""
    if method["algorithm"] == "bfs":
        return True
    return graph["weights"] not in ("none", "auto") and not (
        graph["weights"] == "signed" and not methods.negative_weights(method)
    )


def without(method: Entry, entry: Entry) -> str:
    """Says that a graph is not searched by a method that its weights are not for."""
    why = "which has no weights"
    if entry["weights"] == "signed":
        why = "which has negative weights"
    elif "file" in entry:
        why = "of whose file no weights are taken (weights: none)"
        if entry["weights"] == "auto":
            why = "whose weights no study knows before it reads the file (weights: auto); integer "
            why += "or real says that there are some"
    return f"{method['algorithm']} by {method['method']} on {label_of(entry)}, {why}"


def check_numbers(entry: Entry, where: str) -> None:
    """What hopwave-generate and hopwave-import would refuse of an entry of `graphs`."""
    if "abcd" in entry and abs(sum(entry["abcd"]) - 1) > 1e-9:
        raise StudyError(f"{where}.abcd sums to {sum(entry['abcd']):g}, not to 1")
    if entry["weights"].startswith("integer:"):
        low, high = map(int, entry["weights"].split(":")[1:])
        if not -(2**31) <= low <= high < 2**31:
            raise StudyError(f"{where}.weights is {entry['weights']}, which is no range of 32 bits")
    if entry.get("model") == "erdos-renyi":
        scale, factor = min(entry["scales"]), entry["edge_factor"]
        factor = max(factor) if isinstance(factor, list) else factor
        pairs = (2**scale - 1 if entry["directed"] else (2**scale - 1) / 2) * 2**scale
        if factor * 2**scale > pairs:
            raise StudyError(
                f"{where}: {factor * 2**scale} edges are more than the {pairs:.0f} pairs "
                f"that {2**scale} vertices have"
            )
    if entry.get("model") in ("small-world", "geometric"):
        check_degree(entry, where)


def check_degree(entry: Entry, where: str) -> None:
    """What the degree of a small world or a geometric graph must be."""
    default = 8 if entry["model"] == "small-world" else 16  # those of hopwave-generate
    degree, vertices = entry.get("degree", default), 2 ** min(entry["scales"])
    if degree >= vertices:
        raise StudyError(f"{where}.degree is {degree}, and a graph has {vertices} vertices")
    if entry["model"] == "small-world" and degree % 2:
        raise StudyError(f"{where}.degree is {degree}, which is no even number")
    if entry["model"] == "geometric" and degree > 256:
        raise StudyError(f"{where}.degree is {degree}, but must be at most 256")
    if entry["model"] == "geometric" and max(entry["scales"]) > 36:
        raise StudyError(f"{where}.scales go to {max(entry['scales'])}, but must be at most 36")


class Study:
    """The cross product of a configuration. Each dictionary maps the name that files
    carry to what the rules need:

    graphs      {"options", "name", "scale", "file"}; of an imported one the scale is
                None, of a generated one the file
    partitions  {"options", "layout", "parts", "label"}
    searches    {"options", "algorithm", "method", "device", "more"}
    figures     as the configuration has them, by name
    scaled      names of graphs that are searched on several numbers of parts
    runs        list of (graph, partition, search, repeat), repeats outermost
    left_out    optional files that are not there, as texts
    not_run     methods that graphs of the study have not the weights for, as texts
    in_memory   whether searches lay out graphs themselves, and partitions are no files

    Files are looked for from the folder that holds results/.
    """

    def __init__(self, config: Any, folder: str | PathLike[str] = ".") -> None:
        self.config = filled(config)
        self.fetched: dict[str, str] = {}
        self._name_fetched()
        self.title = self.config["title"]
        self.in_memory = self.config["partitions"] == "memory"
        self.folder = Path(folder)
        self.graphs: dict[str, Entry] = {}
        self.partitions: dict[str, Entry] = {}
        self.searches: dict[str, Entry] = {}
        self.left_out: list[str] = []
        self.not_run: list[str] = []
        try:
            methods.table()
        except methods.MethodError as error:
            raise StudyError(str(error)) from None
        self._check_methods()
        self._check_names()
        for number, entry in enumerate(self.config["graphs"]):
            check_numbers(entry, f"graphs[{number}]")
        runs: dict[tuple[str, str, str], None] = {}
        counted = 0
        for number, entry in enumerate(self.config["graphs"]):
            for run in self._runs_of(entry, f"graphs[{number}]"):
                runs[run] = None
                counted += self.config["repeats"]
                if counted > MOST_RUNS:
                    raise StudyError(f"the study has more than {MOST_RUNS} searches")
        if not runs:
            raise StudyError(f"graphs: no file is there: {', '.join(self.left_out)}")
        self.repeats = self.config["repeats"]
        repeats = range(1, self.repeats + 1)
        self.runs = [(*run, repeat) for repeat in repeats for run in runs]
        self.names = list(dict.fromkeys(g["name"] for g in self.graphs.values()))
        self.figures = self._figures()
        self.examples = self._examples()
        self.scaled = self._scaled()
        self.alone = [name for name, p in self.partitions.items() if p["parts"] == 1]

    def _name_fetched(self) -> None:
        """Makes graphs of the manifest files: as it says how they are imported, unless the study
        says otherwise. Notes their names."""
        graphs = self.config["graphs"]
        if not any("fetch" in entry for entry in graphs):
            return
        try:
            known = manifest.read()
        except manifest.ManifestError as error:
            raise StudyError(str(error)) from None
        for number, entry in enumerate(graphs):
            if "fetch" not in entry:
                continue
            name = entry["fetch"]
            if name not in known:
                raise StudyError(
                    f"graphs[{number}].fetch: no graph of {manifest.default_path()} is named "
                    f"'{name}'; `hopwave-study fetch --list` has them"
                )
            graphs[number] = as_file(entry, known[name])
            self.fetched[graphs[number]["file"]] = name

    def _check_methods(self) -> None:
        """Every method must have a layout and a graph that it works on."""
        layouts = [layout["layout"] for layout in self.config["layouts"]]
        for number, method in enumerate(self.config["methods"]):
            where = f"methods[{number}]"
            try:
                methods.check_entry(method)
            except methods.MethodError as error:
                raise StudyError(f"{where}{error}") from None
            works_on = methods.layouts(method)
            if not set(layouts) & set(works_on):
                raise StudyError(
                    f"{where}.method is {method['method']}, which works on "
                    f"{' and '.join(works_on)}, and the study has no such layout"
                )
            if not any(applies(method, graph) for graph in self.config["graphs"]):
                every = methods.negative_weights(method)
                kind = "" if every else "without negative ones"
                raise StudyError(
                    f"{where}.algorithm is sssp, and no graph has weights {kind}".rstrip()
                )

    def _check_names(self) -> None:
        """What is for some graphs or layouts alone names such that there are."""
        graphs = [label_of(graph) for graph in self.config["graphs"]]
        layouts = [layout_label(layout) for layout in self.config["layouts"]]
        for kind in ("layouts", "methods", "figures"):
            for number, entry in enumerate(self.config[kind]):
                for what, names in (("graph", graphs), ("layout", layouts)):
                    for name in entry.get(f"{what}s", []):
                        if name not in names:
                            raise StudyError(
                                f"{kind}[{number}].{what}s: no {what} is named '{name}'"
                            )

    def _runs_of(self, entry: Entry, where: str) -> Iterator[tuple[str, str, str]]:
        """Names (graph, partition, search) of one entry of `graphs`."""
        wanted = [m for m in self.config["methods"] if meant(m, entry)]
        methods = [m for m in wanted if applies(m, entry)]
        self.not_run += [without(m, entry) for m in wanted if m not in methods]
        layouts = [k for k in self.config["layouts"] if meant(k, entry)]
        for graph in self._graphs(entry, where):
            for parts in entry.get("parts", self.config["parts"]):
                for layout in layouts:
                    partition = self._partition(layout, parts, where)
                    for method in methods:
                        if fits(method, self.partitions[partition]):
                            roots = entry.get("roots", self.config["roots"])
                            yield graph, partition, self._search(method, roots)

    def _graphs(self, entry: Entry, where: str) -> list[str]:
        """Names of the graphs of one entry of `graphs`."""
        if "file" not in entry:
            factors = entry.get("edge_factor")
            factors = factors if isinstance(factors, list) else [factors]
            return [
                self._generated({**entry, "edge_factor": factor} if factor else entry, scale)
                for scale in entry["scales"]
                for factor in factors
            ]
        if os.path.isfile(self.folder / entry["file"]):
            return [self._imported(entry)]
        name = self.fetched.get(str(entry["file"]))
        if not entry["optional"] and name:
            there = (
                "" if str(self.folder) == "." else f" --directory {shlex.quote(str(self.folder))}"
            )
            raise StudyError(
                f"{where}.fetch: {name} is not there; `hopwave-study fetch {name}{there}` gets it"
            )
        if not entry["optional"]:
            raise StudyError(f"{where}.file: {entry['file']}: no such file")
        self.left_out.append(f"{entry['name']} ({entry['file']})")
        return []

    def _imported(self, entry: Entry) -> str:
        skip = ("name", "file", "optional", "parts", "roots")
        name = entry["name"] + tag("file", entry, *skip)
        options = [f"--{key}" for key in ("undirected", "directed") if entry[key]]
        keys = ("format", "weights", "vertices")
        options += [f"--{key} {entry[key]}" for key in keys if key in entry]
        return self._add(name, entry["name"], options, file=entry["file"])

    def _generated(self, entry: Entry, scale: int) -> str:
        model = entry["model"]
        label = str(entry.get("name", model))
        skip = ("name", "model", "scales", "parts", "roots")
        name = f"{label}-s{scale}{tag('model', entry, *skip)}"
        options = [f"--model {model}", f"--scale {scale}"]
        if model == "erdos-renyi":
            options.append(f"--edges {entry['edge_factor'] << scale}")
        elif "edge_factor" in entry:
            options.append(f"--edge-factor {entry['edge_factor']}")
        for key in (
            "seed",
            "seed1",
            "seed2",
            "skew",
            "dimensions",
            "degree",
            "probability",
        ):
            if key in entry:
                options.append(f"--{key} {entry[key]}")
        if "abcd" in entry:
            options.append(f"--abcd {','.join(map(str, entry['abcd']))}")
        if not entry["scramble"]:
            options.append("--no-scramble")
        if entry["weights"] != DEFAULTS.get((model, "weights"), "none"):
            options.append(f"--weights {entry['weights']}")
        options += [f"--{key}" for key in ("directed", "recipe") if entry[key]]
        return self._add(name, label, options, scale=scale)

    def _add(
        self,
        name: str,
        label: str,
        options: Iterable[str],
        scale: int | None = None,
        file: str | None = None,
    ) -> str:
        """Notes a graph under the name that its files carry."""
        graph = {"options": " ".join(options), "name": label, "scale": scale, "file": file}
        if self.graphs.setdefault(name, graph) != graph:
            raise StudyError(
                f"graphs: two entries named '{label}' differ in their model or file; rename one"
            )
        return name

    def _partition(self, layout: Entry, parts: int, where: str) -> str:
        kind = layout["layout"]
        shape = str(parts)
        options = f"--layout {kind} --order {layout['order']}"
        if kind == "2d":
            rows, columns = self._grid(layout, parts)
            shape = f"{rows}x{columns}"
            options += f" --grid {shape}"
        elif kind == "1d":
            options += f" --parts {parts}"
        else:
            devices = layout["devices"]
            if parts % devices:
                raise StudyError(
                    f"layouts: devices is {devices}, which does not divide {parts} parts of {where}"
                )
            if devices > 1:
                shape = f"{parts // devices}x{devices}"
            options += f" --parts {shape} --degree-threshold {layout['threshold']}"
        label = layout_label(layout)
        name = f"{kind}-{shape}{label.removeprefix(kind)}"
        self.partitions[name] = {
            "options": options,
            "layout": kind,
            "parts": parts,
            "label": label,
        }
        return name

    @staticmethod
    def _grid(layout: Entry, parts: int) -> tuple[int, int]:
        for grid in layout["grids"]:
            rows, columns = map(int, grid.split("x"))
            if rows * columns == parts:
                return rows, columns
        return squarest(parts)

    def _method_label(self, method: Entry) -> str:
        """The name of an entry of `methods` in file names."""
        algorithm = method["algorithm"]
        label = str(method["method"]) + tag(
            "method", method, "algorithm", "method", "graphs", "layouts"
        )
        if algorithm != "bfs":
            label = f"{algorithm}-{label}"
        return label + ("-canonical" if self.config["canonical_parents"] else "")

    def _search(self, method: Entry, roots: Entry) -> str:
        algorithm = method["algorithm"]
        label = self._method_label(method)
        roots_tag = tag("roots", roots, "count")
        options = f"--algorithm {algorithm} --method {method['method']}"
        if method["device"] != "cpu":
            options += f" --device {method['device']}"
        if "delta" in method:
            options += f" --delta {method['delta']}"
        for key in ("direction", "exchange"):
            if method[key] != "auto":
                options += f" --{key} {method[key]}"
        for key, value in method["options"].items():
            options += f" --{key}" if value is True else f" --{key}={shlex.quote(str(value))}"
        options += f" --roots {roots['count']} --root-seed {roots['seed']}"
        if roots["min_component"] > 1:
            options += f" --min-component {roots['min_component']}"
        if self.config["canonical_parents"]:
            options += " --canonical-parents"
        if self.config["store"] != "all":
            options += f" --store {self.config['store']} --check"
            roots_tag += f"-store-{self.config['store']}"
        name = f"{label}-k{roots['count']}{roots_tag}"
        self.searches[name] = {
            "options": options,
            "algorithm": algorithm,
            "method": shown(label),
            "device": method["device"],
            "more": method["options"],
        }
        return name

    def _figures(self) -> dict[str, Entry]:
        """The figures of the configuration by their names."""
        figures: dict[str, Entry] = {}
        for number, figure in enumerate(self.config["figures"]):
            where = f"figures[{number}]"
            if figures.setdefault(figure["name"], figure) is not figure:
                raise StudyError(f"{where}.name is '{figure['name']}', as another's is")
            self._rename(figure)
            if figure["table"] == "enqueue" and not shutil.which("gpu-enqueue"):
                del figures[figure["name"]]
                self.left_out.append(f"figure {figure['name']} (no gpu-enqueue on PATH)")
                continue
            known = TABLES[figure["table"]] + self.more()
            several = figure["y"] if isinstance(figure["y"], list) else [figure["y"]]
            columns = [("x", figure["x"]), *(("y", y) for y in several)]
            columns += [("by", figure["by"])]
            columns += [("where", column) for column in figure.get("where", {})]
            for key, column in columns:
                if column not in known:
                    raise StudyError(
                        f"{where}.{key} is '{column}', but must be one of " f"{', '.join(known)}"
                    )
            self._check_shape(figure, where)
            if "cut" not in self.config:
                self._check_values(figure, where)
            try:
                table = figure["table"]
                papers.check(figure, known, partial(self._possible, table=table))
            except papers.PaperError as error:
                raise StudyError(f"{where}.paper{error}") from None
        return figures

    def tables(self) -> list[str]:
        """The tables that figures are about."""
        return list(dict.fromkeys(figure["table"] for figure in self.figures.values()))

    def has_claims(self) -> bool:
        """Whether a figure has rows or claims of a paper."""
        return any(isinstance(f.get("paper"), dict) for f in self.figures.values())

    @staticmethod
    def _check_shape(figure: Entry, where: str) -> None:
        """What a figure shows y as: one thing, of one y."""
        ways = [key for key in ("relative", "scaling", "contributions") if key in figure]
        if ways and isinstance(figure["y"], list):
            raise StudyError(f"{where}.{ways[0]} is of one y, and there are several")
        if len(ways) > 1:
            raise StudyError(f"{where} has both {ways[0]} and {ways[1]}")
        if "scaling" in figure and not figure["y"].endswith("_TEPS"):
            raise StudyError(f"{where}.scaling is of speeds, and y is {figure['y']}")

    def _check_values(self, figure: Entry, where: str) -> None:
        """What a figure asks for by its value must be such as the study has."""
        wanted = list(figure.get("where", {}).items())
        for key in ("relative", "contributions"):
            if key in figure:
                wanted.append((figure["by"], figure[key]))
        for column, named in wanted:
            possible = self._possible(column, figure["table"])
            for value in named if isinstance(named, list) else [named]:
                if possible is not None and value not in possible:
                    ours = next((k for k in ("relative", "contributions") if k in figure), "")
                    key = f"where.{column}" if column in figure.get("where", {}) else ours
                    raise StudyError(
                        f"{where}.{key} is {clipped(value)}, and no {column} is so called; there "
                        f"are {', '.join(map(str, possible))}"
                    )

    def _possible(self, column: str, table: str) -> list[Any] | None:
        """The values that a column of a table can have, whichever files are there; None: any."""
        if "cut" in self.config:
            return None
        if table == "enqueue":
            return WAYS if column == "method" else None
        config = self.config
        if column == "graph":
            return list(dict.fromkeys(map(label_of, config["graphs"])))
        if column == "layout":
            return list(dict.fromkeys(map(layout_label, config["layouts"])))
        if column == "method":
            labels = map(self._method_label, config["methods"])
            return list(dict.fromkeys(map(shown, labels)))
        if column == "parts":
            every = [g.get("parts", config["parts"]) for g in config["graphs"]]
            return sorted({number for parts in every for number in parts})
        return None

    @staticmethod
    def _rename(figure: Entry) -> None:
        """Puts the names of today for columns that had others."""

        def now(column: str) -> str:
            return current(column, "results.csv")

        for key in ("x", "by"):
            figure[key] = now(figure[key])
        y = figure["y"]
        figure["y"] = list(map(now, y)) if isinstance(y, list) else now(y)
        if "where" in figure:
            figure["where"] = {now(c): wanted for c, wanted in figure["where"].items()}

    def more(self) -> list[str]:
        """The further options of all methods, each once."""
        methods = self.config["methods"]
        return list(dict.fromkeys(key for m in methods for key in m["options"]))

    def files(self, template: str, runs: Iterable[Run] | None = None) -> list[str]:
        """The files of a template for runs, or for all of them, each once."""
        keys = ("graph", "partition", "search", "repeat")
        runs = self.runs if runs is None else runs
        named = (template.format(**dict(zip(keys, run))) for run in runs)
        return list(dict.fromkeys(named))

    def partition_files(self, runs: Iterable[Run] | None = None) -> list[str]:
        """The files of partitions, if they are any."""
        return [] if self.in_memory else self.files(PARTITION, runs)

    def checks(self, runs: Iterable[Run] | None = None) -> list[str]:
        """The check files; where no tree is kept there is nothing to validate."""
        return self.files(CHECK, runs) if self.config["store"] != "none" else []

    def rows(self) -> Iterator[dict[str, Any]]:
        """What the results say of each run, with its files."""
        for graph, part, search, repeat in self.runs:
            run = [(graph, part, search, repeat)]
            yield {
                "graph": self.graphs[graph]["name"],
                "scale": self.graphs[graph]["scale"],
                "layout": self.partitions[part]["label"],
                "parts": self.partitions[part]["parts"],
                "algorithm": self.searches[search]["algorithm"],
                "method": self.searches[search]["method"],
                **{key: self.searches[search]["more"].get(key) for key in self.more()},
                "repeat": repeat,
                "tree": self.files(TREE, run)[0],
            }

    def _examples(self) -> dict[str, Run]:
        """The runs whose steps are shown, for each algorithm and layout: the largest
        graph of the first entry that has it, on the most parts."""
        groups: dict[str, list[Run]] = {}
        for run in self.runs:
            label = self.partitions[run[1]]["label"]
            algorithm = self.searches[run[2]]["algorithm"]
            key = label if algorithm == "bfs" else f"{algorithm}-{label}"
            groups.setdefault(key, []).append(run)

        def size(run: Run) -> tuple[int, int]:
            return self.graphs[run[0]]["scale"] or 0, self.partitions[run[1]]["parts"]

        def largest(runs: list[Run]) -> Run:
            first = self.graphs[runs[0][0]]["name"]
            return max((r for r in runs if self.graphs[r[0]]["name"] == first), key=size)

        return {key: largest(runs) for key, runs in groups.items()}

    def _scaled(self) -> list[str]:
        """Names of graphs of which one is searched on several numbers of parts in one layout."""
        parts: dict[tuple[str, str], set[int]] = {}
        for graph, partition, _, _ in self.runs:
            about = self.partitions[partition]
            parts.setdefault((graph, about["label"]), set()).add(about["parts"])
        graphs = {graph for (graph, _), numbers in parts.items() if len(numbers) > 1}
        return [n for n in self.names if any(self.graphs[g]["name"] == n for g in graphs)]

    def first_runs(self, name: str) -> list[Run]:
        """One run for each graph of that name."""
        runs = {run[0]: run for run in reversed(self.runs)}
        return [runs[g] for g, graph in self.graphs.items() if graph["name"] == name]


def pattern(names: Iterable[str]) -> str:
    """A regular expression that matches exactly these names."""
    return "|".join(map(re.escape, names)) or "(?!)"
