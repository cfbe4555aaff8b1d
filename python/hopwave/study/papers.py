"""What papers report, as data: rows of numbers and claims, and both next to the results.

`paper` of a figure is a caption, or a mapping with rows of {figure, series, x, value, unit, device,
source} and claims (claims.py). What all rows have in common may stand next to them; `names` says
what lines and values of x of the paper are called here.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import claims
from .figures import chosen, columns_of, contributions
from .units import kind_of

if TYPE_CHECKING:
    import pandas

# How many of the unit of results one of a paper's is.
TIME = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
TEPS = {"TEPS": 1.0, "MTEPS": 1e6, "GTEPS": 1e9}
BYTES = {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9}
SHARE = {"1": 1.0, "%": 0.01}
COUNT = {"1": 1.0, "thousand": 1e3, "million": 1e6, "billion": 1e9}
TIMES = {"times": 1.0, "%": 0.01}
SHARED = ("figure", "unit", "device", "source")
NEEDED = ("figure", "unit", "source")
# The columns of claims.csv and of paper.csv.
CLAIMS = ["name", "figure", "says", "claim", "required", "verdict", "why", "paper", "here", "ratio"]
CLAIMS += ["source"]
ROWS = ["name", "figure", "series", "x", "paper", "here", "ratio", "unit", "device", "source"]
# Columns of numbers, which no name can be a value of.
NUMERIC = {"scale", "parts", "edgefactor", "degree_threshold", "degree", "entries", "repeat"}
EMULATED = "emulated"  # the column `device` of runs whose times say nothing


class PaperError(Exception):
    """One sentence: what is wrong, after the name of its key in `paper`."""


def units_of(figure: Mapping[str, Any], column: str) -> dict[str, float]:
    """The units that what a paper reports of a column may have."""
    if "relative" in figure or "scaling" in figure:
        return TIMES
    if "contributions" in figure:
        return {"%": 1.0}
    kinds = {"us": TIME, "B": BYTES, "TEPS": TEPS}
    kind = kind_of(column)
    if kind:
        return kinds[kind[0][2]]
    return SHARE if column.endswith("_share") else COUNT


def shared(paper: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows, each with what all have in common."""
    common = {key: paper[key] for key in SHARED if key in paper}
    return [{**common, **row} for row in paper.get("rows", [])]


