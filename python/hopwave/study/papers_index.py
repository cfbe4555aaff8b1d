"""The pages of doc/papers: every figure and table of the papers, with its verdict.

python -m hopwave.study.papers_index SOURCE writes them anew in a source tree; with --check it says
which differ from what config/papers, doc/papers/papers.yaml and doc/papers/results say; with
--plots it also draws the plots that papers.yaml lists.
"""

import math
import runpy
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from . import claims, papers
from .units import kind_of

if TYPE_CHECKING:
    import pandas

ILLUSTRATION = "illustration"
# The order in which one of several verdicts on a figure is taken for all of them.
WORST = [claims.DIFFERS, claims.WITHIN, claims.HOLDS, claims.UNTESTABLE]
MADE = "<!-- Made by `make update-doc` of config/papers, papers.yaml and results/. -->\n\n"


class Source:
    """A source tree: its papers, their studies and results."""

    def __init__(self, folder: Path) -> None:
        import yaml

        self.folder = folder / "doc" / "papers"
        self.configs = folder / "config" / "papers"
        listed = (self.folder / "papers.yaml").read_text(encoding="utf-8")
        self.papers: list[dict[str, Any]] = yaml.safe_load(listed)

    def figures(self, study: str) -> list[dict[str, Any]]:
        """The figures of a study, with defaults."""
        import yaml

        from .configuration import filled

        text = (self.configs / f"{study}.yaml").read_text(encoding="utf-8")
        config: dict[str, Any] = filled(yaml.safe_load(text))
        found: list[dict[str, Any]] = config["figures"]
        return found

    def tables(self, entry: Mapping[str, Any]) -> "dict[str, pandas.DataFrame]":
        """The tables of one set of results; without times, where these are not to be taken."""
        from ..renamed import read_csv

        files = {"results": entry["file"], **entry.get("tables", {})}
        folder = self.folder / "results"
        tables = {name: read_csv(folder / file, f"{name}.csv") for name, file in files.items()}
        if entry.get("counters"):
            for name, table in tables.items():
                timed = [c for c in table if kind_of(str(c)) and "bytes" not in str(c)]
                tables[name] = table.drop(columns=timed)
        return tables


def of_paper(figure: Mapping[str, Any], entry: Mapping[str, Any]) -> bool:
    """Whether a figure of a study is of a paper: of a study of several, as `figures` lists."""
    return figure["name"] in entry.get("figures", [figure["name"]])


