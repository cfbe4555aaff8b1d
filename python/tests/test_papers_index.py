"""The pages of doc/papers are what the papers' data and the results say, and miss no figure."""

import re
from collections import Counter
from pathlib import Path

import pytest

from hopwave.study import claims, papers_index

SOURCE = Path(__file__).resolve().parents[2]
pytest.importorskip("yaml")
pytest.importorskip("jsonschema")
pytestmark = pytest.mark.skipif(
    not (SOURCE / "doc" / "papers" / "papers.yaml").is_file(), reason="no source tree"
)
# How many figures and tables each paper numbers, counted in the papers.
NUMBERED = {
    "load-balanced": (7, 1),
    "kepler-2d": (11, 3),
    "xbfs": (16, 2),
    "degree-separated": (13, 2),
    "bellman-ford": (9, 3),
}
VERDICTS = [*papers_index.WORST, papers_index.ILLUSTRATION]


def rows() -> dict[str, list[tuple[str, str]]]:
    """Figure and verdict of each row of the tracked index, by heading."""
    found: dict[str, list[tuple[str, str]]] = {}
    heading = ""
    for line in (SOURCE / "doc" / "papers" / "README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        elif re.match(r"\| (Figure|Table) [0-9]+ \|", line):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]
            found.setdefault(heading, []).append((cells[1], cells[3]))
    return found


def test_the_tracked_pages_are_those_that_are_made() -> None:
    for path, text in papers_index.pages(SOURCE).items():
        assert path.read_text(encoding="utf-8") == text, f"{path}: run make update-doc"


def test_no_figure_is_missing() -> None:
    found = rows()
    papers = papers_index.Source(SOURCE).papers
    assert list(found) == [paper["title"] for paper in papers]
    for paper in papers:
        figures, tables = NUMBERED[paper["paper"]]
        every = [f"Figure {n}" for n in range(1, figures + 1)]
        every += [f"Table {n}" for n in range(1, tables + 1)]
        assert [figure for figure, _ in found[paper["title"]]] == every
        assert all(verdict in VERDICTS for _, verdict in found[paper["title"]])


def test_few_are_not_tested() -> None:
    counts = Counter(verdict for listed in rows().values() for _, verdict in listed)
    results = sum(counts.values()) - counts[papers_index.ILLUSTRATION]
    assert 5 * counts[claims.UNTESTABLE] <= results


def test_every_statement_has_a_reason() -> None:
    source = papers_index.Source(SOURCE)
    for paper in source.papers:
        for claim in papers_index.verdicts_of(source, paper):
            assert claim["why"], claim
            assert claim["verdict"] in papers_index.WORST


def test_results_of_an_earlier_version_are_read(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    results = tmp_path / "doc" / "papers" / "results"
    results.mkdir(parents=True)
    (tmp_path / "doc" / "papers" / "papers.yaml").write_text("[]\n", encoding="utf-8")
    (results / "old-h200.csv").write_text("parts,bytes_between_nodes\n2,40\n", encoding="utf-8")
    tables = papers_index.Source(tmp_path).tables({"file": "old-h200.csv"})
    assert list(tables["results"].columns) == ["parts", "internode_bytes"]
