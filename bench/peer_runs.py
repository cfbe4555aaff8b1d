"""Runs programs of others and Hopwave on the same graphs from the same roots; checks all answers.

doc/peers.md says what is run, timed and checked, and how each program is built.
"""

import argparse
import datetime
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np

from bench_graphs import (
    BenchError,
    Graph,
    Searches,
    Table,
    fail,
    harmonic_teps,
    hopwave,
    last_line,
    machine,
    make_graph,
    medians,
    run_limited,
    search,
)
from graph500_roots import reference_roots
from peer_formats import Converter

UNREACHED = -1
COLUMNS = ["graph", "program", "how", "roots", "mean ms", "GTEPS", "time / Hopwave", "checked"]


@dataclass
class Answer:
    """What a program says of its searches from one root. None: it does not say."""

    root: int
    seconds: list[float] = field(default_factory=list)
    verified: list[bool] = field(default_factory=list)  # by the program itself
    reached: int | None = None
    depth: tuple[int, ...] | None = None  # the greatest level or distance is one of these
    values: np.ndarray | None = None  # [vertices] levels or distances, UNREACHED


@dataclass
class Job:
    """One graph and one algorithm: what a program is run with."""

    graph: Graph
    algorithm: str
    directed: bool
    roots: list[int]
    edges: list[int]  # input tuples in the component of each root
    expected: np.ndarray  # [roots, vertices] levels or distances, UNREACHED
    converter: Converter
    folder: Path  # programs run here
    threads: int
    repeats: int
    limit: float
    deltas: list[int]

    def expected_of(self, root: int) -> np.ndarray:
        return self.expected[self.roots.index(root)]


# One way to run a program: a name for the table, and options.
Tuning = tuple[str, list[str]]


@dataclass(frozen=True)
class Peer:
    """A program of others. command and parse see one root, or all of them if batch is set."""

    name: str
    program: Callable[[Job, Path], Path]  # in the folder of the built programs
    command: Callable[[Job, Path, list[int], list[str]], list[str]]
    parse: Callable[[Job, list[int], str], list[Answer]]
    algorithms: tuple[str, ...] = ("bfs", "sssp")
    tunings: Callable[[Job], list[Tuning]] = lambda job: [("", [])]
    batch: bool = False
    cannot: Callable[[Job], str] = lambda job: ""  # why it cannot do a job
    teps: Callable[[str], float] | None = None  # its own figure, of its own roots


def run_program(job: Job, command: list[str], where: str) -> str:
    """The standard output of a program; BenchError with a message if it is not there, crashes or
    hangs. where: " from root 3", for the message."""
    if not os.access(command[0], os.X_OK):
        raise BenchError(f"not run: {command[0]} is not there")
    environment = os.environ | {
        "OMP_NUM_THREADS": str(job.threads),
        "PARLAY_NUM_THREADS": str(job.threads),
        "HOPWAVE_ANSWERS": str(job.folder),
    }
    # What another program left is no answer of this one.
    for left in job.folder.glob("*.i32"):
        left.unlink()
    done = run_limited(command, job.limit, where, job.folder, environment)
    if done.returncode:
        how = (
            f"was ended by signal {-done.returncode}"
            if done.returncode < 0
            else f"ended with status {done.returncode}"
        )
        said = last_line(done.stderr) or last_line(done.stdout)
        raise BenchError(f"{how}{where}" + (f": {said}" if said else ""))
    return done.stdout


def written_values(job: Job, root: int) -> np.ndarray | None:
    """Levels or distances that a program left as ROOT.i32: doc/peers.md."""
    path = job.folder / f"{root}.i32"
    if not path.exists():
        return None
    values = np.fromfile(path, np.int32).astype(np.int64)
    path.unlink()
    values[values < 0] = UNREACHED
    return values


def compare_values(values: np.ndarray, expected: np.ndarray, what: str) -> str:
    """Where levels or distances differ, in words; "" if nowhere."""
    if len(values) != len(expected):
        return f"it has {len(values)} vertices, {len(expected)} are right"
    wrong = np.flatnonzero(values != expected)
    if len(wrong) == 0:
        return ""
    vertex = int(wrong[0])

    def word(value: int) -> str:
        return "none" if value == UNREACHED else str(value)

    return (
        f"vertex {vertex} has {what} {word(int(values[vertex]))}, {word(int(expected[vertex]))} "
        f"is right ({len(wrong)} vert{'ex is' if len(wrong) == 1 else 'ices are'} wrong)"
    )


