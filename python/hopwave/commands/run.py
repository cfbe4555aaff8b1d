"""hopwave-study run: makes what is missing of a study, and its report."""

import argparse
import atexit
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from ..study.configuration import Study
    from ..study.machine import Machine

from ..console import closing, events
from ..console.events import Run, Settings
from . import guard
from .base import Place, fail, need, printable, read_config, read_study, use_programs

PROGRAMS = ["generate", "import", "partition", "traverse", "validate"]
PACKAGES = ["snakemake", "pygments", "jsonschema", "h5py", "matplotlib", "pandas"]


def cores(text: str) -> str:
    """What --cores may be: a number from 1 on, or all."""
    if text != "all" and not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"'{text}' is neither a number of processors nor all")
    return text


def add_machine(command: argparse.ArgumentParser) -> None:
    """The options that say where and how Snakemake runs the programs."""
    command.add_argument("--cores", metavar="N", type=cores, help="processors to use; default: all")
    command.add_argument(
        "--profile",
        default="default",
        metavar="PROFILE",
        help="the machine: a folder with a Snakemake profile, or the name of a shipped one",
    )
    command.add_argument("--bin", metavar="DIR", help="where the programs lie; default: PATH")
    # Of what follows --, which main() takes apart.
    command.set_defaults(snakemake=[])


def add(commands: Any) -> None:
    command = commands.add_parser(
        "run",
        help="make what is missing or out of date, and the report",
        description="Makes what is missing or out of date of a study, below results/, and "
        "its report. What follows -- goes to snakemake as it is.",
    )
    command.add_argument(
        "study", nargs="?", metavar="STUDY", help="the study; default: the shipped one"
    )
    command.add_argument("--config", metavar="FILE", help="the same")
    command.add_argument("--directory", default=".", help="where results/ lies; default: here")
    command.add_argument(
        "--max-parts",
        type=int,
        metavar="N",
        help="leave out numbers of parts above N, such as the GPUs that there are",
    )
    command.add_argument(
        "--max-scale",
        type=int,
        metavar="N",
        help="take so much off all scales that the largest is N, leave out graphs of files, and "
        "time each search once",
    )
    command.add_argument("--max-roots", type=int, metavar="N", help="search from N roots at most")
    command.add_argument(
        "--dry-run",
        "-n",
        action="store_true",
        help="only say what would run, and what it would take",
    )
    command.add_argument(
        "--verbose", action="store_true", help="show what Snakemake itself says, instead"
    )
    add_machine(command)
    command.set_defaults(main=main)


def profile_folder(folder: Path, profile: str) -> str:
    """A profile is a folder, or the name of one that comes with the workflow."""
    shipped = folder / "workflow" / "profiles" / profile
    for choice in (Path(profile), shipped):
        if (choice / "config.yaml").is_file() or list(choice.glob("config.v*.yaml")):
            return str(choice)
    known = sorted(p.parent.name for p in shipped.parent.glob("*/config.yaml"))
    fail(
        3,
        f"{profile}: no profile (a folder with config.yaml); shipped are {', '.join(known)}",
    )


def snakemake(
    place: Place, options: argparse.Namespace, config: Path, directory: str | Path
) -> list[str]:
    """The command that runs the workflow on a configuration in a directory."""
    command = [sys.executable, "-m", "snakemake"]
    command += ["--snakefile", str(place.folder / "workflow" / "Snakefile")]
    command += ["--configfile", str(config.resolve())]
    command += ["--directory", str(directory)]
    command += ["--workflow-profile", profile_folder(place.folder, options.profile)]
    # What a job that is cancelled leaves is whole, or is not there.
    command += ["--keep-incomplete"]
    if options.cores:
        command += ["--cores", options.cores]
    return command


def profile_value(command: list[str], key: str) -> Any:
    """What the profile of a command says under a key; None if nothing."""
    folder = Path(command[command.index("--workflow-profile") + 1])
    values = [read_config(file).get(key) for file in folder.glob("config*.yaml")]
    return next(filter(None, values), None)


