"""The description of an archive as an RO-Crate, by the profile Provenance Run Crate: the
workflow, its steps, and for each file the run that made it and from what."""

import mimetypes
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rocrate.model.computerlanguage import ComputerLanguage
from rocrate.model.contextentity import ContextEntity
from rocrate.model.file import File
from rocrate.rocrate import ROCrate

if TYPE_CHECKING:
    import pandas

Row = dict[Any, Any]  # of the table of files

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/ro/wfrun/provenance/0.5": "Provenance Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
STEPS = ["generate", "import", "partition", "traverse", "validate"]
WORKFLOW = "workflow/Snakefile"
WORKFLOW_TYPES = ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"]
CONFIG = "study.yaml"
RESULTS = ["results/results.csv", "results/index.html", "results/report.html", "results/gate.csv"]
HDF5 = "application/x-hdf5"
# What files say of the machine that made them: columns of files.csv, in words.
MACHINE = {
    "processor": "processor",
    "sockets": "sockets",
    "cores": "cores of a node",
    "memory": "memory of a node in bytes",
    "gpus": "GPUs of a node",
    "network": "network",
    "mpi": "MPI",
    "hdf5": "HDF5",
    "compiler": "compiler",
}


def describe(folder: Path, table: "pandas.DataFrame", about: Mapping[str, Any]) -> None:
    """Writes ro-crate-metadata.json into a folder that holds all else of an archive.

    table   a row for each HDF5 file of the study, kept or left out
    about   "title", "version", "snakemake", "licence", "author", "inputs" (files that
            graphs were imported from, by the graph)
    """
    crate = ROCrate(gen_preview=False, version="1.1")
    Writer(crate, folder, table, about).write()
    crate.metadata.write(folder)


def worded(value: Any) -> str:
    """A value of a table; whole numbers without a point."""
    return f"{value:.0f}" if isinstance(value, float) else str(value)


