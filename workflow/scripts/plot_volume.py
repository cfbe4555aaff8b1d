"""Bytes that a rank sends in a search, beside what the paper's model allows."""

import sys

import pandas
from style import COLOURS, plt, save

sys.stderr = open(snakemake.log[0], "w")

results = pandas.read_csv(snakemake.input[0])
results = results[
    (results["graph"] == snakemake.wildcards.name) & (results["parts"] > 1)
]
keys = ["layout", "parts", "scale", "method"]
volume = results.groupby(keys, sort=True)[
    ["bytes_per_rank", "model_bytes_per_rank"]
].median()
one_method = results["method"].nunique() == 1
names = [
    f"{layout}, {parts} parts, scale {scale}" + f", {method}" * (not one_method)
    for layout, parts, scale, method in volume.index
]

figure, axes = plt.subplots(figsize=(7, 1.2 + 0.35 * len(volume)))
places = range(len(volume))
axes.plot(
    volume["bytes_per_rank"],
    places,
    linestyle="none",
    marker="o",
    color=COLOURS[0],
    label="sent",
)
axes.plot(
    volume["model_bytes_per_rank"],
    places,
    linestyle="none",
    marker="|",
    markersize=14,
    markeredgewidth=2.5,
    color=COLOURS[1],
    label="at most, by the paper's model",
)
axes.set_yticks(places, names)
axes.set_ylim(len(volume) - 0.5, -0.5)
if len(volume):
    axes.set_xscale("log")
axes.set_xlabel("bytes per rank and search (mean)")
axes.set_title(f"{snakemake.wildcards.name}: bytes sent")
axes.legend(
    loc="upper center", bbox_to_anchor=(0.5, -0.9 / figure.get_figheight()), ncols=2
)
save(figure, snakemake.output[0])
