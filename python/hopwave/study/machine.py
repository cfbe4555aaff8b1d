"""What the rules ask of a machine: launchers, GPUs, memory and time of their jobs.

A profile describes its machine under `config: machine:`, beside what Snakemake knows of
it; workflow/profiles/README.md explains the keys.
"""

import errno
import math
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

Settings = Mapping[str, Any]  # of `machine` in a profile
Stage = tuple[str, str, Iterable[str], int]  # program, arguments, inputs, ranks

KEYS = {
    "estimates": "whether jobs ask for the memory and time that their programs estimate",
    "modules": "environment modules that jobs load",
    "container": "what runs a program in a container, such as apptainer exec FILE",
    "gpus_per_node": "GPUs of a node",
    "share_cores": "whether ranks that outnumber the cores give them up while they wait",
}
YIELD = "libhopwave-yield.so"
# An estimate is rough, and of what a program allocates alone.
MEMORY_FACTOR, MEMORY_MORE_MB = 1.25, 400  # MPI, and Snakemake's own process
GPU_MORE_MB = 2000  # what the driver keeps on the host
TIME_FACTOR, TIME_MORE_MINUTES = 5, 10


class MachineError(Exception):
    """One sentence for the user."""


def number(settings: Settings, key: str, default: int) -> int:
    try:
        value = int(settings.get(key, default))
    except (TypeError, ValueError):
        value = 0
    if value < 1:
        raise MachineError(f"machine.{key} is {settings[key]}, but must be at least 1")
    return value


def flag(settings: Settings, key: str) -> bool:
    value = str(settings.get(key, False)).lower()
    if value not in ("true", "false"):
        raise MachineError(f"machine.{key} must be true or false, not {value}")
    return value == "true"


def yield_library() -> str | None:
    """The library for ranks that share cores: beside the programs in a build, or where they
    are installed; None where there is none."""
    program = shutil.which("hopwave-traverse")
    if not program:
        return None
    here = Path(program).absolute().parent
    places = [here / YIELD, *here.parent.glob(f"lib*/hopwave/{YIELD}")]
    return next((str(place) for place in places if place.exists()), None)


@cache
def asked(command: tuple[str, ...]) -> str | tuple[float, int, int]:
    """Seconds, bytes of memory of a rank and bytes on disk that a program estimates, or the
    sentence of its failure."""
    try:
        ran = subprocess.run(
            command,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=300,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    lines = dict(line.split(": ", 1) for line in ran.stdout.splitlines() if ": " in line)
    if ran.returncode != 0 or "memory_per_rank" not in lines:
        said = ran.stderr.strip().splitlines()
        return said[-1] if said else f"{command[0]} --estimate ended with {ran.returncode}"
    disk = int(lines.get("disk", 0))
    return float(lines.get("seconds", 0)), int(lines["memory_per_rank"]), disk


def oversubscribed(record: Mapping[str, Any]) -> bool:
    """Whether searches on processors ran where a node had more ranks times threads than cores.

    record   the attributes of /run in a tree file
    """
    hosts = str(record.get("hosts") or "")
    counts: dict[str, int] = {}
    for name, _, ranks in (part.rpartition("*") for part in hosts.split(",")):
        counts[name] = counts.get(name, 0) + (int(ranks) if ranks.isdigit() else 0)
    threads = int(record.get("threads") or 1)
    cores = int(record.get("cores_of_rank_0") or 0)
    if cores <= threads:  # bound to cores of its own: the others of the node have theirs
        cores = int(record.get("cores") or cores)
    wanted = max(counts.values(), default=0) * threads
    return record.get("device") == "cpu" and 0 < cores < wanted


class Machine:
    """A machine, after the settings of a profile. `warn` takes a sentence."""

    def __init__(self, settings: Settings | None, warn: Callable[[str], object] = print) -> None:
        settings = settings or {}
        if not isinstance(settings, dict):
            raise MachineError(f"machine must be a mapping of keys, not {settings}")
        for key in settings:
            if key not in KEYS:
                raise MachineError(
                    f"machine has the unknown key '{key}'; known are {', '.join(KEYS)}"
                )
        modules = settings.get("modules") or []
        self.modules = modules.split() if isinstance(modules, str) else list(modules)
        self.container = settings.get("container") or ""
        self.estimates = flag(settings, "estimates")
        self.gpus_per_node = number(settings, "gpus_per_node", 1)
        self.preload = None
        if flag(settings, "share_cores"):
            self.preload = yield_library()
            if not self.preload:
                warn(f"share_cores: there is no {YIELD} beside the programs")
        self.warn = warn

    def launch(self, threads: int, resources: Any) -> str:
        """What stands before a program: its launcher, unless it runs as one rank alone,
        and the container, which runs inside the launcher, once for each rank."""
        words = []
        if resources.get("mpi"):
            words = [resources.mpi, f"-n {resources.tasks}"]
            if os.path.basename(resources.mpi.split()[0]) == "srun":
                words += self._step(threads, resources)
            if self.preload and resources.tasks > len(os.sched_getaffinity(0)):
                words.append(f"env LD_PRELOAD={shlex.quote(self.preload)}")
        return " ".join([*words, self.container]).strip()

    @staticmethod
    def _step(threads: int, resources: Any) -> Iterator[str]:
        """The options of srun, which inherits from its job only the nodes."""
        # Without it the other ranks of a rank that was killed wait for it until the job's limit.
        yield "--kill-on-bad-exit=1"
        yield f"--cpus-per-task={threads}"
        if resources.get("gres"):
            # Each rank sees all GPUs of its node, and takes the one of its local rank.
            yield "--gpu-bind=none"
        if "--exact" in resources.mpi.split() and resources.get("mem_mb_per_cpu"):
            # Steps that share an allocation each take a part of its memory.
            yield f"--mem-per-cpu={resources.mem_mb_per_cpu}"

    def gres(self, ranks: int) -> str:
        """The GPUs that ranks need on each node, one a rank."""
        return f"gpu:{min(ranks, self.gpus_per_node)}"

    def nodes(self, ranks: int) -> int:
        """The nodes that ranks with a GPU each need."""
        return -(-ranks // self.gpus_per_node)

    def _estimate(
        self, program: str, arguments: str, inputs: Iterable[str], ranks: int, threads: int
    ) -> tuple[float, int, int] | None:
        for path in inputs:
            if not os.path.exists(path):
                # Tells Snakemake to ask again once the file is made.
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        words = [program, *shlex.split(arguments), f"--estimate={ranks}"]
        answer = asked((*words, f"--threads={threads}", "--quiet"))
        if isinstance(answer, str):
            self.warn(f"no estimate: {answer}")
            return None
        return answer

    def memory(self, *stage: *Stage, threads: int, attempt: int, gpu: bool = False) -> int | None:
        """Megabytes for each thread of each rank of a stage, (program, arguments, inputs,
        ranks); None where the program does not say or is not asked."""
        answer = self._estimate(*stage, threads) if self.estimates else None
        if not answer:
            return None
        rank = MEMORY_FACTOR * answer[1] / 1e6 + MEMORY_MORE_MB + gpu * GPU_MORE_MB
        return math.ceil(attempt * rank / threads)

    def minutes(self, *stage: *Stage, threads: int, attempt: int) -> int | None:
        """Minutes for a stage, likewise."""
        answer = self._estimate(*stage, threads) if self.estimates else None
        if not answer:
            return None
        return math.ceil(attempt * (TIME_FACTOR * answer[0] / 60 + TIME_MORE_MINUTES))
