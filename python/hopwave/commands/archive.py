"""hopwave-study archive: a study as one folder or tar file that stands alone."""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import distributions, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..study.configuration import Study

from . import base
from .base import Place, fail, need, read_study, use_programs

PACKAGES = ["jsonschema", "h5py", "pandas", "rocrate", "bagit"]
# Of results/, beside the files that the configuration names.
BESIDE = [
    "index.html",
    "columns.csv",
    "gate.csv",
    "results.csv",
    "claims.json",
    "claims.csv",
    "paper.csv",
    "report.html",
]
BESIDE += ["degrees.csv", "enqueue.csv", "tables", "plots", "logs"]
NEEDED = ["results/gate.csv", "results/results.csv"]
PACKED = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz")
LARGE = ["graph", "partition", "tree"]
README = """# {title}

An archive of a study of graph searches, made by hopwave-study {version}.

| | |
|---|---|
| study.yaml | the configuration, as the workflow can run it here |
| as-given.yaml | the same as its author wrote it |
| inputs/ | files that graphs were imported from |
| results/ | graphs, trees, checks (HDF5), tables, plots, report, logs |
| files.csv | each HDF5 file: digests, what it was made from, by which command; `kept` is 0 for those left out, such as partitions |
| searches.csv | each search that was timed |
| source/ | the source of the programs |
| workflow/, schemas/, config/ | the workflow as it ran, what files may hold |
| environment/ | versions of all that was used |
| ro-crate-metadata.json | the same as linked data (RO-Crate, Provenance Run Crate) |

HDF5 files hold what they held when they were made, and so have the same digests, but large datasets
are compressed (shuffle and deflate, which every HDF5 library reads), and generated graphs are
recipes: they state the parameters that their edges follow from, and the digest of the edges.

The folder above is a bag (BagIt, RFC 8493): `bagit.py --validate FOLDER`, or
`sha256sum -c manifest-sha256.txt` in it, says whether every byte is as it was.
With Hopwave, `hopwave-study repeat ARCHIVE` checks more, and runs it again.
"""


def add(commands: Any) -> None:
    command = commands.add_parser(
        "archive",
        help="put a study into one folder or tar file that stands alone",
        description="Puts a study that ran into one folder or tar file, with all that is "
        "needed to check it and to run it again. Prints a digest that covers every byte.",
    )
    command.add_argument(
        "--output",
        "-o",
        required=True,
        metavar="ARCHIVE",
        help="a folder, or a file that ends in .tar, .tar.gz or .tar.xz (the smallest, the slowest)",
    )
    command.add_argument(
        "--config", metavar="FILE", help="the study; default: the one that ran there"
    )
    command.add_argument("--directory", default=".", help="where results/ lies; default: here")
    command.add_argument(
        "--without-large",
        action="store_true",
        help="leave out graphs, partitions and trees, which can be made again; their "
        "digests and all measurements stay",
    )
    command.add_argument(
        "--partitions",
        action="store_true",
        help="keep partitions too, which `repeat` makes again otherwise",
    )
    command.add_argument(
        "--edges",
        action="store_true",
        help="keep the edges of generated graphs too, which are recipes otherwise",
    )
    command.add_argument(
        "--narrow",
        action="store_true",
        help="keep parents in the narrowest integers that hold them; digests stay the same",
    )
    command.add_argument(
        "--cores", type=int, metavar="N", help="processors to compress with; default: all"
    )
    command.add_argument(
        "--source",
        metavar="FILE",
        help="the source that the programs were built from; default, in a build folder: "
        "what `make dist` makes",
    )
    command.add_argument("--author", metavar="NAME", help="who made the study")
    command.add_argument(
        "--licence",
        "--license",
        metavar="URL",
        help="under which others may use the archive",
    )
    command.add_argument("--force", action="store_true", help="replace ARCHIVE")
    command.set_defaults(main=main)


