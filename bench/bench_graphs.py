"""Graphs for comparisons, Hopwave's searches on them, and tables of what they took.

A graph is a file of hopwave-generate or hopwave-import, or KIND:SCALE[:EDGE_FACTOR] (16):

    rmat      R-MAT of .57, .19, .19, .05
    flat      R-MAT of .45, .15, .15, .25
    random    G(n,m)
    directed  R-MAT, directed
    graph500  the graph of the Graph500 reference
"""

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np

MODELS: dict[str, list[str]] = {
    "rmat": ["rmat"],
    "flat": ["rmat", "--abcd=.45,.15,.15,.25"],
    "random": ["erdos-renyi"],
    "directed": ["rmat", "--directed"],
    "graph500": ["graph500"],
}


class BenchError(Exception):
    """What went wrong, as an error message; status: of the program that ended with it, 1
    where a check found a violation."""

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Graph:
    """A graph file, and what it is called in tables."""

    name: str
    file: Path
    kind: str  # a key of MODELS, or "file"
    scale: int = 0
    edge_factor: int = 0


@dataclass
class Searches:
    """Searches of one run of hopwave-traverse, in the order of the roots."""

    roots: list[int]
    edges: list[int]
    seconds: list[float]
    run: dict[str, object]  # the attributes of /run
    trees: Path | None = None


def last_line(text: str) -> str:
    """The last line that has words; lines of dashes have none."""
    lines = [line.strip() for line in text.splitlines() if re.search(r"\w", line)]
    return lines[-1] if lines else ""


def run_limited(
    command: list[str],
    limit: float = 0,
    where: str = "",
    folder: Path | None = None,
    environment: dict[str, str] | None = None,
) -> "subprocess.CompletedProcess[str]":
    """Runs a program, in a session of its own: where it takes longer than so many seconds (0: any),
    or this program is interrupted, all that it has started ends with it.

    where        " from root 3", for the message
    folder       to run in
    environment  None: ours

    Raises BenchError where it is not there, or did not end.
    """
    try:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
    except FileNotFoundError as missing:
        raise BenchError(f"{missing.filename} is not on PATH") from None
    except OSError as error:
        raise BenchError(f"{command[0]}: {error.strerror}") from None
    with process:
        try:
            out, errors = process.communicate(timeout=limit or None)
        except BaseException as error:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            raise BenchError(f"did not end within {limit:g} s{where}") from None
    return subprocess.CompletedProcess(command, process.returncode, out, errors)


def hopwave(program: str, *arguments: str, launcher: tuple[str, ...] = (), limit: float = 0) -> str:
    """Runs a program of Hopwave; its standard output. Raises BenchError with its message."""
    command = [*launcher, f"hopwave-{program}", "--quiet", *arguments]
    done = run_limited(command, limit)
    if done.returncode:
        said = last_line(done.stderr) or f"{command[0]} ended with status {done.returncode}"
        raise BenchError(said, done.returncode)
    return done.stdout


def parse_spec(spec: str) -> tuple[str, int, int]:
    """KIND, SCALE and EDGE_FACTOR of a graph; KIND is "file" where it names none."""
    match = re.fullmatch(r"(\w+):(\d+)(?::(\d+))?", spec)
    if not match or match[1] not in MODELS:
        return "file", 0, 0
    return match[1], int(match[2]), int(match[3] or 16)


def make_graph(spec: str, weights: str, folder: Path, recipe: bool = False) -> Graph:
    """The graph of a specification, made in a folder if it is not a file; of a recipe, searches
    make the edges anew. weights: as hopwave-generate takes them."""
    kind, scale, factor = parse_spec(spec)
    if kind == "file":
        if not os.path.exists(spec):
            raise BenchError(
                f"{spec}: no such file, nor one of {', '.join(MODELS)} with :SCALE[:EDGE_FACTOR]"
            )
        return Graph(Path(spec).stem, Path(spec), kind)
    name = f"{kind}-{scale}-{factor}"
    file = folder / f"{name}-{weights.replace(':', '-')}.g.h5"
    size = [f"--edges={factor << scale}"] if kind == "random" else [f"--edge-factor={factor}"]
    model, *more = MODELS[kind]
    hopwave(
        "generate",
        f"--model={model}",
        *more,
        f"--scale={scale}",
        *size,
        f"--weights={weights}",
        *(["--recipe"] if recipe else []),
        "--force",
        "-o",
        str(file),
    )
    return Graph(name, file, kind, scale, factor)


