"""TEPS against scale: a colour for each layout, a marker for each part count, a line style
for each method."""

import sys

import pandas
from style import COLOURS, LINES, MARKERS, plt, save, styles

sys.stderr = open(snakemake.log[0], "w")

results = pandas.read_csv(snakemake.input[0])
results = results[results["graph"] == snakemake.wildcards.name]
colours = styles(results["layout"], COLOURS)
markers = styles(results["parts"], MARKERS)
one_method = results["method"].nunique() == 1
lines = styles(results["parts" if one_method else "method"], LINES)

figure, axes = plt.subplots(figsize=(7, 4.5))
keys = ["layout", "parts", "method"]
groups = results.groupby(keys, sort=False)
# Points above one single scale stand side by side.
width = 0.5 / len(groups) if results["scale"].nunique() == 1 else 0
for number, ((layout, parts, method), runs) in enumerate(groups):
    teps = runs.groupby("scale")["harmonic_mean_TEPS"].agg(["min", "median", "max"])
    teps /= 1e6
    axes.errorbar(
        teps.index + width * (number - (len(groups) - 1) / 2),
        teps["median"],
        yerr=[teps["median"] - teps["min"], teps["max"] - teps["median"]],
        color=colours[layout],
        marker=markers[parts],
        linestyle=lines[parts if one_method else method],
        capsize=3,
        label=f"{layout}, {parts} parts" + f", {method}" * (not one_method),
    )
axes.set_xlabel("scale (log2 of the vertices)")
axes.set_ylabel("harmonic mean TEPS (millions of edges/s)")
scales = sorted(results["scale"].unique())
axes.set_xticks(scales)
axes.set_xlim(scales[0] - 0.5, scales[-1] + 0.5)
if results["algorithm"].nunique() == 1:
    axes.set_ylim(bottom=0)
else:
    axes.set_yscale("log")
axes.set_title(f"{snakemake.wildcards.name}: traversed edges per second")
axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
save(figure, snakemake.output[0])
