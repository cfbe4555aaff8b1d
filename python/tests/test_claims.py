"""Claims of papers: how they are taken apart, and what becomes of them."""

from collections.abc import Mapping
from typing import Any

import pandas
import pytest

from hopwave.study import claims, figures, papers, trees

SPEED: dict[str, dict[Any, float]] = {
    "gather": {2: 4.0, 4: 6.0, 8: 8.0, 16: 9.0},
    "expand": {2: 2.0, 4: 4.0, 8: 8.0, 16: 18.0},
    "2d grid": {"rmat, scale 20": 3.0, "roads": 1.0},
    "flat": {4: 1.0},
}


def lines(name: str, columns: tuple[str, ...]) -> Mapping[Any, float]:
    factor = {"edges": 10.0}.get(columns[0] if columns else "", 1.0)
    return {x: y * factor for x, y in SPEED.get(name, {}).items()}


def verdict(text: str, **entry: Any) -> claims.Outcome:
    outcome = claims.tested(claims.parse(text), lines)
    return claims.ranged(outcome, entry, "parts")


HOLD = [
    "gather over expand for x < 8 at least 1.0",
    "gather over expand for x < 8 at least 150%",
    "gather over expand at most 2",
    "gather over expand for x from 4 to 8 between 1 and 1.5",
    "gather over expand somewhere above 1.9",
    "gather over expand in the mean between 1.25 and 1.25",
    "gather over expand in the geometric mean at least 1.1",
    "gather over expand in the median at least 1.2",
    "gather rises",
    "gather at 16 over gather at 2 at least 2.25",
    "gather over most of gather for x >= 8 at least 0.8",
    "edges of gather over gather between 10 and 10",
    "'2d grid' at rmat over '2d grid' at roads at least 3",
    "'2d grid' for x != roads above 2",
    "expand is most at 16",
    "least of expand at least 2",
    "expand for x = 8 at least 8",
    "gather less expand over gather for x < 8 in the mean between 41% and 42%",
    "gather less expand at 2 at most 2",
]
DIFFER = [
    "gather over expand at least 1.0",
    "gather falls",
    "gather over expand in the mean at least 2",
    "gather over expand somewhere at least 3",
    "expand is least at 4",
    "gather at 16 over gather at 2 above 2.25",
]
CANNOT = ["none at least 1", "gather at 3 at least 1", "gather for x > 99 at least 1", "flat rises"]
WRONG = {
    "": "has its end where the name of a line should be",
    "gather": "has its end where a bound such as 'at least 1.0' should be",
    "gather at least": "has its end where a number should be",
    "gather at least fast": "has 'fast' where a number should be",
    "gather at least nan": "has 'nan' where a number should be",
    "gather over at least 1": "has 'at' where the name of a line should be",
    "gather over expand for y < 3 at least 1": "has 'y' where 'x' should be",
    "gather over expand for x ~ 3 at least 1": "where one of < <= > >= = != or 'from' should be",
    "gather over expand for x < ten at least 1": "has 'ten' where a number should be",
    "gather at least 1 or so": "has 'or' where its end should be",
    "gather 'over expand at least 1": "has a quote without its end",
    "gather between 3 and 2": "is between 3 and 2, where nothing is",
    "gather somewhere rises": "says both 'somewhere' and 'rises'",
    "gather in the sum at least 1": "has 'sum' where 'mean', 'geometric mean' or",
    "a + b at least 1": "has 'at' where 'of' should be",
}


@pytest.mark.parametrize("text", HOLD)
def test_what_holds(text: str) -> None:
    assert verdict(text).verdict == claims.HOLDS


@pytest.mark.parametrize("text", DIFFER)
def test_what_differs(text: str) -> None:
    outcome = verdict(text)
    assert outcome.verdict == claims.DIFFERS and outcome.why


@pytest.mark.parametrize("text", CANNOT)
def test_what_cannot_be_told(text: str) -> None:
    outcome = verdict(text)
    assert outcome.verdict == claims.UNTESTABLE and outcome.why


@pytest.mark.parametrize("text, why", WRONG.items())
def test_what_does_not_parse(text: str, why: str) -> None:
    with pytest.raises(claims.ClaimError) as error:
        claims.parse(text)
    assert why in str(error.value)


def test_a_smaller_range_is_said() -> None:
    outcome = verdict("gather rises", range=[1, 4096])
    assert outcome.verdict == claims.WITHIN
    assert outcome.why.startswith("parts 2 to 16 of 1 to 4096: 4 at 2")
    assert verdict("gather rises", range=[2, 16]).verdict == claims.HOLDS
    assert verdict("gather falls", range=[1, 4096]).verdict == claims.DIFFERS
    assert verdict("'2d grid' above 0", range=["rmat", "flickr"]).why.startswith("without flickr")
    assert verdict("gather rises", within="on CPUs").why.startswith("on CPUs: ")