def check(job: Job, answer: Answer) -> set[str]:
    """What the answer was checked by. BenchError with a message if it is wrong, or if there is
    nothing to check it by."""
    where = f" from root {answer.root}"
    if not answer.seconds:
        raise BenchError(f"printed no time{where}")
    expected = job.expected_of(answer.root)
    what = "level" if job.algorithm == "bfs" else "distance"
    by: set[str] = set()
    if answer.verified:
        if not all(answer.verified):
            raise BenchError(f"wrong answer{where}: its own check says so")
        by.add("its own check")
    if answer.reached is not None:
        right = int(np.count_nonzero(expected != UNREACHED))
        if answer.reached != right:
            raise BenchError(
                f"wrong answer{where}: it reaches {answer.reached} vertices, {right} are right"
            )
        by.add("reached")
    if answer.depth is not None:
        if int(expected.max()) not in answer.depth:
            raise BenchError(
                f"wrong answer{where}: its greatest {what} is {answer.depth[0]}, "
                f"{int(expected.max())} is right"
            )
        by.add(f"greatest {what}")
    values = written_values(job, answer.root) if answer.values is None else answer.values
    if values is not None:
        differs = compare_values(values, expected, what)
        if differs:
            raise BenchError(f"wrong answer{where}: {differs}")
        by.add(f"all {what}s")
    if not by:
        raise BenchError(f"printed nothing to check its answer by{where}")
    return by


def run_roots(
    job: Job, peer: Peer, folder: Path, roots: list[int], options: list[str]
) -> Iterator[Answer]:
    """Answers of a program, root by root."""
    for group in [roots] if peer.batch else [[root] for root in roots]:
        where = "" if peer.batch else f" from root {group[0]}"
        out = run_program(job, peer.command(job, folder, group, options), where)
        answers = {answer.root: answer for answer in peer.parse(job, group, out)}
        for root in group:
            yield answers.get(root, Answer(root))


def fastest_tuning(job: Job, peer: Peer, folder: Path) -> Tuning:
    """The way that is fastest from the first root; the first way if all fail there."""
    ways = peer.tunings(job)
    if len(ways) == 1:
        return ways[0]
    best, least = ways[0], float("inf")
    for way in ways:
        try:
            answers = list(run_roots(job, peer, folder, job.roots[:1], way[1]))
            check(job, answers[0])
        except BenchError:
            continue
        seconds = float(np.median(answers[0].seconds))
        if seconds < least:
            best, least = way, seconds
    return best


@dataclass
class Outcome:
    """What came of a program: seconds of each root, or a message in their place."""

    name: str
    how: str = ""
    seconds: list[float] = field(default_factory=list)
    by: str = ""  # what the answers were checked by
    teps: float = 0  # of its own roots
    message: str = ""


def measure_peer(job: Job, peer: Peer, folder: Path) -> Outcome:
    """Runs a program from all roots and checks its answers."""
    outcome = Outcome(peer.name)
    try:
        refusal = peer.cannot(job)
        if refusal:
            raise BenchError(f"not run: {refusal}")
        program = peer.program(job, folder)
        if not os.access(program, os.X_OK):
            raise BenchError(f"not run: {program} is not there")
        if peer.teps:
            out = run_program(job, peer.command(job, folder, job.roots, []), "")
            outcome.teps, outcome.by = peer.teps(out), "its own check"
            return outcome
        outcome.how, options = fastest_tuning(job, peer, folder)
        by: set[str] = set()
        for answer in run_roots(job, peer, folder, job.roots, options):
            by |= check(job, answer)
            outcome.seconds.append(float(np.median(answer.seconds)))
        outcome.by = ", ".join(sorted(by))
    except BenchError as error:
        outcome.message = str(error)
    return outcome


def add_row(table: Table, job: Job, outcome: Outcome, base: float) -> None:
    """base: mean seconds of Hopwave; 0 if unknown."""
    name, how, seconds = outcome.name, outcome.how, outcome.seconds
    if outcome.message:
        table.add(job.graph.name, name, how, outcome.message)
        return
    if outcome.teps:
        teps = f"{outcome.teps / 1e9:.4g}"
        table.add(job.graph.name, name, "its 64 roots", "64", "", teps, "", outcome.by)
        return
    mean = float(np.mean(seconds))
    teps = f"{harmonic_teps(job.edges, seconds) / 1e9:.4g}"
    ratio = f"{mean / base:.2f}" if base else ""
    table.add(
        job.graph.name, name, how, str(len(seconds)), f"{mean * 1e3:.4g}", teps, ratio, outcome.by
    )


