"""The page of a study: what it says of good, bad, few and many results."""

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas
import pytest

pytest.importorskip("jinja2")

from hopwave.page import dictionary, index
from hopwave.page.context import About
from hopwave.study.columns import COLUMNS

ROW = {"graph": "rmat", "scale": 14, "edgefactor": 16, "layout": "2d", "parts": 4}
ROW |= {"algorithm": "bfs", "method": "auto", "repeat": 1, "NBFS": 16, "resolved_method": "grid"}
ROW |= {"harmonic_mean_TEPS": 1.2e9, "mean_time": 0.002, "oversubscribed": False}
ROW |= {"processor": "A Processor", "sockets": 2, "cores": 64, "memory": 2.5e11, "gpus": "4 x H100"}
ROW |= {"hosts": "n1*2,n2*2", "mpi": "MPICH Version: 4.0.2", "version": "0.1.0"}
TREE = "results/trees/rmat-s14/2d-2x2/auto-k16-r1.h5"
NASTY = """<script>alert("1")</script>'"&$(rm -rf);`x`"""


class Text(HTMLParser):
    """The text of a page, its elements that would run, and its links."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words, self.elements, self.links = "", [], []  # type: ignore[var-annotated]
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "a":
            self.links.append(dict(attrs)["href"])

    def handle_data(self, data: str) -> None:
        self.words += data


def page(
    tmp_path: Path,
    rows: list[dict[str, Any]],
    gate: list[dict[str, Any]] | None = None,
    about: About | None = None,
    **more: Any,
) -> Text:
    output = tmp_path / "index.html"
    checks = pandas.DataFrame(gate if gate is not None else [{"file": TREE, "passed": 1}])
    index.write(output, pandas.DataFrame(rows), checks, about or About(), **more)
    return Text(output.read_text(encoding="utf-8"))


def flat(text: Text) -> str:
    return re.sub(r"\s+", " ", text.words)


def test_one_run(tmp_path: Path) -> None:
    words = flat(page(tmp_path, [{**ROW, "tree": TREE}]))
    assert "16 of 16 searches are valid" in words and "1.2 GTEPS" in words
    assert (
        "2: n1, n2" in words
        and "4 x H100" in words
        and "250 GB" in words
        and "MPICH 4.0.2" in words
    )
    assert "Speed-up" not in words and "Hatched" not in words


def test_several_parts_and_shared_cores(tmp_path: Path) -> None:
    more = {**ROW, "parts": 8, "harmonic_mean_TEPS": 1.8e9, "oversubscribed": True}
    words = flat(page(tmp_path, [ROW, more]))
    assert "8 parts: 1.50 (75%)" in words and "more ranks than cores" in words


def test_nothing_valid(tmp_path: Path) -> None:
    check = {"file": TREE.replace("trees", "checks"), "passed": 0, "violations": 3}
    words = flat(page(tmp_path, [{**ROW, "tree": TREE}], [check]))
    assert "0 of 16 searches are valid" in words and "3 violations" in words
    words = flat(page(tmp_path, [], [check]))
    assert "0 of 1 searches are valid" in words and "No search was timed" in words


def test_no_results_at_all(tmp_path: Path) -> None:
    words = flat(page(tmp_path, [], []))
    assert "0 of 0 searches are valid" in words and "No run has results" in words


def test_no_timings(tmp_path: Path) -> None:
    row = {key: ROW[key] for key in ("graph", "layout", "parts", "method", "NBFS", "repeat")}
    words = flat(
        page(tmp_path, [row, {**ROW, "harmonic_mean_TEPS": float("nan"), "mean_time": None}])
    )
    assert "No search was timed" in words and "32 of 32" in words


def test_many_runs(tmp_path: Path) -> None:
    rows = [{**ROW, "graph": f"g{n % 500}", "parts": 1 + n // 500} for n in range(10_000)]
    made = page(tmp_path, rows)
    assert "160000 of 160000 searches are valid" in flat(made)
    assert sum(tag == "tr" for tag, _ in made.elements) >= 10_000


def test_names_are_no_markup(tmp_path: Path) -> None:
    plots = tmp_path / "plots"
    plots.mkdir()
    (plots / "figure-a.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (tmp_path / "claims.json").write_text(
        json.dumps({"claims": [{"figure": NASTY, "says": NASTY, "verdict": "holds", "why": NASTY}]})
    )
    figures = {"a": {"title": NASTY, "paper": NASTY, "y": NASTY, "x": "parts", "by": ["b"]}}
    row = {
        **ROW,
        "graph": NASTY,
        "layout": NASTY,
        "method": NASTY,
        "processor": NASTY,
        "gpus": NASTY,
    }
    check = {"file": NASTY, "passed": 0, "violations": NASTY}
    about = About(NASTY, [(NASTY, NASTY)], figures, NASTY, True)
    made = page(
        tmp_path,
        [row],
        [check],
        about,
        plots=[plots / "figure-a.svg"],
        claims=tmp_path / "claims.json",
    )
    assert made.words.count(NASTY) >= 10
    attributes = {key for _, attrs in made.elements for key in attrs}
    assert not {key for key in attrs_that_run(attributes)}
    assert all(":" not in link for link in made.links)
    script = [attrs for tag, attrs in made.elements if tag == "script"]
    assert all(attrs.get("type") in ("module", "text/plain") for attrs in script)


def attrs_that_run(names: set[str]) -> set[str]:
    return {name for name in names if name.startswith("on")}


def test_claims_that_are_none(tmp_path: Path) -> None:
    for text in ("", "[]", '{"claims": 3}', "{"):
        (tmp_path / "claims.json").write_text(text)
        words = flat(page(tmp_path, [ROW], claims=tmp_path / "claims.json"))
        assert "What papers claim" not in words


def test_data_dictionary(tmp_path: Path) -> None:
    page(tmp_path, [ROW])
    with open(tmp_path / "columns.csv", newline="", encoding="utf-8") as file:
        told = list(csv.DictReader(file))
    assert [row["column"] for row in told] == list(ROW)
    meanings = [dictionary.meaning(column) for column in COLUMNS]
    assert all(meanings) and not [m for m, c in zip(meanings, COLUMNS) if m == c.replace("_", " ")]
    assert dictionary.unit("median_TEPS") == "edges/s" and dictionary.unit("memory") == "bytes"


def test_checks_that_failed(tmp_path: Path) -> None:
    import h5py
    import numpy

    rules = numpy.zeros((4, 6), "i8")
    for number, name in enumerate(("good", "bad")):
        with h5py.File(tmp_path / f"{name}.h5", "w") as file:
            file["rules"] = rules + number * numpy.eye(4, 6, dtype="i8")[0]
            file.attrs.update(
                {
                    "format": "hopwave-check",
                    "format_version": 2,
                    "passed": 1 - number,
                    "digest": "d",
                }
            )
    output = tmp_path / "index.html"
    assert not index.write_failed(output, [tmp_path / "good.h5", tmp_path / "none.h5"], About())
    assert not output.exists()
    paths = [tmp_path / "good.h5", tmp_path / "bad.h5"]
    assert index.write_failed(output, paths, About("Of two"))
    made = Text(output.read_text(encoding="utf-8"))
    words = flat(made)
    assert "4 of 8 searches are valid" in words and "bad.h5" in words
    assert not [link for link in made.links if not link.startswith("#")]


def test_without_a_library_of_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "find_spec", lambda _: None)
    made = page(tmp_path, [ROW])
    assert "A click on a head sorts" not in made.words and "1.2" in made.words
    assert not [tag for tag, _ in made.elements if tag == "script"]
