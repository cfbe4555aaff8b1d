"""The results that a figure of a study is about, which its plot, its table and its claims share."""

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

from .headline import shared_cores
from .units import timed

Figure = Mapping[str, Any]
NUMBERS = ["median", "min", "max"]  # of the repeats


def numeric(values: Any) -> bool:
    """Whether a column or an index holds numbers."""
    from pandas.api.types import is_numeric_dtype

    return bool(is_numeric_dtype(values))


def apart(results: "pandas.DataFrame", axes: list[str]) -> "pandas.DataFrame":
    """Graphs by name, with what else tells those of one name apart, unless an axis does."""
    names = results["graph"].astype(str)
    for column in sorted({"scale", "edgefactor"} - set(axes)):
        several = results.groupby("graph")[column].transform("nunique") > 1
        more = results[column].map(lambda value, column=column: f", {column} {value:g}")
        names = names.where(~several, names + more)
    return results.assign(graph=names)


def columns_of(figure: Figure) -> list[str]:
    """The columns that it shows."""
    return figure["y"] if isinstance(figure["y"], list) else [figure["y"]]


def chosen(figure: Figure, results: "pandas.DataFrame", *columns: str) -> "pandas.DataFrame":
    """The rows of the results that a figure is about and that have these columns, or its own."""
    axes = [figure["x"], figure["by"]]
    if "graphs" in figure:
        results = results[results["graph"].isin(figure["graphs"])]
    for column, wanted in figure.get("where", {}).items():
        if column not in results:
            return results.iloc[:0].reindex(columns=[*results.columns, *columns_of(figure)])
        wanted = wanted if isinstance(wanted, list) else [wanted]
        results = results[results[column].isin(wanted)]
    needed = list(columns) or columns_of(figure)
    missing = [column for column in [*needed, *axes] if column not in results]
    results = results.reindex(columns=[*results.columns, *missing])
    results = results.dropna(subset=list({*needed, *axes}))
    for axis in axes:  # numbers of runs that others have not
        if numeric(results[axis]) and (results[axis] % 1 == 0).all():
            results = results.astype({axis: "int64"})
    return apart(results, axes)


def values(figure: Figure, results: "pandas.DataFrame") -> "dict[str, pandas.DataFrame]":
    """Median, least and most of y over the repeats: a row for each value of x, a column
    for each of `by`."""
    x, y, by = figure["x"], figure["y"], figure["by"]
    results = chosen(figure, results)
    keys = [by] if x == by else [x, by]
    groups = results.groupby(keys, sort=False)[y].agg([*NUMBERS])
    if x == by:
        return {number: groups[number].to_frame(y) for number in NUMBERS}
    order = list(dict.fromkeys(results[by]))
    tables = {number: groups[number].unstack(by)[order] for number in NUMBERS}
    if numeric(results[x]):
        return {number: table.sort_index() for number, table in tables.items()}
    return tables


def breakdown(figure: Figure, results: "pandas.DataFrame") -> "pandas.DataFrame":
    """The medians of several y: a row for each value of x, and of `by` where it has
    several."""
    x, by = figure["x"], figure["by"]
    results = chosen(figure, results)
    keys = [x, by] if x != by and results[by].nunique() > 1 else [x]
    groups = results.groupby(keys, sort=False)
    table = groups[list(figure["y"])].median()
    return table.sort_index() if numeric(results[x]) else table


def crowded(
    figure: Figure, results: "pandas.DataFrame", table: "pandas.DataFrame"
) -> "pandas.DataFrame":
    """Of each number of a figure's table, whether it is a time or a speed of which a run had more
    ranks than cores, or is over such a one. table: of values(), breakdown() or contributions()."""
    import pandas

    none = pandas.DataFrame(False, index=table.index, columns=table.columns)
    if table.empty or not any(map(timed, columns_of(figure))):
        return none
    runs = chosen(figure, results)
    runs = runs.assign(crowded=shared_cores(runs))
    rows = list(table.index.names)
    if isinstance(figure["y"], list) or "contributions" in figure or rows == [figure["by"]]:
        marks = runs.groupby(rows, sort=False)["crowded"].any()
        found = pandas.DataFrame({name: marks for name in table})
    else:
        groups = runs.groupby([figure["x"], figure["by"]], sort=False)["crowded"]
        found = pandas.DataFrame(groups.any().unstack())
    found = found.reindex(index=table.index, columns=table.columns).fillna(False).astype(bool)
    if figure.get("relative") in found:
        found = found.apply(lambda column: column | found[figure["relative"]])
    elif "scaling" in figure:
        firsts = {name: found[name][table[name].first_valid_index()] for name in found}
        found = found.apply(lambda column: column | firsts[column.name])
    return none | found


def relative(tables: "Mapping[str, pandas.DataFrame]", name: str) -> "dict[str, pandas.DataFrame]":
    """All of them over the median of one column."""
    if name not in tables["median"]:
        return dict(tables)
    base = tables["median"][name]
    return {number: table.div(base, axis=0) for number, table in tables.items()}


def scaled(tables: "Mapping[str, pandas.DataFrame]", what: str) -> "dict[str, pandas.DataFrame]":
    """Speeds over those of the first x of each line; of an efficiency, over x as well."""
    base = tables["median"].apply(lambda column: column.dropna().iloc[0])
    first = tables["median"].apply(lambda column: column.dropna().index[0])
    found = {number: table.div(base, axis=1) for number, table in tables.items()}
    if what == "efficiency":
        found = {
            number: table.apply(lambda column: column * first[column.name] / column.index)
            for number, table in found.items()
        }
    return found


def contributions(figure: Figure, results: "pandas.DataFrame") -> "pandas.DataFrame":
    """What each of several lines takes off the one before it, in percent of what the last takes off
    the first: a row for each x."""
    lines = figure["contributions"]
    table = values(figure, results)["median"].reindex(columns=lines).dropna()
    whole = table[lines[0]] - table[lines[-1]]
    parts = {b: 100 * (table[a] - table[b]) / whole for a, b in pairwise(lines)}
    found: pandas.DataFrame = table.assign(**parts)[lines[1:]]
    return found