# ---- Hopwave ----


@dataclass(frozen=True)
class Setting:
    """RANKSxTHREADS[:OPTIONS]: one way to run Hopwave."""

    text: str
    ranks: int
    threads: int
    options: list[str]


def parse_setting(text: str) -> Setting:
    size, _, options = text.partition(":")
    ranks, _, threads = size.partition("x")
    if not (ranks.isdigit() and threads.isdigit() and int(ranks) and int(threads)):
        raise BenchError(f"--hopwave {text}: not RANKSxTHREADS[:OPTIONS]")
    return Setting(text, int(ranks), int(threads), options.split())


class Hopwave:
    """Hopwave's searches of a job: answers once, times as often as asked for."""

    def __init__(
        self, graph: Graph, algorithm: str, roots: list[str], device: str, settings: list[Setting]
    ) -> None:
        self.graph, self.algorithm, self.roots = graph, algorithm, roots
        self.device, self.settings = device, settings
        self.times: dict[str, list[list[float]]] = {setting.text: [] for setting in settings}
        self.methods: dict[str, str] = {}
        self.failures: dict[str, str] = {}

    def answers(self, folder: Path) -> tuple[Searches, np.ndarray]:
        """Validated searches, and their levels or distances."""
        setting = self.settings[0]
        found = self.run(setting, folder, ["--store=all", "--check"], 1)
        assert found.trees
        with h5py.File(found.trees) as file:
            values = file["level" if self.algorithm == "bfs" else "distance"][()]
            parents = file["parent"][()]
        return found, np.where(parents >= 0, values, UNREACHED).astype(np.int64)

    def run(self, setting: Setting, folder: Path, more: list[str], ranks: int) -> Searches:
        layout = [] if ranks == 1 else setting.options
        if not any(option.startswith("--layout") for option in layout):
            layout = [*layout, "--layout=1d"]
        if ranks > 1 and not any(option.startswith(("--parts", "--grid")) for option in layout):
            layout = [*layout, f"--parts={ranks}"]
        options = [*self.roots, f"--threads={setting.threads}", f"--device={self.device}"]
        return search(
            self.graph.file, self.algorithm, [*options, *layout, *more], folder / "t.h5", ranks
        )

    def measure(self, folder: Path) -> None:
        """One run of each setting."""
        for setting in self.settings:
            if setting.text in self.failures:
                continue
            try:
                more = setting.options if setting.ranks == 1 else []
                found = self.run(setting, folder, ["--store=none", *more], setting.ranks)
            except BenchError as error:
                self.failures[setting.text] = str(error)
                continue
            self.times[setting.text].append(found.seconds)
            self.methods[setting.text] = str(found.run["method"])

    def base(self) -> float:
        """Mean seconds of the first setting."""
        times = self.times[self.settings[0].text]
        return float(np.mean(medians(times))) if times else 0.0

    def outcomes(self) -> list[Outcome]:
        found = []
        for setting in self.settings:
            text = setting.text
            message = self.failures.get(text, "")
            how = text if message else f"{text}, {self.methods[text]}"
            seconds = [] if message else medians(self.times[text])
            found.append(Outcome("Hopwave", how, seconds, "all rules of Graph500", 0, message))
        return found


# ---- the command ----


def parse_options(
    description: str, peers: dict[str, list[Peer]], hopwave_default: str
) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "graphs", nargs="+", metavar="GRAPH", help="a file, or KIND:SCALE[:EDGE_FACTOR]"
    )
    for key, members in peers.items():
        parser.add_argument(
            f"--{key}", type=Path, metavar="DIR", help=f"built programs of {members[0].name}"
        )
    parser.add_argument("--algorithm", choices=["bfs", "sssp"], default="bfs")
    parser.add_argument(
        "--weights", default="", metavar="KIND", help="sssp: of graphs made here (integer:1:255)"
    )
    parser.add_argument("--roots", type=int, default=16, help="searches on each graph (16)")
    parser.add_argument(
        "--repeats", type=int, default=3, help="of each search, the median counts (3)"
    )
    parser.add_argument("--limit", type=float, default=600, help="seconds for one process (600)")
    parser.add_argument(
        "--deltas",
        type=lambda text: [int(delta) for delta in text.split()],
        default="1 2 4 8 16 32 64 128 512 2048 8192 32768",
        help="widths of buckets that programs are tried with",
    )
    parser.add_argument(
        "--hopwave",
        action="append",
        metavar="RxT[:OPTIONS]",
        help=f"ranks, threads and options of hopwave-traverse; may be repeated ({hopwave_default})",
    )
    parser.add_argument("--cores", default="", help="cores that all programs are bound to")
    parser.add_argument("--work", type=Path, help="folder that keeps the converted graphs")
    parser.add_argument("-o", "--output", type=Path, help="writes the table, tab-separated, too")
    return parser.parse_args()


