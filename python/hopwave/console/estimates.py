"""What a study would make and take, before it runs: jobs, node hours, memory and disk, as the
programs estimate them."""

import os
import shlex
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..study.configuration import GRAPH, PARTITION, TREE
from ..study.machine import Machine, asked
from ..study.units import quantity
from . import jobs
from .pace import duration

if TYPE_CHECKING:
    from ..study.configuration import Study

NAMES = 6  # jobs of a kind that are named
DEADLINE = 60.0  # seconds after which no more programs are asked
KINDS = {"generate": "graphs", "import": "graphs", "partition": "partitions", "traverse": "trees"}
Cost = tuple[float, int, int]  # seconds, bytes of memory of a rank, bytes on disk


@dataclass
class Stage:
    """A job of a program.

    what    its verb
    name    in words
    ranks   of the program
    nodes   that its ranks take
    """

    what: str
    name: str
    ranks: int
    nodes: int


class Estimator:
    """Asks the programs. What they read and is not made yet is a recipe of the same graph."""

    def __init__(self, study: "Study", machine: Machine, directory: str, work: str) -> None:
        self.study, self.machine = study, machine
        self.directory, self.work = Path(directory).resolve(), Path(work)
        self.until = time.monotonic() + DEADLINE
        self.graphs: dict[str, str | None] = {}

    def path(self, template: str, wildcards: dict[str, Any]) -> Path:
        return self.directory / template.format(**wildcards)

    def ask(self, program: str, words: str, ranks: int, threads: int) -> Cost | None:
        if time.monotonic() > self.until:
            return None
        command = [program, *shlex.split(words), f"--estimate={ranks}"]
        answer = asked((*command, f"--threads={threads}", "--quiet"))
        return None if isinstance(answer, str) else answer

    def prepare(self, names: Iterable[str]) -> None:
        """Finds or makes what stands for each graph."""
        for name in names:
            self.graphs[name] = self.graph(name)

    def graph(self, name: str) -> str | None:
        """A file of a graph for programs that read it; None for one that is yet to be imported."""
        there = self.path(GRAPH, {"graph": name})
        if there.is_file():
            return shlex.quote(str(there))
        about = self.study.graphs[name]
        if about["file"]:
            return None
        recipe = self.work / f"{name}.h5"
        options = about["options"]
        options += "" if "--recipe" in options.split() else " --recipe"
        command = ["hopwave-generate", *shlex.split(options), "--quiet", "-o", str(recipe)]
        done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL)
        return shlex.quote(str(recipe)) if done.returncode == 0 else None

    def cost(self, what: str, wildcards: dict[str, Any], ranks: int, threads: int) -> Cost | None:
        """What a job takes; None where its program cannot say."""
        name = wildcards["graph"]
        about = self.study.graphs[name]
        if what == "generate":
            return self.ask("hopwave-generate", about["options"], 1, threads)
        if what == "import":
            file = shlex.quote(str(self.directory / about["file"]))
            return self.ask("hopwave-import", f"{file} {about['options']}", 1, threads)
        graph = self.graphs.get(name)
        if what == "partition":
            if not graph:
                return None
            options = self.study.partitions[wildcards["partition"]]["options"]
            return self.ask("hopwave-partition", f"{graph} {options}", 1, threads)
        if what == "traverse":
            return self.search(wildcards, graph, ranks, threads)
        return self.validation(wildcards, graph, ranks, threads)

    def search(
        self, wildcards: dict[str, Any], graph: str | None, ranks: int, threads: int, more: str = ""
    ) -> Cost | None:
        options = self.study.searches[wildcards["search"]]["options"]
        partition = self.path(PARTITION, wildcards)
        checks = "--check" in f"{options}{more}".split()  # which needs the graph
        if partition.is_file() and not self.study.in_memory and not checks:
            source = shlex.quote(str(partition))
        elif graph:
            source = f"{graph} {self.study.partitions[wildcards['partition']]['options']}"
        else:
            return None
        return self.ask("hopwave-traverse", f"{source} {options}{more}", ranks, threads)

    def validation(
        self, wildcards: dict[str, Any], graph: str | None, ranks: int, threads: int
    ) -> Cost | None:
        """Of a tree that is there as its program says; else what checking adds to a search."""
        tree = self.path(TREE, wildcards)
        if tree.is_file() and graph:
            words = f"{shlex.quote(str(tree))} --graph {graph}"
            return self.ask("hopwave-validate", words, 1, threads)
        parts = self.study.partitions[wildcards["partition"]]["parts"]
        without = self.search(wildcards, graph, parts, threads)
        checked = self.search(wildcards, graph, parts, threads, " --check")
        if not without or not checked:
            return None
        return max(0.0, checked[0] - without[0]) * parts, checked[1] * parts, 65536

    def stage(self, job: dict[str, Any]) -> Stage:
        what, wildcards = jobs.verb(job["rule"]), job["wildcards"]
        name = jobs.name(job["rule"], wildcards)
        if what != "traverse":
            return Stage(what, name, 1, 1)
        parts = self.study.partitions[wildcards["partition"]]["parts"]
        gpus = self.study.searches[wildcards["search"]]["device"] == "cuda"
        return Stage(what, name, parts, self.machine.nodes(parts) if gpus else 1)


