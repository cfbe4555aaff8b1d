"""The results of a study in few rows: each configuration over its repeats, and the fastest of each
graph."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas

TEPS, TIME = "harmonic_mean_TEPS", "mean_time"
# What tells configurations apart; a method that was taken depends on them.
KEYS = ["graph", "scale", "edgefactor", "layout", "parts", "algorithm", "method"]


def shared_cores(results: "pandas.DataFrame") -> "pandas.Series[bool]":
    """Of each row of the results, whether its ranks outnumbered the cores."""
    if "oversubscribed" not in results:
        return results.index.to_series().map(lambda _: False)
    return results["oversubscribed"].astype(str).str.lower().isin(["true", "1", "1.0"])


def configurations(results: "pandas.DataFrame") -> "pandas.DataFrame":
    """A row for each configuration: KEYS, "taken" (the method that ran), the median, the least and
    the most of TEPS over the repeats ("teps", "least", "most"), the median of the mean seconds of a
    search ("seconds"), "searches", "runs", and whether ranks outnumbered cores ("shared_cores").
    What was not measured is NaN. results: of results.csv."""
    import pandas

    table = pandas.DataFrame(results)
    for column in [*KEYS, "resolved_method", TEPS, TIME, "NBFS", "oversubscribed"]:
        if column not in table:
            table[column] = None
    for column in (TEPS, TIME, "NBFS"):
        table[column] = pandas.to_numeric(table[column], errors="coerce")
    table["oversubscribed"] = shared_cores(table)
    more = [key for key in options(table) if table[key].notna().any()]
    groups = table.groupby([*KEYS, *more], sort=False, dropna=False)
    rows = groups.agg(
        taken=("resolved_method", words),
        teps=(TEPS, "median"),
        least=(TEPS, "min"),
        most=(TEPS, "max"),
        seconds=(TIME, "median"),
        searches=("NBFS", "sum"),
        runs=(TEPS, "size"),
        shared_cores=("oversubscribed", "any"),
    )
    return rows.reset_index()


def options(table: "pandas.DataFrame") -> list[str]:
    """The columns of further options of methods, which stand between the method and the repeat."""
    columns = list(table.columns)
    if "method" not in columns or "repeat" not in columns:
        return []
    between = columns[columns.index("method") + 1 : columns.index("repeat")]
    return [column for column in between if column not in KEYS]


def words(values: Any) -> str:
    """The different values of a column, in one text."""
    return ", ".join(dict.fromkeys(str(value) for value in values if value == value and value))


def graph_name(row: Any, several: bool) -> str:
    """A graph in words: its name, and scale and edge factor where other graphs bear the name.
    row: of configurations."""
    name = str(row["graph"])
    if several and row["scale"] == row["scale"] and row["scale"] is not None:
        name += f", scale {row['scale']:g}"
    return name


def fastest(rows: "pandas.DataFrame") -> "pandas.DataFrame":
    """The fastest configuration of each graph and algorithm, with the column "name" (of the graph)
    in words; graphs in the order in which they come. rows: of configurations()."""
    timed = rows[rows["teps"] > 0]
    groups = timed.groupby(["graph", "scale", "edgefactor", "algorithm"], sort=False, dropna=False)
    best = timed.loc[groups["teps"].idxmax()] if len(timed) else timed
    scales = rows.groupby("graph", dropna=False)["scale"].nunique()
    factors = rows.groupby(["graph", "scale"], dropna=False)["edgefactor"].nunique()
    best = best.copy()
    names = []
    for row in best.to_dict("records"):
        name = graph_name(row, scales.get(row["graph"], 0) > 1)
        if factors.get((row["graph"], row["scale"]), 0) > 1:
            name += f", edge factor {row['edgefactor']:g}"
        names.append(name)
    best["name"] = names
    return best