@contextmanager
def work_folder(given: Path | None) -> Iterator[Path]:
    if given:
        given.mkdir(parents=True, exist_ok=True)
        yield given.resolve()
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)


def root_options(graph: Graph, roots: int, folder: Path) -> list[str]:
    """Options that name the roots: of graph500 those of the reference, else a sample."""
    if graph.kind != "graph500":
        return [f"--roots={roots}"]
    path = folder / "roots"
    path.write_text("\n".join(map(str, reference_roots(graph.file, roots))) + "\n")
    return [f"--root-list={path}"]


def about(graph: Path) -> tuple[bool, str]:
    """Whether a graph is directed, and its digest in short, which a recipe may lack."""
    with h5py.File(graph) as file:
        digest = file.attrs.get("digest", b"").decode()
        return bool(file.attrs["directed"]), digest.rpartition(":")[2][:16]


def compare_graph(
    spec: str,
    options: argparse.Namespace,
    settings: list[Setting],
    chosen: list[tuple[Peer, Path]],
    device: str,
    table: Table,
) -> bool:
    """All rows of one graph; whether all programs ran and all answers were right."""
    weights = options.weights or ("none" if options.algorithm == "bfs" else "integer:1:255")
    with work_folder(options.work) as work:
        graph = make_graph(spec, weights, work)
        directed, digest = about(graph.file)
        # Other weights, or a file that is made anew, are another graph of the same name.
        folder = work / "-".join([graph.name, options.algorithm, digest]).rstrip("-")
        folder.mkdir(exist_ok=True)
        own = Hopwave(
            graph, options.algorithm, root_options(graph, options.roots, folder), device, settings
        )
        found, expected = own.answers(folder)
        job = Job(
            graph,
            options.algorithm,
            directed,
            found.roots,
            found.edges,
            expected,
            Converter(graph.file, options.algorithm == "sssp", folder),
            folder,
            settings[0].threads,
            options.repeats,
            options.limit,
            options.deltas,
        )
        own.measure(folder)
        outcomes = []
        for peer, programs in chosen:
            outcomes.append(measure_peer(job, peer, programs))
            own.measure(folder)
        while len(own.times[settings[0].text]) < options.repeats and not own.failures:
            own.measure(folder)
        outcomes = own.outcomes() + outcomes
        for outcome in outcomes:
            add_row(table, job, outcome, own.base())
        return not any(outcome.message for outcome in outcomes)


def compare(
    program: str, description: str, peers: dict[str, list[Peer]], device: str, setting: str
) -> int:
    """The command: compares and prints the table. Exit status 0; 1 if a program did not run or an
    answer was wrong; 2 for wrong options, or where Hopwave failed, with what was measured before.
    """
    options = parse_options(description, peers, setting)
    options.hopwave = options.hopwave or [setting]
    chosen = [
        (peer, getattr(options, key.replace("-", "_")).resolve())
        for key, members in peers.items()
        if getattr(options, key.replace("-", "_"))
        for peer in members
        if options.algorithm in peer.algorithms
    ]
    table = Table(COLUMNS)
    status = 0
    try:
        settings = [parse_setting(text) for text in options.hopwave]
        if options.cores:
            bind(options.cores)
        when = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M")
        print(f"{options.algorithm}, {when} UTC, {machine(device == 'cuda')}", flush=True)
        for spec in options.graphs:
            if not compare_graph(spec, options, settings, chosen, device, table):
                status = 1
    except BenchError as error:
        status = fail(program, str(error))
    if not table.rows:
        return status
    print(table.text())
    if options.output:
        options.output.write_text(table.tsv(), encoding="utf-8")
    return status


def bind(text: str) -> None:
    """Binds this process, and so all programs, to the cores of a list such as 0-3,8."""
    cores: set[int] = set()
    try:
        for part in text.split(","):
            first, _, last = part.partition("-")
            cores |= set(range(int(first), int(last or first) + 1))
        os.sched_setaffinity(0, cores)
    except ValueError:
        raise BenchError(f"--cores {text}: not a list such as 0-3,8") from None
    except OSError:
        raise BenchError(f"--cores {text}: none of these is there") from None
