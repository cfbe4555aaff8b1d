"""hopwave-study compare: two studies in one report."""

import argparse
import re
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .base import Place, check_output, fail, need

if TYPE_CHECKING:
    import numpy
    import pandas
    from numpy.typing import NDArray

    from .noise import Difference

    Numbers = NDArray[numpy.float64]

PACKAGES = ["h5py", "pandas", "scipy", "matplotlib", "jsonschema"]
TREE = re.compile(r"results/trees/(?P<graph>[^/]+)/(?P<partition>[^/]+)/(?P<search>.+)-r\d+\.h5")
CHANGED = ["slower", "faster"]
WORDS = {
    "noise": "noise",
    "unclear": "not known, for too much noise",
    "unknown": "not known, for want of repeats",
}
JOB = ["graph", "partition", "search"]


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    command = commands.add_parser(
        "compare",
        help="say in which results and by how much in speed two studies differ",
        description="Compares two studies, of two machines or versions: searches on the same "
        "graphs must have the same results, and times differ where they do so by more than "
        "noise. Exit status: 0 where nothing differs, 1 where something does.",
    )
    for name in ("A", "B"):
        command.add_argument(
            name.lower(),
            metavar=name,
            help="an archive, or a folder that holds results/",
        )
    command.add_argument(
        "--output",
        "-o",
        metavar="FILE",
        help="write the comparison as an HTML page, too",
    )
    command.add_argument(
        "--margin",
        type=float,
        default=0.05,
        metavar="SHARE",
        help="differences in speed that do not matter; default: 0.05",
    )
    command.add_argument("--force", action="store_true", help="replace FILE")
    command.set_defaults(main=main)


def main(place: Place, options: argparse.Namespace) -> None:
    need(place, *PACKAGES)
    if not 0 <= options.margin < 1:
        fail(2, "--margin must be at least 0 and below 1")
    output = Path(options.output) if options.output else None
    if output:
        check_output(output, options.force)
        if output.is_dir():
            fail(4, f"{output}: is a folder")
    work = tempfile.mkdtemp(prefix="hopwave-compare-")
    try:
        studies = [
            Timings(Path(path), Path(work, name))
            for path, name in ((options.a, "a"), (options.b, "b"))
        ]
        comparison = Comparison(studies[0], studies[1], options.margin)
        comparison.print()
        if output:
            from .compare_report import write

            write(comparison, output)
    except OSError as error:
        fail(4, f"{error.filename or output or work}: {error.strerror or error}")
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if output:
        print(f"report: {output.resolve()}")
    sys.exit(0 if comparison.same else 1)


class Timings:
    """The trees of one study and the times of its searches, from wherever they lie.

    trees     a row for each tree: job, digests, what it ran on
    searches  a row for each search: file, root, seconds
    """

    def __init__(self, path: Path, work: Path) -> None:
        from . import records, tables

        self.path = path
        folder = path.parent if path.name == "results" else path
        try:
            if (folder / "results" / "trees").is_dir():
                names = sorted(
                    p.relative_to(folder).as_posix() for p in folder.glob("results/trees/**/*.h5")
                )
                table = records.records(
                    folder, {name: [] for name in names}, records.foreign_record
                )
                searches = records.searches(folder, names, records.foreign_search_columns)
            else:
                data = self.archive(path, work)
                table = tables.files(data / "files.csv")
                searches = tables.searches(data / "searches.csv")
        except (records.UnreadableError, KeyError, ValueError, FileNotFoundError) as error:
            fail(3, f"{path}: neither an archive nor a folder with results ({error})")
        trees = table[table["kind"] == "tree"].set_index("file", drop=False)
        jobs = trees["file"].str.extract(TREE)
        # Graphs are the same by digest, under whatever name.
        jobs["name"] = jobs["graph"]
        jobs["graph"] = trees["graph"].where(trees["graph"] != "", jobs["graph"])
        self.trees = trees.drop(columns=["graph", "partition"]).join(jobs)
        self.searches = searches.join(self.trees[JOB], on="file")

    @staticmethod
    def archive(path: Path, work: Path) -> Path:
        from .bag import problems
        from .repeat import opened

        bag = opened(path, work)
        if wrong := problems(bag):
            fail(1, f"{path}: damaged: {wrong[0]}")
        return bag / "data"

    def jobs(self) -> "dict[Any, pandas.DataFrame]":
        return dict(list(self.trees.groupby(JOB, sort=False)))

    def times(self) -> "dict[Any, pandas.DataFrame]":
        """Logarithms of seconds for each job: a column for each repeat, a row a root."""
        import numpy
        import pandas

        tables: dict[Any, pandas.DataFrame] = {}
        for job, searches in self.searches.groupby(JOB, sort=False):
            table = searches.pivot_table(index="root", columns="file", values="seconds")
            whole = table.clip(lower=1e-9).dropna()
            tables[job] = pandas.DataFrame(
                numpy.log(whole.to_numpy()), index=whole.index, columns=whole.columns
            )
        return tables

    def about(self, key: str) -> str:
        """What the trees say of what they ran on, each once."""
        values = dict.fromkeys(str(value) for value in self.trees[key] if str(value))
        return ", ".join(values) or "-"