def search(
    graph: Path,
    algorithm: str,
    options: list[str],
    output: Path,
    ranks: int = 1,
    limit: float = 0,
) -> Searches:
    """One run of hopwave-traverse. options: among them the roots."""
    launcher: tuple[str, ...] = ()
    if ranks > 1:
        launcher = (*os.environ.get("MPIEXEC", "mpiexec").split(), "-n", str(ranks))
    hopwave(
        "traverse",
        str(graph),
        f"--algorithm={algorithm}",
        *options,
        "--force",
        "-o",
        str(output),
        launcher=launcher,
        limit=limit,
    )
    with h5py.File(output) as file:
        table = file["run/search"][()]
        attributes = {
            key: value.decode() if isinstance(value, bytes) else value
            for key, value in file["run"].attrs.items()
        }
    return Searches(
        [int(root) for root in table["root"]],
        [int(edges) for edges in table["edges"]],
        [float(seconds) for seconds in table["seconds"]],
        attributes,
        output,
    )


def harmonic_teps(edges: list[int], seconds: list[float]) -> float:
    """Harmonic mean of edges / seconds over the searches that have edges; 0 if none has."""
    each = [s / m for s, m in zip(seconds, edges) if m > 0]
    return len(each) / sum(each) if sum(each, 0.0) > 0 else 0.0


def medians(runs: list[list[float]]) -> list[float]:
    """For each root the median over the runs. runs: [runs][roots]."""
    return [float(value) for value in np.median(np.array(runs), axis=0)]


@dataclass
class Table:
    """A table of text; a row of fewer cells ends with a message, which no column bounds."""

    columns: list[str]
    rows: list[list[str]] = field(default_factory=list)

    def add(self, *cells: str) -> None:
        self.rows.append(list(cells))

    def text(self) -> str:
        whole = [row for row in self.rows if len(row) == len(self.columns)] + [self.columns]
        widths = [max(len(row[c]) for row in whole) for c in range(len(self.columns))]
        for row in self.rows:
            for c, cell in enumerate(row[:-1]):
                widths[c] = max(widths[c], len(cell))
        lines = []
        for row in [self.columns, *self.rows]:
            cells = [
                (
                    cell
                    if c == len(row) - 1 and len(row) < len(self.columns)
                    else cell.ljust(widths[c])
                )
                for c, cell in enumerate(row)
            ]
            lines.append("  ".join(cells).rstrip())
        return "\n".join(lines)

    def tsv(self) -> str:
        return "\n".join("\t".join(row) for row in [self.columns, *self.rows]) + "\n"


def machine(cuda: bool) -> str:
    """The processor, or the GPUs, and the version of Hopwave, in a line."""
    what = "unknown processor"
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = re.findall(r"model name\s*: (.*)", file.read())
        if names:
            what = f"{len(names)} x {names[0]}"
    except OSError:
        pass
    if cuda:
        try:
            what = ", ".join(
                subprocess.run(
                    ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"],
                    capture_output=True,
                    text=True,
                    check=True,
                )
                .stdout.strip()
                .splitlines()
            )
        except (OSError, subprocess.CalledProcessError):
            what = f"no GPU that nvidia-smi knows; {what}"
    return f"{what}; {hopwave('traverse', '--version').splitlines()[0]}"


def fail(program: str, message: str) -> int:
    """Says what was wrong with the command; the exit status."""
    print(f"{program}: {message}", file=sys.stderr)
    return 2