@dataclass
class Outcome:
    """What became of a run of Snakemake."""

    status: int
    run: Run
    interrupted: bool


def call(
    command: list[str],
    directory: str | Path,
    given: Path | None = None,
    settings: Settings | None = None,
) -> Outcome:
    """Runs Snakemake alone in a folder, clear of what a killed run has left there.

    given      a configuration that is kept in results/, once no other run is at work
    settings   of the console; None: Snakemake prints itself
    """
    slurm = profile_value(command, "executor") == "slurm"
    with guard.alone(directory) as locked:
        if locked:
            guard.clear(directory, slurm)
            command = [*command[:3], "--nolock", *command[3:]]
        if given:
            keep(given, Path(directory) / "results" / "study.yaml")
        if slurm and not profile_value(command, "slurm-jobname-prefix"):
            name = ["--slurm-jobname-prefix", guard.prefix(directory)]
            command = [*command[:3], *name, *command[3:]]
        return watched(command, directory, settings)


def watched(command: list[str], directory: str | Path, settings: Settings | None) -> Outcome:
    """Runs Snakemake with the console of hopwave-study, which it finds as a plugin."""
    if settings is None:
        watch = guard.Watched(directory)
        return Outcome(watch.run(command), Run(), watch.told)
    start = [command[0], "-m", "hopwave.console.start", "--logger", "hopwave"]
    command = [*start, *command[3:]]
    package = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
    environment = {events.SETTINGS: settings.write(), "PYTHONPATH": path}
    watch = guard.Watched(directory, environment, f"{settings.events}.stop")
    status = watch.run(command)
    return Outcome(status, events.read(Path(settings.events)), watch.told)


def main(place: Place, options: argparse.Namespace) -> None:
    need(place, *PACKAGES)
    if options.study and options.config:
        fail(2, f"two studies, {options.study} and --config {options.config}: give one")
    config = Path(options.study or options.config or place.folder / "config" / "study.yaml")
    use_programs(place, options.bin, *PROGRAMS)
    study = read_study(config, options.directory)
    most, given = options.max_parts, config
    cuts = (most, options.max_scale, options.max_roots)
    wanted = read_config(config) if most is None else limited(config, study, most)
    wanted = smaller(wanted, study, options.max_scale, options.max_roots)
    config = as_read(wanted, options.directory)
    if any(cut is not None for cut in cuts):
        study, given = read_study(config, options.directory), config
    command = snakemake(place, options, config, options.directory)
    settings = Settings(
        events=str(config.resolve().with_name("events")),
        verbose=options.verbose,
        methods=len({(s["algorithm"], s["method"]) for s in study.searches.values()}) > 1,
        repeats=study.repeats > 1,
    )
    announce(study, command)
    if options.dry_run:
        plan(command, options, study, settings)
    results = Path(options.directory) / "results"
    report = results / "report.html"
    command += ["--report", str(report.resolve()), "--report-after-run"]
    os.environ.update(HOPWAVE_REPORT="yes", HOPWAVE_COMMIT=commit(place.folder))
    outcome = call(command + options.snakemake, options.directory, given, settings)
    if outcome.status and not outcome.interrupted:
        page_of_failure(study, Path(options.directory))
    finish(outcome, Path(options.directory), report)


def page_of_failure(study: "Study", directory: Path) -> None:
    """Replaces the page of a study of which a check failed by one that says so."""
    from ..page.context import About
    from ..page.index import write_failed
    from ..study.configuration import TREE

    checks = study.checks() if study.config["store"] == "all" else study.files(TREE)
    page = directory / "results" / "index.html"
    try:
        if write_failed(page, [directory / path for path in checks], About(study.title)):
            say(f"page: {page.resolve()}")
    except (OSError, KeyError, ValueError, RuntimeError) as error:
        say(f"{page}: not written: {error}")