class Comparison:
    """What two studies have in common, and how they differ."""

    def __init__(self, a: Timings, b: Timings, margin: float) -> None:
        self.a, self.b, self.margin = a, b, margin
        jobs_a, jobs_b = a.jobs(), b.jobs()
        self.jobs = [job for job in jobs_a if job in jobs_b]
        self.only = [
            [jobs[job] for job in jobs if job not in other]
            for jobs, other in ((jobs_a, jobs_b), (jobs_b, jobs_a))
        ]
        if not self.jobs:
            fail(3, f"{a.path} and {b.path}: no search of the same graph in both")
        self.results = [result(jobs_a[job], jobs_b[job]) for job in self.jobs]
        self.names = [jobs_a[job]["name"].iloc[0] for job in self.jobs]
        self.ranks = [jobs_a[job]["ranks"].iloc[0] for job in self.jobs]
        self.crowded = [crowded(jobs_a[job]) or crowded(jobs_b[job]) for job in self.jobs]
        self.speeds(a.times(), b.times())
        self.table = self.rows()
        self.same_results = "different" not in self.results
        speeds = [*self.differences, self.overall]
        self.same_speed = not any(d.verdict in CHANGED for d in speeds)
        self.same = self.same_results and self.same_speed

    def speeds(
        self, times_a: "dict[Any, pandas.DataFrame]", times_b: "dict[Any, pandas.DataFrame]"
    ) -> None:
        """The difference of each job, and that of all of them."""
        import numpy

        from . import noise

        pairs: list[tuple[Numbers, Numbers] | None] = []
        alike: dict[Any, list[tuple[Numbers, Numbers]]] = {}
        for job in self.jobs:
            pair = None
            if job in times_a and job in times_b:
                a, b = times_a[job], times_b[job]
                roots = a.index.intersection(b.index)
                if len(roots):
                    pair = noise.paired(a.loc[roots].to_numpy(), b.loc[roots].to_numpy())
            pairs.append(pair)
            if pair:
                alike.setdefault(self.ranks[len(pairs) - 1], []).append(pair)
        whole = [pair for pair in pairs if pair]
        if not whole:
            fail(3, f"{self.a.path} and {self.b.path}: no common roots")
        levels = {ranks: noise.level(some) for ranks, some in alike.items()}
        missing = noise.Difference(numpy.nan, numpy.nan, numpy.nan, "no common roots")
        self.differences: list[Difference] = [
            (noise.difference(*pair, levels[ranks], len(whole), self.margin) if pair else missing)
            for pair, ranks in zip(pairs, self.ranks)
        ]
        self.differences = [
            replace(d, verdict="unclear") if crowd and d is not missing else d
            for d, crowd in zip(self.differences, self.crowded)
        ]
        # In the whole each job counts by how sure it is.
        sure = [noise.weight(d) for d in self.differences if d is not missing]
        self.repeats = [min(len(pair[side]) for pair in whole) for side in (0, 1)]
        means = [
            numpy.average([pair[side][:repeats] for pair in whole], 0, sure)
            for side, repeats in enumerate(self.repeats)
        ]
        ranks = [r for r, d in zip(self.ranks, self.differences) if d is not missing]
        common = numpy.average([levels[r] for r in ranks], 0, sure)
        self.overall = noise.difference(
            means[0], means[1], (float(common[0]), float(common[1])), 1, self.margin
        )
        if max(self.repeats) == 1:
            # Nothing tells the noise of one row from a difference in it.
            self.differences = [replace(d, verdict="unknown") for d in self.differences]

    def rows(self) -> "pandas.DataFrame":
        import pandas

        return pandas.DataFrame(
            {
                "graph": name,
                "partition": job[1],
                "search": job[2],
                "results": results,
                "B/A": difference.ratio,
                "from": difference.low,
                "to": difference.high,
                "speed": difference.verdict,
            }
            for name, job, results, difference in zip(
                self.names, self.jobs, self.results, self.differences
            )
        )

    def sentences(self) -> list[str]:
        """What came out, in words."""
        from . import noise

        counts = {
            word: self.results.count(word) for word in ("equal", "other parents", "different")
        }
        said = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        lines = [f"results: {'the same' if self.same_results else 'DIFFERENT'} ({said})"]
        d = self.overall
        interval = f"B takes {d.ratio:.3f} times as long as A ({d.low:.3f} to {d.high:.3f})"
        rows = sum(d.verdict in CHANGED for d in self.differences)
        if not self.same_speed:
            word = f"DIFFERENT, B is {d.verdict}"
            if d.verdict not in CHANGED:
                word = "DIFFERENT in parts"
            word += f" ({rows} of {len(self.differences)} rows)"
        else:
            word = WORDS[d.verdict]
        lines.append(f"speed: {word}: {interval}")
        if any(self.crowded):
            lines.append(
                f"note: {sum(self.crowded)} rows ran on more ranks than processors, whose "
                "times say little"
            )
        unclear = sum(d.verdict == "unclear" for d in self.differences)
        if unclear:
            lines.append(
                f"note: {unclear} rows are too noisy to tell a factor of {noise.SEEN} in them; "
                "more repeats tell more"
            )
        if max(self.repeats) == 1:
            lines.append(
                "note: one repeat each, so that noise is told from the spread between rows only"
            )
        for name, only in zip("AB", self.only):
            if only:
                lines.append(f"note: {len(only)} jobs are only in {name}")
        return lines

    def print(self) -> None:
        text = self.table.to_string(index=False, float_format="{:.3f}".format)
        print(text, *self.sentences(), sep="\n")


def crowded(trees: "pandas.DataFrame") -> bool:
    """Whether ranks of a job shared processors, as far as its trees tell: a rank that is
    bound to processors of its own knows of these alone."""
    for tree in trees.to_dict("records"):
        cores = tree.get("cores_of_rank_0")
        if cores in (None, "") or not tree["ranks"]:
            continue
        counts = re.findall(r"\*(\d+)", str(tree["hosts"])) or [tree["ranks"]]
        needed = max(map(int, counts)) * int(tree["threads"])
        if needed > int(cores) > int(tree["threads"]):
            return True
    return False


def result(trees_a: "pandas.DataFrame", trees_b: "pandas.DataFrame") -> str:
    """Whether the trees of one job say the same."""

    def distinct(key: str) -> set[Any]:
        return set(trees_a[key]) | set(trees_b[key])

    if len(distinct("digest")) > 1 or len(distinct("results_digest")) > 1:
        return "different"
    return "equal" if len(distinct("parents")) == 1 else "other parents"