def test_the_number_that_decides() -> None:
    assert verdict("gather over expand at least 1.0").here == 0.5
    assert verdict("gather over expand at most 1.0").here == 2.0
    assert verdict("gather over expand somewhere at least 1.0").here == 2.0


RESULTS = pandas.DataFrame(
    [
        {"graph": "g", "scale": 20, "edgefactor": 16, "parts": parts, "method": method}
        | {"device": device, "mean_time": time, "top_down_edges": edges}
        for method, device, parts, time, edges in [
            ("push", "cuda", 1, 0.002, 10.0),
            ("push", "cuda", 1, 0.004, 10.0),
            ("push", "cuda", 2, 0.001, 12.0),
            ("pull", "emulated", 1, 9.0, 5.0),
        ]
    ]
)


def figure(**paper: Any) -> dict[str, Any]:
    common = {"figure": "Figure 7", "source": "page 1", "unit": "ms", **paper}
    return {"name": "f", "x": "parts", "y": "mean_time", "by": "method", "paper": common}


def test_rows_stand_beside_results() -> None:
    rows = [{"series": "theirs", "x": 1, "value": 6}, {"series": "theirs", "x": 8, "value": 1}]
    found = list(papers.comparison(figure(rows=rows, names={"theirs": "push"}), RESULTS))
    assert [row["here"] for row in found] == [pytest.approx(3), None]
    assert found[0]["ratio"] == pytest.approx(0.5)
    reported = papers.dashed(figure(rows=rows), 1e3)["theirs"]
    assert [(x, round(y, 6)) for x, y in reported] == [(1, 6), (8, 1)]


def test_times_of_emulated_devices_say_nothing() -> None:
    given = ["pull at 1 over push at 1 at least 2", "top_down_edges of pull at most 5"]
    found = list(papers.verdicts(figure(claims=given), RESULTS))
    assert [claim["verdict"] for claim in found] == [claims.UNTESTABLE, claims.HOLDS]
    assert "emulated" in found[0]["why"]


def test_required_claims_that_break() -> None:
    given = [
        {"claim": "push rises", "required": True},
        {"claim": "push falls", "required": True},
        {"claim": "push rises"},
        {"claim": "none rises", "required": True},
    ]
    sentences = papers.broken(papers.verdicts(figure(claims=given), RESULTS))
    assert len(sentences) == 2
    assert 'the required claim "push rises" differs: ' in sentences[0]
    assert "not testable here: no run of none" in sentences[1]


def test_contributions_are_percent_of_all() -> None:
    rows = [("none", 10.0), ("a", 8.0), ("a,b", 5.0), ("all", 0.0)]
    table = pandas.DataFrame(
        [{"graph": "g", "scale": 1, "edgefactor": 1, "method": m, "mean_time": t} for m, t in rows]
    )
    given = {
        **figure(unit="%", rows=[{"series": "b", "x": "mean", "value": 60}], names={"b": "a,b"}),
        "x": "graph",
        "contributions": ["none", "a", "a,b", "all"],
    }
    found = figures.contributions(given, table)
    assert found.to_numpy().tolist()[0] == [20.0, 30.0, 50.0]
    assert next(papers.comparison(given, table))["ratio"] == pytest.approx(0.5)


def test_efficiency_is_of_the_first() -> None:
    table = pandas.DataFrame({"fast": [10.0, 18.0, 32.0]}, index=[1, 2, 4])
    tables = {number: table for number in figures.NUMBERS}
    assert figures.scaled(tables, "speedup")["median"]["fast"].to_list() == [1.0, 1.8, 3.2]
    assert figures.scaled(tables, "efficiency")["median"]["fast"].to_list() == [1.0, 0.9, 0.8]


def test_what_steps_say() -> None:
    table = pandas.DataFrame(
        [
            (0, "bottom-up", "pull", 5, 4, 30, 9),
            (0, "bottom-up", "pull", 2, 0, 10, 3),
            (0, "none", "degree 8", 0, 0, 6, 12),
            (1, "none", "degree 8", 0, 0, 2, 4),
        ],
        columns=[
            "search",
            "direction",
            "routine",
            "discovered",
            "discovered_next",
            "frontier",
            "edges_examined",
        ],
    )
    assert trees.early_share(table) == pytest.approx(4 / 6)
    degrees = trees.by_degree(table)
    assert degrees[["degree", "vertices", "edges_checked"]].to_numpy().tolist() == [[8, 8, 16]]
    assert degrees["checked_of_degree"].to_list() == [0.25]
