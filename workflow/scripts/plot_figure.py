"""A figure of the configuration: y against x, a line for each value of `by`, or several y
one upon another; and the same as a table, with what the paper reports."""

import sys
from html import escape
from textwrap import fill

from matplotlib.container import BarContainer
from hopwave.renamed import read_csv
from hopwave.study.claims import same
from hopwave.study.figures import breakdown, contributions, crowded, relative, scaled, values
from hopwave.study.page import STYLE
from hopwave.study.papers import comparison, dashed, verdicts
from pandas import DataFrame
from pandas.api.types import is_numeric_dtype
from hopwave.study.style import COLOURS, HATCHES, LINES, MARKERS, explain_hollow, hollow, plt
from hopwave.study.style import save, styles
from hopwave.study.style import logarithmic as log_axis
from hopwave.study.units import kind_of, unit_of, words

sys.stderr = open(snakemake.log[0], "w")


def names_of(index):
    """The rows of a breakdown in words."""
    words = [key if isinstance(key, tuple) else (key,) for key in index]
    return [", ".join(f"{w:g}" if isinstance(w, float) else str(w) for w in row) for row in words]


def draw_breakdown(axes, table, marks):
    """Bars of pieces upon each other. Returns bars, each with what is to be hollow once the legend
    has their colours: where ranks outnumbered cores."""
    drawn = []
    bottom = 0 * table.iloc[:, 0].to_numpy()
    for column, colour in zip(table, styles(table.columns, COLOURS).values()):
        heights = table[column].to_numpy()
        label = column.replace("_", " ")
        bars = axes.bar(
            range(len(table)),
            heights,
            bottom=bottom,
            color=colour,
            edgecolor="white",
            label=label,
        )
        drawn.append((bars, marks.any(axis=1)))
        bottom = bottom + heights
    names = names_of(table.index)
    upright = {} if max(map(len, names)) < 8 else {"rotation": 30, "ha": "right"}
    axes.set_xticks(range(len(table)), names, **upright)
    return drawn


