"""hopwave-study repeat: checks an archive, and runs what it holds again."""

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

    from ..study.configuration import Run, Study

from . import run
from .base import Place, fail, need, printable, read_config, read_study, use_programs

PACKAGES = ["jsonschema", "yaml", "h5py", "pandas"]
SAME = ["kind", "digest", "graph", "partition", "tree", "parents", "results_digest"]


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "repeat",
        help="check an archive, and run what it holds again",
        description="Checks every digest of an archive, the chain from file to file and "
        "all searches; runs again what is asked; and says what came out the same. The "
        "study itself is not needed. What follows -- goes to snakemake as it is.",
    )
    command.add_argument("archive", metavar="ARCHIVE", help="a folder or a tar file")
    command.add_argument(
        "--expect",
        metavar="DIGEST",
        help="the digest that was kept outside the archive",
    )
    what = command.add_mutually_exclusive_group()
    what.add_argument("--all", action="store_true", help="run all searches again")
    what.add_argument(
        "--sample", type=int, metavar="N", help="run N searches again, drawn at random"
    )
    command.add_argument(
        "--seed", type=int, default=1, metavar="S", help="of the sample; default: 1"
    )
    command.add_argument(
        "--parts",
        type=int,
        nargs="+",
        metavar="N",
        help="run with these numbers of parts, and so of ranks, instead",
    )
    command.add_argument(
        "--directory",
        metavar="DIR",
        help="where to work, kept afterwards; default: a folder that is removed",
    )
    run.add_machine(command)
    command.set_defaults(main=main)


def main(place: Place, options: argparse.Namespace) -> None:
    need(place, *PACKAGES)
    if options.sample is not None and options.sample < 1:
        fail(2, "--sample must be at least 1")
    again = bool(options.all or options.sample or options.parts)
    if again:
        need(place, "snakemake")
    use_programs(place, options.bin, "info", "validate", *(run.PROGRAMS if again else []))
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace", line_buffering=True)
    work = options.directory or tempfile.mkdtemp(prefix="hopwave-repeat-")
    try:
        Path(work).mkdir(parents=True, exist_ok=True)
        sound = Repeat(place, options, Path(work)).run(again)
    except OSError as error:
        fail(4, f"{error.filename or work}: {error.strerror or error}")
    finally:
        if not options.directory:
            shutil.rmtree(work, ignore_errors=True)
    sys.exit(0 if sound else 1)


def opened(path: Path, folder: Path) -> Path:
    """The bag of an archive; a tar file is unpacked into the folder."""
    from .pack import DamageError, NoArchiveError, unpack

    if path.is_dir():
        if not (path / "data").is_dir() and not (path / "bagit.txt").is_file():
            fail(3, f"{path}: not an archive")
        return path
    if path.exists() and not path.is_file():
        fail(3, f"{path}: not a file")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        return unpack(path, folder)
    except NoArchiveError as error:
        fail(3, str(error))
    except DamageError as error:
        fail(1, f"damaged: {error}")
    except FileNotFoundError:
        fail(3, f"{path}: no such archive")


