"""A figure of the configuration: y against x, a line for each value of `by`, or several y
one upon another; and the same as a table, with what the paper reports."""

import sys
from html import escape
from textwrap import fill

from matplotlib.container import BarContainer
from hopwave.study.page import STYLE
from pandas.api.types import is_numeric_dtype
from hopwave.renamed import read_csv
from hopwave.study.style import COLOURS, HATCHES, LINES, MARKERS, plt, save, styles
from hopwave.study.style import logarithmic as log_axis
from hopwave.study.units import kind_of, unit_of, words

sys.stderr = open(snakemake.log[0], "w")


def apart(results, axes):
    """Graphs by name, with what else tells those of one name apart, unless an axis does."""
    names = results["graph"].astype(str)
    for column in {"scale", "edgefactor"} - set(axes):
        several = results.groupby("graph")[column].transform("nunique") > 1
        more = results[column].map(lambda value: f", {column} {value:g}")
        names = names.where(~several, names + more)
    return results.assign(graph=names)


def chosen(figure):
    """The rows of the results that a figure is about."""
    columns = figure["y"] if isinstance(figure["y"], list) else [figure["y"]]
    axes = [figure["x"], figure["by"]]
    results = read_csv(snakemake.input[0])
    if "graphs" in figure:
        results = results[results["graph"].isin(figure["graphs"])]
    for column, wanted in figure.get("where", {}).items():
        wanted = wanted if isinstance(wanted, list) else [wanted]
        results = results[results[column].isin(wanted)]
    results = results.dropna(subset=list({*columns, *axes}))
    for axis in axes:  # numbers of runs that others have not
        if is_numeric_dtype(results[axis]) and (results[axis] % 1 == 0).all():
            results = results.astype({axis: "int64"})
    return apart(results, axes)


def values(figure):
    """Median, least and most of y over the repeats: a row for each value of x, a column
    for each of `by`."""
    x, y, by = figure["x"], figure["y"], figure["by"]
    results = chosen(figure)
    keys = [by] if x == by else [x, by]
    groups = results.groupby(keys, sort=False)[y].agg(["median", "min", "max"])
    if x == by:
        return {number: groups[number].to_frame(y) for number in groups}
    order = list(dict.fromkeys(results[by]))
    tables = {number: groups[number].unstack(by)[order] for number in groups}
    if is_numeric_dtype(results[x]):
        return {number: table.sort_index() for number, table in tables.items()}
    return tables


def breakdown(figure):
    """The medians of several y: a row for each value of x, and of `by` where it has
    several."""
    x, by = figure["x"], figure["by"]
    results = chosen(figure)
    keys = [x, by] if x != by and results[by].nunique() > 1 else [x]
    table = results.groupby(keys, sort=False)[figure["y"]].median()
    return table.sort_index() if is_numeric_dtype(results[x]) else table


def names_of(index):
    """The rows of a breakdown in words."""
    words = [key if isinstance(key, tuple) else (key,) for key in index]
    return [", ".join(f"{w:g}" if isinstance(w, float) else str(w) for w in row) for row in words]


def draw_breakdown(axes, table):
    """Bars of pieces upon each other."""
    bottom = 0 * table.iloc[:, 0].to_numpy()
    for column, colour in zip(table, styles(table.columns, COLOURS).values()):
        heights = table[column].to_numpy()
        label = column.replace("_", " ")
        axes.bar(
            range(len(table)),
            heights,
            bottom=bottom,
            color=colour,
            edgecolor="white",
            label=label,
        )
        bottom = bottom + heights
    names = names_of(table.index)
    upright = {} if max(map(len, names)) < 8 else {"rotation": 30, "ha": "right"}
    axes.set_xticks(range(len(table)), names, **upright)


def relative(tables, name):
    """All of them over the median of one column."""
    if name not in tables["median"]:
        return tables
    base = tables["median"][name]
    return {number: table.div(base, axis=0) for number, table in tables.items()}