def main(place: Place, options: argparse.Namespace) -> None:
    need(place, *PACKAGES)
    # A configuration is read by what hopwave-traverse says of its methods.
    use_programs(place, None)
    from .records import UnreadableError

    folder, output = Path(options.directory), Path(options.output)
    if options.cores is not None and options.cores < 1:
        fail(2, f"--cores: {options.cores} is no number of processors")
    check_output(output, options.force)
    config = Path(options.config or folder / "results" / "study.yaml")
    if not options.config and not config.exists():
        fail(
            3,
            f"{folder}: no study ran here, as there is no results/study.yaml; "
            "go to the folder of a study, or name it with --directory",
        )
    study = read_study(config, folder)
    stage = None
    try:
        stage = Path(tempfile.mkdtemp(prefix=f".{output.name}.tmp-", dir=output.parent))
        seal = Archive(place, options, study, config, stage / "bag").write(output)
    except UnreadableError as error:
        fail(3, str(error))
    except OSError as error:
        fail(4, f"{error.filename or output}: {error.strerror or error}")
    finally:
        if stage:
            shutil.rmtree(stage, ignore_errors=True)
    print(f"archive: {output}")
    print(f"digest:  {seal}")


def check_output(output: Path, force: bool) -> None:
    base.check_output(output, force)
    if output.is_symlink() and output.is_dir():
        fail(4, f"{output}: a link to a folder, which is not replaced")
    if output.is_dir() and not (output / "bagit.txt").is_file():
        fail(4, f"{output}: a folder that is no archive, which is not replaced")
    if not output.resolve().parent.is_dir():
        fail(4, f"{output}: there is no folder {output.parent}")


def link(source: Path, target: Path) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    try:
        os.link(source, target, follow_symlinks=True)
    except OSError:
        shutil.copyfile(source, target)


def copy(source: Path, target: Path) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    shutil.copyfile(source, target)


