"""Writes the page of a study: python -m hopwave.page.index [RESULTS]

RESULTS is a folder results/ of a study, by default that here, whose page is made anew from its
tables and plots.
"""

import base64
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..study import headline
from ..study.whole import whole
from . import context, dictionary
from .context import About

if TYPE_CHECKING:
    import pandas

HERE = Path(__file__).parent
PAGED = 100  # rows of the table from which on it is shown in pages
CITATION = """@software{{hopwave,
  title = {{Hopwave: breadth-first search and shortest paths on very large graphs}},
  version = {{{version}}},
  note = {{commit {commit}; license Apache-2.0}}
}}"""


def sorter() -> Mapping[str, str]:
    """What makes tables sortable: the bundle of DataTables (MIT) that the package itables (MIT)
    brings, as base64 and CSS; nothing where it is not installed, and the table stays plain."""
    found = find_spec("itables")
    if not found or not found.submodule_search_locations:
        return {}
    folder = Path(found.submodule_search_locations[0]) / "html"
    script, style = folder / "dt_bundle.js", folder / "dt_bundle.css"
    if not script.is_file() or not style.is_file():
        return {}
    return {
        "script": base64.b64encode(script.read_bytes()).decode("ascii"),
        "style": style.read_text(encoding="utf-8").replace("</style", "<\\/style"),
    }


def write(
    output: Path,
    results: "pandas.DataFrame",
    gate: "pandas.DataFrame",
    about: About,
    plots: Iterable[Path] = (),
    claims: Path | None = None,
) -> None:
    """Writes the page, and the data dictionary of results.csv beside it.

    output    results/index.html
    results   of results.csv, a row for each run; it may be empty
    gate      of gate.csv, a row for each check: "file", "passed", "violations"
    plots     SVGs that have a PDF and a PNG beside them
    claims    results/claims.json, if it is there
    """
    from jinja2 import Environment, FileSystemLoader

    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("index.html.j2")
    text = page.render(
        style=(HERE / "style.css").read_text(encoding="utf-8"),
        sort=(HERE / "sort.js").read_text(encoding="utf-8"),
        sorter=sorter(),
        **values(results, gate, about),
        plots=context.plots(plots, about),
        claims=context.claims(claims),
    )
    with whole(output) as part:
        Path(part).write_text(text, encoding="utf-8", errors="replace")
    if not about.tables:
        return
    with whole(output.with_name("columns.csv")) as part:
        Path(part).write_text(dictionary.table(results.columns), encoding="utf-8")


def write_failed(output: Path, checks: Iterable[Path], about: About) -> bool:
    """Writes the page of a study of which a check failed: how many searches are valid, and the
    files of those that are not. Does nothing, and returns False, where no check failed.

    checks   check files, or tree files of searches that were checked as they were made
    """
    import pandas

    verdicts = pandas.DataFrame([verdict(path) for path in checks if path.is_file()])
    if not len(verdicts) or (verdicts["passed"] == 1).all():
        return False
    write(output, pandas.DataFrame(), verdicts, replace(about, tables=False, report=False))
    return True


def verdict(path: Path) -> dict[str, Any]:
    """What a check file, or a tree file, says of its searches."""
    import h5py

    from ..study import trees

    _, passed, violations, _ = trees.verdict(path)
    with h5py.File(path) as file:
        if "rules" in file:
            right = (file["rules"][...] == 0).all(axis=1)
        else:
            right = trees.frame(file["run/search"])["violations"].to_numpy() == 0
    name = Path(*path.parts[-5:]).as_posix()
    counts = {"searches": len(right), "valid": int(right.sum())}
    return {"file": name, "passed": passed, "violations": int(violations), **counts}


def values(
    results: "pandas.DataFrame", gate: "pandas.DataFrame", about: About
) -> Mapping[str, Any]:
    """What the template needs of the tables."""
    table = headline.configurations(results)
    right, total = context.valid(results, gate)
    failed = gate[gate["passed"].astype(float) != 1] if "passed" in gate else gate.iloc[:0]
    wrong = wrong_rows(results, failed)
    version = context.texts(results, "version") or "unknown"
    return {
        "about": about,
        "valid": right,
        "total": total,
        "failed": failed.to_dict("records"),
        "headlines": context.headlines(table),
        "where": context.where(results),
        "when": context.when(results, about),
        "rows": context.rows(table, wrong),
        "paged": PAGED,
        "scaling": context.scaling(table),
        "shared": bool(table["shared_cores"].any()),
        "bibtex": CITATION.format(version=version, commit=about.commit or "unknown"),
    }


def wrong_rows(results: "pandas.DataFrame", failed: "pandas.DataFrame") -> set[tuple[Any, ...]]:
    """(graph, layout, parts, method) of runs that are not valid."""
    if not len(failed) or "tree" not in results:
        return set()
    trees = {context.tree_of(str(path)) for path in failed["file"]}
    rows = results[results["tree"].astype(str).isin(trees)]
    return set(zip(rows["graph"], rows["layout"], rows["parts"], rows["method"]))


def frame(path: Path) -> "pandas.DataFrame":
    """A table; an empty one where there is none."""
    import pandas

    from ..renamed import read_csv

    try:
        return read_csv(path, low_memory=False)
    except (OSError, pandas.errors.EmptyDataError):
        return pandas.DataFrame()


def plan_of(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What a configuration says of how searches ran. config: with its defaults filled in."""
    roots = config["roots"]
    seeds = [str(graph["seed"]) for graph in config["graphs"] if "seed" in graph]
    return [
        (
            "seeds",
            f"roots {roots['seed']}; graphs {', '.join(dict.fromkeys(seeds)) or 'the default'}",
        ),
        ("roots", f"{roots['count']} a run"),
        ("repeats", str(config["repeats"])),
    ]


def about_of(results: Path) -> About:
    """What results/study.yaml says."""
    from ..commands.base import read_config
    from ..study.configuration import filled

    path = results / "study.yaml"
    report = (results / "report.html").is_file()
    if not path.is_file():
        return About(report=report)
    config: dict[str, Any] = filled(read_config(path))
    figures = {figure["name"]: figure for figure in config["figures"]}
    return About(config["title"], plan_of(config), figures, commit(), report)


def commit() -> str:
    """The commit of the source, as hopwave-study found it."""
    return os.environ.get("HOPWAVE_COMMIT", "")


def main() -> None:
    results = Path(sys.argv[1] if len(sys.argv) > 1 else "results")
    if not (results / "results.csv").is_file():
        sys.exit(f"{results / 'results.csv'}: no such file")
    plots = sorted((results / "plots").glob("*.svg"))
    claims = results / "claims.json"
    tables = frame(results / "results.csv"), frame(results / "gate.csv")
    write(results / "index.html", *tables, about_of(results), plots, claims)


if __name__ == "__main__":
    main()
