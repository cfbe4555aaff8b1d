"""What all campaigns share: a folder to work in, programs that are run and judged, counts."""

import os
import random
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PATIENCE = 60  # seconds that a program may take
BATCH = 16  # files that one program reads
TOP = Path(__file__).resolve().parents[2]


class WrongError(Exception):
    """One sentence: what must not happen, and did."""


@dataclass
class Ended:
    """How a program ended."""

    status: int
    out: str
    err: str


@dataclass
class World:
    """Where cases are tried.

    folder    the campaign's own, emptied by each case of what it makes
    programs  the folder of the programs, built or installed
    mpiexec   starts ranks
    """

    folder: Path
    programs: Path
    mpiexec: str
    environment: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    def command(self, program: str, *arguments: str | Path, ranks: int = 0) -> list[str]:
        """The words that start a program of Hopwave, alone or by the launcher."""
        path = self.programs / program
        launcher = [self.mpiexec, "-n", str(ranks)] if ranks else []
        return [*launcher, str(path), *map(str, arguments)]

    def run(self, program: str, *arguments: str | Path, ranks: int = 0) -> Ended:
        """Runs a program to its end; raises WrongError where that takes too long."""
        return self.call(self.command(program, *arguments, ranks=ranks))

    def call(self, command: Sequence[str], patience: float = PATIENCE) -> Ended:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", **self.environment}
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                env=environment,
                capture_output=True,
                timeout=patience,
            )
        except subprocess.TimeoutExpired:
            raise WrongError(f"{Path(command[0]).name} hangs: {' '.join(command)}") from None
        out, err = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
        return Ended(done.returncode, out, err)

    def made(self, program: str, *arguments: str | Path) -> None:
        """Runs a program that prepares a case."""
        done = self.run(program, *arguments)
        if done.status:
            raise RuntimeError(f"{program} fails ({done.status}): {done.err}")

    def clean(self, keep: Iterable[Path]) -> None:
        """Removes what is not to be kept from the folder."""
        kept = set(keep)
        for path in self.folder.iterdir():
            if path not in kept:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def judge(done: Ended, *allowed: int) -> int:
    """The status of a program, if it is one of those allowed and says so in one sentence."""
    if done.status < 0 or done.status > 128:
        raise WrongError(f"a crash (status {done.status}): {done.err.strip()[-300:]}")
    if done.status not in allowed:
        raise WrongError(f"status {done.status}: {done.err.strip()[-300:]}")
    if done.status > 1 and len(done.err.strip().splitlines()) != 1:
        raise WrongError(
            f"status {done.status} with no single sentence: {done.err.strip()[-300:]!r}"
        )
    if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", done.err + done.out):
        raise WrongError(f"bytes that control a terminal: {done.err!r}")
    return done.status


def generator(kind: str, number: int) -> random.Random:
    """The random numbers of a case, which depend on its number alone."""
    return random.Random(f"{kind} {number}")


def leftovers(folder: Path, begin: str) -> list[str]:
    """Incomplete files of an output that lie in a folder."""
    return [
        path.name
        for path in folder.iterdir()
        if path.name.startswith(f".{begin}.tmp-") or path.name == f"{begin}.partial"
    ]


def one_by_one(
    name: str,
    attempt: Callable[[random.Random, int], None],
    numbers: range,
    after: Callable[[], None] = lambda: None,
) -> list[tuple[int, str]]:
    """Tries cases of a kind, each with its random numbers, and does something after each. Returns
    the wrong ones, with what went wrong."""
    wrong = []
    for number in numbers:
        try:
            attempt(generator(name, number), number)
        except WrongError as error:
            wrong.append((number, str(error)))
        after()
    return wrong


def in_batches(attempt: Callable[[range], None], numbers: range) -> list[tuple[int, str]]:
    """Tries cases, several by one program; those of a batch in which something went wrong one by
    one. Returns the wrong ones, with what went wrong."""
    wrong: list[tuple[int, str]] = []
    for start in range(numbers.start, numbers.stop, BATCH):
        some = range(start, min(start + BATCH, numbers.stop))
        try:
            attempt(some)
        except WrongError as error:
            if len(some) == 1:
                wrong.append((start, str(error)))
                continue
            alone = [found for n in some for found in in_batches(attempt, range(n, n + 1))]
            wrong += alone or [(start, f"with the {len(some) - 1} after it: {error}")]
    return wrong


def temporary_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="hopwave-campaign-"))


def change(draw: random.Random, before: bytes) -> bytes:
    """Bytes that differ from what they were."""
    after = bytearray(before)
    at, length = draw.randrange(len(before)), draw.choice([1, 2, 4, 8, 64, 512, 4096])
    end = min(at + length, len(before))
    match draw.randrange(8):
        case 0 | 1 | 2:  # one bit
            after[at] ^= 1 << draw.randrange(8)
        case 3:  # some bits, anywhere
            for _ in range(draw.randrange(2, 9)):
                after[draw.randrange(len(after))] ^= 1 << draw.randrange(8)
        case 4:  # noise
            after[at:end] = draw.randbytes(end - at)
        case 5:  # zeros
            after[at:end] = bytes(end - at)
        case 6:  # cut off
            del after[at:]
        case _:  # a piece twice, or missing, or another piece of the file
            other = draw.randrange(len(before))
            piece = before[other : other + length]
            after[at : draw.choice([at, end])] = draw.choice([piece, b""])
    if bytes(after) == before:
        after[at] ^= 1
    return bytes(after)
