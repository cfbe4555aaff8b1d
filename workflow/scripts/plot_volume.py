"""Bytes that a rank sends in a search, beside what the paper's model allows."""

import sys

import pandas
from hopwave.study.style import COLOURS, logarithmic, plt, save
from hopwave.study.units import unit_of

sys.stderr = open(snakemake.log[0], "w")

POINT = {"linestyle": "none", "marker": "o"}
CROSS = {"linestyle": "none", "marker": "x"}
LINE = {"linestyle": "none", "marker": "|", "markersize": 14, "markeredgewidth": 2.5}
SHOWN = {
    "search_bytes_per_rank": ("sent in the search", POINT),
    "model_bytes_per_rank": ("at most, by the paper's model", LINE),
    "parents_bytes_per_rank": ("sent to fetch parents", CROSS),
}

results = pandas.read_csv(snakemake.input[0])
results = results[(results["graph"] == snakemake.wildcards.name) & (results["parts"] > 1)]
keys = ["layout", "parts", "scale", "method"]
volume = results.groupby(keys, sort=True)[list(SHOWN)].median()
one_method = results["method"].nunique() == 1
factor, unit = unit_of("bytes", volume.max(axis=None) if len(volume) else 0)
volume *= factor
names = [
    f"{layout}, {parts} parts, scale {scale}" + f", {method}" * (not one_method)
    for layout, parts, scale, method in volume.index
]

figure, axes = plt.subplots(figsize=(7, 1.2 + 0.35 * len(volume)))
places = range(len(volume))
for (column, (label, style)), colour in zip(SHOWN.items(), COLOURS):
    if not volume[column].any():  # such as the models of shortest paths
        continue
    axes.plot(volume[column], places, color=colour, label=label, **style)
axes.set_yticks(places, names)
axes.set_ylim(len(volume) - 0.5, -0.5)
sent = volume.where(volume > 0).stack()
if len(sent) and sent.max() > 10 * sent.min():
    logarithmic(axes.xaxis)
else:
    axes.set_xlim(0, 1.05 * sent.max() if len(sent) else 1)
axes.set_xlabel(f"{unit} per rank and search (mean)")
axes.set_title(f"{snakemake.wildcards.name}: bytes sent")
axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.9 / figure.get_figheight()), ncols=3)
save(figure, snakemake.output[0])