def alike(study: "Study", job: dict[str, Any]) -> tuple[Any, ...]:
    """What jobs have in common that are estimated alike: searches by whatever method."""
    wildcards = job["wildcards"]
    key = [jobs.verb(job["rule"]), wildcards["graph"], wildcards.get("partition"), job["threads"]]
    if "search" in wildcards:
        about = study.searches[wildcards["search"]]
        roots = wildcards["search"].rpartition("-k")[2]
        key += [about["algorithm"], about["device"], roots]
    return tuple(key)


def report(
    study: "Study", planned: list[dict[str, Any]], machine: Machine, directory: str
) -> list[str]:
    """The plan of a study in lines, totals last. planned: its jobs."""
    if not planned:
        return ["nothing to make: all is there and up to date"]
    programs = [job for job in planned if jobs.verb(job["rule"]) in jobs.ORDER]
    lines = list(names(programs))
    rules = Counter(job["rule"] for job in planned)
    lines.append(f"{'jobs:':12}{len(planned)} ({jobs.counted(rules)})")
    with tempfile.TemporaryDirectory(prefix="hopwave-plan-") as work:
        estimator = Estimator(study, machine, directory, work)
        lines += totals(estimator, programs)
    return lines


def names(programs: list[dict[str, Any]]) -> Iterable[str]:
    """The jobs of each program, as far as a line holds them."""
    named: dict[str, list[str]] = defaultdict(list)
    for job in programs:
        what = jobs.verb(job["rule"])
        named[what].append(jobs.name(job["rule"], job["wildcards"]).removeprefix(f"{what} "))
    for what in jobs.ORDER:
        if what in named:
            named[what].sort()
            more = len(named[what]) - NAMES
            rest = f", and {more} more" if more > 0 else ""
            yield f"{what + ':':12}{', '.join(named[what][:NAMES])}{rest}"


def totals(estimator: Estimator, programs: list[dict[str, Any]]) -> Iterable[str]:
    """Node hours, memory and disk."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for job in programs:
        groups[alike(estimator.study, job)].append(job)
    estimator.prepare(dict.fromkeys(job["wildcards"]["graph"] for job in programs))
    stages = [estimator.stage(group[0]) for group in groups.values()]

    def cost(pair: tuple[Stage, list[dict[str, Any]]]) -> Cost | None:
        stage, group = pair
        return estimator.cost(stage.what, group[0]["wildcards"], stage.ranks, group[0]["threads"])

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        costs = list(pool.map(cost, zip(stages, groups.values())))
    known = [(s, len(g), c) for s, g, c in zip(stages, groups.values(), costs) if c]
    yield from sums(known)
    missing = sum(len(g) for g, c in zip(groups.values(), costs) if not c)
    if missing:
        graphs = [g[0]["wildcards"]["graph"] for g, c in zip(groups.values(), costs) if not c]
        shown = ", ".join(list(dict.fromkeys(graphs))[:NAMES])
        many = "s whose programs" if missing > 1 else " whose program"
        yield f"{'not counted:':12} {missing} job{many} cannot say yet, on {shown}"


def sums(known: list[tuple[Stage, int, Cost]]) -> Iterable[str]:
    """The totals of stages, each with how many alike there are and what one takes."""
    if not known:
        return
    hours: dict[str, float] = defaultdict(float)
    disk: dict[str, int] = defaultdict(int)
    for stage, count, cost in known:
        hours[stage.what] += count * cost[0] * stage.nodes / 3600
        disk[KINDS.get(stage.what, "checks")] += count * cost[2]
    total = sum(hours.values())
    shares = ", ".join(
        f"{what} {duration(3600 * hours[what])}" for what in jobs.ORDER if hours[what] * 3600 >= 1
    )
    hours_text = f"{total:.2g}" if total >= 0.001 else "less than 0.001"
    yield f"{'node hours:':12}{hours_text}" + (f" ({shares})" if shares else "")
    largest = max(known, key=lambda one: one[0].ranks * one[2][1])
    stage, memory = largest[0], largest[0].ranks * largest[2][1]
    on = f" on {stage.ranks} ranks" if stage.ranks > 1 else ""
    yield f"{'memory:':12}{quantity('bytes', memory)} at most, by {stage.name}{on}"
    each = ", ".join(f"{kind} {quantity('bytes', size)}" for kind, size in disk.items())
    yield f"{'disk:':12}{quantity('bytes', sum(disk.values()))} ({each})"