def noted(claim: dict[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    """A verdict with where it is from; what was run less of is said of one that holds."""
    if claim["verdict"] in (claims.HOLDS, claims.WITHIN) and "within" in entry:
        claim["verdict"] = claims.WITHIN
    if claim["verdict"] != claims.UNTESTABLE and "within" in entry:
        claim["why"] = f"{entry['within']}; {claim['why']}"
    return {**claim, "results": entry["file"]}


def verdicts_of(source: Source, paper: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The verdicts on the claims of a paper: of each statement the first that can be decided."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for item in paper["numbered"]:
        for claim in item.get("measured", []):
            key = (item["figure"], claim["says"])
            found[key] = {"claim": "", "paper": None, "here": None, "results": "", **claim}
            found[key] |= {"figure": item["figure"]}
    for entry in paper["results"]:
        tables = source.tables(entry)
        for figure in source.figures(entry["study"]):
            if figure["table"] not in tables or not of_paper(figure, entry):
                continue
            for claim in papers.verdicts(figure, tables[figure["table"]]):
                key = (claim["figure"], claim["says"] or claim["claim"] or claim["why"])
                known = found.get(key)
                if known is None or known["verdict"] == claims.UNTESTABLE != claim["verdict"]:
                    found[key] = noted(claim, entry)
    return list(found.values())


def compared(source: Source, paper: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows of a paper, with what was measured here."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for entry in paper["results"]:
        tables = source.tables(entry)
        for figure in source.figures(entry["study"]):
            if not of_paper(figure, entry):
                continue
            for row in papers.comparison(figure, tables.get(figure["table"], tables["results"])):
                key = (row["figure"], row["name"], row["series"], str(row["x"]))
                if key not in found or (found[key]["here"] is None and row["here"] is not None):
                    found[key] = {**row, "results": entry["file"]}
    return list(found.values())


def overall(reported: list[dict[str, Any]]) -> tuple[str, str]:
    """The verdict on a figure, and what is behind it."""
    verdicts = [claim["verdict"] for claim in reported]
    verdict = next((v for v in WORST if v in verdicts), claims.UNTESTABLE)
    parts = []
    for claim in sorted(reported, key=lambda claim: WORST.index(claim["verdict"])):
        if claim["verdict"] == claims.UNTESTABLE and verdict != claims.UNTESTABLE:
            continue
        short = {claims.WITHIN: "holds"}.get(claim["verdict"], claim["verdict"])
        parts.append(f"{claim['says']}: {short} ({claim['why']})")
    left = verdicts.count(claims.UNTESTABLE)
    if left and verdict != claims.UNTESTABLE:
        parts.append(f"{left} more not tested here")
    if not parts:
        parts = ["no study has its data"]
    return verdict, "; ".join(parts)


def cell(text: Any) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ")


def table(columns: list[str], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}\n"
    for row in rows:
        yield f"| {' | '.join(map(cell, row))} |\n"
    yield "\n"


def numbered(paper: Mapping[str, Any], reported: list[dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    """The rows of the index: figure, about, verdict, what is behind it."""
    for item in paper["numbered"]:
        mine = [claim for claim in reported if claim["figure"] == item["figure"]]
        if item.get("illustration"):
            yield item["figure"], item["about"], ILLUSTRATION, ""
        elif "untestable" in item:
            yield item["figure"], item["about"], claims.UNTESTABLE, item["untestable"]
        else:
            yield item["figure"], item["about"], *overall(mine)


def index(source: Source) -> str:
    """The page of all papers."""
    body, counts = [], dict.fromkeys([*WORST, ILLUSTRATION], 0)
    for paper in source.papers:
        rows = list(numbered(paper, verdicts_of(source, paper)))
        for row in rows:
            counts[row[2]] += 1
        body.append(f"## {paper['title']}\n\n[Claims and numbers]({paper['paper']}.md)\n\n")
        body += table(["", "about", "verdict", "behind it"], rows)
    head = "# The papers' figures and tables\n\n" + MADE
    head += (
        "Every numbered figure and table of the five papers that the methods come from, and\n"
        "whether what it says holds here. *differs* is a result, not a failure: GPUs have changed\n"
        "since, and nothing is tuned until a claim holds. A figure differs if one of its claims\n"
        "does. The studies of `config/papers` test each claim anew wherever they run.\n\n"
    )
    total = sum(counts.values())
    head += f"Of {total}: " + ", ".join(f"{n} {name}" for name, n in counts.items()) + ".\n\n"
    return head + "".join(body).rstrip("\n") + "\n"


def shown(value: float | None) -> str:
    """A number of ours in a table; nothing where nothing was measured."""
    if value is None or math.isnan(value):
        return ""
    return f"{value:.0f}" if 1e4 <= abs(value) < 1e6 else f"{value:.4g}"


def stated(value: float | None) -> str:
    """A number of a paper, with all of its digits."""
    return "" if value is None else f"{value:.10g}"


def page(source: Source, paper: Mapping[str, Any]) -> str:
    """The page of one paper: its claims, its numbers next to ours, and where ours are from."""
    text = f"# {paper['title']}\n\n{MADE}## Claims\n\n"
    rows = [
        [
            *(c[key] for key in ("figure", "says", "verdict", "why")),
            *(stated(c["paper"]), shown(c["here"]), c["results"]),
        ]
        for c in verdicts_of(source, paper)
    ]
    order = [item["figure"] for item in paper["numbered"]]
    rows.sort(key=lambda row: order.index(row[0]) if row[0] in order else len(order))
    columns = ["", "the paper says", "verdict", "behind it", "paper", "here", "results"]
    text += "".join(table(columns, rows))
    reported = [
        [
            *(r[key] for key in ("figure", "series", "x")),
            *(stated(r["paper"]), shown(r["here"]), shown(r["ratio"])),
            *(r[key] for key in ("unit", "device", "source")),
        ]
        for r in compared(source, paper)
    ]
    if reported:
        text += "## The paper's numbers and ours\n\n"
        columns = ["", "line", "x", "paper", "here", "ratio", "unit", "device", "source"]
        text += "".join(table(columns, reported))
    pictures = sorted((source.folder / paper["paper"]).glob("*.svg"))
    if pictures:
        text += "## Plots\n\n"
        text += "".join(f"![{p.stem}]({paper['paper']}/{p.name})\n" for p in pictures) + "\n"
    text += "## Results\n\n"
    for entry in paper["results"]:
        words = [f"`results/{entry['file']}`: {entry['machine']}, {entry['date']}"]
        words += [f"commit {entry['commit']}"] if "commit" in entry else []
        words += [f"`{entry['command']}`"]
        words += [entry[key] for key in ("within", "note") if key in entry]
        words += ["times are not taken from these"] if entry.get("counters") else []
        text += "- " + "; ".join(words) + "\n"
    return text


def study_of(paper: Mapping[str, Any], file: str) -> str:
    """The study that a file of results is of."""
    for entry in paper["results"]:
        if file in (entry["file"], *entry.get("tables", {}).values()):
            return str(entry["study"])
    raise KeyError(file)


def draw(folder: Path) -> None:
    """The plots that papers.yaml lists, by the script that draws them in a study."""
    import matplotlib

    source = Source(folder)
    script = folder / "workflow" / "scripts" / "plot_figure.py"
    for paper in source.papers:
        into = source.folder / paper["paper"]
        into.mkdir(exist_ok=True)
        for file, names in paper.get("plots", {}).items():
            for figure in source.figures(study_of(paper, file)):
                if figure["name"] not in names:
                    continue
                output = {"plot": str(into / f"{figure['name']}.svg"), "table": "/dev/null"}
                job = SimpleNamespace(
                    log=["/dev/null"],
                    input=[str(source.folder / "results" / file)],
                    output=SimpleNamespace(**output),
                    params=SimpleNamespace(figure=figure),
                )
                matplotlib.rcParams["svg.fonttype"] = "none"
                errors = sys.stderr  # which the script sends to its log
                try:
                    runpy.run_path(str(script), init_globals={"snakemake": job})
                finally:
                    sys.stderr = errors
                for kind in (".png", ".pdf"):  # which save() draws, too
                    Path(output["plot"]).with_suffix(kind).unlink(missing_ok=True)


def pages(folder: Path) -> dict[Path, str]:
    """All pages of a source tree."""
    source = Source(folder)
    texts = {source.folder / "README.md": index(source)}
    texts |= {source.folder / f"{p['paper']}.md": page(source, p) for p in source.papers}
    return texts


def main(arguments: list[str]) -> int:
    check = "--check" in arguments
    folders = [argument for argument in arguments if argument not in ("--check", "--plots")]
    if len(folders) != 1:
        usage = "usage: python -m hopwave.study.papers_index [--check | --plots] SOURCE"
        print(usage, file=sys.stderr)
        return 2
    if "--plots" in arguments:
        draw(Path(folders[0]))
    stale = []
    for path, text in pages(Path(folders[0])).items():
        if check and (not path.is_file() or path.read_text(encoding="utf-8") != text):
            stale.append(path)
        elif not check:
            path.write_text(text, encoding="utf-8")
    for path in stale:
        print(f"{path}: is not what make update-doc writes", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
