"""TEPS against scale, or edge factors of one scale: a colour for each layout (of one
layout, for each method), a marker for each part count, a line style for each method."""

import sys

import pandas
from hopwave.study.headline import shared_cores
from hopwave.study.style import COLOURS, LINES, MARKERS, across, explain_hollow, plt
from hopwave.study.style import save, styles
from hopwave.study.units import unit_of

sys.stderr = open(snakemake.log[0], "w")

results = pandas.read_csv(snakemake.input[0])
results = results[results["graph"] == snakemake.wildcards.name]
results["shared"] = shared_cores(results)
x, words = across(results)
one_layout = results["layout"].nunique() == 1
colours = styles(results["method" if one_layout else "layout"], COLOURS)
markers = styles(results["parts"], MARKERS)
one_method = results["method"].nunique() == 1
lines = styles(results["parts" if one_method else "method"], LINES)

keys = ["layout", "parts", "method"]
groups = results.groupby(keys, sort=False)
figure, axes = plt.subplots(figsize=(7, max(4.5, 0.22 * len(groups))))
# Points above one scale stand side by side, and so do their error bars.
width = (0.5 if results[x].nunique() == 1 else 0.3) / len(groups)
factor, unit = unit_of("harmonic_mean_TEPS", results["harmonic_mean_TEPS"].max())
for number, ((layout, parts, method), runs) in enumerate(groups):
    teps = runs.groupby(x)["harmonic_mean_TEPS"].agg(["min", "median", "max"])
    teps *= factor
    aside = width * (number - (len(groups) - 1) / 2)
    places = teps.index + aside if x == "scale" else teps.index * 2**aside
    shared = runs.groupby(x)["shared"].any()
    axes.errorbar(
        places,
        teps["median"],
        yerr=[teps["median"] - teps["min"], teps["max"] - teps["median"]],
        color=colours[method if one_layout else layout],
        marker=markers[parts],
        linestyle=lines[parts if one_method else method],
        capsize=3,
        label=f"{layout}, {parts} part{'s' * (parts > 1)}" + f", {method}" * (not one_method),
    )
    axes.plot(
        places[shared],
        teps["median"][shared],
        linestyle="none",
        marker=markers[parts],
        markerfacecolor="white",
        color=colours[method if one_layout else layout],
        zorder=3,
    )
if results["shared"].any():
    explain_hollow(axes)
axes.set_xlabel("scale (log2 of the vertices)" if x == "scale" else words)
axes.set_ylabel(f"harmonic mean {unit}")
ticks = sorted(results[x].unique())
if x == "scale":
    axes.set_xlim(ticks[0] - 0.5, ticks[-1] + 0.5)
else:
    axes.set_xscale("log", base=2)
axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
if results["algorithm"].nunique() == 1:
    axes.set_ylim(bottom=0)
else:
    axes.set_yscale("log")
axes.set_title(f"{snakemake.wildcards.name}: traversed edges per second")
axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
save(figure, snakemake.output[0])
