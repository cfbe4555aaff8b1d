# The study that the configuration describes, and what all rules share.
import atexit
import os
import sys
from pathlib import Path
from shlex import quote
from shutil import copyfile, rmtree
from tempfile import mkdtemp

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger


def package():
    """The folder of the Python package that rules and scripts import. Where the workflow is
    deployed as a module of another one, from a repository, what they need of it is fetched.
    """
    here = Path(workflow.current_basedir.get_path_or_uri(secret_free=True))
    beside = here.parent.parent / "python"
    if (beside / "hopwave").is_dir():
        return beside
    copies = Path(mkdtemp(prefix="hopwave-workflow-"))
    atexit.register(rmtree, copies, ignore_errors=True)
    for source, copy in [
        *((f"python/hopwave/{name}.py", f"hopwave/{name}.py") for name in MODULES),
        *((f"python/hopwave/page/{name}", f"hopwave/page/{name}") for name in PAGE),
        *((f"schemas/{name}", f"hopwave/schemas/{name}") for name in SCHEMAS),
    ]:
        (copies / copy).parent.mkdir(parents=True, exist_ok=True)
        copyfile(workflow.source_path(f"../../{source}"), copies / copy)
    return copies


MODULES = ["__init__", "errors", "renamed", "study/__init__"]
MODULES += ["study/claims", "study/columns", "study/configuration", "study/figures"]
MODULES += ["study/hdf5", "study/machine"]
MODULES += [
    "study/methods",
    "study/models",
    "study/page",
    "study/papers",
    "study/style",
    "study/trees",
    "study/units",
]
MODULES += ["study/headline", "study/whole"]
MODULES += ["page/__init__", "page/context", "page/dictionary", "page/index"]
PAGE = ["index.html.j2", "sort.js", "style.css"]
SCHEMAS = ["study.schema.json", "renamed.json"]
PACKAGE = str(package())
sys.path.insert(0, PACKAGE)
# Scripts run in processes of their own.
folders = [PACKAGE, os.environ.get("PYTHONPATH")]
os.environ.update(PYTHONPATH=os.pathsep.join(filter(None, folders)))
# Programs that are not installed, such as those of a build folder; studies ask them
# for their methods.
if os.environ.get("HOPWAVE_BIN"):
    folders = [os.environ.get("HOPWAVE_BIN"), *os.get_exec_path()]
    os.environ.update(PATH=os.pathsep.join(folders))
from hopwave.study.machine import Machine, MachineError  # noqa: E402
from hopwave.study.configuration import CHECK, GRAPH, PARTITION, TREE  # noqa: E402
from hopwave.study.configuration import Study, StudyError, pattern  # noqa: E402

try:
    STUDY = Study({key: config[key] for key in config if key != "machine"})
    MACHINE = Machine(config.get("machine"), logger.warning)
except (StudyError, MachineError) as error:
    raise WorkflowError(f"configuration: {error}")

files = STUDY.files


def launch(wildcards, threads, resources):
    """What stands before a program: its launcher and its container, if any."""
    return MACHINE.launch(threads, resources)


def needs(program, arguments, gpu=lambda wildcards: False):
    """The memory and time of a rule's jobs, asked of a program with the arguments(wildcards,
    input). They are asked before a job is submitted, not again inside it."""

    def stage(rulename, wildcards, input):
        tasks = workflow.get_rule(rulename).resources["tasks"]
        ranks = tasks.evaluate(wildcards, input=input, attempt=1).value
        return program, arguments(wildcards, input), list(input), ranks

    def memory(wildcards, input, threads, attempt, rulename):
        if workflow.remote_exec:
            return None
        return MACHINE.memory(
            *stage(rulename, wildcards, input),
            threads=threads,
            attempt=attempt,
            gpu=gpu(wildcards),
        )

    def minutes(wildcards, input, threads, attempt, rulename):
        if workflow.remote_exec:
            return None
        return MACHINE.minutes(
            *stage(rulename, wildcards, input), threads=threads, attempt=attempt
        )

    return {"mem_mb_per_cpu": memory, "runtime": minutes}


def on_gpu(wildcards):
    return STUDY.searches[wildcards.search]["device"] == "cuda"


def parts_of(wildcards):
    return STUDY.partitions[wildcards.partition]["parts"]


def search_arguments(wildcards, input):
    """What a search is started with, and estimated by, which needs no GPU."""
    options = STUDY.searches[wildcards.search]["options"]
    if STUDY.in_memory:
        layout = STUDY.partitions[wildcards.partition]["options"]
        return f"{input.graph} {layout} {options}"
    graph = f"--graph {input.graph}" if input.graph else ""
    return f"{input.partition} {options} {graph}"


# What all searches ask for. Without tasks_per_gpu=0 Slurm would show each rank one GPU alone.
SEARCH_RESOURCES = {
    "machine": 100,
    "gres": lambda wildcards: (
        MACHINE.gres(parts_of(wildcards)) if on_gpu(wildcards) else None
    ),
    "nodes": lambda wildcards: (
        MACHINE.nodes(parts_of(wildcards)) if on_gpu(wildcards) else None
    ),
    "tasks_per_gpu": lambda wildcards: 0 if on_gpu(wildcards) else None,
    **needs("hopwave-traverse", search_arguments, on_gpu),
}

# Validation adds an independent serial search.
REFERENCE = "--reference" if STUDY.config["reference"] else ""


wildcard_constraints:
    graph=pattern(STUDY.graphs),
    partition=pattern(STUDY.partitions),
    search=pattern(STUDY.searches),
    repeat=r"\d+",
    name=pattern(STUDY.names),
    example=pattern(STUDY.examples),
    figure=pattern(STUDY.figures),
