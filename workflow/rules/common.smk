# The study that the configuration describes, and what all rules share.
import os
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

sys.path.insert(0, str(Path(workflow.basedir) / "scripts"))
from study import Study, StudyError, pattern  # noqa: E402

try:
    STUDY = Study(config)
except StudyError as error:
    raise WorkflowError(f"configuration: {error}")

# Programs that are not installed, such as those of a build folder.
if os.environ.get("HOPWAVE_BIN"):
    folders = [os.environ.get("HOPWAVE_BIN"), *os.get_exec_path()]
    os.environ.update(PATH=os.pathsep.join(folders))

GRAPH = "results/graphs/{graph}.h5"
PARTITION = "results/partitions/{graph}/{partition}.h5"
TREE = "results/trees/{graph}/{partition}/{search}-r{repeat}.h5"
CHECK = "results/checks/{graph}/{partition}/{search}-r{repeat}.h5"


def files(template, runs=STUDY.runs):
    """The files of a template for runs, each once."""
    keys = ("graph", "partition", "search", "repeat")
    return list(dict.fromkeys(template.format(**dict(zip(keys, run))) for run in runs))


# There is nothing to validate afterwards where no tree is kept.
CHECKS = files(CHECK) if STUDY.config["store"] != "none" else []


def launch(wildcards, resources):
    """What starts a program on its ranks; nothing for one rank."""
    return f"{resources.mpi} -n {resources.tasks}" if resources.mpi else ""


wildcard_constraints:
    graph=pattern(STUDY.graphs),
    partition=pattern(STUDY.partitions),
    search=pattern(STUDY.searches),
    repeat=r"\d+",
    name=pattern(STUDY.names),
    example=pattern(STUDY.examples),
