"""File systems that fail while a program writes: some call for its output ends with an error."""

import os
import random
import shutil
import signal
import subprocess
from pathlib import Path

from common import PATIENCE, Ended, World, WrongError, judge, one_by_one
from processes import running

LIBRARY = Path("tests", "faults", "libbroken-disk.so")
# What may fail, and how: kinds of calls, and errors, as tests/faults/broken_disk.c names them.
FAULTS = [
    ("open", ["EACCES", "ENOSPC"]),
    ("write", ["ENOSPC", "EIO", "EDQUOT"]),
    ("short", ["EIO"]),
    ("allocate", ["ENOSPC", "EDQUOT"]),
    ("truncate", ["EIO"]),
    ("sync", ["EIO", "ENOSPC", "EDQUOT"]),
    ("close", ["EIO", "EDQUOT"]),
    ("name", ["EIO", "EACCES"]),
]


class Faults:
    """A call that fails at some place, to all ranks or one: status 4, one sentence and nothing
    left but what a search goes on from; or a whole file, where the call does not matter."""

    name = "faults"

    def __init__(self, world: World) -> None:
        self.world = world
        self.library = (world.programs / LIBRARY).resolve()
        if not self.library.exists():
            raise RuntimeError(f"there is no {self.library}: make check makes it")
        self.folder = (world.folder / "out").resolve()
        self.inputs = world.folder / "in"
        self.inputs.mkdir()
        graph, text = self.inputs / "g.h5", self.inputs / "g.mtx"
        world.made("hopwave-generate", "-q", "--model", "rmat", "--scale", "11", "-o", graph)
        world.made("hopwave-export", "-q", graph, "--format", "mtx", "-o", text)
        self.searches = {}
        for parts in (1, 2, 4):
            path = self.inputs / f"p{parts}.h5"
            words = ("--layout", "1d", "--parts", str(parts))
            world.made("hopwave-partition", "-q", graph, *words, "-o", path)
            self.searches[parts] = path
        self.tree = self.inputs / "t.h5"
        search = ("-q", self.searches[1], "--algorithm", "bfs", "--roots", "4", "-o", self.tree)
        world.made("hopwave-traverse", *search)

    def job(self, program: str, ranks: int) -> list[str | Path]:
        """The words of a program, but for its output."""
        graph = self.inputs / "g.h5"
        return {
            "generate": ["--model", "rmat", "--scale", "11"],
            "partition": [graph, "--layout", "1d", "--parts", str(max(1, ranks))],
            "traverse": [self.searches[max(1, ranks)], "--algorithm", "bfs", "--roots", "4"],
            "validate": [self.tree, "--graph", graph],
            "import": [self.inputs / "g.mtx"],
            "export": [graph, "--format", "mtx"],
        }[program]

    def run(self, command: list[str], ranks: int, fault: dict[str, str]) -> Ended:
        """Runs a program in a session of its own, on a file system with this fault."""
        launcher = [self.world.mpiexec, "-n", str(ranks)] if ranks else []
        fault["LD_PRELOAD"] = f"{self.library}:{os.environ.get('LD_PRELOAD', '')}".rstrip(":")
        words = [*launcher, "env", *(f"{name}={value}" for name, value in fault.items()), *command]
        process = subprocess.Popen(
            words,
            cwd=self.world.folder,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise WrongError(f"hangs: {' '.join(words)}") from None
        if left := [name for name in running(process.pid) if name.startswith("hopwave")]:
            os.killpg(process.pid, signal.SIGKILL)
            raise WrongError(f"{left[0]} is left: {' '.join(words)}")
        # MPICH's launcher adds lines of its own where a rank ends with a status.
        said = [line for line in err.decode("utf-8", "replace").splitlines() if "hopwave-" in line]
        own = [line for line in said if line.startswith("hopwave-")]
        return Ended(process.returncode, out.decode("utf-8", "replace"), "\n".join(own))

    def tries(self, numbers: range) -> list[tuple[int, str]]:
        return one_by_one(self.name, self.attempt, numbers, self.clean)

    def clean(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def attempt(self, draw: random.Random, number: int) -> None:
        self.clean()
        self.folder.mkdir()
        program = draw.choice(["generate", "partition", "traverse", "validate", "import", "export"])
        ranks = draw.choice([0, 1, 2, 2, 4])
        out = self.folder / f"o{number}{'.mtx' if program == 'export' else '.h5'}"
        job = [*map(str, self.job(program, ranks)), "-o", str(out)]
        command = [str(self.world.programs / f"hopwave-{program}"), "-q", *job]
        call, errors = draw.choice(FAULTS)
        most = 40 if call in ("write", "short") else 6
        fault = {
            "HW_BROKEN_FOLDER": str(self.folder),
            "HW_BROKEN_CALL": call,
            "HW_BROKEN_ERROR": draw.choice(errors),
            "HW_BROKEN_AT": str(
                draw.choice([1, 1, 2, 3, draw.randrange(4, 9), draw.randrange(50)])
            ),
        }
        if ranks > 1 and draw.random() < 0.6:
            fault["HW_BROKEN_RANK"] = str(draw.randrange(ranks))
        done = self.run(command, ranks, fault)
        status = judge(done, *((0,) if call == "short" else (0, 4)))
        left = sorted(path.name for path in self.folder.iterdir())
        self.world.counts["failed" if status else "whole"] += 1
        if status == 0:
            if left != [out.name]:
                raise WrongError(f"{left} are left with {out.name}, {fault}")
            self.whole(program, out)
            return
        if program == "traverse" and left == [
            f"{out.name}.partial",
            f"{out.name}.partial.searches",
        ]:
            judge(self.run(command, ranks, {}), 0)
            if sorted(path.name for path in self.folder.iterdir()) != [out.name]:
                raise WrongError(f"the next run leaves more than {out.name}")
            self.world.counts["resumed"] += 1
        elif left:
            raise WrongError(f"{left} are left, {fault}")

    def whole(self, program: str, out: Path) -> None:
        if program != "export":
            judge(self.world.run("hopwave-info", "-q", out), 0)
        elif out.read_bytes() != (self.inputs / "g.mtx").read_bytes():
            raise WrongError(f"{out.name} is not what was exported")
