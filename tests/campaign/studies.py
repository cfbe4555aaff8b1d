"""Configurations and archives that were changed."""

import io
import os
import random
import shutil
import sys
from contextlib import redirect_stderr
from pathlib import Path

from common import PATIENCE, TOP, Ended, World, WrongError, change, judge, one_by_one

sys.path.insert(0, str(TOP / "python"))

WORDS = ["", "~", "[]", "{}", "-1", "0", "1e999", ".nan", "2025-01-01", "99999999999999999999"]
WORDS += ["true", "'a b'", '"$(id)"', "'; ls'", "../x", "auto", "--force", "!!python/none x"]
WORDS += ["&a [*a]", "*b", "? x", "1.5", "'x\\n'", "\x07", "é", "0x10", "{a: 1, a: 2}"]


class Configurations:
    """Configurations with lines and words changed: a study, or one sentence and status 3 or 2."""

    name = "configurations"

    def __init__(self, world: World) -> None:
        self.world = world
        os.environ["PATH"] = os.pathsep.join([str(world.programs), os.environ["PATH"]])
        found = sorted((TOP / "config").rglob("*.y*ml"))
        self.texts = [path.read_text(encoding="utf-8") for path in found]

    def tries(self, numbers: range) -> list[tuple[int, str]]:
        return one_by_one(self.name, self.attempt, numbers)

    def attempt(self, draw: random.Random, number: int) -> None:
        from hopwave.commands.base import read_study

        path = self.world.folder / f"study-{number}.yaml"
        text = draw.choice(self.texts)
        for _ in range(draw.choice([1, 1, 2, 5])):
            text = reworded(draw, text)
        data = text.encode("utf-8", "surrogatepass")
        path.write_bytes(change(draw, data) if draw.random() < 0.2 and data else data)
        said = io.StringIO()
        status = 0
        try:
            with redirect_stderr(said):
                study = read_study(path, self.world.folder)
                list(study.runs)
        except SystemExit as end:
            status = int(end.code or 0)
        except Exception as error:
            raise WrongError(f"{type(error).__name__}: {error}") from None
        judge(Ended(status, "", said.getvalue()), 0, 2, 3)
        self.world.counts["refused" if status else "a study"] += 1
        path.unlink()


def reworded(draw: random.Random, text: str) -> str:
    """A configuration with a line or a value changed."""
    lines = text.splitlines()
    at = draw.randrange(len(lines))
    match draw.randrange(5):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, draw.choice(lines))
        case 2:
            lines[at] = draw.choice([" ", "  ", "- "]) + lines[at]
        case 3:
            head, colon, _ = lines[at].partition(":")
            lines[at] = f"{head}{colon} {draw.choice(WORDS)}"
        case _:
            place = draw.randrange(len(lines[at]) + 1)
            lines[at] = lines[at][:place] + draw.choice(WORDS) + lines[at][place:]
    return "\n".join(lines) + "\n"


class Archives:
    """Archives of a small study with files damaged, and manifests brought up to date or not:
    hopwave-study repeat says so in sentences and ends with 1 or 3."""

    name = "archives"

    def __init__(self, world: World) -> None:
        self.world = world
        os.environ["PATH"] = os.pathsep.join([str(world.programs), os.environ["PATH"]])
        self.study = world.programs / "hopwave-study"
        self.archive = world.folder / "S"
        config = world.folder / "study.yaml"
        config.write_text(
            "graphs: [{ model: rmat, scales: [6] }]\nlayouts: [{ layout: 1d }]\nparts: [1]\n"
            "methods: [{ method: auto }]\nroots: { count: 2 }\n"
        )
        (world.folder / "source.tar.gz").write_text("the source\n")
        for command in (
            ["run", "--config", config, "--cores", "1"],
            ["archive", "-o", self.archive, "--source", "source.tar.gz"],
        ):
            done = self.call(*command, patience=10 * PATIENCE)
            if done.status:
                raise RuntimeError(f"hopwave-study {command[0]} fails: {done.err[-500:]}")
        self.files = sorted(path for path in self.archive.rglob("*") if path.is_file())

    def call(self, *words: str | Path, patience: float = PATIENCE) -> Ended:
        return self.world.call([sys.executable, str(self.study), *map(str, words)], patience)

    def tries(self, numbers: range) -> list[tuple[int, str]]:
        return one_by_one(
            self.name,
            self.attempt,
            numbers,
            lambda: shutil.rmtree(self.world.folder / "F", ignore_errors=True),
        )

    def attempt(self, draw: random.Random, number: int) -> None:
        forged = self.world.folder / "F"
        shutil.copytree(self.archive, forged)
        for _ in range(draw.choice([1, 1, 2])):
            path = forged / draw.choice(self.files).relative_to(self.archive)
            self.tamper(draw, path)
        resealed = draw.random() < 0.6
        if resealed:
            reseal(forged)
        done = self.call("repeat", forged)
        if done.status not in (0, 1, 3) or "Traceback" in done.err:
            raise WrongError(f"status {done.status}: {done.err.strip()[-300:]}")
        if done.status == 0 and not resealed:
            raise WrongError("an archive is whole whose manifests do not hold")
        word = ["whole, resealed", "found damaged", "", "refused"][done.status]
        self.world.counts[word] += 1

    @staticmethod
    def tamper(draw: random.Random, path: Path) -> None:
        match draw.randrange(8):
            case 0:
                path.unlink(missing_ok=True)
            case 1 if path.exists():
                path.unlink()
                path.symlink_to("/etc/passwd")
            case 2 if path.exists():
                path.rename(path.with_name(path.name + "x"))
            case 3 if path.exists():
                path.unlink()
                os.mkfifo(path)
            case _ if path.is_file() and not path.is_symlink():
                path.write_bytes(change(draw, path.read_bytes() or b"\n"))


def reseal(folder: Path) -> None:
    """Brings the manifests of a bag up to date with what lies in it."""
    from hopwave.commands.bag import MANIFEST, TAG_MANIFEST, digest

    for manifest in (MANIFEST, TAG_MANIFEST):
        if manifest == MANIFEST:
            files = [path for path in (folder / "data").rglob("*")]
        else:
            files = [path for path in folder.iterdir() if path.name != TAG_MANIFEST]
        whole = sorted(path for path in files if path.is_file() and not path.is_symlink())
        lines = [f"{digest(path)}  {path.relative_to(folder).as_posix()}\n" for path in whole]
        (folder / manifest).unlink(missing_ok=True)
        (folder / manifest).write_text("".join(lines))