def draw(axes, tables, marks, logarithmic=False, paper=None):
    """Lines where x is a number, bars where it is a name; points are hollow where ranks outnumbered
    cores. paper: its lines, which alone are dashed if there are any. Returns bars as
    draw_breakdown() does."""
    middle = tables["median"]
    below, above = middle - tables["min"], tables["max"] - middle
    if not is_numeric_dtype(middle.index):
        middle.plot.bar(ax=axes, yerr=[below[c] for c in below], color=COLOURS, edgecolor="white")
        bars = [bar for bar in axes.containers if isinstance(bar, BarContainer)]
        for number, bar in enumerate(bars):
            for patch in bar:
                patch.set_hatch(HATCHES[number // len(COLOURS) % len(HATCHES)])
        axes.tick_params(axis="x", rotation=30)
        return [(bar, marks.iloc[:, number]) for number, bar in enumerate(bars)]
    colours = styles(middle.columns, COLOURS)
    markers = styles(middle.columns, MARKERS)
    lines = styles(middle.columns, ["-"] if paper else LINES)
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
        axes.plot(
            middle.index[marks[name]],
            middle[name][marks[name]],
            linestyle="none",
            marker=markers[name],
            markerfacecolor="white",
            color=colours[name],
            zorder=3,
        )
    reported = [x for points in (paper or {}).values() for x, _ in points if not isinstance(x, str)]
    places = sorted({*middle.index, *reported})
    wide = places[0] > 0 and places[-1] > 8 * places[0]
    if len(places) > 2 and wide or logarithmic and places[0] > 0:
        axes.set_xscale("log", base=2)
    if reported:
        axes.set_xlim(*edges(places, axes.get_xscale() == "log"))
    if len(places) <= 14:
        axes.set_xticks(places, ticks(axes, places))
        axes.minorticks_off()
    return []


def edges(places, wide):
    """The ends of an axis with a little room next to the first and the last."""
    if wide:
        room = (places[-1] / places[0]) ** 0.05
        return places[0] / room, places[-1] * room
    room = 0.05 * (places[-1] - places[0]) or 1
    return places[0] - room, places[-1] + room


def ticks(axes, values):
    """What stands at values of the x axis: nothing where it would run into the one before."""
    place = axes.transAxes.inverted().transform
    names, last = [], float("-inf")
    for value in values:
        at = place(axes.transData.transform((value, 0)))[0]
        names.append(f"{value:g}" if at - last > 0.04 else "")
        last = at if names[-1] else last
    return names


def draw_paper(axes, lines, index):
    """The lines of the paper, dashed; where x is a name, a dash over it."""
    names = None if is_numeric_dtype(index) else [str(name) for name in index]
    shown = []
    for number, (name, points) in enumerate(lines.items()):
        if names is not None:
            points = [
                (n, y) for x, y in points for n, name in enumerate(names) if same(name, str(x))
            ]
        points = [(x, y) for x, y in points if not isinstance(x, str)]
        if not points:
            continue
        marker = MARKERS[number % len(MARKERS)]
        style = {"linestyle": (0, (3, 2))} if names is None else {"linestyle": "none"}
        axes.plot(
            *zip(*points),
            marker=marker if names is None else "_",
            markersize=4 if names is None else 18,
            color="#666666",
            alpha=0.8,
            label=f"paper: {name}",
            **style,
        )
        shown += [y for _, y in points]
    return shown


def named_as(figure):
    """What lines are called in the plot where the paper has a name for them."""
    paper = figure.get("paper")
    names = paper.get("names", {}) if isinstance(paper, dict) else {}
    return {str(line): f"{name} (here)" for name, line in names.items()}


def side_by_side(figure, results):
    """The paper's rows and claims as tables of HTML."""
    rows = DataFrame(comparison(figure, results))
    reported = DataFrame(verdicts(figure, results))
    out = ""
    if len(rows):
        columns = ["figure", "series", "x", "paper", "here", "ratio", "unit", "device", "source"]
        out += "<h2>The paper and here</h2>\n"
        out += rows[columns].to_html(border=0, index=False, float_format="{:.4g}".format, na_rep="")
    if len(reported):
        columns = ["figure", "says", "claim", "verdict", "why", "paper", "here", "ratio"]
        out += "<h2>Claims</h2>\n"
        out += reported[columns].to_html(border=0, index=False, float_format="{:.4g}".format, na_rep="")
    return out


def write_table(path, figure, table, what, more):
    paper = figure.get("paper", "")
    paper = paper if isinstance(paper, str) else paper.get("caption", "")
    paper = f"<p>The paper: {escape(paper)}</p>" if paper else ""
    title = escape(figure["title"])
    with open(path, "w") as out:
        out.write(f"<!DOCTYPE html>\n<meta charset='utf-8'>\n<title>{title}</title>\n")
        out.write(f"{STYLE}<h1>{title}</h1>{paper}\n<p>{escape(what)}:</p>\n")
        table.to_html(out, border=0, float_format="{:.4g}".format)
        out.write(more)


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


FAR = 30  # the paper's numbers over ours from where on an axis has to be logarithmic

def short(name):
    return NAMES.get(str(name), name)


figure = snakemake.params.figure
NAMES = named_as(figure)
results = read_csv(snakemake.input[0])
canvas, axes = plt.subplots(figsize=(7, 4.5))
y = figure["y"]
# Pieces upon another have no logarithms.
logarithmic = figure["logarithmic"] and not isinstance(y, list) and "contributions" not in figure
if isinstance(y, list):
    table, legend = breakdown(figure, results), None
    factor, unit = in_unit(y, table.sum(axis=1).max())
    marks = crowded(figure, results, table)
    table, what = table * factor, words_of(y, unit)
    if len(table):
        drawn = draw_breakdown(axes, table, marks)
elif "contributions" in figure:
    table, legend = contributions(figure, results), figure["by"]
    marks = crowded(figure, results, table)
    what = f"share of what all take off {words(y, None)}, %"
    if len(table):
        drawn = draw_breakdown(axes, table.rename(columns=short), marks)
else:
    tables, legend = values(figure, results), figure["by"]
    marks = crowded(figure, results, tables["median"])
    if "relative" in figure:
        tables = relative(tables, figure["relative"])
        base = NAMES.get(figure["relative"], figure["relative"])
        factor, what = 1, f"{words(y, None)}, over that of {base}"
    elif "scaling" in figure:
        tables = scaled(tables, figure["scaling"]) if len(tables["median"]) else tables
        factor, what = 1, f"{figure['scaling']} of {words(y, None)}"
    else:
        most = tables["max"].max(axis=None) if len(tables["max"]) else 0
        factor, unit = unit_of(y, most)
        tables = {number: table * factor for number, table in tables.items()}
        what = words(y, unit)
    table, paper = tables["median"], dashed(figure, factor)
    if len(table):
        named = {n: t.rename(columns=short) for n, t in tables.items()}
        drawn = draw(axes, named, marks.rename(columns=short), logarithmic, paper)
        reported = draw_paper(axes, paper, table.index)
        if reported and min(reported) > 0 and not 1 / FAR < max(reported) / table.max(axis=None) < FAR:
            logarithmic = True
if len(table):
    if logarithmic and tables["min"].min(axis=None) > 0:
        log_axis(axes.yaxis)
    else:
        axes.set_ylim(bottom=0)
    if marks.any(axis=None):
        explain_hollow(axes)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), title=legend)
    for bars, shared in drawn:
        hollow(bars, shared)
rows = " and ".join(name for name in table.index.names if name)
axes.set_xlabel((rows or figure["x"]).replace("_", " "))
axes.set_ylabel(fill(what, 45))
axes.set_title(figure["title"], wrap=True)
save(canvas, snakemake.output.plot)
write_table(snakemake.output.table, figure, table, what, side_by_side(figure, results))