class Writer:
    """Fills a crate."""

    def __init__(
        self, crate: Any, folder: Path, table: "pandas.DataFrame", about: Mapping[str, Any]
    ) -> None:
        self.crate, self.folder, self.table, self.about = crate, folder, table, about
        self.entities: dict[str, Any] = {}
        self.runs: list[Any] = []
        self.machines: dict[tuple[str, ...], Any] = {}

    def add(self, identifier: str, kind: str, /, **properties: Any) -> Any:
        """A contextual entity. Lists of one are values."""
        single = (key for key, v in properties.items() if isinstance(v, list) and len(v) == 1)
        properties |= {key: properties[key][0] for key in list(single)}
        properties = {"@type": kind, **properties}
        return self.crate.add(ContextEntity(self.crate, identifier, properties))

    def write(self) -> None:
        self.files()
        self.root()
        self.workflow()
        runs = [self.step_run(row) for row in self.table.to_dict("records")]
        self.whole_run(runs)

    def files(self) -> None:
        """All files that are there, and those that are not."""
        hdf5 = {row["file"]: row for row in self.table.to_dict("records")}
        for path in sorted(p for p in self.folder.rglob("*") if p.is_file()):
            name = path.relative_to(self.folder).as_posix()
            properties: dict[str, Any] = {
                "name": Path(name).name,
                "contentSize": str(path.stat().st_size),
            }
            if kind := HDF5 if name in hdf5 else mimetypes.guess_type(name)[0]:
                properties["encodingFormat"] = kind
            if name in hdf5:
                properties |= self.digests(hdf5[name])
            if name == WORKFLOW:
                properties |= {"@type": WORKFLOW_TYPES, "name": "Hopwave's workflow"}
                properties["version"] = self.about["version"]
            file = File(self.crate, path, name, properties=properties)
            self.entities[name] = self.crate.add(file)
        for name, row in hdf5.items():
            if not row["kept"]:
                self.entities[name] = self.left_out(name, row)

    @staticmethod
    def digests(row: Row) -> Row:
        return {"sha256": row["sha256"], "identifier": row["digest"] or row["file"]}

    def left_out(self, name: str, row: Row) -> Any:
        """A file that can be made again."""
        return self.add(
            f"#{name}",
            "CreativeWork",
            name=name,
            contentSize=str(row["bytes"]),
            encodingFormat=HDF5,
            description="Left out of the archive; `hopwave-study repeat` makes it again.",
            **self.digests(row),
        )

    def root(self) -> None:
        root = self.crate.root_dataset
        root["name"] = self.about["title"]
        root["description"] = (
            f"A study of graph searches by Hopwave {self.about['version']}: configuration, "
            "workflow, source, graphs, search results, checks, measurements and report."
        )
        root["license"] = self.licence()
        root["conformsTo"] = [
            self.add(uri, "CreativeWork", name=name, version=uri.rsplit("/", 1)[1])
            for uri, name in PROFILES.items()
        ]
        if self.about["author"]:
            root["author"] = self.add("#author", "Person", name=self.about["author"])

    def licence(self) -> Any:
        licence = self.about["licence"]
        if licence and "://" in licence:
            return self.add(licence, "CreativeWork", name=licence)
        text = licence or "No licence is stated; ask whoever made the archive."
        return self.add("#licence", "CreativeWork", name=text, description=text)

    def workflow(self) -> None:
        """The workflow, the programs that it runs and the steps in which it does."""
        workflow = self.entities[WORKFLOW]
        language = ComputerLanguage(
            self.crate,
            "#snakemake-language",
            {
                "name": "Snakemake",
                "identifier": {"@id": "https://snakemake.readthedocs.io"},
                "url": {"@id": "https://snakemake.readthedocs.io"},
                "version": self.about["snakemake"],
            },
        )
        workflow["programmingLanguage"] = self.crate.add(language)
        self.tools, self.steps = {}, {}
        used = set(self.table["program"])
        steps = [step for step in STEPS if f"hopwave-{step}" in used]
        for position, step in enumerate(steps):
            tool = self.add(
                f"#hopwave-{step}",
                "SoftwareApplication",
                name=f"hopwave-{step}",
                softwareVersion=self.about["version"],
                description=f"The program of the step {step}.",
            )
            self.tools[step] = tool
            self.steps[step] = self.add(
                f"{WORKFLOW}#{step}",
                "HowToStep",
                name=step,
                position=position,
                workExample=tool,
            )
        workflow["hasPart"] = list(self.tools.values())
        workflow["step"] = list(self.steps.values())
        workflow["input"] = self.parameter("study", CONFIG)
        outputs = [name for name in RESULTS if name in self.entities]
        workflow["output"] = [self.parameter(Path(n).stem, n) for n in outputs]
        self.crate.mainEntity = workflow

    def parameter(self, name: str, file: str) -> Any:
        return self.add(
            f"#parameter-{name}",
            "FormalParameter",
            name=name,
            additionalType="File",
            workExample=self.entities[file],
        )

    def action(self, identifier: str, kind: str, rows: list[Row], /, **properties: Any) -> Any:
        """A run of something, from its first start to its last end."""
        return self.add(
            identifier,
            kind,
            startTime=min(row["started"] for row in rows).replace("Z", "+00:00"),
            endTime=max(row["ended"] for row in rows).replace("Z", "+00:00"),
            **properties,
        )

    def machine(self, row: Row) -> Any:
        """The machine that made a file, as a place with properties; one for all files of it."""
        known = {column: row.get(column) for column in MACHINE}
        key = tuple(str(value) for value in known.values())
        if key not in self.machines:
            name = f"#machine-{len(self.machines) + 1}"
            told = {c: v for c, v in known.items() if v is not None and v == v and v != ""}
            properties = [
                self.add(
                    f"{name}-{column}", "PropertyValue", name=MACHINE[column], value=worded(value)
                )
                for column, value in told.items()
            ]
            words = worded(told.get("processor", "a machine that is not described"))
            more = {"additionalProperty": properties} if properties else {}
            self.machines[key] = self.add(name, "Place", name=words, **more)
        return self.machines[key]

    def step_run(self, row: Row) -> Any:
        """The run of a program that made one file, and that of its step."""
        step, name = row["program"].removeprefix("hopwave-"), row["file"]
        before = [self.entities[path] for path in row["inputs"].split()]
        run = self.action(
            f"#run-{name}",
            "CreateAction",
            [row],
            name=f"{row['program']} made {name}",
            description=row["command"],
            instrument=self.tools[step],
            object=before or [self.entities[self.about["inputs"].get(name, CONFIG)]],
            result=[self.entities[name]],
            location=self.machine(row),
            actionStatus={"@id": "http://schema.org/CompletedActionStatus"},
        )
        self.runs.append(run)
        return self.action(
            f"#step-{name}",
            "ControlAction",
            [row],
            name=f"Step {step} for {name}",
            instrument=self.steps[step],
            object=run,
        )

    def whole_run(self, step_runs: list[Any]) -> None:
        rows = self.table.to_dict("records")
        results = [self.entities[name] for name in RESULTS if name in self.entities]
        run = self.action(
            "#run",
            "CreateAction",
            rows,
            name=f"Run of {self.about['title']}",
            description="All steps of the study; startTime is that of its oldest file.",
            instrument=self.crate.mainEntity,
            object=[self.entities[CONFIG]],
            result=results + [self.entities[row["file"]] for row in rows],
            actionStatus={"@id": "http://schema.org/CompletedActionStatus"},
        )
        engine = self.add(
            "#snakemake",
            "SoftwareApplication",
            name="Snakemake",
            softwareVersion=self.about["snakemake"],
            url="https://snakemake.readthedocs.io",
        )
        self.action(
            "#engine-run",
            "OrganizeAction",
            rows,
            name="Run of Snakemake",
            instrument=engine,
            object=step_runs,
            result=run,
        )
        self.crate.root_dataset["mentions"] = [run, *self.runs]
