"""One run of a study at a time, that starts clean whatever ended the run before it.

Snakemake leaves a lock where it is killed, and its jobs go on; both would trouble the next
run. Here a lock of the kernel says whether a run is at work, which no crash leaves behind;
processes and jobs of Slurm bear a mark by which those of a dead run are found and ended; and
files that it finished, but did not live to note, are kept: programs give a file its name
only once it is whole.
"""

import hashlib
import os
import shutil
import signal
import subprocess
import threading
import time
from base64 import urlsafe_b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from .base import fail, locked

Folder = str | os.PathLike[str]
MARK = "HOPWAVE_RUN"
PATIENCE = 10  # seconds in which searches that are told to end may do so
ALONE = 1.0  # seconds after which an interrupt is handed on to a run that goes on


@contextmanager
def alone(directory: Folder) -> Iterator[bool]:
    """Holds the lock of a study's folder. Yields whether it could be had at all: not every
    file system knows locks, and Snakemake's own one has to do there."""
    folder = Path(directory).resolve() / ".snakemake"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = open(folder / "hopwave.lock", "w")  # noqa: SIM115
    except OSError as error:
        fail(4, f"{folder}: {error.strerror}")
    with lock:
        yield locked(lock, f"{folder.parent}: another run of the study is at work here")


def mark(directory: Folder) -> str:
    """What the processes of a study in a folder have in their environment."""
    return str(Path(directory).resolve())


def prefix(directory: Folder) -> str:
    """What the names of its jobs begin with."""
    return "hopwave-" + hashlib.sha256(mark(directory).encode()).hexdigest()[:16]


def marked(directory: Folder) -> list[int]:
    """The processes that bear the mark, but for this one."""
    wanted = f"{MARK}={mark(directory)}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            environment = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if wanted in environment and int(entry.parent.name) != os.getpid():
            found.append(int(entry.parent.name))
    return found


def send(processes: Iterable[int], number: int) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, number)


def end_processes(directory: Folder) -> None:
    """Ends what a run has left on this machine: politely, then not."""
    until = time.monotonic() + PATIENCE
    send(marked(directory), signal.SIGTERM)
    while left := marked(directory):
        if time.monotonic() > until:
            send(left, signal.SIGKILL)
        time.sleep(0.05)


def cancel_jobs(directory: Folder) -> None:
    """Cancels what a run has left in Slurm."""
    if not shutil.which("squeue"):
        return
    listed = subprocess.run(
        ["squeue", "--me", "--noheader", "--format=%i %j"],
        capture_output=True,
        text=True,
    )
    jobs = [line.split() for line in listed.stdout.splitlines()]
    left = [job[0] for job in jobs if job[1:] and job[1].startswith(prefix(directory))]
    if left:
        subprocess.run(["scancel", *left])


def keep_finished(directory: Folder) -> None:
    """Takes back Snakemake's note that a file is not complete, where it is."""
    notes = Path(directory) / ".snakemake" / "incomplete"
    for note in [path for path in notes.rglob("*") if path.is_file()]:
        words = "".join(part.lstrip("@") for part in note.relative_to(notes).parts)
        try:
            path = urlsafe_b64decode(words).decode()
        except ValueError:
            continue
        if path.endswith(".h5") and (Path(directory) / path).is_file():
            note.unlink()


def remove_unnamed(directory: Folder) -> None:
    """Removes files that were being written and had not been given their names yet. What
    a search has kept to go on from stays."""
    for pattern in (".*.h5.tmp-*", "*.part"):
        for path in (Path(directory) / "results").rglob(pattern):
            path.unlink()


def clear(directory: Folder, slurm: bool) -> None:
    """Ends and mends what a run that was killed has left."""
    end_processes(directory)
    if slurm:
        cancel_jobs(directory)
    keep_finished(directory)
    remove_unnamed(directory)


class Watched:
    """A run of Snakemake, which interrupts and requests to end reach.

    environment   more variables for it
    stop          a file that is made when the run is told to end
    """

    def __init__(
        self, directory: Folder, environment: Mapping[str, str] | None = None, stop: str = ""
    ) -> None:
        self.directory, self.stop = directory, stop
        self.environment = {**os.environ, **(environment or {}), MARK: mark(directory)}
        self.told = False

    def run(self, command: Sequence[str]) -> int:
        """Runs it and returns its status. An interrupt of the keyboard reaches it and its jobs
        by itself; one that came to this process alone, or a request to end, is handed on, and
        its jobs end too."""

        def listen() -> None:
            # Shells let what they start in the background ignore interrupts.
            signal.signal(signal.SIGINT, signal.SIG_DFL)

        self.snakemake = subprocess.Popen(command, env=self.environment, preexec_fn=listen)
        before = {
            signal.SIGINT: signal.signal(signal.SIGINT, self.interrupted),
            signal.SIGTERM: signal.signal(signal.SIGTERM, self.end),
        }
        status = self.snakemake.wait()
        for number, handler in before.items():
            signal.signal(number, handler)
        return status

    def note(self) -> None:
        """Says, once, that the run is told to end."""
        if not self.told and self.stop:
            with suppress(OSError):
                Path(self.stop).touch()
        self.told = True

    def interrupted(self, *_: object) -> None:
        """Hands an interrupt on to a run that has not had it from the keyboard."""
        if self.told:
            return
        self.note()
        timer = threading.Timer(ALONE, self.end)
        timer.daemon = True
        timer.start()

    def end(self, *_: object) -> None:
        self.note()
        if self.snakemake.poll() is None and not self.stopping():
            self.snakemake.send_signal(signal.SIGINT)
        send([p for p in marked(self.directory) if p != self.snakemake.pid], signal.SIGTERM)

    def stopping(self) -> bool:
        """Whether the run says that it is ending."""
        if not self.stop:
            return False
        from ..console import events

        return events.read(Path(self.stop.removesuffix(".stop"))).stopping
