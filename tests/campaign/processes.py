"""Programs that are stopped, disks that run full, and programs that want the same file."""

import os
import random
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

from common import PATIENCE, World, WrongError, judge, leftovers, one_by_one

ASKED = [signal.SIGINT, signal.SIGTERM]
OTHERS = [signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL]
LAUNCHERS = 10  # seconds that a launcher may take after its ranks


MARK = "HOPWAVE_CAMPAIGN"  # the variable by which the processes of a case are known


def group_of(command: list[str], world: World, mark: str = "none") -> "subprocess.Popen[bytes]":
    """Starts a program in a process group of its own; it and all that it starts hold the mark."""
    return subprocess.Popen(
        command,
        cwd=world.folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", MARK: mark},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def running(mark: str) -> dict[int, str]:
    """The processes that run and hold a mark, in whatever session: number and name."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() not in (process / "environ").read_bytes().split(b"\0"):
                continue
            name, words = (process / "stat").read_text().partition("(")[2].rsplit(")", 1)
        except OSError:
            continue
        if words.split()[0] not in "ZX":
            found[int(process.name)] = name
    return found


def kill_all(mark: str) -> None:
    """Kills the processes that hold a mark."""
    for number in running(mark):
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)


class Signals:
    """Signals at random moments, to the launcher or to all: no file that is not whole, no process
    left, nothing left that the next run does not remove."""

    name = "signals"

    def __init__(self, world: World) -> None:
        self.world = world
        folder = world.folder
        self.graph, self.parts = folder / "g.h5", folder / "p.h5"
        options = ("--model", "rmat", "--scale", "13")
        world.made("hopwave-generate", "-q", *options, "-o", self.graph)
        world.made(
            "hopwave-partition",
            "-q",
            self.graph,
            "--layout",
            "1d",
            "--parts",
            "1",
            "-o",
            self.parts,
        )
        self.tree = folder / "t.h5"
        search = ("--algorithm", "bfs", "--roots", "8")
        world.made("hopwave-traverse", "-q", self.parts, *search, "-o", self.tree)
        self.kept = [self.graph, self.parts, self.tree]
        self.jobs = [
            ("hopwave-generate", "-q", "--model", "rmat", "--scale", "14"),
            ("hopwave-partition", "-q", self.graph, "--layout", "1d", "--parts", "1"),
            ("hopwave-traverse", "-q", self.parts, *search),
            ("hopwave-validate", "-q", self.tree, "--graph", self.graph),
        ]

    def tries(self, numbers: range) -> list[tuple[int, str]]:
        return one_by_one(self.name, self.attempt, numbers, lambda: self.world.clean(self.kept))

    def attempt(self, draw: random.Random, number: int) -> None:
        program, *options = draw.choice(self.jobs)
        out = self.world.folder / f"o{number}.h5"
        ranks = draw.choice([0, 0, 1]) if "traverse" in program else draw.choice([0, 1, 2])
        command = self.world.command(program, *options, "-o", out, ranks=ranks)
        sent, whole = draw.choice(ASKED * 3 + OTHERS), draw.random() < 0.5
        mark = f"{os.getpid()}-{number}"
        process = group_of(command, self.world, mark)
        time.sleep(draw.random() * draw.choice([0.05, 0.3, 0.6]))
        with suppress(ProcessLookupError):
            os.killpg(process.pid, sent) if whole else process.send_signal(sent)
        status = self.waited(process, mark, sent)
        if out.exists():
            judge(self.world.run("hopwave-info", "-q", out), 0)
        elif status == 0 and not ranks:
            raise WrongError(f"{program}: status 0 after {sent.name}, and no file")
        word = "with a file" if out.exists() else "without"
        self.world.counts[word if out.exists() or status else "launcher's 0 without"] += 1
        if not ranks and not out.exists() and sent in ASKED and status not in (4, -sent):
            raise WrongError(f"{program}: status {status} after {sent.name}")
        left = leftovers(self.world.folder, out.name)
        # Searches that had ended are gone on from, by the next run.
        resumes = left == [f"{out.name}.partial"] and Path(f"{out}.partial.searches").exists()
        if left and sent != signal.SIGKILL and not ranks and not resumes:
            raise WrongError(f"{program}: {left[0]} is left after {sent.name}")
        if left:
            self.world.counts["resumed"] += resumes
            again = () if resumes and not out.exists() else ("--force",)
            judge(self.world.run(program, *options, *again, "-o", out), 0)
            if leftovers(self.world.folder, out.name):
                raise WrongError(f"{program}: {left[0]} is left after the next run, too")

    def waited(self, process: "subprocess.Popen[bytes]", mark: str, sent: signal.Signals) -> int:
        """The status of a program that was sent a signal; all processes that it started must have
        ended, in other sessions, too. Where only MPICH's launcher is left, that is counted, and it
        is killed: what it leaves must end by itself."""
        begun = time.monotonic()
        while process.poll() is None:
            waited = time.monotonic() - begun
            if waited > PATIENCE:
                kill_all(mark)
                raise WrongError(f"runs on for {PATIENCE} s after {sent.name}")
            if waited > LAUNCHERS and not any(
                name.startswith("hopwave") for name in running(mark).values()
            ):
                self.world.counts["the launcher waits on"] += 1
                process.kill()
                process.wait()
            time.sleep(0.02)
        until = time.monotonic() + 15
        while left := running(mark):
            if time.monotonic() > until:
                kill_all(mark)
                raise WrongError(f"{', '.join(left.values())} left after {sent.name}")
            time.sleep(0.05)
        return int(process.returncode)


class Disks:
    """Disks that take some bytes and no more: status 4 and nothing left, or a whole file."""

    name = "disks"

    def __init__(self, world: World) -> None:
        self.world = world
        self.program = Path("tests", "faults", "make_file")
        if not (world.programs / self.program).exists():
            raise RuntimeError(f"there is no {world.programs / self.program}: make check makes it")

    def tries(self, numbers: range) -> list[tuple[int, str]]:
        return one_by_one(self.name, self.attempt, numbers, lambda: self.world.clean([]))

    def attempt(self, draw: random.Random, number: int) -> None:
        edges = draw.choice([10, 1000, 50_000])
        ranks = draw.choice([0, 1, 2])
        size = 8 * edges
        room = draw.choice([draw.randrange(size + 9000), size + draw.randrange(9000)])
        out = self.world.folder / f"o{number}.h5"
        done = self.world.run(
            str(self.program),
            str(edges),
            "-q",
            "-o",
            out,
            "--room",
            str(room),
            ranks=ranks,
        )
        status = judge(done, 0, 4)
        if status == 0:
            judge(self.world.run("hopwave-info", "-q", out), 0)
        elif found := sorted(path.name for path in self.world.folder.iterdir()):
            raise WrongError(f"{found[0]} is left on a full disk")
        self.world.counts["full" if status else "room enough"] += 1


class Races:
    """Programs that write one file at the same time: one of them does, or the last by force."""

    name = "races"

    def __init__(self, world: World) -> None:
        self.world = world

    def tries(self, numbers: range) -> list[tuple[int, str]]:
        return one_by_one(self.name, self.attempt, numbers, lambda: self.world.clean([]))

    def attempt(self, draw: random.Random, number: int) -> None:
        out = self.world.folder / "o.h5"
        force = draw.random() < 0.5
        started = []
        for seed in range(draw.choice([2, 3])):
            options = ("-q", "--model", "rmat", "--scale", "7", "--seed", str(seed))
            command = self.world.command("hopwave-generate", *options, "-o", out)
            started.append(group_of(command + ["--force"] * force, self.world))
            time.sleep(draw.random() * 0.1)
        statuses = []
        for process in started:
            try:
                process.wait(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                for one in started:
                    if one.poll() is None:
                        os.killpg(one.pid, signal.SIGKILL)
                        one.wait()
                raise WrongError("a race hangs") from None
            statuses.append(process.returncode)
        wanted = [0] * len(started) if force else [0] + [2] * (len(started) - 1)
        if sorted(statuses) != wanted:
            raise WrongError(f"statuses {statuses} {'by force' if force else ''}")
        judge(self.world.run("hopwave-info", "-q", out), 0)
        if len(list(self.world.folder.iterdir())) != 1:
            raise WrongError("files are left beside the output")
        self.world.counts["by force" if force else "one alone"] += 1