def commit(folder: Path) -> str:
    """The commit of a source folder that git keeps, marked where files differ from it; else ""."""
    if not (folder / ".git").exists():
        return ""
    words = [
        "git",
        "-C",
        str(folder),
        "describe",
        "--always",
        "--dirty",
        "--abbrev=12",
        "--exclude=*",
    ]
    try:
        told = subprocess.run(words, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return told.stdout.strip() if told.returncode == 0 else ""


def announce(study: "Study", command: list[str]) -> None:
    """Says what of a study is left out, and where its searches have too few cores."""
    if study.left_out:
        say(f"left out, not there: {', '.join(study.left_out)}")
    for sentence in dict.fromkeys(study.not_run):
        say(f"left out: {sentence}")
    if profile_value(command, "executor") not in (None, "local"):
        return
    cores = len(os.sched_getaffinity(0))
    ranks = max((p["parts"] for p in study.partitions.values()), default=1)
    if ranks > cores and any(s["device"] == "cpu" for s in study.searches.values()):
        say(
            f"searches on up to {ranks} ranks share {cores} core{'s' * (cores != 1)} here: "
            "their times say little of the methods, and the page marks them"
        )


def say(sentence: str) -> None:
    print(f"hopwave-study: {printable(sentence)}", file=sys.stderr, flush=True)


def plan(
    command: list[str], options: argparse.Namespace, study: "Study", settings: Settings
) -> NoReturn:
    """Says what a run would make, and what that would take."""
    from ..console import estimates

    command = [*command, "--dry-run", *options.snakemake]
    outcome = watched(command, options.directory, settings)
    if outcome.interrupted:
        sys.exit(130)
    if outcome.status:
        fail_with(outcome, Path(options.directory))
    machine = read_machine(command)
    for line in estimates.report(study, outcome.run.planned, machine, options.directory):
        print(line)
    sys.exit(0)


def read_machine(command: list[str]) -> "Machine":
    """The machine that the profile of a command describes."""
    from ..study.machine import Machine, MachineError

    settings = (profile_value(command, "config") or {}).get("machine")
    try:
        return Machine(settings, say)
    except MachineError as error:
        fail(3, str(error))


def finish(outcome: Outcome, directory: Path, report: Path) -> NoReturn:
    """Says what came of a run, and ends."""
    if outcome.interrupted:
        say(closing.interrupted(outcome.run))
        sys.exit(130)
    if outcome.status:
        fail_with(outcome, directory)
    results = directory / "results"
    lines = closing.results(results) if outcome.run.total else []
    for line in ["", *lines, ""] if lines else []:
        print(printable(line))
    if not outcome.run.total:
        print("nothing to make: all is there and up to date")
    page = results / "index.html"
    if page.is_file():
        print(f"page: {page.resolve()}")
    print(f"report: {report.resolve()}")
    if (results / "results.csv").is_file():
        print(f"figures: {(results / 'results.csv').resolve()}")
    sys.exit(0)


def fail_with(outcome: Outcome, directory: Path) -> NoReturn:
    """Says why a run failed, the cause last, and ends."""
    run = outcome.run
    say(closing.failed(run) if run.failed else "the study did not run to its end")
    for line in closing.causes(run, directory):
        print(printable(line), file=sys.stderr)
    if not run.failed and not run.errors:
        say(f"Snakemake ended with status {outcome.status}; --verbose shows what it says")
    sys.exit(outcome.status if outcome.status > 0 else 1)


def named(
    entries: Iterable[dict[str, Any]], kind: str, names: set[str]
) -> Iterator[dict[str, Any]]:
    """Those of layouts, methods or figures that are not for other graphs (or layouts, the
    kind) alone."""
    for entry in entries:
        wanted = entry.get(kind, names)
        kept = [name for name in wanted if name in names]
        if kept:
            yield {**entry, kind: kept} if kind in entry else entry


def limited(config: Path, study: "Study", most: int) -> Any:
    """A configuration without numbers of parts above the most, nor what has no
    others. study: what it means."""
    from ..study.configuration import label_of

    if most < 1:
        fail(2, f"--max-parts: {most} is no number of parts")
    changed, graphs, left_out = read_config(config), [], []
    for graph in changed["graphs"]:
        parts = graph.get("parts", study.config["parts"])
        fitting = [number for number in parts if number <= most]
        if fitting:
            graphs.append({**graph, "parts": fitting})
        if len(fitting) < len(parts):
            more = " and ".join(str(number) for number in parts if number > most)
            left_out.append(f"{label_of(graph)} on {more}")
    if not graphs:
        fail(3, f"{config}: --max-parts {most} leaves no number of parts")
    if left_out:
        print(
            f"hopwave-study: left out, of more parts than {most}: {', '.join(left_out)}",
            file=sys.stderr,
        )
    changed.pop("parts", None)
    return {**only(changed, graphs), "cut": 1}


def only(config: Any, graphs: list[dict[str, Any]]) -> Any:
    """A configuration with these graphs, without what is for others alone."""
    from ..study.configuration import label_of, layout_label

    changed, names = {**config, "graphs": graphs}, {label_of(graph) for graph in graphs}
    for kind in ("layouts", "methods", "figures"):
        if kind in changed:
            changed[kind] = list(named(changed[kind], "graphs", names))
    if "methods" in changed and "layouts" in changed:
        labels = {layout_label(layout) for layout in changed["layouts"]}
        changed["methods"] = list(named(changed["methods"], "layouts", labels))
    return changed


def smaller(config: Any, study: "Study", scale: int | None, roots: int | None) -> Any:
    """A configuration on smaller graphs, from fewer roots. study: what it meant whole."""
    if scale is None and roots is None:
        return config
    if scale is not None:
        scales = [s for graph in config["graphs"] for s in graph.get("scales", [])]
        off = max(0, max(scales, default=0) - scale)
        if not scales or min(scales) - off < 1:
            fail(2, f"--max-scale: {scale} leaves no scale above 0")
        graphs = [
            {**graph, "scales": [s - off for s in graph["scales"]], "roots": anywhere(graph, study)}
            for graph in config["graphs"]
            if "scales" in graph
        ]
        config = {**only(config, graphs), "repeats": 1, "enqueue_millions": 1}
    if roots is not None:
        if roots < 1:
            fail(2, f"--max-roots: {roots} is no number of roots")
        config = {**config, "graphs": [with_roots(g, study, roots) for g in config["graphs"]]}
    return {**config, "cut": 1}


def anywhere(graph: dict[str, Any], study: "Study") -> dict[str, Any]:
    """The roots of a graph, of components of any size: small graphs have no large ones."""
    return {**study.config["roots"], **graph.get("roots", {}), "min_component": 1}


def with_roots(graph: dict[str, Any], study: "Study", most: int) -> dict[str, Any]:
    """A graph that is searched from so many roots at most."""
    given = {**study.config["roots"], **graph.get("roots", {})}
    return {**graph, "roots": {**given, "count": min(most, given["count"])}}


def as_read(config: Any, directory: str | Path) -> Any:
    """A file with a configuration for Snakemake, whose own reader would take dates for no
    texts. It lies where the jobs of a cluster see it too."""
    import yaml

    folder = Path(directory) / ".snakemake"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = Path(mkdtemp(prefix="config-", dir=folder)) / "study.yaml"
        atexit.register(shutil.rmtree, path.parent, ignore_errors=True)
        text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        fail(4, f"{error.filename or folder}: {error.strerror}")
    return path


def keep(config: Path, copy: Path) -> None:
    """Keeps the configuration beside what is made from it."""
    try:
        copy.parent.mkdir(parents=True, exist_ok=True)
        if config.resolve() != copy.resolve():
            shutil.copyfile(config, copy)
    except OSError as error:
        fail(4, f"{copy}: {error.strerror}")