class Archive:
    """Gathers an archive in a folder and puts it where it belongs."""

    def __init__(
        self, place: Place, options: argparse.Namespace, study: "Study", config: Path, stage: Path
    ) -> None:
        self.place, self.options, self.study = place, options, study
        self.config, self.stage = config, stage
        self.folder = Path(options.directory)
        self.packed = options.output.endswith(PACKED)
        # What is only packed from here needs no second copy on disk.
        self.bring = link if self.packed else copy
        self.inputs: dict[str, str] = {}  # where imported files lie in the archive

    def write(self, output: Path) -> str:
        """Makes the archive and returns its digest."""
        from ..study.configuration import GRAPH
        from . import bag, crate, pack

        self.stage.mkdir()
        table = self.files()
        self.beside()
        self.programs()
        about = {
            "title": self.study.title,
            "version": self.place.version,
            "snakemake": version("snakemake") if has("snakemake") else "",
            "licence": self.options.licence,
            "author": self.options.author,
            "inputs": {
                GRAPH.format(graph=name): self.inputs[graph["file"]]
                for name, graph in self.study.graphs.items()
                if graph["file"]
            },
        }
        text = README.format(title=about["title"], version=about["version"])
        (self.stage / "README.md").write_text(text, encoding="utf-8")
        crate.describe(self.stage, table, about)
        bag.make(self.stage, {"External-Description": self.study.title})
        seal = bag.seal(self.stage)
        self.publish(output, pack)
        return seal

    def files(self) -> Any:
        """The HDF5 files of the study, and the tables that say what they are."""
        from . import bag, records

        made = records.inputs(self.study)
        for path in [*made, *NEEDED]:
            if not (self.folder / path).is_file():
                fail(3, f"{self.folder / path}: missing; `hopwave-study run` makes it")
        table = records.records(self.folder, made)
        if wrong := records.breaks(table):
            fail(1, wrong[0])
        left_out = LARGE if self.options.without_large else ["partition"]
        if self.options.partitions and not self.options.without_large:
            left_out = []
        table["kept"] = 1 - table["kind"].isin(left_out).astype(int)
        self.compress(table["file"][table["kept"] == 1])
        # What is left out was of that size, what is kept is of this one.
        paths = [
            (self.stage if kept else self.folder) / path
            for path, kept in zip(table["file"], table["kept"])
        ]
        table["bytes"] = [path.stat().st_size for path in paths]
        table["sha256"] = [bag.digest(path) for path in paths]
        table.to_csv(self.stage / "files.csv", index=False)
        trees = table["file"][table["kind"] == "tree"]
        searches = records.searches(self.folder, trees)
        searches.to_csv(self.stage / "searches.csv", index=False)
        return table

    def compress(self, paths: Any) -> None:
        """Brings HDF5 files, their content compressed."""
        from .shrink import Copy, shrink_all

        jobs = [
            Copy(self.folder / path, self.stage / path, not self.options.edges, self.options.narrow)
            for path in paths
        ]
        shrink_all(jobs, self.options.cores or len(os.sched_getaffinity(0)))

    def beside(self) -> None:
        """Configuration, inputs, tables, plots, report and logs."""
        import yaml

        copy(self.config, self.stage / "as-given.yaml")
        config = json.loads(json.dumps(self.study.config))
        config["graphs"] = [graph for graph in map(self.graph, config["graphs"]) if graph]
        text = yaml.safe_dump(config, sort_keys=False, allow_unicode=True)
        (self.stage / "study.yaml").write_text(text, encoding="utf-8")
        for name in BESIDE:
            path = self.folder / "results" / name
            files = [path] if path.is_file() else path.rglob("*")
            for file in files:
                if file.is_file():
                    copy(file, self.stage / file.relative_to(self.folder))

    def graph(self, entry: dict[str, Any]) -> dict[str, Any] | None:
        """An entry of `graphs` whose file lies in the archive, or None without a file."""
        if "file" not in entry:
            return entry
        source = self.folder / entry["file"]
        if not source.is_file():
            return None
        copied = f"inputs/{entry['name']}/{source.name}"
        self.inputs[entry["file"]] = copied
        entry["file"] = copied
        if not (self.stage / entry["file"]).exists():
            self.bring(source, self.stage / entry["file"])
        return entry

    def programs(self) -> None:
        """Source, workflow, schemas, and the versions of what ran."""
        for name in ("python", "workflow", "schemas", "config"):
            # Copied one by one, as those of an installation may be read-only.
            for path in (self.place.folder / name).rglob("*"):
                if path.is_file() and path.suffix not in (".pyc", ".mk"):
                    copy(path, self.stage / path.relative_to(self.place.folder))
        environment = self.stage / "environment"
        environment.mkdir()
        packages = {f"{d.metadata['Name']}=={d.version}" for d in distributions()}
        (environment / "python.txt").write_text("\n".join(sorted(packages)) + "\n")
        machine = {
            "hopwave": self.place.version,
            "python": sys.version,
            "system": " ".join(platform.uname()),
            "processor": processor(),
        }
        (environment / "archived-on.json").write_text(json.dumps(machine, indent=1) + "\n")
        self.source()

    def source(self) -> None:
        """The source as `make dist` packs it, or what the user names."""
        (self.stage / "source").mkdir()
        path = self.options.source and Path(self.options.source)
        if not path and self.place.building:
            path = self.dist()
        if path and path.is_file():
            copy(path, self.stage / "source" / path.name)
        elif path:
            fail(3, f"{path}: no such file")
        else:
            note = "an installed hopwave-study has no source: name its tarball with --source"
            print(f"hopwave-study: {note}", file=sys.stderr)

    def dist(self) -> Path:
        """Has the build folder pack its source."""
        command = ["make", "-s", "-C", str(self.place.here), "dist"]
        done = subprocess.run(command, capture_output=True, text=True)
        made = sorted(self.place.here.glob(f"hopwave-{self.place.version}.tar.*"))
        if done.returncode or not made:
            last = (done.stderr.strip().splitlines() or ["it made nothing"])[-1]
            fail(4, f"make dist: {last}; name a source tarball with --source")
        return made[0]

    def publish(self, output: Path, pack: Any) -> None:
        """Puts the bag where it belongs, under its name once it is whole."""
        result = self.stage
        if self.packed:
            result = self.stage.parent / output.name
            pack.pack(self.stage, result, output.name.split(".t")[0] or "study")
        if output.is_dir() and not output.is_symlink():
            shutil.rmtree(output)
        os.replace(result, output)


def has(package: str) -> bool:
    return any(d.metadata["Name"] == package for d in distributions())


def processor() -> str:
    """The processor as Linux calls it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{len(models)} x {models[0]}" if models else platform.machine()