def as_claims(paper: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The claims as mappings, each with the figure that it is of."""
    common = {key: paper[key] for key in ("figure", "source") if key in paper}
    given = paper.get("claims", [])
    entries = [{"claim": entry} if isinstance(entry, str) else entry for entry in given]
    return [{**common, **entry} for entry in entries]


def here(paper: Mapping[str, Any], name: Any) -> Any:
    """What a line, or a value of x, of the paper is called here."""
    return paper.get("names", {}).get(str(name), name)


def column_of(figure: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """The column that a row is about: of several y, the one that its line is called after."""
    columns = columns_of(figure)
    line = here(figure["paper"], row["series"])
    return str(line) if line in columns else columns[0]


def check(
    figure: Mapping[str, Any],
    columns: Sequence[str],
    known: Callable[[str], Iterable[str] | None],
) -> None:
    """Raises PaperError for what of a figure's `paper` is wrong.

    columns  of results.csv
    known    the values that a column can have in the study; None: any
    """
    paper = figure.get("paper")
    if not isinstance(paper, dict):
        return
    for number, row in enumerate(shared(paper)):
        where = f".rows[{number}]"
        missing = next((key for key in NEEDED if key not in row), None)
        if missing:
            raise PaperError(f"{where} needs the key '{missing}', or paper has it for all")
        at = here(paper, row["x"])
        if figure["x"] in NUMERIC and isinstance(at, str):
            raise PaperError(f"{where}.x is '{at}', but {figure['x']} is a number")
        column = column_of(figure, row)
        units = units_of(figure, column)
        if row["unit"] not in units:
            what = column if units is not TIMES else f"{column} over another"
            raise PaperError(
                f"{where}.unit is '{row['unit']}', but {what} is in {' or '.join(units)}"
            )
    for number, entry in enumerate(as_claims(paper)):
        given = paper["claims"][number]
        where = f".claims[{number}]" + ("" if isinstance(given, str) else ".claim")
        if "figure" not in entry:
            raise PaperError(f".claims[{number}] needs the key 'figure', or paper has it for all")
        if "claim" in entry:
            check_claim(entry["claim"], where, figure, columns, known)


def check_claim(
    text: str,
    where: str,
    figure: Mapping[str, Any],
    columns: Sequence[str],
    known: Callable[[str], Iterable[str] | None],
) -> None:
    try:
        claim = claims.parse(text)
    except claims.ClaimError as error:
        raise PaperError(f"{where} '{text}' {error}") from None
    for column in claim.columns():
        if column not in columns:
            raise PaperError(f"{where} names '{column}', which is no column of results.csv")
    by, x = figure["by"], figure["x"]
    for kind, axis, names in (("line", by, claim.lines()), ("value of x", x, claim.places())):
        possible = known(axis)
        for name in names:
            if axis in NUMERIC and claims.number(name) is None:
                raise PaperError(f"{where} names '{name}', but {axis} is a number")
            if possible is not None and not any(claims.same(p, name) for p in possible):
                shown = ", ".join(map(str, possible))
                raise PaperError(
                    f"{where} names '{name}', and no {kind} is so called: {axis} is {shown}"
                )


def named(rows: "pandas.DataFrame", column: str, name: str) -> "pandas.DataFrame":
    """The rows that have in a column what a text names."""
    return rows[rows[column].map(lambda value: claims.same(value, name)).astype(bool)]


def lines_of(figure: Mapping[str, Any], results: "pandas.DataFrame") -> claims.Lines:
    """What claims of a figure are held against: medians over repeats, of several columns added."""
    x, by = figure["x"], figure["by"]

    def lines(name: str, columns: tuple[str, ...]) -> dict[Any, float]:
        wanted = list(columns) or columns_of(figure)
        rows = chosen(figure, results, *wanted)
        rows = named(rows, by, name)
        if len(rows) and "device" in rows and rows["device"].eq(EMULATED).any():
            timed = [column for column in wanted if kind_of(column) and "bytes" not in column]
            if timed:
                raise claims.UntestableError(f"{timed[0]} of emulated devices says nothing")
        medians = rows.assign(_sum=rows[wanted].sum(axis=1)).groupby(x, sort=False)["_sum"].median()
        found = {value: float(number) for value, number in medians.items()}
        if all(not isinstance(value, str) for value in found):
            return dict(sorted(found.items()))
        return found

    return lines


def verdicts(figure: Mapping[str, Any], results: "pandas.DataFrame") -> Iterator[dict[str, Any]]:
    """What became of each claim of a figure."""
    paper = figure.get("paper")
    for entry in as_claims(paper) if isinstance(paper, dict) else ():
        if "untestable" in entry:
            outcome = claims.Outcome(claims.UNTESTABLE, entry["untestable"])
        else:
            claim = claims.parse(entry["claim"])
            outcome = claims.tested(claim, lines_of(figure, results))
            outcome = claims.ranged(outcome, entry, figure["x"])
        value, reported = outcome.here, entry.get("paper")
        yield {
            "name": figure["name"],
            "figure": entry["figure"],
            "says": entry.get("says", ""),
            "claim": entry.get("claim", ""),
            "required": entry.get("required", False),
            "verdict": outcome.verdict,
            "why": outcome.why,
            "paper": reported,
            "here": value,
            "ratio": value / reported if reported and value is not None else None,
            "source": entry.get("source", ""),
            "points": outcome.points,
        }


def comparison(figure: Mapping[str, Any], results: "pandas.DataFrame") -> Iterator[dict[str, Any]]:
    """Each row of a figure's paper, with what was measured here in the same unit, if it was."""
    paper = figure.get("paper")
    for row in shared(paper) if isinstance(paper, dict) else ():
        column = column_of(figure, row)
        unit = units_of(figure, column)[row["unit"]]
        value = measured(figure, results, row, column)
        value = None if value is None else value / unit
        yield {
            "name": figure["name"],
            "figure": row["figure"],
            "series": row["series"],
            "x": row["x"],
            "paper": row["value"],
            "here": value,
            "ratio": None if value is None or not row["value"] else value / row["value"],
            "unit": row["unit"],
            "device": row.get("device", ""),
            "source": row["source"],
        }


def measured(
    figure: Mapping[str, Any], results: "pandas.DataFrame", row: Mapping[str, Any], column: str
) -> float | None:
    """The number of the results in the place of a paper's row, or None."""
    paper, lines = figure["paper"], lines_of(figure, results)
    line, x = str(here(paper, row["series"])), str(here(paper, row["x"]))
    several = isinstance(figure["y"], list)
    if "contributions" in figure:
        table = contributions(figure, results)
        if line not in table:
            return None
        reported: dict[Any, float] = {"mean": table[line].mean(), **dict(table[line].items())}
        return next((float(v) for at, v in reported.items() if claims.same(at, x)), None)
    try:
        if several and line in figure["y"]:
            rows = chosen(figure, results, column)
            rows = named(rows, figure["x"], x)
            return float(rows[column].median()) if len(rows) else None
        found = [v for at, v in lines(line, (column,)).items() if claims.same(at, x)]
        if not found:
            return None
        if "relative" in figure:
            base = lines(figure["relative"], (column,))
            over = [v for at, v in base.items() if claims.same(at, x)]
            return found[0] / over[0] if over and over[0] else None
        if "scaling" in figure:
            first, slowest = next(iter(lines(line, (column,)).items()))
            efficient = figure["scaling"] == "efficiency"
            return found[0] / slowest * (first / float(x) if efficient else 1)
        return found[0]
    except claims.UntestableError:
        return None


def dashed(figure: Mapping[str, Any], factor: float) -> dict[str, list[tuple[Any, float]]]:
    """The lines of the paper as a plot shows them, whose y are of the results' unit times factor:
    for each its x, in order, and y."""
    lines: dict[str, list[tuple[Any, float]]] = {}
    paper = figure.get("paper")
    for row in shared(paper) if isinstance(paper, dict) else ():
        unit = units_of(figure, column_of(figure, row))[row["unit"]]
        at = here(paper, row["x"]) if isinstance(paper, dict) else row["x"]
        point = (at, row["value"] * unit * factor)
        if math.isfinite(point[1]):
            lines.setdefault(str(row["series"]), []).append(point)
    for points in lines.values():
        if all(not isinstance(x, str) for x, _ in points):
            points.sort()
    return lines


def broken(found: Iterable[Mapping[str, Any]]) -> list[str]:
    """A sentence for each required claim that does not hold."""
    good = (claims.HOLDS, claims.WITHIN)
    return [
        f"{claim['figure']} ({claim['name']}): the required claim \"{claim['claim']}\" "
        f"{'differs' if claim['verdict'] == claims.DIFFERS else 'is ' + claim['verdict']}"
        f"{': ' + claim['why'] if claim['why'] else ''}"
        for claim in found
        if claim["required"] and claim["verdict"] not in good
    ]