def program(*command: str) -> tuple[int, list[str]]:
    """Runs a program on one rank: its status and what it said."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    return done.returncode, done.stderr.strip().splitlines()


class Repeat:
    """One archive under examination."""

    folder: Path  # of its data
    table: "pandas.DataFrame"  # files.csv
    config: Path  # that runs in the work folder

    def __init__(self, place: Place, options: argparse.Namespace, work: Path) -> None:
        self.place, self.options, self.work = place, options, work
        self.archive = Path(options.archive)

    def run(self, again: bool) -> bool:
        """Whether everything holds and came out the same."""
        self.claim()
        bag = opened(self.archive, self.work / "archive")
        if not self.digests(bag):
            return False
        self.folder = bag / "data"
        sound = self.chain() and self.verify()
        sound = self.validate() and sound
        if sound and again:
            sound = self.again()
        return sound

    def claim(self) -> None:
        """Takes the work folder, unless it is used for something else."""
        self.mark = self.work / "repeated.txt"
        if not self.mark.is_file() and any(self.work.iterdir()):
            fail(4, f"{self.work}: not empty, and nothing was repeated there")
        self.mark.touch()

    def claim_for(self, seal: str) -> None:
        """Keeps what is made of two archives apart."""
        if self.mark.read_text() not in ("", f"{seal}\n"):
            fail(4, f"{self.work}: another archive was repeated there")
        self.mark.write_text(f"{seal}\n")

    def say(self, what: str, wrong: Sequence[str], right: str) -> bool:
        """Reports one kind of check; returns whether nothing was wrong."""
        for sentence in wrong:
            print(f"{what}: {printable(sentence)}", file=sys.stderr)
        print(f"{what}: {len(wrong)} wrong" if wrong else f"{what}: {right}")
        return not wrong

    def digests(self, bag: Path) -> bool:
        from .bag import ALGORITHM, TAG_MANIFEST, contents, problems, seal

        expected = self.options.expect
        if expected and ":" not in expected:
            expected = f"{ALGORITHM}:{expected}"
        wrong = problems(bag, expected)
        if (bag / TAG_MANIFEST).is_file():
            print(f"archive: {self.archive}, digest {seal(bag)}")
            self.claim_for(seal(bag))
        return self.say("digests", wrong, f"{len(contents(bag)[0])} files as listed")

    def chain(self) -> bool:
        """Files must be what the table of them says, and follow from one another."""
        from . import records, tables

        try:
            self.table = tables.files(self.folder / "files.csv")
            kept = self.table[self.table["kept"] == 1]
            wrong = []
            for row in kept.to_dict("records"):
                name = str(row["file"])
                now = records.foreign_record(self.folder / name)
                differs = [key for key in SAME if str(now.get(key, "")) != str(row[key])]
                if differs:
                    wrong.append(f"{name}: not what files.csv says ({differs[0]})")
        except (OSError, ValueError, records.UnreadableError) as error:
            fail(3, f"{self.archive}: not an archive of a study ({error})")
        wrong += records.breaks(self.table)
        left = len(self.table) - len(kept)
        right = f"{len(kept)} files follow from one another"
        sound = self.say("chain", wrong, right + (f", {left} left out" if left else ""))
        if left:
            gone = set(self.table[self.table["kept"] == 0]["kind"])
            named = [f"{kind}s" for kind in ("graph", "partition", "tree", "check") if kind in gone]
            kinds = " and ".join([", ".join(named[:-1]), named[-1]] if named[1:] else named)
            print(
                f"note: {left} {kinds} are not in the archive; of these it has the digests alone, "
                "with which what is run again (--all, --sample) is compared"
            )
        return sound

    def kept(self, *kinds: str) -> list[str]:
        rows = self.table[(self.table["kept"] == 1) & self.table["kind"].isin(kinds)]
        return list(rows["file"])

    def verify(self) -> bool:
        """The programs themselves must find each file whole."""
        files = self.kept("graph", "partition", "tree", "check")
        wrong: list[str] = []
        for start in range(0, len(files), 200):
            paths = [str(self.folder / name) for name in files[start : start + 200]]
            status, said = program("hopwave-info", "--untrusted", "--quiet", *paths)
            wrong += (said or [f"status {status}"]) if status else []
        return self.say("contents", wrong, f"{len(files)} files verify")

    def validate(self) -> bool:
        """Checks the searches again, of trees and graphs that are there."""
        kept, count, skipped = set(self.kept("graph", "tree")), 0, 0
        wrong: list[str] = []
        reference = self.given().get("reference")
        for row in self.table[self.table["kind"] == "check"].to_dict("records"):
            tree, graph = row["inputs"].split()
            if not {tree, graph} <= kept:
                skipped += 1
                continue
            check = self.work / "validated" / Path(row["file"]).relative_to("results")
            check.parent.mkdir(parents=True, exist_ok=True)
            command = ["hopwave-validate", str(self.folder / tree), "--graph"]
            command += [
                str(self.folder / graph),
                "-o",
                str(check),
                "--quiet",
                "--force",
            ]
            status, said = program(*command, *["--reference"] * bool(reference))
            count += 1
            if status:
                wrong.append(f"{tree}: {(said or ['a check failed'])[-1]}")
        right = f"{count} trees are valid"
        if skipped:
            right += f"; {skipped} are not checked, as they or their graphs are not in the archive"
        return self.say("validation", wrong, right)

    def again(self) -> bool:
        """Runs searches again and compares them with those of the archive."""
        import pandas

        study = self.study()
        runs = study.runs
        if self.options.sample:
            source = random.Random(self.options.seed)
            drawn = source.sample(range(len(runs)), min(self.options.sample, len(runs)))
            print(
                f"sample: {len(drawn)} of the {len(runs)} searches of the study, drawn with "
                f"--seed {self.options.seed}; --all runs every one again"
            )
            runs = [runs[number] for number in sorted(drawn)]
        self.remake(study, runs)
        rows = list(self.compare(study, runs))
        print(pandas.DataFrame(rows).to_string(index=False, na_rep=""))
        found = pandas.Series([row["result"] for row in rows])
        order = ["identical", "equivalent", "different", "missing"]
        counts = [f"{(found == result).sum()} {result}" for result in order]
        print(f"repeated: {', '.join(counts)}")
        return not bool(found.isin(["different", "missing"]).any())

    def given(self) -> dict[str, Any]:
        """The configuration of the archive."""
        config = read_config(self.folder / "study.yaml")
        if not isinstance(config, dict):
            fail(3, f"{self.archive}: study.yaml is no configuration")
        return config

    def study(self) -> "Study":
        """The configuration of the archive as it is to be run in the work folder."""
        import yaml

        config = self.given()
        try:
            files = [Path(graph.get("file", "inputs")) for graph in config["graphs"]]
        except (AttributeError, KeyError, TypeError):
            fail(3, f"{self.archive}: study.yaml is no configuration")
        for file in files:
            if file.parts[:1] != ("inputs",) or ".." in file.parts:
                fail(3, f"{self.archive}: study.yaml names {file}, which lies outside")
        for graph in config["graphs"] if self.options.parts else []:
            graph.pop("parts", None)
        if self.options.parts:
            config["parts"] = self.options.parts
        inputs = self.work / "inputs"
        inputs.unlink(missing_ok=True)
        inputs.symlink_to((self.folder / "inputs").resolve())
        self.config = self.work / "study.yaml"
        self.config.write_text(yaml.safe_dump(config, sort_keys=False))
        return read_study(self.config, self.work)

    def remake(self, study: "Study", runs: Sequence["Run"]) -> None:
        from ..study.configuration import TREE

        command = run.snakemake(self.place, self.options, self.config, self.work)
        command += [
            "--quiet",
            "rules",
            "host",
            "progress",
            *self.options.snakemake,
            "--",
        ]
        run.call(command + study.files(TREE, runs) + study.checks(runs), self.work)

    def compare(self, study: "Study", runs: Sequence["Run"]) -> Iterator[dict[str, Any]]:
        """A row for each file that was to be made again."""
        from ..study.configuration import GRAPH, TREE
        from . import records
        from .counterparts import Counterparts

        there = Counterparts(
            self.table, lambda path: str(records.record(self.work / path)["digest"])
        )
        for path in study.files(GRAPH, runs):
            if then := there.graph(path):
                yield self.row("graph", path, then, "seconds")
        for path in study.partition_files(runs):
            # Other parts have no partition to be compared with.
            if then := there.partition(path):
                yield self.row("partition", path, then, "seconds")
        if renamed := there.renamed():
            now, then = next(iter(renamed.items()))
            print(
                f"note: {len(renamed)} graphs and partitions have other names in the archive, "
                f"as versions name files by other rules: {now} is {then} there"
            )
        for number, path in enumerate(study.files(TREE, runs)):
            check = study.checks([runs[number]])
            yield self.row("tree", path, there.tree(runs[number], study), "search_seconds", *check)

    def row(
        self, kind: str, path: str, then: str | None, clock: str, check: str | None = None
    ) -> dict[str, Any]:
        """What became of one file, with times side by side."""
        from . import records

        row: dict[str, Any] = {"file": path.removeprefix("results/"), "result": "missing"}
        try:
            now = records.record(self.work / path)
            checked = records.record(self.work / check)["passed"] if check else 1
        except records.UnreadableError:
            return row
        row["now_ms"] = round(1e3 * now[clock], 4)
        if then is None:
            return row
        old: Any = self.table.loc[then]
        row["then_ms"] = round(1e3 * float(old[clock]), 4)
        if row["then_ms"]:
            row["now/then"] = round(row["now_ms"] / row["then_ms"], 3)
        if kind == "tree" and not (checked and now.get("passed", 1)):
            row["result"] = "different"
        else:
            row["result"] = outcome(kind, old, now)
        return row


def outcome(kind: str, old: Any, now: dict[str, Any]) -> str:
    """Trees with other parents are other legal ones of the same searches."""
    if old["digest"] != now["digest"] or old["results_digest"] != now.get("results_digest", ""):
        return "different"
    same = kind != "tree" or old["parents"] == now["parents"]
    return "identical" if same else "equivalent"