def draw(axes, tables, logarithmic=False):
    """Lines where x is a number, bars where it is a name."""
    middle = tables["median"]
    below, above = middle - tables["min"], tables["max"] - middle
    if not is_numeric_dtype(middle.index):
        middle.plot.bar(ax=axes, yerr=[below[c] for c in below], color=COLOURS, edgecolor="white")
        bars = [bar for bar in axes.containers if isinstance(bar, BarContainer)]
        for number, bar in enumerate(bars):
            for patch in bar:
                patch.set_hatch(HATCHES[number // len(COLOURS) % len(HATCHES)])
        axes.tick_params(axis="x", rotation=30)
        return
    colours = styles(middle.columns, COLOURS)
    markers = styles(middle.columns, MARKERS)
    lines = styles(middle.columns, LINES)
    for name in middle:
        axes.errorbar(
            middle.index,
            middle[name],
            yerr=[below[name], above[name]],
            color=colours[name],
            marker=markers[name],
            linestyle=lines[name],
            capsize=3,
            label=str(name),
        )
    wide = middle.index[0] > 0 and middle.index[-1] > 8 * middle.index[0]
    if len(middle) > 2 and wide or logarithmic and middle.index[0] > 0:
        axes.set_xscale("log", base=2)
    if len(middle) <= 12:
        axes.set_xticks(middle.index, ticks(axes, list(middle.index)))
        axes.minorticks_off()


def ticks(axes, values):
    """What stands at values of the x axis: nothing where it would run into the one before."""
    place = axes.transAxes.inverted().transform
    names, last = [], float("-inf")
    for value in values:
        at = place(axes.transData.transform((value, 0)))[0]
        names.append(f"{value:g}" if at - last > 0.04 else "")
        last = at if names[-1] else last
    return names


def write_table(path, figure, table, what):
    paper = f"<p>The paper: {escape(figure['paper'])}</p>" if "paper" in figure else ""
    title = escape(figure["title"])
    with open(path, "w") as out:
        out.write(f"<!DOCTYPE html>\n<meta charset='utf-8'>\n<title>{title}</title>\n")
        out.write(f"{STYLE}<h1>{title}</h1>{paper}\n<p>{escape(what)}:</p>\n")
        table.to_html(out, border=0, float_format="{:.4g}".format)


def words_of(columns, unit):
    """Several columns in few words: what their names end in."""
    ends = list(dict.fromkeys(column.rpartition("_")[2] for column in columns))
    if ends == ["time"]:
        return f"mean time of a search, {unit}"
    return " and ".join(ends)


def in_unit(columns, most):
    """The factor for these columns, and the unit, as far as all have the same."""
    kinds = [kind_of(column) for column in columns]
    return unit_of(columns[0], most) if kinds.count(kinds[0]) == len(kinds) else (1, None)


figure = snakemake.params.figure
canvas, axes = plt.subplots(figsize=(7, 4.5))
y = figure["y"]
# Pieces upon another have no logarithms.
logarithmic = figure["logarithmic"] and not isinstance(y, list)
if isinstance(y, list):
    table, legend = breakdown(figure), None
    factor, unit = in_unit(y, table.sum(axis=1).max())
    table, what = table * factor, words_of(y, unit)
    if len(table):
        draw_breakdown(axes, table)
elif "relative" in figure:
    tables, legend = relative(values(figure), figure["relative"]), figure["by"]
    table, what = (
        tables["median"],
        f"{words(y, None)}, over that of {figure['relative']}",
    )
    if len(table):
        draw(axes, tables, logarithmic)
else:
    tables, legend = values(figure), figure["by"]
    most = tables["max"].max(axis=None) if len(tables["max"]) else 0
    factor, unit = unit_of(y, most)
    tables = {number: table * factor for number, table in tables.items()}
    table, what = tables["median"], words(y, unit)
    if len(table):
        draw(axes, tables, logarithmic)
if len(table):
    if logarithmic and tables["min"].min(axis=None) > 0:
        log_axis(axes.yaxis)
    else:
        axes.set_ylim(bottom=0)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), title=legend)
rows = " and ".join(name for name in table.index.names if name)
axes.set_xlabel((rows or figure["x"]).replace("_", " "))
axes.set_ylabel(fill(what, 45))
axes.set_title(figure["title"], wrap=True)
save(canvas, snakemake.output.plot)
write_table(snakemake.output.table, figure, table, what)
